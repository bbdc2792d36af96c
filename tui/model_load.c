/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The load of the cluster over time, by the second and by the quarter of a minute. The master's samples replace what is
 * here; between its answers, and for people who may not see all runs, samples are made of what the model sees itself.
 */
#include "base/mem.h"
#include "tui/model_internal.h"

#define LONG_S      15                   /* seconds in a long sample */
#define MOVING      64                   /* short samples that a picture may show */

static bool is_counter(size_t which)
{
	return which <= SERIES_FAILED;
}

static void push(struct load *load, size_t step, size_t which, uint32_t value)
{
	uint32_t *at = load->at[step][which];

	memmove(at, at + 1, (MODEL_SAMPLES - 1) * sizeof *at);
	at[MODEL_SAMPLES - 1] = value;
}

static uint32_t fewer(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static void counters(const struct model *model, uint64_t out[SERIES_FAILED + 1])
{
	out[SERIES_STARTED] = 0;                 /* a row of a run doesn't say how many began; the master's samples do */
	out[SERIES_ENDED] = model->ended;
	out[SERIES_FAILED] = model->failed;
}

static void push_second(struct model *model, bool first, const uint64_t now[SERIES_FAILED + 1])
{
	struct load *load = &model->load;
	const uint64_t levels[] = { [SERIES_RUNNING] = model->totals.running, [SERIES_QUEUED] = model->totals.queue,
		[SERIES_WAITING] = model->totals.wait };

	for (size_t which = 0; which < SERIES_CPU; which++) {
		/* After a while without ticks, all that was counted meanwhile counts in the first of these seconds. */
		uint64_t value = is_counter(which) ? first ? now[which] - load->counted[which] : 0 : levels[which];

		push(load, LOAD_SHORT, which, fewer(value));
	}
	load->known[LOAD_SHORT] += load->known[LOAD_SHORT] < MODEL_SAMPLES;
}

/* A long sample is complete: sum up the short ones in it. */
static void push_long(struct load *load)
{
	for (size_t which = 0; which < SERIES_CPU; which++) {
		const uint32_t *from = load->at[LOAD_SHORT][which] + MODEL_SAMPLES - LONG_S;
		uint64_t value = 0;

		for (size_t i = 0; i < LONG_S; i++)
			value = is_counter(which) ? value + from[i] : from[i] > value ? from[i] : value;
		push(load, LOAD_LONG, which, fewer(value));
	}
	load->known[LOAD_LONG] += load->known[LOAD_LONG] < MODEL_SAMPLES;
}

bool model_tick(struct model *model, int64_t now_ms)
{
	struct load *load = &model->load;
	uint64_t now[SERIES_FAILED + 1];
	int64_t second = now_ms / 1000, passed = second - load->second;
	bool moves = model_history_moves(model);

	counters(model, now);
	if (load->second == 0 || passed < 0) {
		load->second = second;
		memcpy(load->counted, now, sizeof now);
		return false;
	}
	if (passed == 0)
		return false;
	/* What is older than all samples isn't made; a screen that was stopped for so long asks the master. */
	for (int64_t i = passed > MODEL_SAMPLES ? passed - MODEL_SAMPLES : 0; i < passed; i++) {
		push_second(model, i == 0 || (passed > MODEL_SAMPLES && i == passed - MODEL_SAMPLES), now);
		if (load->since_ms != 0 && (load->second + i + 1 + load->ahead_s) % LONG_S == 0)
			push_long(load);
	}
	load->second = second;
	memcpy(load->counted, now, sizeof now);
	return moves;
}

bool model_history_moves(const struct model *model)
{
	const struct load *load = &model->load;
	const uint32_t *ended = load->at[LOAD_SHORT][SERIES_ENDED], *queued = load->at[LOAD_SHORT][SERIES_QUEUED];

	if (model->ended != load->counted[SERIES_ENDED] || model->totals.queue != queued[MODEL_SAMPLES - 1])
		return true;
	for (size_t i = MODEL_SAMPLES - MOVING; i < MODEL_SAMPLES; i++)
		if (ended[i] != 0 || queued[i] != queued[MODEL_SAMPLES - 1])
			return true;
	return false;
}

static void take_cluster(struct load *load, const struct rec_series_row *row)
{
	size_t step = row->step_ms == 1000 ? LOAD_SHORT : LOAD_LONG, count = row->values.n < MODEL_SAMPLES ? row->values.n : MODEL_SAMPLES;
	uint32_t *to = load->at[step][row->series] + MODEL_SAMPLES - count;

	for (size_t i = 0; i < count; i++)
		to[i] = fewer(row->values.at[row->values.n - count + i]);
	/* A master that was started lately has fewer samples than are known from the one before. */
	load->known[step] = load->known[step] > count ? load->known[step] : count;
}

static void take_worker(struct model *model, const struct rec_series_row *row)
{
	struct tui_worker *worker = model_worker(model, row->worker);
	int64_t until = row->until_ms / (LONG_S * 1000), fresh, count = (int64_t)row->values.n;
	struct worker_load *load;
	uint8_t *at;

	if (!worker || until <= 0)
		return;
	if (!worker->load)
		worker->load = mem_zalloc(sizeof *worker->load);
	load = worker->load;
	at = row->series == SERIES_CPU ? load->cpu : load->memory;
	fresh = until - load->until[row->series - SERIES_CPU];
	fresh = fresh < 0 || fresh > MODEL_SAMPLES ? MODEL_SAMPLES : fresh;
	count = count < MODEL_SAMPLES ? count : MODEL_SAMPLES;
	memmove(at, at + fresh, (size_t)(MODEL_SAMPLES - fresh));
	memset(at + MODEL_SAMPLES - fresh, 0, (size_t)fresh);
	for (int64_t i = 0; i < count; i++) {
		uint64_t value = row->values.at[(int64_t)row->values.n - count + i];

		at[MODEL_SAMPLES - count + i] = (uint8_t)(value < UINT8_MAX ? value : UINT8_MAX);
	}
	load->until[row->series - SERIES_CPU] = until;
}

void model_apply_series(struct model *model, const struct msg_snapshot *msg, int64_t now_ms)
{
	struct load *load = &model->load;

	model_tick(model, now_ms);
	load->since_ms = msg->series_ms;
	for (size_t i = 0; i < msg->series.n; i++) {
		const struct rec_series_row *row = &msg->series.at[i];

		if (row->worker == 0 && row->series < SERIES_CPU && (row->step_ms == 1000 || row->step_ms == LONG_S * 1000)) {
			take_cluster(load, row);
			if (row->step_ms == 1000)
				load->ahead_s = row->until_ms / 1000 - load->second;
		} else if (row->worker != 0 && (row->series == SERIES_CPU || row->series == SERIES_MEMORY) && row->step_ms == LONG_S * 1000) {
			take_worker(model, row);
			load->workers_ms = row->until_ms > load->workers_ms ? row->until_ms : load->workers_ms;
		}
	}
}

size_t load_cells(const struct load *load, size_t step, enum series which, size_t per, size_t count, uint32_t *out)
{
	const uint32_t *at = load->at[step][which];
	size_t known = (load->known[step] + per - 1) / per;      /* the oldest one may be known in part */

	known = known < count ? known : count;
	for (size_t i = 0; i < known; i++) {
		const uint32_t *from = at + MODEL_SAMPLES - (known - i) * per;
		uint64_t value = 0;

		for (size_t j = 0; j < per; j++)
			value = is_counter((size_t)which) ? value + from[j] : from[j] > value ? from[j] : value;
		out[i] = fewer(value);
	}
	return known;
}
