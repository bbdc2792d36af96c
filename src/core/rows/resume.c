/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * State that follows from all rows of a run: what its jobs wait for, whether their states agree with that, and their
 * timers. A run that had left memory is loaded the same way.
 */
#include "core/rows/durable.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/people/people.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/rows/internal.h"
#include "core/time/time.h"

/*
 * Return the due time from the row, but at most the longest wait from now: after a reboot the wall clock may differ.
 */
static int64_t due_clamp(struct core *core, struct job *job, int64_t longest_ms)
{
	int64_t latest_ms = due_after(core, longest_ms);

	if (job->when_ms <= latest_ms)
		return job->when_ms;
	job_touch(core, job, true);
	return latest_ms;
}

/* Stores of earlier versions lack the due time of a run time-out. */
static int64_t timeout_due(struct core *core, struct job *job, const struct rec_job_spec *spec)
{
	if (job->when_ms == 0) {
		job->when_ms = job->started_ms - core->steady.skew_ms + (int64_t)spec->timeout_ms;
		job_touch(core, job, true);
	}
	return due_clamp(core, job, (int64_t)spec->timeout_ms);
}

static int64_t delay_longest_ms(const struct rec_job_spec *spec)
{
	int64_t longest = spec->kind == KIND_SERVICE ? service_longest_ms(spec) : backoff_longest_ms(spec);

	if ((int64_t)spec->delay_ms > longest)
		longest = (int64_t)spec->delay_ms;
	return (int64_t)spec->loop_delay_ms > longest ? (int64_t)spec->loop_delay_ms : longest;
}

static void job_resume_timers(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	if (job->flags & JOB_DUE_BY && !(job->flags & JOB_LATE) && !state_terminal(job->state) &&
	    job->state != STATE_UNKNOWN && !PLANTED(deadline_forgotten_at_load))
		deadline_arm(core, job);
	ending_resume(core, job);
	if (job->state != STATE_DELAYED && !(job->state == STATE_APPROVAL && job->when_ms > 0) &&
	    !(job->state == STATE_READY && job->when_ms > 0) &&
	    !(job->state == STATE_RUNNING && (job->flags & JOB_TIMEOUT || (job_is_service(job) && job->crashes > 0))))
		return;
	job_spec_decode(core, job, &spec);
	if (job->state == STATE_DELAYED)
		due_arm(core, job, TIMER_DUE, PLANTED(backoff_lost_at_load) && spec.delay_ms == 0 ? 1 :
			due_clamp(core, job, delay_longest_ms(&spec)), spec.not_before_ms);
	else if (job->state == STATE_APPROVAL)
		gate_timer_arm(core, job, due_clamp(core, job, (int64_t)spec.gate_timeout_ms));
	else if (job->state == STATE_READY)
		due_arm(core, job, TIMER_DISPATCH, PLANTED(queue_time_starts_anew) ?
			due_after(core, (int64_t)spec.dispatch_timeout_ms) :
			due_clamp(core, job, (int64_t)spec.dispatch_timeout_ms), 0);
	else if (job_is_service(job))
		due_arm(core, job, TIMER_STABLE, due_clamp(core, job, service_stable_ms(&spec)), 0);
	else
		due_arm(core, job, TIMER_TIMEOUT,
			timeout_due(core, job, &spec) + (PLANTED(timeout_lost_at_load) ? INT64_C(3600000) : 0), 0);
}

static void job_resume(struct core *core, struct job *job)
{
	if (job->state == STATE_READY)
		ready_push(core, job);
	if (state_holds(job->state))
		attempt_attach(core, worker_find(core, job->worker), job);
	if (state_claims(job->state))
		claims_count(core, job, 1);
	job_resume_timers(core, job);
}

static enum err bad_ends(struct core *core, struct run *run, struct error *error)
{
	if (bad_end_load(core, run))
		return ERR_NONE;
	return TRUST(error, "run %llu: a job has a dead letter but didn't fail", (unsigned long long)run->number);
}

enum err run_resume(struct core *core, struct run *run, struct error *error)
{
	enum err err = bad_ends(core, run, error);
	struct standing *standing = run_standing(run);

