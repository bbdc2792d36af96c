/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job's life: I2 (a terminal state is final), I3 (epochs), I4 (mode once), I5 (mode exclusive), I6 (starts), I8
 * (success), I9 (all ends), I11 (stale attempts) and I15 (lost workers).
 */
#include "oracle.h"

#include <errno.h>

static bool satisfied(enum trigger trigger, enum job_state parent)
{
	switch (trigger) {
	case TRIGGER_OK:
		return parent == STATE_SUCCEEDED;
	case TRIGGER_FAILED:
		return parent == STATE_FAILED || parent == STATE_TIMED_OUT || parent == STATE_DENIED ||
		       parent == STATE_QUARANTINED;
	default:
		return state_terminal(parent);
	}
}

static void start_needs(struct sim_world *world, const struct oracle_start *start)
{
	for (size_t i = 0; i < start->spec->needs.n; i++) {
		uint64_t serial = oracle_need(start->graph, start->spec->needs.at[i]);
		const struct row *parent = disk_get(&world->disk, TABLE_job, serial);
		enum trigger trigger = start->spec->triggers.n ? (enum trigger)start->spec->triggers.at[i] : TRIGGER_OK;

		if (trigger != TRIGGER_EXPR &&
		    (!parent || !satisfied(trigger, oracle_result(world, serial, (enum job_state)parent->job.state))))
			world_fail(world, "I6: job %u starts before its parent %u has durably ended as it needs",
				   (unsigned)start->job->job, (unsigned)serial);
	}
}

/* I6: a start needs a durable assignment and durably satisfied dependencies. */
static void life_start(struct sim_world *world, const struct oracle_start *start)
{
	const struct oracle_job *job = start->job;
	unsigned serial = (unsigned)job->job;

	if (job->last_started >= start->epoch)
		world_fail(world, "an attempt of job %u starts twice", serial);
	if (start->worker->process_count > start->worker->slots)
		world_fail(world, "I7: %s has %u slots and starts job %u beside as many", start->worker->name,
			   start->worker->slots, serial);
	if (!ledger_has_lease(start->worker->ledger, world->now_ns))
		world_fail(world, "%s starts job %u without a lease", start->worker->name, serial);
	if (start->spec->mode == EXEC_ONCE && start->own_round && job->starts > 0)
		world_fail(world, "I4: job %u may start once, and starts again", serial);
	if (start->spec->mode == EXEC_EXCLUSIVE && job->live > 0 && !job->on_paused)
		world_fail(world, "I5: job %u may run once at a time, and starts beside itself", serial);
	/* a loose job doesn't wait for a parent that began another round */
	if (!(start->row->flags & ROW_JOB_LOOSE))
		start_needs(world, start);
}

static void life_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	if (assign->epoch <= job->epoch_durable)
		world_fail(world, "I3: the epoch of job %u doesn't grow", (unsigned)job->job);
	if (job->terminal && job->round == job->round_decided)
		world_fail(world, "I8: job %u is given out again after it ended", (unsigned)job->job);
}

static void life_row(struct sim_world *world, const struct row *any, struct oracle_job *job, const struct outbox *outbox)
{
	const struct row_job *row = &any->job;
	enum job_state state = job ? (enum job_state)row->state : STATE_WAITING;
	const struct rec_job_spec *spec = job ? oracle_spec(world, job->job) : NULL;

	(void)outbox;
	if (!job)
		return;
	if ((uint64_t)row->epoch < job->epoch_durable)
		world_fail(world, "I3: the epoch of job %u shrinks", (unsigned)row->job);
	if ((uint32_t)row->round < job->round)
		world_fail(world, "job %u goes from round %u back to %u", (unsigned)row->job, job->round, (unsigned)row->round);
	if (job->terminal && state != job->durable && (uint32_t)row->round == job->round)
		world_fail(world, "I2: job %u was %s and becomes %s", (unsigned)row->job, state_table[job->durable].name,
			   state_table[state].name);
	/* A job also succeeds if a person says so, if it is a service that nobody needs any longer, or if a loop counts a last pass that couldn't start as success. */
	if (state == STATE_SUCCEEDED && row->stop_cause != EVENT_PERSON_DONE && row->stop_cause != EVENT_OVER && row->child == 0 &&
	    !(spec && spec->loop_max && outcome_is_no_start((uint64_t)row->outcome)) &&
	    job->last_started != (uint64_t)row->epoch)
		world_fail(world, "I3: job %u succeeded by an attempt that isn't its last", (unsigned)row->job);
	if (state == STATE_FAILED && row->outcome == OUTCOME_STAGE_FAILED && row->code == ENOSPC)
		world_fail(world, "job %u failed because the disk of a worker was full", (unsigned)row->job);
}

