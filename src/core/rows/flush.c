/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of a turn: one row for each thing that changed, one row of history, and the counters. All of them are in
 * the same transaction as their cause.
 */
#include "core/rows/durable.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/rows/internal.h"
#include "core/time/time.h"
#include "core/values/values.h"

static struct slice counts_bytes(struct core *core, const struct run *run)
{
	uint8_t *bytes = arena_alloc(&core->outbox->arena, 4 * STATE_COUNT);

	for (size_t i = 0; i < 4 * STATE_COUNT; i++)
		bytes[i] = (uint8_t)(run->counts[i / 4] >> (8 * (i % 4)));
	return slice_make(bytes, 4 * STATE_COUNT);
}

static void run_row_put(struct core *core, struct run *run)
{
	struct arena *arena = &core->outbox->arena;
	struct row *row = outbox_row(core->outbox, TABLE_run);

	row->run = (struct row_run){
		.run = (int64_t)run->number,
		.name = arena_copy(arena, slice_str(run->name)),
		.owner = arena_copy(arena, slice_str(run->owner)),
		.first = (int64_t)run->first, .jobs = run->job_count,
		.state = run->ended_ms ? (int64_t)run_state_of(run->counts, run->forgiven) : 0,
		.tenant = slice_eq(slice_str(run->tenant->name), slice_str(run->owner)) ?
			slice_str(NULL) : arena_copy(arena, slice_str(run->tenant->name)),
		.cancelled = run->cancelled, .held = run->held, .max_jobs = run->bound.limit,
		.submitted_ms = run->submitted_ms, .ended_ms = run->ended_ms, .steady_ms = run->steady_ms,
		.schedule = arena_copy(arena, slice_str(run->schedule)),
		.concurrency = run_concurrency(run, arena), .seated = run->seated,
		.logs_gone_ms = run->logs_gone_ms,
		.parent = (int64_t)run->parent, .parent_run = (int64_t)run->parent_run, .depth = run->depth,
		.parent_name = arena_copy(arena, slice_str(run->parent_name)), .priority = run->priority,
	};
	if (!run->ended_ms)
		return;
	row->run.counts = counts_bytes(core, run);
	row->run.forgiven = run->forgiven;
	row->run.dead = run->dead;
}

static void job_row_put(struct core *core, const struct job *job)
{
	struct row *row = outbox_row(core->outbox, TABLE_job);

	row->job = (struct row_job){
		.job = (int64_t)job_serial(job), .run = (int64_t)job->run->number,
		.state = job->state, .epoch = (int64_t)job->epoch, .round = job->round,
		.tries = job->tries, .crashes = job->crashes, .interrupted = job->interrupted, .worker = job->worker,
		.stop_cause = job->stop_cause, .outcome = job->outcome, .code = job->code,
		.cause = job->cause ? (int64_t)run_serial(job->run, job->cause - 1) + 1 : 0,
		.due_ms = state_terminal(job->state) ? 0 : job->when_ms,
		.started_ms = job->started_ms,
		.ended_ms = state_terminal(job->state) ? job->when_ms : 0,
		.cpu_us = (int64_t)job->cpu_us, .rss_kib = job->rss_kib, .out_bytes = (int64_t)job->out_bytes,
		.child = (int64_t)job_child(job), .passes = job_passes(job),
		.kind = PLANTED(kind_lost_in_the_row) ? KIND_COMMAND : job->kind,
		.ending_ms = job_ending_ms(job),
		.outputs = PLANTED(outputs_not_in_the_row) ? slice_make(NULL, 0) : arena_copy(&core->outbox->arena, job_outputs(job)),
		.artifacts = PLANTED(artifacts_not_in_the_row) ? slice_make(NULL, 0) : arena_copy(&core->outbox->arena, job_artifacts(job)),
		.priority = job->priority, .flags = (job->flags & JOB_ON_HOLD ? ROW_JOB_HELD : 0) |
			(job->flags & JOB_LOOSE ? ROW_JOB_LOOSE : 0) |
			(job->flags & JOB_PASSED ? ROW_JOB_PASSED : 0) |
			(job->flags & JOB_DEAD ? ROW_JOB_DEAD : 0) |
			(job->flags & JOB_LATE ? ROW_JOB_LATE : 0) |
			(job->flags & JOB_CONDITION_FALSE ? ROW_JOB_CONDITION_FALSE : 0) |
			(job->flags & JOB_CRASH_LOOP ? ROW_JOB_CRASH_LOOP : 0),
	};
}

