/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Failures: which ones are forgiven, and dead letters. A dead letter exists exactly for a job whose latest round failed
 * or timed out for good, if that isn't forgiven and no person discarded the letter. The letter has the job's
 * specification.
 */
#include "oracle.h"

#include "proto/dead.h"

bool oracle_forgiven(struct sim_world *world, uint64_t serial, enum job_state state)
{
	const struct rec_job_spec *spec = oracle_spec(world, serial);
	uint64_t bit = state == STATE_FAILED ? 1 : state == STATE_TIMED_OUT ? 2 : state == STATE_DENIED ? 4 : 0;

	return spec && spec->continue_on & bit;
}

enum job_state oracle_result(struct sim_world *world, uint64_t serial, enum job_state state)
{
	return oracle_forgiven(world, serial, state) ? STATE_SUCCEEDED : state;
}

static bool is_dead(enum job_state state)
{
	return state == STATE_FAILED || state == STATE_TIMED_OUT;
}

/* Check whether a person discarded dead letters of this run in this turn. */
static bool discarded_now(struct sim_world *world, const struct outbox *outbox, uint64_t run)
{
	for (size_t i = 0; i < outbox->frame_count; i++) {
		const struct outgoing *frame = &outbox->frames[i];

		if (frame->op == OP_OK && frame->ok.id >= ACT_BASE && frame->ok.count > 0 &&
		    world->acts[frame->ok.id - ACT_BASE].verb == ACT_DISCARD &&
		    world->acts[frame->ok.id - ACT_BASE].run == run)
			return true;
	}
	return false;
}

static void check_letter(struct sim_world *world, const struct row_dead *letter, const struct row_job *row)
{
	const struct rec_job_spec *spec = oracle_spec(world, (uint64_t)row->job);
	struct buf bytes = { 0 };
	uint64_t first = 0;

	if (letter->run != row->run || letter->state != row->state || letter->round != row->round ||
	    letter->tries != row->tries || letter->crashes != row->crashes || letter->outcome != row->outcome ||
	    letter->code != row->code || letter->epoch != row->epoch || letter->priority != row->priority)
		world_fail(world, "the dead letter of job %u isn't what it was", (unsigned)row->job);
	if (!spec)
		return;
	oracle_spec_encode(world, (uint64_t)row->job, &bytes);
	/* In an added graph the needs have other numbers, so the specifications may differ. */
	if ((!slice_eq(letter->spec, buf_slice(&bytes)) && !oracle_graph(world, (uint64_t)row->job, &first)->into) ||
	    !slice_eq(letter->name, spec->name))
		world_fail(world, "the dead letter of job %u lost something of it", (unsigned)row->job);
	buf_free(&bytes);
	if ((letter->reason == DEAD_TIMED_OUT) != (row->state == STATE_TIMED_OUT && row->stop_cause == EVENT_RUN_TIMEOUT) ||
	    (letter->reason == DEAD_CRASH_LIMIT && row->crashes != (int64_t)(spec->crash_limit ? spec->crash_limit : LIMIT_CRASH_LIMIT)) ||
	    (letter->reason == DEAD_SPAWN_FAILED) != (row->state == STATE_FAILED && outcome_is_no_start((uint64_t)row->outcome)) ||
	    (letter->reason == DEAD_LOOP_MAX && row->passes + 1 != (int64_t)spec->loop_max) ||
	    (letter->reason == DEAD_MAX_RETRIES_EXCEEDED && row->tries - row->crashes - row->interrupted != (int64_t)spec->retry_max + 1))
		world_fail(world, "job %u is no dead letter for reason %s", (unsigned)row->job, dead_name((uint64_t)letter->reason));
}

/* Check the dead letter of a job, once for each row of the job. The disk already has what the turn wrote. */
static void letters_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	const struct row *letter = job ? disk_get(&world->disk, TABLE_dead, job->job) : NULL;
	bool dead = job && is_dead((enum job_state)row->job.state) &&
		!oracle_forgiven(world, job->job, (enum job_state)row->job.state);

	if (!job)
		return;
	/*
	 * The oracle learns the specification, which says which ends are forgiven, only when the client was told the
	 * run's number.
	 */
	if (dead && !letter && oracle_spec(world, job->job) && job->discarded != (uint32_t)row->job.round + 1) {
		if (!discarded_now(world, outbox, (uint64_t)row->job.run))
			world_fail(world, "job %u is dead and has no letter", (unsigned)job->job);
		job->discarded = (uint32_t)row->job.round + 1;
	}
	if (letter && !dead)
		world_fail(world, "job %u is %s%s and has a dead letter", (unsigned)job->job,
			   is_dead((enum job_state)row->job.state) ? "forgiven, " : "", state_table[row->job.state].name);
	if (letter && job->discarded == (uint32_t)row->job.round + 1)
		world_fail(world, "the letter of job %u was discarded and is there again", (unsigned)job->job);
	if (!(row->job.flags & ROW_JOB_DEAD) != !letter)
		world_fail(world, "the row of job %u is wrong about its dead letter", (unsigned)job->job);
	if (letter)
		check_letter(world, &letter->dead, &row->job);
}

static void letters_rest(struct sim_world *world)
{
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;
		const struct row *job = row->table == TABLE_dead ? disk_get(&world->disk, TABLE_job, (uint64_t)row->dead.job) : NULL;

		if (row->table == TABLE_dead && (!job || !is_dead((enum job_state)job->job.state)))
			world_fail(world, "the dead letter of job %u is of nobody", (unsigned)row->dead.job);
	}
}

const struct oracle_check oracle_letters = { .row = letters_row, .rest = letters_rest };

/* ---- dead letters that people requeue or discard ---- */

static const struct rec_job_spec *dead_job(struct sim_world *world, const struct sim_graph *graph)
{
	for (uint32_t i = 0; graph->first && i < graph->count; i++)
		if (disk_get(&world->disk, TABLE_dead, graph->first + i) && world_chance(world, 600))
			return &graph->jobs[i];
	return NULL;
}

bool person_requeue(struct sim_world *world, const struct sim_graph *graph)
{
	const struct rec_job_spec *job = dead_job(world, graph);

	if (!job)
		return false;
	client_act(world, graph, ACT_REQUEUE, 0, world_chance(world, 700) ? job : NULL, 1);
	return true;
}

bool person_discard(struct sim_world *world, const struct sim_graph *graph)
{
	const struct rec_job_spec *job = dead_job(world, graph);

	if (!job)
		return false;
	client_act(world, graph, ACT_DISCARD, 0, world_chance(world, 700) ? job : NULL, 1);
	return true;
}
