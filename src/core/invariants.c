/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For tests and the simulator: check every invariant by recounting, and hash the durable state. The cost grows with
 * the size of the state.
 */
#include "core/invariants.h"

#include "core/acts/acts.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/people/people.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/rows/durable.h"
#include "core/time/time.h"
#include "core/values/values.h"

static void mix(uint64_t *hash, uint64_t value)
{
	*hash = hash_u64(*hash ^ value) + 0x9e3779b97f4a7c15;
}

static void hash_job(uint64_t *hash, const struct job *job)
{
	mix(hash, job_serial(job));
	mix(hash, job->state);
	mix(hash, job->epoch);
	mix(hash, (uint64_t)job->round << 32 | job->tries);
	mix(hash, (uint64_t)job->crashes << 32 | job->worker);
	mix(hash, job->interrupted);
	mix(hash, (uint64_t)job->stop_cause << 32 | job->outcome);
	mix(hash, (uint64_t)job->code << 32 | job->cause);
	mix(hash, (uint64_t)job->when_ms);
	mix(hash, (uint64_t)job->started_ms);
	mix(hash, job->cpu_us);
	mix(hash, job->rss_kib);
	mix(hash, job->out_bytes);
	mix(hash, job_child(job));
	mix(hash, job_passes(job));
	mix(hash, (uint64_t)job_ending_ms(job));
	if (job_outputs(job).len > 0)
		mix(hash, hash_bytes(job_outputs(job).data, job_outputs(job).len, 9));
	if (job_artifacts(job).len > 0)
		mix(hash, hash_bytes(job_artifacts(job).data, job_artifacts(job).len, 10));
	mix(hash, job->state == STATE_WAITING ? job->pending : 0);
	mix(hash, job->priority);
	mix(hash, job->flags & (JOB_ON_HOLD | JOB_LOOSE | JOB_PASSED | JOB_FORGIVEN | JOB_DEAD | JOB_LATE |
			  JOB_CONDITION_FALSE | JOB_CRASH_LOOP));
}

static void hash_run(uint64_t *hash, const struct run *run)
{
	mix(hash, run->number);
	mix(hash, run->first);
	mix(hash, run->job_count);
	mix(hash, (uint64_t)run->cancelled << 1 | run->held);
	mix(hash, run->bound.limit);
	mix(hash, (uint64_t)run->submitted_ms);
	mix(hash, (uint64_t)run->steady_ms);
	mix(hash, (uint64_t)run->logs_gone_ms);
	mix(hash, run->parent);
	mix(hash, run->parent_run << 16 | (uint64_t)run->depth << 8 | run->priority);
	if (run->parent_name)
		mix(hash, hash_bytes(run->parent_name, strlen(run->parent_name), 7));
	mix(hash, hash_bytes(run->name, strlen(run->name), 1));
	mix(hash, hash_bytes(run->owner, strlen(run->owner), 2));
	mix(hash, hash_bytes(run->tenant->name, strlen(run->tenant->name), 6));
	if (run->concurrency)
		mix(hash, hash_bytes(run->concurrency->name, strlen(run->concurrency->name), (uint64_t)run->stated << 1 | run->seated));
	for (uint32_t part = 0; part < run->part_count; part++) {
		mix(hash, hash_bytes(run->parts[part]->data, run->parts[part]->len, run->part_jobs[part]));
		if (run->part_context[part])
			mix(hash, hash_bytes(run->part_context[part]->data, run->part_context[part]->len, 8));
	}
	for (const struct job *job = run_job(run, 0); job; job = job_next(job))
		hash_job(hash, job);
}

static uint64_t hash_keys(const struct core *core)
{
	size_t cursor = 0;
	struct slice name;
	uint64_t sum = 0;
	void *value;

	while (name_map_next(&core->keys, &cursor, &name, &value)) {
		const struct submit_key *key = value;

		/* Add the hashes of the submit keys up: the order of the table depends on its history. */
		sum += hash_bytes(key->id, sizeof(key->id), key->run + (key->by_run << 32)) ^
		       hash_bytes(key->digest, sizeof(key->digest), 3);
	}
	return sum;
}

