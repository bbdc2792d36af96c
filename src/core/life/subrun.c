/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sub-runs: a job whose work is a graph of its own. When the job may begin, core submits the sub-run in the same
 * turn; that is the job's attempt, without worker or slot. The job is running while the sub-run lives, and ends in
 * the turn in which the sub-run ends. Stopping the job cancels the sub-run, so the job ends only when none of its
 * processes is left. The rows of both are written in one turn: an attempt has exactly one sub-run, and no sub-run
 * lives without a job that waits for it.
 */
#include "core/life/life.h"

#include <errno.h>

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/queue/queue.h"
#include "core/rows/durable.h"

/* Return the sub-run that a job waits for, or NULL. */
struct run *subrun_of(const struct core *core, const struct job *job)
{
	return state_holds(job->state) ? run_find(core, job_child(job)) : NULL;
}

/* Return the job that waits for the end of this run, or NULL. */
static struct job *awaiting(const struct core *core, const struct run *run)
{
	struct job *job = run->parent ? job_find(core, run->parent) : NULL;

	return job && state_holds(job->state) && job_child(job) == run->number ? job : NULL;
}

/* --- beginning --- */

void subrun_attach(struct core *core, const struct job *job)
{
	core->subruns++;
	bounds_count(core, job, 1);
}

void subrun_detach(struct core *core, const struct job *job)
{
	core->subruns--;
	bounds_count(core, job, -1);
}

void subrun_begin(struct core *core, struct job *job)
{
	struct rec_done refused = { .outcome = OUTCOME_SPAWN, .code = EAGAIN };
	struct rec_job_spec spec;
	struct input_submit submit;
	struct graph_part part;
	struct error error;
	struct run *child;
	enum err err = ERR_FULL;

	ready_pop(core->classes[job->class_at], job);
	attempt_renew(core, job);
	job->worker = 0;
	job_extra(job)->child = 0;
	attempt_run(core, job, EVENT_BEGUN, core->now.wall_ms);
	subrun_attach(core, job);
	job_spec_decode(core, job, &spec);
	subrun_submit(core, job, &spec, &part, &submit);
	if (core->subruns <= LIMIT_SUBRUNS_MAX)
		err = submit_run(core, &submit, &(struct run_origin){ .job = job, .name = spec.name }, &child, &error);
	blob_release(part.body);
	if (err == ERR_NONE) {
		job_extra(job)->child = child->number;
		return;
	}
	/* No room for a sub-run: the attempt fails like a process that couldn't be started, and may be retried. */
	attempt_finish(core, job, &refused);
	jobs_tell_children(core); /* Safe here: no sub-run is just being made that this could stop. */
}

/* --- ending --- */

/* End the job with an exit code for its sub-run: 0 succeeded, 1 failed, SUBRUN_CANCELLED cancelled. */
static void end(struct core *core, struct job *job, struct run *child)
{
	enum output_fault fault;
	struct slice outputs = outputs_compute(core, job, child, &fault);
	enum run_state state = run_state_of(child->counts, child->forgiven);
	struct rec_done done = {
		.outcome = OUTCOME_EXIT, .started_ms = job->started_ms,
		.code = state == RUN_SUCCEEDED ? 0 : state == RUN_CANCELLED ? SUBRUN_CANCELLED :
			!PLANTED(subrun_always_ends_well),
	};

	if (fault != OUTPUT_NONE && done.code == 0)
		done.outcome = OUTCOME_BAD_OUTPUT;
	attempt_finish(core, job, &done);
	if (fault == OUTPUT_NONE || done.outcome == OUTCOME_BAD_OUTPUT)
		outputs_keep(job, outputs);
	jobs_tell_children(core);
}

void subruns_end(struct core *core)
{
	bool any;

	/*
	 * Repeat: ending one sub-run may end others, also of runs already visited, when a fail-fast fan-out stops its
	 * sub-runs.
	 */
	do {
		any = false;
		for (size_t i = 0; core->subruns > 0 && i < core->touched_run_count; i++) {
			struct run *run = core->touched_runs[i];
			struct job *job;

			/* Go on upwards: the end of this sub-run may also end the run around it. */
			while (run->ended == run->job_count && (job = awaiting(core, run))) {
				end(core, job, run);
				run = job->run;
				any = true;
			}
		}
	} while (any);
}

/* --- stop and cancel by the parent job --- */

