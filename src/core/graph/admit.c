/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Admitting runs: build, check and begin. A graph that is refused leaves no trace. */
#include "core/graph/graph.h"

#include "base/text.h"
#include "core/graph/internal.h"
#include "core/life/life.h"
#include "core/queue/queue.h"
#include "core/rows/durable.h"
#include "core/time/time.h"

enum err submit_count(const struct core *core, const struct input_submit *submit, uint32_t before, uint32_t *ret_count,
		      struct error *error)
{
	uint64_t count = 0;

	for (size_t i = 0; i < submit->part_count; i++)
		count += submit->parts[i].count;
	if (count == 0)
		return error_set(error, ERR_INVALID, "the graph has no jobs");
	if (count > LIMIT_RUN_JOBS_MAX)
		return error_set(error, ERR_TOO_LARGE, "the graph has %llu jobs; a run may have at most %d",
				 (unsigned long long)count, LIMIT_RUN_JOBS_MAX);
	if (before + count > LIMIT_RUN_JOBS_MAX)
		return error_set(error, ERR_TOO_LARGE, "run %llu has %u jobs; with %llu more it would exceed the "
			"limit of %d",
				 (unsigned long long)submit->into, before, (unsigned long long)count, LIMIT_RUN_JOBS_MAX);
	if (core->live_jobs + count > LIMIT_LIVE_JOBS_MAX)
		return error_set(error, ERR_FULL,
				 "the master has %llu live jobs, and at most %d are allowed; try again when jobs have ended",
				 (unsigned long long)core->live_jobs, LIMIT_LIVE_JOBS_MAX);
	*ret_count = (uint32_t)count;
	return ERR_NONE;
}

static void parts_take(struct run *run, const struct input_submit *submit, uint64_t first)
{
	parts_room(run, submit->part_count);
	for (size_t i = 0; i < submit->part_count; i++) {
		run->parts[run->part_count] = blob_hold(submit->parts[i].body);
		run->part_context[run->part_count] = i == 0 ? blob_make(submit->context) : NULL;
		run->part_jobs[run->part_count] = submit->parts[i].count;
		run->part_first[run->part_count++] = i == 0 ? first : 0;
	}
}

static void take_origin(struct run *run, const struct run_origin *origin)
{
	const struct job *job = origin->job;

	if (origin->schedule)
		run->schedule = mem_text(slice_str(origin->schedule));
	if (!job)
		return;
	run->parent = job_serial(job);
	run->parent_run = job->run->number;
	run->parent_name = mem_text(origin->name);
	run->depth = job->run->depth + 1;
	run->priority = job->priority + 1;
}

static struct run *run_new(struct core *core, const struct input_submit *submit, const struct run_origin *origin)
{
	struct run *run = mem_zalloc(sizeof(*run));

	run->number = core->next_run;
	run->first = core->next_job;
	run->name = mem_text(submit->name);
	run->owner = mem_text(submit->owner);
	run->bound = (struct bound){ .kind = BOUND_RUN, .limit = submit->max_jobs };
	run_take_tenant(core, run, submit->tenant);
	run->submitted_ms = core->now.wall_ms;
	run->steady_ms = due_after(core, 0);
	parts_take(run, submit, run->first);
	take_origin(run, origin);
	return run;
}

void spec_rows(struct core *core, const struct run *run, uint32_t from)
{
	const struct extent *last = run->extents[run->extent_count - 1];
	struct outbox *outbox = core->outbox;
	struct row *row;

	for (uint32_t i = from; i < run->part_count; i++) {
		row = outbox_row(outbox, TABLE_spec);
		row->spec = (struct row_spec){
			.run = (int64_t)run->number, .part = i, .count = run->part_jobs[i],
			.first = i > 0 ? (int64_t)run->part_first[i] : 0, .jobs = i == from ? last->count : 0,
			.body = outbox_hold(outbox, run->parts[i]),
			.context = run->part_context[i] ? outbox_hold(outbox, run->part_context[i]) : slice_make(NULL, 0),
		};
	}
}

static void job_begin(struct core *core, struct job *job)
{
	if (job->flags & JOB_EXPR)
		job_judge(core, job, job_outlook(job), 0);
	else if (job->pending == 0)
		job_deps_met(core, job);
}

/* Build a run that is in no list yet. On failure, error says what is wrong. */
static enum err run_make(struct core *core, const struct input_submit *submit, const struct run_origin *origin,
			 struct run **ret_run, struct error *error)
{
	struct run *run;
	uint32_t count = 0;
	enum err err;

	if (!text_is_name(submit->name))
		return error_set(error, ERR_INVALID,
				 "the name of the run may have letters, digits, _ . -, at most %d",
				 LIMIT_NAME_MAX_LEN);
	err = submit_count(core, submit, 0, &count, error);
	if (err == ERR_NONE)
		err = context_check(submit->context, error);
	/* The jobs of a sub-run were admitted with the run around it. */
	if (err == ERR_NONE && !origin->job)
		err = tenant_admit(core, submit, count, error);
	if (err != ERR_NONE)
		return err;
	run = run_new(core, submit, origin);
	if (!run_join_concurrency(core, run, submit->concurrency))
		err = error_set(error, ERR_INVALID, "concurrency: a group must be given as NAME or NAME=LIMIT");
	if (err == ERR_NONE)
		err = graph_build(core, run, run->first, run->part_count, error);
	if (err != ERR_NONE) {
		run_release(core, run);
		run_free(run);
		return err;
	}
	*ret_run = run;
	return ERR_NONE;
}

enum err submit_check(struct core *core, const struct input_submit *submit, const struct run_origin *origin,
		      struct error *error)
{
	struct run *run;
	enum err err = run_make(core, submit, origin, &run, error);

	if (err != ERR_NONE)
		return err;
	run_release(core, run);
	run_free(run);
	return ERR_NONE;
}

enum err submit_run(struct core *core, const struct input_submit *submit, const struct run_origin *origin,
		    struct run **ret_run, struct error *error)
{
	struct run *run;
	enum err err = run_make(core, submit, origin, &run, error);

	if (err != ERR_NONE)
		return err;
	run_add(core, run);
	run_states(core, run, true);
	core->next_run++;
	core->next_job += run->job_count;
	core->run_counters_due = true;
	spec_rows(core, run, 0);
	run_touch(core, run, true);
	happened(core, HAPPENED_RUN_BEGAN, run->number, slice_str(run->name), 0);
	for (struct job *job = run_job(run, 0); job; job = job_next(job)) {
		if (job->flags & JOB_DUE_BY)
			deadline_arm(core, job);
		job_begin(core, job);
	}
	jobs_tell_children(core);               /* jobs whose condition is false already end now */
	*ret_run = run;
	return ERR_NONE;
}
