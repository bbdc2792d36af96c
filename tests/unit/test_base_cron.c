/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cron's fields, their errors, and their times: leap years, days of the week, clocks that change. */
#include <time.h>

#include "base/clock.h"
#include "base/cron.h"
#include "greatest.h"

static int64_t at(const char *text)
{
	int64_t ms = -1;

	if (clock_parse_utc(slice_str(text), &ms) != 0)
		return -1;
	return ms;
}

static int64_t next(const char *fields, struct slice zone, const char *after)
{
	struct cron cron;
	size_t place, len;

	if (cron_parse(slice_str(fields), &cron, &place, &len))
		return -2;
	return cron_next(&cron, zone, at(after));
}

static const struct slice utc;

TEST times_come_in_their_order(void)
{
	ASSERT_EQ(at("2026-11-18T03:00Z"), next("0 3 * * *", utc, "2026-11-17T03:00Z"));
	ASSERT_EQ(at("2026-11-17T03:00Z"), next("0 3 * * *", utc, "2026-11-17T02:59:59Z"));
	ASSERT_EQ(at("2026-11-18T14:15Z"), next("*/15 * * * *", utc, "2026-11-18T14:02:30Z"));
	ASSERT_EQ(at("2028-02-29T00:00Z"), next("0 0 29 2 *", utc, "2026-01-01T00:00Z"));
	ASSERT_EQ(at("2026-11-20T09:30Z"), next("30 9 * * fri", utc, "2026-11-18T00:00Z"));
	ASSERT_EQ(at("2026-11-22T00:00Z"), next("0 0 * * 7", utc, "2026-11-18T00:00Z"));
	ASSERT_EQ(at("2027-01-01T00:00Z"), next("@yearly", utc, "2026-11-18T00:00Z"));
	ASSERT_EQ(at("2026-11-18T15:00Z"), next("@hourly", utc, "2026-11-18T14:59:59Z"));
	ASSERT_EQ(at("2026-12-01T08:10Z"), next("10-20/5 8,9 1 oct-dec *", utc, "2026-11-18T00:00Z"));
	ASSERT_EQ(at("2026-11-18T14:35Z"), next("5/30 * * * *", utc, "2026-11-18T14:06Z"));
	PASS();
}

/* As in every cron: if both a day of the month and a day of the week are given, either one matches. */
TEST either_day_will_do(void)
{
	ASSERT_EQ(at("2026-11-20T00:00Z"), next("0 0 13 * fri", utc, "2026-11-18T00:00Z"));
	ASSERT_EQ(at("2026-12-13T00:00Z"), next("0 0 13 * fri", utc, "2026-12-11T00:00Z"));
	PASS();
}

TEST errors_have_a_place(void)
{
	static const struct { const char *text; size_t at; } bad[] = {
		{ "", 0 }, { "0 3 * *", 7 }, { "60 3 * * *", 2 }, { "0 24 * * *", 4 }, { "0 3 0 * *", 5 },
		{ "0 3 * foo *", 6 }, { "0 3 * * 8", 9 }, { "0 3 * * * *", 10 }, { "5-1 3 * * *", 3 },
		{ "*/0 3 * * *", 3 }, { "@reboot", 0 }, { "0 0 31 2 *", 0 }, { "0 3 1x * *", 5 }, { "*, 3 * * *", 2 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cron cron;
		size_t place = 99, len = 99;

		ASSERTm(bad[i].text, cron_parse(slice_str(bad[i].text), &cron, &place, &len) != NULL);
		ASSERT_EQm(bad[i].text, bad[i].at, place);
		ASSERTm(bad[i].text, place + len <= strlen(bad[i].text));
	}
	PASS();
}

static uint8_t *put(uint8_t *out, const char *when, int32_t offset_s)
{
	uint64_t seconds = (uint64_t)(at(when) / 1000);

	for (int i = 0; i < 8; i++)
		*out++ = (uint8_t)(seconds >> (8 * i));
	for (int i = 0; i < 4; i++)
		*out++ = (uint8_t)((uint32_t)offset_s >> (8 * i));
	return out;
}

/* Berlin in 2026: clocks go forward on March 29 at 2:00 and back on October 25 at 3:00. */
TEST clocks_change(void)
{
	uint8_t bytes[3 * ZONE_CHANGE] = { 0 }, *end = bytes;
	struct slice zone = slice_make(bytes, sizeof(bytes));

	end = put(end, "1970-01-01T00:00Z", 3600);
	end = put(end, "2026-03-29T01:00Z", 7200);
	put(end, "2026-10-25T01:00Z", 3600);
	ASSERT(zone_is_valid(zone));
	ASSERT_EQ(at("2026-01-05T02:00Z"), next("0 3 * * *", zone, "2026-01-05T00:00Z"));
	ASSERT_EQ(at("2026-07-05T01:00Z"), next("0 3 * * *", zone, "2026-07-05T00:00Z"));
	/* 2:30 doesn't exist on March 29: the entry is due once, at the moment of the change */
	ASSERT_EQ(at("2026-03-29T01:00Z"), next("30 2 * * *", zone, "2026-03-28T12:00Z"));
	ASSERT_EQ(at("2026-03-30T00:30Z"), next("30 2 * * *", zone, "2026-03-29T01:00Z"));
	/* 2:30 exists twice on October 25: the entry is due at the first of the two */
	ASSERT_EQ(at("2026-10-25T00:30Z"), next("30 2 * * *", zone, "2026-10-24T12:00Z"));
	ASSERT_EQ(at("2026-10-26T01:30Z"), next("30 2 * * *", zone, "2026-10-25T00:30Z"));
	/* an hourly entry goes by elapsed time */
	ASSERT_EQ(at("2026-10-25T01:30Z"), next("30 * * * *", zone, "2026-10-25T00:30Z"));
	ASSERT_EQ(at("2026-03-29T01:30Z"), next("30 * * * *", zone, "2026-03-29T00:30Z"));
	bytes[11] = 0x7f;
	ASSERT_FALSE(zone_is_valid(zone));
	ASSERT_FALSE(zone_is_valid(slice_make(bytes, 13)));
	PASS();
}

/* A zone with thousands of changes in one day would make the search go through all of them for each minute. */
TEST changes_of_a_zone_are_a_day_apart(void)
{
	uint8_t bytes[24] = { [12] = 0x80, [13] = 0x51, [14] = 0x01 };   /* 0 and 86,400 */

	ASSERT(zone_is_valid(slice_make(bytes, sizeof(bytes))));
	bytes[12]--;
	ASSERT_FALSE(zone_is_valid(slice_make(bytes, sizeof(bytes))));
	PASS();
}

SUITE(cron)
{
	RUN_TEST(times_come_in_their_order);
	RUN_TEST(either_day_will_do);
	RUN_TEST(errors_have_a_place);
	RUN_TEST(clocks_change);
	RUN_TEST(changes_of_a_zone_are_a_day_apart);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cron);
	GREATEST_MAIN_END();
}
