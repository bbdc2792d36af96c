/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and texts of the metrics. */
#include "proto/metrics.h"

#include <stddef.h>

static const struct metric_info metrics[METRIC_COUNT] = {
#define METRIC(NAME, name, KIND, what) [METRIC_##NAME] = { #name, what, METRIC_IS_##KIND },
#include "proto/metrics.def"
#undef METRIC
};

const struct metric_info *metric_info(uint64_t metric)
{
	return metric > METRIC_NONE && metric < METRIC_COUNT ? &metrics[metric] : NULL;
}
