/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words for rows of runs and jobs. Numbers from the protocol are checked before they are used as table indices. */
#include "cli/show/row_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CAUSES_SOUGHT 1000               /* longest chain of skipped jobs that is followed back to its cause */

enum run_state run_state_checked(uint64_t state)
{
	return state < RUN_STATE_COUNT ? (enum run_state)state : RUN_WAITING;
}

enum job_state job_state_checked(uint64_t state)
{
	return state < STATE_COUNT ? (enum job_state)state : STATE_WAITING;
}

bool job_attempt_lives(enum job_state state)
{
	return state == STATE_ASSIGNED || state == STATE_RUNNING || state == STATE_STOPPING || state == STATE_UNKNOWN;
}

const struct state_info *job_look(const struct rec_job_row *job)
{
	enum job_state state = job_state_checked(job->state);

	if (job->held && state_table[state].kind == KIND_WAITS)
		return &flag_table[FLAG_HOLD];
	if (state == STATE_DELAYED && job->tries == 0)
		return &flag_table[FLAG_LATER];
	return job->dead && state == STATE_FAILED ? &flag_table[FLAG_DEAD] : &state_table[state];
}

const struct state_info *run_look(const struct rec_run_row *run)
{
	enum run_state state = run_state_checked(run->state);

	return run->held && state == RUN_WAITING ? &flag_table[FLAG_HOLD] : run_state_info(state);
}

struct run_counts run_counts(const struct rec_run_row *run)
{
	struct run_counts counts = { .jobs = run->jobs };

	for (size_t i = 0; i < run->counts.n && i < STATE_COUNT; i++) {
		uint64_t count = run->counts.at[i];

		if (state_terminal((enum job_state)i))
			counts.ended += count;
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

struct slice run_why_text(const struct rec_run_row *run, struct arena *arena)
{
	uint64_t gates = run->counts.n > STATE_APPROVAL ? run->counts.at[STATE_APPROVAL] : 0;

	if (run->why.len > 0)
		return run->why;
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

static const char *signal_name(uint64_t number)
{
	return number < 65 ? sigabbrev_np((int)number) : NULL;
}

struct slice job_stop_text(const struct rec_job_row *job)
{
	bool said = job->stop_cause > 0 && job->stop_cause < EVENT_COUNT;

	return slice_str(said ? event_names[job->stop_cause] : NULL);
}

/* Text for a job whose start failed: the reason, and the interpreter of its script, or the program if the row has the command. */
static struct slice spawn_text(const struct rec_job_row *job, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;
	size_t len = 0;

	while (len < job->command.len && job->command.data[len] > ' ')
		len++;
	buf_addf(&text, "not started: %s", strerror((int)job->code));
	if (job->settings.n > 0 && job->settings.at[0].interpreter.len > 0) {
		buf_add_str(&text, ": ");
		buf_add_slice(&text, job->settings.at[0].interpreter);
		buf_add_str(&text, ", the interpreter of its script");
	} else if (len > 0) {
		buf_add_str(&text, ": ");
		buf_add(&text, job->command.data, len);
	}
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

void no_dir_add(const struct rec_job_row *job, struct buf *out)
{
	buf_add_str(out, "not started: the working directory ");
	if (job->dir.len > 0) {
		buf_add_slice(out, job->dir);
		buf_add_byte(out, ' ');
	}
	if (job->code == ENOENT)
		buf_add_str(out, "isn't there");
	else
		buf_addf(out, "can't be entered: %s", strerror((int)job->code));
}

static struct slice no_dir_text(const struct rec_job_row *job, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	no_dir_add(job, &text);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

void unstaged_add(uint64_t code, struct buf *out)
{
	buf_add_str(out, "not started: its files couldn't be put in place: ");
	if (code == ENOENT)
		buf_add_str(out, "the master hasn't the content of one of them");
	else if (code == EBADMSG)
		buf_add_str(out, "what arrived isn't what was submitted");
	else if (code == ENOSPC || code == EDQUOT)
		buf_add_str(out, "the worker's disk is full");
	else
		buf_add_str(out, strerror((int)code));
}

static struct slice unstaged_text(const struct rec_job_row *job, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	unstaged_add(job->code, &text);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

struct slice job_outcome_text(const struct rec_job_row *job, struct arena *arena)
{
	/* While a job has an attempt, its row has the outcome of the attempt before; show none. */
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
	case OUTCOME_NO_DIR:
		return no_dir_text(job, arena);
	case OUTCOME_STAGE_FAILED:
		return unstaged_text(job, arena);
	case OUTCOME_BAD_OUTPUT:
		return job->code > 0 ? arena_printf(arena, "bad output, line %" PRIu64, job->code) : slice_str("bad output");
	case OUTCOME_BAD_ARTIFACTS:
		return slice_str("bad artifacts");
	default:
		return slice_str(outcome_name((enum outcome)job->outcome));
	}
}

static const struct rec_job_row *find_cause(const struct rec_job_row *job, const struct rec_job_row *jobs,
					    size_t job_count)
{
	/* Serial numbers of a run's jobs are mostly consecutive, so look first at the index that follows from that. */
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

/* Write 'x failed' or 'x was skipped'. */
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

	for (size_t i = 0; i < CAUSES_SOUGHT && job->cause != 0 && (past_conditions || !job->condition_false); i++) {
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

	buf_add_str(&text, "the job's condition was false: ");
	buf_add_slice(&text, job->when);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

struct slice job_progress_text(const struct rec_job_row *job, struct arena *arena)
{
	uint64_t done = job->progress - 1;
	struct buf text = { 0 };
	struct slice copy;

	if (job->progress == 0)
		return slice_make(NULL, 0);
	if (job->progress_of > 0)
		buf_addf(&text, "%" PRIu64 "/%" PRIu64, done, job->progress_of);
	else if (done % 10 > 0)
		buf_addf(&text, "%" PRIu64 ".%" PRIu64 "%%", done / 10, done % 10);
	else
		buf_addf(&text, "%" PRIu64 "%%", done / 10);
	if (job->progress_text.len > 0)
		buf_add_byte(&text, ' ');
	buf_add_slice(&text, job->progress_text);
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

	if (job->progress > 0 && state == STATE_RUNNING)
		return job_progress_text(job, arena);
	if (job->why.len > 0 && !state_terminal(state))
		return job->why;
	if (job->held && !state_terminal(state))
		return slice_str("held back");
	if (job->crash_loop)
		return slice_str("crash loop: it ended too often in a short time");
	if (state == STATE_APPROVAL && job->gate_count > 1)
		return arena_printf(arena, "%" PRIu64 " of %" PRIu64 " approved", job->gate_have, job->gate_count);
	if (state == STATE_APPROVAL)
		return slice_str("waits for a person");
	if (state == STATE_UNKNOWN)
		return slice_str("a person has to settle the job");
	if (job->forgiven)
		return slice_str("counts as a good end (continue_on)");
	if (state == STATE_DENIED)
		return slice_str(job->ended_by == EVENT_EXPIRED ? event_texts[EVENT_EXPIRED] : "refused");
	if (state == STATE_TIMED_OUT && job_stop_text(job).len > 0)
		return slice_str(event_texts[job->stop_cause]);
	if (job->condition_false)
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
	if (root->condition_false && root == cause) {
		buf_add_str(&text, ": its condition was false");
	} else if (root->condition_false) {
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

struct slice gate_from_text(const struct rec_job_row *job, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	for (size_t i = 0; i < job->gate_shown.n; i++) {
		buf_add_str(&text, i > 0 ? ", " : "");
		buf_add_slice(&text, job->gate_shown.at[i]);
	}
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
