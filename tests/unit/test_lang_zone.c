/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time zones as schedules store them: the second of each change of the offset; and the process's own zone is left as it
 * was.
 */
#include <stdlib.h>
#include <time.h>

#include "greatest.h"
#include "lang/zone.h"

GREATEST_MAIN_DEFS();

#define RECORD 12u                       /* bytes of one change: its time, and the seconds ahead of UTC from then on */

static struct arena arena;
static struct slice zone;

static void teardown_cb(void *data)
{
	(void)data;
	arena_free(&arena);
	unsetenv("TZ");
	tzset();
}

static int64_t number_at(size_t at, size_t bytes)
{
	uint64_t number = 0;

	for (size_t i = bytes; i-- > 0;)
		number = number << 8 | zone.data[at + i];
	return bytes == 4 ? (int64_t)(int32_t)number : (int64_t)number;
}

/* The offset that begins at this second; INT64_MIN: none begins. */
static int64_t offset_from(int64_t utc_s)
{
	for (size_t at = 0; at < zone.len; at += RECORD)
		if (number_at(at, 8) == utc_s)
			return number_at(at + 8, 4);
	return INT64_MIN;
}

static bool compile(const char *name)
{
	struct error error;

	return zone_compile(slice_str(name), &arena, &zone, &error) == ERR_NONE;
}

static int64_t utc(int year, int month, int day, int hour)
{
	struct tm tm = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour };

	return timegm(&tm);
}

TEST change_is_kept_to_the_second(void)
{
	if (!compile("Europe/Berlin"))
		SKIPm("there are no zone files");
	ASSERT_EQ(0, zone.len % RECORD);
	ASSERT_EQ_FMT((int64_t)7200, offset_from(utc(2027, 3, 28, 1)), "%ld");
	ASSERT_EQ_FMT((int64_t)3600, offset_from(utc(2027, 10, 31, 1)), "%ld");
	for (size_t at = RECORD; at < zone.len; at += RECORD)
		ASSERT(number_at(at, 8) > number_at(at - RECORD, 8));
	PASS();
}

TEST zone_of_the_process_stays(void)
{
	setenv("TZ", "Asia/Tokyo", 1);
	tzset();
	if (!compile("Europe/Berlin"))
		SKIPm("there are no zone files");
	ASSERT_STR_EQ("Asia/Tokyo", getenv("TZ"));
	ASSERT_EQ_FMT(-9L * 3600, timezone, "%ld");
	unsetenv("TZ");
	ASSERT(compile("Europe/Berlin"));
	ASSERT_EQ(NULL, getenv("TZ"));
	PASS();
}

TEST name_that_leads_out_of_the_zone_files_is_none(void)
{
	static const char *const names[] = { "/Europe/Berlin", "../zoneinfo/UTC", "Europe/../UTC", "Europe", "Nowhere/At_all",
					     "Europe/Berlin ", "posixrules\n" };
	char longest[66];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ASSERT_FALSEm(names[i], compile(names[i]));
	ASSERT_FALSE(zone_may_be(slice_str("/Europe/Berlin")));
	memset(longest, 'a', sizeof(longest));
	ASSERT_FALSE(zone_may_be(slice_make(longest, 65)));
	ASSERT(zone_may_be(slice_str("")));
	ASSERT(zone_may_be(slice_str("UTC")));
	PASS();
}

SUITE(lang_zone)
{
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(change_is_kept_to_the_second);
	RUN_TEST(zone_of_the_process_stays);
	RUN_TEST(name_that_leads_out_of_the_zone_files_is_none);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(lang_zone);
	GREATEST_MAIN_END();
}
