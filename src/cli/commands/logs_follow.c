/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Follows the output of a run. A subscription reports jobs that start and end; on a second connection the logs of
 * running jobs are read again and again. After a lost connection the master sends all rows again, and reading continues
 * at the old offsets.
 */
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

static enum err take_frame(struct many *many, const struct incoming *frame, uint64_t id)
{
	struct arena arena = { 0 };
	struct msg_snapshot snapshot = { 0 };
	struct msg_delta delta = { 0 };
	enum err err = ERR_NONE;

	if (frame->op == OP_ERROR)
		err = cli_take_error(many->cli, frame, id);
	else if (frame->op == OP_SNAPSHOT)
		err = message_decode(OP_SNAPSHOT, frame->body, &arena, &snapshot, &many->cli->error);
	else if (frame->op == OP_DELTA)
		err = message_decode(OP_DELTA, frame->body, &arena, &delta, &many->cli->error);
	for (size_t i = 0; err == ERR_NONE && i < snapshot.runs.n + delta.runs.n; i++)
		take_run(many, i < snapshot.runs.n ? &snapshot.runs.at[i] : &delta.runs.at[i - snapshot.runs.n]);
	for (size_t i = 0; err == ERR_NONE && i < snapshot.jobs.n + delta.jobs.n; i++) {
		const struct rec_job_row *row = i < snapshot.jobs.n ? &snapshot.jobs.at[i] : &delta.jobs.at[i - snapshot.jobs.n];

		if (row->run == many->targets->at[0].run && row->index < LIMIT_RUN_JOBS_MAX)
			many_take_row(many, row, row->index);
	}
	if (frame->op == OP_SNAPSHOT && err == ERR_NONE && snapshot.cursor == 0)
		many->known = true;
	if (delta.cut)
		many->known = false;
	arena_free(&arena);
	return err;
}

/* Take rows of the subscription until this time. */
static enum err take_rows(struct many *many, uint64_t id, int64_t until_ns)
{
	for (;;) {
		struct incoming frame;
		enum err err = cli_receive(many->cli, until_ns, &frame);

		if (err == ERR_NONE)
			err = take_frame(many, &frame, id);
		if (err != ERR_NONE)
			return err == ERR_PENDING ? ERR_NONE : err;
		if (many->known && until_ns == TIME_NEVER)
			return ERR_NONE;
	}
}

/* Have all wanted jobs ended? A whole run must have ended itself, because jobs may still be added. */
static bool all_ended(const struct many *many)
{
	if (!many->known || many->log_count > 0)
		return false;
	if (many->run_ended_ms != 0)
		return true;
	for (size_t i = 0; i < many->targets->count; i++)
		if (many->targets->at[i].job.len == 0)
			return false;
	for (size_t i = 0; i < many->job_count; i++)
		if (many->jobs[i] && many->jobs[i]->ended_ms == 0)
			return false;
	return many->seen > 0;
}

/* Follow on one connection. *caught_up: set when the output so far has been printed. */
static enum err follow_connected(struct many *many, bool *caught_up)
{
	struct msg_subscribe msg = { .what = QUERY_JOBS, .run = many->targets->at[0].run };
	uint64_t id = client_next_id(many->cli->client);
	enum err err = cli_send(many->cli, OP_SUBSCRIBE, &msg, id);

	many->known = false;
	if (err == ERR_NONE)
		err = client_flush(many->cli->client, &many->cli->error);
	if (err == ERR_NONE)
		err = take_rows(many, id, TIME_NEVER);
	if (err == ERR_NONE && (err = cli_connect(&many->side)) != ERR_NONE)
		many->cli->error = many->side.error;
	if (err == ERR_NONE && !*caught_up) {
		err = many_catch_up(many);
		*caught_up = err == ERR_NONE;
	}
	while (err == ERR_NONE && !all_ended(many)) {
		err = take_rows(many, id, clock_mono_ns() + LOGS_TICK_MS * NS_PER_MS);
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
