/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * New rounds. A terminal state is final within a round; a person can open a new round of a job. That also opens one
 * for each descendant without an attempt, ended or not: everything that followed from the old result is decided
 * anew, and approvals of it are void. Active and unknown jobs are left alone, since they already began on the old
 * result. A gate asks again only if its answer still makes a difference.
 */
#include "core/life/life.h"

#include <stdio.h>

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/people/people.h"
#include "core/time/time.h"

struct round_opening {
	struct core *core;
	struct run *run;
	bool only;                       /* RETRY_ONLY: reopen the named jobs, and no other ended job */
	uint32_t *at;                    /* indices: the jobs asked for, then descendants */
	size_t count;
};

static bool job_under_way(const struct job *job)
{
	return state_holds(job->state) || job->state == STATE_UNKNOWN;
}

/* Check that the job has neither ended nor an attempt, and no longer waits for its parents. */
static bool job_not_begun(const struct job *job)
{
	return !state_terminal(job->state) && !job_under_way(job) && job->state != STATE_WAITING &&
	       !(PLANTED(round_leaves_an_open_gate) && job->state == STATE_APPROVAL);
}

/* An ended gate whose children are all active or unknown: another answer wouldn't change anything. */
static bool gate_is_spent(const struct round_opening *opening, const struct job *job)
{
	struct child_walk walk = children_of(job);
	struct rec_job_spec spec;
	bool any = false;
	uint32_t edge;

	if (!(job->flags & JOB_STAGED) || !state_terminal(job->state))
		return false;
	job_spec_decode(opening->core, job, &spec);
	if (spec.gate_count == 0 || spec.argv.n > 0 || spec.script.len > 0)
		return false;
	for (; child_next(&walk, &edge); any = true) {
		const struct job *child = run_job(opening->run, edge >> TRIGGER_BITS);

		if (!job_under_way(child) && !(opening->only && state_terminal(child->state)))
			return false;
	}
	return any;
}

static void opening_add(struct round_opening *opening, uint32_t index)
{
	struct job *job = run_job(opening->run, index);

	if (job->flags & JOB_MARKED || gate_is_spent(opening, job))
		return;
	job->flags |= JOB_MARKED;
	opening->at[opening->count++] = index;
}

/* Services that had ended with the run are needed again when one of its other jobs runs again. */
static void opening_add_services(struct round_opening *opening)
{
	const struct run *run = opening->run;
	bool needed = false;

	for (size_t i = 0; i < opening->count && !needed; i++)
		needed = job_is_work(run_job(run, opening->at[i]));
	for (size_t i = 0; needed && i < run->service_count; i++)
		if (service_reopens(run_job(run, run->services[i])))
			opening_add(opening, run->services[i]);
}

static void opening_descend(struct round_opening *opening)
{
	size_t asked = opening->count;
	uint32_t edge;

	for (size_t i = 0; i < (PLANTED(round_stops_at_children) ? asked : opening->count); i++) {
		struct child_walk walk = children_of(run_job(opening->run, opening->at[i]));

		while (child_next(&walk, &edge))
			opening_add(opening, edge >> TRIGGER_BITS);
	}
}

static void opening_unmark(struct round_opening *opening)
{
	for (size_t i = 0; i < opening->count; i++)
		run_job(opening->run, opening->at[i])->flags &= (uint32_t)~JOB_MARKED;
}

/* When a job runs again alone: its children that haven't begun wait for the new result. */
static void opening_add_waiting(struct round_opening *opening)
{
	size_t asked = opening->count;
	uint32_t edge;

	for (size_t i = 0; i < asked; i++) {
		struct child_walk walk = children_of(run_job(opening->run, opening->at[i]));

		while (child_next(&walk, &edge))
			if (job_not_begun(run_job(opening->run, edge >> TRIGGER_BITS)))
				opening_add(opening, edge >> TRIGGER_BITS);
	}
}

static void job_reopen(struct core *core, struct job *job, enum job_event event)
{
	deadline_disarm(core, job);      /* deadline timers are per round */
	ending_clear(core, job);
	pushback_drop(core, job);
	attempt_keep(core, job, job->when_ms);
	job->round += event != EVENT_PUSHED_BACK || !PLANTED(pushback_keeps_its_votes);
	job->tries = PLANTED(round_keeps_its_tries) ? job->tries : 0;
	job->crashes = PLANTED(round_keeps_its_crashes) ? job->crashes : 0;
	job->interrupted = 0;
	job->cause = 0;
	job->stop_cause = 0;
	job->outcome = OUTCOME_NONE;
	job_outputs_set(job, slice_make(NULL, 0));
	job->code = 0;
	job->worker = 0;
	job->when_ms = 0;
	job->started_ms = 0;
	job->cpu_us = 0;
	job->rss_kib = 0;
	job->out_bytes = 0;
	job_child_set(job, 0);
	job_passes_set(job, 0);
	job->flags &= (uint32_t)~(JOB_LOOSE | JOB_PASSED | JOB_CONDITION_FALSE | JOB_CRASH_LOOP);
	job_move(core, job, event, STATE_WAITING);
	deadline_reopen(core, job);
}

