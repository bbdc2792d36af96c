/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time: monotonic nanoseconds for intervals; nanoseconds since the machine's boot for intervals that outlive the
 * process; UTC milliseconds for dates and display.
 */
#ifndef TITAN_BASE_CLOCK_H
#define TITAN_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)
#define TIME_NEVER INT64_MAX

struct now {
	int64_t mono_ns;
	int64_t boot_ns;                 /* nanoseconds since the machine's boot, including suspend */
	int64_t wall_ms;
};

struct now clock_now(void);
int64_t clock_mono_ns(void);
int64_t clock_wall_ms(void);
uint64_t clock_boot_id(void);            /* returns a number for the machine's present boot; 0: unknown */

#define CLOCK_TEXT_SIZE 32
/* writes UTC as 2026-11-18T14:02:09.120Z */
const char *clock_format_utc(int64_t wall_ms, char out[CLOCK_TEXT_SIZE]);
const char *clock_format_local(int64_t wall_ms, char out[CLOCK_TEXT_SIZE]);  /* writes the local time as 14:02:09 */
/* writes a duration as 0:12, 12:41, 3:05:10 or 2d04h */
const char *clock_format_span(int64_t ms, char out[CLOCK_TEXT_SIZE]);
/* Parse a UTC time: 2026-11-18T14:02:30Z, or without seconds. 0 or -EINVAL. */
int clock_parse_utc(struct slice text, int64_t *ret_ms);
/* Write a duration such as 5m, 90s or 1500ms; clock_parse_span reads the same back. */
const char *clock_write_span(int64_t ms, char out[CLOCK_TEXT_SIZE]);
/* Parses a duration: 500ms 5s 10m 2h 1d; 0 or -EINVAL. */
int clock_parse_span(const char *text, int64_t *ret_ms);

#endif
