/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sub-runs: the end of a sub-run ends its job in the same transaction; each attempt has one sub-run; no sub-run lives
 * without a job that waits for it; and no job in it starts after its parent job was told to stop.
 */
#include "oracle.h"

#include "base/mem.h"

static const struct row_run *run_row(struct sim_world *world, uint64_t number)
{
	const struct row *row = number ? disk_get(&world->disk, TABLE_run, number) : NULL;

	return row ? &row->run : NULL;
}

/* Note the graph of a sub-run, which is part of the graph of its job. */
static void know(struct sim_world *world, const struct row_run *row)
{
	const struct row_run *up = run_row(world, (uint64_t)row->parent_run);
	const struct sim_graph *graph;
	uint64_t first = 0, index;
	struct sim_graph *known;

	if (!row->parent || map_get(&world->oracle.runs, (uint64_t)row->run))
		return;
	if (up)
		know(world, up);         /* the run and the sub-run may have begun in the same turn */
	graph = oracle_graph(world, (uint64_t)row->parent, &first);
	index = (uint64_t)row->parent - first;
	if (!up || !graph || index >= graph->count || !graph->subs || !graph->subs[index])
		world_fail(world, "run %u is the sub-run of a job that has none", (unsigned)row->run);
	known = mem_zalloc(sizeof(*known));
	*known = *graph->subs[index];
	known->run = known->durable_run = (uint64_t)row->run;
	known->first = (uint64_t)row->first;
	memset(known->key, 0xff, sizeof(known->key));    /* a key that no request has */
	known->answered = true;
	known->borrowed = true;
	known->tenant = oracle_root(graph)->tenant;
	if (known->context.len == 0) {
		known->context = graph->context;
		known->machine = graph->machine;
	}
	if (row->jobs != known->count || row->depth != up->depth + 1 || row->max_jobs != known->max_jobs)
		world_fail(world, "run %u isn't what its job said", (unsigned)row->run);
	map_put(&world->oracle.runs, (uint64_t)row->run, known);
	world->graphs = mem_resize(world->graphs, world->graph_count + 1, sizeof(struct sim_graph *));
	world->graphs[world->graph_count++] = known;
}

/* Check that the sub-run lives exactly as long as its job waits for it. */
static void check_run(struct sim_world *world, const struct row_run *row)
{
	const struct row *job = disk_get(&world->disk, TABLE_job, (uint64_t)row->parent);
	bool awaited = job && state_has_attempt((enum job_state)job->job.state) && job->job.child == row->run;

	if (awaited != (row->ended_ms == 0))
		world_fail(world, "sub-run %u %s, and its job %u %s", (unsigned)row->run, row->ended_ms ? "has ended" : "lives",
			   (unsigned)row->parent, awaited ? "waits on" : "doesn't wait for it");
}

static void check_job(struct sim_world *world, const struct row_job *row, const struct oracle_job *before)
{
	const struct row_run *child = run_row(world, (uint64_t)row->child);
	const struct row_run *last = run_row(world, (uint64_t)before->row.child);
	bool holds = state_has_attempt((enum job_state)row->state);

	if (row->state == STATE_ASSIGNED || row->state == STATE_UNKNOWN || row->worker)
		world_fail(world, "job %u is a sub-run, and a worker has it", (unsigned)row->job);
	if (holds && (!child || child->parent != row->job || child->ended_ms))
		world_fail(world, "job %u waits for a sub-run that doesn't live", (unsigned)row->job);
	if (last && before->row.child != row->child && !last->ended_ms)
		world_fail(world, "job %u goes on while its sub-run %u lives", (unsigned)row->job, (unsigned)last->run);
	if (row->child && row->round == before->row.round && row->epoch == before->row.epoch && row->child != before->row.child)
		world_fail(world, "an attempt of job %u has two sub-runs", (unsigned)row->job);
	if (row->child && row->epoch != before->row.epoch && row->child == before->row.child)
		world_fail(world, "two attempts of job %u have one sub-run", (unsigned)row->job);
}

static bool is_subrun(struct sim_world *world, uint64_t serial)
{
	const struct rec_job_spec *spec = oracle_spec(world, serial);

	return spec && spec->sub_count > 0;
}

static void subruns_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	const struct row_run *run = job ? run_row(world, (uint64_t)row->job.run) : row->table == TABLE_run ? &row->run : NULL;

	(void)outbox;
	if (run)
		know(world, run);
	if (row->table == TABLE_run && row->run.parent)
		check_run(world, &row->run);
	if (job && is_subrun(world, job->job))
		check_job(world, &row->job, job);
	else if (job && row->job.child)
		world_fail(world, "job %u has a sub-run and is none", (unsigned)job->job);
}

/*
 * The rows show the end of the turn. They say nothing about an attempt that another one followed in the same turn.
 */
static void subruns_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			  const struct rec_job_spec *spec, int64_t wall_ms)
{
	const struct row_run *child = run_row(world, (uint64_t)job->row.child);
	enum run_state state;

	(void)wall_ms;
	if (!spec || spec->sub_count == 0 || (uint64_t)job->row.epoch != event->epoch ||
	    (uint32_t)job->row.round != job->event_round)
		return;
	if (event->event != EVENT_EXITED_OK && event->event != EVENT_EXITED_FAIL && event->event != EVENT_GONE &&
	    event->event != EVENT_AGAIN && event->event != EVENT_ENOUGH)
		return;
	if (!child || !child->ended_ms)
		world_fail(world, "job %u ended before its sub-run", (unsigned)event->job);
	state = (enum run_state)child->state;
	if ((event->event == EVENT_EXITED_OK || event->event == EVENT_EXITED_FAIL) && (event->event == EVENT_EXITED_OK) != (state == RUN_SUCCEEDED))
		world_fail(world, "job %u is %s, and its sub-run %s", (unsigned)event->job, state_table[event->to].name,
			   run_state_name(state));
	if (event->event == EVENT_EXITED_FAIL && state == RUN_CANCELLED && event->to != STATE_FAILED)
		world_fail(world, "job %u begins a sub-run again that somebody cancelled", (unsigned)event->job);
}

static void subruns_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	const struct row_run *row = run_row(world, assign->run);
	const struct oracle_job *up = row && row->parent ? oracle_job(world, (uint64_t)row->parent) : NULL;
	const struct rec_job_spec *spec = oracle_spec(world, job->job);

	/* The specification isn't known before the sub-run is durable. */
	if (up && up->decided != STATE_RUNNING && !(up->decided == STATE_STOPPING && (!spec || oracle_always(spec))))
		world_fail(world, "job %u begins in a sub-run whose job %u is %s", (unsigned)job->job, (unsigned)up->job,
			   state_table[up->decided].name);
}

static void subruns_rest(struct sim_world *world)
{
	for (size_t i = 0; i < world->graph_count; i++) {
		const struct row_run *row = world->graphs[i]->within ? run_row(world, world->graphs[i]->run) : NULL;

		if (row && !row->ended_ms)
			world_fail(world, "I9: sub-run %u never ended", (unsigned)row->run);
	}
}

const struct oracle_check oracle_subruns = {
	.row = subruns_row, .event = subruns_event, .given = subruns_given, .rest = subruns_rest,
};