static void life_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
		       const struct rec_job_spec *spec, int64_t wall_ms)
{
	(void)spec;
	(void)wall_ms;
	if (event->event == EVENT_PERSON_RETRY)
		job->starts = 0;         /* a person who retries an unknown job accepts that it may start twice */
	if (!event_opens_round(event))
		return;
	if (state_has_attempt((enum job_state)event->from) || event->from == STATE_WAITING ||
	    event->from == STATE_UNKNOWN)
		world_fail(world, "job %u begins a round while the last is under way", (unsigned)event->job);
	job->starts = 0;
}

/* Since when has nothing disturbed the worker? Some faults last longer than the phase in which they began. */
static int64_t peace_ns(const struct sim_world *world, const struct sim_worker *worker)
{
	const int64_t ends[] = { world->calm_ns, worker->welcomed_ns, worker->paused_until_ns, worker->link.paused_until_ns,
				 worker->deaf_until_ns, worker->mute_until_ns, world->master.paused_until_ns };
	int64_t since_ns = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i] > since_ns)
			since_ns = ends[i];
	return since_ns;
}

/*
 * Check I11: a worker that nothing has disturbed for 20 s runs only current attempts, and none beyond its time
 * limit.
 */
static void life_quiet(struct sim_world *world, const struct sim_worker *worker)
{
	if (world->faults || world->now_ns - peace_ns(world, worker) < 20 * NS_PER_S)
		return;
	for (size_t i = 0; i < worker->process_count; i++) {
		const struct process *process = &worker->processes[i];
		const struct row *row = disk_get(&world->disk, TABLE_job, process->job);
		const struct rec_job_spec *spec = oracle_spec(world, process->job);

		if (process->started_ns + 20 * NS_PER_S > world->now_ns)
			continue;
		if (!row || (uint64_t)row->job.epoch != process->epoch || state_terminal((enum job_state)row->job.state))
			world_fail(world, "I11: %s still runs a stale attempt of job %u", worker->name, (unsigned)process->job);
		if (spec && spec->timeout_ms && process->started_ns + (int64_t)spec->timeout_ms * MS + 20 * NS_PER_S < world->now_ns)
			world_fail(world, "job %u runs on and on after its time-out", (unsigned)process->job);
	}
}

/* Check I9: when all has come to rest no process is left. */
static void life_rest(struct sim_world *world)
{
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	while (map_next(&world->oracle.jobs, &cursor, &serial, &value))
		if (((struct oracle_job *)value)->live)
			world_fail(world, "I9: job %u still has a process", (unsigned)serial);
}

bool oracle_run_unknown(struct sim_world *world, uint64_t run)
{
	const struct row *row = disk_get(&world->disk, TABLE_run, run);

	uint64_t serial;

	if (!row || row->run.ended_ms != 0)
		return false;
	for (struct oracle_walk walk = { 0 }; (serial = oracle_run_next(world, run, &walk)) != 0;)
		if (oracle_job(world, serial)->durable == STATE_UNKNOWN)
			return true;
	return false;
}

static bool heard_of(const struct outbox *outbox, uint64_t job)
{
	for (size_t i = 0; i < outbox->frame_count; i++)
		if (outbox->frames[i].op == OP_WELCOME || (outbox->frames[i].op == OP_ACK && outbox->frames[i].ack.job == job))
			return true;
	return false;
}

/*
 * Check I15: when a worker is declared lost for its silence, its lease has ended. An attempt may also be lost
 * because its worker reported without it; then the worker isn't silent.
 */
static void lost_in_silence(struct sim_world *world, const struct outbox *outbox, const struct rec_event *event)
{
	const struct row *row = disk_get(&world->disk, TABLE_worker, event->worker);

	if (event->event != EVENT_LOST || !row || heard_of(outbox, event->job))
		return;
	for (uint32_t i = 0; i < world->worker_count; i++) {
		const struct sim_worker *worker = &world->workers[i];

		if (worker->keeper_up && slice_eq(row->worker.name, slice_str(worker->name)) &&
		    ledger_has_lease(worker->ledger, world->now_ns))
			world_fail(world, "I15: job %u is lost, and %s still has its lease", (unsigned)event->job, worker->name);
	}
}

static void life_turn(struct sim_world *world, const struct outbox *outbox)
{
	struct arena arena = { 0 };
	struct rec_happening happening;
	struct rec_event event;

	for (size_t i = 0; i < outbox->row_count; i++) {
		struct slice body = outbox->rows[i].table == TABLE_event ? outbox->rows[i].event.body : (struct slice){ 0 };

		while (body.len)
			if (happening_is_next(body))
				record_decode(REC_happening, &body, &arena, &happening, NULL);
			else if (record_decode(REC_event, &body, &arena, &event, NULL) == ERR_NONE)
				lost_in_silence(world, outbox, &event);
	}
	arena_free(&arena);
}

const struct oracle_check oracle_life = {
	.turn = life_turn,
	.start = life_start, .given = life_given, .row = life_row, .event = life_event, .quiet = life_quiet, .rest = life_rest,
};
