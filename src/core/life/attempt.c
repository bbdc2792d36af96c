/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attempts: assign, start, end, lose, stop. A worker's report about an attempt counts only if its epoch is the job's
 * latest, the job still has that attempt, and the report comes from the worker that has it. Any other report is
 * acknowledged and changes nothing.
 */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/rows/durable.h"
#include "core/time/time.h"

/* --- the attempts that a worker has --- */

void attempt_attach(struct core *core, struct worker *worker, struct job *job)
{
	if (job_is_subrun(job)) {
		subrun_attach(core, job);
		return;
	}
	GROW(worker->held, worker->held_count, worker->held_cap);
	job->held_at = (uint32_t)worker->held_count;
	worker->held[worker->held_count++] = (struct held_entry){ .job = job, .stamp = core->assign_stamp++ };
	charge_attach(core, worker, job);
	bounds_count(core, job, 1);
	worker_touch(core, worker);
}

void attempt_detach(struct core *core, struct job *job)
{
	struct worker *worker;

	if (job_is_subrun(job)) {
		subrun_detach(core, job);
		return;
	}
	worker = worker_find(core, job->worker);
	CHECK(worker && job->held_at < worker->held_count && worker->held[job->held_at].job == job);
	worker->held[job->held_at] = worker->held[--worker->held_count];
	worker->held[job->held_at].job->held_at = job->held_at;
	job->held_at = 0;
	charge_detach(core, worker, job);
	worker_touch(core, worker);
	bounds_count(core, job, -1);
}

void attempt_renew(struct core *core, struct job *job)
{
	CHECK((uint32_t)job->epoch < UINT32_MAX);
	job->epoch = core->generation << 32 |
		     ((uint32_t)job->epoch + !(PLANTED(epoch_does_not_grow) && job->epoch > 0));
	if (job->tries < UINT16_MAX)
		job->tries++;
	job->outcome = OUTCOME_NONE;
	job_outputs_set(job, slice_make(NULL, 0));
	if (PLANTED(ending_time_is_moved) && job_ending_ms(job) > ENDING_WAITS)
		job_ending_set(job, due_after(core, core->ending_ms));
	job->stop_cause = PLANTED(stopped_as_the_last_try) ? job->stop_cause : 0;
	job->code = 0;
	job->started_ms = PLANTED(start_time_of_the_last_try) ? job->started_ms : 0;
	job->cpu_us = 0;
	job->rss_kib = 0;
	job->out_bytes = 0;
}

void attempt_assign(struct core *core, struct worker *worker, struct job *job)
{
	struct outgoing *frame;
	uint64_t context;

	attempt_renew(core, job);
	job->worker = (uint32_t)worker->number;
	tenant_charge(core, job->run->tenant);
	job_move(core, job, EVENT_CHOSEN, STATE_ASSIGNED);
	attempt_attach(core, worker, job);
	context = context_tell(core->outbox, worker, run_extent(job->run, job->index)->first, job_context(job));
	frame = outbox_frame(core->outbox, worker->conn, OP_ASSIGN);
	frame->assign = (struct rec_assign){
		.job = job_serial(job), .epoch = job->epoch, .run = job->run->number, .index = job->index,
		.try_no = job->tries,
		.spec = attempt_spec(core, job, context == 0, worker->protocol == PROTOCOL_BEFORE),
		.context = context, .inputs = artifacts_inputs(core, job, &core->outbox->arena),
	};
}

/* --- ends of attempts --- */

/* End an attempt that had been asked to stop. A timed-out job may be retried; a cancelled one never is. */
static void attempt_stopped(struct core *core, struct job *job, enum job_event event)
{
	struct rec_job_spec spec;

	if (job->stop_cause == EVENT_OVER) {
		service_stopped(core, job, event);
		return;
	}
	if (job->stop_cause == EVENT_RUN_TIMEOUT) {
		job_spec_decode(core, job, &spec);
		if (!loop_holds(job, &spec, STATE_TIMED_OUT) &&
		    (PLANTED(time_outs_cost_no_retry) ? retry_covers(job, &spec, RETRY_ON_TIMEOUT) :
						       retry_due(job, &spec, RETRY_ON_TIMEOUT))) {
			job_delay(core, job, event, &spec, retry_failures(job));
			return;
		}
	}
	if (job->stop_cause == EVENT_RUN_TIMEOUT)
		attempt_over(core, job, event, STATE_TIMED_OUT);
	else
		job_move(core, job, event, job->stop_cause == EVENT_CANCEL ? STATE_CANCELLED : STATE_TIMED_OUT);
}

