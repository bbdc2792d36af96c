/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Acts of people on existing jobs. The answer to each act says how many jobs it changed; the same act again changes
 * none. Hold and release undo each other, and so do two priorities.
 */
#include "core/life/life.h"

#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/people/people.h"
#include "core/rows/durable.h"

/* --- priority --- */

/* Check that each job of the target has a valid value. Jobs may have been added since the sender of the act looked. */
static enum err each_fits(const struct input_act *act, const struct target *target, uint64_t most, struct error *error)
{
	if (act->each.n != target->count)
		return error_set(error, ERR_CHANGED, "there are %u jobs now, and values for %zu", target->count, act->each.n);
	for (size_t i = 0; i < act->each.n; i++)
		if (act->each.at[i] > most)
			return error_set(error, ERR_INVALID, "the value for each job must be from 0 to %llu, not %llu", (unsigned long long)most,
					 (unsigned long long)act->each.at[i]);
	return ERR_NONE;
}

static enum err act_priority(struct core *core, const struct input_act *act, const struct target *target,
			     uint64_t *ret_changed, struct error *error)
{
	if (act->value > PRIORITY_MAX)
		return error_set(error, ERR_INVALID, "the priority must be from 0 to %d, not %llu", PRIORITY_MAX,
				 (unsigned long long)act->value);
	if (act->each.n > 0 && each_fits(act, target, PRIORITY_MAX, error) != ERR_NONE)
		return error->code;
	for (uint32_t i = 0; i < target->count; i++)
		*ret_changed += job_prioritize(core, target_job(target, i), (uint8_t)(act->each.n > 0 ? act->each.at[i] : act->value));
	return ERR_NONE;
}

/* --- hold and release --- */

static enum err act_hold(struct core *core, const struct input_act *act, const struct target *target, uint64_t *ret_changed, struct error *error)
{
	bool hold = act->verb == ACT_HOLD;

	if (act->each.n > 0 && each_fits(act, target, 1, error) != ERR_NONE)
		return error->code;
	if (target->whole && act->each.n == 0) {
		*ret_changed = run_hold(core, target->run, hold);
		return ERR_NONE;
	}
	for (uint32_t i = 0; i < target->count; i++)
		*ret_changed += job_hold(core, target_job(target, i), act->each.n > 0 ? act->each.at[i] != 0 : hold);
	return ERR_NONE;
}

/*
 * Is the act about the target's present round? A discard of one job may have the job's round + 1 as value, so that it doesn't
 * discard the dead letter of a later round. Value 0: any round.
 */
static bool act_is_of_round(const struct input_act *act, const struct target *target)
{
	return act->value == 0 || (target->count == 1 && target_job(target, 0)->round + UINT64_C(1) == act->value);
}

static enum err act_apply(struct core *core, const struct input_act *act, uint64_t *ret_changed,
			   struct error *error)
{
	struct target target;

	if (own_run_check(core, act->run, act->own_only, error) != ERR_NONE ||
	    act_target(core, act->run, act->job, &target, error) != ERR_NONE)
		return error->code;
	switch (act->verb) {
	case ACT_DISCARD:
		*ret_changed = act_is_of_round(act, &target) ? dead_discard(core, &target) : 0;
		return ERR_NONE;
	case ACT_REINSTATE:
		return dead_reinstate(core, act, &target, ret_changed, error);
	case ACT_RETRY:
	case ACT_REQUEUE:
		return round_open(core, act, &target, ret_changed, error);
	case ACT_APPROVE:
	case ACT_REJECT:
	case ACT_PUSHBACK:
		return gate_answer(core, act, &target, ret_changed, error);
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
		return act_hold(core, act, &target, ret_changed, error);
	default:
		return error_set(error, ERR_INVALID, "unknown act number %d", (int)act->verb);
	}
}

static uint64_t act_answer(struct core *core, const struct core_input *input, const struct input_act *act)
{
	struct error error = { 0 };
	uint64_t changed = 0;

	if (act_apply(core, act, &changed, &error) != ERR_NONE) {
		error_send(core, input->conn, input->request, &error, false);
		return STEP_REFUSED;
	}
	if (input->conn != 0)
		outbox_frame(core->outbox, input->conn, OP_OK)->ok = (struct msg_ok){
			.id = input->request, .count = changed,
		};
	return changed;
}

uint64_t act_step(struct core *core, const struct core_input *input)
{
	return act_answer(core, input, &input->act);
}

/* Refuse a reopen if the run was pruned after its rows were read. */
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

bool reopen_load(struct core *core, const struct core_input *input)
{
	const struct input_reopen *reopen = &input->reopen;
	struct error error = { 0 };

	/*
	 * Somebody else may have reopened the run first. Then the run is in memory, and newer than the rows of this
	 * request.
	 */
	if (run_find(core, reopen->act.run) || (reopen_refused(core, reopen->act.run, &error) == ERR_NONE &&
	    run_load_ended(core, reopen->rows, reopen->row_count, &error) == ERR_NONE))
		return true;
	error_send(core, input->conn, input->request, &error, false);
	return false;
}

uint64_t reopen_step(struct core *core, const struct core_input *input)
{
	return act_answer(core, input, &input->reopen.act);
}
