/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the oracle knows of jobs and runs; calls all checks when something happens. The checks are in oracle_TOPIC.c. */
#include "oracle.h"

#include "base/mem.h"

static const struct oracle_check *const checks[] = {
#define ORACLE(name, what) &oracle_##name,
#include "topics.def"
#undef ORACLE
};

#define FOR_EACH_CHECK(hook, ...)                                                \
	for (size_t at = 0; at < sizeof(checks) / sizeof(checks[0]); at++) {     \
		if (checks[at]->hook)                                            \
			checks[at]->hook(__VA_ARGS__);                           \
	}

struct oracle_job *oracle_job(struct sim_world *world, uint64_t serial)
{
	struct oracle_job *job = map_get(&world->oracle.jobs, serial);

	if (!job) {
		job = mem_zalloc(sizeof(*job));
		job->job = serial;
		map_put(&world->oracle.jobs, serial, job);
	}
	return job;
}

const struct sim_graph *oracle_graph(struct sim_world *world, uint64_t serial, uint64_t *ret_first)
{
	for (size_t i = 0; i < world->graph_count; i++) {
		const struct sim_graph *graph = world->graphs[i];

		if (!graph->first || serial < graph->first || serial - graph->first >= graph->count)
			continue;
		*ret_first = graph->first;
		return graph;
	}
	return NULL;
}

uint64_t oracle_serial(const struct sim_graph *graph, uint32_t index)
{
	return graph->first ? graph->first + index : 0;
}

uint64_t oracle_need(const struct sim_graph *graph, uint64_t need)
{
	const struct sim_parent *parent = need < graph->count ? NULL : &graph->parents[need - graph->count];

	return parent ? oracle_serial(parent->graph, parent->index) : graph->first + need;
}

uint64_t oracle_run_next(struct sim_world *world, uint64_t run, struct oracle_walk *walk)
{
	for (; walk->graph < world->graph_count; walk->graph++, walk->index = 0) {
		const struct sim_graph *graph = world->graphs[walk->graph];

		if (graph->durable_run == run && walk->index < graph->count)
			return graph->first + walk->index++;
	}
	return 0;
}

const struct rec_job_spec *oracle_spec(struct sim_world *world, uint64_t serial)
{
	uint64_t first = 0;
	const struct sim_graph *graph = oracle_graph(world, serial, &first);

	return graph ? &graph->jobs[serial - first] : NULL;
}

static void note_decided(struct sim_world *world, const struct row *row)
{
	if (row->table == TABLE_job && !row->deleted) {  /* a pruned job stays as it ended */
		struct oracle_job *job = oracle_job(world, (uint64_t)row->job.job);

		job->round_decided = (uint32_t)row->job.round;
		job->decided = (enum job_state)row->job.state;
		job->held_decided = (row->job.flags & ROW_JOB_HELD) != 0;
		job->loose_decided = (row->job.flags & ROW_JOB_LOOSE) != 0;
		job->moved = true;
		job->priority_decided = (unsigned)row->job.priority;
	} else if (row->table == TABLE_run) {
		map_remove(&world->oracle.held_runs, (uint64_t)row->run.run);
		if (row->run.held)
			map_put(&world->oracle.held_runs, (uint64_t)row->run.run, world);
	}
}

void oracle_turn(struct sim_world *world, const struct outbox *outbox)
{
	FOR_EACH_CHECK(turn, world, outbox);
	for (size_t i = 0; i < outbox->row_count; i++)
		note_decided(world, &outbox->rows[i]);
	for (size_t i = 0; i < outbox->frame_count; i++) {
		const struct outgoing *frame = &outbox->frames[i];

		if (frame->op == OP_ASSIGN)
			FOR_EACH_CHECK(given, world, &frame->assign, oracle_job(world, frame->assign.job));
	}
	FOR_EACH_CHECK(decided, world, outbox);
}

void oracle_crashed(struct sim_world *world)
{
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	while (map_next(&world->oracle.jobs, &cursor, &serial, &value)) {
		struct oracle_job *job = value;
		const struct row *row = disk_get(&world->disk, TABLE_job, serial);

		job->round_decided = row ? (uint32_t)row->job.round : 0;
		job->decided = row ? (enum job_state)row->job.state : job->terminal ? job->durable : STATE_WAITING;
		job->held_decided = row && row->job.flags & ROW_JOB_HELD;
		job->loose_decided = row && row->job.flags & ROW_JOB_LOOSE;
		job->moved = row != NULL;
		job->priority_decided = row ? (unsigned)row->job.priority : 0;
	}
	map_free(&world->oracle.held_runs);
	for (size_t i = 0; i < world->disk.count; i++)
		if (world->disk.order[i]->row.table == TABLE_run)
			note_decided(world, &world->disk.order[i]->row);
	FOR_EACH_CHECK(crash, world);
}