void subrun_stop(struct core *core, const struct job *job)
{
	struct run *child = subrun_of(core, job);

	if (!child)
		return;
	for (struct job *at = run_job(child, 0); at; at = job_next(at)) {
		if (at->flags & JOB_ALWAYS && (!PLANTED(ending_stopped_in_sub_runs) || state_holds(at->state)))
			ending_order(core, at);
		else if (job->stop_cause == EVENT_CANCEL || !PLANTED(subrun_goes_on_when_stopped))
			job_give_up(core, at);
	}
	run_told_to_end(core, child);
}

void subrun_kill(struct core *core, const struct job *job)
{
	struct run *child = subrun_of(core, job);

	for (struct job *at = child ? run_job(child, 0) : NULL; at; at = job_next(at)) {
		job_give_up(core, at);
		subrun_kill(core, at);
	}
}

bool subrun_cancel(struct core *core, const struct job *job, bool all)
{
	struct run *child = subrun_of(core, job);

	return child && run_cancel_jobs(core, child, all) > 0;
}

bool subrun_is_ending(const struct core *core, const struct job *job)
{
	const struct run *child = subrun_of(core, job);

	return child && child->cancelled;
}

enum err subrun_reopens(const struct core *core, const struct run *run, struct error *error)
{
	const struct job *job = awaiting(core, run);

	if (run->parent == 0 || (job && job->state == STATE_RUNNING) ||
	    (PLANTED(subrun_reopened_for_nobody) && run->ended_ms))
		return ERR_NONE;
	error_set(error, ERR_TERMINAL, "run %llu was the sub-run of %llu/%s, and that job no longer waits for the run; retry that job instead", (unsigned long long)run->number, (unsigned long long)run->parent_run, run->parent_name);
	return error_next(error, "titan retry %llu/%s", (unsigned long long)run->parent_run, run->parent_name);
}

/* --- loading and checking --- */

bool subrun_load(struct run *run, const struct row_run *row)
{
	if (!number_sane(row->parent, 0) || !number_sane(row->parent_run, 0) || row->depth < 0 || row->depth > LIMIT_SUBRUN_DEPTH ||
	    !row->parent != !row->depth || row->priority < 0 || row->priority > PRIORITY_MAX + 1)
		return false;
	run->parent = (uint64_t)row->parent;
	run->parent_run = (uint64_t)row->parent_run;
	run->parent_name = row->parent ? mem_text(row->parent_name) : NULL;
	run->depth = (uint8_t)row->depth;
	run->priority = (uint8_t)row->priority;
	return true;
}

/* Check the fields of a job's row: a sub-run has no worker; another job has no sub-run. */
bool subrun_row_sane(const struct job *job, const struct row_job *row)
{
	if (!job_is_subrun(job))
		return row->child == 0;
	return row->worker == 0 && number_sane(row->child, 0) && row->state != STATE_ASSIGNED && row->state != STATE_UNKNOWN;
}

/* Check that each job that waits has a live sub-run, and that each live sub-run has a job that waits for it. */
static bool fits(const struct core *core, const struct run *run)
{
	const struct job *job = awaiting(core, run);
	size_t cursor = 0;
	uint64_t index;
	void *value;

	if (run->parent != 0 && run->ended_ms == 0 && (!job || run->depth != job->run->depth + 1))
		return false;
	while (map_next(&run->extras, &cursor, &index, &value)) {
		const struct job *at = run_job(run, (uint32_t)index);
		const struct run *child = subrun_of(core, at);

		if (job_is_subrun(at) && state_holds(at->state) && (!child || child->ended_ms != 0 || child->parent != job_serial(at)))
			return false;
	}
	return true;
}

enum err subruns_load(const struct core *core, struct error *error)
{
	for (size_t i = core->runs.head; i < core->runs.count; i++)
		if (!fits(core, core->runs.at[i].run))
			return error_set(error, ERR_STORE_TRUST, "run %llu: the row of this sub-run contradicts its parent job",
					 (unsigned long long)core->runs.at[i].number);
	return ERR_NONE;
}

void subruns_check(const struct core *core)
{
	uint64_t count = 0;

	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		const struct run *run = core->runs.at[i].run;
		size_t cursor = 0;
		uint64_t index;
		void *value;

		if (!run)
			continue;
		CHECK(fits(core, run));
		while (map_next(&run->extras, &cursor, &index, &value)) {
			const struct job *job = run_job(run, (uint32_t)index);

			CHECK(job_is_subrun(job) || job_is_service(job) || job->flags & (JOB_LOOP | JOB_ALWAYS | JOB_OUTPUTS));
			count += job_is_subrun(job) && state_holds(job->state);
		}
	}
	CHECK(count == core->subruns);
}
