/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A histogram of times in powers of two: bucket i counts times below 2^i microseconds that no lower bucket counts. */
#ifndef TITAN_BASE_HISTOGRAM_H
#define TITAN_BASE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS 40             /* number of buckets; the last one counts everything from six days on */

struct histogram {
	uint64_t buckets[HISTOGRAM_BUCKETS];
	uint64_t sum_ns;
};

void histogram_add(struct histogram *histogram, uint64_t ns);
uint64_t histogram_count(const uint64_t *buckets);
/* The time in microseconds that this many permille of all times don't exceed; 0: nothing was counted. */
uint64_t histogram_below_us(const uint64_t *buckets, unsigned permille);

#endif
