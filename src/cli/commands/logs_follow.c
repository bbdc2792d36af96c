/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Follows the output of a run and of its sub-runs. A subscription reports jobs that start and end, and further ones do so for
 * the sub-runs (logs_subs.c); on a second connection the logs of running jobs are read again and again. After a lost connection the master sends all rows again, and reading continues
 * at the old offsets.
 */
#include <string.h>

#include "base/clock.h"
#include "cli/ask/ask.h"
#include "cli/commands/logs_many.h"
#include "cli/session/output.h"
#include "proto/limits.h"

#define RECONNECT_MS 60000
#define ASKED_MOST   256                 /* most logs of running jobs that are read again in one tick */

static void take_run(struct many *many, const struct rec_run_row *row)
{
	if (row->run == many->targets->at[0].run)
		many->run_ended_ms = row->ended_ms;
}

static void take_jobs(struct many *many, const struct rec_job_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].run == many->targets->at[0].run)
			many_take_row(many, &rows[i]);
}

static void take_snapshot(struct many *many, const struct msg_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->runs.n; i++)
		take_run(many, &snapshot->runs.at[i]);
	take_jobs(many, snapshot->jobs.at, snapshot->jobs.n);
	many->known |= snapshot->cursor == 0;
}

static void take_delta(struct many *many, const struct msg_delta *delta)
{
	for (size_t i = 0; i < delta->runs.n; i++)
		take_run(many, &delta->runs.at[i]);
	take_jobs(many, delta->jobs.at, delta->jobs.n);
	many->known &= !delta->cut;
}

static enum err take_frame(struct many *many, const struct incoming *frame)
{
	struct arena arena = { 0 };
	union {
		struct msg_error error;
		struct msg_snapshot snapshot;
		struct msg_delta delta;
	} msg;
	enum err err = ERR_NONE;

	if (frame->op != OP_ERROR && frame->op != OP_SNAPSHOT && frame->op != OP_DELTA)
		return ERR_NONE;
	memset(&msg, 0, sizeof(msg));
	err = message_decode((enum opcode)frame->op, frame->body, &arena, &msg, &many->cli->error);
	if (err == ERR_NONE && frame->op == OP_ERROR)
		err = msg.error.id == many->id || msg.error.id == 0 ? cli_take_error(many->cli, frame, many->id) : subs_take_error(many, &msg.error);
	else if (err == ERR_NONE && frame->op == OP_SNAPSHOT)
		msg.snapshot.id == many->id ? take_snapshot(many, &msg.snapshot) : subs_take_snapshot(many, &msg.snapshot);
	else if (err == ERR_NONE)
		msg.delta.id == many->id ? take_delta(many, &msg.delta) : subs_take_delta(many, &msg.delta);
	arena_free(&arena);
	return err;
}

/* Take rows of the subscriptions until this time. */
static enum err take_rows(struct many *many, int64_t until_ns)
{
	for (;;) {
		struct incoming frame;
		enum err err = cli_receive(many->cli, until_ns, &frame);

		if (err == ERR_NONE)
			err = take_frame(many, &frame);
		if (err != ERR_NONE)
			return err == ERR_PENDING ? ERR_NONE : err;
	}
}

/* Wait until the rows of the run and of all its sub-runs are known. */
static enum err take_all(struct many *many)
{
	enum err err = ERR_NONE;

	while (err == ERR_NONE && !(many->known && subs_seen(many))) {
		struct incoming frame;

		err = subs_subscribe(many);
		if (err == ERR_NONE)
			err = cli_receive(many->cli, TIME_NEVER, &frame);
		if (err == ERR_NONE)
			err = take_frame(many, &frame);
	}
	return err;
}

/* Have all wanted jobs ended? A whole run must have ended itself, because jobs may still be added. */
static bool all_ended(const struct many *many)
{
	if (!many->known || many->log_count > 0 || !subs_over(many))
		return false;
	if (many->run_ended_ms != 0)
		return true;
	for (size_t i = 0; i < many->targets->count; i++)
		if (many->targets->at[i].job.len == 0)
			return false;
	for (size_t i = 0; i < many->job_count; i++)
		if (many->jobs[i]->ended_ms == 0)
			return false;
	return many->job_count > 0;
}

/* Follow on one connection. *caught_up: set when the output so far has been printed. */
static enum err follow_connected(struct many *many, bool *caught_up)
{
	struct msg_subscribe msg = { .what = QUERY_JOBS, .run = many->targets->at[0].run };
	enum err err;

	many->id = client_next_id(many->cli->client);
	many->known = false;
	subs_lost(many);
	err = cli_send(many->cli, OP_SUBSCRIBE, &msg, many->id);
	if (err == ERR_NONE)
		err = client_flush(many->cli->client, &many->cli->error);
	if (err == ERR_NONE)
		err = take_all(many);
	if (err == ERR_NONE && (err = cli_connect(&many->side)) != ERR_NONE)
		many->cli->error = many->side.error;
	if (err == ERR_NONE && !*caught_up) {
		err = many_catch_up(many);
		*caught_up = err == ERR_NONE;
	}
	while (err == ERR_NONE && !all_ended(many)) {
		err = subs_subscribe(many);
		if (err == ERR_NONE)
			err = take_rows(many, clock_mono_ns() + LOGS_TICK_MS * NS_PER_MS);
		if (err == ERR_NONE) {
			many_ask_again(many, ASKED_MOST);
			err = many_drain(many);
		}
		if (err == ERR_NONE)
			many_end_logs(many, false);
	}
	return err;
}

enum err many_follow(struct many *many)
{
	bool caught_up = false;
	enum err err;

	for (;;) {
		err = follow_connected(many, &caught_up);
		if (err != ERR_UNREACHABLE)
			break;
		cli_note(many->cli, "[the connection to the master is lost; waiting for the master]");
		client_close(many->side.client);
		many->side.client = NULL;
		err = cli_reconnect(many->cli, RECONNECT_MS);
		if (err != ERR_NONE)
			break;
	}
	many_end_logs(many, true);
	return err;
}
