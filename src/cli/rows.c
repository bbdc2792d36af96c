/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of runs, jobs and workers. Numbers from the wire are checked before they index anything. */
#include "cli/rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/clock.h"
#include "cli/place.h"

#define CAUSES_SOUGHT 1000               /* of a chain of skipped jobs; a longer one has its nearest cause alone */

enum run_state run_state_checked(uint64_t state)
{
	return state < RUN_STATE_COUNT ? (enum run_state)state : RUN_WAITING;
}

enum job_state job_state_checked(uint64_t state)
{
	return state < STATE_COUNT ? (enum job_state)state : STATE_WAITING;
}

const struct state_info *job_look(const struct rec_job_row *job)
{
	enum job_state state = job_state_checked(job->state);

	/* Before its first try it waits for its time, and isn't tried again. */
	if (state == STATE_DELAYED && job->tries == 0)
		return &state_table[STATE_WAITING];
	return job->dead && state == STATE_FAILED ? &state_dead : &state_table[state];
}

struct run_counts run_counts(const struct rec_run_row *run)
{
	struct run_counts counts = { .jobs = run->jobs };

	for (size_t i = 0; i < run->counts.n && i < STATE_COUNT; i++) {
		uint64_t count = run->counts.at[i];

		if (state_terminal((enum job_state)i))
			counts.settled += count;
		if (i == STATE_SUCCEEDED)
			counts.ok += count;
		else if (i == STATE_SKIPPED)
			counts.skipped += count;
		else if (i == STATE_CANCELLED)
			counts.cancelled += count;
		else if (state_terminal((enum job_state)i))
			counts.failed += count;
		else if (state_table[i].kind == KIND_HOLDS)
			counts.running += count;
		else
			counts.waiting += count;
	}
	return counts;
}

static struct slice arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

static struct slice arena_printf(struct arena *arena, const char *format, ...)
{
	char text[64];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return arena_copy(arena, slice_str(text));
}

static const struct column run_columns[] = {
	{ "id", "ID", true },
	{ "name", "PIPELINE", false },
	{ "state", "STATE", false },
	{ "progress", "PROGRESS", false },
	{ "ok", "OK", true },
	{ "running", "RUN", true },
	{ "waiting", "WAIT", true },
	{ "failed", "FAIL", true },
	{ "age_ms", "AGE", true },
	{ "why", "WHY", false },
	{ "skipped", NULL, false },
	{ "cancelled", NULL, false },
	{ "jobs", NULL, false },
	{ "owner", NULL, false },
	{ "tenant", NULL, false },
	{ "submitted", NULL, false },
	{ "ended", NULL, false },
	{ "held", NULL, false },
	{ "forgiven", NULL, false },
	{ "dead", NULL, false },
	{ "schedule", NULL, false },
	{ "concurrency", NULL, false },
	{ "seated", NULL, false },
	{ "parent", NULL, false },
};

void rows_begin_runs(struct records *records, struct arena *arena)
{
	records_begin(records, run_columns, sizeof(run_columns) / sizeof(run_columns[0]), arena);
}

struct slice run_parent(const struct rec_run_row *run, struct arena *arena)
{
	struct rec_job_row job = { .run = run->parent_run, .name = run->parent_job };

	return run->parent_run ? job_address(&job, arena) : slice_make(NULL, 0);
}

static struct slice run_within(const struct rec_run_row *run, struct arena *arena)
{
	struct slice parent = run_parent(run, arena);
	struct buf text = { 0 };
	struct slice copy;

	if (parent.len == 0)
		return parent;
	buf_add_str(&text, "sub-run of ");
	buf_add_slice(&text, parent);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

/* Why a run doesn't go on, where that is a person's affair; what of it is left to do when it has ended. */
static struct slice run_why(const struct rec_run_row *run, struct arena *arena)
{
	uint64_t gates = run->counts.n > STATE_APPROVAL ? run->counts.at[STATE_APPROVAL] : 0;

