/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cancelling a run or one of its jobs. What holds no attempt is cancelled at once; an attempt is asked
 * to end, and its job is cancelled when it is known to be gone.
 */
#include "core/internal.h"

bool job_give_up(struct core *core, struct job *job)
{
	if (state_terminal(job->state))
		return false;
	if (job->state == STATE_UNKNOWN)
		return attempt_doom(core, job);
	if (job->state == STATE_STOPPING) {
		if (job->stop_cause == EVENT_CANCEL)
			return false;
		job->stop_cause = EVENT_CANCEL;
		job_touch(core, job, true);
	} else if (state_holds(job->state)) {
		attempt_stop(core, job, EVENT_CANCEL);
	} else {
		job->stop_cause = EVENT_CANCEL;  /* whatever was said of an attempt before, or of its gate */
		job_move(core, job, EVENT_CANCEL, STATE_CANCELLED);
	}
	return true;
}

bool job_cancel(struct core *core, struct job *job)
{
	bool changed;

	if (job->state == STATE_UNKNOWN) {
		job->stop_cause = EVENT_CANCEL;
		job_move(core, job, EVENT_CANCEL, STATE_CANCELLED);
		return true;
	}
	changed = job_give_up(core, job);
	return subrun_cancel(core, job) || changed;
}

/* All of them before any of their children is told: there is no cascade, each job is cancelled for itself. */
static enum err cancel(struct core *core, const struct input_cancel *input, uint64_t *ret_changed,
		       struct error *error)
{
	struct target target;
	uint64_t changed = 0;

	if (act_target(core, input->run, input->job, &target, error) != ERR_NONE ||
	    act_check_live(input->run, input->job, &target, error) != ERR_NONE)
		return error->code;
	for (uint32_t i = 0; i < target.count; i++)
		changed += job_cancel(core, target_job(&target, i));
	if (target.whole && !target.run->cancelled) {
		target.run->cancelled = true;
		run_touch(core, target.run, true);
	}
	jobs_settle(core);
	*ret_changed = changed;
	return ERR_NONE;
}

void cancel_step(struct core *core, const struct core_input *input)
{
	struct error error = { 0 };
	uint64_t changed = 0;

	if (cancel(core, &input->cancel, &changed, &error) != ERR_NONE) {
		error_send(core, input->conn, input->request, &error, false);
		return;
	}
	if (input->conn != 0)
		outbox_frame(core->outbox, input->conn, OP_OK)->ok = (struct msg_ok){
			.id = input->request, .count = changed,
		};
}
