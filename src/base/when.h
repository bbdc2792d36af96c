/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points in time as people write and read them: for today only the clock time, for other days with the date. Local
 * time.
 */
#ifndef TITAN_BASE_WHEN_H
#define TITAN_BASE_WHEN_H

#include "base/clock.h"

/* 14:02:09 if it is on the same day as now_ms, otherwise 2026-11-17 14:02:09. */
const char *when_format(int64_t wall_ms, int64_t now_ms, char out[CLOCK_TEXT_SIZE]);

/*
 * Format a time in at most 8 cells: 14:02:09 on the same day as now_ms, Nov 17 on another day, or Nov 2025 if the day is more
 * than 300 days away.
 */
const char *when_short(int64_t wall_ms, int64_t now_ms, char out[CLOCK_TEXT_SIZE]);

/* The forms that when_parse reads, for errors. */
#define WHEN_FORMS "2h (two hours ago), 14:30, yesterday, 2026-11-18, '2026-11-18 14:30' or 2026-11-18T14:30Z"

/*
 * Parse a time: a span means that long ago, a clock time its last occurrence, a day its beginning. With a Z at the end
 * the time is UTC, otherwise local. 0 or -EINVAL.
 */
int when_parse(const char *text, int64_t now_ms, int64_t *ret_ms);

#endif
