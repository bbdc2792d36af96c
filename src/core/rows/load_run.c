/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loading runs: the run's row, the parts of its specification, its jobs. load_state.c has the rules on which rows are
 * accepted.
 */
#include "core/rows/durable.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/people/people.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/rows/internal.h"
#include "core/time/time.h"

enum err load_run_row(struct core *core, const struct row_run *row, struct error *error)
{
	struct run *run;

	if (!number_sane(row->run, 1) || (uint64_t)row->run >= core->next_run)
		return TRUST(error, "run %lld: the row is out of order, or its number is above next_run", (long long)row->run);
	if (row->jobs < 1 || row->jobs > LIMIT_RUN_JOBS_MAX || !number_sane(row->first, 1))
		return TRUST(error, "run %lld: the row has an impossible range of %lld jobs from serial number %lld on", (long long)row->run,
			     (long long)row->jobs, (long long)row->first);
	if (row->max_jobs < 0 || row->max_jobs > UINT32_MAX)
		return TRUST(error, "run %lld: max_jobs has the bad value %lld", (long long)row->run, (long long)row->max_jobs);
	run = mem_zalloc(sizeof(*run));
	run->number = (uint64_t)row->run;
	run->first = (uint64_t)row->first;
	run->job_count = (uint32_t)row->jobs;
	run->name = mem_text(row->name);
	run->owner = mem_text(row->owner);
	run->schedule = row->schedule.len ? mem_text(row->schedule) : NULL;
	run->submitted_ms = row->submitted_ms;
	run->steady_ms = row->steady_ms;
	run->logs_gone_ms = row->logs_gone_ms;
	run->cancelled = row->cancelled != 0;
	run->held = row->held != 0;
	run->bound = (struct bound){ .kind = BOUND_RUN, .limit = (uint32_t)row->max_jobs };
	run->seated = row->seated != 0;
	run_take_tenant(core, run, row->tenant);
	if (!run_join_concurrency(core, run, row->concurrency) || (run->seated && !run->concurrency) || !subrun_load(run, row)) {
		run_release_bounds(core, run);
		run_free(run);
		return TRUST(error, "run %lld: its concurrency group or parent run contradicts the rest of the row", (long long)row->run);
	}
	if (run->seated)
		run->concurrency->runs.active++;
	run_add(core, run);
	return ERR_NONE;
}

enum err load_run(struct core *core, const struct row_run *row, struct error *error)
{
	const struct run_list *list = &core->runs;
	const struct run *last = list->count ? list->at[list->count - 1].run : NULL;

	if (pruned_find(core, (uint64_t)row->run) || pruning_find(core, (uint64_t)row->run))
		return TRUST(error, "run %lld is stored both as live and as pruned", (long long)row->run);
	if (row->ended_ms != 0)
		return ended_sums_load_run(core, row, error);
	if (last && row->run <= (int64_t)last->number)
		return TRUST(error, "run %lld: the row is out of order, or its number is above next_run", (long long)row->run);
	return load_run_row(core, row, error);
}

/* Check a part's count of the jobs in its submit: rows of jobs are searched by that count, so it must be right. */
static bool part_fits(struct run *run, const struct row_spec *row)
{
	bool begins = row->part == 0 || row->first != 0;

	if (row->jobs < 0 || row->jobs > run->job_count || (begins ? run->missing > 0 : row->jobs > 0))
		return false;
	if (begins && (row->part > 0 || row->jobs > 0)) {
		run->missing = (uint32_t)row->jobs;
		run->said = true;
	} else if (begins) {
		run->said = false;       /* written by an older version, which didn't count the jobs of a submit */
	}
	if (!run->said)
		return true;
	if (row->count > run->missing)
		return false;
	run->missing -= (uint32_t)row->count;
	return true;
}

enum err load_spec(struct core *core, const struct row_spec *row, struct error *error)
{
	struct run *run = run_find(core, (uint64_t)row->run);
	struct error why;
	uint32_t count;