void attempt_lost(struct core *core, struct job *job, enum outcome outcome, bool never_started)
{
	struct rec_job_spec spec;

	job->outcome = (uint8_t)outcome;
	if (job->state == STATE_STOPPING) {
		attempt_stopped(core, job, EVENT_LOST);
	} else if (job->mode == EXEC_ONCE &&
		   !((never_started || PLANTED(once_runs_again)) && job->state == STATE_ASSIGNED)) {
		job_move(core, job, EVENT_LOST, STATE_UNKNOWN);
	} else if (job->state == STATE_ASSIGNED) {
		job->tries--;            /* as far as is known the attempt never started, so no try is used */
		job_move(core, job, EVENT_LOST, STATE_READY);
	} else if (job_is_service(job)) {
		service_lost(core, job);
	} else if (outcome == OUTCOME_STOPPED && !PLANTED(interrupted_is_a_crash)) {
		/*
		 * The worker stopped the attempt because its lease ran out or because it shut down. That is not the
		 * job's fault, so no retry is used; the start is counted as interrupted.
		 */
		if (job->interrupted == LIMIT_INTERRUPTED_MAX || job->tries == UINT16_MAX)
			job->tries--;
		else if (!PLANTED(interrupted_uses_a_retry))
			job->interrupted++;
		job_spec_decode(core, job, &spec);
		job_delay(core, job, EVENT_LOST, &spec, PLANTED(interrupted_waits_by_tries) ? job->tries : 1);
	} else {
		job_spec_decode(core, job, &spec);
		if (++job->crashes >= crash_limit(&spec))
			job_move(core, job, EVENT_LOST, STATE_FAILED);
		else
			job_delay(core, job, EVENT_LOST, &spec,
				  PLANTED(crash_backoff_by_tries) ? job->tries : job->crashes);
	}
}

static void attempt_failed(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	if (job_is_service(job)) {
		service_ended(core, job);
		return;
	}
	job_spec_decode(core, job, &spec);
	if ((!loop_holds(job, &spec, STATE_FAILED) || PLANTED(loop_retried_when_done)) &&
	    retry_due(job, &spec, retry_cause((enum outcome)job->outcome)))
		job_delay(core, job, EVENT_EXITED_FAIL, &spec, retry_failures(job));
	else
		attempt_over(core, job, EVENT_EXITED_FAIL, STATE_FAILED);
}

/* Handle an attempt that its worker ended, or whose end nobody saw, as lost. started: its process may have run. */
static void attempt_crashed(struct core *core, struct job *job, enum outcome outcome, bool started)
{
	if (job->state == STATE_ASSIGNED && started)
		job_move(core, job, EVENT_STARTED, STATE_RUNNING);
	attempt_lost(core, job, outcome, !started);
}

