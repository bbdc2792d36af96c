/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold, checked against what really happened. Each failure names its invariant. */
#include "sim.h"

#include <stdlib.h>

#include "base/mem.h"

struct oracle_job {
	uint64_t job;
	uint64_t run, index;
	uint64_t epoch_decided, epoch_durable;
	enum job_state durable;
	bool terminal;
	uint32_t round;                  /* durable */
	uint32_t event_round;            /* as of the latest durable event */
	uint32_t round_decided;
	enum job_state decided;
	uint32_t cancelled;              /* round + 1 whose cancel was acknowledged */
	bool held_decided, run_held_decided, loose_decided;
	int64_t gate_due_ms;             /* durable */
	uint32_t opened;                 /* round + 1 whose gate is open */
	uint32_t live, starts, fails;
	bool on_paused;                  /* a stopped machine ran it: the honest exception of I5 */
	uint64_t last_started;           /* epoch */
	uint64_t round_epoch;            /* of the last attempt before this round */
	struct row_job row;
};

static struct oracle_job *job_of(struct sim_world *world, uint64_t serial)
{
	struct oracle_job *job = map_get(&world->oracle.jobs, serial);

	if (!job) {
		job = mem_zalloc(sizeof(*job));
		job->job = serial;
		map_put(&world->oracle.jobs, serial, job);
	}
	return job;
}

/* Only a retry of a job alone leaves behind it what has ended. */
static void decided_loose(struct sim_world *world, const struct outbox *outbox, const struct row_job *row)
{
	const struct oracle_job *job = job_of(world, (uint64_t)row->job);

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
	world_fail(world, "job %u isn't decided anew with its parent", (unsigned)row->job);
}

/* What was decided last of jobs and runs, be it durable or not. */
static void decided_row(struct sim_world *world, const struct row *row)
{
	if (row->table == TABLE_job) {
		struct oracle_job *job = job_of(world, (uint64_t)row->job.job);

		job->round_decided = (uint32_t)row->job.round;
		job->decided = (enum job_state)row->job.state;
		job->held_decided = (row->job.flags & ROW_JOB_HELD) != 0;
		job->loose_decided = (row->job.flags & ROW_JOB_LOOSE) != 0;
	} else if (row->table == TABLE_run) {
		for (int64_t i = 0; i < row->run.jobs; i++)
			job_of(world, (uint64_t)(row->run.first + i))->run_held_decided = row->run.held != 0;
	}
}

/* I10 is about the rounds that were there when the cancel was decided. */
static void decided_cancel(struct sim_world *world, struct sim_act *act)
{
	const struct row *run = disk_get(&world->disk, TABLE_run, act->run);

	if (!run || act->rounds || act->verb != ACT_CANCEL || !act->whole)
		return;
	act->job_count = (uint32_t)run->run.jobs;
	act->rounds = mem_array(act->job_count, sizeof(*act->rounds));
	for (uint32_t i = 0; i < act->job_count; i++)
		act->rounds[i] = job_of(world, (uint64_t)run->run.first + i)->round_decided;
}

static const struct sim_graph *graph_of(struct sim_world *world, uint64_t serial, uint64_t *ret_first)
{
	const struct row *row = disk_get(&world->disk, TABLE_job, serial);
	const struct row *run = row ? disk_get(&world->disk, TABLE_run, (uint64_t)row->job.run) : NULL;

	if (!run)
		return NULL;
	*ret_first = (uint64_t)run->run.first;
	return map_get(&world->oracle.runs, (uint64_t)run->run.run);
}

const struct rec_job_spec *oracle_spec(struct sim_world *world, uint64_t serial)
{
	uint64_t first = 0;
	const struct sim_graph *graph = graph_of(world, serial, &first);

	return graph ? &graph->jobs[serial - first] : NULL;
}

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

