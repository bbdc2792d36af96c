/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs added to a live run. They are submitted as a separate graph whose needs count from 0; numbers beyond it stand
 * for named jobs of the run. Here all of these become indices in the run. Parents that have ended count as such.
 * Earlier jobs never need later ones, so no cycle can arise.
 */
#include "core/graph/graph.h"

#include "base/planted.h"
#include "core/graph/internal.h"
#include "core/life/life.h"
#include "core/queue/queue.h"
#include "core/rows/durable.h"
#include "core/time/time.h"

struct growth {
	struct core *core;
	const struct input_submit *submit;
	struct error *error;
	uint32_t start, count;           /* index of the first added job, and number of added jobs */
	uint32_t *parents;               /* indices of the jobs named in submit->parents */
	uint64_t late_ms;                /* time since the run was submitted */
};

static enum err check_run(const struct core *core, const struct input_submit *submit, struct run **ret_run,
			  struct error *error)
{
	unsigned long long number = submit->into;
	struct run *run = run_find(core, submit->into);

	if (submit->name.len > 0 || submit->tenant.len > 0 || submit->max_jobs > 0 || submit->schedule.len > 0 ||
	    submit->concurrency.len > 0)
		return error_set(error, ERR_INVALID, "jobs that are added to run %llu can't set name, tenant, limits "
			"or schedule: these belong to the run", number);
	if (submit->into >= core->next_run) {
		error_set(error, ERR_NOT_FOUND, "there is no run %llu", number);
		return error_next(error, "titan ls");
	}
	if (pruned_find(core, submit->into))
		return error_set(error, ERR_PRUNED, "run %llu was pruned, so no jobs can be added to it", number);
	if (!run || run->ended_ms != 0) {
		error_set(error, ERR_TERMINAL, "run %llu has ended, so no jobs can be added to it; open it again "
			"with titan retry, or submit a new run without --into", number);
		return error_next(error, "titan retry %llu", number);
	}
	if (owner_check(run->owner, submit->own_only, error, "run %llu", number) != ERR_NONE)
		return ERR_DENIED;
	if (run->cancelled && (!PLANTED(grow_after_cancel) || run->ended == run->job_count)) {
		error_set(error, ERR_TERMINAL, "run %llu was cancelled, so no jobs can be added to it; open it again "
			"with titan retry, or submit a new run without --into", number);
		return error_next(error, "titan retry %llu", number);
	}
	*ret_run = run;
	return ERR_NONE;
}

/*
 * Return the time since the run was submitted. It is clamped, because the steady clock may have been wrong across a
 * reboot.
 */
static uint64_t late_ms(struct core *core, const struct run *run)
{
	int64_t late = due_after(core, 0) - run->steady_ms, most = (LATE_SPANS - 1) * INT64_C(1000) * LIMIT_SPAN_MAX_S;

	return (uint64_t)(late < 0 ? 0 : late < most ? late : most);
}

static enum err parents_find(struct growth *growth, struct run *run)
{
	const struct slice_list *names = &growth->submit->parents;

	growth->parents = mem_array(names->n, sizeof(*growth->parents));
	for (size_t i = 0; i < names->n; i++) {
		const struct job *parent = run_job_named(growth->core, run, names->at[i]);

		if (!parent) {
			error_set(growth->error, ERR_UNKNOWN_NAME, "run %llu has no job '%.*s', which an added job "
				"needs",
				  (unsigned long long)run->number,
				  (int)(names->at[i].len < LIMIT_NAME_MAX_LEN ? names->at[i].len : LIMIT_NAME_MAX_LEN),
				  (const char *)names->at[i].data);
			return error_next(growth->error, "titan show %llu", (unsigned long long)run->number);
		}
		growth->parents[i] = parent->index;
	}
	return ERR_NONE;
}

static enum err job_move_in(struct growth *growth, uint32_t at, struct slice *bytes, struct buf *out)
{
	struct slice before = *bytes;
	struct rec_job_spec spec;
	struct error why;