static uint64_t hash_tenants(const struct core *core)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < core->tenant_count; i++) {
		const struct tenant *tenant = core->tenants[i];
		uint64_t hash = 0;

		if (!tenant || !tenant->set)
			continue;
		mix(&hash, hash_bytes(tenant->name, strlen(tenant->name), 7));
		mix(&hash, (uint64_t)tenant->weight << 32 | tenant->max_queued);
		mix(&hash, tenant->bound.limit);
		sum += hash;
	}
	return sum;
}

/* Hash the durable state without ended runs: they are history, and a newly loaded core doesn't have them. */
uint64_t core_hash(const struct core *core)
{
	uint64_t hash = 0;

	mix(&hash, core->generation);
	mix(&hash, core->next_run);
	mix(&hash, core->next_job);
	mix(&hash, core->next_worker);
	for (size_t state = 0; state < RUN_STATE_COUNT; state++)
		mix(&hash, core->ended_sums.runs[state]);
	for (size_t state = 0; state < STATE_COUNT; state++)
		mix(&hash, core->ended_sums.jobs[state]);
	mix(&hash, core->steady.boot_id);
	mix(&hash, (uint64_t)core->steady.base_ms);
	mix(&hash, (uint64_t)core->steady.skew_ms);
	for (size_t i = 0; i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];

		mix(&hash, worker->number);
		mix(&hash, worker->slots);
		mix(&hash, hash_bytes(worker->name, strlen(worker->name), 4));
		mix(&hash, hash_bytes(worker->instance, worker->instance_len, 5));
		mix(&hash, hash_bytes(worker->pool->name, strlen(worker->pool->name), 6));
		mix(&hash, worker->standing);
		mix(&hash, worker->ended);
	}
	for (size_t i = 0; i < core->pool_count; i++)
		if (core->pools[i]->durable || core->pools[i]->provides.n > 0)
			mix(&hash, pool_hash(core->pools[i]));
	mix(&hash, topics_hash(core));
	for (size_t i = core->runs.head; i < core->runs.count; i++)
		if (core->runs.at[i].run && core->runs.at[i].run->ended_ms == 0)
			hash_run(&hash, core->runs.at[i].run);
	for (const struct gate *gate = gate_after(core, 0); gate; gate = gate_after(core, gate->job)) {
		uint64_t people = 0;     /* a sum of the votes' hashes: after loading the votes have another order */

		for (size_t at = 0; at < gate->vote_count; at++)
			people += hash_u64(gate->votes[at].person) ^
				  hash_bytes(gate->votes[at].digest, SHA256_SIZE, 6) ^
				  hash_bytes(blob_slice(gate->votes[at].given).data, blob_slice(gate->votes[at].given).len, 7);
		mix(&hash, gate->job);
		mix(&hash, people);
	}
	mix(&hash, pushbacks_hash(core));
	mix(&hash, hash_keys(core));
	mix(&hash, hash_tenants(core));
	mix(&hash, groups_hash(core));
	mix(&hash, locks_hash(core));
	mix(&hash, values_hash(core));
	mix(&hash, assets_hash(core));
	mix(&hash, tokens_hash(core));
	mix(&hash, schedules_hash(core));
	mix(&hash, prune_hash(core));
	mix(&hash, hash_bytes(core->acts.head, SHA256_SIZE, core->acts.count));
	return hash;
}

/* --- invariants --- */

static void check_job_timers(const struct job *job)
{
	bool timed = job->flags & JOB_TIMED, armed = job->flags & JOB_DEADLINE;

	CHECK(!timed || job->state == STATE_DELAYED || job->state == STATE_RUNNING || job->state == STATE_APPROVAL ||
	      job->state == STATE_READY);
	CHECK(state_terminal(job->state) || job->state == STATE_DELAYED || timed == (job->when_ms != 0));
	CHECK(job->state != STATE_RUNNING || timed == ((job->flags & JOB_TIMEOUT) != 0 || (job_is_service(job) && job->crashes > 0)));
	CHECK(!armed || (job->flags & JOB_DUE_BY && !(job->flags & JOB_LATE) && !state_terminal(job->state)));
	CHECK(armed || !(job->flags & JOB_DUE_BY) || job->flags & JOB_LATE || state_terminal(job->state) ||
	      job->state == STATE_UNKNOWN || job->state == STATE_STOPPING || job_ending_ms(job) != 0);
}

