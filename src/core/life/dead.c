/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that end badly: whose failure is forgiven (`continue_on`), and dead letters. A dead letter is a row of its own.
 * It is written in the turn in which a job fails or times out for good, unless that is forgiven. It is deleted when the
 * job begins a new round or a person discards it. The job's row says whether it has a dead letter. The dead letter
 * contains everything about the job, because its run may have left memory.
 */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/place/place.h"
#include "core/view/view.h"
#include "proto/dead.h"

static uint64_t continue_bit(enum job_state state)
{
	switch (state) {
	case STATE_FAILED:
		return CONTINUE_FAILED;
	case STATE_TIMED_OUT:
		return CONTINUE_TIMED_OUT;
	case STATE_DENIED:
		return CONTINUE_DENIED;
	default:
		return 0;
	}
}

static bool state_is_dead(enum job_state state)
{
	return state == STATE_FAILED || state == STATE_TIMED_OUT;
}

/*
 * Decode into a separate arena: the function that moves the job may still be reading the specification in
 * core->scratch.
 */
static void spec_decode(struct core *core, const struct job *job, struct rec_job_spec *ret_spec)
{
	struct slice bytes = job_spec_bytes(job);

	arena_reset(&core->end_scratch);
	CHECK(record_decode(REC_job_spec, &bytes, &core->end_scratch, ret_spec, NULL) == ERR_NONE);
}

static enum dead_reason failed_reason(const struct job *job, const struct rec_job_spec *spec)
{
	uint64_t cause = retry_cause((enum outcome)job->outcome);

	if (cause == RETRY_ON_SPAWN)
		return DEAD_SPAWN_FAILED;
	if (spec->retry_max == 0)
		return DEAD_FAILED;
	return retry_covers(job, spec, cause) ? DEAD_MAX_RETRIES_EXCEEDED : DEAD_NOT_RETRIED;
}

static enum dead_reason reason_of(const struct job *job, enum job_event event, const struct rec_job_spec *spec)
{
	if (job->state == STATE_TIMED_OUT) {
		if (event == EVENT_DISPATCH_TIMEOUT)
			return DEAD_DISPATCH_TIMEOUT;
		return event == EVENT_DEADLINE || job->stop_cause == EVENT_DEADLINE ? DEAD_DEADLINE : DEAD_TIMED_OUT;
	}
	switch (event) {
	case EVENT_LOST:
		return DEAD_CRASH_LIMIT;
	case EVENT_PERSON_FAILED:
		return DEAD_PERSON_FAILED;
	case EVENT_DISCARDED:
		return DEAD_RESULT_DISCARDED;
	case EVENT_ENOUGH:
		return outcome_is_no_start(job->outcome) ? DEAD_SPAWN_FAILED : DEAD_LOOP_MAX;
	default:
		return failed_reason(job, spec);
	}
}

/* Return the specification with the run's context merged in: a dead letter outlives its run. */
static struct slice dead_letter_spec(const struct job *job, struct rec_job_spec spec, struct arena *arena)
{
	struct buf bytes = { 0 };
	struct slice copy;

	if (!job_context(job))
		return arena_copy(arena, job_spec_bytes(job));
	context_complete(blob_slice(job_context(job)), (enum job_kind)job->kind, arena, &spec);
	record_encode(&bytes, REC_job_spec, &spec);
	copy = arena_copy(arena, buf_slice(&bytes));
	buf_free(&bytes);
	return copy;
}

static void dead_letter_put(struct core *core, struct job *job, enum job_event event, int64_t died_ms, const struct rec_job_spec *spec)
{
	const struct worker *worker = job->worker ? worker_find(core, job->worker) : NULL;
	struct row *row = outbox_row(core->outbox, TABLE_dead);
	struct arena *arena = &core->outbox->arena;

	row->dead = (struct row_dead){
		.job = (int64_t)job_serial(job), .run = (int64_t)job->run->number,
		.run_name = arena_copy(arena, slice_str(job->run->name)),
		.owner = arena_copy(arena, slice_str(job->run->owner)), .name = arena_copy(arena, spec->name),
		.place = job->index, .reason = reason_of(job, event, spec), .died_ms = died_ms,
		.state = job->state, .round = job->round, .tries = job->tries, .crashes = job->crashes,
		.outcome = job->outcome, .code = job->code, .epoch = (int64_t)job->epoch,
		.worker = arena_copy(arena, slice_str(worker ? worker->name : NULL)), .priority = job->priority,
		.spec = dead_letter_spec(job, *spec, arena),
	};
	job->flags |= JOB_DEAD;
	job->run->dead++;
}

bool view_forgiven(const struct rec_job_spec *spec, enum job_state state)
{
	return (spec->continue_on & continue_bit(state)) != 0;
}

