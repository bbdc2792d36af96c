/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads and writes points in time for people. The present time is a parameter, so that tests and old recordings can
 * have theirs.
 */
#include "base/when.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FAR_MS (300 * INT64_C(86400000)) /* further away, a time is shown with its year and without its day */

static bool local_of(int64_t wall_ms, struct tm *ret_tm)
{
	int64_t sec = wall_ms / 1000 - (wall_ms % 1000 < 0);
	time_t time = (time_t)sec;

	return localtime_r(&time, ret_tm) != NULL;
}

static const char *format(int64_t wall_ms, int64_t now_ms, const char *other_day, char out[CLOCK_TEXT_SIZE])
{
	struct tm then, now;
	bool today;

	if (!local_of(wall_ms, &then))
		return memcpy(out, "-", sizeof("-"));
	today = local_of(now_ms, &now) && then.tm_year == now.tm_year && then.tm_yday == now.tm_yday;
	if (strftime(out, CLOCK_TEXT_SIZE, today ? "%H:%M:%S" : other_day, &then) == 0)
		return memcpy(out, "-", sizeof("-"));
	return out;
}

const char *when_format(int64_t wall_ms, int64_t now_ms, char out[CLOCK_TEXT_SIZE])
{
	return format(wall_ms, now_ms, "%Y-%m-%d %H:%M:%S", out);
}

const char *when_short(int64_t wall_ms, int64_t now_ms, char out[CLOCK_TEXT_SIZE])
{
	bool far = wall_ms < now_ms - FAR_MS || wall_ms > now_ms + FAR_MS;

	return format(wall_ms, now_ms, far ? "%b %Y" : "%b %d", out);
}

/* Turn a local day and clock time into UTC. False: no such day or time exists, such as 30 February. */
static bool from_local(struct tm tm, int64_t *ret_ms)
{
	struct tm wanted = tm;
	time_t time;

	tm.tm_isdst = -1;
	time = mktime(&tm);
	if (tm.tm_mday != wanted.tm_mday || tm.tm_mon != wanted.tm_mon || tm.tm_year != wanted.tm_year)
		return false;
	*ret_ms = (int64_t)time * 1000;
	return true;
}

/* The beginning of the day that was this many days before today. */
static int day_before(int days, int64_t now_ms, int64_t *ret_ms)
{
	struct tm tm;

	if (!local_of(now_ms, &tm))
		return -EINVAL;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday -= days;
	tm.tm_isdst = -1;
	*ret_ms = (int64_t)mktime(&tm) * 1000;
	return 0;
}

/* The last time at which clocks showed this time of day. */
static int parse_clock(const char *text, int64_t now_ms, int64_t *ret_ms)
{
	static const char *const forms[] = { "%H:%M:%S", "%H:%M" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm clock = { 0 }, tm;
		const char *end = strptime(text, forms[i], &clock);

		if (end == NULL || *end != '\0' || !local_of(now_ms, &tm))
			continue;
		for (int days = 0; days < 2; days++) {
			tm.tm_hour = clock.tm_hour;
			tm.tm_min = clock.tm_min;
			tm.tm_sec = clock.tm_sec;
			tm.tm_mday -= days;
			tm.tm_isdst = -1;
			*ret_ms = (int64_t)mktime(&tm) * 1000;
			if (*ret_ms <= now_ms)
				break;
		}
		return 0;
	}
	return -EINVAL;
}

/* Parse a day, and maybe a clock time with milliseconds, as in JSON output. */
static int parse_date(const char *text, int64_t *ret_ms)
{
	static const char *const forms[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d",
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, forms[i], &tm);
		int rest_ms = 0, day;

		if (end == NULL || tm.tm_year < 70 || tm.tm_year > 8000)
			continue;
		if (i < 2 && *end == '.')
			for (int unit = 100; isdigit((unsigned char)*++end); unit /= 10)
				rest_ms += unit * (*end - '0');
		day = tm.tm_mday;
		if (strcmp(end, "Z") == 0 && i + 1 < sizeof(forms) / sizeof(forms[0])) {
			*ret_ms = (int64_t)timegm(&tm) * 1000 + rest_ms;
			return tm.tm_mday == day ? 0 : -EINVAL;
		}
		if (*end != '\0')
			continue;
		if (!from_local(tm, ret_ms))
			return -EINVAL;
		*ret_ms += rest_ms;
		return 0;
	}
	return -EINVAL;
}

int when_parse(const char *text, int64_t now_ms, int64_t *ret_ms)
{
	static const char *const days[] = { "today", "yesterday" };
	int64_t span_ms;

	for (int i = 0; i < 2; i++)
		if (strcmp(text, days[i]) == 0)
			return day_before(i, now_ms, ret_ms);
	if (strcmp(text, "now") == 0) {
		*ret_ms = now_ms;
		return 0;
	}
	if (clock_parse_span(text, &span_ms) == 0) {
		*ret_ms = span_ms < now_ms ? now_ms - span_ms : 0;
		return 0;
	}
	return parse_clock(text, now_ms, ret_ms) == 0 ? 0 : parse_date(text, ret_ms);
}