/* I6: a start needs a durable assignment and durably satisfied dependencies. I8, I10: and a reason. */
void oracle_started(struct sim_world *world, const struct sim_worker *worker, uint64_t serial, uint64_t epoch)
{
	struct oracle_job *job = job_of(world, serial);
	const struct row *row = disk_get(&world->disk, TABLE_job, serial);
	uint64_t first = 0;
	const struct sim_graph *graph = graph_of(world, serial, &first);

	world_note(world, "%s starts job %u epoch %x", worker->name, (unsigned)serial, (unsigned)epoch);
	if (!row || (uint64_t)row->job.epoch < epoch)
		world_fail(world, "I6: job %u epoch %x starts without a durable assignment", (unsigned)serial, (unsigned)epoch);
	if (!graph)
		world_fail(world, "I6: job %u of no durable run starts", (unsigned)serial);
	if (job->last_started >= epoch)
		world_fail(world, "an attempt of job %u starts twice", (unsigned)serial);
	if (!ledger_has_lease(worker->ledger, world->now_ns))
		world_fail(world, "%s starts job %u without a lease", worker->name, (unsigned)serial);
	if (graph->jobs[serial - first].mode == EXEC_ONCE && epoch > job->round_epoch && job->starts > 0)
		world_fail(world, "I4: job %u may start once, and starts again", (unsigned)serial);
	if (graph->jobs[serial - first].mode == EXEC_EXCLUSIVE && job->live > 0 && !job->on_paused)
		world_fail(world, "I5: job %u may run once at a time, and starts beside itself", (unsigned)serial);
	if (graph->jobs[serial - first].gate_count && epoch > job->round_epoch && job->opened != (uint32_t)row->job.round + 1)
		world_fail(world, "job %u starts and nobody opened its gate", (unsigned)serial);
	for (size_t i = 0; i < graph->jobs[serial - first].labels.n; i++)
		for (unsigned bit = 0; bit < SIM_LABELS; bit++)
			if (slice_eq(graph->jobs[serial - first].labels.at[i], slice_str(graph_labels[bit])) &&
			    !(worker->labels >> bit & 1))
				world_fail(world, "job %u starts on %s, which lacks a label", (unsigned)serial, worker->name);
	if (graph->jobs[serial - first].not_before_ms > world_time(world).wall_ms)
		world_fail(world, "job %u starts before its time", (unsigned)serial);
	job->last_started = epoch;
	job->starts += epoch > job->round_epoch;
	job->live++;
	world->oracle.starts++;
	sim_totals.starts++;
	if (row->job.flags & ROW_JOB_LOOSE)
		return;                          /* a parent began another round behind it */
	for (size_t i = 0; i < graph->jobs[serial - first].needs.n; i++) {
		const struct rec_job_spec *spec = &graph->jobs[serial - first];
		const struct row *parent = disk_get(&world->disk, TABLE_job, first + spec->needs.at[i]);
		enum trigger trigger = spec->triggers.n ? (enum trigger)spec->triggers.at[i] : TRIGGER_OK;

		if (!parent || !satisfied(trigger, (enum job_state)parent->job.state))
			world_fail(world, "I6: job %u starts before its parent %u is durably settled in its favour",
				   (unsigned)serial, (unsigned)(first + spec->needs.at[i]));
	}
}

void oracle_ended(struct sim_world *world, uint64_t serial, uint64_t epoch)
{
	struct oracle_job *job = job_of(world, serial);

	world_note(world, "job %u epoch %x is gone", (unsigned)serial, (unsigned)epoch);
	if (job->live == 0)
		world_fail(world, "job %u ends twice", (unsigned)serial);
	job->live--;
}

static bool holds(enum job_state state)
{
	return state == STATE_ASSIGNED || state == STATE_RUNNING || state == STATE_STOPPING;
}

