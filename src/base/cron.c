/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses cron expressions, and computes the next time that they match. */
#include "base/cron.h"

#include <string.h>

#define DAY_S 86400
/* Least time between two changes of a zone's offset; in no zone were two changes within three days. */
#define LEAST_APART_S DAY_S
/* Years to search for a match: two 29ths of February are at most eight years apart. */
#define YEARS_AHEAD 9

struct field {
	unsigned low, high;
	const char *names;               /* names of the values, three letters each, from low on */
	const char *what;
};

static const struct field fields[] = {
	{ 0, 59, "", "a minute must be from 0 to 59" },
	{ 0, 23, "", "an hour must be from 0 to 23" },
	{ 1, 31, "", "a day of the month must be from 1 to 31" },
	{ 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec", "a month must be from 1 to 12, or jan to dec" },
	{ 0, 7, "sunmontuewedthufrisat", "a day of the week must be from 0 to 7 (0 and 7 are Sunday), or sun to sat" },
};

static const struct { const char *word, *fields; } words[] = {
	{ "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
	{ "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" }, { "@midnight", "0 0 * * *" },
	{ "@hourly", "0 * * * *" },
};

struct cron_scan {
	struct slice text;
	size_t at;
};

static int peek(const struct cron_scan *scan)
{
	return scan->at < scan->text.len ? scan->text.data[scan->at] : -1;
}

static bool is_digit(int byte)
{
	return byte >= '0' && byte <= '9';
}

static bool take_name(struct cron_scan *scan, const struct field *field, unsigned *ret)
{
	for (size_t i = 0; field->names[i]; i += 3) {
		if (scan->text.len - scan->at < 3)
			return false;
		for (size_t k = 0; k < 3 && (scan->text.data[scan->at + k] | 0x20) == field->names[i + k]; k++) {
			if (k < 2)
				continue;
			scan->at += 3;
			*ret = field->low + (unsigned)i / 3;
			return true;
		}
	}
	return false;
}

static bool take_value(struct cron_scan *scan, const struct field *field, unsigned *ret)
{
	unsigned value = 0;
	size_t start = scan->at;

	if (take_name(scan, field, ret))
		return true;
	while (is_digit(peek(scan)) && scan->at - start < 4)
		value = value * 10 + (unsigned)(scan->text.data[scan->at++] - '0');
	if (scan->at == start || value < field->low || value > field->high)
		return false;
	*ret = value;
	return true;
}

/* Parse one entry of a list: a star, a value or a range, perhaps with a step. */
static const char *take_entry(struct cron_scan *scan, const struct field *field, uint64_t *bits)
{
	unsigned first = field->low, last = field->high, step = 1;
	bool single = false;

	if (peek(scan) == '*') {
		scan->at++;
	} else {
		if (!take_value(scan, field, &first))
			return field->what;
		last = first;
		single = true;
		if (peek(scan) == '-') {
			scan->at++;
			if (!take_value(scan, field, &last))
				return field->what;
			if (last < first)
				return "the end of a range must not be below its start";
			single = false;
		}
	}
	if (peek(scan) == '/') {
		size_t start = ++scan->at;

		for (step = 0; is_digit(peek(scan)) && scan->at - start < 3;)
			step = step * 10 + (unsigned)(scan->text.data[scan->at++] - '0');
		if (step == 0)
			return "a step must be a number of at least 1";
		if (single)
			last = field->high;
	}
	for (unsigned value = first; value <= last; value += step)
		*bits |= UINT64_C(1) << value;
	return NULL;
}

static const char *take_field(struct cron_scan *scan, const struct field *field, uint64_t *ret_bits, bool *ret_star)
{
	const char *why;

	*ret_bits = 0;
	*ret_star = peek(scan) == '*';
	for (;;) {
		why = take_entry(scan, field, ret_bits);
		if (why)
			return why;
		if (peek(scan) != ',')
			break;
		scan->at++;
	}
	return peek(scan) == -1 || peek(scan) == ' ' || peek(scan) == '\t' ? NULL : field->what;
}

static const char *parse_fields(struct cron_scan *scan, struct cron *cron)
{
	uint64_t bits[5];
	bool star[5];

	for (size_t i = 0; i < 5; i++) {
		const char *why;

		while (peek(scan) == ' ' || peek(scan) == '\t')
			scan->at++;
		if (peek(scan) == -1)
			return "five fields are required: minute, hour, day, month, day of the week";
		why = take_field(scan, &fields[i], &bits[i], &star[i]);
		if (why)
			return why;
	}
	while (peek(scan) == ' ' || peek(scan) == '\t')
		scan->at++;
	if (peek(scan) != -1)
		return "there are more than five fields";
	*cron = (struct cron){
		.minutes = bits[0], .hours = (uint32_t)bits[1], .days = (uint32_t)bits[2],
		.months = (uint16_t)bits[3], .weekdays = (uint8_t)((bits[4] | bits[4] >> 7) & 127),
		.any_day = star[2], .any_weekday = star[4], .every_hour = bits[1] == (1U << 24) - 1,
	};
	return NULL;
}

const char *cron_parse(struct slice text, struct cron *ret, size_t *ret_at, size_t *ret_len)
{
	struct cron_scan scan = { .text = text };
	struct cron cron;
	const char *why = NULL;
	bool word = text.len > 0 && text.data[0] == '@';

	for (size_t i = 0; word && i < sizeof(words) / sizeof(words[0]); i++)
		if (slice_eq(text, slice_str(words[i].word))) {
			scan.text = slice_str(words[i].fields);
			word = false;
		}
	if (word) {
		why = "the only words with @ are @yearly, @monthly, @weekly, @daily and @hourly";
	} else {
		why = parse_fields(&scan, &cron);
		if (!why && cron_next(&cron, slice_make(NULL, 0), 0) == INT64_MAX) {
			why = "no month has this day";
			scan.at = 0;
		}
	}
	if (!why) {
		*ret = cron;
		return NULL;
	}
	*ret_at = scan.at;
	*ret_len = scan.at > 0 && scan.at < text.len ? 1 : text.len - scan.at;
	return why;
}

/* ---- time zones ---- */

struct offset_change {
	int64_t at_s;
	int64_t offset_s;
};

static struct offset_change change_at(struct slice zone, size_t i)
{
	const uint8_t *at = zone.data + i * ZONE_CHANGE;
	uint64_t seconds = 0;
	uint32_t offset = 0;

	for (int k = 7; k >= 0; k--)
		seconds = seconds << 8 | at[k];
	for (int k = 3; k >= 0; k--)
		offset = offset << 8 | at[8 + k];
	return (struct offset_change){ (int64_t)seconds, (int32_t)offset };
}

bool zone_is_valid(struct slice zone)
{
	size_t count = zone.len / ZONE_CHANGE;

	if (zone.len % ZONE_CHANGE != 0 || count > 4096)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct offset_change change = change_at(zone, i);

		if (change.offset_s < -2 * DAY_S || change.offset_s > 2 * DAY_S || change.at_s < -INT64_C(100000000000) ||
		    change.at_s > INT64_C(300000000000) || (i > 0 && change.at_s < change_at(zone, i - 1).at_s + LEAST_APART_S))
			return false;
	}
	return true;
}

/* Find the last change at or before utc_s. The first change also holds for all earlier times. */
static size_t change_before(struct slice zone, int64_t utc_s)
{
	size_t low = 0, high = zone.len / ZONE_CHANGE;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (change_at(zone, middle).at_s <= utc_s)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int64_t offset_of(struct slice zone, int64_t utc_s)
{
	return zone.len ? change_at(zone, change_before(zone, utc_s)).offset_s : 0;
}

/* The first moment after after_s at which clocks show local_s. If clocks skip local_s, the moment of the skip. */
static int64_t local_moment(struct slice zone, int64_t local_s, int64_t after_s, bool elapsed)
{
	size_t count = zone.len / ZONE_CHANGE, first, at;
	bool shown = false;

	if (count == 0)
		return local_s > after_s ? local_s : INT64_MAX;
	first = change_before(zone, local_s - 3 * DAY_S);
	for (at = first; at < count && (at == first || change_at(zone, at).at_s < local_s + 3 * DAY_S); at++) {
		struct offset_change change = change_at(zone, at);
		int64_t utc_s = local_s - change.offset_s;
		bool is_shown = (at == 0 || utc_s >= change.at_s) &&
				(at + 1 == count || utc_s < change_at(zone, at + 1).at_s);

		if (at > 0 && !is_shown && !elapsed && local_s < change.at_s + change.offset_s &&
		    local_s >= change.at_s + change_at(zone, at - 1).offset_s && change.at_s > after_s)
			return change.at_s;
		if (is_shown && utc_s > after_s && (elapsed || !shown))
			return utc_s;
		shown = shown || is_shown;
	}
	return INT64_MAX;
}

/* ---- days ---- */

struct date {
	int64_t year;
	unsigned month, day;
};

static struct date date_of(int64_t days)
{
	int64_t shifted = days + 719468;
	int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	unsigned of_era = (unsigned)(shifted - era * 146097);
	unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
	unsigned month = (5 * of_year + 2) / 153;

	return (struct date){
		.year = (int64_t)year + era * 400 + (month >= 10), .month = month < 10 ? month + 3 : month - 9,
		.day = of_year - (153 * month + 2) / 5 + 1,
	};
}

static bool day_matches(const struct cron *cron, int64_t days)
{
	struct date date = date_of(days);
	unsigned weekday = (unsigned)(((days + 4) % 7 + 7) % 7);
	bool day = cron->days >> date.day & 1, of_week = cron->weekdays >> weekday & 1;

	if (!(cron->months >> date.month & 1))
		return false;
	if (!cron->any_day && !cron->any_weekday)
		return day || of_week;
	return day && of_week;
}

/* Search a day without clock changes, starting at after_s. */
static int64_t even_day_next(const struct cron *cron, int64_t day_s, int64_t offset_s, int64_t after_s)
{
	int64_t gone_s = after_s + offset_s - day_s;
	unsigned first = gone_s < 0 ? 0 : gone_s < DAY_S ? (unsigned)(gone_s / 60 + 1) : 1440;

	for (unsigned hour = first / 60; hour < 24; hour++)
		for (unsigned minute = hour == first / 60 ? first % 60 : 0; cron->hours >> hour & 1 && minute < 60; minute++)
			if (cron->minutes >> minute & 1)
				return day_s + hour * 3600 + minute * 60 - offset_s;
	return INT64_MAX;
}

/*
 * Search a day on which clocks change. On such a day the order of clock times isn't the order of moments, so try all of
 * them.
 */
static int64_t day_next(const struct cron *cron, struct slice zone, int64_t day_s, int64_t after_s)
{
	int64_t offset_s = offset_of(zone, day_s - 2 * DAY_S), best = INT64_MAX;

	if (offset_s == offset_of(zone, day_s + 3 * DAY_S))
		return even_day_next(cron, day_s, offset_s, after_s);
	for (unsigned hour = 0; hour < 24; hour++) {
		if (!(cron->hours >> hour & 1))
			continue;
		for (unsigned minute = 0; minute < 60; minute++) {
			int64_t moment;

			if (!(cron->minutes >> minute & 1))
				continue;
			moment = local_moment(zone, day_s + hour * 3600 + minute * 60, after_s, cron->every_hour);
			if (moment < best)
				best = moment;
		}
	}
	return best;
}

int64_t cron_next(const struct cron *cron, struct slice zone, int64_t after_ms)
{
	int64_t after_s = after_ms / 1000 - (after_ms % 1000 < 0);
	int64_t local_s = after_s + offset_of(zone, after_s);
	int64_t day = local_s / DAY_S - (local_s % DAY_S < 0) - 1;

	for (int64_t last = day + YEARS_AHEAD * 366; day < last; day++) {
		int64_t moment = day_matches(cron, day) ? day_next(cron, zone, day * DAY_S, after_s) : INT64_MAX;

		if (moment != INT64_MAX)
			return moment * 1000;
	}
	return INT64_MAX;
}
