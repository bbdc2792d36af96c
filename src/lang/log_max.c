/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lang/log_max.h"

#include "proto/limits.h"
#include "proto/message.h"
#include "proto/resource.h"

const char *log_max_parse(struct slice text, uint64_t *ret_max)
{
	uint64_t max;

	if (slice_eq(text, slice_str("lossless"))) {
		*ret_max = LOG_LOSSLESS;
		return NULL;
	}
	if (!resource_parse_size(text, &max) || max < LIMIT_LOG_MAX_MIN || max > (uint64_t)LIMIT_LOG_MAX_GIB << 30)
		return "log must be lossless or a size from 4K to 1T";
	*ret_max = max;
	return NULL;
}

void log_max_text(uint64_t max, struct buf *out)
{
	static const char units[] = "BKMGT";
	size_t unit = 0;

	if (max == LOG_LOSSLESS) {
		buf_add_str(out, "lossless");
		return;
	}
	while (max > 0 && max % 1024 == 0 && unit < 4) {
		max /= 1024;
		unit++;
	}
	buf_addf(out, unit > 0 ? "%llu%c" : "%llu", (unsigned long long)max, units[unit]);
}
