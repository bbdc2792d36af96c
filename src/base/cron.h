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
	/* Whether the field is a *: then only the other one counts; if neither is, either may match. */
	bool any_day, any_weekday;
	/*
	 * Whether the hour is a *: matches then follow elapsed time when clocks change; otherwise each clock
	 * time matches once.
	 */
	bool every_hour;
};

/* Parse text. Returns NULL, or the reason of the failure, with its place in *ret_at and *ret_len. */
const char *cron_parse(struct slice text, struct cron *ret, size_t *ret_at, size_t *ret_len);

/* A zone: 12 bytes for each change, little-endian: i64 UTC seconds, i32 offset in seconds from then on. Empty: UTC. */
#define ZONE_CHANGE 12
bool zone_is_valid(struct slice zone);
/*
 * Return the next matching time after after_ms, or INT64_MAX. If clocks skip a matching time, it is the
 * moment of the skip.
 */
int64_t cron_next(const struct cron *cron, struct slice zone, int64_t after_ms);

#endif
