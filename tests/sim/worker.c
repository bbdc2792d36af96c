/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker around the ledger: processes that take time, a spool, and a link. The keeper may be killed (its
 * processes go on and the next keeper adopts them), or the whole machine may stop (its processes die).
 */
#include "sim.h"

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"

static struct process *process_of(struct sim_worker *worker, uint64_t id)
{
	for (size_t i = 0; i < worker->process_count; i++)
		if (worker->processes[i].id == id)
			return &worker->processes[i];
	return NULL;
}

static struct spooled *spool_add(struct sim_worker *worker, uint64_t job, uint64_t epoch)
{
	for (size_t i = 0; i < worker->spool_count; i++)
		if (worker->spool[i].job == job && worker->spool[i].epoch == epoch)
			return &worker->spool[i];
	if (worker->spool_count == worker->spool_cap) {
		worker->spool_cap = worker->spool_cap ? worker->spool_cap * 2 : 16;
		worker->spool = mem_resize(worker->spool, worker->spool_cap, sizeof(*worker->spool));
	}
	worker->spool[worker->spool_count] = (struct spooled){ .job = job, .epoch = epoch };
	return &worker->spool[worker->spool_count++];
}

static void spool_drop(struct sim_worker *worker, uint64_t job, uint64_t epoch)
{
	for (size_t i = 0; i < worker->spool_count; i++)
		if (worker->spool[i].job == job && worker->spool[i].epoch == epoch)
			worker->spool[i].acked = true;
}

/* Write the spool's pending records to the disk, unless the disk is full. */
static void spool_write(struct sim_world *world, struct sim_worker *worker)
{
	if (world->faults && worker->full_until_ns > world->now_ns)
		return;
	for (size_t i = worker->spool_count; i-- > 0;) {
		worker->spool[i].started_written = true;
		worker->spool[i].ended_written = worker->spool[i].ended;
		if (worker->spool[i].acked)
			worker->spool[i] = worker->spool[--worker->spool_count];
	}
}

/* Reduce the spool to the records that the next keeper finds on disk. */
static void spool_survives(struct sim_worker *worker)
{
	for (size_t i = worker->spool_count; i-- > 0;) {
		worker->spool[i].acked = false;
		worker->spool[i].ended = worker->spool[i].ended_written;
		if (!worker->spool[i].started_written)
			worker->spool[i] = worker->spool[--worker->spool_count];
	}
}

static void tell_started(struct sim_world *world, struct sim_worker *worker, const struct ledger_entry *entry)
{
	struct message *message = message_make(OP_STARTED);

	message->started = mem_array(1, sizeof(*message->started));
	message->started[0] = (struct rec_started){ .job = entry->job, .epoch = entry->epoch,
						    .wall_ms = world_time(world).wall_ms, .pid = 1 };
	message->count = 1;
	link_from_keeper_plan(world, worker, message);
}

static void tell_ended(struct sim_world *world, struct sim_worker *worker, const struct rec_done *result)
{
	struct message *message = message_make(OP_DONE);

	message->done = mem_array(1, sizeof(*message->done));
	message->done[0] = *result;
	message->count = 1;
	link_from_keeper_plan(world, worker, message);
}

/* Send a new link the inventory of all attempts, then the start or result of each. */
void sim_worker_tell_everything(struct sim_world *world, struct sim_worker *worker)
{
	struct message *message = message_make(OP_INVENTORY);
	size_t count = 0;

	for (int phase = PHASE_QUEUED; phase <= PHASE_ENDED; phase++)
		for (struct ledger_entry *e = ledger_first(worker->ledger, phase); e; e = e->next)
			count++;
	message->held = mem_array(count + 1, sizeof(*message->held));
	for (int phase = PHASE_QUEUED; phase <= PHASE_ENDED; phase++)
		for (struct ledger_entry *e = ledger_first(worker->ledger, phase); e; e = e->next)
			message->held[message->count++] =
				(struct rec_held){ .job = e->job, .epoch = e->epoch, .phase = e->phase };
	link_from_keeper_plan(world, worker, message);
	for (struct ledger_entry *e = ledger_first(worker->ledger, PHASE_RUNNING); e; e = e->next)
		tell_started(world, worker, e);
	for (struct ledger_entry *e = ledger_first(worker->ledger, PHASE_ENDED); e; e = e->next)
		tell_ended(world, worker, &e->result);
}

