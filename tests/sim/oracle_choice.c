/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks which worker gets a job. The assignments of a turn are replayed in their order; for each one the check
 * looks for another worker that may have the job and is better. A worker with a free slot is better than one
 * without; then one that isn't overloaded; then one that has more of what the job prefers; then the one with the
 * lower score. Affinity comes before all of this: a hard affinity is never broken, a soft one only if its worker is
 * gone or has no room, or is overloaded while another isn't.
 *
 * Doubts count in favour of the choice: the chosen worker is taken to be as empty as it may be, the other one as
 * full as it may be. Workers that may be disconnected, flapping or reserved for a large job are left out.
 */
#include "oracle.h"

#define SHARE_ONE 1000
#define OVERLOADED 900
#define ROUNDED 25                       /* tolerance of a comparison, because the core rounds scores to steps */
#define LATENCY_STEP_US 10000
#define LATENCY_MOST 100
#define PARENTS_MOST 64                  /* if a job has more parents than this, the core doesn't look at all of them */

struct seat {                            /* a worker with the jobs that it got so far in this turn */
	uint64_t held;
	/* number of its jobs that ask for no resources; each of them certainly takes a slot */
	uint64_t firm;
	uint64_t used[SIM_KINDS];
	bool kept;                       /* the worker may be reserved for a large job */
};

/* ---- what the master knows about workers ---- */

void oracle_heard(struct sim_world *world, const struct event *event)
{
	struct oracle_worker *worker = &world->oracle.workers[event->who];
	bool hello = event->what != HAPPENS_GONE && event->message->op == OP_HELLO;

	if (hello ? event->a < worker->newest_conn : event->a != worker->conn)
		return;
	/* A worker that says that it ends gets no more jobs. After so long a silence the master may count it as lost. */
	if (event->what == HAPPENS_GONE || event->message->ending || (!hello && world->now_ns - worker->heard_ns >= 2 * world->master.lease_ms * MS))
		worker->conn = 0;
	else
		worker->conn = event->a;
	worker->heard_ns = world->now_ns;
	if (hello) {
		memmove(worker->hellos_ns, worker->hellos_ns + 1, sizeof(worker->hellos_ns) - sizeof(worker->hellos_ns[0]));
		worker->hellos_ns[LIMIT_FLAP_DROPS - 2] = world->now_ns;
	}
	/*
	 * The load of a new connection isn't known yet. In worlds without other load it counts as none; in worlds with
	 * load the worker isn't compared.
	 */
	if (hello || worker->conn == 0) {
		worker->load = (struct sim_load){ 0 };
		worker->load_known = !world->laden;
	}
	for (size_t i = 0; event->what != HAPPENS_GONE && event->message->op == OP_DONE && i < event->message->count; i++)
		if (event->message->done[i].outcome == OUTCOME_REFUSED || event->message->done[i].outcome == OUTCOME_STAGE_FAILED)
			worker->refused_ns = world->now_ns;
	if (worker->conn == 0 || event->message->op != OP_HEARTBEAT)
		return;
	worker->load = event->message->load;
	worker->load_known = true;
}

/*
 * Is the worker certainly not resting? A worker rests after repeated lost connections within the flap window (each
 * appears here as a HELLO), and for at most a minute after it refused a job.
 */
static bool is_steady(const struct sim_world *world, const struct oracle_worker *worker)
{
	if (worker->refused_ns > 0 && world->now_ns - worker->refused_ns <= LIMIT_REFUSED_REST_MAX_MS * MS)
		return false;
	return worker->hellos_ns[0] == 0 ||
	       world->now_ns - worker->hellos_ns[0] > (LIMIT_FLAP_WINDOW_MS + LIMIT_FLAP_REST_MS) * MS;
}

static bool is_there(const struct sim_world *world, const struct oracle_worker *worker)
{
	return worker->number > 0 && worker->conn > 0 && worker->load_known && is_steady(world, worker) &&
	       world->now_ns - worker->heard_ns < world->master.lease_ms * MS;
}

