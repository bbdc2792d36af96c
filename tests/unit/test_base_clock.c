/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times as text and back, and repeatable randomness. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/rand.h"
#include "greatest.h"

TEST clocks_run(void)
{
	struct now now = clock_now();
	int64_t before = clock_mono_ns();

	ASSERT_LTE(now.mono_ns, before);
	ASSERT_GTE(clock_mono_ns(), before);
	ASSERT_GT(now.wall_ms, INT64_C(1700000000000));
	ASSERT_GTE(clock_wall_ms(), now.wall_ms - 1000);
	PASS();
}

TEST utc_text(void)
{
	char text[CLOCK_TEXT_SIZE];

	ASSERT_STR_EQ("1970-01-01T00:00:00.000Z", clock_format_utc(0, text));
	ASSERT_STR_EQ("2026-11-18T14:02:09.120Z", clock_format_utc(INT64_C(1795010529120), text));
	ASSERT_STR_EQ("1969-12-31T23:59:59.999Z", clock_format_utc(-1, text));
	ASSERT_STR_EQ("292278994-08-17T07:12:55.807Z", clock_format_utc(INT64_MAX, text));
	ASSERT_LT(strlen(clock_format_utc(INT64_MIN, text)), sizeof(text));
	PASS();
}

TEST local_text(void)
{
	char text[CLOCK_TEXT_SIZE];

	setenv("TZ", "XXX-2", 1);
	tzset();
	ASSERT_STR_EQ("16:02:09", clock_format_local(INT64_C(1795010529120), text));
	unsetenv("TZ");
	tzset();
	PASS();
}

TEST span_text(void)
{
	char text[CLOCK_TEXT_SIZE];

	ASSERT_STR_EQ("0:00", clock_format_span(-5, text));
	ASSERT_STR_EQ("0:12", clock_format_span(12999, text));
	ASSERT_STR_EQ("12:41", clock_format_span((12 * 60 + 41) * 1000, text));
	ASSERT_STR_EQ("3:05:10", clock_format_span(((3 * 60 + 5) * 60 + 10) * 1000, text));
	ASSERT_STR_EQ("2d04h", clock_format_span(INT64_C(52) * 3600 * 1000, text));
	clock_format_span(INT64_MAX, text);
	PASS();
}

TEST written_span_is_read_back(void)
{
	static const struct {
		int64_t ms;
		const char *text;
	} spans[] = { { 0, "0ms" }, { 1500, "1500ms" }, { 90000, "90s" }, { 300000, "5m" }, { 7200000, "2h" }, { 86400000, "1d" } };

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		char text[CLOCK_TEXT_SIZE];
		int64_t ms = -1;

		ASSERT_STR_EQ(spans[i].text, clock_write_span(spans[i].ms, text));
		ASSERT_EQ(0, clock_parse_span(text, &ms));
		ASSERT_EQ_FMT((long long)spans[i].ms, (long long)ms, "%lld");
	}
	PASS();
}

TEST span_parsing(void)
{
	static const char *const wrong[] = {
		"", "5", "s", "-5s", "+5s", " 5s", "5s ", "5 s", "5x", "5sec", "1m1h", "1s1s", "1.5s", "5ms5",
		"9223372036854775808ms", "9223372036854775807s", "106751991168d", "106751991167d99999999h",
	};
	int64_t ms = 42;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ASSERT_EQm(wrong[i], -EINVAL, clock_parse_span(wrong[i], &ms));
	ASSERT_EQ_FMT((int64_t)42, ms, "%ld");
	ASSERT_EQ(0, clock_parse_span("500ms", &ms));
	ASSERT_EQ_FMT((int64_t)500, ms, "%ld");
	ASSERT_EQ(0, clock_parse_span("5s", &ms));
	ASSERT_EQ_FMT((int64_t)5000, ms, "%ld");
	ASSERT_EQ(0, clock_parse_span("10m", &ms));
	ASSERT_EQ_FMT((int64_t)600000, ms, "%ld");
	ASSERT_EQ(0, clock_parse_span("1h30m", &ms));
	ASSERT_EQ_FMT((int64_t)5400000, ms, "%ld");
	ASSERT_EQ(0, clock_parse_span("1d", &ms));
	ASSERT_EQ_FMT((int64_t)86400000, ms, "%ld");
	ASSERT_EQ(0, clock_parse_span("0", &ms));
	ASSERT_EQ_FMT((int64_t)0, ms, "%ld");
	PASS();
}

TEST rand_repeats(void)
{
	struct rand_state a, b, c;
	int same = 0;

	rand_seed(&a, 0);
	rand_seed(&b, 0);
	rand_seed(&c, 1);
	for (int i = 0; i < 1000; i++) {
		uint64_t value = rand_next(&a);

		ASSERT_EQ(value, rand_next(&b));
		same += value == rand_next(&c);
	}
	ASSERT_EQ(0, same);
	PASS();
}

TEST rand_below_is_even(void)
{
	struct rand_state rand;
	unsigned counts[6] = { 0 }, low = 0;

	rand_seed(&rand, 9);
	for (int i = 0; i < 60000; i++) {
		uint64_t value = rand_below(&rand, 6);

		ASSERT_LT(value, (uint64_t)6);
		counts[value]++;
	}
	for (int i = 0; i < 6; i++)
		ASSERT_IN_RANGE(10000, counts[i], 500);
	ASSERT_EQ(0, rand_below(&rand, 1));
	/*
	 * With a range of three quarters of all values, a plain remainder would return the lowest third half of the
	 * time.
	 */
	for (int i = 0; i < 3000; i++)
		low += rand_below(&rand, UINT64_C(3) << 62) < UINT64_C(1) << 62;
	ASSERT_IN_RANGE(1000, low, 150);
	PASS();
}

TEST rand_system_differs(void)
{
	unsigned char a[16], b[16];

	rand_system(a, sizeof(a));
	rand_system(b, sizeof(b));
	ASSERT_NEQ(0, memcmp(a, b, sizeof(a)));
	PASS();
}

SUITE(base_clock)
{
	RUN_TEST(clocks_run);
	RUN_TEST(utc_text);
	RUN_TEST(local_text);
	RUN_TEST(span_text);
	RUN_TEST(written_span_is_read_back);
	RUN_TEST(span_parsing);
	RUN_TEST(rand_repeats);
	RUN_TEST(rand_below_is_even);
	RUN_TEST(rand_system_differs);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(base_clock);
	GREATEST_MAIN_END();
}
