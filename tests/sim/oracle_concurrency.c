/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Concurrency groups: a run that takes its place in a group (with its first attempt), or a job that gets an attempt, is
 * within the group's limit. Lowering a limit ends nothing, so being above a lowered limit is no error. The limit is
 * known from what people set and from what live runs state; the places are known from rows.
 */
#include "oracle.h"

/* Return the graph of a run; NULL for a run of a schedule, whose graphs name no group. */
static struct sim_graph *graph_of_row(struct sim_world *world, const struct row_run *row)
{
	for (size_t i = 0; i < world->graph_count && row->schedule.len == 0; i++)
		if (!world->graphs[i]->schedule && slice_eq(row->name, slice_str(world->graphs[i]->name)))
			return world->graphs[i];
	if (row->schedule.len == 0)
		world_fail(world, "run %u has a name that nobody gave", (unsigned)row->run);
	return NULL;
}

/* Return the submitted or added graph that has this job. */
static struct sim_graph *graph_of_job(const struct sim_world *world, uint64_t run, uint64_t job)
{
	for (size_t i = 0; i < world->graph_count; i++)
		if (world->graphs[i]->decided.run == run && job - world->graphs[i]->decided.first < world->graphs[i]->count)
			return world->graphs[i];
	return NULL;
}

static struct sim_graph *graph_of_key(const struct sim_world *world, struct slice key)
{
	for (size_t i = 0; i < world->graph_count; i++)
		if (slice_eq(key, slice_make(world->graphs[i]->key, sizeof(world->graphs[i]->key))))
			return world->graphs[i];
	return NULL;
}

static bool counts(enum job_state state)
{
	return state_has_attempt(state) || state == STATE_UNKNOWN;
}

static uint32_t least(uint32_t limit, uint32_t states)
{
	return states && (limit == 0 || states < limit) ? states : limit;
}

static uint32_t limit_of(const struct sim_world *world, unsigned group)
{
	uint32_t limit = 0, states = 0;

	if (world->oracle.groups[group])
		return world->oracle.groups[group];
	for (size_t i = 0; i < world->graph_count; i++) {
		const struct sim_graph *graph = world->graphs[i];

		if (!graph->decided.live)
			continue;
		if (graph->group == group + 1)
			limit = least(limit, graph->group_states);
		for (uint32_t at = 0; at < graph->count; at++)
			if (graph_names_group(&graph->jobs[at], group, &states))
				limit = least(limit, states);
	}
	return limit ? limit : 1;
}

/* ---- checks of decided turns, durable or not ---- */

static bool was_added(const struct outbox *outbox, uint64_t serial)
{
	for (size_t i = 0; i < outbox->row_count; i++) {
		const struct row_spec *part = outbox->rows[i].table == TABLE_spec ? &outbox->rows[i].spec : NULL;

		if (part && part->first > 0 && serial - (uint64_t)part->first < (uint64_t)part->jobs)
			return true;
	}
	return false;
}

/* Has the job ended, before or in this turn? An ended job stays ended unless its new round began in this turn. */
static bool has_ended(struct sim_world *world, const struct outbox *outbox, uint64_t serial)
{
	const struct oracle_job *job = oracle_job(world, serial);

	for (size_t i = 0; i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_job && (uint64_t)outbox->rows[i].job.job == serial)
			return state_terminal((enum job_state)outbox->rows[i].job.state) ||
			       job->round_decided < (uint32_t)outbox->rows[i].job.round;
	return state_terminal(job->decided);
}

/*
 * Check that a run gives up its place in a group only when all its jobs have ended. They may have ended for a
 * moment only: a new round began, or jobs were added, in the same turn.
 */
static void check_place_kept(struct sim_world *world, const struct sim_graph *root, const struct row_run *row,
			     const struct outbox *outbox)
{
	if (!root->decided.seated || row->seated || row->ended_ms != 0)
		return;
	for (size_t at = 0; at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];

		for (uint64_t i = 0; graph->decided.run == (uint64_t)row->run && i < graph->count; i++) {
			uint64_t serial = graph->decided.first + i;

			if (!was_added(outbox, serial) && !has_ended(world, outbox, serial))
				world_fail(world, "run %u is going on without its place in its group", (unsigned)row->run);
		}
	}
}

static void note_run(struct sim_graph *graph, const struct row_run *row)
{
	graph->decided.run = (uint64_t)row->run;
	graph->decided.first = (uint64_t)row->first;
	graph->decided.sits_down = row->seated && !graph->decided.seated;
	graph->decided.seated = row->seated != 0;
}

/*
 * Note for a run and all graphs added to it whether it is live. This covers sub-runs, too, which name no group
 * themselves.
 */
static void note_live(struct sim_world *world, const struct row_run *row)
{
	for (size_t i = 0; i < world->graph_count; i++)
		if (world->graphs[i]->decided.run == (uint64_t)row->run)
			world->graphs[i]->decided.live = row->ended_ms == 0;
}

