/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the ends of parents mean for each job of a run, counted anew; and whether a job's state agrees with that. */
#include "core/graph/graph.h"

#include "core/graph/internal.h"

struct standing *run_standing(const struct run *run)
{
	struct standing *standing = mem_array(run->job_count, sizeof(*standing));

	for (const struct job *parent = run_job(run, 0); parent; parent = job_next(parent)) {
		struct child_walk walk = children_of(parent);
		uint32_t edge;

		while (child_next(&walk, &edge)) {
			struct standing *child = &standing[edge >> TRIGGER_BITS];

			if (!state_terminal(parent->state)) {
				child->open++;
				child->asked += (edge & ((1U << TRIGGER_BITS) - 1)) != TRIGGER_EXPR;
			} else if (!trigger_met(edge & ((1U << TRIGGER_BITS) - 1), job_result(parent))) {
				child->against = true;
			}
		}
	}
	for (const struct job *job = run->condition_count ? run_job(run, 0) : NULL; job; job = job_next(job))
		if (job->flags & JOB_EXPR)
			job_stand(job, &standing[job->index]);
	return standing;
}

/* Check invariant I6: a job's end and what it decides for children are in the same transaction. */
bool standing_fits(const struct job *job, struct standing standing)
{
	if (job->flags & JOB_LOOSE)
		return job->state != STATE_WAITING;
	switch ((enum job_state)job->state) {
	case STATE_WAITING:
		return standing_outlook(standing) == OUTLOOK_OPEN || standing_outlook(standing) == OUTLOOK_GO;
	case STATE_SKIPPED:
		return job->flags & JOB_CONDITION_FALSE ? standing.condition_false : standing.against;
	case STATE_CANCELLED:
	case STATE_TIMED_OUT:
		return true;             /* a deadline or a cancel may come before the parents end */
	default:
		return standing_outlook(standing) == OUTLOOK_GO;
	}
}