static void check_job(const struct core *core, const struct job *job, struct standing standing)
{
	const struct worker *worker;

	CHECK(job_find(core, job_serial(job)) == job);
	CHECK(standing_fits(job, standing));
	CHECK(!(job->flags & JOB_MARKED));
	CHECK(job->state != STATE_WAITING || (job->pending == standing.open && standing_outlook(standing) == OUTLOOK_OPEN));
	CHECK(!(job->flags & (JOB_TOUCHED | JOB_ROW | JOB_HELD)));
	CHECK(!(job->flags & JOB_UNRESERVED) || state_holds(job->state));
	CHECK(job->state != STATE_READY || job->flags & (JOB_QUEUED | JOB_PARKED) ||
	      job_on_hold(job));
	CHECK(job->state != STATE_DELAYED || job->flags & JOB_TIMED);
	check_job_timers(job);
	ending_check(job);
	outputs_check(job);
	service_check(job);
	artifacts_check(job);
	CHECK((job->state != STATE_APPROVAL && job->state != STATE_UNKNOWN) || gate_find(core, job_serial(job)));
	CHECK(!(job->flags & JOB_PUSHED) == !map_get(&core->pushbacks, job_serial(job)));
	CHECK(!(job->flags & JOB_PASSED) || job->flags & JOB_STAGED);
	CHECK(!(job->flags & JOB_RECALLED) || job->state == STATE_ASSIGNED);
	CHECK(job->epoch >> 32 <= core->generation);
	CHECK(job->tries >= job->crashes + job->interrupted && (uint32_t)job->epoch >= job->tries);
	CHECK(job->state != STATE_SKIPPED || job->cause > 0 || job->flags & JOB_EXPR);
	CHECK(!(job->flags & JOB_CONDITION_FALSE) || (job->state == STATE_SKIPPED && job->flags & JOB_EXPR));
	if (job->state == STATE_WAITING && job->flags & JOB_EXPR) {
		CHECK(job_outlook(job) == OUTLOOK_OPEN);
		condition_check(job);
	}
	if (!state_holds(job->state))
		return;
	if (job_is_subrun(job)) {
		CHECK(job->worker == 0 && (job->state == STATE_RUNNING || job->state == STATE_STOPPING));
		return;
	}
	worker = worker_find(core, job->worker);
	CHECK(job->epoch > 0 && worker);
	CHECK(core->classes[job->class_at]);
	CHECK(job->held_at < worker->held_count && worker->held[job->held_at].job == job);
	CHECK(job->state != STATE_STOPPING || job->stop_cause != 0);
}

/* By its specification, is the job's failure forgiven? Few jobs fail. */
static bool forgives(const struct job *job)
{
	static const uint64_t bits[STATE_COUNT] = {
		[STATE_FAILED] = CONTINUE_FAILED, [STATE_TIMED_OUT] = CONTINUE_TIMED_OUT,
		[STATE_DENIED] = CONTINUE_DENIED,
	};
	struct slice bytes = job_spec_bytes(job);
	struct arena arena = { 0 };
	struct rec_job_spec spec;

	if (bits[job->state] == 0)
		return false;
	CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
	arena_free(&arena);
	return (spec.continue_on & bits[job->state]) != 0;
}

/* Were all services of the run told to end? */
static bool services_told(const struct run *run)
{
	for (size_t i = 0; i < run->service_count; i++) {
		const struct job *job = run_job(run, run->services[i]);

		if (!state_terminal(job->state) && job->state != STATE_STOPPING)
			return false;
	}
	return true;
}

