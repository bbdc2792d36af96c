/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loops: the pass that meets the loop's condition is the last, and so is the pass at the limit; after any other pass
 * the next one follows, unless the job itself ended. The number of finished passes is written to the job's row in the
 * same transaction.
 */
#include "oracle.h"

#include "proto/expr.h"

/* Evaluate the loop's condition for a pass. The simulator's loops ask one question, perhaps negated. */
bool oracle_pass_holds(const struct rec_job_spec *spec, const struct row_job *row, enum job_state end)
{
	struct slice code = spec->loop_code;
	struct expr_step step;
	bool value = false;

	while (expr_next(&code, &step)) {
		bool exited = row->outcome == OUTCOME_EXIT;
		uint64_t with = (uint64_t)row->code;

		if (step.op == EXPR_NOT)
			value = !value;
		else if (step.op == EXPR_STATE)
			value = step.c >> end & 1;
		else if (step.op == EXPR_CODE)
			value = exited && ((step.b == EXPR_EQ && with == step.c) || (step.b == EXPR_LT && with < step.c) ||
					   (step.b == EXPR_LE && with <= step.c) || (step.b == EXPR_GT && with > step.c) ||
					   (step.b == EXPR_GE && with >= step.c));
		else
			value = step.op == EXPR_TRUE;
	}
	return value;
}

static void check_kind(struct sim_world *world, const struct rec_event *event, const struct oracle_job *job,
		       const struct rec_job_spec *spec)
{
	bool own = (uint64_t)job->row.epoch == event->epoch && (uint32_t)job->row.round == job->event_round;
	bool cancelled = spec->sub_count && (!own || job->row.code == 2);

	if (spec->loop_max == 0 && (event->event == EVENT_AGAIN || event->event == EVENT_ENOUGH))
		world_fail(world, "job %u is no loop, and has passes", (unsigned)event->job);
	if (spec->loop_max == 0)
		return;
	if (event->event == EVENT_EXITED_OK || (event->event == EVENT_EXITED_FAIL && event->to == STATE_FAILED && !cancelled))
		world_fail(world, "job %u ended, and its loop wasn't asked", (unsigned)event->job);
	if (event->from == STATE_STOPPING && event->to == STATE_TIMED_OUT && own && job->row.stop_cause != EVENT_DEADLINE)
		world_fail(world, "job %u is out of time, and its loop wasn't asked", (unsigned)event->job);
}

static void check_end(struct sim_world *world, const struct rec_event *event, const struct oracle_job *job,
		      const struct rec_job_spec *spec)
{
	const struct row_job *row = &job->row;
	bool well = row->outcome == OUTCOME_EXIT && row->code == 0;
	enum job_state end = event->from == STATE_STOPPING ? STATE_TIMED_OUT : well ? STATE_SUCCEEDED : STATE_FAILED;
	bool done;

	/* The row shows the end of the turn, where a later attempt or round may have replaced this one. */
	if ((uint64_t)row->epoch != event->epoch || (uint32_t)row->round != job->event_round)
		return;
	done = oracle_pass_holds(spec, row, end);
	if (event->event == EVENT_AGAIN && done)
		world_fail(world, "job %u has a pass behind the one that it waited for", (unsigned)event->job);
	if (event->event == EVENT_AGAIN)
		return;
	if (!done && job->passes + 1 != spec->loop_max)
		world_fail(world, "job %u ended after %u of %u passes", (unsigned)event->job, job->passes + 1,
			   (unsigned)spec->loop_max);
	if ((event->to == STATE_SUCCEEDED) != (done || spec->loop_on_max == LOOP_MAX_OK))
		world_fail(world, "job %u is %s, and its last pass %s what it waited for", (unsigned)event->job,
			   state_table[event->to].name, done ? "was" : "wasn't");
	if (spec->sub_count && event->from == STATE_RUNNING && row->code == 2)
		world_fail(world, "job %u: its loop was asked, and its sub-run cancelled", (unsigned)event->job);
}

static void loops_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			const struct rec_job_spec *spec, int64_t wall_ms)
{
	(void)wall_ms;
	if (event_opens_round(event))
		job->passes = 0;
	if (!spec)
		return;
	check_kind(world, event, job, spec);
	if (event->event == EVENT_AGAIN || event->event == EVENT_ENOUGH)
		check_end(world, event, job, spec);
	if (event->event == EVENT_AGAIN)
		job->passes++;
	if (event->event == EVENT_AGAIN && job->passes >= spec->loop_max)
		world_fail(world, "job %u begins pass %u of %u", (unsigned)event->job, job->passes + 1, (unsigned)spec->loop_max);
	if ((event->event == EVENT_AGAIN || event->event == EVENT_ENOUGH || event->event == EVENT_CHOSEN) &&
	    (uint32_t)job->row.round == job->event_round && job->row.passes != job->passes)
		world_fail(world, "job %u: %u passes are over, and its row says %u", (unsigned)event->job, job->passes,
			   (unsigned)job->row.passes);
}

/* Check the number of the pass in an assignment. The decided state may be one pass ahead of the durable one. */
static void loops_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	const struct rec_job_spec *spec = oracle_spec(world, job->job);
	struct rec_job_spec given;
	struct slice bytes = assign->spec;
	struct arena arena = { 0 };
	uint64_t told = 0;

	if (!spec || spec->loop_max == 0)
		return;
	if (record_decode(REC_job_spec, &bytes, &arena, &given, NULL) != ERR_NONE)
		world_fail(world, "job %u is given out with a specification that nobody can read", (unsigned)job->job);
	for (size_t i = 0; i < given.env.n; i++)
		if (given.env.at[i].len == 17 && memcmp(given.env.at[i].data, "TITAN_ITERATION=", 16) == 0)
			told = given.env.at[i].data[16] - '0';
	arena_free(&arena);
	if (told < 1 || told > spec->loop_max)
		world_fail(world, "job %u is told that this is pass %u of %u", (unsigned)job->job, (unsigned)told,
			   (unsigned)spec->loop_max);
}

const struct oracle_check oracle_loops = { .event = loops_event, .given = loops_given };
