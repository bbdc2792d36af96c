/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where jobs run: the jobs that run on a worker never use more than it offers (I7), and no job is assigned to a worker
 * that lacks what the job needs or is cordoned or drained. What people set is known from their acts, and after a crash
 * from rows.
 */
#include "oracle.h"

#define LACKS_MAX 30

struct oracle_worker *oracle_worker(struct sim_world *world, uint64_t number)
{
	for (uint32_t i = 0; number && i < world->worker_count; i++)
		if (world->oracle.workers[i].number == number)
			return &world->oracle.workers[i];
	return NULL;
}

static uint32_t worker_index(struct sim_world *world, struct slice name)
{
	uint32_t i = 0;

	while (i < world->worker_count && !slice_eq(name, slice_str(world->workers[i].name)))
		i++;
	return i;
}

static unsigned pool_index(struct slice name)
{
	unsigned i = 0;

	while (i + 1 < SIM_POOLS && !slice_eq(name, slice_str(graph_pool_names[i])))
		i++;
	return i;
}

/* Is this a stranger's job (it has a description then), and does the worker take only jobs of the owner? */
static bool is_strange(const struct rec_job_spec *spec, const struct sim_worker *worker)
{
	return spec->description.len > 0 && worker->owners_only;
}

/* Is this a worker of the machine in whose directory the jobs of the graph run, and has it that directory? */
static bool is_here(const struct sim_graph *graph, const struct sim_worker *worker)
{
	return graph->machine == 0 || (graph->machine == worker->index % SIM_MACHINES + 1 && !worker->lacks_here);
}

bool oracle_runs_here(struct sim_world *world, uint64_t serial)
{
	uint64_t first;
	const struct sim_graph *graph = oracle_graph(world, serial, &first);

	return graph && graph->machine > 0;
}

/* The index + 1 of the pool to which a topic is mapped: by itself, or by the longest pattern that matches; 0: none. */
static unsigned mapped(const struct sim_world *world, struct slice topic)
{
	const unsigned *topics = world->oracle.topics;

	if (slice_eq(topic, slice_str(graph_pattern_names[2])) && topics[2])
		return topics[2];
	return topics[1] ? topics[1] : topics[0];
}

/* Do the job's topic and capabilities keep it from this pool? */
static bool wrong_pool(const struct sim_world *world, const struct rec_job_spec *spec, unsigned pool)
{
	return (spec->topic.len > 0 && mapped(world, spec->topic) != pool + 1) || (graph_requires(spec) & ~world->oracle.provides[pool]) != 0;
}

static bool misses_label(const struct rec_job_spec *spec, unsigned labels)
{
	for (size_t i = 0; i < spec->labels.n; i++) {
		struct slice label = spec->labels.at[i];
		bool lacks = label.data[0] == '!';

		label = slice_make(label.data + lacks, label.len - lacks);
		for (unsigned bit = 0; bit < SIM_LABELS; bit++)
			if (slice_eq(label, slice_str(graph_label_names[bit])) && (labels >> bit & 1) == lacks)
				return true;
	}
	return false;
}

/* ---- workers and pools as people set them ---- */

/*
 * Mark the worker's assigned jobs as carried over: they were assigned when it offered more than now, so they may wait
 * there although there is no room for them.
 */
static void carry_over(struct sim_world *world, const struct oracle_worker *worker)
{
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	while (map_next(&world->oracle.jobs, &cursor, &serial, &value)) {
		struct oracle_job *job = value;

		job->carried |= job->worker_decided == worker->number &&
				(job->decided == STATE_ASSIGNED || job->decided == STATE_STOPPING);
	}
}

void oracle_hello(struct sim_world *world, uint32_t index, uint64_t conn, const struct message *hello)
{
	struct oracle_worker *worker = &world->oracle.workers[index];

	/* a HELLO that was delayed while a newer connection came: the master ignores it */
	if (conn < worker->newest_conn)
		return;
	worker->newest_conn = conn;

	for (unsigned i = 0; i < SIM_KINDS; i++)
		if (hello->offers[i] < worker->offers[i]) {
			carry_over(world, worker);
			break;
		}
	memcpy(worker->offers, hello->offers, sizeof(worker->offers));
	worker->pool = hello->pool;
}