static void check_run(const struct core *core, const struct run *run, uint64_t counts[STATE_COUNT])
{
	struct standing *standing = run_standing(run);
	uint32_t own[STATE_COUNT] = { 0 };
	uint32_t ended = 0, forgiven = 0, dead = 0, open = 0;

	for (const struct job *job = run_job(run, 0); job; job = job_next(job)) {
		check_job(core, job, standing[job->index]);
		own[job->state]++;
		ended += state_terminal(job->state);
		open += !state_terminal(job->state) && job_is_work(job);
		CHECK(bad_end_fits(job, forgives(job)));
		forgiven += (job->flags & JOB_FORGIVEN) != 0;
		dead += (job->flags & JOB_DEAD) != 0;
	}
	mem_free(standing);
	for (size_t i = 0; i < run->final_count; i++)
		CHECK(run->finals[i] < run->extents[0]->count && run_job(run, run->finals[i])->flags & JOB_FINAL);
	CHECK(forgiven == run->forgiven && dead == run->dead);
	CHECK(memcmp(own, run->counts, sizeof(own)) == 0);
	CHECK(ended == run->ended && open == run->work_open);
	CHECK(run->work == 0 || open > 0 || PLANTED(service_outlives_its_run) || services_told(run));
	CHECK((ended == run->job_count) == (run->ended_ms != 0));
	CHECK(run->counted == (run->ended_ms == 0) && (!run->seated || (run->concurrency && run->counted)));
	CHECK(!run->ended_ms == !run_state_terminal(run_state_of(run->counts, run->forgiven)));
	for (size_t state = 0; state < STATE_COUNT; state++)
		counts[state] += own[state];
}

static void check_tallies(const struct core *core)
{
	for (unsigned tally = 0; tally < TALLIES; tally++) {
		uint64_t count = 0;

		for (size_t i = 0; i < core->worker_count; i++)
			count += core->workers[i]->tally >> tally & 1;
		CHECK(core->tallies[tally] == count);
	}
}

static uint64_t check_workers(const struct core *core, uint64_t *ret_recalls)
{
	uint64_t held = 0, recalls = 0;

	for (size_t i = 0; i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];

		CHECK(worker->held_count <= worker->slots_high + (uint64_t)LIMIT_PREFETCH_MAX);
		charge_check(core, worker);
		CHECK(worker->conn == 0 || map_get(&core->worker_conns, worker->conn) == worker);
		CHECK(worker->state != WORKER_UP || worker->conn != 0);
		CHECK(worker->state != WORKER_LOST || (worker->held_count == 0 && worker->conn == 0));
		CHECK(worker->timed || worker->state == WORKER_LOST);
		CHECK(worker->touched || worker->tally == worker_tally(worker));
		for (size_t at = 0; at < worker->held_count; at++) {
			const struct job *job = worker->held[at].job;

			CHECK(job->held_at == at && job->worker == worker->number && state_holds(job->state));
			recalls += (job->flags & JOB_RECALLED) != 0;
		}
		held += worker->held_count;
	}
	check_tallies(core);
	*ret_recalls = recalls;
	return held;
}

static void check_timers(const struct core *core)
{
	const struct timers *timers = &core->timers;
	size_t valid = 0;

	for (size_t i = 0; i < timers->count; i++) {
		CHECK(i == 0 || timers->at[(i - 1) / 2].due_ns <= timers->at[i].due_ns);
		valid += timer_valid(core, &timers->at[i]);
	}
	CHECK(timers->count - timers->stale == valid);
}

static void check_run_list(const struct run_list *list)
{
	size_t gone = 0;

	for (size_t i = list->head; i < list->count; i++) {
		CHECK(i == list->head || list->at[i - 1].number < list->at[i].number);
		gone += list->at[i].run == NULL;
	}
	CHECK(gone == list->gone && gone <= (list->count - list->head) / 2);
}

void core_check(const struct core *core)
{
	uint64_t counts[STATE_COUNT] = { 0 };
	uint64_t live = 0, jobs = 0, recalls, held;

	CHECK(!core->outbox);
	values_check(core);
	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		const struct run *run = core->runs.at[i].run;

		if (!run)
			continue;
		check_run(core, run, counts);
		live += run->ended_ms == 0;
		jobs += run->job_count;
	}
	CHECK(memcmp(counts, core->counts, sizeof(counts)) == 0);
	CHECK(live == core->live_runs && jobs == core->live_jobs);
	held = check_workers(core, &recalls);
	CHECK(held + core->subruns == counts[STATE_ASSIGNED] + counts[STATE_RUNNING] + counts[STATE_STOPPING]);
	CHECK(recalls == core->recalls);
	check_ready(core);
	check_timers(core);
	check_run_list(&core->runs);
	CHECK(core->gate_count == counts[STATE_APPROVAL] + counts[STATE_UNKNOWN]);
	gates_check(core);
	pushbacks_check(core);
	schedules_check(core);
	prune_check(core);
	acts_check(core);
	subruns_check(core);
	CHECK(core->touched_count == 0 && core->ended_count == 0 && core->touched_run_count == 0);
}
