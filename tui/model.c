/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the dashboard knows: applies messages, and keeps totals and events. Messages have whole rows, so
 * applying a row twice changes nothing.
 */
#include "tui/model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/model_internal.h"

void model_init(struct model *model)
{
	*model = (struct model){ 0 };
}

void model_free(struct model *model)
{
	for (size_t i = 0; i < model->run_count; i++)
		model_free_run(model->runs[i]);
	for (size_t i = 0; i < model->worker_count; i++)
		model_free_worker(model->workers[i]);
	model_free_gates(model);
	model_free_letters(model);
	mem_free(model->runs);
	mem_free(model->workers);
	map_free(&model->run_by_id);
	map_free(&model->worker_by_id);
	model_look_at(model, 0);
	name_map_free(&model->names);
	arena_free(&model->name_arena);
	*model = (struct model){ 0 };
}

struct tui_run *model_run(const struct model *model, uint64_t run)
{
	return map_get(&model->run_by_id, run);
}

struct tui_worker *model_worker(const struct model *model, uint64_t worker)
{
	return map_get(&model->worker_by_id, worker);
}

/* Add up a run's jobs in the groups that people ask for. */
struct tally tally_of(const uint32_t counts[STATE_COUNT])
{
	uint32_t sums[STATE_GROUPS] = { 0 };

	for (unsigned state = 0; state < STATE_COUNT; state++)
		sums[state_group(state)] += counts[state];
	return (struct tally){ .wait = sums[STATES_WAIT], .queue = sums[STATES_QUEUE], .run = sums[STATES_RUN],
		.ok = sums[STATES_OK], .fail = sums[STATES_FAIL], .other = sums[STATES_OTHER] };
}

/* Add up the jobs of all runs: from the master's sums, or from the rows in the model. */
static void count_jobs(const struct model *model, struct totals *totals)
{
	uint32_t counts[STATE_COUNT] = { 0 };
	struct tally tally;

	for (size_t i = 0; i < model->run_count; i++)
		totals->live_runs += !run_state_terminal(model->runs[i]->state);
	totals->runs = model->run_count;
	if (model->sums_known && totals->live_runs + model->ended_runs > totals->runs)
		totals->runs = totals->live_runs + model->ended_runs;
	for (size_t state = 0; state < STATE_COUNT; state++) {
		uint64_t all = model->live_jobs[state] + model->ended_jobs[state];

		for (size_t i = 0; !model->sums_known && i < model->run_count; i++)
			all += model->runs[i]->counts[state];
		counts[state] = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
	}
	tally = tally_of(counts);
	totals->wait = tally.wait;
	totals->queue = tally.queue;
	totals->running = tally.run;
	totals->ok = tally.ok;
	totals->failed = tally.fail;
}

void model_count(struct model *model)
{
	struct totals totals = { .workers = model->worker_count };

	count_jobs(model, &totals);
	model_count_letters(model, &totals);
	for (size_t i = 0; i < model->worker_count; i++) {
		const struct tui_worker *worker = model->workers[i];

		totals.workers_up += worker->state == WORKER_UP;
		totals.workers_silent += worker->state == WORKER_UNREACHABLE;
		totals.workers_lost += worker->state == WORKER_LOST;
		if (worker->state == WORKER_UP) {
			totals.workers_stuck += worker->stuck > 0 && worker->refused_code == 0;
			totals.workers_refusing += worker->refused_code > 0;
			totals.slots += worker->slots;
			totals.busy += worker->busy;
		}
	}
	model->totals = totals;
}

static void apply_rows(struct model *model, const struct rec_run_row *runs, size_t run_count,
		       const struct rec_worker_row *workers, size_t worker_count,
		       const struct rec_job_row *jobs, size_t job_count, enum change change, int64_t now_ms)
{
	for (size_t i = 0; i < run_count; i++)
		model_put_run(model, &runs[i], change, now_ms);
	for (size_t i = 0; i < worker_count; i++)
		model_put_worker(model, &workers[i], change, now_ms);
	for (size_t i = 0; i < job_count; i++)
		model_put_job(model, &jobs[i], change, now_ms);
}

static void keep_mark(struct model *model, enum query_what what, uint64_t mark)
{
	if (mark != 0)
		*(what == QUERY_RUNS ? &model->runs_mark : &model->graph.mark) = mark;
}

static void take_list(struct u64_list list, uint64_t *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = i < list.n ? list.at[i] : 0;
}