/* Of a run that was given an attempt: no more than its bounds allow. */
static void decided_bounds(struct sim_world *world, uint64_t run, uint64_t serial)
{
	const struct row *row = disk_get(&world->disk, TABLE_run, run);
	const struct sim_graph *graph = row ? map_get(&world->oracle.runs, run) : NULL;
	uint64_t first = row ? (uint64_t)row->run.first : 0, in_run = 0, in_group = 0;

	for (uint32_t i = 0; graph && i < graph->count; i++) {
		if (!holds(job_of(world, first + i)->decided))
			continue;
		in_run++;
		in_group += graph->jobs[i].group == graph->jobs[serial - first].group;
	}
	if (graph && graph->max_jobs && in_run > graph->max_jobs)
		world_fail(world, "%u jobs of a run are out, and %u is the most", (unsigned)in_run, graph->max_jobs);
	if (graph && graph->jobs[serial - first].group_parallel && in_group > graph->jobs[serial - first].group_parallel)
		world_fail(world, "%u jobs of a fan-out are out, and %u is the most", (unsigned)in_group,
			   (unsigned)graph->jobs[serial - first].group_parallel);
}

/* The first failure of a fan-out ends the rest of it in the same transaction. */
static void durable_fail_fast(struct sim_world *world, const struct rec_event *event)
{
	const struct oracle_job *failed = job_of(world, event->job);
	uint64_t first = 0;
	const struct sim_graph *graph = graph_of(world, event->job, &first);
	const struct rec_job_spec *spec = graph ? &graph->jobs[event->job - first] : NULL;

	if (!spec || !spec->group_fail_fast || failed->row.round != failed->event_round ||
	    (event->to != STATE_FAILED && event->to != STATE_TIMED_OUT))
		return;
	for (uint32_t i = 0; i < graph->count; i++) {
		const struct row *row = disk_get(&world->disk, TABLE_job, first + i);

		if (graph->jobs[i].group != spec->group)
			continue;
		if (!row || (!state_terminal((enum job_state)row->job.state) && row->job.state != STATE_STOPPING &&
			     (uint32_t)row->job.round == job_of(world, first + i)->event_round))
			world_fail(world, "job %u failed, and job %u of its fan-out goes on", (unsigned)event->job,
				   (unsigned)(first + i));
	}
}

/* Decided in a turn: no attempt after success or an acknowledged cancel; epochs grow. */
void oracle_turn(struct sim_world *world, const struct outbox *outbox)
{
	/* Before the rows: a retry in the same turn may have come behind the cancel. */
	for (size_t i = 0; i < outbox->frame_count; i++)
		if (outbox->frames[i].op == OP_OK && outbox->frames[i].ok.id >= ACT_BASE)
			decided_cancel(world, &world->acts[outbox->frames[i].ok.id - ACT_BASE]);
	for (size_t i = 0; i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_job)
			decided_loose(world, outbox, &outbox->rows[i].job);
	for (size_t i = 0; i < outbox->row_count; i++)
		decided_row(world, &outbox->rows[i]);
	for (size_t i = 0; i < outbox->frame_count; i++) {
		const struct outgoing *frame = &outbox->frames[i];
		struct oracle_job *job;

		if (frame->op != OP_ASSIGN)
			continue;
		job = job_of(world, frame->assign.job);
		if (frame->assign.epoch <= job->epoch_durable)
			world_fail(world, "I3: the epoch of job %u doesn't grow", (unsigned)job->job);
		if (job->terminal && job->round == job->round_decided)
			world_fail(world, "I8: job %u is given out again after it was settled", (unsigned)job->job);
		if (job->held_decided || job->run_held_decided)
			world_fail(world, "job %u is given out while a person holds it back", (unsigned)job->job);
		if (job->cancelled > job->round_decided)
			world_fail(world, "I10: job %u is given out after its cancel was acknowledged", (unsigned)job->job);
		job->epoch_decided = frame->assign.epoch;
		decided_bounds(world, frame->assign.run, job->job);
	}
}

