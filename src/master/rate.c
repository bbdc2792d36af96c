/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For each token one number is kept: the time at which all its requests would have been sent if they had come at the
 * allowed rate. A request is refused while that time is more than a burst ahead.
 */
#include "master/rate.h"

#include "base/clock.h"
#include "base/mem.h"
#include "proto/limits.h"

#define INTERVAL_NS (NS_PER_S / LIMIT_REQUEST_RATE)
#define SWEEP_COUNT 256                  /* with this many entries, those that no longer matter are dropped */

struct rate {
	int64_t due_ns;
	char *who;
};

static void drop(struct rates *rates, struct rate *rate)
{
	name_map_remove(&rates->due, slice_str(rate->who));
	mem_free(rate->who);
	mem_free(rate);
}

/* Drop the entries whose time has passed: they mean the same as a missing entry. */
static void sweep(struct rates *rates, int64_t now_ns)
{
	struct rate **idle = mem_array(rates->due.count + 1, sizeof(struct rate *));
	size_t cursor = 0, count = 0;
	struct slice who;
	void *value;

	while (name_map_next(&rates->due, &cursor, &who, &value))
		if (((struct rate *)value)->due_ns <= now_ns)
			idle[count++] = value;
	for (size_t i = 0; i < count; i++)
		drop(rates, idle[i]);
	mem_free(idle);
}

int64_t rate_take(struct rates *rates, struct slice who, int64_t now_ns)
{
	unsigned burst = rates->burst ? rates->burst : LIMIT_REQUEST_BURST;
	struct rate *rate = name_map_get(&rates->due, who);
	int64_t ahead_ns;

	if (!rate) {
		if (rates->due.count > 0 && rates->due.count % SWEEP_COUNT == 0)
			sweep(rates, now_ns);
		rate = mem_zalloc(sizeof(*rate));
		rate->who = mem_text(who);
		rate->due_ns = now_ns;
		name_map_put(&rates->due, slice_str(rate->who), rate);
	}
	if (rate->due_ns < now_ns)
		rate->due_ns = now_ns;
	ahead_ns = rate->due_ns + INTERVAL_NS - now_ns - burst * INTERVAL_NS;
	if (ahead_ns > 0)
		return ahead_ns;
	rate->due_ns += INTERVAL_NS;
	return 0;
}

void rates_free(struct rates *rates)
{
	size_t cursor = 0;
	struct slice who;
	void *value;

	while (name_map_next(&rates->due, &cursor, &who, &value)) {
		struct rate *rate = value;

		mem_free(rate->who);
		mem_free(rate);
	}
	name_map_free(&rates->due);
}