/*
 * Open the new rounds. Jobs that already wait, or have an attempt, keep what they have and lose their mark. gate: the
 * gate that was pushed back, or NULL.
 */
static uint64_t opening_reopen(struct round_opening *opening, const struct job *gate)
{
	uint64_t reopened = 0;

	for (size_t i = 0; i < opening->count; i++) {
		struct job *job = run_job(opening->run, opening->at[i]);

		if ((state_terminal(job->state) || job_not_begun(job)) && job->round < UINT16_MAX) {
			job_reopen(opening->core, job, job == gate ? EVENT_PUSHED_BACK : EVENT_REOPENED);
			reopened++;
		} else {
			job->flags &= (uint32_t)~JOB_MARKED;
		}
	}
	return reopened;
}

static void job_count_again(struct job *job, uint32_t open)
{
	job->pending = open;
	if (job->flags & JOB_EXPR && !PLANTED(answers_kept_over_a_round))
		job_ask_again(job);
}

/*
 * Treat a child that gets no new round: if it is waiting, it waits again for this parent; otherwise it began on the
 * old result and is marked loose.
 */
static void child_loosen(struct core *core, struct job *child, const struct standing *standing)
{
	if (child->flags & JOB_MARKED)
		return;
	/* The child's expression was decided without this parent, and still is. */
	if (child->state != STATE_WAITING && child->flags & JOB_EXPR && standing_fits(child, standing[child->index]))
		return;
	if (child->state == STATE_WAITING) {
		job_count_again(child, standing[child->index].open);
		return;
	}
	child->flags |= JOB_LOOSE;
	job_touch(core, child, true);
}

uint32_t job_cause(struct core *core, const struct job *job)
{
	struct rec_job_spec spec;
	uint32_t first = 0;

	job_spec_decode(core, job, &spec);
	for (size_t i = 0; i < spec.needs.n; i++) {
		const struct job *parent = run_job(job->run, (uint32_t)spec.needs.at[i]);
		enum trigger trigger = spec.triggers.n ? (enum trigger)spec.triggers.at[i] : TRIGGER_OK;

		if (!state_terminal(parent->state))
			continue;
		if (!trigger_met(trigger, job_result(parent)))
			return parent->index + 1;
		if (first == 0 && trigger == TRIGGER_EXPR)
			first = parent->index + 1;
	}
	return first;
}

static void opening_judge(struct round_opening *opening)
{
	struct run *run = opening->run;
	struct standing *standing = run_standing(run);
	enum outlook outlook;

	for (size_t i = 0; i < opening->count; i++) {
		const struct job *job = run_job(run, opening->at[i]);
		struct child_walk walk = children_of(job);
		uint32_t edge;

		while (job->flags & JOB_MARKED && child_next(&walk, &edge))
			child_loosen(opening->core, run_job(run, edge >> TRIGGER_BITS), standing);
	}
	for (size_t i = 0; i < opening->count; i++)
		if (run_job(run, opening->at[i])->flags & JOB_MARKED)
			job_count_again(run_job(run, opening->at[i]), standing[opening->at[i]].open);
	for (size_t i = 0; i < opening->count; i++) {
		struct job *job = run_job(run, opening->at[i]);

		if (!(job->flags & JOB_MARKED))
			continue;
		job->flags &= (uint32_t)~JOB_MARKED;
		outlook = standing_outlook(standing[job->index]);
		job_judge(opening->core, job, outlook,
			  outlook == OUTLOOK_AGAINST || outlook == OUTLOOK_CONDITION_FALSE ?
			  job_cause(opening->core, job) : 0);
	}
	mem_free(standing);
	jobs_tell_children(opening->core);
}

/*
 * Choose the jobs that an act reopens. Skipped jobs aren't chosen: they follow as descendants of the job that failed;
 * all others would be skipped again.
 */
static bool scope_has(const struct input_act *act, const struct target *target, const struct job *job)
{
	enum job_state state = job_result(job);

	if (act->verb == ACT_REQUEUE)
		return (job->flags & JOB_DEAD) != 0;
	if (!target->whole || act->value == RETRY_ALL)
		return state_terminal(state);
	return state == STATE_FAILED || state == STATE_TIMED_OUT || state == STATE_CANCELLED ||
	       state == STATE_DENIED || state == STATE_QUARANTINED;
}

/* Refuse to reopen a job that hasn't ended, with a hint how it can end: by a person's decision, or by a cancel. */
static enum err refuse_open(const struct input_act *act, const struct job *job, struct error *error)
{
	unsigned long long run = act->run;
	int len = (int)act->job.len;
	const char *name = (const char *)act->job.data;

