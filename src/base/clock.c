/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clocks, and times as text. */
#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/map.h"

static int64_t read_clock(clockid_t id, int64_t *ret_nsec)
{
	struct timespec ts;

	CHECK(clock_gettime(id, &ts) == 0);
	*ret_nsec = ts.tv_nsec;
	return ts.tv_sec;
}

int64_t clock_mono_ns(void)
{
	int64_t nsec, sec = read_clock(CLOCK_MONOTONIC, &nsec);

	return sec * NS_PER_S + nsec;
}

int64_t clock_wall_ms(void)
{
	int64_t nsec, sec = read_clock(CLOCK_REALTIME, &nsec);

	return sec * 1000 + nsec / NS_PER_MS;
}

struct now clock_now(void)
{
	int64_t nsec, sec = read_clock(CLOCK_BOOTTIME, &nsec);

	return (struct now){
		.mono_ns = clock_mono_ns(), .boot_ns = sec * NS_PER_S + nsec, .wall_ms = clock_wall_ms(),
	};
}

uint64_t clock_boot_id(void)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t len;

	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text));
	close(fd);
	/* The number must be positive, because the store keeps it as a signed one. */
	return len > 0 ? (hash_bytes(text, (size_t)len, 0) >> 2) + 1 : 0;
}

/* Whole seconds, rounded down, so that the rest is positive even before 1970. */
static time_t whole_seconds(int64_t wall_ms, int *ret_rest_ms)
{
	int64_t sec = wall_ms / 1000, rest = wall_ms % 1000;

	if (rest < 0) {
		rest += 1000;
		sec--;
	}
	*ret_rest_ms = (int)rest;
	return (time_t)sec;
}

const char *clock_format_utc(int64_t wall_ms, char out[CLOCK_TEXT_SIZE])
{
	int rest_ms;
	time_t sec = whole_seconds(wall_ms, &rest_ms);
	struct tm tm;
	size_t len;

	if (!gmtime_r(&sec, &tm) || (len = strftime(out, CLOCK_TEXT_SIZE - 5, "%Y-%m-%dT%H:%M:%S", &tm)) == 0)
		return memcpy(out, "-", sizeof("-"));
	snprintf(out + len, CLOCK_TEXT_SIZE - len, ".%03uZ", (unsigned)rest_ms % 1000);
	return out;
}

const char *clock_format_local(int64_t wall_ms, char out[CLOCK_TEXT_SIZE])
{
	int rest_ms;
	time_t sec = whole_seconds(wall_ms, &rest_ms);
	struct tm tm;

	if (!localtime_r(&sec, &tm) || strftime(out, CLOCK_TEXT_SIZE, "%H:%M:%S", &tm) == 0)
		return memcpy(out, "-", sizeof("-"));
	return out;
}

const char *clock_format_span(int64_t ms, char out[CLOCK_TEXT_SIZE])
{
	int64_t sec = ms > 0 ? ms / 1000 : 0;

	if (sec < 3600)
		snprintf(out, CLOCK_TEXT_SIZE, "%" PRId64 ":%02d", sec / 60, (int)(sec % 60));
	else if (sec < 86400)
		snprintf(out, CLOCK_TEXT_SIZE, "%" PRId64 ":%02d:%02d", sec / 3600, (int)(sec / 60 % 60),
			 (int)(sec % 60));
	else
		snprintf(out, CLOCK_TEXT_SIZE, "%" PRId64 "d%02dh", sec / 86400, (int)(sec / 3600 % 24));
	return out;
}

int clock_parse_utc(struct slice text, int64_t *ret_ms)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ" };
	char copy[CLOCK_TEXT_SIZE];
	int day;

	if (text.len >= sizeof(copy))
		return -EINVAL;
	snprintf(copy, sizeof(copy), "%.*s", (int)text.len, text.len ? (const char *)text.data : "");
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm time = { 0 };
		const char *end = strptime(copy, forms[i], &time);

		if (end == NULL || *end != '\0' || time.tm_year < 70 || time.tm_year > 8000)
			continue;
		day = time.tm_mday;
		*ret_ms = (int64_t)timegm(&time) * 1000;
		/* timegm would turn 30 February into a day in March. */
		return time.tm_mday == day ? 0 : -EINVAL;
	}
	return -EINVAL;
}

static const struct {
	const char *name;
	int64_t ms;
} span_units[] = {
	{ "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 }, { "h", 3600 * 1000 }, { "d", 24 * 3600 * 1000 },
};

/* Take the unit at the front of text; 0 if there is none. "ms" is tried before "m". */
static int64_t take_unit(const char **text)
{
	for (size_t i = 0; i < sizeof(span_units) / sizeof(span_units[0]); i++) {
		size_t len = strlen(span_units[i].name);

		if (strncmp(*text, span_units[i].name, len) == 0) {
			*text += len;
			return span_units[i].ms;
		}
	}
	return 0;
}

const char *clock_write_span(int64_t ms, char out[CLOCK_TEXT_SIZE])
{
	static const struct {
		int64_t ms;
		const char *unit;
	} units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "m" }, { 1000, "s" }, { 1, "ms" } };
	size_t i = 0;

	while (i < 4 && (ms == 0 || ms % units[i].ms != 0))
		i++;
	snprintf(out, CLOCK_TEXT_SIZE, "%lld%s", (long long)(ms / units[i].ms), units[i].unit);
	return out;
}

int clock_parse_span(const char *text, int64_t *ret_ms)
{
	int64_t total = 0, last_unit = INT64_MAX;

	if (strcmp(text, "0") == 0) {
		*ret_ms = 0;
		return 0;
	}
	/* Several units such as 1h30m: each must be smaller than the one before. */
	do {
		int64_t count = 0, unit;

		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		for (; isdigit((unsigned char)*text); text++)
			if (__builtin_mul_overflow(count, 10, &count) ||
			    __builtin_add_overflow(count, *text - '0', &count))
				return -EINVAL;
		unit = take_unit(&text);
		if (unit == 0 || unit >= last_unit)
			return -EINVAL;
		last_unit = unit;
		if (__builtin_mul_overflow(count, unit, &count) ||
		    __builtin_add_overflow(total, count, &total))
			return -EINVAL;
	} while (*text);
	*ret_ms = total;
	return 0;
}
