/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What people do to jobs that exist. Every act is answered with how many jobs it changed; done again it
 * changes none, and the inverse of holding back and of a priority undoes it.
 */
#include "core/internal.h"

enum err act_target(struct core *core, uint64_t number, struct slice name, struct run **ret_run,
		    struct job **ret_job, struct error *error)
{
	struct run *run = run_find(core, number);
	struct job *job = NULL;
	int len = name.len < LIMIT_NAME_MAX_LEN ? (int)name.len : LIMIT_NAME_MAX_LEN;

	if (!run)
		return error_set(error, ERR_NOT_FOUND, "run %llu is not live", (unsigned long long)number);
	if (name.len > 0) {
		job = run_job_named(core, run, name);
		if (!job) {
			error_set(error, ERR_NOT_FOUND, "run %llu has no job '%.*s'", (unsigned long long)number,
				  len, (const char *)name.data);
			return error_next(error, "titan show %llu", (unsigned long long)number);
		}
	}
	*ret_run = run;
	*ret_job = job;
	return ERR_NONE;
}

/* --- priority --- */

static uint64_t job_prioritize(struct core *core, struct job *job, uint8_t priority)
{
	if (state_terminal(job->state) || job->priority == priority)
		return 0;
	job->priority = priority;
	/* Its entry, if only a stale one, has the old key: all are made anew before the next is taken. */
	core->rekey_due |= (job->flags & (JOB_QUEUED | JOB_PARKED | JOB_PARKED_GROUP)) != 0;
	job_touch(core, job, true);
	return 1;
}

static enum err act_priority(struct core *core, const struct input_act *act, struct run *run, struct job *job,
			     uint64_t *ret_changed, struct error *error)
{
	if (act->value > PRIORITY_MAX)
		return error_set(error, ERR_INVALID, "a priority goes from 0 to %d, not %llu", PRIORITY_MAX,
				 (unsigned long long)act->value);
	for (struct job *at = run_job(run, 0); at; at = job_next(at))
		if (!job || job == at)
			*ret_changed += job_prioritize(core, at, (uint8_t)act->value);
	return ERR_NONE;
}

/* --- holding back --- */

static uint64_t run_hold(struct core *core, struct run *run, bool hold)
{
	if (run->held == hold)
		return 0;
	for (struct job *job = run_job(run, 0); job; job = job_next(job))
		if (job->state == STATE_READY)
			ready_leave(core, job);
	run->held = hold;
	for (struct job *job = run_job(run, 0); job; job = job_next(job))
		if (job->state == STATE_READY)
			ready_push(core, job);
	run_offer(core, run);            /* not before all of them are where they belong */
	run_touch(core, run, true);
	return run->job_count - run->settled;
}

static uint64_t job_hold(struct core *core, struct job *job, bool hold)
{
	if (state_terminal(job->state) || ((job->flags & JOB_ON_HOLD) != 0) == hold)
		return 0;
	if (job->state == STATE_READY)
		ready_leave(core, job);
	job->flags ^= JOB_ON_HOLD;
	if (job->state == STATE_READY)
		ready_push(core, job);
	bounds_offer(core, job);
	job_touch(core, job, true);
	return 1;
}

static enum err act_decide(struct core *core, const struct input_act *act, uint64_t *ret_changed,
			   struct error *error)
{
	bool hold = act->verb == ACT_HOLD;
	struct run *run;
	struct job *job;

	if (act_target(core, act->run, act->job, &run, &job, error) != ERR_NONE)
		return error->code;
	if (act->verb == ACT_RETRY)
		return round_open(core, act, run, job, ret_changed, error);
	if (run->ended_ms != 0)
		return error_set(error, ERR_TERMINAL, "run %llu has already ended", (unsigned long long)act->run);
	if (job && state_terminal(job->state))
		return error_set(error, ERR_TERMINAL, "job %llu/%.*s has already ended: %s",
				 (unsigned long long)act->run, (int)act->job.len, (const char *)act->job.data,
				 state_table[job->state].name);
	switch (act->verb) {
	case ACT_APPROVE:
	case ACT_REJECT:
		return gate_decide(core, act, run, job, ret_changed, error);
	case ACT_PRIORITY:
		return act_priority(core, act, run, job, ret_changed, error);
	case ACT_HOLD:
	case ACT_RELEASE:
		*ret_changed = job ? job_hold(core, job, hold) : run_hold(core, run, hold);
		return ERR_NONE;
	default:
		return error_set(error, ERR_INVALID, "an unknown act: %d", (int)act->verb);
	}
}

static void act_answer(struct core *core, const struct core_input *input, const struct input_act *act)
{
	struct error error = { 0 };
	uint64_t changed = 0;

	if (act_decide(core, act, &changed, &error) != ERR_NONE) {
		error_send(core, input->conn, input->request, &error, false);
		return;
	}
	if (input->conn != 0)
		outbox_frame(core->outbox, input->conn, OP_OK)->ok = (struct msg_ok){
			.id = input->request, .count = changed,
		};
}

void act_step(struct core *core, const struct core_input *input)
{
	act_answer(core, input, &input->act);
}

void reopen_step(struct core *core, const struct core_input *input)
{
	const struct input_reopen *reopen = &input->reopen;
	struct error error = { 0 };

	/* Somebody else may have brought it back first: then it is known better here than by its rows. */
	if (!run_find(core, reopen->act.run) &&
	    run_load_ended(core, reopen->rows, reopen->row_count, &error) != ERR_NONE) {
		error_send(core, input->conn, input->request, &error, false);
		return;
	}
	act_answer(core, input, &reopen->act);
}