static void job_forgive(struct job *job, const struct rec_job_spec *spec)
{
	if (!view_forgiven(spec, job->state))
		return;
	job->flags |= JOB_FORGIVEN;
	job->run->forgiven++;
}

void bad_end_enter(struct core *core, struct job *job, enum job_event event)
{
	struct rec_job_spec spec;

	if (continue_bit(job->state) == 0)
		return;
	spec_decode(core, job, &spec);
	job_forgive(job, &spec);
	if (state_is_dead(job->state) && !(job->flags & JOB_FORGIVEN))
		dead_letter_put(core, job, event, core->now.wall_ms, &spec);
}

static void dead_letter_delete(struct core *core, struct job *job)
{
	struct row *row = outbox_row(core->outbox, TABLE_dead);

	row->deleted = true;
	row->dead.job = PLANTED(letter_outlives_its_round) ? 0 : (int64_t)job_serial(job);
	job->flags &= (uint32_t)~JOB_DEAD;
	job->run->dead--;
}

void bad_end_leave(struct core *core, struct job *job)
{
	if (job->flags & JOB_FORGIVEN) {
		job->flags &= (uint32_t)~JOB_FORGIVEN;
		job->run->forgiven--;
	}
	if (job->flags & JOB_DEAD)
		dead_letter_delete(core, job);
}

bool bad_end_load(struct core *core, struct run *run)
{
	for (struct job *job = run_job(run, 0); job; job = job_next(job)) {
		struct rec_job_spec spec;

		if (job->flags & JOB_DEAD && !state_is_dead(job->state))
			return false;
		run->dead += (job->flags & JOB_DEAD) != 0;
		if (continue_bit(job->state) == 0)
			continue;
		spec_decode(core, job, &spec);
		if (!PLANTED(forgiveness_lost_at_load))
			job_forgive(job, &spec);
	}
	return true;
}

bool bad_end_fits(const struct job *job, bool forgives)
{
	bool forgiven = forgives && continue_bit(job->state) != 0;

	return !(job->flags & JOB_FORGIVEN) == !forgiven && (!(job->flags & JOB_DEAD) || state_is_dead(job->state));
}

uint64_t dead_discard(struct core *core, const struct target *target)
{
	struct run *run = target->run;
	uint64_t changed = 0;

	for (uint32_t i = 0; i < target->count && run->dead > 0; i++) {
		struct job *job = target_job(target, i);

		if (!(job->flags & JOB_DEAD))
			continue;
		dead_letter_delete(core, job);
		job_touch(core, job, !PLANTED(discard_forgotten_in_the_row));
		changed++;
	}
	if (changed == 0)
		return 0;
	run_touch(core, run, run->ended_ms != 0);
	if (run->ended_ms != 0)
		run_stay(core, run);
	return changed;
}

/* ---- dead letters that are put back ---- */

/* Return the event that ended the job, as far as the job still tells it. */
static enum job_event end_event(const struct job *job, const struct rec_job_spec *spec)
{
	if (job->stop_cause != 0)
		return (enum job_event)job->stop_cause;
	if (job->state == STATE_TIMED_OUT && job->tries == 0 && spec->dispatch_timeout_ms > 0)
		return EVENT_DISPATCH_TIMEOUT;
	return job->outcome == OUTCOME_LOST ? EVENT_LOST : EVENT_EXITED_FAIL;
}

static bool was_discarded(const struct job *job)
{
	return state_is_dead(job->state) && !(job->flags & (JOB_DEAD | JOB_FORGIVEN));
}

enum err dead_reinstate(struct core *core, const struct input_act *act, const struct target *target, uint64_t *ret_changed, struct error *error)
{
	struct run *run = target->run;
	uint64_t count = 0;

	for (uint32_t i = 0; i < target->count; i++)
		count += was_discarded(target_job(target, i));
	/* After other discards, or if jobs ran again, the count differs. Then nobody knows which letters are meant. */
	if (count != act->value)
		return error_set(error, ERR_CHANGED, "%llu of these jobs failed and have no dead letter, not %llu", (unsigned long long)count,
				 (unsigned long long)act->value);
	for (uint32_t i = 0; i < target->count; i++) {
		struct job *job = target_job(target, i);
		struct rec_job_spec spec;

		if (!was_discarded(job))
			continue;
		spec_decode(core, job, &spec);
		dead_letter_put(core, job, end_event(job, &spec), job->when_ms, &spec);
		job_touch(core, job, true);
	}
	*ret_changed = count;
	if (count == 0)
		return ERR_NONE;
	run_touch(core, run, run->ended_ms != 0);
	if (run->ended_ms != 0)
		run_stay(core, run);
	return ERR_NONE;
}
