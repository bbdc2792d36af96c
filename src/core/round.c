/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * New rounds. Terminal is final within a round; a person may open another one of a job, which opens one
 * for each of its settled descendants as well: what depended on the old result is decided anew. Nothing
 * that holds an attempt is touched: what already went ahead on an old result stays.
 */
#include "core/internal.h"

struct opening {
	struct core *core;
	struct run *run;
	uint32_t *at;                    /* indices: what was asked for, then what descends from it */
	size_t count;
};

static void opening_add(struct opening *opening, uint32_t index)
{
	struct job *job = run_job(opening->run, index);

	if (job->flags & JOB_MARKED)
		return;
	job->flags |= JOB_MARKED;
	opening->at[opening->count++] = index;
}

static void opening_descend(struct opening *opening)
{
	uint32_t edge;

	for (size_t i = 0; i < opening->count; i++) {
		struct child_walk walk = children_of(run_job(opening->run, opening->at[i]));

		while (child_next(&walk, &edge))
			opening_add(opening, edge >> TRIGGER_BITS);
	}
}

static void job_reopen(struct core *core, struct job *job)
{
	job->round++;
	job->tries = 0;
	job->crashes = 0;
	job->cause = 0;
	job->stop_cause = 0;
	job->outcome = OUTCOME_NONE;
	job->code = 0;
	job->worker = 0;
	job->when_ms = 0;
	job->started_ms = 0;
	job->cpu_us = 0;
	job->rss_kib = 0;
	job->out_bytes = 0;
	job->flags &= (uint32_t)~(JOB_LOOSE | JOB_PASSED);
	job_move(core, job, EVENT_REOPENED, STATE_WAITING);
}

/* Those that aren't settled keep what they have; only the settled ones stay marked. */
static uint64_t opening_reopen(struct opening *opening)
{
	uint64_t reopened = 0;

	for (size_t i = 0; i < opening->count; i++) {
		struct job *job = run_job(opening->run, opening->at[i]);

		if (state_terminal(job->state) && job->round < UINT16_MAX) {
			job_reopen(opening->core, job);
			reopened++;
		} else {
			job->flags &= (uint32_t)~JOB_MARKED;
		}
	}
	return reopened;
}

/* A child that has no new round: it waits again for this parent, or it went ahead on the old result. */
static void child_loosen(struct core *core, struct job *child)
{
	if (child->flags & JOB_MARKED)
		return;
	if (child->state == STATE_WAITING) {
		child->pending++;
		return;
	}
	child->flags |= JOB_LOOSE;
	job_touch(core, child, true);
}

static uint32_t cause_find(struct core *core, const struct job *job)
{
	struct rec_job_spec spec;

	job_spec_decode(core, job, &spec);
	for (size_t i = 0; i < spec.needs.n; i++) {
		const struct job *parent = run_job(job->run, (uint32_t)spec.needs.at[i]);
		enum trigger trigger = spec.triggers.n ? (enum trigger)spec.triggers.at[i] : TRIGGER_OK;

		if (state_terminal(parent->state) && !trigger_met(trigger, parent->state))
			return parent->index + 1;
	}
	return 0;
}

static void opening_decide(struct opening *opening)
{
	struct run *run = opening->run;
	struct standing *standing;

	for (size_t i = 0; i < opening->count; i++) {
		const struct job *job = run_job(run, opening->at[i]);
		struct child_walk walk = children_of(job);
		uint32_t edge;

		while (job->flags & JOB_MARKED && child_next(&walk, &edge))
			child_loosen(opening->core, run_job(run, edge >> TRIGGER_BITS));
	}
	standing = run_standing(run);
	for (size_t i = 0; i < opening->count; i++)
		if (run_job(run, opening->at[i])->flags & JOB_MARKED)
			run_job(run, opening->at[i])->pending = standing[opening->at[i]].open;
	for (size_t i = 0; i < opening->count; i++) {
		struct job *job = run_job(run, opening->at[i]);

		if (!(job->flags & JOB_MARKED))
			continue;
		job->flags &= (uint32_t)~JOB_MARKED;
		if (standing[job->index].against) {
			job->cause = cause_find(opening->core, job);
			job_move(opening->core, job, EVENT_DEP_AGAINST, STATE_SKIPPED);
		} else if (job->pending == 0) {
			job_deps_met(opening->core, job);
		}
	}
	mem_free(standing);
	jobs_settle(opening->core);
}

/* Skipped ones come as descendants of what failed; those that another result skipped would be skipped again. */
static bool scope_has(enum retry_scope scope, enum job_state state)
{
	if (scope == RETRY_ALL)
		return state_terminal(state);
	return state == STATE_FAILED || state == STATE_TIMED_OUT || state == STATE_CANCELLED ||
	       state == STATE_DENIED || state == STATE_QUARANTINED;
}

static enum err round_check(const struct input_act *act, const struct job *job, struct error *error)
{
	int len = (int)act->job.len;

	if (act->value > RETRY_ALL)
		return error_set(error, ERR_INVALID, "there is no such scope of a retry: %llu",
				 (unsigned long long)act->value);
	if (!job && (act->value == RETRY_FROM || act->value == RETRY_ONLY))
		return error_set(error, ERR_INVALID, "of run %llu, which job is to be run again?",
				 (unsigned long long)act->run);
	if (job && !state_terminal(job->state)) {
		error_set(error, ERR_PENDING, "job %llu/%.*s hasn't ended: it is %s", (unsigned long long)act->run,
			  len, (const char *)act->job.data, state_table[job->state].name);
		return error_next(error, "titan cancel %llu/%.*s", (unsigned long long)act->run, len,
				  (const char *)act->job.data);
	}
	return ERR_NONE;
}

enum err round_open(struct core *core, const struct input_act *act, struct run *run, struct job *job,
		    uint64_t *ret_changed, struct error *error)
{
	struct opening opening = { .core = core, .run = run };
	enum err err = round_check(act, job, error);

	if (err != ERR_NONE)
		return err;
	opening.at = mem_array(run->job_count, sizeof(*opening.at));
	if (job)
		opening_add(&opening, job->index);
	for (const struct job *at = job ? NULL : run_job(run, 0); at; at = job_next(at))
		if (scope_has((enum retry_scope)act->value, at->state))
			opening_add(&opening, at->index);
	if (act->value != RETRY_ONLY)
		opening_descend(&opening);
	/* Before the first move, which would count it among what an ended run has settled. */
	if (opening.count > 0)
		run_live_again(core, run);
	*ret_changed = opening_reopen(&opening);
	opening_decide(&opening);
	mem_free(opening.at);
	return ERR_NONE;
}