static void attempt_ended(struct sim_world *world, struct sim_worker *worker, struct ledger_entry *entry,
			  enum outcome outcome, uint64_t code, int64_t started_ns)
{
	struct now now = world_time(world);
	struct rec_done result = { .job = entry->job, .epoch = entry->epoch, .outcome = outcome, .code = code,
				   .ended_ms = now.wall_ms };
	struct spooled *record = spool_add(worker, entry->job, entry->epoch);

	if (started_ns) {
		result.run_ns = (uint64_t)(now.mono_ns - started_ns);
		result.started_ms = now.wall_ms - (now.mono_ns - started_ns) / MS;
	}
	record->ended = true;
	record->at_ns = world->now_ns;
	record->result = result;
	ledger_ended(worker->ledger, entry, &result);
	spool_write(world, worker);
	tell_ended(world, worker, &result);
}

/* How long the process runs: mostly short; a job with a time-out often takes longer than that. */
static int64_t takes_ms(struct sim_world *world, uint64_t job)
{
	const struct rec_job_spec *spec = oracle_spec(world, job);

	return 1 + (int64_t)world_rand(world, world_chance(world, world->lengthy || (spec && spec->timeout_ms) ? 500 : 100) ? 60000 : 400);
}

static void start_some(struct sim_world *world, struct sim_worker *worker)
{
	struct ledger_entry *entry;

	while ((entry = ledger_next(worker->ledger, world->now_ns))) {
		int64_t takes = takes_ms(world, entry->job) * MS;
		const struct rec_job_spec *spec = oracle_spec(world, entry->job);
		bool dies = entry->exclusive || (spec && spec->worker_death == DEATH_KILL);
		struct process *process;

		if (entry->staging)
			world_fail(world, "an attempt of job %u starts before its files are in place", (unsigned)entry->job);
		if (worker->lacks_here && oracle_runs_here(world, entry->job)) {
			oracle_given_back(world, worker, entry->job);
			attempt_ended(world, worker, entry, OUTCOME_ELSEWHERE, 116, 0);
			continue;
		}
		/*
		 * Chosen by a hash, not by the world's random numbers, so that the rest of the schedule stays the
		 * same.
		 */
		if (world->faults && hash_u64(entry->job * 1000033 + entry->epoch + world->seed) % 100 < 3) {
			attempt_ended(world, worker, entry, OUTCOME_REFUSED, 24, 0);
			continue;
		}
		if (world->faults && world_chance(world, world->brittle ? 150 : 15)) {
			attempt_ended(world, worker, entry, OUTCOME_SPAWN, 2, 0);
			continue;
		}
		if (worker->process_count == worker->process_cap) {
			worker->process_cap = worker->process_cap ? worker->process_cap * 2 : 16;
			worker->processes = mem_resize(worker->processes, worker->process_cap, sizeof(*process));
		}
		process = &worker->processes[worker->process_count++];
		*process = (struct process){ .dies = dies, .job = entry->job, .epoch = entry->epoch, .id = ++world->next_process,
					     .alive = true, .ours = true, .started_ns = world->now_ns };
		oracle_started(world, worker, entry->job, entry->epoch);
		world_plan(world, takes, HAPPENS_JOB_END, worker->index)->a = process->id;
		spool_add(worker, entry->job, entry->epoch)->at_ns = world->now_ns;
		ledger_started(worker->ledger, entry);
		spool_write(world, worker);
		tell_started(world, worker, entry);
	}
	ledger_check(worker->ledger);
}

static void process_gone(struct sim_worker *worker, const struct process *process)
{
	size_t at = (size_t)(process - worker->processes);

	worker->processes[at] = worker->processes[--worker->process_count];
}

/*
 * End a process. How it ends depends only on its attempt and the schedule's seed, so a second process of the same
 * attempt would end alike.
 */
