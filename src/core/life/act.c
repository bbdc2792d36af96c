/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What people do to jobs that exist. Every act is answered with how many jobs it changed; done again it
 * changes none, and the inverse of holding back and of a priority undoes it.
 */
#include "core/internal.h"

#include <stdarg.h>
#include <stdio.h>

static bool starts_with(const struct job *job, struct slice stem, struct core *core)
{
	struct rec_job_spec spec;

	job_spec_decode(core, job, &spec);
	return spec.name.len > stem.len + 1 && spec.name.data[stem.len] == '[' &&
	       memcmp(spec.name.data, stem.data, stem.len) == 0;
}

/* The jobs that are called encode[0], encode[1] and so on. */
static bool target_fan_out(struct core *core, struct slice name, struct target *target)
{
	char first_name[LIMIT_NAME_MAX_LEN + 8];
	struct slice stem = name;
	struct run *run = target->run;
	const struct job *first;

	if (stem.len > 3 && memcmp(stem.data + stem.len - 3, "[*]", 3) == 0)
		stem.len -= 3;
	if (stem.len > LIMIT_NAME_MAX_LEN || memchr(stem.data, 0, stem.len))
		return false;            /* no job has such a name */
	snprintf(first_name, sizeof(first_name), "%.*s[0]", (int)stem.len, (const char *)stem.data);
	first = run_job_named(core, run, slice_str(first_name));
	if (!first)
		return false;
	target->first = first->index;
	target->count = 1;
	while (target->first + target->count < run->job_count &&
	       starts_with(run_job(run, target->first + target->count), stem, core))
		target->count++;
	return true;
}

enum err owner_check(const char *owner, struct slice own_only, struct error *error, const char *what, ...)
{
	char text[LIMIT_NAME_MAX_LEN + 32];
	va_list args;

	if (own_only.len == 0 || slice_eq(slice_str(owner), own_only))
		return ERR_NONE;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	return error_set(error, ERR_DENIED, "%s is of %s, and you may change only what you submitted yourself", text, owner);
}

enum err own_run_check(const struct core *core, uint64_t number, struct slice own_only, struct error *error)
{
	const struct run *run = run_find(core, number);

	return run ? owner_check(run->owner, own_only, error, "run %llu", (unsigned long long)number) : ERR_NONE;
}

enum err act_target(struct core *core, uint64_t number, struct slice name, struct target *ret_target,
		    struct error *error)
{
	struct target target = { .run = run_find(core, number), .whole = name.len == 0 };
	int len = name.len < LIMIT_NAME_MAX_LEN ? (int)name.len : LIMIT_NAME_MAX_LEN;
	const struct job *job;

	if (!target.run)
		return error_set(error, ERR_NOT_FOUND, "run %llu is not live", (unsigned long long)number);
	job = target.whole ? NULL : run_job_named(core, target.run, name);
	if (target.whole) {
		target.count = target.run->job_count;
	} else if (job) {
		target.first = job->index;
		target.count = 1;
	} else if (!target_fan_out(core, name, &target)) {
		error_set(error, ERR_NOT_FOUND, "run %llu has no job '%.*s'", (unsigned long long)number, len,
			  (const char *)name.data);
		return error_next(error, "titan show %llu", (unsigned long long)number);
	}
	*ret_target = target;
	return ERR_NONE;
}

enum err act_check_live(uint64_t number, struct slice name, const struct target *target, struct error *error)
{
	const char *state = state_table[target_job(target, 0)->state].name;

	if (target->whole && target->run->settled == target->run->job_count)
		return error_set(error, ERR_TERMINAL, "run %llu has already ended", (unsigned long long)number);
	for (uint32_t i = 0; i < target->count; i++)
		if (target->whole || !state_terminal(target_job(target, i)->state))
			return ERR_NONE;
	return error_set(error, ERR_TERMINAL, "job %llu/%.*s has already ended: %s", (unsigned long long)number,
			 (int)name.len, (const char *)name.data, state);
}

/* --- priority --- */

