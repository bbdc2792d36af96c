/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cancelling a run or one of its jobs. A job without an attempt is cancelled at once. An attempt is asked to stop,
 * and its job is cancelled when the attempt is known to have ended. The first cancel of a run leaves its final jobs
 * and its `always` jobs some time to end by themselves (ending.c). A second cancel, a cancel with scope all, and a
 * cancel that names the job end these as well.
 */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/queue/queue.h"
#include "core/rows/durable.h"

bool job_give_up(struct core *core, struct job *job)
{
	if (state_terminal(job->state) || (PLANTED(start_after_cancel) && job->state == STATE_DELAYED))
		return false;
	if (job->state == STATE_UNKNOWN)
		return attempt_cancel_when_returned(core, job);
	if (job->state == STATE_STOPPING) {
		if (job->stop_cause == EVENT_CANCEL)
			return false;
		job->stop_cause = EVENT_CANCEL;
		job_touch(core, job, true);
	} else if (state_holds(job->state)) {
		attempt_stop(core, job, EVENT_CANCEL);
	} else {
		job->stop_cause = EVENT_CANCEL;  /* replaces the cause of an earlier stop or expiry */
		job_move(core, job, EVENT_CANCEL, STATE_CANCELLED);
	}
	return true;
}

bool job_cancel(struct core *core, struct job *job, bool all)
{
	bool changed;

	if (job->state == STATE_UNKNOWN) {
		job->stop_cause = EVENT_CANCEL;
		job_move(core, job, EVENT_CANCEL, STATE_CANCELLED);
		return true;
	}
	changed = job_give_up(core, job);
	return subrun_cancel(core, job, all) || changed;
}

uint64_t run_cancel_jobs(struct core *core, struct run *run, bool all)
{
	uint64_t changed = 0;

	for (struct job *job = run_job(run, 0); job; job = job_next(job)) {
		if (all || !(job->flags & JOB_ALWAYS) ||
		    (PLANTED(ending_cancelled_with_the_rest) && job->state == STATE_WAITING))
			changed += job_cancel(core, job, all);
		else
			ending_order(core, job);
	}
	return changed;
}

static uint64_t jobs_left(const struct run *run)
{
	uint64_t left = 0;

	for (const struct job *job = run_job(run, 0); job; job = job_next(job))
		left += job->flags & JOB_ALWAYS && !state_terminal(job->state);
	return left;
}

void run_told_to_end(struct core *core, struct run *run)
{
	run->cancelled = true;
	if (run->ended < run->job_count)
		run_hold(core, run, false);      /* end a hold of the run: the jobs that are left must be able to run */
	run_touch(core, run, true);
}

/*
 * Cancel a run or its named jobs. All jobs are cancelled before any child is told, so each is cancelled by this act
 * and not skipped because of a parent.
 */
static enum err cancel(struct core *core, const struct input_cancel *input, struct msg_ok *ok, struct error *error)
{
	bool all = input->scope == CANCEL_ALL;
	struct target target;

	if (input->scope > CANCEL_ALL)
		return error_set(error, ERR_INVALID, "unknown scope of a cancel: %llu", (unsigned long long)input->scope);
	if (own_run_check(core, input->run, input->own_only, error) != ERR_NONE ||
	    act_target(core, input->run, input->job, &target, error) != ERR_NONE ||
	    act_check_live(input->run, input->job, &target, error) != ERR_NONE)
		return error->code;
	if (target.whole) {
		all |= target.run->cancelled;
		ok->count = run_cancel_jobs(core, target.run, all);
		ok->left = all ? 0 : jobs_left(target.run);
		run_told_to_end(core, target.run);
	}
	for (uint32_t i = 0; !target.whole && i < target.count; i++) {
		struct job *job = target_job(&target, i);

		ok->count += job_cancel(core, job, all || subrun_is_ending(core, job));
	}
	jobs_tell_children(core);
	return ERR_NONE;
}

uint64_t cancel_step(struct core *core, const struct core_input *input)
{
	struct msg_ok ok = { .id = input->request };
	struct error error = { 0 };

	if (cancel(core, &input->cancel, &ok, &error) != ERR_NONE) {
		error_send(core, input->conn, input->request, &error, false);
		return STEP_REFUSED;
	}
	if (input->conn != 0)
		outbox_frame(core->outbox, input->conn, OP_OK)->ok = ok;
	return ok.count;
}

void group_fail(struct core *core, const struct job *failed)
{
	const struct bound *group = job_group(failed);
	uint32_t left = group->jobs;

	/* The jobs of a fan-out are nearly always neighbours. */
	for (struct job *job = run_job(failed->run, group->first); left > 0; job = job_next(job)) {
		if (job_group(job) != group)
			continue;
		left--;
		if ((!PLANTED(fail_fast_spares_the_queue) || state_holds(job->state)) && job_give_up(core, job))
			job->cause = failed->index + 1;
	}
}