	if (job->state == STATE_APPROVAL) {
		error_set(error, ERR_PENDING, "job %llu/%.*s hasn't ended: people have to approve or reject it", run, len, name);
		return error_next(error, "titan approve %llu/%.*s", run, len, name);
	}
	if (job->state == STATE_UNKNOWN) {
		error_set(error, ERR_PENDING, "job %llu/%.*s hasn't ended: the job may have run, and a person has to settle it", run, len,
			  name);
		return error_next(error, "titan settle %llu/%.*s retry -m 'HOW YOU KNOW'", run, len, name);
	}
	error_set(error, ERR_PENDING, "job %llu/%.*s hasn't ended: it is %s", run, len, name, state_table[job->state].name);
	return error_next(error, "titan cancel %llu/%.*s", run, len, name);
}

static enum err round_check(const struct input_act *act, const struct target *target, struct error *error)
{
	if (act->verb == ACT_REQUEUE)
		return ERR_NONE;
	if (act->value > RETRY_ALL)
		return error_set(error, ERR_INVALID, "unknown scope of a retry: %llu",
				 (unsigned long long)act->value);
	if (target->whole && (act->value == RETRY_FROM || act->value == RETRY_ONLY))
		return error_set(error, ERR_INVALID, "name the job of run %llu that is to run again",
				 (unsigned long long)act->run);
	for (uint32_t i = 0; !target->whole && i < target->count; i++)
		if (state_terminal(target_job(target, i)->state))
			return ERR_NONE;
	if (target->whole)
		return ERR_NONE;
	return refuse_open(act, target_job(target, 0), error);
}

static enum err opening_is_spent(const struct round_opening *opening, const struct job *gate, struct error *error)
{
	const struct run *run = opening->run;
	const struct job *child;
	struct child_walk walk = children_of(gate);
	struct rec_job_spec spec;
	char name[LIMIT_NAME_MAX_LEN + 1];
	uint32_t edge = 0;

	CHECK(child_next(&walk, &edge));
	child = run_job(run, edge >> TRIGGER_BITS);

	job_spec_decode(opening->core, gate, &spec);
	snprintf(name, sizeof(name), "%.*s", (int)spec.name.len, (const char *)spec.name.data);
	job_spec_decode(opening->core, child, &spec);
	if (!job_under_way(child)) {
		error_set(error, ERR_INVALID, "asking gate %s alone again would change nothing, because the jobs "
			"after it have ended", name);
		return error_next(error, "titan retry %llu/%s", (unsigned long long)run->number, name);
	}
	error_set(error, ERR_PENDING, "asking gate %s again would change nothing, because a job that it let run hasn't ended: %.*s is %s",
		  name, (int)spec.name.len, (const char *)spec.name.data, state_table[child->state].name);
	return error_next(error, "titan cancel %llu/%.*s", (unsigned long long)run->number, (int)spec.name.len,
			  (const char *)spec.name.data);
}

enum err round_open(struct core *core, const struct input_act *act, const struct target *target,
		    uint64_t *ret_changed, struct error *error)
{
	struct run *run = target->run;
	struct round_opening opening = { .core = core, .run = run };
	enum err err = round_check(act, target, error);
	const struct job *wanted = NULL;

	if (err == ERR_NONE)
		err = subrun_reopens(core, run, error);
	if (err != ERR_NONE)
		return err;
	opening.only = act->verb == ACT_RETRY && act->value == RETRY_ONLY;
	opening.at = mem_array(run->job_count, sizeof(*opening.at));
	for (uint32_t i = 0; i < target->count; i++) {
		if (!scope_has(act, target, target_job(target, i)))
			continue;
		wanted = target_job(target, i);
		opening_add(&opening, target->first + i);
	}
	if (opening.count == 0 && wanted && !target->whole)
		err = opening_is_spent(&opening, wanted, error);
	opening_add_services(&opening);
	if (opening.only)
		opening_add_waiting(&opening);
	else
		opening_descend(&opening);
	/* This must come before the first move, which would count the jobs as ended jobs of an ended run. */
	if (opening.count > 0) {
		run_live_again(core, run);
		*ret_changed = opening_reopen(&opening, NULL);
		opening_judge(&opening);
	}
	mem_free(opening.at);
	return err;
}

bool round_reaches(struct core *core, struct job *job, const struct job *gate)
{
	struct round_opening opening = { .core = core, .run = job->run };
	bool reached;

	opening.at = mem_array(job->run->job_count, sizeof(*opening.at));
	opening_add(&opening, job->index);
	opening_descend(&opening);
	reached = gate->flags & JOB_MARKED;
	opening_unmark(&opening);
	mem_free(opening.at);
	return reached;
}

bool round_push_back(struct core *core, struct job *job, struct job *gate, uint64_t *ret_changed)
{
	struct round_opening opening = { .core = core, .run = job->run };
	bool reached;

	opening.at = mem_array(job->run->job_count, sizeof(*opening.at));
	opening_add(&opening, job->index);
	opening_descend(&opening);
	reached = (gate->flags & JOB_MARKED) && job->round < UINT16_MAX && gate->round < UINT16_MAX;
	if (!reached) {
		opening_unmark(&opening);
	} else {
		*ret_changed = opening_reopen(&opening, gate);
		opening_judge(&opening);
	}
	mem_free(opening.at);
	return reached;
}