	if (!run || row->part != run->part_count || row->count < 0 || row->count > run->job_count)
		return TRUST(error, "spec of run %lld: part %lld is missing or doesn't belong there", (long long)row->run,
			     (long long)row->part);
	count = run->part_count;
	if (count == 0 ? row->first != 0 && row->first != (int64_t)run->first : row->first != 0 && !number_sane(row->first, 1))
		return TRUST(error, "spec of run %lld: part %lld begins with the wrong job, %lld", (long long)row->run,
			     (long long)row->part, (long long)row->first);
	if (!part_fits(run, row))
		return TRUST(error, "spec of run %lld: part %lld doesn't belong to its submit", (long long)row->run,
			     (long long)row->part);
	if (row->context.len > 0 && ((row->part > 0 && row->first == 0) || context_check(row->context, &why) != ERR_NONE))
		return TRUST(error, "spec of run %lld: part %lld has an invalid context", (long long)row->run,
			     (long long)row->part);
	parts_room(run, 1);
	run->parts[count] = blob_make(row->body);
	run->part_context[count] = blob_make(row->context);
	run->part_jobs[count] = (uint32_t)row->count;
	run->part_first[count] = count == 0 ? run->first : (uint64_t)row->first;
	run->part_count++;
	return ERR_NONE;
}

/* Check that serial numbers rise within the run and that no job belongs to two runs. */
static bool extent_fits(const struct core *core, const struct extent *extent)
{
	const struct run *run = extent->run;
	const struct extent *before = run->extent_count > 1 ? run->extents[run->extent_count - 2] : NULL;

	return extent->count > 0 && extent->first + extent->count <= core->next_job &&
	       (!before || before->first + before->count <= extent->first) && directory_free(core, extent);
}

enum err run_build(struct core *core, struct run *run, struct error *error)
{
	uint32_t part_count = run->part_count;
	struct error why = { 0 };
	uint64_t jobs = 0;

	for (uint32_t part = 0; part < run->part_count; part++)
		jobs += run->part_jobs[part];
	if (jobs != run->job_count || run->missing > 0)
		return TRUST(error, "run %llu: the specification has %llu jobs instead of %u",
			     (unsigned long long)run->number, (unsigned long long)jobs, run->job_count);
	for (uint32_t part = 0, parts; part < part_count; part += parts) {
		uint64_t first = run->part_first[part];

		for (parts = 1; part + parts < part_count && run->part_first[part + parts] == 0; parts++)
			;
		if (graph_build(core, run, first, parts, &why) == ERR_NONE &&
		    !extent_fits(core, run->extents[run->extent_count - 1])) {
			error_set(&why, ERR_STORE_TRUST, "its jobs overlap with others, or their numbers are above "
				"next_job");
			extent_drop(run);
		}
		if (why.code != ERR_NONE) {
			run->job_count = (uint32_t)jobs; /* restore the number with which run_add counted the run */
			/* ERR_FULL isn't the rows' fault: other runs use too much at the moment. */
			return error_set(error, why.code == ERR_FULL ? ERR_FULL : ERR_STORE_TRUST, "run %llu: %.300s",
					 (unsigned long long)run->number, why.text);
		}
		extent_add(core, run->extents[run->extent_count - 1]);
	}
	return ERR_NONE;
}

static bool job_row_sane(const struct core *core, const struct row_job *row, const struct job *job)
{
	bool holds = state_holds((enum job_state)row->state);

	if (row->state < 0 || row->state >= STATE_COUNT || row->outcome < 0 || row->outcome >= OUTCOME_COUNT)
		return false;
	if (row->epoch < 0 || (uint64_t)row->epoch >> 32 > core->generation || (holds && row->epoch == 0))
		return false;
	if (row->round < 0 || row->round > UINT16_MAX || row->crashes < 0 || row->crashes > UINT8_MAX)
		return false;
	if (row->interrupted < 0 || row->interrupted > LIMIT_INTERRUPTED_MAX)
		return false;
	if (row->tries < row->crashes + row->interrupted || row->tries > UINT16_MAX || (holds && row->tries == 0))
		return false;
	/* A worker that was forgotten may still be named by an attempt that has ended. */
	if (row->worker < 0 || (uint64_t)row->worker >= core->next_worker ||
	    (holds && !job_is_subrun(job) && !worker_find(core, (uint64_t)row->worker)))
		return false;
	if (row->kind != KIND_UNSAID && row->kind != job->kind)
		return false;
	if (!subrun_row_sane(job, row) || !loop_row_sane(job, row) || !ending_row_sane(job, row) ||
	    !outputs_row_sane(job, row) || !service_row_sane(job, row) ||
	    !artifacts_row_sane(job, row))
		return false;
	if (row->stop_cause < 0 || row->stop_cause >= EVENT_COUNT ||
	    (row->state == STATE_STOPPING && row->stop_cause != EVENT_CANCEL &&
	     row->stop_cause != EVENT_RUN_TIMEOUT && row->stop_cause != EVENT_DEADLINE && row->stop_cause != EVENT_OVER))
		return false;
	if (row->cause != 0) {
		const struct job *cause = row->cause > 0 ? job_find(core, (uint64_t)row->cause - 1) : NULL;

		if (!cause || cause->run != job->run)
			return false;
	}
	if (row->priority < 0 || row->priority > PRIORITY_MAX || row->flags < 0 || row->flags > ROW_JOB_FLAGS)
		return false;
	return row->code >= 0 && row->code <= UINT32_MAX && row->rss_kib >= 0 && row->rss_kib <= UINT32_MAX &&
	       row->cpu_us >= 0 && row->out_bytes >= 0 && number_sane(row->due_ms, 0) &&
	       number_sane(row->started_ms, 0) && number_sane(row->ended_ms, 0);
}