static void durable_job(struct sim_world *world, const struct row_job *row)
{
	struct oracle_job *job = job_of(world, (uint64_t)row->job);
	enum job_state state = (enum job_state)row->state;

	if ((uint64_t)row->epoch < job->epoch_durable)
		world_fail(world, "I3: the epoch of job %u shrinks", (unsigned)row->job);
	if ((uint32_t)row->round < job->round)
		world_fail(world, "job %u goes from round %u back to %u", (unsigned)row->job, job->round, (unsigned)row->round);
	if (job->terminal && state != job->durable && (uint32_t)row->round == job->round)
		world_fail(world, "I2: job %u was %s and becomes %s", (unsigned)row->job, state_table[job->durable].name,
			   state_table[state].name);
	if (state == STATE_SUCCEEDED && job->last_started != (uint64_t)row->epoch)
		world_fail(world, "I3: job %u succeeded by an attempt that isn't its last", (unsigned)row->job);
	job->round = (uint32_t)row->round;
	job->epoch_durable = (uint64_t)row->epoch;
	job->durable = state;
	if (state == STATE_APPROVAL)
		job->gate_due_ms = row->due_ms;
	job->terminal = state_terminal(state);
	job->row = *row;
	job->run = (uint64_t)row->run;
}

/* I12: of a job that is newly delayed. */
static void durable_due(struct sim_world *world, const struct row_job *row, int64_t wall_ms)
{
	const struct oracle_job *job = job_of(world, (uint64_t)row->job);

	if (row->state != STATE_DELAYED || (job->durable == STATE_DELAYED && job->row.due_ms == row->due_ms))
		return;
	if (row->tries > 0 && row->due_ms < wall_ms + LIMIT_RETRY_BACKOFF_MS)
		world_fail(world, "I12: job %u waits for less than its backoff", (unsigned)row->job);
}

/* I13: people, or the expiry, and whoever may; once. */
static void durable_gate(struct sim_world *world, const struct rec_event *event, int64_t wall_ms)
{
	struct oracle_job *job = job_of(world, event->job);
	const struct rec_job_spec *spec = oracle_spec(world, event->job);
	uint64_t approved = 0, rejected = 0;

	if (!spec || event->from != STATE_APPROVAL)
		return;
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;

		if (row->table != TABLE_decision || (uint64_t)row->decision.job != event->job ||
		    row->decision.round != job->event_round)
			continue;
		approved += row->decision.verdict == 1;
		rejected += row->decision.verdict == 0;
		if (spec->gate_from.n > 0 && row->decision.person == SIM_PEOPLE)
			world_fail(world, "somebody who may not decided gate %u", (unsigned)event->job);
		if (spec->gate_from.n > 0 && row->decision.person == 1 && row->decision.verdict)
			world_fail(world, "who submitted gate %u approved it", (unsigned)event->job);
	}
	if (event->event == EVENT_APPROVED && (approved < spec->gate_count || rejected > 0))
		world_fail(world, "gate %u opened by %u people", (unsigned)event->job, (unsigned)approved);
	if (event->event == EVENT_REJECTED && rejected != 1)
		world_fail(world, "gate %u was rejected by nobody", (unsigned)event->job);
	if (event->event == EVENT_EXPIRED && (job->gate_due_ms == 0 || job->gate_due_ms > wall_ms))
		world_fail(world, "I13: gate %u expired before its time", (unsigned)event->job);
	if (event->event == EVENT_EXPIRED && (event->to == STATE_DENIED) != (spec->gate_expiry == GATE_REJECT))
		world_fail(world, "I13: gate %u expired into %s", (unsigned)event->job, state_table[event->to].name);
	if (event->to == STATE_READY || event->to == STATE_SUCCEEDED)
		job->opened = job->event_round + 1;
}

static void durable_stage(struct sim_world *world, const struct rec_event *event, int64_t wall_ms)
{
	const struct rec_job_spec *spec = oracle_spec(world, event->job);

	if (!spec || event->event != EVENT_DEPS_MET || event->to == STATE_DELAYED)
		return;
	if (spec->delay_ms > 0 || spec->not_before_ms > wall_ms)
		world_fail(world, "job %u doesn't wait as it should", (unsigned)event->job);
	if (spec->gate_count > 0 && event->to != STATE_APPROVAL)
		world_fail(world, "job %u asks nobody", (unsigned)event->job);
}