static void said(struct sim_world *world, const struct sim_act *act)
{
	struct oracle_worker *worker = &world->oracle.workers[act->object];

	if (act->kind == OBJECT_TOPIC) {
		world->oracle.topics[act->object] = act->set == SET_PUT ? (unsigned)act->number + 1 : 0;
	} else if (act->kind == OBJECT_POOL && act->set == SET_PUT) {
		world->oracle.provides[act->object] = (unsigned)act->number;
	} else if (act->kind == OBJECT_POOL) {
		world->oracle.pools[act->object] = act->set == SET_DRAIN ? POOL_DRAINING :
						   act->set == SET_PAUSE ? POOL_INACTIVE : POOL_ACTIVE;
	} else if (act->kind == OBJECT_WORKER) {
		worker->standing = act->set == SET_DRAIN ? STANDING_DRAINING :
				   act->set == SET_PAUSE ? STANDING_CORDONED : STANDING_NONE;
		if (act->set == SET_REMOVE)
			worker->number = 0;
	}
}

/* Check whether the same turn assigned the attempt and recalled it. */
static bool asked_back(const struct outbox *outbox, const struct rec_assign *assign)
{
	for (size_t i = 0; i < outbox->frame_count; i++)
		if (outbox->frames[i].op == OP_RECALL && outbox->frames[i].recall.job == assign->job &&
		    outbox->frames[i].recall.epoch == assign->epoch)
			return true;
	return false;
}

/*
 * Check that a job isn't assigned and recalled turn after turn. Doing so once may make room for another job; without an
 * end it would be a cycle.
 */
static void check_rounds(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->frame_count; i++) {
		const struct rec_assign *assign = &outbox->frames[i].assign;
		struct oracle_job *job;

		if (outbox->frames[i].op != OP_ASSIGN)
			continue;
		job = oracle_job(world, assign->job);
		job->carried = false;
		job->asked_back = asked_back(outbox, assign) ? job->asked_back + 1 : 0;
		if (job->asked_back > 3)
			world_fail(world, "job %u is given and asked back turn after turn", (unsigned)assign->job);
	}
}

static void place_turn(struct sim_world *world, const struct outbox *outbox)
{
	check_rounds(world, outbox);
	for (size_t i = 0; i < outbox->frame_count; i++)
		if (outbox->frames[i].op == OP_OK && outbox->frames[i].ok.id >= ACT_BASE)
			said(world, &world->acts[outbox->frames[i].ok.id - ACT_BASE]);
	/* A worker that returned before a person forgot it has first a row and then none in the same turn. */
	for (size_t i = 0; i < outbox->row_count; i++) {
		const struct row *row = &outbox->rows[i];
		struct oracle_worker *worker = NULL;

		if (row->table == TABLE_worker)
			worker = row->deleted ? oracle_worker(world, (uint64_t)row->worker.worker) :
						&world->oracle.workers[worker_index(world, row->worker.name)];
		if (worker)
			worker->number = row->deleted ? 0 : (uint64_t)row->worker.worker;
	}
	for (size_t i = 0; i < outbox->row_count; i++) {
		const struct row_job *row = &outbox->rows[i].job;

		if (outbox->rows[i].table == TABLE_job)
			oracle_job(world, (uint64_t)row->job)->worker_decided = (uint64_t)row->worker;
	}
}

/* The capabilities of a row, as bits. */
static unsigned provided(struct slice text)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < SIM_CAPABILITIES; i++)
		if (text.len > 0 && memmem(text.data, text.len, graph_capability_names[i], strlen(graph_capability_names[i])))
			bits |= 1U << i;
	return bits;
}

static unsigned pattern_index(struct slice name)
{
	unsigned i = 0;

	while (i + 1 < SIM_PATTERNS && !slice_eq(name, slice_str(graph_pattern_names[i])))
		i++;
	return i;
}

static void note_row(struct sim_world *world, const struct row *row)
{
	if (row->table == TABLE_worker) {
		struct oracle_worker *worker = &world->oracle.workers[worker_index(world, row->worker.name)];

		worker->number = (uint64_t)row->worker.worker;
		worker->standing = (enum worker_standing)(row->worker.standing & ~ROW_WORKER_ENDED);
	} else if (row->table == TABLE_pool) {
		world->oracle.pools[pool_index(row->pool.pool)] = (enum pool_state)row->pool.state;
	} else if (row->table == TABLE_pool_provides) {
		world->oracle.provides[pool_index(row->pool_provides.pool)] = provided(row->pool_provides.provides);
	} else if (row->table == TABLE_topic) {
		world->oracle.topics[pattern_index(row->topic.topic)] = pool_index(row->topic.pool) + 1;
	} else if (row->table == TABLE_job) {
		oracle_job(world, (uint64_t)row->job.job)->worker_decided = (uint64_t)row->job.worker;
	}
}

/*
 * A worker without the directory of the job gives the job back. The master may ask it more than once, for example if it gave
 * up the attempt before the answer came, but not again and again.
 */