enum err load_job(struct core *core, const struct row_job *row, struct error *error)
{
	struct job *job = job_find(core, (uint64_t)row->job);
	struct run *run;

	if (!job || job->run->number != (uint64_t)row->run)
		return TRUST(error, "job %lld: it isn't in run %lld", (long long)row->job,
			     (long long)row->run);
	if (job->flags & JOB_ROW)
		return TRUST(error, "job %lld: it has two rows", (long long)row->job);
	if (!job_row_sane(core, row, job))
		return TRUST(error, "job %lld: its row contradicts itself", (long long)row->job);
	run = job->run;
	run->counts[job->state]--;
	run->counts[row->state]++;
	job->state = (uint8_t)row->state;
	job->flags |= JOB_ROW;
	job->epoch = (uint64_t)row->epoch;
	job->round = (uint16_t)row->round;
	job->tries = (uint16_t)row->tries;
	job->crashes = (uint8_t)row->crashes;
	job->interrupted = (uint8_t)row->interrupted & (PLANTED(interrupted_forgotten_at_load) ? 0 : LIMIT_INTERRUPTED_MAX);
	job->worker = (uint32_t)row->worker;
	job->stop_cause = (uint8_t)row->stop_cause;
	job->outcome = (uint8_t)row->outcome;
	job->code = (uint32_t)row->code;
	job->cause = row->cause ? job_find(core, (uint64_t)row->cause - 1)->index + 1 : 0;
	job->when_ms = state_terminal(job->state) ? row->ended_ms : row->due_ms;
	job->started_ms = row->started_ms;
	job->cpu_us = (uint64_t)row->cpu_us;
	job->rss_kib = (uint32_t)row->rss_kib;
	job->out_bytes = (uint64_t)row->out_bytes;
	job->priority = (uint8_t)row->priority;
	job_child_set(job, (uint64_t)row->child);
	job_passes_set(job, PLANTED(loop_forgotten_at_load) ? 0 : (uint32_t)row->passes);
	job_ending_set(job, row->ending_ms);
	job_outputs_set(job, row->outputs);
	job_artifacts_set(job, row->artifacts);
	if (row->flags & ROW_JOB_HELD && !state_terminal(job->state) && !PLANTED(hold_forgotten_at_load))
		job->flags |= JOB_ON_HOLD;
	if (row->flags & ROW_JOB_LOOSE)
		job->flags |= JOB_LOOSE;
	if (row->flags & ROW_JOB_PASSED)
		job->flags |= JOB_PASSED;
	if (row->flags & ROW_JOB_DEAD)
		job->flags |= JOB_DEAD;
	if (row->flags & ROW_JOB_LATE)
		job->flags |= JOB_LATE;
	if (row->flags & ROW_JOB_CONDITION_FALSE)
		job->flags |= JOB_CONDITION_FALSE;
	if (row->flags & ROW_JOB_CRASH_LOOP)
		job->flags |= JOB_CRASH_LOOP;
	if ((job->state == STATE_APPROVAL || job->state == STATE_UNKNOWN) && !core->loaded)
		gate_add(core, job);
	return ERR_NONE;
}