/* I12: as many failures as retries allow, no more and no fewer. */
static void durable_failure(struct sim_world *world, const struct rec_event *event)
{
	struct oracle_job *job = job_of(world, event->job);
	const struct rec_job_spec *spec = oracle_spec(world, event->job);

	if (event->event == EVENT_REOPENED) {
		if (!state_terminal((enum job_state)event->from))
			world_fail(world, "job %u begins a round before the last has ended", (unsigned)event->job);
		job->fails = 0;
		job->event_round++;
		job->starts = 0;
		job->round_epoch = event->epoch;
	}
	if (event->event != EVENT_EXITED_FAIL)
		return;
	job->fails++;
	if (spec && (event->to == STATE_FAILED) != (job->fails == spec->retry_max + 1))
		world_fail(world, "I12: job %u is %s after %u failures, with %u retries", (unsigned)event->job,
			   state_table[event->to].name, job->fails, (unsigned)spec->retry_max);
}

static void durable_events(struct sim_world *world, struct slice body, int64_t wall_ms)
{
	struct arena arena = { 0 };
	struct rec_event event;

	while (body.len) {
		if (record_decode(REC_event, &body, &arena, &event, NULL) != ERR_NONE)
			world_fail(world, "an event row can't be read");
		if (event.from >= STATE_COUNT || event.event >= EVENT_COUNT || event.to >= STATE_COUNT ||
		    !state_allows((enum job_state)event.from, (enum job_event)event.event, (enum job_state)event.to))
			world_fail(world, "a move that isn't in the table was recorded");
		sim_totals.moves[event.from][event.event][event.to]++;
		durable_failure(world, &event);
		durable_gate(world, &event, wall_ms);
		durable_fail_fast(world, &event);
		durable_stage(world, &event, wall_ms);
		if (event.to == STATE_SUCCEEDED || event.to == STATE_FAILED)
			world->oracle.results++;
	}
	arena_free(&arena);
}

static void durable_key(struct sim_world *world, const struct row_submit_key *row)
{
	for (size_t i = 0; i < world->graph_count; i++) {
		struct sim_graph *graph = world->graphs[i];

		if (!slice_eq(row->submit_key, slice_make(graph->key, sizeof(graph->key))))
			continue;
		if (map_get(&world->oracle.runs, (uint64_t)row->run) && graph != map_get(&world->oracle.runs, (uint64_t)row->run))
			world_fail(world, "two graphs share run %u", (unsigned)row->run);
		map_put(&world->oracle.runs, (uint64_t)row->run, graph);
		if (graph->invalid)
			world_fail(world, "an invalid graph became run %u", (unsigned)row->run);
		if (graph->run && graph->run != (uint64_t)row->run)
			world_fail(world, "I1: one submit became two runs");
	}
}

/* I16: a run's row, when it ended, says what its jobs say. */
static void durable_run(struct sim_world *world, const struct row_run *row)
{
	uint32_t counts[STATE_COUNT] = { 0 };

	if (row->ended_ms == 0)
		return;
	for (int64_t i = 0; i < row->jobs; i++) {
		const struct row *job = disk_get(&world->disk, TABLE_job, (uint64_t)(row->first + i));

		if (!job)
			world_fail(world, "I16: run %u ended without its job %u", (unsigned)row->run, (unsigned)(row->first + i));
		counts[job->job.state]++;
	}
	if ((int64_t)run_state_of(counts) != row->state || !run_state_terminal(run_state_of(counts)))
		world_fail(world, "I16: run %u isn't what its jobs are", (unsigned)row->run);
}

void oracle_durable(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->row_count; i++) {
		const struct row *row = &outbox->rows[i];

		if (row->deleted)
			continue;
		if (row->table == TABLE_job) {
			durable_due(world, &row->job, outbox->wall_ms);
			durable_job(world, &row->job);
		}
		else if (row->table == TABLE_event)
			durable_events(world, row->event.body, outbox->wall_ms);
		else if (row->table == TABLE_submit_key)
			durable_key(world, &row->submit_key);
		else if (row->table == TABLE_run)
			durable_run(world, &row->run);
	}
}

