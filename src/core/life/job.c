/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The life of one job. job_move is the only way from one state to another. It checks the move against the table of
 * moves, calls the hooks (hooks.def), which keep every count and queue that depends on states, and notes what the
 * turn must write. jobs_tell_children tells children of their parents' ends: breadth first, iterative, each job once.
 */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/people/people.h"
#include "core/time/time.h"

static void job_leave(struct core *core, struct job *job, enum job_state to)
{
	hooks_leave(core, job, to);
	job->when_ms = 0;
	job->run->ended -= state_terminal(job->state);
}

static void job_enter(struct core *core, struct job *job, enum job_state from, enum job_event event)
{
	struct child_walk walk;
	uint32_t edge;

	if (state_terminal(job->state)) {
		job->when_ms = core->now.wall_ms;
		if (!PLANTED(hold_outlives_its_job))
			/* A hold ends with the job; a new round doesn't inherit it. */
			job->flags &= (uint32_t)~JOB_ON_HOLD;
		if (PLANTED(run_leaves_its_group_early) && job->run->seated && 2 * job->run->ended >= job->run->job_count) {
			job->run->seated = false;
			job->run->concurrency->runs.active--;
			run_touch(core, job->run, true);
		}
		job->run->ended++;
	}
	hooks_enter(core, job, from, event);
	if (!state_terminal(job->state))
		return;
	walk = children_of(job);
	if (!child_next(&walk, &edge) && !(job->flags & JOB_FAIL_FAST))
		return;
	GROW(core->ended, core->ended_count, core->ended_cap);
	core->ended[core->ended_count++] = job;
}

static void job_history(struct core *core, const struct job *job, enum job_state from, enum job_event event)
{
	struct rec_event record = {
		.job = job_serial(job), .from = from, .event = event, .to = job->state,
		.epoch = job->epoch, .worker = job->worker,
	};

	record_encode(&core->events, REC_event, &record);
}

void job_move(struct core *core, struct job *job, enum job_event event, enum job_state to)
{
	enum job_state from = job->state;
	struct run *run = job->run;
	bool derived;

	CHECK(state_allows(from, event, to));
	/* The fields pending and held_at share memory: pending must be 0 before the job may get an attempt. */
	CHECK(to != STATE_READY || from != STATE_WAITING || job->pending == 0);
	job_leave(core, job, to);
	run->counts[from]--;
	run->counts[to]++;
	core->counts[from]--;
	core->counts[to]++;
	core->entered[to]++;
	job->state = to;
	derived = to == STATE_READY && from == STATE_WAITING && job->epoch == 0 && !(job->flags & JOB_STAGED);
	if (!derived)
		job_history(core, job, from, event);
	job_touch(core, job, !derived);
	run_touch(core, run, false);
	job_enter(core, job, from, event);
}

/* Move a job with a delay or a gate to its next state. */
static void job_stage(struct core *core, struct job *job, enum job_event event)
{
	struct rec_job_spec spec;
	int64_t due_ms = 0;

	job_spec_decode(core, job, &spec);
	if (spec.delay_ms > 0)
		due_ms = due_after(core, (int64_t)spec.delay_ms);
	if (event == EVENT_DEPS_MET &&
	    ((due_ms > 0 && !PLANTED(delay_forgotten)) || spec.not_before_ms > core->now.wall_ms)) {
		job_move(core, job, event, STATE_DELAYED);
		due_arm(core, job, TIMER_DUE, due_ms, spec.not_before_ms);
	} else if (spec.gate_count > 0 && !(job->flags & JOB_PASSED)) {
		job_move(core, job, event, STATE_APPROVAL);
	} else {
		job_move(core, job, event, STATE_READY);
	}
}

void job_deps_met(struct core *core, struct job *job)
{
	if (job->flags & JOB_STAGED)
		job_stage(core, job, EVENT_DEPS_MET);
	else
		job_move(core, job, EVENT_DEPS_MET, STATE_READY);
}

void job_due(struct core *core, struct job *job)
{
	if (job->flags & JOB_STAGED)
		job_stage(core, job, EVENT_DUE);
	else
		job_move(core, job, EVENT_DUE, STATE_READY);
}

void job_judge(struct core *core, struct job *job, enum outlook outlook, uint32_t cause)
{
	switch (outlook) {
	case OUTLOOK_OPEN:
		return;
	case OUTLOOK_GO:
		if (PLANTED(cascade_stops_after_one_level) && core->ended_count > 0)
			core->ended_count--;
		job->pending = 0;        /* parents that are still open no longer matter */
		job_deps_met(core, job);
		return;
	case OUTLOOK_AGAINST:
		job->cause = cause;
		job_move(core, job, EVENT_DEP_AGAINST, STATE_SKIPPED);
		return;
	case OUTLOOK_CONDITION_FALSE:
		job->cause = cause;
		job->flags |= JOB_CONDITION_FALSE;
		job_move(core, job, EVENT_CONDITION_FALSE, STATE_SKIPPED);
		return;
	}
}

static void child_tell(struct core *core, const struct job *parent, struct job *child, enum trigger trigger)
{
	if (child->state == STATE_APPROVAL)
		gate_changed(core, child);
	if (child->state != STATE_WAITING)
		return;
	CHECK(child->pending > 0);
	child->pending--;
	if (child->flags & JOB_EXPR)
		job_judge(core, child, job_answered(child, parent), parent->index + 1);
	else if (!trigger_met(trigger, job_result(parent)))
		job_judge(core, child, OUTLOOK_AGAINST, parent->index + 1);
	else if (child->pending == 0)
		job_deps_met(core, child);
}

void jobs_tell_children(struct core *core)
{
	for (size_t i = 0; i < core->ended_count; i++) {
		const struct job *parent = core->ended[i];
		struct child_walk walk = children_of(parent);
		uint32_t edge;

		hooks_ended(core, parent);
		while (child_next(&walk, &edge)) {
			child_tell(core, parent, run_job(parent->run, edge >> TRIGGER_BITS),
				     edge & ((1U << TRIGGER_BITS) - 1));
			if (PLANTED(cascade_missed_through_a_diamond))
				break;
		}
	}
	core->ended_count = 0;
}