	run_resume_clock(core, run);
	for (uint32_t i = 0; i < run->job_count && err == ERR_NONE; i++) {
		struct job *job = run_job(run, i);

		job->flags &= (uint32_t)~JOB_ROW;
		if (!standing_fits(job, standing[i])) {
			err = TRUST(error, "job %llu of run %llu is %s, which doesn't fit the ends of the jobs that it needs",
				    (unsigned long long)job_serial(job), (unsigned long long)run->number,
				    state_table[job->state].name);
			break;
		}
		if (job->state == STATE_WAITING) {
			bool go = standing_outlook(standing[i]) == OUTLOOK_GO;

			job->pending = go ? 0 : standing[i].open;
			if (job->flags & JOB_EXPR && !PLANTED(condition_forgotten_at_load))
				job_ask_again(job);
			if (go && job->flags & JOB_STAGED) {
				err = TRUST(error, "job %llu of run %llu waits, although all jobs that it needs have ended",
					    (unsigned long long)job_serial(job), (unsigned long long)run->number);
				break;
			}
			if (go) {
				job->state = STATE_READY;
				run->counts[STATE_WAITING]--;
				run->counts[STATE_READY]++;
			}
		}
		if (run->concurrency && !run->seated && state_holds(job->state)) {
			err = TRUST(error, "job %llu of run %llu has an attempt, but the run has no place in its "
				"concurrency group",
				    (unsigned long long)job_serial(job), (unsigned long long)run->number);
			break;
		}
		run->ended += state_terminal(job->state);
		run->work_open -= state_terminal(job->state) && job_is_work(job);
		job_resume(core, job);
	}
	for (size_t state = 0; state < STATE_COUNT; state++)
		core->counts[state] += run->counts[state];
	mem_free(standing);
	run_states(core, run, true);
	if (err == ERR_NONE && run->ended == run->job_count)
		err = TRUST(error, "run %llu is stored as live, although all its jobs have ended",
			    (unsigned long long)run->number);
	return err;
}

/* --- a run that had left memory --- */

static enum err ended_rows_load(struct core *core, struct run *run, const struct row *rows, size_t count,
				struct error *error)
{
	struct standing *standing;
	enum err err = ERR_NONE;
	size_t at = 1;

	for (; at < count && rows[at].table == TABLE_spec && err == ERR_NONE; at++)
		err = load_spec(core, &rows[at].spec, error);
	if (err == ERR_NONE)
		err = run_build(core, run, error);
	if (err != ERR_NONE)
		return err;
	for (; at < count && rows[at].table == TABLE_job && err == ERR_NONE; at++)
		err = load_job(core, &rows[at].job, error);
	if (err == ERR_NONE)
		err = bad_ends(core, run, error);
	standing = run_standing(run);
	for (uint32_t i = 0; i < run->job_count; i++) {
		struct job *job = run_job(run, i);

		if (err == ERR_NONE && (!state_terminal(job->state) || !standing_fits(job, standing[i])))
			err = TRUST(error, "job %llu of run %llu is %s, although the run has ended",
				    (unsigned long long)job_serial(job), (unsigned long long)run->number,
				    state_table[job->state].name);
		job->flags &= (uint32_t)~JOB_ROW;
	}
	mem_free(standing);
	return err;
}

enum err run_load_ended(struct core *core, const struct row *rows, size_t count, struct error *error)
{
	struct run *run;
	enum err err;

	CHECK(count > 0 && rows[0].table == TABLE_run && !run_find(core, (uint64_t)rows[0].run.run));
	if (rows[0].run.ended_ms == 0)
		return TRUST(error, "run %lld is live, but was not loaded", (long long)rows[0].run.run);
	if (core->live_jobs + (uint64_t)rows[0].run.jobs > LIMIT_LIVE_JOBS_MAX)
		return error_set(error, ERR_FULL, "the store has %llu live jobs, and a master may have at most %d; try again when jobs have ended",
				 (unsigned long long)core->live_jobs, LIMIT_LIVE_JOBS_MAX);
	core->revived_turn = core->turn;
	/* Drop stale entries first: entries that the run's jobs left in queues would become valid again. */
	ready_compact(core);
	err = load_run_row(core, &rows[0].run, error);
	if (err != ERR_NONE)
		return err;
	run = run_find(core, (uint64_t)rows[0].run.run);
	err = ended_rows_load(core, run, rows, count, error);
	if (err != ERR_NONE) {
		core->live_runs--;
		memset(run->counts, 0, sizeof(run->counts));
		run_release(core, run);
		run_remove(core, run);
		run_free(run);
		return err;
	}
	for (size_t state = 0; state < STATE_COUNT; state++)
		core->counts[state] += run->counts[state];
	run->ended = run->job_count;
	run->work_open = 0;
	run->ended_ms = rows[0].run.ended_ms;
	run_wait_sweep(core, run);
	return ERR_NONE;
}
