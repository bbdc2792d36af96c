/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waits for runs to end. A subscription reports ends; on a second connection the runs are queried, in case an end was
 * missed.
 */
#include "cli/follow/wait.h"

#include "base/clock.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/show/row_words.h"

#define RECONNECT_MS 60000

struct waiting {
	const uint64_t *runs;
	enum run_state *states;
	bool *ended;
	size_t count;
};

static void take_rows(struct waiting *waiting, const struct rec_run_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum run_state state = run_state_checked(rows[i].state);

		for (size_t k = 0; k < waiting->count; k++) {
			if (waiting->runs[k] != rows[i].run)
				continue;
			waiting->states[k] = state;
			waiting->ended[k] = run_state_terminal(state);
		}
	}
}

static bool all_ended(const struct waiting *waiting)
{
	for (size_t i = 0; i < waiting->count; i++)
		if (!waiting->ended[i])
			return false;
	return true;
}

/* Query each run by number: a subscription doesn't contain runs that ended long ago. */
static enum err ask_all(struct cli *cli, struct waiting *waiting)
{
	for (size_t i = 0; i < waiting->count; i++) {
		struct arena arena = { 0 };
		struct rec_run_row row;
		enum err err = waiting->ended[i] ? ERR_NONE : cli_query_run(cli, waiting->runs[i], &arena, &row);

		if (err == ERR_NONE && !waiting->ended[i])
			take_rows(waiting, &row, 1);
		arena_free(&arena);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

/* Take a frame of the subscription. *ret_missed: the master dropped deltas, so an end may be missing. */
static enum err take_frame(struct cli *cli, struct waiting *waiting, const struct incoming *frame, uint64_t id,
			   bool *ret_missed)
{
	struct arena arena = { 0 };
	struct msg_snapshot snapshot;
	struct msg_delta delta;
	enum err err = ERR_NONE;

	if (frame->op == OP_ERROR) {
		err = cli_take_error(cli, frame, id);
	} else if (frame->op == OP_SNAPSHOT) {
		err = message_decode(OP_SNAPSHOT, frame->body, &arena, &snapshot, &cli->error);
		if (err == ERR_NONE)
			take_rows(waiting, snapshot.runs.at, snapshot.runs.n);
	} else if (frame->op == OP_DELTA) {
		err = message_decode(OP_DELTA, frame->body, &arena, &delta, &cli->error);
		if (err == ERR_NONE) {
			take_rows(waiting, delta.runs.at, delta.runs.n);
			*ret_missed = delta.cut;
		}
	}
	arena_free(&arena);
	return err;
}

/* Subscribe first, then query each run on a second connection, so that no end is missed in between. */
static enum err wait_connected(struct cli *cli, struct waiting *waiting)
{
	struct msg_subscribe msg = { .what = QUERY_RUNS, .run = waiting->count == 1 ? waiting->runs[0] : 0 };
	uint64_t id = client_next_id(cli->client);
	struct cli side;
	enum err err = cli_send(cli, OP_SUBSCRIBE, &msg, id);
	bool missed = true;

	cli_branch(cli, &side);
	if (err == ERR_NONE)
		err = client_flush(cli->client, &cli->error);
	while (err == ERR_NONE) {
		struct incoming frame;

		if (missed) {
			missed = false;
			err = cli_connect(&side);
			if (err == ERR_NONE)
				err = ask_all(&side, waiting);
			if (err != ERR_NONE)
				cli->error = side.error;
		}
		if (err != ERR_NONE || all_ended(waiting))
			break;
		err = cli_receive(cli, TIME_NEVER, &frame);
		if (err == ERR_NONE)
			err = take_frame(cli, waiting, &frame, id, &missed);
	}
	cli_branch_end(&side);
	return err;
}

enum err wait_runs(struct cli *cli, const uint64_t *runs, size_t count, enum run_state *ret_states)
{
	struct waiting waiting = { .runs = runs, .states = ret_states, .count = count };
	enum err err = cli_catch_signals(cli);

	waiting.ended = arena_zalloc(&cli->arena, count, sizeof(bool));
	if (err == ERR_NONE)
		err = cli_connect(cli);
	if (err == ERR_NONE && cli->settings.timeout_ms == 0) {
		err = ask_all(cli, &waiting);
		return err != ERR_NONE || all_ended(&waiting) ? err
							      : error_set(&cli->error, ERR_PENDING, "still pending");
	}
	while (err == ERR_NONE) {
		err = wait_connected(cli, &waiting);
		if (err != ERR_UNREACHABLE)
			break;
		err = cli_reconnect(cli, RECONNECT_MS);
	}
	return err;
}
