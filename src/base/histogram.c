/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/histogram.h"

void histogram_add(struct histogram *histogram, uint64_t ns)
{
	uint64_t us = ns / 1000;
	unsigned bucket = us ? 64 - (unsigned)__builtin_clzll(us) : 0;

	histogram->buckets[bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1]++;
	histogram->sum_ns += ns;
}

uint64_t histogram_count(const uint64_t *buckets)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		count += buckets[i];
	return count;
}

uint64_t histogram_below_us(const uint64_t *buckets, unsigned permille)
{
	uint64_t count = histogram_count(buckets), seen = 0;

	if (count == 0)
		return 0;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += buckets[i];
		if ((double)seen * 1000 >= (double)count * permille)
			return UINT64_C(1) << i;
	}
	return UINT64_C(1) << (HISTOGRAM_BUCKETS - 1);
}