uint64_t job_prioritize(struct core *core, struct job *job, uint8_t priority)
{
	if (state_terminal(job->state) || job->priority == priority)
		return 0;
	job->priority = priority;
	/* Its entry, if only a stale one, has the old key: all are made anew before the next is taken. */
	core->rekey_due |= (job->flags & (JOB_QUEUED | JOB_PARKED)) != 0;
	job_touch(core, job, true);
	return 1 + subrun_prioritize(core, job);
}

static enum err act_priority(struct core *core, const struct input_act *act, const struct target *target,
			     uint64_t *ret_changed, struct error *error)
{
	if (act->value > PRIORITY_MAX)
		return error_set(error, ERR_INVALID, "a priority goes from 0 to %d, not %llu", PRIORITY_MAX,
				 (unsigned long long)act->value);
	for (uint32_t i = 0; i < target->count; i++)
		*ret_changed += job_prioritize(core, target_job(target, i), (uint8_t)act->value);
	return ERR_NONE;
}

/* --- holding back --- */

/* It is held back from now on, or not any more, by whatever holds it. */
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
	run_offer(core, run);            /* not before all of them are where they belong */
	run_touch(core, run, true);
	for (const struct job *job = core->subruns ? run_job(run, 0) : NULL; job; job = job_next(job))
		below += subrun_hold(core, job);
	return run->job_count - run->settled + below;
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
	if (!job->run->held)
		job_held_changed(core, job);
	bounds_offer(core, job);
	job_touch(core, job, true);
	return 1 + subrun_hold(core, job);
}

static uint64_t act_hold(struct core *core, const struct target *target, bool hold)
{
	uint64_t changed = 0;

	if (target->whole)
		return run_hold(core, target->run, hold);
	for (uint32_t i = 0; i < target->count; i++)
		changed += job_hold(core, target_job(target, i), hold);
	return changed;
}

static enum err act_decide(struct core *core, const struct input_act *act, uint64_t *ret_changed,
			   struct error *error)
{
	struct target target;

	if (own_run_check(core, act->run, act->own_only, error) != ERR_NONE ||
	    act_target(core, act->run, act->job, &target, error) != ERR_NONE)
		return error->code;
	switch (act->verb) {
	case ACT_DISCARD:
		*ret_changed = dead_discard(core, &target);
		return ERR_NONE;
	case ACT_RETRY:
	case ACT_REQUEUE:
		return round_open(core, act, &target, ret_changed, error);
	case ACT_APPROVE:
	case ACT_REJECT:
	case ACT_PUSHBACK:
		return gate_decide(core, act, &target, ret_changed, error);
	case ACT_SETTLE:
		return settle(core, act, &target, ret_changed, error);
	default:
		break;
	}
	if (act_check_live(act->run, act->job, &target, error) != ERR_NONE)
		return error->code;
	switch (act->verb) {
	case ACT_PRIORITY:
		return act_priority(core, act, &target, ret_changed, error);
	case ACT_HOLD:
	case ACT_RELEASE:
		*ret_changed = act_hold(core, &target, act->verb == ACT_HOLD);
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

/* Its rows were read, and meanwhile it was pruned. */
static enum err reopen_refused(const struct core *core, uint64_t number, struct error *error)
{
	if (pruned_find(core, number)) {
		error_set(error, ERR_PRUNED, "run %llu was pruned", (unsigned long long)number);
		return error_next(error, "titan ls");
	}
	if (pruning_find(core, number))
		return error_set(error, ERR_BUSY, "the logs of run %llu are being removed: try again",
				 (unsigned long long)number);
	return ERR_NONE;
}

void reopen_step(struct core *core, const struct core_input *input)
{
	const struct input_reopen *reopen = &input->reopen;
	struct error error = { 0 };

	/* Somebody else may have brought it back first: then it is known better here than by its rows. */
	if (!run_find(core, reopen->act.run) && (reopen_refused(core, reopen->act.run, &error) != ERR_NONE ||
	    run_load_ended(core, reopen->rows, reopen->row_count, &error) != ERR_NONE)) {
		error_send(core, input->conn, input->request, &error, false);
		return;
	}
	act_answer(core, input, &reopen->act);
}
