/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The five steps of a turn. collect: callbacks put decoded messages in the inbox. decide: the core takes them and fills
 * an outbox; queries are answered from the new state. commit: the outbox goes to the store. reveal: frames are sent, in
 * order, when their turn and all before it are durable. sweep: ended runs leave memory. A turn is decided in one go and
 * never waits.
 */
#include "master/sight.h"

#include <stddef.h>

#include "base/check.h"
#include "base/mem.h"
#include "master/logs.h"
#include "master/remote.h"

_Static_assert(offsetof(struct master_turn, outbox) == 0, "an outbox in the commit queue is its turn");

/* A commit that takes longer shows a slow disk; then it costs little to sleep until it is done. */
#define WATCH_NS (NS_PER_MS / 2)
#define TURN_ROWS 4096                   /* more rows than most turns have; see turn_free */
#define TURN_KEEP 65536                  /* most bytes of frame buffer kept by a turn in the pool */

struct core_input *inbox_add(struct master *master, enum input_kind kind, const struct peer_session *session,
			     uint64_t request, size_t bytes)
{
	struct inbox *inbox = &master->inbox;
	struct core_input *input;

	if (inbox->count == inbox->cap) {
		inbox->cap = inbox->cap ? inbox->cap * 2 : 64;
		inbox->inputs = mem_resize(inbox->inputs, inbox->cap, sizeof(*inbox->inputs));
	}
	input = &inbox->inputs[inbox->count++];
	*input = (struct core_input){ .kind = kind, .conn = session ? session->id : 0, .request = request };
	if (session)
		input->by = (struct actor){
			.principal = session->principal.id, .caller = session->caller,
			.name = arena_copy(&inbox->arena, slice_str(session->principal.name)),
			.origin = slice_str(session->principal.origin),
			.key = arena_copy(&inbox->arena, slice_str(session->token)),
		};
	inbox->bytes += bytes + sizeof(*input);
	return input;
}

static void inbox_clear(struct master *master)
{
	struct inbox *inbox = &master->inbox;

	for (size_t i = 0; i < inbox->count; i++) {
		const struct core_input *input = &inbox->inputs[i];

		if (input->kind == INPUT_REOPEN)
			history_reopened(master, input->reopen.owner);
		if (input->kind == INPUT_PRUNE && input->prune.asked.len == 0)
			prune_stepped(master, &input->prune);
		if (input->kind != INPUT_SUBMIT)
			continue;
		for (size_t part = 0; part < input->submit.part_count; part++)
			blob_release(input->submit.parts[part].body);
	}
	inbox->count = 0;
	inbox->bytes = 0;
	arena_reset(&inbox->arena);
	if (master->inbox_was_full)
		session_pause_end(master, PAUSE_INBOX);
	master->inbox_was_full = false;
}

/* ---- the pool ---- */

struct master_turn *turn_new(struct master *master)
{
	struct master_turn *turn = master->pool;

	if (!turn)
		return mem_zalloc(sizeof(*turn));
	master->pool = turn->next;
	turn->next = NULL;
	return turn;
}

void turn_free(struct master *master, struct master_turn *turn)
{
	if (turn->outbox.row_count > TURN_ROWS)
		quiet_freed(master, turn->outbox.row_cap * sizeof(*turn->outbox.rows));
	outbox_clear(&turn->outbox);
	if (turn->bytes.cap > TURN_KEEP)
		buf_free(&turn->bytes);
	else
		buf_clear(&turn->bytes);
	turn->part_count = 0;
	turn->end = false;
	turn->awaited = false;
	turn->hurried = false;
	turn->next = master->pool;
	master->pool = turn;
}

static void turn_destroy(struct master_turn *turn)
{
	outbox_free(&turn->outbox);
	buf_free(&turn->bytes);
	mem_free(turn->parts);
	mem_free(turn);
}

void turn_pool_drop(struct master *master)
{
	struct master_turn *turn;

	while ((turn = master->pool)) {
		master->pool = turn->next;
		turn_destroy(turn);
	}
}

void turn_pool_free(struct master *master)
{
	turn_pool_drop(master);
	for (struct outbox *outbox = master->commits.first; outbox;) {
		struct outbox *next = outbox->next;

		turn_destroy((struct master_turn *)outbox);
		outbox = next;
	}
	master->commits = (struct commit_queue){ 0 };
	mem_free(master->inbox.inputs);
	arena_free(&master->inbox.arena);
}

/* ---- decide, commit ---- */

/* Is this an act on a run that has left memory? Then make it a query to history, which knows whether the run exists. */
static bool is_gone(struct master *master, const struct core_input *input)
{
	uint64_t run = input->kind == INPUT_CANCEL ? input->cancel.run : input->act.run;
	struct slice job = input->kind == INPUT_CANCEL ? input->cancel.job : input->act.job;
	struct peer_session *session;
	struct rec_run_row row;
	struct query *query;

	if (input->kind != INPUT_CANCEL && input->kind != INPUT_ACT)
		return false;
	if (view_run(master->core, run, &master->scratch, &row))
		return false;
	session = session_find(master, input->conn);
	if (!session)
		return true;             /* the client that asked has gone */
	query = query_new(session, input->request, QUERY_IS_ACT);
	query->run = run;
	query->verb = input->kind == INPUT_CANCEL ? ACT_CANCEL : input->act.verb;
	query->own_only = input->kind == INPUT_ACT && input->act.own_only.len > 0;
	query->value = input->kind == INPUT_CANCEL ? 0 : input->act.value;
	query->job_len = job.len < sizeof(query->job) ? job.len : sizeof(query->job);
	if (query->job_len > 0)
		memcpy(query->job, job.data, query->job_len);
	return true;
}

