/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Retries (I12: at most as many failures as allowed), rounds, delays, and earliest start times. */
#include "oracle.h"

#include "proto/spec.h"

/*
 * Return the graph's first serial number, decided if known, because a child may have an attempt before the added
 * graph is durable. For schedules and sub-runs only the durable one is known.
 */
static uint64_t first_of(const struct sim_graph *graph)
{
	return graph->decided.run ? graph->decided.first : graph->first;
}

static bool is_of_run(const struct sim_graph *graph, uint64_t run)
{
	return (graph->decided.run ? graph->decided.run : graph->durable_run) == run;
}

static const struct sim_graph *graph_of(const struct sim_world *world, uint64_t run, uint64_t serial)
{
	for (size_t i = 0; i < world->graph_count; i++)
		if (is_of_run(world->graphs[i], run) && serial - first_of(world->graphs[i]) < world->graphs[i]->count)
			return world->graphs[i];
	return NULL;
}

static uint64_t need_of(const struct sim_graph *graph, uint64_t need)
{
	const struct sim_parent *parent = need < graph->count ? NULL : &graph->parents[need - graph->count];

	return parent ? first_of(parent->graph) + parent->index : first_of(graph) + need;
}

/* Is this a gate without a command whose children all have attempts? Asking it again would change nothing. */
static bool spent_gate(struct sim_world *world, uint64_t run, uint64_t serial)
{
	const struct sim_graph *own = graph_of(world, run, serial);
	uint32_t index = own ? (uint32_t)(serial - first_of(own)) : 0;
	bool spent = own && own->jobs[index].gate_count && !own->jobs[index].argv.n;
	unsigned children = 0;

	for (size_t at = 0; spent && at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];

		for (uint32_t i = 0; spent && is_of_run(graph, run) && i < graph->count; i++)
			for (size_t n = 0; n < graph->jobs[i].needs.n; n++) {
				enum job_state child = oracle_job(world, first_of(graph) + i)->decided;

				if (need_of(graph, graph->jobs[i].needs.at[n]) != serial)
					continue;
				children++;
				spent = spent && (state_has_attempt(child) || child == STATE_UNKNOWN);
			}
	}
	for (uint32_t i = 0; spent && own->into && !oracle_final(own, index) && i < own->into->count; i++) {
		enum job_state child = oracle_job(world, first_of(own->into) + i)->decided;

		if (!own->into->jobs[i].final)
			continue;
		children++;
		spent = state_has_attempt(child) || child == STATE_UNKNOWN;
	}
	return spent && children > 0;
}

/*
 * Check a job that doesn't get a new round with its parent: that happens only if one job alone is retried, or for a
 * gate whose answer no longer matters.
 */
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
	if (spent_gate(world, (uint64_t)row->run, (uint64_t)row->job))
		return;
	world_fail(world, "job %u isn't decided anew with its parent", (unsigned)row->job);
}

static void retries_turn(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_job)
			decided_loose(world, outbox, &outbox->rows[i].job);
}

/* By the job's policy, is this end retried? The row is of the same turn and says how the attempt ended. */
static bool covered(const struct rec_job_spec *spec, const struct row_job *row, const struct rec_event *event)
{
	uint64_t on = spec->retry_on ? spec->retry_on : 1 | 2 | 4;
	bool listed = spec->retry_codes.n == 0;

	if (event->from == STATE_STOPPING)
		return (on & 8) != 0 && row->stop_cause != EVENT_DEADLINE;
	for (size_t i = 0; i < spec->retry_codes.n; i++)
		listed = listed || (int64_t)spec->retry_codes.at[i] == row->code;
	return (row->outcome == OUTCOME_EXIT && on & 1 && listed) || (row->outcome == OUTCOME_SIGNAL && on & 2) ||
	       (outcome_is_no_start((uint64_t)row->outcome) && on & 4);
}

/*
 * Note the bounds of the delay before the retry (I12): at least the configured backoff, doubled up to its maximum,
 * plus at most a quarter of jitter. oracle_times.c checks them when the delay is over.
 */
