/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The facts about attempts in a job's row: the row of a new attempt has nothing left of the attempt before, the row of
 * a round without an attempt has nothing left of the round before, and the event that ended the job fits its outcome.
 */
#include "oracle.h"

static void check_blank(struct sim_world *world, const struct row_job *row, const char *what)
{
	if (row->outcome != OUTCOME_NONE || row->code != 0 || row->started_ms != 0 || row->cpu_us != 0 || row->rss_kib != 0 ||
	    row->out_bytes != 0)
		world_fail(world, "job %u %s and its row has facts of an earlier attempt", (unsigned)row->job, what);
}

static bool ends_as(enum job_state state, enum job_event cause)
{
	switch (state) {
	case STATE_SUCCEEDED:
		return cause == 0 || cause == EVENT_OVER || cause == EVENT_PERSON_DONE || cause == EVENT_ENOUGH || cause == EVENT_EXPIRED;
	case STATE_FAILED:
		return cause == 0 || cause == EVENT_PERSON_FAILED || cause == EVENT_ENOUGH;
	case STATE_TIMED_OUT:
		return cause == EVENT_RUN_TIMEOUT || cause == EVENT_DEADLINE || cause == EVENT_DISPATCH_TIMEOUT ||
		       cause == EVENT_ENOUGH;
	case STATE_CANCELLED:
		return cause == EVENT_CANCEL;
	case STATE_SKIPPED:
		return cause == 0;
	case STATE_DENIED:
		return cause == 0 || cause == EVENT_EXPIRED;
	default:
		return true;
	}
}

/* struct oracle_job still has the row that was durable before. */
static void facts_row(struct sim_world *world, const struct row *any, struct oracle_job *job, const struct outbox *outbox)
{
	const struct row_job *row = &any->job;

	(void)outbox;
	if (!job)
		return;
	if ((uint32_t)row->round > job->round)
		job->epoch_before = job->epoch_durable;
	if (row->state == STATE_ASSIGNED)
		check_blank(world, row, "is given out");
	if (row->state == STATE_ASSIGNED && row->stop_cause != 0)
		world_fail(world, "job %u is given out and was stopped", (unsigned)row->job);
	if (row->outcome == OUTCOME_LOST && row->code != 0)
		world_fail(world, "job %u was lost, and nobody can know its code", (unsigned)row->job);
	if (!ends_as((enum job_state)row->state, (enum job_event)row->stop_cause))
		world_fail(world, "job %u is %s, and its row says: %s", (unsigned)row->job, state_table[row->state].name,
			   event_names[row->stop_cause]);
	if (row->round == 0 || (uint64_t)row->epoch != job->epoch_before)
		return;
	check_blank(world, row, "has no attempt in its round");
	if (row->tries != 0 || row->crashes != 0 || row->interrupted != 0 || row->worker != 0 || row->child != 0 || row->passes != 0)
		world_fail(world, "job %u has no attempt in its round, and its row counts some", (unsigned)row->job);
}

const struct oracle_check oracle_facts = { .row = facts_row };
