/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points in time as people write them and as titan prints them. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/when.h"
#include "greatest.h"

#define NOW INT64_C(1795010529120)       /* 2026-11-18 14:02:09.120 UTC, which is 16:02:09 in these tests' time zone */
#define HOUR INT64_C(3600000)
#define DAY (24 * HOUR)

TEST today_has_no_date_and_other_days_do(void)
{
	char text[CLOCK_TEXT_SIZE];

	ASSERT_STR_EQ("16:02:09", when_format(NOW, NOW, text));
	ASSERT_STR_EQ("00:00:00", when_format(NOW - NOW % DAY - 2 * HOUR, NOW, text));
	ASSERT_STR_EQ("2026-11-17 23:59:59", when_format(NOW - NOW % DAY - 2 * HOUR - 1, NOW, text));
	ASSERT_STR_EQ("2026-11-19 16:02:09", when_format(NOW + DAY, NOW, text));
	ASSERT_STR_EQ("2025-11-18 16:02:09", when_format(NOW - 365 * DAY, NOW, text));
	ASSERT_STR_EQ("16:02:09", when_short(NOW, NOW, text));
	ASSERT_STR_EQ("Nov 17", when_short(NOW - DAY, NOW, text));
	ASSERT_STR_EQ("Nov 2025", when_short(NOW - 365 * DAY, NOW, text));
	PASS();
}

TEST what_is_written_is_read(void)
{
	const struct { const char *text; int64_t wall_ms; } times[] = {
		{ "now", NOW }, { "2h", NOW - 2 * HOUR }, { "1d", NOW - DAY }, { "0", NOW },
		{ "today", INT64_C(1794952800000) }, { "yesterday", INT64_C(1794952800000) - DAY },
		{ "16:00", INT64_C(1795010400000) }, { "16:00:05", INT64_C(1795010405000) },
		{ "18:00", INT64_C(1795010400000) + 2 * HOUR - DAY },
		{ "2026-11-18", INT64_C(1794952800000) }, { "2026-11-18 16:00", INT64_C(1795010400000) },
		{ "2026-11-18T16:00", INT64_C(1795010400000) }, { "2026-11-18T16:00:05", INT64_C(1795010405000) },
		{ "2026-11-18T14:02:09.120Z", NOW }, { "2026-11-18T14:02:09.1204Z", NOW },
		{ "2026-11-18T14:00Z", INT64_C(1795010400000) }, { "2026-11-18 16:02:09.12", NOW },
		{ "9999999999d", 0 },
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		int64_t got = -1;

		ASSERT_EQ_FMTm(times[i].text, 0, when_parse(times[i].text, NOW, &got), "%d");
		ASSERT_EQ_FMTm(times[i].text, (long long)times[i].wall_ms, (long long)got, "%lld");
	}
	PASS();
}

TEST nonsense_is_refused(void)
{
	const char *const texts[] = { "", "soon", "25:00", "12:61", "2026-02-30", "2026-02-30T10:00Z", "2026-13-01", "14", "-2h",
				      "2026-11-18Z", "2026-11-18T14:00X", "1969-12-31", "16:00 ", "tomorrow" };
	int64_t got;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ASSERT_EQ_FMTm(texts[i], -EINVAL, when_parse(texts[i], NOW, &got), "%d");
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	setenv("TZ", "XXX-2", 1);
	tzset();
	RUN_TEST(today_has_no_date_and_other_days_do);
	RUN_TEST(what_is_written_is_read);
	RUN_TEST(nonsense_is_refused);
	GREATEST_MAIN_END();
}
