/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps the samples of samples.h. Between two turns nothing changes, so no timer is needed: the first turn in a second
 * completes the samples of all seconds before it, with the numbers as the turn before left them.
 */
#include "master/samples.h"

#include "base/mem.h"

struct worker_series {
	int64_t last;                    /* number of the newest sample */
	uint8_t cpu[SAMPLES_KEPT], memory[SAMPLES_KEPT];
};

#define SPAN_S ((int64_t)SAMPLES_KEPT * SAMPLES_LONG_S)
#define CLOCK_BACK_S  60                 /* a clock that was set back by more begins the samples anew */

static bool is_counter(size_t which)
{
	return which <= SERIES_FAILED;
}

void samples_now(const struct core_totals *totals, struct samples_now *ret_now)
{
	uint64_t *values = ret_now->values;

	*ret_now = (struct samples_now){ .values[SERIES_STARTED] = totals->entered[STATE_RUNNING] };
	for (unsigned state = 0; state < STATE_COUNT; state++) {
		enum state_group group = state_group((enum job_state)state);

		if (state_terminal((enum job_state)state))
			values[SERIES_ENDED] += totals->entered[state];
		if (group == STATES_FAIL)
			values[SERIES_FAILED] += totals->entered[state];
		if (group == STATES_RUN)
			values[SERIES_RUNNING] += totals->counts[state];
		if (group == STATES_QUEUE)
			values[SERIES_QUEUED] += totals->counts[state];
		if (group == STATES_WAIT)
			values[SERIES_WAITING] += totals->counts[state];
	}
}

static uint32_t fewer(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Complete one second: the first of a long sample begins that sample anew. */
static void put(struct samples *samples, int64_t second, size_t which, uint32_t value)
{
	uint32_t *whole = &samples->longs[which][second / SAMPLES_LONG_S % SAMPLES_KEPT];

	samples->shorts[which][second % SAMPLES_KEPT] = value;
	if (second % SAMPLES_LONG_S == 0 || second == samples->from)
		*whole = 0;
	if (is_counter(which))
		*whole = fewer((uint64_t)*whole + value);
	else if (value > *whole)
		*whole = value;
}

static void begin(struct samples *samples, int64_t second, const struct samples_now *now)
{
	samples->from = samples->open = second;
	memcpy(samples->counted, now->values, sizeof(samples->counted));
}

bool samples_due(const struct samples *samples, int64_t second)
{
	return samples->from == 0 || second > samples->open || second + CLOCK_BACK_S < samples->open;
}

void samples_complete(struct samples *samples, int64_t second, const struct samples_now *now)
{
	int64_t first = samples->open;

	if (!samples_due(samples, second))
		return;
	if (samples->from == 0 || second < first) {
		begin(samples, second, now);
		return;
	}
	/* The span is a multiple of a long sample, so each sample that is kept was begun anew. */
	if (second - first > SPAN_S + SAMPLES_LONG_S)
		first = second - SPAN_S - SAMPLES_LONG_S;
	for (size_t which = 0; which < SAMPLES_OF_CLUSTER; which++) {
		bool counter = is_counter(which);
		uint64_t value = counter ? now->values[which] - samples->counted[which] : now->values[which];

		/* What was counted happened in the first of these seconds, when the last turns were. */
		for (int64_t at = first; at < second; at++)
			put(samples, at, which, counter && at > first ? 0 : fewer(value));
	}
	samples->open = second;
	memcpy(samples->counted, now->values, sizeof(samples->counted));
}

void samples_worker(struct samples *samples, uint64_t worker, int64_t first, int64_t end, unsigned cpu, unsigned memory)
{
	struct worker_series *of = map_get(&samples->workers, worker);

	if (!of) {
		of = mem_zalloc(sizeof(*of));
		map_put(&samples->workers, worker, of);
	}
	if (end - first > SAMPLES_KEPT)
		first = end - SAMPLES_KEPT;
	for (int64_t at = first; at < end; at++) {
		of->cpu[at % SAMPLES_KEPT] = (uint8_t)(cpu < UINT8_MAX ? cpu : UINT8_MAX);
		of->memory[at % SAMPLES_KEPT] = (uint8_t)(memory < UINT8_MAX ? memory : UINT8_MAX);
	}
	of->last = end - 1;
}

void samples_forget_workers(struct samples *samples, int64_t last)
{
	size_t cursor = 0;
	uint64_t worker, gone;
	void *value;

	do {
		gone = 0;
		for (cursor = 0; map_next(&samples->workers, &cursor, &worker, &value) && gone == 0;)
			gone = ((struct worker_series *)value)->last < last ? worker : 0;
		if (gone != 0)
			mem_free(map_remove(&samples->workers, gone));
	} while (gone != 0);
}

void samples_free(struct samples *samples)
{
	samples_forget_workers(samples, INT64_MAX);
	map_free(&samples->workers);
	*samples = (struct samples){ 0 };
}

static uint64_t sample(const struct samples *samples, enum series which, const struct worker_series *of, bool is_long, int64_t at)
{
	if (of)
		return which == SERIES_CPU ? of->cpu[at % SAMPLES_KEPT] : of->memory[at % SAMPLES_KEPT];
	return (is_long ? samples->longs : samples->shorts)[which][at % SAMPLES_KEPT];
}

bool samples_row(const struct samples *samples, enum series which, uint64_t worker, bool is_long, int64_t since_ms,
		struct arena *arena, struct rec_series_row *ret_row)
{
	int64_t step_s = is_long ? SAMPLES_LONG_S : 1, end = samples->open / step_s, first = samples->from / step_s;
	const struct worker_series *of = worker != 0 ? map_get(&samples->workers, worker) : NULL;

	if (samples->from == 0 || (worker != 0 && !of))
		return false;
	first = first > end - SAMPLES_KEPT ? first : end - SAMPLES_KEPT;
	first = first > since_ms / 1000 / step_s ? first : since_ms / 1000 / step_s;
	if (first >= end)
		return false;
	*ret_row = (struct rec_series_row){
		.series = which, .worker = worker, .step_ms = (uint64_t)step_s * 1000, .until_ms = end * step_s * 1000,
		.values = { .at = arena_alloc(arena, (size_t)(end - first) * sizeof(uint64_t)), .n = (size_t)(end - first) },
	};
	for (int64_t at = first; at < end; at++)
		ret_row->values.at[at - first] = sample(samples, which, of, is_long, at);
	return true;
}