static uint32_t clamp_u32(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* A time that is out of range for rows counts as missing. */
static int64_t sane_ms(int64_t wall_ms)
{
	return number_sane(wall_ms, 0) ? wall_ms : 0;
}

static void attempt_facts(struct job *job, const struct rec_done *done)
{
	bool known = done->outcome < OUTCOME_COUNT && done->outcome != OUTCOME_NONE &&
		     done->outcome != OUTCOME_LOST;

	job->outcome = (uint8_t)(known ? done->outcome : OUTCOME_EXIT_UNKNOWN);
	job->code = clamp_u32(done->code);
	job->started_ms = sane_ms(done->started_ms);
	job->cpu_us = done->cpu_us > INT64_MAX ? INT64_MAX : done->cpu_us;
	job->rss_kib = clamp_u32(done->rss_kib);
	job->out_bytes = done->out_bytes > INT64_MAX ? INT64_MAX : done->out_bytes;
}

/*
 * The worker couldn't put the job's files in place. If its disk is full, the worker is at fault: the job goes back to the queue
 * and this worker gets no jobs for a while. Otherwise the job has failed.
 */
static void attempt_unstaged(struct core *core, struct job *job, const struct rec_done *done)
{
	if (!stage_lacks(done->outcome, done->code) || PLANTED(files_full_fails_the_job)) {
		attempt_failed(core, job);
		return;
	}
	job->tries--;
	job_move(core, job, EVENT_REFUSED, STATE_READY);
}

static void attempt_ended(struct core *core, struct job *job, const struct rec_done *done)
{
	bool started = job->state == STATE_RUNNING || done->started_ms > 0;

	if (job->state == STATE_STOPPING) {
		attempt_stopped(core, job, EVENT_GONE);
		return;
	}
	switch (done->outcome) {
	case OUTCOME_EXIT:
		if (done->code == 0 && !job_is_service(job))
			attempt_over(core, job, EVENT_EXITED_OK, STATE_SUCCEEDED);
		else
			attempt_failed(core, job);
		break;
	case OUTCOME_SIGNAL:
	case OUTCOME_SPAWN:
	case OUTCOME_NO_DIR:
	case OUTCOME_BAD_OUTPUT:
	case OUTCOME_BAD_ARTIFACTS:
		attempt_failed(core, job);
		break;
	case OUTCOME_STAGE_FAILED:
		if (job->state == STATE_ASSIGNED && !started)
			attempt_unstaged(core, job, done);
		else
			attempt_crashed(core, job, OUTCOME_EXIT_UNKNOWN, true);
		break;
	case OUTCOME_RECALLED:
		if (job->state == STATE_ASSIGNED) {
			job->tries--;
			job_move(core, job, EVENT_RECALLED, STATE_READY);
			break;
		}
		attempt_crashed(core, job, OUTCOME_EXIT_UNKNOWN, true);
		break;
	case OUTCOME_REFUSED:
	case OUTCOME_ELSEWHERE:
		if (job->state == STATE_ASSIGNED && !started) {
			job->tries--;
			job_move(core, job, EVENT_REFUSED, STATE_READY);
			break;
		}
		attempt_crashed(core, job, OUTCOME_EXIT_UNKNOWN, true);
		break;
	case OUTCOME_STOPPED:
		attempt_crashed(core, job, OUTCOME_STOPPED, started);
		break;
	default:                         /* OUTCOME_EXIT_UNKNOWN, and outcomes that this version doesn't know */
		attempt_crashed(core, job, OUTCOME_EXIT_UNKNOWN, true);
		break;
	}
}

void attempt_finish(struct core *core, struct job *job, const struct rec_done *done)
{
	attempt_facts(job, done);
	attempt_ended(core, job, done);
}

/*
 * A worker reports the end of an attempt whose job is in state unknown. The report ends the job if it is evidence
 * of how the job ended; otherwise the job stays unknown.
 */
static void attempt_returned(struct core *core, struct job *job, const struct rec_done *done)
{
	enum job_state to = STATE_FAILED;
	bool cancels;

	if ((done->outcome == OUTCOME_RECALLED || done->outcome == OUTCOME_STOPPED || done->outcome == OUTCOME_REFUSED ||
	     done->outcome == OUTCOME_ELSEWHERE || stage_lacks(done->outcome, done->code)) &&
	    done->started_ms == 0) {
		job->tries--;
		to = STATE_READY;
	} else if (done->outcome == OUTCOME_EXIT && done->code == 0) {
		to = STATE_SUCCEEDED;
	} else if (done->outcome != OUTCOME_EXIT && done->outcome != OUTCOME_SIGNAL && !outcome_is_no_start(done->outcome) &&
		   done->outcome != OUTCOME_BAD_OUTPUT && done->outcome != OUTCOME_BAD_ARTIFACTS) {
		return;
	}
	attempt_facts(job, done);
	cancels = attempt_cancels_when_returned(job);
	job->stop_cause = 0;
	job_move(core, job, EVENT_RETURNED, to);
	if (cancels && to == STATE_READY)
		job_cancel(core, job, true);
	else
		job->cause = 0;          /* the job ended by itself, not because another job failed */
}

/* --- reports of workers --- */

void attempt_run(struct core *core, struct job *job, enum job_event event, int64_t started_ms)
{
	struct rec_job_spec spec;

	job->started_ms = sane_ms(started_ms);
	job_move(core, job, event, STATE_RUNNING);
	if (job->flags & JOB_UNRESERVED)
		charge_started(core, job);
	if (job_is_service(job)) {
		service_began(core, job);
	} else if (job->flags & JOB_TIMEOUT) {
		job_spec_decode(core, job, &spec);
		due_arm(core, job, TIMER_TIMEOUT, due_after(core, (int64_t)spec.timeout_ms), 0);
	}
}

bool attempt_unknown(const struct worker *worker, const struct job *job, uint64_t epoch)
{
	return job && job->epoch == epoch && job->worker == worker->number && job->state == STATE_UNKNOWN;
}

bool attempt_current(const struct worker *worker, const struct job *job, uint64_t epoch)
{
	return job && (job->epoch == epoch || PLANTED(no_epoch_check)) && job->worker == worker->number &&
	       state_holds(job->state);
}

static void worker_measure(struct worker *worker, const struct rec_done *done)
{
	uint64_t run_us = done->run_ns / 1000;

	if (done->outcome != OUTCOME_EXIT && done->outcome != OUTCOME_SIGNAL && done->outcome != OUTCOME_BAD_OUTPUT &&
	    done->outcome != OUTCOME_BAD_ARTIFACTS)
		return;
	if (worker->results < EWMA_RESULTS) {
		worker->run_us = (worker->run_us * worker->results + run_us) / (worker->results + 1);
		worker->results++;
		return;
	}
	worker->run_us = (worker->run_us * 7 + run_us) / 8;
}

void attempts_started(struct core *core, struct worker *worker, const struct rec_started *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct job *job = job_find(core, at[i].job);

		if (attempt_current(worker, job, at[i].epoch) && job->state == STATE_ASSIGNED) {
			worker_has_started(core, worker);
			attempt_run(core, job, EVENT_STARTED, at[i].wall_ms);
		}
	}
}

