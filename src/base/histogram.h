/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times, by powers of two: bucket i counts those under 2^i microseconds that no lower one counts. */
#ifndef TITAN_BASE_HISTOGRAM_H
#define TITAN_BASE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS 40             /* the last one: anything from six days on */

struct histogram {
	uint64_t buckets[HISTOGRAM_BUCKETS];
	uint64_t sum_ns;
};

void histogram_add(struct histogram *histogram, uint64_t ns);
uint64_t histogram_count(const uint64_t *buckets);
/* An upper bound of the time that this part of all (in permille) doesn't exceed, in microseconds; 0 of none. */
uint64_t histogram_below_us(const uint64_t *buckets, unsigned permille);

#endif