void sim_worker_job_end(struct sim_world *world, struct sim_worker *worker, uint64_t id, bool killed)
{
	struct process *found = process_of(worker, id);
	struct process process;
	struct ledger_entry *entry;
	uint64_t lot;

	if (!found)
		return;
	/* a paused keeper notices the end later */
	if (worker->keeper_up && worker->paused_until_ns > world->now_ns) {
		world_plan(world, worker->paused_until_ns - world->now_ns, killed ? HAPPENS_KILL : HAPPENS_JOB_END,
			   worker->index)->a = id;
		return;
	}
	process = *found;
	oracle_ended(world, process.job, process.epoch);
	process_gone(worker, found);
	if (!worker->keeper_up)
		return;                          /* the next keeper finds the process gone */
	entry = ledger_find(worker->ledger, process.job, process.epoch);
	if (!entry || entry->phase != PHASE_RUNNING)
		world_fail(world, "the ledger forgot a living attempt of job %u", (unsigned)process.job);
	lot = hash_u64(process.job * 1000003 + process.epoch + world->seed) % 100;
	if (killed || process.asked_to_stop)
		attempt_ended(world, worker, entry, OUTCOME_STOPPED, 143, process.started_ns);
	else if (!process.ours)
		attempt_ended(world, worker, entry, OUTCOME_EXIT_UNKNOWN, 0, process.started_ns);
	else if (lot < world->fail_percent)
		attempt_ended(world, worker, entry, lot % 3 ? OUTCOME_EXIT : OUTCOME_SIGNAL, 1 + lot % 5, process.started_ns);
	else
		attempt_ended(world, worker, entry, OUTCOME_EXIT, 0, process.started_ns);
	start_some(world, worker);
}

/* Kill the jobs that may not run twice when the worker's lease has ended. */
static void enforce_lease(struct sim_world *world, struct sim_worker *worker)
{
	struct ledger_entry *entry;

	while ((entry = ledger_overdue(worker->ledger, world->now_ns))) {
		for (size_t i = 0; i < worker->process_count; i++)
			if (worker->processes[i].job == entry->job && worker->processes[i].epoch == entry->epoch) {
				worker->processes[i].asked_to_stop = true;
				sim_worker_job_end(world, worker, worker->processes[i].id, true);
				break;
			}
	}
}

static void plan_lease_end(struct sim_world *world, struct sim_worker *worker)
{
	int64_t end_ns = ledger_lease_end(worker->ledger);

	if (end_ns > world->now_ns && end_ns != TIME_NEVER)
		world_plan(world, end_ns - world->now_ns, HAPPENS_LEASE_END, worker->index);
}

/* The keeper's timer: leases end and retries of the spool happen. */
void sim_worker_beat(struct sim_world *world, struct sim_worker *worker)
{
	if (!worker->keeper_up)
		return;
	world_plan(world, (world->hasty ? 1000 : 2000) * MS, HAPPENS_BEAT, worker->index);
	if (worker->paused_until_ns > world->now_ns)
		return;
	spool_write(world, worker);
	enforce_lease(world, worker);
	start_some(world, worker);
}

/* ---- messages from the link ---- */

static void stop_one(struct sim_world *world, struct sim_worker *worker, const struct rec_stop *stop)
{
	struct ledger_entry *entry = NULL;
	enum ledger_stop what = ledger_stop(worker->ledger, stop->job, stop->epoch, &entry);

	if (what == LEDGER_STOP_DROPPED)
		attempt_ended(world, worker, entry, OUTCOME_STOPPED, 0, 0);
	if (what != LEDGER_STOP_SIGNAL)
		return;
	for (size_t i = 0; i < worker->process_count; i++) {
		struct process *process = &worker->processes[i];

		if (process->job != stop->job || process->epoch != stop->epoch || process->asked_to_stop)
			continue;
		process->asked_to_stop = true;
		world_plan(world, (int64_t)world_rand(world, stop->grace_ms + 1) * MS, HAPPENS_KILL, worker->index)->a =
			process->id;
	}
}

void sim_worker_lease_end(struct sim_world *world, struct sim_worker *worker)
{
	if (worker->keeper_up && worker->paused_until_ns <= world->now_ns)
		enforce_lease(world, worker);
}

/*
 * Give the ledger the attempt's resources, which the keeper reads from the specification it was given or has in its
 * spool.
 */
static void ask_for(struct sim_world *world, struct sim_worker *worker, struct ledger_entry *entry)
{
	const struct rec_job_spec *spec = oracle_spec(world, entry->job);
	struct resource_list asks = { 0 };

	if (spec && resources_read(spec->asks, &asks, NULL) == ERR_NONE)
		ledger_ask(worker->ledger, entry, &asks);
}

/* Chosen by a hash, like refusals: when the files of an attempt are in place, and whether they can be. */
static uint64_t files_lot(const struct sim_world *world, uint64_t job, uint64_t epoch)
{
	return hash_u64(job * 1000081 + epoch + world->seed);
}

static void stage(struct sim_world *world, const struct sim_worker *worker, struct ledger_entry *entry)
{
	struct event *event;

	ledger_stage(entry);
	event = world_plan(world, (int64_t)(files_lot(world, entry->job, entry->epoch) / 128 % 500) * MS, HAPPENS_STAGED, worker->index);
	event->a = entry->job;
	event->b = entry->epoch;
}

