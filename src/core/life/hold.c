/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holds and priorities, also of sub-runs: a sub-run is on hold when its parent job is, and has that job's priority.
 */
#include "core/life/life.h"

#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/people/people.h"
#include "core/queue/queue.h"
#include "core/time/time.h"

uint64_t job_prioritize(struct core *core, struct job *job, uint8_t priority)
{
	if (state_terminal(job->state) || job->priority == priority)
		return 0;
	job->priority = priority;
	/* The job's heap entry (perhaps stale) has the old key: rebuild the heaps before the next job is taken. */
	core->rekey_due |= (job->flags & (JOB_QUEUED | JOB_PARKED)) != 0;
	job_touch(core, job, true);
	return 1 + subrun_prioritize(core, job);
}

/* React to a job's hold or release, whether of the job itself or of its run. */
static void job_held_changed(struct core *core, struct job *job)
{
	if (job->state == STATE_APPROVAL)
		gate_hold(core, job, job_on_hold(job));
	else if (job->state == STATE_ASSIGNED && job_on_hold(job))
		attempt_recall(core, job);
	else if (job->state == STATE_READY && !job_on_hold(job))
		dispatch_released(core, job);
}

uint64_t run_hold(struct core *core, struct run *run, bool hold)
{
	uint64_t below = 0;

	if (run->held == hold)
		return 0;
	for (struct job *job = run_job(run, 0); job; job = job_next(job))
		if (job->state == STATE_READY)
			ready_leave(core, job);
	run->held = hold;
	for (struct job *job = run_job(run, 0); job; job = job_next(job)) {
		if (job->state == STATE_READY)
			ready_push(core, job);
		if (!(job->flags & JOB_ON_HOLD))
			job_held_changed(core, job);
	}
	run_offer(core, run);            /* not before all jobs of the run are back in the heaps */
	run_touch(core, run, true);
	for (const struct job *job = core->subruns ? run_job(run, 0) : NULL; job; job = job_next(job))
		below += subrun_hold(core, job);
	return run->job_count - run->ended + below;
}

uint64_t job_hold(struct core *core, struct job *job, bool hold)
{
	if (state_terminal(job->state) || ((job->flags & JOB_ON_HOLD) != 0) == hold)
		return 0;
	if (job->state == STATE_READY)
		ready_leave(core, job);
	job->flags ^= JOB_ON_HOLD;
	if (job->state == STATE_READY)
		ready_push(core, job);
	if (!job->run->held)
		job_held_changed(core, job);
	bounds_offer(core, job);
	job_touch(core, job, true);
	return 1 + subrun_hold(core, job);
}

uint64_t subrun_hold(struct core *core, const struct job *job)
{
	struct run *child = subrun_of(core, job);

	return child ? run_hold(core, child, job_on_hold(job)) : 0;
}

uint64_t subrun_prioritize(struct core *core, const struct job *job)
{
	struct run *child = subrun_of(core, job);
	uint64_t changed = 0;

	if (!child)
		return 0;
	child->priority = job->priority + 1;     /* default for jobs that are added to the sub-run later */
	run_touch(core, child, true);
	for (struct job *at = run_job(child, 0); at; at = job_next(at))
		changed += job_prioritize(core, at, job->priority);
	return changed;
}
