/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people do: cancel (I10), votes on gates (I13), holds, and settling unknown jobs. */
#include "oracle.h"

#include "base/mem.h"
#include "proto/job_output.h"

/* ---- cancel ---- */

/*
 * Note which rounds of which jobs a cancel covers (I10): those that exist when it is decided. `always` jobs aren't
 * covered.
 */
static void decided_cancel(struct sim_world *world, struct sim_act *act)
{
	const struct row *run = disk_get(&world->disk, TABLE_run, act->run);
	struct sim_graph *graph = map_get(&world->oracle.runs, act->run);
	const struct rec_job_spec *spec;
	uint64_t serial;

	if (!run || act->rounds || act->verb != ACT_CANCEL || !act->whole)
		return;
	if (graph)
		graph->was_closed = true; /* because of a retry in the same turn, rows wouldn't show the cancel */
	act->rounds = mem_array((size_t)run->run.jobs, sizeof(*act->rounds));
	act->jobs = mem_array((size_t)run->run.jobs, sizeof(*act->jobs));
	for (struct oracle_walk walk = { 0 }; (serial = oracle_run_next(world, act->run, &walk)) != 0;) {
		spec = oracle_spec(world, serial);
		if (act->value != CANCEL_ALL && spec && oracle_always(spec))
			/* `always` jobs end only with the second cancel, and this may be the first */
			continue;
		act->rounds[act->job_count] = oracle_job(world, serial)->round_decided;
		act->jobs[act->job_count++] = serial;
	}
}

/* Called before the rows of the turn are noted, because a retry in the same turn may have followed the cancel. */
static void cancel_turn(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->frame_count; i++)
		if (outbox->frames[i].op == OP_OK && outbox->frames[i].ok.id >= ACT_BASE)
			decided_cancel(world, &world->acts[outbox->frames[i].ok.id - ACT_BASE]);
}

static void cancel_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	(void)assign;
	if (job->cancelled > job->round_decided)
		world_fail(world, "I10: job %u is given out after its cancel was acknowledged", (unsigned)job->job);
}

void oracle_acted(struct sim_world *world, const struct sim_act *act)
{
	world_note(world, "act %d on run %u is acknowledged", (int)act->verb, (unsigned)act->run);
	for (uint32_t i = 0; i < act->job_count; i++) {
		struct oracle_job *job = oracle_job(world, act->jobs[i]);

		if (job->cancelled <= act->rounds[i])
			job->cancelled = act->rounds[i] + 1;
	}
}

const struct oracle_check oracle_cancel = { .turn = cancel_turn, .given = cancel_given };

/* ---- holds ---- */

static void holds_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	if (job->held_decided || map_get(&world->oracle.held_runs, assign->run))
		world_fail(world, "job %u is given out while a person holds it back", (unsigned)job->job);
}

bool oracle_run_held(struct sim_world *world, uint64_t run)
{
	const struct row *row = disk_get(&world->disk, TABLE_run, run);

	return row && row->run.held && row->run.ended_ms == 0;
}

bool oracle_job_held(struct sim_world *world, const struct sim_graph *graph, uint32_t index)
{
	const struct row *job = disk_get(&world->disk, TABLE_job, oracle_serial(graph, index));

	return job && job->job.flags & ROW_JOB_HELD && !state_terminal((enum job_state)job->job.state);
}

static void holds_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	(void)outbox;
	if (job && row->job.flags & ROW_JOB_HELD && state_terminal((enum job_state)row->job.state))
		world_fail(world, "job %u has ended and is held back", (unsigned)row->job.job);
	if (job)
		job->held_before = (job->row.flags & ROW_JOB_HELD) != 0;
	if (row->table == TABLE_run && row->run.held && row->run.ended_ms)
		world_fail(world, "run %u has ended and is held back", (unsigned)row->run.run);
}

const struct oracle_check oracle_holds = { .given = holds_given, .row = holds_row };

/* ---- gates ---- */