static void note_durable(struct oracle_job *job, const struct row_job *row)
{
	job->round = (uint32_t)row->round;
	job->epoch_durable = (uint64_t)row->epoch;
	job->durable = (enum job_state)row->state;
	job->terminal = state_terminal(job->durable);
	job->row = *row;
	job->run = (uint64_t)row->run;
}

static void durable_events(struct sim_world *world, struct slice body, int64_t wall_ms)
{
	struct arena arena = { 0 };
	struct rec_happening happening;
	struct rec_event event;

	while (body.len) {
		struct oracle_job *job;

		if (happening_is_next(body)) {
			if (record_decode(REC_happening, &body, &arena, &happening, NULL) != ERR_NONE)
				world_fail(world, "an event row can't be read");
			continue;
		}
		if (record_decode(REC_event, &body, &arena, &event, NULL) != ERR_NONE)
			world_fail(world, "an event row can't be read");
		if (event.from >= STATE_COUNT || event.event >= EVENT_COUNT || event.to >= STATE_COUNT ||
		    !state_allows((enum job_state)event.from, (enum job_event)event.event, (enum job_state)event.to))
			world_fail(world, "a move that isn't in the table was recorded");
		sim_totals.moves[event.from][event.event][event.to]++;
		job = oracle_job(world, event.job);
		FOR_EACH_CHECK(event, world, &event, job, oracle_spec(world, event.job), wall_ms);
		if (event_opens_round(&event)) {
			job->event_round++;
			job->round_epoch = event.epoch;
		}
		if (event.event == EVENT_PERSON_RETRY)
			job->round_epoch = event.epoch;
		if (event.to == STATE_SUCCEEDED || event.to == STATE_FAILED)
			world->oracle.results++;
	}
	arena_free(&arena);
}

void oracle_durable(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->row_count; i++) {
		const struct row *row = &outbox->rows[i];
		struct oracle_job *job = row->table == TABLE_job ? oracle_job(world, (uint64_t)row->job.job) : NULL;

		if (row->deleted)
			continue;
		FOR_EACH_CHECK(row, world, row, job, outbox);
		if (job)
			note_durable(job, &row->job);
		if (row->table == TABLE_event)
			durable_events(world, row->event.body, outbox->wall_ms);
	}
	FOR_EACH_CHECK(committed, world, outbox);
}

void oracle_started(struct sim_world *world, const struct sim_worker *worker, uint64_t serial, uint64_t epoch)
{
	struct oracle_job *job = oracle_job(world, serial);
	const struct row *row = disk_get(&world->disk, TABLE_job, serial);
	struct oracle_start start = { .worker = worker, .job = job, .epoch = epoch };

	world_note(world, "%s starts job %u epoch %x", worker->name, (unsigned)serial, (unsigned)epoch);
	if (!row || (uint64_t)row->job.epoch < epoch)
		world_fail(world, "I6: job %u epoch %x starts without a durable assignment", (unsigned)serial, (unsigned)epoch);
	start.graph = oracle_graph(world, serial, &start.first);
	if (!start.graph)
		world_fail(world, "I6: job %u of no durable run starts", (unsigned)serial);
	start.spec = &start.graph->jobs[serial - start.first];
	start.row = &row->job;
	start.own_round = epoch > job->round_epoch;
	FOR_EACH_CHECK(start, world, &start);
	job->last_started = epoch;
	job->starts += start.own_round;
	job->live++;
	world->oracle.starts++;
	sim_totals.starts++;
}

void oracle_ended(struct sim_world *world, uint64_t serial, uint64_t epoch)
{
	struct oracle_job *job = oracle_job(world, serial);

	world_note(world, "job %u epoch %x is gone", (unsigned)serial, (unsigned)epoch);
	if (job->live == 0)
		world_fail(world, "job %u ends twice", (unsigned)serial);
	job->live--;
}

void oracle_paused(struct sim_world *world, const struct sim_worker *worker)
{
	for (size_t i = 0; i < worker->process_count; i++)
		oracle_job(world, worker->processes[i].job)->on_paused = true;
}

void oracle_quiet(struct sim_world *world, const struct sim_worker *worker)
{
	FOR_EACH_CHECK(quiet, world, worker);
}

void oracle_rest(struct sim_world *world)
{
	FOR_EACH_CHECK(rest, world);
}

void oracle_free(struct oracle *oracle)
{
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	while (map_next(&oracle->jobs, &cursor, &serial, &value))
		mem_free(value);
	map_free(&oracle->jobs);
	map_free(&oracle->runs);
	map_free(&oracle->held_runs);
}
