/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settling an unknown job by a person's statement. If its worker returns first, the worker's evidence counts; if it
 * returns later, its report is stale like any other.
 */
#include "core/people/people.h"

#include "base/planted.h"
#include "core/life/life.h"
#include "core/people/internal.h"

static enum err settle_check(const struct core *core, const struct input_act *act, const struct target *target,
			     struct error *error)
{
	const struct job *job = target_job(target, 0);
	unsigned long long run = act->run;
	int len = (int)act->job.len;

	if (target->whole || target->count > 1)
		return error_set(error, ERR_INVALID, "name the job of run %llu that you want to settle", run);
	if (act->value > SETTLE_RETRY)
		return error_set(error, ERR_INVALID, "SETTLE: unknown settlement %llu", (unsigned long long)act->value);
	if (act->text.len == 0 || act->text.len > LIMIT_REASON_MAX)
		return error_set(error, act->text.len ? ERR_TOO_LARGE : ERR_INVALID,
				 "to settle an unknown job, give a reason of at most %d bytes", LIMIT_REASON_MAX);
	/* A sub-run that was stopped begins no job any more, so "retry" is refused there. */
	if (job->state == STATE_UNKNOWN)
		return act->value == SETTLE_RETRY ? subrun_reopens(core, target->run, error) : ERR_NONE;
	error_set(error, state_terminal(job->state) ? ERR_TERMINAL : ERR_PENDING,
		  "job %llu/%.*s isn't in state unknown, so it can't be settled: it is %s", run, len, (const char *)act->job.data,
		  state_table[job->state].name);
	return error_next(error, "titan explain %llu/%.*s", run, len, (const char *)act->job.data);
}

enum err settle(struct core *core, const struct input_act *act, const struct target *target, uint64_t *ret_changed,
		struct error *error)
{
	static const struct {
		enum verdict verdict;
		enum job_event event;
		enum job_state to;
	} words[] = {
		[SETTLE_DONE] = { VERDICT_DONE, EVENT_PERSON_DONE, STATE_SUCCEEDED },
		[SETTLE_FAILED] = { VERDICT_FAILED, EVENT_PERSON_FAILED, STATE_FAILED },
		[SETTLE_RETRY] = { VERDICT_RETRY, EVENT_PERSON_RETRY, STATE_READY },
	};
	struct job *job;

	if (settle_check(core, act, target, error) != ERR_NONE)
		return error->code;
	job = target_job(target, 0);
	/*
	 * An attempt is settled once. The epoch's counter is part of the row's key, so rows of different attempts
	 * don't replace each other.
	 */
	if (!PLANTED(settled_without_a_word))
		decision_put(core, act, job, words[act->value].verdict)->round |=
			PLANTED(second_word_replaces_the_first) ? 0 : (int64_t)(uint32_t)job->epoch << 16;
	if (act->value == SETTLE_RETRY)
		attempt_keep(core, job, core->now.wall_ms);
	job->cause = 0;
	job->stop_cause = (uint8_t)words[act->value].event;
	job_move(core, job, words[act->value].event, words[act->value].to);
	jobs_tell_children(core);
	*ret_changed = 1;
	return ERR_NONE;
}