	if (run_state_terminal(run_state_checked(run->state))) {
		if (run->dead > 0)
			return arena_printf(arena, "%" PRIu64 " dead letter%s", run->dead, run->dead == 1 ? "" : "s");
		if (run->forgiven > 0)
			return arena_printf(arena, "%" PRIu64 " forgiven", run->forgiven);
		return run_within(run, arena);
	}
	if (run->held)
		return slice_str("held back");
	if (gates > 0)
		return arena_printf(arena, "%" PRIu64 " approval%s", gates, gates == 1 ? "" : "s");
	return run_within(run, arena);
}

void rows_add_run(struct records *records, const struct rec_run_row *run, int64_t now_ms)
{
	struct run_counts counts = run_counts(run);
	enum run_state state = run_state_checked(run->state);
	int64_t end_ms = run->ended_ms ? run->ended_ms : now_ms;

	records_number(records, run->run);
	records_text(records, run->name);
	records_state(records, run_state_info(state), run_state_name(state));
	records_share(records, counts.settled, counts.jobs);
	records_number(records, counts.ok);
	records_number(records, counts.running);
	records_number(records, counts.waiting);
	records_number(records, counts.failed);
	records_span(records, end_ms > run->submitted_ms ? end_ms - run->submitted_ms : 0);
	records_text(records, run_why(run, records->arena));
	records_number(records, counts.skipped);
	records_number(records, counts.cancelled);
	records_number(records, counts.jobs);
	records_text(records, run->owner);
	records_text(records, run->tenant.len > 0 ? run->tenant : run->owner);
	records_time(records, run->submitted_ms);
	records_time(records, run->ended_ms);
	records_bool(records, run->held);
	records_number(records, run->forgiven);
	records_number(records, run->dead);
	records_text(records, run->schedule);
	records_text(records, run->concurrency);
	records_bool(records, run->seated);
	records_text(records, run_parent(run, records->arena));
}

static const char *signal_name(uint64_t number)
{
	return number < 65 ? sigabbrev_np((int)number) : NULL;
}

struct slice job_stop_text(const struct rec_job_row *job)
{
	bool said = job->stop_cause > 0 && job->stop_cause < EVENT_COUNT;