void sim_worker_staged(struct sim_world *world, struct sim_worker *worker, uint64_t job, uint64_t epoch)
{
	struct ledger_entry *entry = worker->keeper_up ? ledger_find(worker->ledger, job, epoch) : NULL;
	uint64_t lot = files_lot(world, job, epoch) % 128;

	if (!entry || entry->phase != PHASE_QUEUED)
		return;
	if (worker->paused_until_ns > world->now_ns) {
		struct event *later = world_plan(world, worker->paused_until_ns - world->now_ns, HAPPENS_STAGED, worker->index);

		later->a = job;
		later->b = epoch;
		return;
	}
	ledger_staged(entry);
	if (world->faults && lot < 15)
		attempt_ended(world, worker, entry, OUTCOME_STAGE_FAILED, lot < 8 ? ENOSPC : ENOENT, 0);
	start_some(world, worker);
}

static void take_assignments(struct sim_world *world, struct sim_worker *worker, const struct message *message)
{
	for (size_t i = 0; i < message->count; i++) {
		struct ledger_entry *entry;

		const struct rec_job_spec *spec = oracle_spec(world, message->assign[i].job);
		struct ledger_entry *old;
		bool exclusive = spec && spec->mode == EXEC_EXCLUSIVE;

		enum ledger_verdict verdict = ledger_assign(worker->ledger, message->assign[i].job, message->assign[i].epoch,
							    exclusive, NULL, &entry);

		if (verdict == LEDGER_TAKEN)
			ask_for(world, worker, entry);
		if (verdict == LEDGER_TAKEN && spec && spec->inputs.len > 0)
			stage(world, worker, entry);
		if (verdict == LEDGER_STALE) {
			struct rec_done never = { .job = message->assign[i].job, .epoch = message->assign[i].epoch,
						  .outcome = OUTCOME_RECALLED, .ended_ms = world_time(world).wall_ms };

			world_note(world, "%s has a newer attempt of job %u", worker->name, (unsigned)never.job);
			tell_ended(world, worker, &never);
		}
		while ((old = ledger_superseded(worker->ledger, message->assign[i].job)))
			attempt_ended(world, worker, old, OUTCOME_RECALLED, 0, 0);
	}
}

static void take_acks(struct sim_world *world, struct sim_worker *worker, const struct message *message)
{
	for (size_t i = 0; i < message->count; i++) {
		void *owner;

		if (ledger_ack(worker->ledger, message->attempts[i].job, message->attempts[i].epoch, &owner))
			spool_drop(worker, message->attempts[i].job, message->attempts[i].epoch);
	}
	spool_write(world, worker);
}

void sim_worker_receive(struct sim_world *world, struct sim_worker *worker, const struct message *message)
{
	struct ledger_entry *entry;

	if (!worker->keeper_up)
		return;
	switch (message->op) {
	case OP_HEARTBEAT:                       /* the end of the new lease as the link computes it */
		ledger_lease(worker->ledger, message->sent_ns);
		plan_lease_end(world, worker);
		break;
	case OP_ASSIGN:
		take_assignments(world, worker, message);
		break;
	case OP_STOP:
		for (size_t i = 0; i < message->count; i++)
			stop_one(world, worker, &message->stop[i]);
		break;
	case OP_RECALL:
		for (size_t i = 0; i < message->count; i++)
			if (ledger_recall(worker->ledger, message->attempts[i].job, message->attempts[i].epoch, &entry))
				attempt_ended(world, worker, entry, OUTCOME_RECALLED, 0, 0);
		break;
	case OP_ACK:
		take_acks(world, worker, message);
		break;
	default:
		break;
	}
	start_some(world, worker);
}

/* ---- life of the keeper ---- */

static void adopt(struct sim_world *world, struct sim_worker *worker, const struct spooled *record)
{
	struct ledger_entry *entry;
	bool alive = false;

	if (ledger_assign(worker->ledger, record->job, record->epoch, false, NULL, &entry) != LEDGER_TAKEN)
		return;
	ask_for(world, worker, entry);
	ledger_started(worker->ledger, entry);
	if (record->ended) {
		ledger_ended(worker->ledger, entry, &record->result);
		return;
	}
	for (size_t i = 0; i < worker->process_count; i++)
		if (worker->processes[i].job == record->job && worker->processes[i].epoch == record->epoch) {
			worker->processes[i].ours = false;
			alive = true;
		}
	if (!alive)
		attempt_ended(world, worker, entry, OUTCOME_EXIT_UNKNOWN, 0, world->now_ns);
}