/* Take the first of the values that were given for the fields of a gate. */
static struct slice first_given(struct slice given, struct arena *arena)
{
	struct rec_job_output output = { 0 };

	job_output_next(&given, arena, &output);
	return output.value;
}

/* Check what a gate with fields puts out: what each of the people who opened it has given. */
static void form_event(struct sim_world *world, const struct rec_event *event, const struct oracle_job *job, const struct rec_job_spec *spec)
{
	const struct row *found = disk_get(&world->disk, TABLE_job, event->job);
	uint64_t same = 0;

	if (spec->gate_fields.n == 0 || event->event != EVENT_APPROVED || !found || found->job.round != job->event_round ||
	    found->job.state != STATE_SUCCEEDED)
		return;
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;

		same += row->table == TABLE_decision && (uint64_t)row->decision.job == event->job && row->decision.round == job->event_round &&
			row->decision.verdict == VERDICT_APPROVED && slice_eq(row->decision.given, found->job.outputs);
	}
	if (found->job.outputs.len == 0 || same < spec->gate_count)
		world_fail(world, "gate %u put out what only %u of the people gave who opened it", (unsigned)event->job, (unsigned)same);
}

/* Check the values of a vote: they fit the fields of the gate. */
static void given_row(struct sim_world *world, const struct row_decision *row)
{
	const struct rec_job_spec *spec = oracle_spec(world, (uint64_t)row->job);
	struct arena arena = { 0 };
	struct slice value;

	if (!spec || spec->gate_fields.n == 0 || row->verdict != VERDICT_APPROVED)
		return;
	value = first_given(row->given, &arena);
	if (!slice_eq(value, slice_str("a")) && !slice_eq(value, slice_str("b")) && (value.len > 0 || slice_eq(spec->gate_fields.at[0], slice_str("ver enum a|b"))))
		world_fail(world, "gate %u was approved with a value that its fields don't allow", (unsigned)row->job);
	arena_free(&arena);
}

/* Check I13: a gate opens or closes by votes of people who may vote, or by its expiry, and only once in a round. */
static void gates_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			const struct rec_job_spec *spec, int64_t wall_ms)
{
	uint64_t approved = 0, rejected = 0, pushed = 0, expired = 0;

	(void)wall_ms;                   /* oracle_times.c checks when a gate may expire */
	if (!spec || event->from != STATE_APPROVAL)
		return;
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;

		if (row->table != TABLE_decision || (uint64_t)row->decision.job != event->job ||
		    row->decision.round != job->event_round)
			continue;
		approved += row->decision.verdict == 1;
		rejected += row->decision.verdict == 0;
		pushed += row->decision.verdict == VERDICT_PUSHED_BACK;
		expired += row->decision.verdict == VERDICT_EXPIRED || row->decision.verdict == VERDICT_EXPIRED_APPROVED;
		if (spec->gate_from.n > 0 && row->decision.person == SIM_PEOPLE)
			world_fail(world, "somebody who may not decided gate %u", (unsigned)event->job);
		/* Person 1 submits all runs but strangers' (with a description). Others may approve, so person 1 may not. */
		if (row->decision.person == 1 && spec->description.len == 0 && row->decision.verdict == VERDICT_APPROVED)
			world_fail(world, "who submitted gate %u approved it", (unsigned)event->job);
		if (row->decision.self)
			world_fail(world, "a decision on gate %u says that its submitter was alone", (unsigned)event->job);
	}
	if (event->event == EVENT_APPROVED && (approved < spec->gate_count || rejected > 0))
		world_fail(world, "gate %u opened by %u people", (unsigned)event->job, (unsigned)approved);
	if (event->event == EVENT_PUSHED_BACK && pushed != 1)
		world_fail(world, "gate %u was pushed back by nobody", (unsigned)event->job);
	if (event->event == EVENT_REJECTED && rejected != 1)
		world_fail(world, "gate %u was rejected by nobody", (unsigned)event->job);
	if (event->event == EVENT_EXPIRED && (job->held_before || oracle_run_held(world, job->run)))
		world_fail(world, "gate %u expired while a person held it back", (unsigned)event->job);
	if ((event->event == EVENT_EXPIRED) != (expired > 0))
		world_fail(world, "I13: of gate %u both an expiry and a decision were kept", (unsigned)event->job);
	if (event->event == EVENT_EXPIRED && (event->to == STATE_DENIED) != (spec->gate_expiry == GATE_REJECT))
		world_fail(world, "I13: gate %u expired into %s", (unsigned)event->job, state_table[event->to].name);
	if (event->to == STATE_READY || event->to == STATE_SUCCEEDED)
		job->opened = job->event_round + 1;
	form_event(world, event, job, spec);
}