	return slice_str(said ? event_names[job->stop_cause] : NULL);
}

/* Which of the two it was the system doesn't tell; where the command isn't known, the state is told alone. */
static struct slice spawn_text(const struct rec_job_row *job, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;
	size_t len = 0;

	while (len < job->command.len && job->command.data[len] > ' ')
		len++;
	buf_addf(&text, "not started: %s", strerror((int)job->code));
	if (len > 0) {
		buf_add_str(&text, ": ");
		buf_add(&text, job->command.data, len);
		buf_add_str(&text, ", or the directory it runs in");
	}
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

struct slice job_outcome_text(const struct rec_job_row *job, struct arena *arena)
{
	/* Of a job that runs it would be that of an attempt before. */
	if (job->outcome == OUTCOME_NONE || job->outcome >= OUTCOME_COUNT ||
	    state_table[job_state_checked(job->state)].kind == KIND_HOLDS)
		return slice_make(NULL, 0);
	switch ((enum outcome)job->outcome) {
	case OUTCOME_EXIT:
		if (job->child != 0)
			return arena_printf(arena, "run %" PRIu64 " %s", job->child, job->code == 0 ? "succeeded" :
					    job->code == 2 ? "was cancelled" : "failed");
		return arena_printf(arena, "exit %" PRIu64, job->code);
	case OUTCOME_SIGNAL:
		return signal_name(job->code) ? arena_printf(arena, "SIG%s", signal_name(job->code))
					      : arena_printf(arena, "signal %" PRIu64, job->code);
	case OUTCOME_SPAWN:
		return spawn_text(job, arena);
	default:
		return slice_str(outcome_name((enum outcome)job->outcome));
	}
}

static const struct rec_job_row *find_cause(const struct rec_job_row *job, const struct rec_job_row *jobs,
					    size_t job_count)
{
	/* Serial numbers of a run's jobs are neighbours, so most are where they should be. */
	uint64_t offset = job->cause - 1 - job->job + job->index;

	if (job->cause == 0)
		return NULL;
	if (offset < job_count && jobs[offset].job == job->cause - 1)
		return &jobs[offset];
	for (size_t i = 0; i < job_count; i++)
		if (jobs[i].job == job->cause - 1)
			return &jobs[i];
	return NULL;
}

/* 'x failed', 'x was skipped' */
static void add_fate(struct buf *text, const struct rec_job_row *job)
{
	enum job_state state = job_state_checked(job->state);

	buf_add_slice(text, job->name);
	buf_add_str(text, state == STATE_SKIPPED || state == STATE_CANCELLED || state == STATE_DENIED ? " was " : " ");
	buf_add_str(text, state_table[state].name);
}

const struct rec_job_row *job_root(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
				   bool past_conditions)
{
	const struct rec_job_row *next;

	for (size_t i = 0; i < CAUSES_SOUGHT && job->cause != 0 && (past_conditions || !job->untaken); i++) {
		next = find_cause(job, jobs, job_count);
		if (next == NULL || next == job)
			break;
		job = next;
	}
	return job;
}

static struct slice job_condition_text(const struct rec_job_row *job, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	buf_add_str(&text, "its condition was false: ");
	buf_add_slice(&text, job->when);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

struct slice job_cause_text(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
			    struct arena *arena)
{
	enum job_state state = job_state_checked(job->state);
	const struct rec_job_row *cause, *root;
	struct buf text = { 0 };
	struct slice copy;

	if (job->held && !state_terminal(state))
		return slice_str("held back");
	if (state == STATE_APPROVAL && job->gate_count > 1)
		return arena_printf(arena, "%" PRIu64 " of %" PRIu64 " approved", job->gate_have, job->gate_count);
	if (state == STATE_APPROVAL)
		return slice_str("waits for a person");
	if (job->forgiven)
		return slice_str("counts as a good end");
	if (state == STATE_TIMED_OUT && job_stop_text(job).len > 0)
		return slice_str(event_texts[job->stop_cause]);
	if (job->untaken)
		return job_condition_text(job, arena);
	if (job->loop_max > 0 && job->pass > 1 && state == STATE_DELAYED)
		return arena_printf(arena, "pass %" PRIu64 "/%" PRIu64, job->pass, job->loop_max);
	if (job->child != 0 && state_table[state].kind == KIND_HOLDS)
		return arena_printf(arena, "sub-run %" PRIu64, job->child);
	if (job->cause == 0 || (state != STATE_SKIPPED && state != STATE_CANCELLED))
		return slice_make(NULL, 0);
	cause = find_cause(job, jobs, job_count);
	if (cause == NULL)
		return slice_make(NULL, 0);
	buf_add_str(&text, "because ");
	add_fate(&text, cause);
	root = job_root(cause, jobs, job_count, false);
	if (root->untaken && root == cause) {
		buf_add_str(&text, ": its condition was false");
	} else if (root->untaken) {
		buf_add_str(&text, ", as the condition of ");
		buf_add_slice(&text, root->name);
		buf_add_str(&text, " was false");
	} else if (root != cause && root->cause == 0) {
		buf_add_str(&text, ", as ");
		add_fate(&text, root);
	}
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

struct slice job_address(const struct rec_job_row *job, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	buf_addf(&text, "%" PRIu64 "/", job->run);
	buf_add_slice(&text, job->name);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

int64_t job_span_ms(const struct rec_job_row *job, int64_t now_ms)
{
	enum job_state state = job_state_checked(job->state);
	int64_t end_ms = state_table[state].kind == KIND_HOLDS ? now_ms : job->ended_ms;

	if (job->started_ms == 0 || end_ms == 0)
		return -1;
	return end_ms > job->started_ms ? end_ms - job->started_ms : 0;
}

static const struct column job_columns[] = {
	{ "name", "JOB", false },
	{ "state", "STATE", false },
	{ "span_ms", "TIME", true },
	{ "tries", "TRY", true },
	{ "worker", "WORKER", false },
	{ "outcome", "RESULT", false },
	{ "needs", "NEEDS", false },
	{ "cause", "WHY", false },
	{ "address", NULL, false },
	{ "job", NULL, false },
	{ "index", NULL, false },
	{ "epoch", NULL, false },
	{ "crashes", NULL, false },
	{ "code", NULL, false },
	{ "started", NULL, false },
	{ "ended", NULL, false },
	{ "due", NULL, false },
	{ "cpu_us", NULL, false },
	{ "rss_kib", NULL, false },
	{ "out_bytes", NULL, false },
	{ "held", NULL, false },
	{ "forgiven", NULL, false },
	{ "dead", NULL, false },
	{ "when", NULL, false },
	{ "untaken", NULL, false },
	{ "child", NULL, false },
	{ "pass", NULL, false },
};

void rows_begin_jobs(struct records *records, struct arena *arena)
{
	records_begin(records, job_columns, sizeof(job_columns) / sizeof(job_columns[0]), arena);
}

/* The wire has indices; people have names. */
static struct slice_list need_names(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
				    struct arena *arena)
{
	struct slice_list names = { .n = job->needs.n };

	if (names.n == 0)
		return (struct slice_list){ 0 };
	names.at = arena_zalloc(arena, names.n, sizeof(*names.at));
	for (size_t i = 0; i < names.n; i++) {
		uint64_t index = job->needs.at[i];
		uint64_t trigger = i < job->triggers.n ? job->triggers.at[i] : TRIGGER_OK;
		struct buf text = { 0 };

		if (index < job_count && jobs[index].index == index)
			buf_add_slice(&text, jobs[index].name);
		else
			buf_addf(&text, "#%" PRIu64, index);
		if (trigger == TRIGGER_FAILED || trigger == TRIGGER_DONE)
			buf_add_str(&text, trigger == TRIGGER_FAILED ? ":failed" : ":done");
		names.at[i] = arena_copy(arena, buf_slice(&text));
		buf_free(&text);
	}
	return names;
}

struct slice rows_needs_shown(struct slice_list needs, struct slice needs_text, struct slice when, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice shown;

	if (needs_text.len == 0 && when.len == 0)
		return slice_make(NULL, 0);
	buf_add_slice(&text, needs_text);
	for (size_t i = 0; needs_text.len == 0 && i < needs.n; i++) {
		buf_add_str(&text, i > 0 ? "," : "");
		buf_add_slice(&text, needs.at[i]);
	}
	if (when.len > 0) {
		buf_add_str(&text, text.len > 0 ? "  when " : "when ");
		buf_add_slice(&text, when);
	}
	shown = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return shown;
}

static void add_needs(struct records *records, struct slice_list needs, const struct rec_job_row *job)
{
	records_texts_as(records, needs, rows_needs_shown(needs, job->needs_text, job->when, records->arena));
}

void rows_add_job(struct records *records, const struct rec_job_row *job, const struct rec_job_row *jobs,
		  size_t job_count, int64_t now_ms)
{
	enum job_state state = job_state_checked(job->state);
	struct arena *arena = records->arena;

	records_text(records, job->name);
	records_state(records, job_look(job), state_table[state].name);
	records_span(records, job_span_ms(job, now_ms));
	records_number(records, job->tries);
	records_text(records, job->worker);
	records_text(records, job_outcome_text(job, arena));
	if (jobs != NULL)
		add_needs(records, need_names(job, jobs, job_count, arena), job);
	else
		records_none(records);
	records_text(records, job_cause_text(job, jobs, job_count, arena));
	records_text(records, job_address(job, arena));
	records_number(records, job->job);
	records_number(records, job->index);
	records_number(records, job->epoch);
	records_number(records, job->crashes);
	if (job->outcome == OUTCOME_NONE)
		records_none(records);
	else
		records_number(records, job->code);
	records_time(records, job->started_ms);
	records_time(records, job->ended_ms);
	records_time(records, job->due_ms);
	records_number(records, job->cpu_us);
	records_number(records, job->rss_kib);
	records_number(records, job->out_bytes);
	records_bool(records, job->held);
	records_bool(records, job->forgiven);
	records_bool(records, job->dead);
	records_text(records, job->when);
	records_bool(records, job->untaken);
	if (job->child != 0)
		records_number(records, job->child);
	else
		records_none(records);
	if (job->pass != 0)
		records_number(records, job->pass);
	else
		records_none(records);
}

static const struct column worker_columns[] = {
	{ "name", "WORKER", false },
	{ "state", "STATE", false },
	{ "busy", "BUSY", true },
	{ "slots", "SLOTS", true },
	{ "ahead", "AHEAD", true },
	{ "done", "DONE", true },
	{ "cpu_permille", NULL, false },
	{ "mem_permille", NULL, false },
	{ "pid", "PID", true },
	{ "seen_ms", "SEEN", true },
	{ "worker", NULL, false },
	{ "labels", "LABELS", false },
	{ "pool", "POOL", false },
	{ "pool_state", NULL, false },
	{ "standing", "STANDING", false },
	{ "resources", "RESOURCES", false },
	{ "gpu_permille", NULL, false },
	{ "load_permille", NULL, false },
	{ "start_us", NULL, false },
	{ "rest_ms", NULL, false },
	{ "reserved", NULL, false },
	{ "stuck", NULL, false },
	{ "stuck_jobs", NULL, false },
};

void rows_begin_workers(struct records *records, struct arena *arena)
{
	records_begin(records, worker_columns, sizeof(worker_columns) / sizeof(worker_columns[0]), arena);
}

void rows_alarm(const struct rec_worker_row *worker, struct buf *out)
{
	if (worker->stuck == 0)
		return;
	buf_add_str(out, "alarm    worker ");
	text_escape(out, worker->name, TEXT_KEEP_NONE);
	buf_addf(out, ": %llu killed %s", (unsigned long long)worker->stuck,
		 worker->stuck == 1 ? "job lives on and keeps its slot" : "jobs live on and keep their slots");
	for (size_t i = 0; i < worker->stuck_jobs.n; i++) {
		buf_add_str(out, i == 0 ? ": " : ", ");
		text_escape(out, worker->stuck_jobs.at[i], TEXT_KEEP_NONE);
	}
	if (worker->stuck > worker->stuck_jobs.n)
		buf_add_str(out, " ...");
	buf_add_str(out, "    next: titan explain ");
	text_escape(out, worker->stuck_jobs.n > 0 ? worker->stuck_jobs.at[0] : slice_str("JOB"), TEXT_KEEP_NONE);
	buf_add_byte(out, '\n');
}

/* In a word, why it gets nothing new, or less; its pool's state where there is nothing of its own. */
static struct slice worker_standing(const struct rec_worker_row *worker)
{
	if (worker->standing != STANDING_NONE)
		return slice_str(standing_name((enum worker_standing)worker->standing));
	if (worker->pool_state != POOL_ACTIVE)
		return slice_str(worker->pool_state == POOL_DRAINING ? "pool draining" : "pool inactive");
	if (worker->rest_ms)
		return slice_str("flaps");
	return slice_str(worker->stuck ? "stuck" : NULL);
}

void rows_add_worker(struct records *records, const struct rec_worker_row *worker, int64_t now_ms)
{
	enum worker_state state = worker->state <= WORKER_LOST ? (enum worker_state)worker->state : WORKER_LOST;

	records_text(records, worker->name);
	records_text(records, slice_str(worker_state_name(state)));
	records_number(records, worker->busy);
	records_number(records, worker->slots);
	records_number(records, worker->ahead);
	records_number(records, worker->done);
	records_number(records, worker->cpu_permille);
	records_number(records, worker->mem_permille);
	records_number(records, worker->pid);
	records_span(records, worker->seen_ms && now_ms > worker->seen_ms ? now_ms - worker->seen_ms : 0);
	records_number(records, worker->worker);
	records_texts(records, worker->labels);
	records_text(records, worker->pool);
	records_text(records, slice_str(pool_state_name((enum pool_state)worker->pool_state)));
	records_text(records, worker_standing(worker));
	records_texts(records, place_shown_used(worker->offers, worker->used, records->arena));
	records_number(records, worker->gpu_permille);
	records_number(records, worker->load_permille);
	records_number(records, worker->start_us);
	records_span(records, worker->rest_ms ? (int64_t)worker->rest_ms : -1);
	if (worker->reserved)
		records_number(records, worker->reserved);
	else
		records_none(records);
	records_number(records, worker->stuck);
	records_texts(records, worker->stuck_jobs);
}
