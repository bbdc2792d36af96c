/* SPDX-License-Identifier: GPL-3.0-or-later */
/* I12: as many failures as retries allow, each with its wait; rounds; delays and times of the day. */
#include "oracle.h"

/* A gate without a command, all of whose children were under way: another answer would decide nothing. */
static bool spent_gate(struct sim_world *world, uint64_t serial)
{
	uint64_t first = 0;
	const struct sim_graph *graph = oracle_graph(world, serial, &first);
	bool spent = graph && graph->jobs[serial - first].gate_count && !graph->jobs[serial - first].argv.n;
	unsigned children = 0;

	for (uint32_t i = 0; spent && i < graph->count; i++)
		for (size_t n = 0; n < graph->jobs[i].needs.n; n++) {
			enum job_state child = oracle_job(world, first + i)->decided;

			if (first + graph->jobs[i].needs.at[n] != serial)
				continue;
			children++;
			spent = spent && (state_has_attempt(child) || child == STATE_UNKNOWN);
		}
	return spent && children > 0;
}

/* Only a retry of a job alone leaves behind it what has ended; and a gate that nobody would go by. */
static void decided_loose(struct sim_world *world, const struct outbox *outbox, const struct row_job *row)
{
	const struct oracle_job *job = oracle_job(world, (uint64_t)row->job);

	if (!(row->flags & ROW_JOB_LOOSE) || job->loose_decided || !state_terminal(job->decided) ||
	    (uint32_t)row->round != job->round_decided)
		return;
	for (size_t i = 0; i < outbox->frame_count; i++) {
		const struct outgoing *frame = &outbox->frames[i];
		const struct sim_act *act = frame->op == OP_OK && frame->ok.id >= ACT_BASE ?
			&world->acts[frame->ok.id - ACT_BASE] : NULL;

		if (act && act->verb == ACT_RETRY && act->value == RETRY_ONLY && act->run == (uint64_t)row->run)
			return;
	}
	if (spent_gate(world, (uint64_t)row->job))
		return;
	world_fail(world, "job %u isn't decided anew with its parent", (unsigned)row->job);
}

static void retries_turn(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_job)
			decided_loose(world, outbox, &outbox->rows[i].job);
}

/* Of a job that is newly delayed. */
static void retries_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	if (!job || row->job.state != STATE_DELAYED ||
	    (job->durable == STATE_DELAYED && job->row.due_ms == row->job.due_ms))
		return;
	if (row->job.tries > 0 && row->job.due_ms < outbox->wall_ms + LIMIT_RETRY_BACKOFF_MS)
		world_fail(world, "I12: job %u waits for less than its backoff", (unsigned)row->job.job);
}

static void retries_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			  const struct rec_job_spec *spec, int64_t wall_ms)
{
	(void)wall_ms;
	if (event_opens_round(event))
		job->fails = 0;
	if (event->event != EVENT_EXITED_FAIL)
		return;
	job->fails++;
	if (spec && (event->to == STATE_FAILED) != (job->fails == spec->retry_max + 1))
		world_fail(world, "I12: job %u is %s after %u failures, with %u retries", (unsigned)event->job,
			   state_table[event->to].name, job->fails, (unsigned)spec->retry_max);
}

const struct oracle_check oracle_retries = { .turn = retries_turn, .row = retries_row, .event = retries_event };

static void stages_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			 const struct rec_job_spec *spec, int64_t wall_ms)
{
	(void)job;
	if (!spec || event->event != EVENT_DEPS_MET || event->to == STATE_DELAYED)
		return;
	if (spec->delay_ms > 0 || spec->not_before_ms > wall_ms)
		world_fail(world, "job %u doesn't wait as it should", (unsigned)event->job);
	if (spec->gate_count > 0 && event->to != STATE_APPROVAL)
		world_fail(world, "job %u asks nobody", (unsigned)event->job);
}

static void stages_start(struct sim_world *world, const struct oracle_start *start)
{
	if (start->spec->not_before_ms > world_time(world).wall_ms)
		world_fail(world, "job %u starts before its time", (unsigned)start->job->job);
}

const struct oracle_check oracle_stages = { .event = stages_event, .start = stages_start };