static void choice_crash(struct sim_world *world)
{
	for (uint32_t i = 0; i < world->worker_count; i++) {
		struct oracle_worker *worker = &world->oracle.workers[i];

		worker->conn = 0;
		memset(worker->hellos_ns, 0, sizeof(worker->hellos_ns));
		worker->load = (struct sim_load){ 0 };
		worker->load_known = false;
	}
}

/* ---- workers and the jobs that they have ---- */

static uint32_t index_of(const struct sim_world *world, const struct oracle_worker *worker)
{
	return (uint32_t)(worker - world->oracle.workers);
}

static void seat_take(struct sim_world *world, struct seat *seats, const struct oracle_job *job)
{
	const struct oracle_worker *worker = oracle_worker(world, job->worker_decided);
	const struct rec_job_spec *spec = oracle_spec(world, job->job);
	struct seat *seat = worker ? &seats[index_of(world, worker)] : NULL;
	uint64_t asks[SIM_KINDS];
	bool any = false;

	if (!seat)
		return;
	memcpy(asks, job->asks, sizeof(asks));
	if (spec)
		graph_asks(spec, asks);
	for (unsigned i = 0; i < SIM_KINDS; i++) {
		seat->used[i] += asks[i];
		any |= asks[i] > 0;
	}
	seat->held++;
	seat->firm += !any;
}

static void seats_fill(struct sim_world *world, struct seat *seats)
{
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	while (map_next(&world->oracle.jobs, &cursor, &serial, &value)) {
		const struct oracle_job *job = value;

		if (state_has_attempt(job->decided) && !job->given)
			seat_take(world, seats, job);
	}
}

/*
 * Mark the workers that may be reserved for a waiting job that asks for resources. While a turn isn't durable, its
 * jobs aren't known, so each worker may be reserved.
 */
static void seats_keep(struct sim_world *world, const struct outbox *outbox, struct seat *seats)
{
	bool unknown = world->master.commits.depth > 0;

	if (!(world->features >> FEATURE_asks & 1))
		return;
	for (size_t i = 0; i < outbox->row_count; i++)
		unknown |= outbox->rows[i].table == TABLE_spec || outbox->rows[i].table == TABLE_run;
	/* A submitted graph without an answer yet makes it unsure in the same way. */
	for (size_t at = 0; at < world->graph_count; at++)
		unknown |= world->graphs[at]->first == 0 && !world->graphs[at]->answered;
	for (uint32_t i = 0; i < world->worker_count; i++)
		seats[i].kept = unknown;
	for (size_t at = 0; !unknown && at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];

		for (uint32_t i = 0; graph->first && i < graph->count; i++) {
			if (graph->jobs[i].asks.n == 0 || !oracle_may_wait(world, graph, i))
				continue;
			for (uint32_t k = 0; k < world->worker_count; k++)
				seats[k].kept |= oracle_worker_could(world, k, graph, &graph->jobs[i]) || world->workers[k].lacks_here;
		}
	}
}

static bool has_room(const struct sim_world *world, const struct seat *seats, uint32_t at, const struct rec_job_spec *spec)
{
	uint64_t asks[SIM_KINDS];

	graph_asks(spec, asks);
	for (unsigned i = 0; i < SIM_KINDS; i++)
		if (asks[i] > 0 && seats[at].used[i] + asks[i] > world->oracle.workers[at].offers[i])
			return false;
	return seats[at].held < world->workers[at].slots;
}

/* Check that a worker is connected, may have the job, and has room for it. */
static bool could_have(const struct sim_world *world, const struct seat *seats, uint32_t at, const struct sim_graph *graph,
		       const struct rec_job_spec *spec)
{
	return is_there(world, &world->oracle.workers[at]) && !seats[at].kept && oracle_worker_could(world, at, graph, spec) &&
	       has_room(world, seats, at, spec);
}

/* The least number of slots that are taken: prefetched jobs that ask for resources may still wait for room. */
static uint64_t least_busy(const struct sim_world *world, const struct seat *seats, uint32_t at)
{
	bool waits = seats[at].held > world->workers[at].slots;

	for (unsigned i = 0; i < SIM_KINDS; i++)
		waits |= seats[at].used[i] > world->oracle.workers[at].offers[i];
	return waits ? seats[at].firm : seats[at].held;
}

