/* SPDX-License-Identifier: GPL-3.0-or-later */
/* metrics.def as an enum: what the field metric of a metric_row means. 0 means none. */
#ifndef TITAN_PROTO_METRICS_H
#define TITAN_PROTO_METRICS_H

#include <stdint.h>

enum metric_kind { METRIC_IS_COUNTER, METRIC_IS_GAUGE, METRIC_IS_HISTOGRAM };

enum metric {
	METRIC_NONE,
#define METRIC(NAME, name, KIND, what) METRIC_##NAME,
#include "proto/metrics.def"
#undef METRIC
	METRIC_COUNT
};

struct metric_info {
	const char *name, *what;
	enum metric_kind kind;
};

const struct metric_info *metric_info(uint64_t metric);          /* find a metric; NULL for an unknown one */

#endif