/*
 * Note the run and the first serial number of an added graph. Its rows of jobs come before the row of its submit
 * key.
 */
static void note_added(struct sim_world *world, const struct row *row, uint64_t *came)
{
	struct sim_graph *graph = row->table == TABLE_submit_key ? graph_of_key(world, row->submit_key.submit_key) : NULL;

	if (row->table == TABLE_spec && row->spec.first > 0)
		*came = (uint64_t)row->spec.first;
	if (!graph || !graph->into)
		return;
	graph->decided.run = (uint64_t)row->submit_key.run;
	graph->decided.first = *came;
	graph->decided.live = true;
}

static void concurrency_turn(struct sim_world *world, const struct outbox *outbox)
{
	uint64_t came = 0;

	for (size_t i = 0; i < world->graph_count; i++)
		world->graphs[i]->decided.sits_down = false;
	for (size_t i = 0; i < outbox->row_count; i++) {
		const struct row *row = &outbox->rows[i];

		note_added(world, row, &came);
		if (row->table != TABLE_run || row->deleted)
			continue;
		if (row->run.schedule.len == 0 && !row->run.parent) {
			check_place_kept(world, graph_of_row(world, &row->run), &row->run, outbox);
			note_run(graph_of_row(world, &row->run), &row->run);
		}
		note_live(world, &row->run);
	}
	for (size_t i = 0; i < outbox->frame_count; i++) {
		const struct outgoing *frame = &outbox->frames[i];
		const struct sim_act *act = frame->op == OP_OK && frame->ok.id >= ACT_BASE ? &world->acts[frame->ok.id - ACT_BASE]
											    : NULL;

		if (act && act->kind == OBJECT_GROUP)
			world->oracle.groups[act->object] = act->set == SET_PUT ? (uint32_t)act->number : 0;
	}
}

static void concurrency_crash(struct sim_world *world)
{
	memset(world->oracle.groups, 0, sizeof(world->oracle.groups));
	for (size_t i = 0; i < world->graph_count; i++)
		memset(&world->graphs[i]->decided, 0, sizeof(world->graphs[i]->decided));
	for (size_t i = 0; i < world->graph_count; i++)
		if (world->graphs[i]->into && world->graphs[i]->first) {
			world->graphs[i]->decided.run = world->graphs[i]->durable_run;
			world->graphs[i]->decided.first = world->graphs[i]->first;
		}
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;

		if (row->table == TABLE_run && row->run.schedule.len == 0 && !row->run.parent)
			note_run(graph_of_row(world, &row->run), &row->run);
		if (row->table == TABLE_run)
			note_live(world, &row->run);
		for (unsigned group = 0; row->table == TABLE_job_group && group < SIM_GROUPS; group++)
			if (slice_eq(row->job_group.name, slice_str(graph_group_names[group])))
				world->oracle.groups[group] = (uint32_t)row->job_group.most;
	}
}

/* ---- assignments ---- */

static void check_jobs(struct sim_world *world, unsigned group)
{
	uint32_t out = 0, states;

	for (size_t i = 0; i < world->graph_count; i++) {
		const struct sim_graph *graph = world->graphs[i];

		for (uint32_t at = 0; graph->decided.run && at < graph->count; at++)
			out += graph_names_group(&graph->jobs[at], group, &states) &&
			       counts(oracle_job(world, graph->decided.first + at)->decided);
	}
	if (out > limit_of(world, group))
		world_fail(world, "%u jobs of group %s are out, and %u is the most", out, graph_group_names[group],
			   limit_of(world, group));
}

static void check_runs(struct sim_world *world, unsigned group)
{
	uint32_t going = 0;

	for (size_t i = 0; i < world->graph_count; i++)
		going += world->graphs[i]->group == group + 1 && world->graphs[i]->decided.seated;
	if (going > limit_of(world, group))
		world_fail(world, "%u runs of group %s are going, and %u is the most", going, graph_group_names[group],
			   limit_of(world, group));
}

static void concurrency_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	const struct sim_graph *graph = graph_of_job(world, assign->run, job->job);
	const struct rec_job_spec *spec = graph ? &graph->jobs[job->job - graph->decided.first] : NULL;
	uint32_t states;

	if (!graph)
		return;
	for (unsigned group = 0; group < SIM_GROUPS; group++)
		if (graph_names_group(spec, group, &states))
			check_jobs(world, group);
	graph = oracle_root(graph);
	if (graph->group && !graph->decided.seated)
		world_fail(world, "job %u is given out, and its run has no place in its group", (unsigned)job->job);
	if (graph->group && graph->decided.sits_down)
		check_runs(world, graph->group - 1);
}

const struct oracle_check oracle_concurrency = {
	.turn = concurrency_turn, .given = concurrency_given, .crash = concurrency_crash,
};