	arena_reset(&growth->core->scratch);
	if (record_decode(REC_job_spec, bytes, &growth->core->scratch, &spec, &why) != ERR_NONE)
		return error_set(growth->error, why.code, "added job %u: %s", at, why.text);
	if (spec.needs.n == 0 && spec.group == 0 && spec.deadline_ms == 0) {
		buf_add(out, before.data, before.len - bytes->len);
		return ERR_NONE;
	}
	if (spec.group > growth->count)
		return error_set(growth->error, ERR_INVALID, "added job %u: group: no such job", at);
	spec.group += spec.group > 0 ? growth->start : 0;
	if (spec.deadline_ms / 1000 > LIMIT_SPAN_MAX_S)
		return error_set(growth->error, ERR_TOO_LARGE, "added job %u: deadline_ms: longer than ten years", at);
	spec.deadline_ms += spec.deadline_ms > 0 && !PLANTED(grow_deadline_from_submission) ? growth->late_ms : 0;
	for (size_t i = 0; i < spec.needs.n; i++) {
		uint64_t *need = &spec.needs.at[i];

		if (*need >= growth->count + growth->submit->parents.n)
			return error_set(growth->error, ERR_INVALID,
					 "added job %u: needs: there is no job %llu: the submit has %u new jobs, and refers to %zu jobs that the run already has", at,
					 (unsigned long long)*need, growth->count, growth->submit->parents.n);
		*need = *need < growth->count ? growth->start + *need : growth->parents[*need - growth->count];
	}
	record_encode(out, REC_job_spec, &spec);
	return ERR_NONE;
}

/* Add the parts with needs converted to indices in the run. On failure none is added. */
static enum err parts_move_in(struct growth *growth, struct run *run)
{
	const struct input_submit *submit = growth->submit;
	uint32_t before = run->part_count, at = 0;
	enum err err = ERR_NONE;

	parts_room(run, submit->part_count);
	for (size_t i = 0; i < submit->part_count && err == ERR_NONE; i++) {
		struct slice bytes = blob_slice(submit->parts[i].body);
		struct buf out = { 0 };

		while (bytes.len > 0 && err == ERR_NONE)
			err = job_move_in(growth, at++, &bytes, &out);
		run->parts[run->part_count] = blob_make(buf_slice(&out));
		run->part_context[run->part_count] = i == 0 ? blob_make(submit->context) : NULL;
		run->part_jobs[run->part_count] = submit->parts[i].count;
		run->part_first[run->part_count++] = i == 0 ? growth->core->next_job : 0;
		buf_free(&out);
	}
	while (err != ERR_NONE && run->part_count > before)
		part_drop(run);
	return err;
}

/* Let an added job wait, unless the ends of its parents already decide what becomes of it. */
static void job_begin(struct core *core, struct job *job, bool asks)
{
	uint32_t cause = asks && (!PLANTED(grow_ended_parent_ignored) || job->flags & JOB_EXPR) ?
			 job_cause(core, job) : 0;

	if (job->flags & JOB_DUE_BY)
		deadline_arm(core, job);
	job_touch(core, job, false);     /* touched, so that clients that watch the run learn of the new job */
	if (job->flags & JOB_EXPR)
		job_judge(core, job, job_outlook(job), cause);
	else if (cause > 0)
		job_judge(core, job, OUTLOOK_AGAINST, cause);
	else if (job->pending == 0)
		job_deps_met(core, job);
}

static void jobs_begin(struct core *core, struct run *run, uint32_t start, bool asks)
{
	extent_add(core, run->extents[run->extent_count - 1]);
	run_states(core, run, true); /* if the run was about to end, the limits that it states for groups count again */
	core->next_job += run->job_count - start;
	core->live_jobs += run->job_count - start;
	core->counts[STATE_WAITING] += run->job_count - start;
	core->run_counters_due = true;
	run_touch(core, run, true);
	for (struct job *job = run_job(run, start); job; job = job_next(job))
		job_begin(core, job, asks);
	jobs_tell_children(core);
}

enum err run_grow(struct core *core, const struct input_submit *submit, struct run **ret_run, uint64_t *ret_first,
		  struct error *error)
{
	struct growth growth = { .core = core, .submit = submit, .error = error };
	struct input_submit whose = *submit;
	struct run *run = NULL;
	uint32_t part;
	enum err err = check_run(core, submit, &run, error);

	if (err != ERR_NONE)
		return err;
	growth.start = run->job_count;
	growth.late_ms = late_ms(core, run);
	part = run->part_count;
	whose.tenant = slice_str(run->tenant->name);
	if ((err = submit_count(core, submit, run->job_count, &growth.count, error)) == ERR_NONE &&
	    (err = context_check(submit->context, error)) == ERR_NONE &&
	    (err = tenant_admit(core, &whose, growth.count, error)) == ERR_NONE &&
	    (err = parents_find(&growth, run)) == ERR_NONE && (err = parts_move_in(&growth, run)) == ERR_NONE)
		err = graph_build(core, run, core->next_job, run->part_count - part, error);
	mem_free(growth.parents);
	if (err != ERR_NONE)
		return err;
	*ret_first = core->next_job;
	spec_rows(core, run, part);
	jobs_begin(core, run, growth.start, submit->parents.n > 0);
	*ret_run = run;
	return ERR_NONE;
}