/*
 * Was this process stopped or swapped out, or its machine suspended? If its own timer is this late, it received nothing
 * meanwhile and frames may be unread, so that time must not count as silence of the workers.
 */
static bool was_deaf(const struct master *master)
{
	int64_t due_ns = core_next_due(master->core);

	return due_ns != TIME_NEVER && master->now.mono_ns - due_ns > master->options.lease_ms * NS_PER_MS / 4;
}

/* A master of an earlier time decides nothing: it answers queries, and its clock stands still. */
static void decide_then(struct master *master, struct master_turn *turn)
{
	/*
	 * Answers have the number of the turn that is shown; the turns of this process, which aren't written, have
	 * higher numbers.
	 */
	turn->outbox.turn = master->commits.durable;
	line_run(master, turn);
	turn->outbox.turn = ++master->then_turn;
}

static void decide(struct master *master, struct master_turn *turn)
{
	bool deaf;

	if (master->options.as_of_ms != 0) {
		decide_then(master, turn);
		return;
	}
	master->now = clock_now();
	deaf = was_deaf(master);
	series_begin_turn(master);
	core_turn_begin(master->core, master->now, &turn->outbox);
	if (deaf)
		core_was_deaf(master->core);
	for (size_t i = 0; i < master->inbox.count; i++) {
		const struct core_input *input = &master->inbox.inputs[i];

		if (!sight_refuses_input(master, input) && !is_gone(master, input))
			core_step(master->core, input);
	}
	core_turn_end(master->core);
	remote_check(master);
	master->stats.turns++;
	master->stats.inputs += master->inbox.count;
	reveal_outbox(master, turn);
	publish_collect(master, &turn->outbox);
	publish_ask(master);
	line_run(master, turn);
	publish_flush(master, turn);
	watches_flush(master, turn);
}

static void commit(struct master *master, struct master_turn *turn)
{
	master->awaited += turn->awaited;
	if (!commit_queue_add(&master->commits, &turn->outbox))
		return;
	/*
	 * The store may delay a commit, to share it with others, while no client waits and all workers have
	 * enough to do.
	 */
	store_may_linger(master->store, master->awaited == 0 && view_workers_full(master->core));
	store_commit(master->store, &turn->outbox);
}

/*
 * Is this commit all there is to do: one client waits for the only turn, and no worker or other client needs the
 * processor?
 */
static bool commit_is_all(const struct master *master, size_t inputs)
{
	return inputs == 1 && master->awaited == 1 && master->commits.depth == 1 && view_workers_idle(master->core) &&
	       session_count(master, PEER_CLIENT) == 1;
}

void turns_committed(struct master *master)
{
	struct outbox *outbox;

	while ((outbox = store_take(master->store)))
		commit_queue_committed(&master->commits, outbox->turn);
	turn_reveal(master);
}

bool turn_wanted(const struct master *master)
{
	if (!master->serving || master->commits.depth >= TURNS_MAX)
		return false;
	if (master->ending)
		return master->inbox.count > 0;
	if (master->options.as_of_ms != 0)
		return master->asked || master->again;
	return master->inbox.count > 0 || master->asked || master->again ||
	       core_next_due(master->core) <= clock_mono_ns();
}

void turn_run(struct master *master)
{
	struct master_turn *turn = turn_new(master);
	size_t inputs = master->inbox.count;

	master->again = false;
	decide(master, turn);
	if (master->end_wanted && (!master->end_workers || session_count(master, PEER_WORKER) == 0)) {
		struct msg_ok ok = { .id = master->end_request };

		reveal_add(master, turn, master->end_conn, OP_OK, &ok);
		master->end_wanted = false;
		turn->end = true;
	}
	inbox_clear(master);
	arena_reset(&master->scratch);
	commit(master, turn);
	turn_reveal(master);
	pressure_look(master);
	if (commit_is_all(master, inputs)) {
		store_watch(master->store, clock_mono_ns() + WATCH_NS);
		turns_committed(master);
	}
}

void turn_first(struct master *master, struct master_turn *turn)
{
	commit(master, turn);
	turn_reveal(master);
}

/* ---- reveal, sweep ---- */

static void tell_logs(struct master *master, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->row_count; i++) {
		const struct row *row = &outbox->rows[i];

		if (row->table == TABLE_run && !row->deleted && row->run.ended_ms != 0)
			logs_run_ended(master->logs, (uint64_t)row->run.run);
	}
}

static bool has_events(const struct outbox *outbox)
{
	for (size_t i = outbox->row_count; i > 0; i--)
		if (outbox->rows[i - 1].table == TABLE_event)
			return true;
	return false;
}

void turn_reveal(struct master *master)
{
	struct outbox *outbox;
	bool any = false, events = false;

	while ((outbox = commit_queue_reveal(&master->commits))) {
		struct master_turn *turn = (struct master_turn *)outbox;

		reveal_send(master, turn);
		tell_logs(master, outbox);
		assets_durable(master, outbox);
		if (has_events(outbox)) {
			master->events_turn = outbox->turn;
			events = true;
		}
		master->awaited -= turn->awaited;
		if (turn->end)
			master_end(master, "asked to");
		turn_free(master, turn);
		any = true;
	}
	if (events)
		history_events_came(master);
	if (any)
		prune_revealed(master);
	if (any && publish_may_sweep(master))
		quiet_freed_jobs(master, core_sweep(master->core, master->commits.durable));
}

void master_stay_awake(struct master *master)
{
	master->again = true;
	ev_idle_start(master->loop, &master->awake);
}