static void jobs_flush(struct core *core)
{
	for (size_t i = 0; i < core->touched_count; i++) {
		struct job *job = core->touched[i];

		if (job->flags & JOB_ROW)
			job_row_put(core, job);
		outbox_changed(core->outbox, CHANGED_JOB, job_serial(job), job->run->number);
		job->flags &= (uint32_t)~(JOB_TOUCHED | JOB_ROW);
	}
	core->touched_count = 0;
}

static void run_end(struct core *core, struct run *run)
{
	run->submitted_ms = run_submitted_ms(core, run); /* the run's submit time, by the same clock as its end */
	/* ended_ms 0 would mean that the run is live */
	run->ended_ms = core->now.wall_ms > 0 ? core->now.wall_ms : 1;
	run->held = false;
	run->row_due = true;
	ended_sums_run_ended(core, run);
	happened(core, HAPPENED_RUN_ENDED, run->number, slice_str(run->name), run_state_of(run->counts, run->forgiven));
	run_wait_sweep(core, run);
	schedule_run_counts(core, run, false);
}

static void runs_flush(struct core *core)
{
	for (size_t i = 0; i < core->touched_run_count; i++) {
		struct run *run = core->touched_runs[i];
		bool all_ended = run->ended == run->job_count ||
			       run->ended + PLANTED(run_ends_early) == run->job_count;
		bool ends = all_ended && run->ended_ms == 0;

		if (ends)
			run_end(core, run);
		if (run->row_due)
			run_row_put(core, run);
		outbox_changed(core->outbox, ends ? CHANGED_RUN_ENDED : CHANGED_RUN, run->number, 0);
		run->touched = false;
		run->row_due = false;
	}
	core->touched_run_count = 0;
}

static void workers_flush(struct core *core)
{
	for (size_t i = 0; i < core->touched_worker_count; i++) {
		struct worker *worker = core->touched_workers[i];

		worker->touched = false;
		worker_count(core, worker, worker_tally(worker));
		outbox_changed(core->outbox, CHANGED_WORKER, worker->number, 0);
	}
	core->touched_worker_count = 0;
}

static void counters_flush(struct core *core)
{
	if (core->run_counters_due) {
		meta_put(core, "next_run", core->next_run);
		meta_put(core, "next_job", core->next_job);
	}
	if (core->worker_counter_due)
		meta_put(core, "next_worker", core->next_worker);
	core->run_counters_due = false;
	core->worker_counter_due = false;
}

static void events_flush(struct core *core)
{
	struct row *row;

	if (core->events.len == 0)
		return;
	row = outbox_row(core->outbox, TABLE_event);
	row->event = (struct row_event){
		.turn = (int64_t)core->turn, .wall_ms = core->now.wall_ms,
		.body = arena_copy(&core->outbox->arena, buf_slice(&core->events)),
	};
	buf_clear(&core->events);
}

void turn_flush(struct core *core)
{
	jobs_flush(core);
	runs_flush(core);
	workers_flush(core);
	counters_flush(core);
	ended_sums_flush(core);
	values_flush(core);
	pruned_flush(core);
	events_flush(core);
	/* A turn without rows isn't committed; after a restart its number may be used again. */
	if (core->outbox->row_count > 0)
		meta_put(core, "turn", core->turn);
}
