/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast a token may send requests that change something: LIMIT_REQUEST_RATE a second, after LIMIT_REQUEST_BURST at once.
 * A request beyond that is refused with the time after which to try again; its connection stays open.
 */
#ifndef TITAN_MASTER_RATE_H
#define TITAN_MASTER_RATE_H

#include "base/map.h"

struct rates {
	struct name_map due;             /* map from the name of a token or principal to struct rate */
	unsigned burst;                  /* number of requests allowed at once; 0: LIMIT_REQUEST_BURST */
};

/*
 * Count a request. Return 0: it is allowed; otherwise the nanoseconds until the next one is. A refused request isn't
 * counted.
 */
int64_t rate_take(struct rates *rates, struct slice who, int64_t now_ns);
void rates_free(struct rates *rates);

#endif
