/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time. Monotonic nanoseconds for intervals; UTC milliseconds for rows, cron and display. */
#ifndef TITAN_BASE_CLOCK_H
#define TITAN_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)
#define TIME_NEVER INT64_MAX

struct now {
	int64_t mono_ns;
	int64_t wall_ms;
};

struct now clock_now(void);
int64_t clock_mono_ns(void);
int64_t clock_wall_ms(void);

#define CLOCK_TEXT_SIZE 32
const char *clock_format_utc(int64_t wall_ms, char out[CLOCK_TEXT_SIZE]);    /* 2026-11-18T14:02:09.120Z */
const char *clock_format_local(int64_t wall_ms, char out[CLOCK_TEXT_SIZE]);  /* 14:02:09 */
const char *clock_format_span(int64_t ms, char out[CLOCK_TEXT_SIZE]);        /* 0:12  12:41  3:05:10  2d04h */
int clock_parse_span(const char *text, int64_t *ret_ms);                     /* 500ms 5s 10m 2h 1d; -EINVAL */

#endif