/* Check I13: the vote is about what was shown to that person, in this round. */
static void decision_row(struct sim_world *world, const struct row_decision *row)
{
	bool old = false;

	if (row->verdict > VERDICT_PUSHED_BACK)
		return;
	for (size_t i = 0; i < world->act_count; i++) {
		const struct sim_act *act = &world->acts[i];

		if (act->job != (uint64_t)row->job || act->person != (uint64_t)row->person || act->digest_len == 0 ||
		    !slice_eq(row->digest, slice_make(act->digest, act->digest_len)))
			continue;
		if (act->round == (uint32_t)row->round)
			return;
		old = true;
	}
	world_fail(world, "I13: gate %u was decided by somebody who was shown %s", (unsigned)row->job,
		   old ? "another round of it" : "something else");
}

static void gates_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	(void)outbox;
	if (row->table == TABLE_decision)
		decision_row(world, &row->decision);
	if (row->table == TABLE_decision)
		given_row(world, &row->decision);
	if (job && row->job.state == STATE_APPROVAL && row->job.flags & ROW_JOB_LOOSE)
		world_fail(world, "gate %u asks about a result that is being made anew", (unsigned)row->job.job);
}

static void gates_start(struct sim_world *world, const struct oracle_start *start)
{
	if (start->spec->gate_count && start->own_round && start->job->opened != (uint32_t)start->row->round + 1)
		world_fail(world, "job %u starts and nobody opened its gate", (unsigned)start->job->job);
}

uint32_t oracle_round(struct sim_world *world, uint64_t job)
{
	return oracle_job(world, job)->round;
}

bool oracle_job_unknown(struct sim_world *world, const struct sim_graph *graph, uint32_t index)
{
	uint64_t serial = oracle_serial(graph, index);

	return serial && oracle_job(world, serial)->durable == STATE_UNKNOWN;
}

bool oracle_job_asks(struct sim_world *world, const struct sim_graph *graph, uint32_t index)
{
	uint64_t serial = oracle_serial(graph, index);

	return serial && oracle_job(world, serial)->durable == STATE_APPROVAL;
}

/* Check that a person settled this attempt of the job in this way, with a reason. */
static void settled_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			  const struct rec_job_spec *spec, int64_t wall_ms)
{
	int64_t verdict = event->event == EVENT_PERSON_DONE ? VERDICT_DONE :
			  event->event == EVENT_PERSON_FAILED ? VERDICT_FAILED : VERDICT_RETRY;

	(void)job;
	(void)spec;
	(void)wall_ms;
	if (event->event != EVENT_PERSON_DONE && event->event != EVENT_PERSON_FAILED && event->event != EVENT_PERSON_RETRY)
		return;
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;

		if (row->table == TABLE_decision && (uint64_t)row->decision.job == event->job &&
		    row->decision.round >> 16 == (int64_t)(uint32_t)event->epoch && row->decision.verdict == verdict &&
		    row->decision.reason.len > 0)
			return;
	}
	world_fail(world, "job %u was settled by nobody's word", (unsigned)event->job);
}

const struct oracle_check oracle_settled = { .event = settled_event };

const struct oracle_check oracle_gates = { .row = gates_row, .event = gates_event, .start = gates_start };