/* ---- comparing two workers ---- */

static bool is_overloaded(const struct sim_world *world, uint32_t at, uint64_t busy)
{
	const struct sim_load *load = &world->oracle.workers[at].load;

	return busy * SHARE_ONE >= (uint64_t)OVERLOADED * world->workers[at].slots || load->cpu_permille >= OVERLOADED ||
	       load->gpu_permille >= OVERLOADED;
}

static uint64_t score(const struct sim_world *world, uint32_t at, uint64_t busy)
{
	const struct sim_load *load = &world->oracle.workers[at].load;
	uint64_t latency = load->start_us / LATENCY_STEP_US;

	return busy * SHARE_ONE / world->workers[at].slots + load->cpu_permille + load->gpu_permille +
	       (latency < LATENCY_MOST ? latency : LATENCY_MOST);
}

/* The number of the job's preferences that this worker doesn't meet. */
static unsigned misses(const struct sim_world *world, uint32_t at, const struct rec_job_spec *spec)
{
	const struct sim_worker *worker = &world->workers[at];
	unsigned count = 0;

	for (size_t i = 0; i < spec->prefer.n; i++)
		for (unsigned bit = 0; bit < SIM_LABELS; bit++)
			count += slice_eq(spec->prefer.at[i], slice_str(graph_label_names[bit])) && !(worker->labels >> bit & 1);
	count += spec->pool.len > 0 && !slice_eq(spec->pool, slice_str(graph_pool_names[world->oracle.workers[at].pool]));
	count += spec->prefer_worker.len > 0 && !slice_eq(spec->prefer_worker, slice_str(worker->name));
	return count;
}

static void check_better(struct sim_world *world, const struct seat *seats, const struct oracle_job *job, uint32_t chosen,
			 uint32_t other, const struct rec_job_spec *spec, bool belongs)
{
	uint64_t least = least_busy(world, seats, chosen), most = seats[other].held;
	bool over = is_overloaded(world, chosen, least), other_over = is_overloaded(world, other, most);
	unsigned lacks = misses(world, chosen, spec), other_lacks = misses(world, other, spec);
	const char *better = NULL;

	if (least >= world->workers[chosen].slots)
		better = "has a slot free";
	else if (over != other_over)
		better = over ? "isn't overloaded" : NULL;
	else if (belongs)
		better = NULL;
	else if (lacks != other_lacks)
		better = lacks > other_lacks ? "has more of what it would like" : NULL;
	else if (score(world, chosen, least) > score(world, other, most) + ROUNDED)
		better = "has less to do";
	if (better)
		world_fail(world, "job %u is given to %s, though %s may have it and %s", (unsigned)job->job,
			   world->workers[chosen].name, world->workers[other].name, better);
}

/* ---- affinity ---- */

/* The worker that ran most of the parents. *ret_sure: the others ran fewer, and no parent was assigned in this turn. */
static uint64_t worker_of_parents(struct sim_world *world, const struct sim_graph *graph, const struct rec_job_spec *spec,
				  bool *ret_sure)
{
	uint64_t best = 0, worker;
	unsigned most = 0;

	*ret_sure = spec->needs.n <= PARENTS_MOST;
	for (size_t i = 0; i < spec->needs.n; i++) {
		const struct oracle_job *parent = oracle_job(world, oracle_need(graph, spec->needs.at[i]));
		unsigned ran = 0;

		worker = parent->worker_decided;
		*ret_sure &= parent->given == 0;
		if (worker == 0 || worker == best)
			continue;
		for (size_t k = 0; k < spec->needs.n; k++)
			ran += oracle_job(world, oracle_need(graph, spec->needs.at[k]))->worker_decided == worker;
		if (ran < most)
			continue;
		*ret_sure &= ran > most;
		best = worker;
		most = ran;
	}
	return best;
}

/* Find the worker that the job's affinity means. False: it can't be told; *ret is NULL if there is no such worker. */
static bool find_target(struct sim_world *world, const struct oracle_job *job, const struct rec_job_spec *spec,
			struct oracle_worker **ret)
{
	uint64_t first = 0;
	const struct sim_graph *graph = oracle_graph(world, job->job, &first);
	bool sure = true;