/* I1: what was acknowledged is durable, and is one run. */
void oracle_accepted(struct sim_world *world, struct sim_graph *graph, uint64_t run)
{
	world_note(world, "%s is run %u", graph->name, (unsigned)run);
	if (graph->invalid)
		world_fail(world, "an invalid graph was accepted");
	if (map_get(&world->oracle.runs, run) != graph || !disk_get(&world->disk, TABLE_run, run))
		world_fail(world, "I1: run %u was acknowledged and isn't durable", (unsigned)run);
	if (graph->run && graph->run != run)
		world_fail(world, "I1: one submit became two runs");
	graph->run = run;
}

void oracle_acted(struct sim_world *world, const struct sim_act *act)
{
	const struct row *row = disk_get(&world->disk, TABLE_run, act->run);

	world_note(world, "act %d on run %u is acknowledged", (int)act->verb, (unsigned)act->run);
	for (uint32_t i = 0; row && i < act->job_count; i++) {
		struct oracle_job *job = job_of(world, (uint64_t)row->run.first + i);

		if (job->cancelled <= act->rounds[i])
			job->cancelled = act->rounds[i] + 1;
	}
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
		job->decided = row ? (enum job_state)row->job.state : STATE_WAITING;
		job->held_decided = row && row->job.flags & ROW_JOB_HELD;
		job->loose_decided = row && row->job.flags & ROW_JOB_LOOSE;
		job->run_held_decided = false;
	}
	for (size_t i = 0; i < world->disk.count; i++)
		if (world->disk.order[i]->row.table == TABLE_run)
			decided_row(world, &world->disk.order[i]->row);
}

bool oracle_job_asks(struct sim_world *world, uint64_t run, uint32_t index)
{
	const struct row *row = disk_get(&world->disk, TABLE_run, run);

	return row && job_of(world, (uint64_t)row->run.first + index)->durable == STATE_APPROVAL;
}

bool oracle_run_held(struct sim_world *world, uint64_t run)
{
	const struct row *row = disk_get(&world->disk, TABLE_run, run);

	return row && row->run.held && row->run.ended_ms == 0;
}

bool oracle_job_held(struct sim_world *world, uint64_t run, uint32_t index)
{
	const struct row *row = disk_get(&world->disk, TABLE_run, run);
	const struct row *job = row ? disk_get(&world->disk, TABLE_job, (uint64_t)row->run.first + index) : NULL;

	return job && job->job.flags & ROW_JOB_HELD && !state_terminal((enum job_state)job->job.state);
}

void oracle_paused(struct sim_world *world, const struct sim_worker *worker)
{
	for (size_t i = 0; i < worker->process_count; i++)
		job_of(world, worker->processes[i].job)->on_paused = true;
}

/* I11: a worker that has been in peace for a while runs only current attempts, and none that is out of time. */
void oracle_quiet(struct sim_world *world, const struct sim_worker *worker)
{
	int64_t since_ns = worker->welcomed_ns > world->calm_ns ? worker->welcomed_ns : world->calm_ns;

	if (worker->paused_until_ns > since_ns)
		since_ns = worker->paused_until_ns;
	if (world->faults || world->now_ns - since_ns < 20 * NS_PER_S)
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

bool oracle_run_unknown(struct sim_world *world, uint64_t run)
{
	const struct row *row = disk_get(&world->disk, TABLE_run, run);

	for (int64_t i = 0; row && row->run.ended_ms == 0 && i < row->run.jobs; i++)
		if (job_of(world, (uint64_t)(row->run.first + i))->durable == STATE_UNKNOWN)
			return true;
	return false;
}

/* I9: after faults stop everything is settled, and no process is left. */
void oracle_rest(struct sim_world *world)
{
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	while (map_next(&world->oracle.jobs, &cursor, &serial, &value))
		if (((struct oracle_job *)value)->live)
			world_fail(world, "I9: job %u still has a process", (unsigned)serial);
	for (size_t i = 0; i < world->graph_count; i++) {
		const struct sim_graph *graph = world->graphs[i];
		const struct row *row = graph->run ? disk_get(&world->disk, TABLE_run, graph->run) : NULL;

		if (graph->invalid)
			continue;
		if (!row || row->run.ended_ms == 0)
			world_fail(world, "I9: %s never ended", graph->name);
	}
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
}
