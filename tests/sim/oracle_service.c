/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Services: an end of their process is followed by another start after a wait, unless the specification says otherwise; a
 * lost worker never ends them; and they are stopped in the transaction in which the last other job of their run ends.
 */
#include "oracle.h"

#include "proto/spec.h"

bool oracle_service(struct sim_world *world, uint64_t serial)
{
	const struct rec_job_spec *spec = oracle_spec(world, serial);

	return spec && spec->kind == KIND_SERVICE;
}

/* By the specification, is this end of the process followed by another start? */
static bool starts_again(const struct rec_job_spec *spec, const struct row_job *row)
{
	bool exited = row->outcome == OUTCOME_EXIT;

	for (size_t i = 0; exited && i < spec->restart_never.n; i++)
		if ((int64_t)spec->restart_never.at[i] == row->code)
			return false;
	return spec->restart == RESTART_ALWAYS || (spec->restart == RESTART_ON_FAILURE && !(exited && row->code == 0));
}

/* The wait is at least the first one; row->crashes is the number of ends since the service was stable. */
static void note_wait(struct oracle_job *job, const struct rec_job_spec *spec, uint64_t ends)
{
	uint64_t first = spec->restart_wait_ms ? spec->restart_wait_ms : LIMIT_SERVICE_WAIT_MS;
	uint64_t last = spec->restart_wait_max_ms ? spec->restart_wait_max_ms : LIMIT_SERVICE_WAIT_MAX_MS;
	uint64_t wait = first;

	last = last > first ? last : first;
	while (ends-- > 1 && wait < last)
		wait *= 2;
	wait = wait < last ? wait : last;
	job->wait_least_ms = wait;
	job->wait_most_ms = wait + wait / 4;
	if (job->row.flags & ROW_JOB_CRASH_LOOP)
		job->wait_least_ms = job->wait_most_ms = LIMIT_SERVICE_LOOP_WAIT_MS;
}

static void services_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			   const struct rec_job_spec *spec, int64_t wall_ms)
{
	bool own = spec && (uint64_t)job->row.epoch == event->epoch && (uint32_t)job->row.round == job->event_round;

	(void)wall_ms;
	if (!spec)
		return;
	if (spec->kind != KIND_SERVICE) {
		if (event->event == EVENT_RESTART || event->event == EVENT_OVER)
			world_fail(world, "job %u is no service, and is treated as one", (unsigned)event->job);
		return;
	}
	if (event->event == EVENT_LOST && event->to == STATE_FAILED)
		world_fail(world, "service %u failed because its worker was lost", (unsigned)event->job);
	if (own && (event->event == EVENT_EXITED_OK || event->event == EVENT_EXITED_FAIL) && starts_again(spec, &job->row))
		world_fail(world, "service %u ended for good, and should be started again", (unsigned)event->job);
	if (own && event->event == EVENT_RESTART && event->from != STATE_STOPPING && !starts_again(spec, &job->row))
		world_fail(world, "service %u is started again after an end that is its last", (unsigned)event->job);
	if (event->to == STATE_DELAYED && own && job->row.state == STATE_DELAYED)
		note_wait(job, spec, event->event == EVENT_RESTART && event->from != STATE_STOPPING ? (uint64_t)job->row.crashes : 1);
}

/* Does the run of this graph have jobs, beside services and final jobs, that haven't ended? *ret_any: it has such jobs. */
static bool has_work(struct sim_world *world, const struct sim_graph *of, bool *ret_any)
{
	bool open = false;

	*ret_any = false;
	for (size_t at = 0; at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];

		if (!graph->first || graph->durable_run != of->durable_run)
			continue;
		for (uint32_t i = 0; i < graph->count; i++) {
			if (graph->jobs[i].kind == KIND_SERVICE || oracle_final(graph, i))
				continue;
			*ret_any = true;
			open = open || !state_terminal(oracle_job(world, graph->first + i)->durable);
		}
	}
	return open;
}

static void services_committed(struct sim_world *world, const struct outbox *outbox)
{
	(void)outbox;
	for (size_t at = 0; at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];
		bool any;

		if (!graph->first || !graph->durable_run)
			continue;
		for (uint32_t i = 0; i < graph->count; i++) {
			enum job_state state = oracle_job(world, graph->first + i)->durable;

			if (graph->jobs[i].kind != KIND_SERVICE || state_terminal(state) || state == STATE_STOPPING)
				continue;
			if (!has_work(world, graph, &any) && any)
				world_fail(world, "service %u is %s, and the other jobs of its run have ended",
					   (unsigned)(graph->first + i), state_table[state].name);
		}
	}
}

const struct oracle_check oracle_services = { .event = services_event, .committed = services_committed };