void oracle_given_back(struct sim_world *world, const struct sim_worker *worker, uint64_t serial)
{
	struct oracle_job *job = oracle_job(world, serial);

	if (job->lacks_instance != worker->instance)
		job->lacks = 0;
	job->lacks_instance = worker->instance;
	if (++job->lacks > LACKS_MAX)
		world_fail(world, "job %u is given again and again to %s, which doesn't have its directory", (unsigned)serial, worker->name);
}

static void place_crash(struct sim_world *world)
{
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	/* Forget assignments that aren't durable: after the crash their serial numbers may belong to other jobs. */
	while (map_next(&world->oracle.jobs, &cursor, &serial, &value)) {
		struct oracle_job *job = value;

		job->worker_decided = 0;
		job->lacks = 0;
		if (!state_has_attempt(job->durable))
			memset(job->asks, 0, sizeof(job->asks));
	}
	for (unsigned i = 0; i < SIM_POOLS; i++)
		world->oracle.pools[i] = POOL_ACTIVE;
	memset(world->oracle.provides, 0, sizeof(world->oracle.provides));
	memset(world->oracle.topics, 0, sizeof(world->oracle.topics));
	for (uint32_t i = 0; i < world->worker_count; i++) {
		world->oracle.workers[i].number = 0;
		world->oracle.workers[i].standing = STANDING_NONE;
	}
	for (size_t i = 0; i < world->disk.count; i++)
		note_row(world, &world->disk.order[i]->row);
}

/* ---- assignments ---- */

/*
 * Check that a worker has room for a job that it gets, by the sum of what its jobs ask for. Jobs carried over from
 * larger offers don't count, nor do prefetched jobs, which may only wait behind jobs that ask for the same.
 */
static void check_room(struct sim_world *world, const struct oracle_job *given, struct oracle_worker *worker)
{
	uint64_t all[SIM_KINDS] = { 0 }, running[SIM_KINDS] = { 0 };
	bool equals = true;
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	while (map_next(&world->oracle.jobs, &cursor, &serial, &value)) {
		const struct oracle_job *job = value;
		/* It isn't known whether a stopping job had started, so it counts as carried over, too. */
		bool carried = job->carried && (job->decided == STATE_ASSIGNED || job->decided == STATE_STOPPING);
		/* A prefetched job has nothing reserved yet; a job that was stopped before its start never will. */
		bool waits = (job->decided == STATE_ASSIGNED && job != given) ||
			     (job->decided == STATE_STOPPING && job->last_started != (uint64_t)job->row.epoch);
		bool asks = false;

		if (job->worker_decided != worker->number || !state_has_attempt(job->decided))
			continue;
		for (unsigned i = 0; i < SIM_KINDS; i++) {
			all[i] += carried ? 0 : job->asks[i];
			running[i] += carried || waits ? 0 : job->asks[i];
			asks |= job->asks[i] > 0;
		}
		/* Jobs that were assigned later in the same turn don't count. */
		equals &= !asks || job->given > given->given || memcmp(job->asks, given->asks, sizeof(job->asks)) == 0;
	}
	for (unsigned i = 0; i < SIM_KINDS; i++) {
		if (given->asks[i] == 0)
			continue;
		if (all[i] > worker->offers[i] && world->seed % 5 == 0)
			world_fail(world, "I7: job %u is given to a worker that has no room for it", (unsigned)given->job);
		if (running[i] > worker->offers[i] && !equals)
			world_fail(world, "I7: job %u is sent ahead of what asks for something else", (unsigned)given->job);
	}
}

static void place_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	struct oracle_worker *worker = oracle_worker(world, job->worker_decided);
	struct slice bytes = assign->spec;
	struct arena arena = { 0 };
	struct rec_job_spec spec;

	if (!worker || record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) != ERR_NONE)
		world_fail(world, "job %u is given to nobody", (unsigned)job->job);
	graph_asks(&spec, job->asks);
	if (worker->standing != STANDING_NONE || world->oracle.pools[worker->pool] != POOL_ACTIVE)
		world_fail(world, "job %u is given to a worker that is cordoned or draining, or whose pool is",
			   (unsigned)job->job);
	for (unsigned i = 0; i < SIM_KINDS; i++)
		if (job->asks[i] > worker->offers[i])
			world_fail(world, "job %u is given to a worker that never has enough %s", (unsigned)job->job,
				   graph_kind_names[i]);
	if (spec.pool_hard && !slice_eq(spec.pool, slice_str(graph_pool_names[worker->pool])))
		world_fail(world, "job %u is given to a worker of another pool", (unsigned)job->job);
	if (wrong_pool(world, &spec, worker->pool))
		world_fail(world, "job %u is given to a pool to which its topic isn't mapped, or which doesn't provide what it requires",
			   (unsigned)job->job);
	arena_free(&arena);
	check_room(world, job, worker);
}

