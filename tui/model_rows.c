/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts rows into the model: copies what a message says about a run, a worker or a job, keeps lists sorted by number,
 * and makes events of changes. Numbers from the protocol are checked here.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "proto/limits.h"
#include "tui/model_internal.h"
#include "tui/theme.h"

static void keep_text(struct slice *text, struct slice value)
{
	if (slice_eq(*text, value))
		return;
	mem_free((void *)text->data);
	*text = slice_make(mem_text(value), value.len);
}

/*
 * Find the place of key in an ascending list of pointers to structs whose first field is their key. Mostly it is the
 * end.
 */
static size_t place_of(void *const *list, size_t count, uint64_t key)
{
	size_t low = 0, high = count;

	if (count > 0 && *(const uint64_t *)list[count - 1] < key)
		return count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (*(const uint64_t *)list[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void *list_insert(void ***list, size_t *count, size_t *cap, uint64_t key, void *value)
{
	size_t at = place_of(*list, *count, key);

	if (*count == *cap) {
		*cap = *cap ? *cap * 2 : 16;
		*list = mem_resize(*list, *cap, sizeof **list);
	}
	memmove(*list + at + 1, *list + at, (*count - at) * sizeof **list);
	(*list)[at] = value;
	(*count)++;
	return value;
}

static void free_run(struct model *model, struct tui_run *run)
{
	map_remove(&model->run_by_id, run->run);
	model_free_run(run);
}

/* Remove the oldest run that has ended; if none has, the oldest of all. */
static void forget_one_run(struct model *model)
{
	size_t at = 0;

	while (at < model->run_count && !run_state_terminal(model->runs[at]->state))
		at++;
	if (at == model->run_count)
		at = 0;
	if (model->runs_floor <= model->runs[at]->run)
		model->runs_floor = model->runs[at]->run + 1;
	free_run(model, model->runs[at]);
	model->run_count--;
	memmove(model->runs + at, model->runs + at + 1, (model->run_count - at) * sizeof *model->runs);
}

static uint64_t ended_of(const uint32_t counts[STATE_COUNT])
{
	uint64_t sum = 0;

	for (unsigned state = 0; state < STATE_COUNT; state++)
		sum += state_terminal(state) ? counts[state] : 0;
	return sum;
}

static void tell_run(struct model *model, const struct tui_run *run, bool is_new, enum run_state before,
		     const uint32_t old_counts[STATE_COUNT], int64_t now_ms)
{
	char name[64];
	struct tally now = tally_of(run->counts), old = tally_of(old_counts);

	model_plain(run->name, name, sizeof name);
	if (is_new) {
		model_tell(model, run->submitted_ms ? run->submitted_ms : now_ms, run_state_info(RUN_WAITING),
			"#%" PRIu64 " %s submitted, %" PRIu64 " jobs", run->run, name, run->jobs);
		return;
	}
	if (now.fail > old.fail)
		model_tell(model, now_ms, &state_table[STATE_FAILED], "#%" PRIu64 " %s: %u failed", run->run,
			name, now.fail);
	if (run->state != before && (run_state_terminal(run->state) || run->state == RUN_RUNNING))
		model_tell(model, run->ended_ms && run_state_terminal(run->state) ? run->ended_ms : now_ms,
			run_state_info(run->state), "#%" PRIu64 " %s %s", run->run, name,
			run_state_info(run->state)->word);
}

void model_put_run(struct model *model, const struct rec_run_row *row, enum change change, int64_t now_ms)
{
	struct tui_run *run = model_run(model, row->run);
	uint32_t old_counts[STATE_COUNT] = { 0 };
	enum run_state before = RUN_WAITING;
	bool is_new = !run;
	/* A run that is older than the newest one isn't news: it was beyond the list, and something about it has changed. */
	bool is_old = is_new && model->run_count > 0 && model->runs[model->run_count - 1]->run > row->run;

	if (row->state >= RUN_STATE_COUNT || row->run == 0)
		return;
	if (is_new) {
		if (model->run_count >= MODEL_RUNS_MAX)
			forget_one_run(model);
		run = mem_zalloc(sizeof *run);
		run->run = row->run;
		list_insert((void ***)&model->runs, &model->run_count, &model->run_cap, row->run, run);
		map_put(&model->run_by_id, row->run, run);
	} else {
		before = run->state;
		memcpy(old_counts, run->counts, sizeof old_counts);
	}
	keep_text(&run->name, row->name);
	keep_text(&run->owner, row->owner);
	keep_text(&run->crash_loop, row->crash_loop);
	run->state = (enum run_state)row->state;
	run->jobs = row->jobs;
	for (size_t i = 0; i < STATE_COUNT; i++)
		run->counts[i] = i < row->counts.n ? (uint32_t)row->counts.at[i] : 0;
	model->gates_stale |= run->counts[STATE_APPROVAL] != old_counts[STATE_APPROVAL];
	run->forgiven = (uint32_t)row->forgiven;
	model->letters_stale |= change == CHANGE_TOLD && run->dead != row->dead;
	run->dead = (uint32_t)row->dead;
	run->held = row->held;
	run->parent_run = row->parent_run;
	run->submitted_ms = row->submitted_ms;
	run->ended_ms = row->ended_ms;
	run->seen = model->snapshot;
	if (change == CHANGE_TOLD && !is_old) {
		uint64_t ended = ended_of(run->counts), old = ended_of(old_counts);

		uint32_t failed = tally_of(run->counts).fail, old_failed = tally_of(old_counts).fail;

		model->ended += ended > old ? ended - old : 0;
		model->failed += failed > old_failed ? failed - old_failed : 0;
		tell_run(model, run, is_new, before, old_counts, now_ms);
	}
}

void model_free_run(struct tui_run *run)
{
	mem_free((void *)run->name.data);
	mem_free((void *)run->owner.data);
	mem_free((void *)run->crash_loop.data);
	mem_free(run);
}

void model_free_worker(struct tui_worker *worker)
{
	mem_free((void *)worker->name.data);
	mem_free(worker->load);
	mem_free(worker);
}

void model_put_worker(
	struct model *model, const struct rec_worker_row *row, enum change change, int64_t now_ms)
{
	struct tui_worker *worker = model_worker(model, row->worker);
	bool is_new = !worker;
	enum worker_state before = worker ? worker->state : WORKER_LOST;
	char name[64];

	if (row->state > WORKER_ENDED)
		return;
	if (is_new) {
		worker = mem_zalloc(sizeof *worker);
		worker->worker = row->worker;
		list_insert((void ***)&model->workers, &model->worker_count, &model->worker_cap, row->worker,
			worker);
		map_put(&model->worker_by_id, row->worker, worker);
	}
	keep_text(&worker->name, row->name);
	worker->state = (enum worker_state)row->state;
	worker->slots = row->slots;
	worker->busy = row->busy;
	worker->prefetched = row->prefetched;
	worker->cpu_permille = row->cpu_permille;
	worker->mem_permille = row->mem_permille;
	worker->seen_ms = row->seen_ms;
	worker->pid = row->pid;
	worker->done = row->done;
	worker->stuck = row->stuck;
	worker->refused_code = row->refused_code;
	worker->standing = row->standing <= STANDING_DRAINING ? (enum worker_standing)row->standing : STANDING_NONE;
	worker->pool_stopped = row->pool_state != POOL_ACTIVE;
	worker->rests = row->rest_ms > 0;
	worker->seen = model->snapshot;
	if (change == CHANGE_TOLD && (is_new || before != worker->state))
		model_tell(model, now_ms, theme_worker(worker->state), "worker %s %s",
			model_plain(worker->name, name, sizeof name), theme_worker(worker->state)->word);
}

void model_sweep(struct model *model)
{
	size_t kept = 0;

	for (size_t i = 0; i < model->run_count; i++) {
		if (model->runs[i]->seen == model->snapshot)
			model->runs[kept++] = model->runs[i];
		else
			free_run(model, model->runs[i]);
	}
	model->run_count = kept;
	kept = 0;
	for (size_t i = 0; i < model->worker_count; i++) {
		struct tui_worker *worker = model->workers[i];

		if (worker->seen == model->snapshot) {
			model->workers[kept++] = worker;
			continue;
		}
		map_remove(&model->worker_by_id, worker->worker);
		model_free_worker(worker);
	}
	model->worker_count = kept;
}

static void make_room(struct tui_graph *graph, size_t index)
{
	size_t cap = graph->cap ? graph->cap : 64;

	if (index >= graph->cap) {
		while (cap <= index)
			cap *= 2;
		graph->jobs = mem_resize(graph->jobs, cap, sizeof *graph->jobs);
		graph->states = mem_resize(graph->states, cap, sizeof *graph->states);
		graph->cap = cap;
	}
	while (graph->count <= index) {
		graph->jobs[graph->count] = (struct tui_job){ 0 };
		graph->states[graph->count] = STATE_WAITING;
		graph->count++;
	}
}

/* Keep the parents of a job. Only snapshots have them; none in a delta means that they haven't changed. */
static void keep_needs(struct tui_graph *graph, struct tui_job *job, const struct rec_job_row *row)
{
	size_t count = row->needs.n;

	if (count == 0 || (job->need_count == count && job->needs))
		return;
	job->needs = arena_alloc(&graph->arena, count * sizeof *job->needs);
	job->need_count = 0;
	for (size_t i = 0; i < count; i++)
		if (row->needs.at[i] < LIMIT_RUN_JOBS_MAX && row->needs.at[i] != row->index)
			job->needs[job->need_count++] = (uint32_t)row->needs.at[i];
	graph->structure++;
}

/* Keep the settings of a job. Only snapshots have them; none in a delta means that they haven't changed. */
static void keep_settings(struct tui_graph *graph, struct tui_job *job, const struct rec_job_row *row)
{
	if (row->settings.n == 0 || job->settings)
		return;
	job->settings = arena_alloc(&graph->arena, sizeof *job->settings);
	*job->settings = row->settings.at[0];
	for (size_t i = 0; i < setting_count; i++) {
		struct slice *text;

		if (setting_table[i].shape != SHAPE_TEXT)
			continue;
		text = setting_text(&setting_table[i], job->settings);
		*text = arena_copy(&graph->arena, *text);
	}
}

static void tell_job(struct model *model, const struct tui_job *job, enum job_state state, int64_t now_ms)
{
	char name[64], worker[40];
	int64_t at_ms = now_ms;

	if (state == STATE_RUNNING && job->started_ms)
		at_ms = job->started_ms;
	else if (state_terminal(state) && job->ended_ms)
		at_ms = job->ended_ms;
	else if (state != STATE_RUNNING && !state_terminal(state) && state != STATE_DELAYED)
		return;
	model_plain(job->name, name, sizeof name);
	model_plain(job_worker(job), worker, sizeof worker);
	model_tell(model, at_ms, &state_table[state], "%s%s%" PRIu64 "/%s %s", worker, worker[0] ? " " : "",
		model->graph.run, name, state_table[state].word);
}

static uint16_t small(uint64_t value)
{
	return (uint16_t)(value > UINT16_MAX ? UINT16_MAX : value);
}

static uint32_t fewer(uint64_t value)
{
	return (uint32_t)(value > UINT32_MAX ? UINT32_MAX : value);
}

static void keep_more(struct tui_graph *graph, struct tui_job *job, const struct rec_job_row *row)
{
	struct job_more more = {
		.held = row->held, .pass = small(row->pass), .loop_max = small(row->loop_max), .votes = fewer(row->gate_have),
		.votes_wanted = fewer(row->gate_count), .child = row->child, .child_jobs = row->child_jobs, .deadline_ms = row->deadline_ms,
	};
	bool any = more.held || more.pass || more.votes_wanted || more.child || more.child_jobs || more.deadline_ms;

	if (any && !job->more)
		job->more = arena_alloc(&graph->arena, sizeof *job->more);
	if (job->more)
		*job->more = more;
}

void model_put_job(struct model *model, const struct rec_job_row *row, enum change change, int64_t now_ms)
{
	struct tui_graph *graph = &model->graph;
	struct tui_job *job;
	unsigned before;

	if (row->run != graph->run || row->run == 0 || row->job == 0 || row->state >= STATE_COUNT ||
	    row->index >= LIMIT_RUN_JOBS_MAX)
		return;
	make_room(graph, row->index);
	job = &graph->jobs[row->index];
	before = graph->states[row->index];
	if (job->job == 0)
		graph->structure++;
	else
		graph->counts[before]--;
	if (!slice_eq(job->name, row->name))
		job->name = arena_copy(&graph->arena, row->name);
	keep_needs(graph, job, row);
	keep_settings(graph, job, row);
	keep_more(graph, job, row);
	job->worker = model_name(model, row->worker);
	job->epoch = row->epoch;
	job->cause = row->cause;
	job->tries = small(row->tries);
	job->crashes = small(row->crashes);
	job->interrupted = small(row->interrupted);
	job->code = (uint32_t)row->code;
	job->outcome = row->outcome < OUTCOME_COUNT ? (uint8_t)row->outcome : OUTCOME_NONE;
	job->dead = row->dead;
	job->forgiven = row->forgiven;
	job->due_ms = row->due_ms;
	job->started_ms = row->started_ms;
	job->ended_ms = row->ended_ms;
	job->retry_max = row->retry_max ? small(row->retry_max) : job->retry_max;
	graph->states[row->index] = (uint8_t)row->state;
	graph->counts[row->state]++;
	if (state_needs_eyes((unsigned)row->state) != (job->job != 0 && state_needs_eyes(before)))
		graph->failures++;
	if (change == CHANGE_TOLD && (job->job == 0 || before != row->state))
		tell_job(model, job, (enum job_state)row->state, now_ms);
	job->job = row->job;
}