void attempts_done(struct core *core, struct worker *worker, const struct core_input *input)
{
	for (size_t i = 0; i < input->done.n; i++) {
		struct rec_done done = input->done.at[i];
		struct job *job = job_find(core, done.job);
		struct outgoing *frame = outbox_frame(core->outbox, worker->conn, OP_ACK);
		struct slice outputs;

		frame->ack = (struct rec_attempt){ .job = done.job, .epoch = done.epoch };
		outputs = outputs_judge(core, job, input, &done);
		if (attempt_unknown(worker, job, done.epoch) || attempt_current(worker, job, done.epoch))
			artifacts_judge(core, job, &done);
		if (attempt_unknown(worker, job, done.epoch)) {
			outputs_offer(job, outputs);
			attempt_returned(core, job, &done);
			outputs_keep(job, outputs);
		} else if (attempt_current(worker, job, done.epoch)) {
			worker->done++;
			worker_measure(worker, &done);
			if (done.outcome == OUTCOME_REFUSED || stage_lacks(done.outcome, done.code) || (done.outcome == OUTCOME_ELSEWHERE && !here_lacks(core, worker, job)))
				worker_refused(core, worker, done.code);
			core->report_ms = number_sane(done.ended_ms, 1) ? done.ended_ms : 0;
			outputs_offer(job, outputs);
			attempt_finish(core, job, &done);
			outputs_keep(job, outputs);
			core->report_ms = 0;
		} else {
			core->stale_results++;
			core->outbox->frame_count -= PLANTED(no_ack_for_stale_results);
			continue;
		}
		if (state_terminal(job->state) && number_sane(done.ended_ms, 1))
			job->when_ms = done.ended_ms;
	}
	jobs_tell_children(core);
}

/* --- stopping --- */

void attempt_stop_send(struct core *core, const struct job *job)
{
	const struct worker *worker = worker_find(core, job->worker);

	if (job_is_subrun(job)) {
		subrun_stop(core, job);
		return;
	}
	/*
	 * Without a connection there is nothing to send now: STOP goes out when the worker returns with the job in
	 * its inventory.
	 */
	if (worker->conn == 0)
		return;
	outbox_frame(core->outbox, worker->conn, OP_STOP)->stop = (struct rec_stop){
		.job = job_serial(job), .epoch = job->epoch, .grace_ms = LIMIT_STOP_GRACE_MS,
	};
}

/*
 * Ask the worker to give an assigned job back. The worker answers that the job is recalled, or that it has already
 * started.
 */
void attempt_recall(struct core *core, struct job *job)
{
	const struct worker *worker = worker_find(core, job->worker);

	CHECK(job->state == STATE_ASSIGNED);
	if (job->flags & JOB_RECALLED || worker->conn == 0)
		return;
	job->flags |= JOB_RECALLED;
	core->recalls++;
	outbox_frame(core->outbox, worker->conn, OP_RECALL)->recall = (struct rec_attempt){
		.job = job_serial(job), .epoch = job->epoch,
	};
}

void attempt_recall_over(struct core *core, struct job *job)
{
	job->flags &= (uint32_t)~JOB_RECALLED;
	core->recalls--;
}

void attempt_stop(struct core *core, struct job *job, enum job_event cause)
{
	job->stop_cause = (uint8_t)cause;
	job_move(core, job, cause, STATE_STOPPING);
	if (PLANTED(row_forgotten_at_the_end))
		job->flags &= (uint32_t)~JOB_ROW;
	attempt_stop_send(core, job);
}

/*
 * Note that an unknown job must be cancelled if it returns. Only a person may declare such a job ended; until then it
 * keeps its locks and groups.
 */
bool attempt_cancel_when_returned(struct core *core, struct job *job)
{
	if (attempt_cancels_when_returned(job))
		return false;
	job->stop_cause = EVENT_CANCEL;
	job_touch(core, job, true);
	return true;
}

bool attempt_cancels_when_returned(const struct job *job)
{
	return job->state == STATE_UNKNOWN && job->stop_cause == EVENT_CANCEL;
}