/* ---- running jobs ---- */

static void place_start(struct sim_world *world, const struct oracle_start *start)
{
	const struct rec_job_spec *spec = start->spec;
	const struct sim_worker *worker = start->worker;
	uint64_t asks[SIM_KINDS], sum[SIM_KINDS] = { 0 }, first;
	const struct sim_graph *graph;

	if (misses_label(spec, worker->labels))
		world_fail(world, "job %u starts on %s, which lacks a label", (unsigned)start->job->job, worker->name);
	if (is_strange(spec, worker))
		world_fail(world, "job %u is a stranger's, and starts on %s", (unsigned)start->job->job, worker->name);
	graph = oracle_graph(world, start->job->job, &first);
	if (graph && !is_here(graph, worker))
		world_fail(world, "job %u runs in a directory of another machine, and starts on %s", (unsigned)start->job->job, worker->name);
	if (spec->only_worker.len && !slice_eq(spec->only_worker, slice_str(worker->name)))
		world_fail(world, "job %u starts on %s, which isn't the one", (unsigned)start->job->job, worker->name);
	for (size_t i = 0; i < worker->process_count; i++) {
		graph_asks(oracle_spec(world, worker->processes[i].job), asks);
		for (unsigned kind = 0; kind < SIM_KINDS; kind++)
			sum[kind] += asks[kind];
	}
	graph_asks(spec, asks);
	for (unsigned kind = 0; kind < SIM_KINDS; kind++)
		if (asks[kind] > 0 && sum[kind] > worker->offers[kind])
			world_fail(world, "I7: job %u starts on %s, where %u %s are asked for and %u there", (unsigned)start->job->job,
				   worker->name, (unsigned)sum[kind], graph_kind_names[kind], (unsigned)worker->offers[kind]);
}

bool oracle_worker_could(const struct sim_world *world, uint32_t index, const struct sim_graph *graph, const struct rec_job_spec *spec)
{
	const struct sim_worker *sim = &world->workers[index];
	const struct oracle_worker *worker = &world->oracle.workers[index];
	uint64_t asks[SIM_KINDS];

	graph_asks(spec, asks);
	for (unsigned kind = 0; kind < SIM_KINDS; kind++)
		if (asks[kind] > worker->offers[kind])
			return false;
	return !is_strange(spec, sim) && is_here(graph, sim) && !misses_label(spec, sim->labels) && worker->standing == STANDING_NONE &&
	       world->oracle.pools[worker->pool] == POOL_ACTIVE && !wrong_pool(world, spec, worker->pool) &&
	       (!spec->pool_hard || slice_eq(spec->pool, slice_str(graph_pool_names[worker->pool]))) &&
	       (spec->only_worker.len == 0 || slice_eq(spec->only_worker, slice_str(sim->name)));
}

/*
 * Does the job wait for a worker that can never run it? Then people cancel it. A job with hard affinity may wait for
 * its worker for ever: people give up after 20 minutes.
 */
bool oracle_job_hopeless(struct sim_world *world, const struct sim_graph *graph, uint32_t index)
{
	const struct oracle_job *job = oracle_job(world, oracle_serial(graph, index));
	const struct rec_job_spec *spec = &graph->jobs[index];
	uint64_t asks[SIM_KINDS];

	/* a job that was ready from the beginning has no row and counts as waiting */
	if (job->durable != STATE_READY && job->durable != STATE_WAITING)
		return false;
	if (spec->affinity_hard && world->now_ns - world->calm_ns > 1200 * NS_PER_S)
		return true;
	graph_asks(spec, asks);
	for (uint32_t i = 0; i < world->worker_count; i++) {
		const struct sim_worker *worker = &world->workers[i];
		bool may = !is_strange(spec, worker) && is_here(graph, worker) && !misses_label(spec, worker->labels);

		for (unsigned kind = 0; kind < SIM_KINDS; kind++)
			may &= asks[kind] <= worker->offers[kind];
		may &= !spec->pool_hard || slice_eq(spec->pool, slice_str(graph_pool_names[worker->pool]));
		may &= !wrong_pool(world, spec, worker->pool);
		may &= spec->only_worker.len == 0 || slice_eq(spec->only_worker, slice_str(worker->name));
		if (may)
			return false;
	}
	return true;
}

const struct oracle_check oracle_place = {
	.turn = place_turn, .given = place_given, .start = place_start, .crash = place_crash,
};
