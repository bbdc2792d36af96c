/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The number of active jobs of a run or a fan-out stays within its limit, and the first failure ends a fan-out that
 * asked for that.
 */
#include "oracle.h"

#include "proto/spec.h"

static bool holds(enum job_state state)
{
	return state == STATE_ASSIGNED || state == STATE_RUNNING || state == STATE_STOPPING;
}

static void bounds_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	uint64_t first = 0, in_run = 0, in_group = 0, serial;
	const struct sim_graph *graph = oracle_graph(world, job->job, &first);
	const struct rec_job_spec *spec = graph ? &graph->jobs[job->job - first] : NULL;

	/* Services don't count. */
	if (spec && spec->kind == KIND_SERVICE)
		return;
	for (uint32_t i = 0; graph && i < graph->count; i++)
		in_group += holds(oracle_job(world, first + i)->decided) && graph->jobs[i].group == spec->group;
	for (struct oracle_walk walk = { 0 }; (serial = oracle_run_next(world, assign->run, &walk)) != 0;)
		in_run += holds(oracle_job(world, serial)->decided) && !oracle_service(world, serial);
	if (graph && oracle_root(graph)->max_jobs && in_run > oracle_root(graph)->max_jobs)
		world_fail(world, "%u jobs of a run are out, and %u is the most", (unsigned)in_run, oracle_root(graph)->max_jobs);
	if (spec && spec->group_parallel && in_group > spec->group_parallel)
		world_fail(world, "%u jobs of a fan-out are out, and %u is the most", (unsigned)in_group,
			   (unsigned)spec->group_parallel);
}

/*
 * Check that the first failure of a fail-fast fan-out ends the other members in the same transaction. Members in
 * state unknown stay.
 */
static void bounds_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *failed,
			 const struct rec_job_spec *spec, int64_t wall_ms)
{
	uint64_t first = 0;
	const struct sim_graph *graph = oracle_graph(world, event->job, &first);

	(void)wall_ms;
	if (!spec || !spec->group_fail_fast || failed->row.round != failed->event_round ||
	    (event->to != STATE_FAILED && event->to != STATE_TIMED_OUT) ||
	    oracle_forgiven(world, event->job, (enum job_state)event->to))
		return;
	for (uint32_t i = 0; i < graph->count; i++) {
		const struct row *row = disk_get(&world->disk, TABLE_job, first + i);

		if (graph->jobs[i].group != spec->group)
			continue;
		if (!row || (!state_terminal((enum job_state)row->job.state) && row->job.state != STATE_STOPPING &&
			     row->job.state != STATE_UNKNOWN &&
			     (uint32_t)row->job.round == oracle_job(world, first + i)->event_round))
			world_fail(world, "job %u failed, and job %u of its fan-out goes on", (unsigned)event->job,
				   (unsigned)(first + i));
	}
}

const struct oracle_check oracle_bounds = { .given = bounds_given, .event = bounds_event };
