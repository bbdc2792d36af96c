/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that are added to a run: ends of their parents count for them in the same turn, a cancel of the run covers them,
 * and final jobs that haven't begun wait for them.
 */
#include "oracle.h"

static bool is_against(struct sim_world *world, enum trigger trigger, uint64_t parent)
{
	const struct row *row = disk_get(&world->disk, TABLE_job, parent);
	enum job_state state = row ? (enum job_state)row->job.state : STATE_WAITING;

	if (!state_terminal(state) || trigger == TRIGGER_DONE || trigger == TRIGGER_EXPR)
		return false;
	state = oracle_result(world, parent, state);
	if (trigger == TRIGGER_OK)
		return state != STATE_SUCCEEDED;
	return state != STATE_FAILED && state != STATE_TIMED_OUT && state != STATE_DENIED && state != STATE_QUARANTINED;
}

/* Has a parent ended in a way that keeps the job from running? */
static bool has_against(struct sim_world *world, const struct sim_graph *graph, uint32_t index)
{
	const struct rec_job_spec *spec = &graph->jobs[index];

	for (size_t i = 0; i < spec->needs.n; i++)
		if (is_against(world, spec->triggers.n ? (enum trigger)spec->triggers.at[i] : TRIGGER_OK,
			       oracle_need(graph, spec->needs.at[i])))
			return true;
	return false;
}

bool oracle_final(const struct sim_graph *graph, uint32_t index)
{
	const struct rec_job_spec *spec = &graph->jobs[index];

	if (!graph->into)
		return spec->final;
	for (size_t i = 0; i < spec->needs.n; i++) {
		uint64_t need = spec->needs.at[i];
		const struct sim_parent *parent = need < graph->count ? NULL : &graph->parents[need - graph->count];

		if (parent ? oracle_final(parent->graph, parent->index) : oracle_final(graph, (uint32_t)need))
			return true;
	}
	return false;
}

static bool has_begun(enum job_state state)
{
	return state_has_attempt(state) || state == STATE_SUCCEEDED || state == STATE_FAILED;
}

/*
 * Check whether the job has had an attempt. A cancelled or timed out job may have ended before its first attempt.
 */
static bool row_begun(const struct row_job *row)
{
	if (row->state == STATE_CANCELLED || row->state == STATE_TIMED_OUT)
		return row->tries > 0;
	return has_begun((enum job_state)row->state);
}

/*
 * Check whether a final job had begun before the jobs were added, or began while an added job is open. (If all
 * added jobs ended in the same turn, a person may have retried the final job afterwards.)
 */
static bool had_begun(struct sim_world *world, uint64_t final, bool open)
{
	const struct row *row = disk_get(&world->disk, TABLE_job, final);
	const struct oracle_job *job = oracle_job(world, final);

	if (!row || !row_begun(&row->job))
		return false;
	return open || (has_begun(job->durable) && job->round == (uint32_t)row->job.round);
}

/*
 * Check a graph that was just added. The rows show the end of that turn; struct oracle_job still shows the turn
 * before.
 */
static void check_added(struct sim_world *world, const struct sim_graph *graph, bool cancelled)
{
	const struct sim_graph *run = graph->into;
	uint32_t before = 0;
	bool open = false;

	for (uint32_t i = 0; i < graph->count; i++) {
		const struct row *row = disk_get(&world->disk, TABLE_job, graph->first + i);
		enum job_state state = row ? (enum job_state)row->job.state : STATE_WAITING;

		before += !oracle_final(graph, i);
		open = open || (!oracle_final(graph, i) && !state_terminal(state));
		if (cancelled && !state_terminal(state) && state != STATE_STOPPING && !oracle_always(&graph->jobs[i]))
			world_fail(world, "I10: job %u was added to a run that was cancelled", (unsigned)(graph->first + i));
		if (has_against(world, graph, i) && !state_terminal(state))
			world_fail(world, "job %u was added behind a job whose end keeps it from running, and goes on",
				   (unsigned)(graph->first + i));
	}
	for (uint32_t i = 0; before > 0 && i < run->count; i++)
		if (run->jobs[i].final && had_begun(world, run->first + i, open))
			world_fail(world, "job %u is final and has begun, and others were added before it",
				   (unsigned)(run->first + i));
}

static void growth_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	const struct row *run = row->table == TABLE_submit_key ?
		disk_get(&world->disk, TABLE_run, (uint64_t)row->submit_key.run) : NULL;

	(void)job;
	(void)outbox;
	for (size_t i = 0; run && i < world->graph_count; i++)
		if (world->graphs[i]->into && world->graphs[i]->first &&
		    slice_eq(row->submit_key.submit_key, slice_make(world->graphs[i]->key, sizeof(world->graphs[i]->key))))
			check_added(world, world->graphs[i], run->run.cancelled != 0);
}

/* Check that a final job begins only after all added jobs have ended, whatever their result. */
static void growth_start(struct sim_world *world, const struct oracle_start *start)
{
	if (start->graph->into || !start->spec->final || start->row->flags & ROW_JOB_LOOSE)
		return;
	for (size_t i = 0; i < world->graph_count; i++) {
		const struct sim_graph *graph = world->graphs[i];

		for (uint32_t k = 0; graph->into == start->graph && graph->first && k < graph->count; k++) {
			const struct row *row = disk_get(&world->disk, TABLE_job, graph->first + k);

			if (!oracle_final(graph, k) && (!row || !state_terminal((enum job_state)row->job.state)))
				world_fail(world, "I6: final job %u starts before job %u, which was added",
					   (unsigned)start->job->job, (unsigned)(graph->first + k));
		}
	}
}

/* Check that a job is skipped only if a parent's end keeps it from running. */
static void growth_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			 const struct rec_job_spec *spec, int64_t wall_ms)
{
	uint64_t first = 0;
	const struct sim_graph *graph = oracle_graph(world, event->job, &first);

	(void)wall_ms;
	if (!graph || !spec || event->event != EVENT_DEP_AGAINST || spec->needs_code.len > 0 ||
	    (uint64_t)job->row.round != job->event_round || job->row.flags & ROW_JOB_LOOSE)
		return;
	if (!has_against(world, graph, (uint32_t)(event->job - first)))
		world_fail(world, "job %u is skipped, and nothing decided against it", (unsigned)event->job);
}

const struct oracle_check oracle_runs_grow = { .row = growth_row, .start = growth_start, .event = growth_event };
