/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any text as a cron expression, and any bytes after a NUL as a time zone. A refused text has the place of the mistake
 * within it; an accepted one has next times that increase and fall on a minute.
 */
#include "base/check.h"
#include "base/cron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
	size_t len = zero ? (size_t)(zero - data) : size;
	struct slice text = slice_make(data, len), zone = { 0 };
	size_t at = SIZE_MAX, marks = SIZE_MAX;
	int64_t time_ms = INT64_C(1790000000000);
	struct cron cron;

	if (zero)
		zone = slice_make(zero + 1, size - len - 1);
	if (cron_parse(text, &cron, &at, &marks)) {
		CHECK(at <= len && at + marks <= len);
		return 0;
	}
	if (!zone_is_valid(zone))
		zone.len = 0;
	for (int i = 0; i < 8 && time_ms != INT64_MAX; i++) {
		int64_t next = cron_next(&cron, zone, time_ms);

		CHECK(next > time_ms);
		CHECK(next == INT64_MAX || zone.len > 0 || next % 60000 == 0);
		time_ms = next;
	}
	return 0;
}