static void note_wait(struct oracle_job *job, const struct rec_job_spec *spec, uint32_t nth)
{
	int64_t first = spec->backoff_ms ? (int64_t)spec->backoff_ms : LIMIT_RETRY_BACKOFF_MS;
	int64_t last = spec->backoff_max_ms ? (int64_t)spec->backoff_max_ms : LIMIT_RETRY_BACKOFF_MAX_MS;
	int64_t wait = first;

	last = last > first ? last : first;
	while (--nth > 0 && wait < last)
		wait = wait * 2 < last ? wait * 2 : last;
	job->wait_least_ms = (uint64_t)wait;
	job->wait_most_ms = (uint64_t)(spec->backoff_exact ? wait : wait + wait / 4);
}

static void retries_failed(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			   const struct rec_job_spec *spec)
{
	bool again, retried = event->to == STATE_DELAYED && event->event != EVENT_AGAIN;

	job->fails++;
	if (job->row.round != job->event_round)
		/* the job's round ended in the same turn: the row already belongs to the next one */
		return;
	if (event->from == STATE_STOPPING && job->row.state != (int64_t)event->to)
		/* the job went on in the same turn: the row may have a later cause */
		return;
	again = covered(spec, &job->row, event) && job->fails <= spec->retry_max &&
		/* a person cancelled the job's sub-run */
		!(spec->sub_count && event->from == STATE_RUNNING && job->row.code == 2);
	again = again && !(spec->loop_max && oracle_pass_holds(spec, &job->row, event->from == STATE_STOPPING ?
							       STATE_TIMED_OUT : STATE_FAILED));
	if (retried != again)
		world_fail(world, "I12: job %u is %s after %u failures, with %u retries", (unsigned)event->job,
			   state_table[event->to].name, job->fails, (unsigned)spec->retry_max);
	if (again && job->row.state == STATE_DELAYED)
		note_wait(job, spec, job->fails);
}

/* Check a lost attempt. If the worker was told to quit, that is no crash of the job. */
static void retries_lost(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			 const struct rec_job_spec *spec)
{
	uint64_t limit = spec->crash_limit ? spec->crash_limit : LIMIT_CRASH_LIMIT;
	bool told = job->row.outcome == OUTCOME_STOPPED;

	if (job->row.round != job->event_round)
		return;
	job->lost += !told;
	if (event->to == STATE_FAILED && (told || job->lost != limit))
		world_fail(world, "I12: job %u failed after %u lost attempts, and %u are its limit", (unsigned)event->job,
			   job->lost, (unsigned)limit);
	if (event->to == STATE_DELAYED && job->lost >= limit)
		world_fail(world, "I12: job %u goes on after %u lost attempts", (unsigned)event->job, job->lost);
	if (event->to == STATE_DELAYED && job->row.state == STATE_DELAYED)
		note_wait(job, spec, told ? 1 : job->lost);
}

/* Has a pass of a loop failed for good? If another attempt followed in the same turn, the row can't tell. */
static bool pass_failed(const struct rec_event *event, const struct oracle_job *job)
{
	if (event->event != EVENT_AGAIN && event->event != EVENT_ENOUGH)
		return false;
	return event->from == STATE_STOPPING || ((uint64_t)job->row.epoch == event->epoch &&
		(job->row.outcome != OUTCOME_EXIT || job->row.code != 0));
}

/* A new pass begins with its full number of tries. */
static void pass_begins(const struct rec_event *event, struct oracle_job *job, const struct rec_job_spec *spec)
{
	job->fails = job->lost = 0;
	if (event->to != STATE_DELAYED)
		return;
	job->wait_least_ms = spec->loop_delay_ms;
	job->wait_most_ms = spec->loop_delay_ms ? spec->loop_delay_ms : 1;
}

static void retries_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			  const struct rec_job_spec *spec, int64_t wall_ms)
{
	(void)wall_ms;
	if (event_opens_round(event))
		job->fails = job->lost = 0;
	/* oracle_service.c checks how services go on. */
	if (!spec || spec->kind == KIND_SERVICE)
		return;
	if (event->event == EVENT_EXITED_FAIL || pass_failed(event, job) ||
	    (event->from == STATE_STOPPING && (event->to == STATE_DELAYED || event->to == STATE_TIMED_OUT)))
		retries_failed(world, event, job, spec);
	else if (event->event == EVENT_LOST && event->from == STATE_RUNNING && event->to != STATE_UNKNOWN)
		retries_lost(world, event, job, spec);
	if (event->event == EVENT_AGAIN)
		pass_begins(event, job, spec);
}

const struct oracle_check oracle_retries = { .turn = retries_turn, .event = retries_event };

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

const struct oracle_check oracle_stages = { .event = stages_event };
