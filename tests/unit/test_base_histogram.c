/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "greatest.h"

#include "base/histogram.h"

TEST each_power_of_two_has_a_bucket(void)
{
	struct histogram histogram = { 0 };
	const uint64_t us[] = { 0, 1, 2, 3, 4, 1023, 1024, UINT64_C(1) << 38, UINT64_C(1) << 50 };
	const unsigned places[] = { 0, 1, 2, 2, 3, 10, 11, 39, 39 };

	for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++) {
		uint64_t before = histogram.buckets[places[i]];

		histogram_add(&histogram, us[i] * 1000);
		ASSERT_EQ_FMT(before + 1, histogram.buckets[places[i]], "%lu");
	}
	ASSERT_EQ_FMT(sizeof(us) / sizeof(us[0]), histogram_count(histogram.buckets), "%lu");
	PASS();
}

TEST bounds_hold(void)
{
	struct histogram histogram = { 0 };

	ASSERT_EQ(0, histogram_below_us(histogram.buckets, 990));
	for (int i = 0; i < 99; i++)
		histogram_add(&histogram, 100 * 1000);
	histogram_add(&histogram, 5000 * 1000);
	ASSERT_EQ(128, histogram_below_us(histogram.buckets, 500));
	ASSERT_EQ(128, histogram_below_us(histogram.buckets, 990));
	ASSERT_EQ(8192, histogram_below_us(histogram.buckets, 991));
	ASSERT_EQ(8192, histogram_below_us(histogram.buckets, 1000));
	ASSERT_EQ_FMT((uint64_t)(99 * 100 + 5000) * 1000, histogram.sum_ns, "%lu");
	PASS();
}

SUITE(histogram_suite)
{
	RUN_TEST(each_power_of_two_has_a_bucket);
	RUN_TEST(bounds_hold);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(histogram_suite);
	GREATEST_MAIN_END();
}