/* Kill marked processes without a record: their start never got to the disk. */
static void kill_orphans(struct sim_world *world, struct sim_worker *worker)
{
	for (size_t i = worker->process_count; i-- > 0;) {
		const struct process *process = &worker->processes[i];
		const struct ledger_entry *entry = ledger_find(worker->ledger, process->job, process->epoch);

		if (entry && entry->phase == PHASE_RUNNING)
			continue;
		oracle_ended(world, process->job, process->epoch);
		process_gone(worker, process);
	}
}

/*
 * Draw what a new keeper offers. The first keeper offers most; a later one may offer less, or belong to another
 * pool.
 */
static void offers_draw(struct sim_world *world, struct sim_worker *worker)
{
	bool first = worker->offer_list.n == 0 && worker->offers[0] == 0;

	if (!first && !world_chance(world, 400))
		return;
	worker->pool = (unsigned)world_rand(world, SIM_POOLS);
	worker->offer_list.n = 0;
	for (unsigned i = 0; i < SIM_KINDS; i++) {
		worker->offers[i] = worker->index == 0 ? SIM_MOST : world_rand(world, SIM_MOST + 1);
		if (worker->offers[i])
			(void)resources_add(&worker->offer_list, slice_str(graph_kind_names[i]), worker->offers[i], NULL);
	}
}

void sim_worker_boot(struct sim_world *world, struct sim_worker *worker)
{
	struct spooled records[512];
	size_t count = worker->spool_count < 512 ? worker->spool_count : 512;

	worker->keeper_up = true;
	worker->instance = world_rand(world, UINT64_MAX - 1) + 1;
	worker->ledger = ledger_new(worker->slots);
	offers_draw(world, worker);
	ledger_offer(worker->ledger, &worker->offer_list);
	if (count)
		memcpy(records, worker->spool, count * sizeof(records[0]));
	/* Sort by epoch: the ledger refuses an attempt older than one that it knows. */
	for (size_t round = 0; round < count; round++)
		for (size_t i = 0; i + 1 < count; i++)
			if (records[i].epoch > records[i + 1].epoch) {
				struct spooled other = records[i];

				records[i] = records[i + 1];
				records[i + 1] = other;
			}
	for (size_t i = 0; i < count; i++)
		adopt(world, worker, &records[i]);
	kill_orphans(world, worker);
	link_boot(world, worker);
	world_plan(world, (int64_t)world_rand(world, 2000) * MS, HAPPENS_BEAT, worker->index);
}

void sim_worker_keeper_crash(struct sim_world *world, struct sim_worker *worker, bool machine)
{
	world_note(world, "%s: the %s is killed", worker->name, machine ? "machine" : "keeper");
	link_crash(world, worker, false);
	worker->keeper_up = false;
	ledger_free(worker->ledger);
	worker->ledger = NULL;
	spool_survives(worker);
	for (size_t i = worker->spool_count; machine && i-- > 0;)
		if (worker->spool[i].at_ns + 5 * NS_PER_S > world->now_ns && world_chance(world, 500))
			worker->spool[i] = worker->spool[--worker->spool_count];
	/*
	 * Jobs that may not run twice die with their keeper, because only the keeper can end them in time; so do
	 * jobs with `worker_death: kill`.
	 */
	for (size_t i = worker->process_count; i-- > 0;) {
		if (!machine && !worker->processes[i].dies)
			continue;
		oracle_ended(world, worker->processes[i].job, worker->processes[i].epoch);
		process_gone(worker, &worker->processes[i]);
	}
	world_plan(world, (int64_t)world_rand(world, world_chance(world, 200) ? 150000 : 3000) * MS, HAPPENS_KEEPER_BOOT,
		   worker->index);
}

bool sim_worker_at_rest(const struct sim_worker *worker)
{
	return worker->keeper_up && worker->welcomed && worker->link.count == 0 && worker->spool_count == 0 && worker->process_count == 0 &&
	       ledger_queued(worker->ledger) == 0;
}

void sim_worker_free(struct sim_worker *worker)
{
	if (!sim_failure)
		ledger_free(worker->ledger);
	mem_free(worker->link.items);
	link_forget_contexts(worker);
	mem_free(worker->processes);
	mem_free(worker->spool);
}