static void keep_sums(struct model *model, struct u64_list live_jobs, struct u64_list ended_runs, struct u64_list ended_jobs)
{
	uint64_t before = model->ended_runs;

	if (ended_runs.n == 0)
		return;
	take_list(live_jobs, model->live_jobs, STATE_COUNT);
	take_list(ended_jobs, model->ended_jobs, STATE_COUNT);
	model->ended_runs = 0;
	for (size_t i = 0; i < ended_runs.n; i++)
		model->ended_runs += ended_runs.at[i];
	/* Runs were pruned, or live again. */
	model->letters_stale |= model->ended_runs < before;
	model->sums_known = true;
}

void model_apply_snapshot(
	struct model *model, enum query_what what, const struct msg_snapshot *msg, int64_t now_ms)
{
	bool *open = what == QUERY_RUNS ? &model->runs_open : &model->graph_open;

	if (!*open && what == QUERY_RUNS) {
		model->snapshot++;
		model->runs_floor = msg->cursor;
	}
	*open = msg->cursor != 0;
	model->turn = msg->turn > model->turn ? msg->turn : model->turn;
	apply_rows(model, msg->runs.at, msg->runs.n, msg->workers.at, msg->workers.n, msg->jobs.at,
		msg->jobs.n, CHANGE_QUIET, now_ms);
	if (what == QUERY_RUNS)
		keep_sums(model, msg->counts, msg->ended_runs, msg->ended_jobs);
	if (!*open && what == QUERY_RUNS) {
		model_sweep(model);
		model->runs_known = true;
	}
	if (!*open && what == QUERY_JOBS)
		model->graph.complete = true;
	keep_mark(model, what, msg->resume);
	model_count(model);
}

void model_apply_older(struct model *model, const struct msg_snapshot *msg, int64_t now_ms)
{
	uint64_t floor = model->runs_floor;

	model->runs_floor = msg->cursor < floor ? msg->cursor : 0;
	for (size_t i = 0; i < msg->runs.n && msg->runs.at[i].run < floor; i++)
		model_put_run(model, &msg->runs.at[i], CHANGE_QUIET, now_ms);
	model_count(model);
}

void model_apply_delta(struct model *model, enum query_what what, const struct msg_delta *msg, int64_t now_ms)
{
	model->turn = msg->turn > model->turn ? msg->turn : model->turn;
	apply_rows(model, msg->runs.at, msg->runs.n, msg->workers.at, msg->workers.n, msg->jobs.at,
		msg->jobs.n, CHANGE_TOLD, now_ms);
	if (what == QUERY_RUNS)
		keep_sums(model, msg->counts, msg->ended_runs, msg->ended_jobs);
	keep_mark(model, what, msg->resume);
	if (msg->cut) {
		/* A new snapshot begins, even if the last one wasn't complete. */
		*(what == QUERY_RUNS ? &model->runs_open : &model->graph_open) = false;
		model->letters_stale |= what == QUERY_RUNS;
	}
	model_count(model);
}

void model_look_at(struct model *model, uint64_t run)
{
	struct tui_graph *graph = &model->graph;
	uint64_t structure = graph->structure;

	mem_free(graph->jobs);
	mem_free(graph->states);
	arena_free(&graph->arena);
	*graph = (struct tui_graph){ .run = run, .structure = structure + 1 };
	model->graph_open = false;
}

const struct slice *model_name(struct model *model, struct slice name)
{
	const struct slice *known;
	struct slice *copy;

	if (name.len == 0)
		return NULL;
	known = name_map_get(&model->names, name);
	if (known)
		return known;
	copy = arena_alloc(&model->name_arena, sizeof *copy);
	*copy = arena_copy(&model->name_arena, name);
	name_map_put(&model->names, *copy, copy);
	return copy;
}

const char *model_plain(struct slice text, char *out, size_t size)
{
	struct buf escaped = { 0 };
	size_t len;

	text_escape(&escaped, text, TEXT_KEEP_NONE);
	len = escaped.len < size ? escaped.len : size - 1;
	/* Don't cut the text in the middle of a character. */
	while (len > 0 && len < escaped.len && (escaped.data[len] & 0xc0) == 0x80)
		len--;
	memcpy(out, escaped.data ? escaped.data : (const uint8_t *)"", len);
	out[len] = '\0';
	buf_free(&escaped);
	return out;
}

void model_tell(struct model *model, int64_t at_ms, const struct state_info *look, const char *format, ...)
{
	struct tui_event *event = &model->events[model->event_count++ % MODEL_EVENTS];
	va_list args;

	event->at_ms = at_ms;
	event->look = look;
	va_start(args, format);
	vsnprintf(event->text, sizeof event->text, format, args);
	va_end(args);
}

const struct tui_event *model_event(const struct model *model, size_t back)
{
	if (back >= MODEL_EVENTS || back >= model->event_count)
		return NULL;
	return &model->events[(model->event_count - 1 - back) % MODEL_EVENTS];
}