	*ret = NULL;
	if (spec->affinity == AFFINITY_STICKY && job->worker_before > 0)
		*ret = oracle_worker(world, job->worker_before);
	else if (spec->affinity != AFFINITY_NONE && !graph)
		return false;
	else if (spec->affinity != AFFINITY_NONE)
		*ret = oracle_worker(world, worker_of_parents(world, graph, &graph->jobs[job->job - first], &sure));
	return sure;
}

static void check_choice(struct sim_world *world, const struct seat *seats, const struct oracle_job *job, uint32_t chosen,
			 const struct rec_job_spec *spec)
{
	struct oracle_worker *target;
	uint32_t at;
	bool over = is_overloaded(world, chosen, least_busy(world, seats, chosen));
	uint64_t first;
	const struct sim_graph *graph = oracle_graph(world, job->job, &first);

	if (!graph || !find_target(world, job, spec, &target))
		return;
	at = target ? index_of(world, target) : chosen;
	if (at != chosen && spec->affinity_hard)
		world_fail(world, "job %u is given to %s and must be on %s", (unsigned)job->job, world->workers[chosen].name,
			   world->workers[at].name);
	if (at != chosen && could_have(world, seats, at, graph, spec) && (over || !is_overloaded(world, at, seats[at].held)))
		world_fail(world, "job %u is given to %s, though %s, to which it belongs, has room", (unsigned)job->job,
			   world->workers[chosen].name, world->workers[at].name);
	if (target && at == chosen && (spec->affinity_hard || !over))
		return;
	for (uint32_t other = 0; other < world->worker_count; other++)
		if (other != chosen && could_have(world, seats, other, graph, spec))
			check_better(world, seats, job, chosen, other, spec, target && at == chosen);
}

/* ---- turns ---- */

/* Note the worker that each assigned job had before this turn. */
static void choice_turn(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->frame_count; i++) {
		struct oracle_job *job;

		if (outbox->frames[i].op != OP_ASSIGN)
			continue;
		job = oracle_job(world, outbox->frames[i].assign.job);
		job->worker_before = job->worker_decided;
		job->given = (uint32_t)i + 1;
	}
	/* A job whose new round began in this turn had no worker before. */
	for (size_t i = 0; i < outbox->row_count; i++) {
		const struct row_job *row = &outbox->rows[i].job;

		if (outbox->rows[i].table == TABLE_job &&
		    oracle_job(world, (uint64_t)row->job)->round_decided < (uint32_t)row->round)
			oracle_job(world, (uint64_t)row->job)->worker_before = 0;
	}
}

static void choice_decided(struct sim_world *world, const struct outbox *outbox)
{
	struct seat seats[SIM_WORKERS_MAX] = { 0 };
	struct arena arena = { 0 };
	bool any = false;

	for (size_t i = 0; i < outbox->frame_count && !any; i++)
		any = outbox->frames[i].op == OP_ASSIGN;
	if (!any)
		return;
	seats_fill(world, seats);
	seats_keep(world, outbox, seats);
	for (size_t i = 0; i < outbox->frame_count; i++) {
		struct slice bytes = outbox->frames[i].assign.spec;
		const struct oracle_job *job;
		struct rec_job_spec spec;

		if (outbox->frames[i].op != OP_ASSIGN)
			continue;
		job = oracle_job(world, outbox->frames[i].assign.job);
		if (record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) != ERR_NONE)
			world_fail(world, "job %u is given without what it is", (unsigned)job->job);
		check_choice(world, seats, job, index_of(world, oracle_worker(world, job->worker_decided)), &spec);
		seat_take(world, seats, job);
	}
	arena_free(&arena);
	for (size_t i = 0; i < outbox->frame_count; i++)
		if (outbox->frames[i].op == OP_ASSIGN)
			oracle_job(world, outbox->frames[i].assign.job)->given = 0;
}

const struct oracle_check oracle_choice = { .turn = choice_turn, .decided = choice_decided, .crash = choice_crash };
