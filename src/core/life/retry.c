/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which ends are retried, how often, and after how long a wait. Failures and time-outs in a round use its retries.
 * Crashes (attempts lost with their worker) have their own limit. Attempts that their worker interrupted count for
 * neither.
 */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/time/time.h"

uint64_t retry_failures(const struct job *job)
{
	return job->tries - (PLANTED(retry_counted_twice) ? 0 : job->crashes) - job->interrupted;
}

uint64_t crash_limit(const struct rec_job_spec *spec)
{
	return spec->crash_limit && !PLANTED(crash_limit_ignored) ? spec->crash_limit : LIMIT_CRASH_LIMIT;
}

uint64_t retry_cause(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_EXIT:
		return RETRY_ON_EXIT;
	case OUTCOME_SIGNAL:
		return RETRY_ON_SIGNAL;
	case OUTCOME_SPAWN:
	case OUTCOME_NO_DIR:
		return RETRY_ON_SPAWN;
	case OUTCOME_STAGE_FAILED:
		return PLANTED(files_failure_not_retried) ? 0 : RETRY_ON_SPAWN;
	default:
		return 0;
	}
}

bool retry_covers(const struct job *job, const struct rec_job_spec *spec, uint64_t cause)
{
	uint64_t on = spec->retry_on ? spec->retry_on : RETRY_ON_DEFAULT;

	if (!(on & cause))
		return false;
	/* A person who cancelled the sub-run itself doesn't want it to be retried. */
	if (cause == RETRY_ON_EXIT && job_is_subrun(job) && job->code == SUBRUN_CANCELLED &&
	    !PLANTED(subrun_again_after_its_cancel))
		return false;
	if (cause != RETRY_ON_EXIT || spec->retry_codes.n == 0 || PLANTED(codes_ignored))
		return true;
	for (size_t i = 0; i < spec->retry_codes.n; i++)
		if (spec->retry_codes.at[i] == job->code)
			return true;
	return false;
}

bool retry_due(const struct job *job, const struct rec_job_spec *spec, uint64_t cause)
{
	return retry_covers(job, spec, cause) && retry_failures(job) <= spec->retry_max;
}

/* --- backoff --- */

static uint64_t backoff_first(const struct rec_job_spec *spec)
{
	return spec->backoff_ms ? spec->backoff_ms : LIMIT_RETRY_BACKOFF_MS;
}

static uint64_t backoff_last(const struct rec_job_spec *spec)
{
	uint64_t last = spec->backoff_max_ms ? spec->backoff_max_ms : LIMIT_RETRY_BACKOFF_MAX_MS;

	return last > backoff_first(spec) ? last : backoff_first(spec);
}

int64_t backoff_longest_ms(const struct rec_job_spec *spec)
{
	uint64_t last = backoff_last(spec);

	return (int64_t)(spec->backoff_exact ? last : last + last / 4);
}

int64_t backoff_wait(struct core *core, uint64_t first, uint64_t last, bool exact, uint64_t failures)
{
	uint64_t wait = first;

	for (uint64_t i = 1; i < failures && wait < last; i++)
		wait *= 2;
	if (wait > last)
		wait = last;
	return (int64_t)(exact ? wait : wait + rand_below(&core->rand, wait / 4 + 1));
}

void job_delay(struct core *core, struct job *job, enum job_event event, const struct rec_job_spec *spec,
	       uint64_t failures)
{
	int64_t wait = backoff_wait(core, backoff_first(spec), backoff_last(spec), spec->backoff_exact, failures);

	attempt_keep(core, job, core->now.wall_ms);
	job_move(core, job, event, STATE_DELAYED);
	due_arm(core, job, TIMER_DUE, due_after(core, wait), spec->not_before_ms);
}
