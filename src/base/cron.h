/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The five fields of cron: minute, hour, day, month, day of the week; names, ranges, steps, lists, and @daily and
 * its like. And when they next say so, in a time zone given as its changes. Pure: no clock, no zone files.
 */
#ifndef TITAN_BASE_CRON_H
#define TITAN_BASE_CRON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct cron {                            /* bits */
	uint64_t minutes;
	uint32_t hours, days;
	uint16_t months;
	uint8_t weekdays;                /* 0 is Sunday */
	bool any_day, any_weekday;       /* a * stands there: the other one decides; else either may */
	bool every_hour;                 /* goes by elapsed time when clocks change; else once for each time of day */
};

/* Why, and where in the text; the place is set on failure alone. */
const char *cron_parse(struct slice text, struct cron *ret, size_t *ret_at, size_t *ret_len);

/* A zone: 12 bytes a change, little-endian: i64 UTC seconds, i32 offset in seconds from then on. Empty: UTC. */
#define ZONE_CHANGE 12
bool zone_is_valid(struct slice zone);
/* The next time after this one, or INT64_MAX. A time of day that clocks leave out comes when they change. */
int64_t cron_next(const struct cron *cron, struct slice zone, int64_t after_ms);

#endif
