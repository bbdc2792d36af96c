/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The five fields of cron (minute, hour, day, month, day of the week) with names, ranges, steps and lists,
 * and words like @daily. Finds the next matching time in a time zone, given as the zone's changes. Pure: no
 * clock, no zone files.
 */
#ifndef TITAN_BASE_CRON_H
#define TITAN_BASE_CRON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct cron {                            /* a parsed cron expression: for each field, the matching values as bits */
	uint64_t minutes;
	uint32_t hours, days;
	uint16_t months;
	uint8_t weekdays;                /* the days of the week, as bits; bit 0 is Sunday */
	/* the field is a *: then only the other field counts; if neither is a *, either one may match */
	bool any_day, any_weekday;
	/*
	 * the hour is a *: then matches follow elapsed time when clocks change; otherwise each clock time matches once
	 */
	bool every_hour;
};

/* Parse text. Return NULL, or the reason why it is wrong, with the place in *ret_at and *ret_len. */
const char *cron_parse(struct slice text, struct cron *ret, size_t *ret_at, size_t *ret_len);

/*
 * A zone is a list of changes, 12 bytes each, little-endian: i64 UTC seconds, i32 offset in seconds from then on.
 * Empty: UTC.
 */
#define ZONE_CHANGE 12
bool zone_is_valid(struct slice zone);
/* The next matching time after after_ms, or INT64_MAX. If clocks skip a matching time, the moment of the skip. */
int64_t cron_next(const struct cron *cron, struct slice zone, int64_t after_ms);

#endif
