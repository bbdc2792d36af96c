/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps the latest row of each job of a run. The rows come from a subscription that is resumed after a lost connection.
 * Then the master sends the rows that changed meanwhile, or all rows if it doesn't know; comparing them with the old
 * rows shows what happened.
 */
#include "cli/follow/follow_internal.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/ask/ask.h"
#include "cli/follow/exit_status.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "cli/show/rows.h"
#include "proto/limits.h"

#define TICK_MS 100
#define RECONNECT_MS 60000

uint64_t follow_ended_count(const struct follow *follow)
{
	uint64_t ended = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		if (state_terminal((enum job_state)i))
			ended += follow->counts[i];
	return ended;
}

enum run_state follow_state(const struct follow *follow)
{
	uint32_t counts[STATE_COUNT];

	for (int i = 0; i < STATE_COUNT; i++)
		counts[i] = (uint32_t)follow->counts[i];
	return run_state_of(counts, (uint32_t)follow->forgiven);
}

static void keep_text(char **kept, struct slice text)
{
	if (*kept != NULL && slice_eq(slice_str(*kept), text))
		return;
	mem_free(*kept);
	*kept = mem_text(text);
}

static struct followed_job *job_at(struct follow *follow, uint64_t index)
{
	if (index >= follow->job_room) {
		size_t room = follow->job_room ? follow->job_room * 2 : 64;

		while (index >= room)
			room *= 2;
		follow->jobs = mem_resize(follow->jobs, room, sizeof(*follow->jobs));
		memset(follow->jobs + follow->job_room, 0, (room - follow->job_room) * sizeof(*follow->jobs));
		follow->job_room = room;
	}
	if (index >= follow->job_count)
		follow->job_count = index + 1;
	return &follow->jobs[index];
}

static bool is_ours(const struct follow *follow, const struct rec_job_row *row)
{
	return row->run == follow->run && row->index < LIMIT_RUN_JOBS_MAX;
}

static void take_job(struct follow *follow, const struct rec_job_row *row)
{
	struct followed_job *job = job_at(follow, row->index);

	if (job->name == NULL) {
		job->told = STATE_WAITING;
	} else {
		follow->counts[job_state_checked(job->row.state)]--;
		follow->forgiven -= job->row.forgiven;
	}
	follow->counts[job_state_checked(row->state)]++;
	follow->forgiven += row->forgiven;
	keep_text(&job->name, row->name);
	keep_text(&job->worker, row->worker);
	job->row = *row;
	job->row.name = slice_str(job->name);
	job->row.worker = slice_str(job->worker);
	keep_text(&job->progress, row->progress_text);
	job->row.progress_text = slice_str(job->progress);
	job->row.command = slice_make(NULL, 0);
	job->row.needs = job->row.triggers = (struct u64_list){ 0 };
	follow->dirty = true;
}

/* Take all rows before any line is printed: the line of one job names others. */
static void take_jobs(struct follow *follow, const struct rec_job_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_ours(follow, &rows[i]))
			take_job(follow, &rows[i]);
	for (size_t i = 0; i < count; i++) {
		struct followed_job *job = is_ours(follow, &rows[i]) ? job_at(follow, rows[i].index) : NULL;
		enum job_state state = job ? job_state_checked(job->row.state) : STATE_WAITING;
		enum job_state from = job ? job->told : state;

		if (state != from) {
			job->told = state;
			show_change(follow, job, from);
		}
		if (job)
			/* The gate's message was already shown; its bytes belong to the frame, which is about to go. */
			job->row.gate_message = slice_make(NULL, 0);
	}
}

static void take_run(struct follow *follow, const struct rec_run_row *row)
{
	if (row->run != follow->run)
		return;
	keep_text(&follow->name, row->name);
	follow->submitted_ms = row->submitted_ms;
	follow->ended_ms = row->ended_ms;
}

static enum err take_snapshot(struct follow *follow, const struct incoming *frame, uint64_t id)
{
	struct arena arena = { 0 };
	struct msg_snapshot msg;
	enum err err = message_decode(OP_SNAPSHOT, frame->body, &arena, &msg, &follow->cli->error);

	if (err == ERR_NONE && msg.id == id) {
		for (size_t i = 0; i < msg.runs.n; i++)
			take_run(follow, &msg.runs.at[i]);
		if (!follow->begun && msg.total > 0) {
			follow->begun = true;
			if (msg.total <= LIMIT_RUN_JOBS_MAX)
				job_at(follow, msg.total - 1);
			show_begin(follow);
		}
		take_jobs(follow, msg.jobs.at, msg.jobs.n);
		if (msg.cursor == 0)
			follow->known = true;
		if (msg.resume != 0)
			follow->mark = msg.resume;
	}
	arena_free(&arena);
	return err;
}

static enum err take_delta(struct follow *follow, const struct incoming *frame, uint64_t id)
{
	struct arena arena = { 0 };
	struct msg_delta msg;
	enum err err = message_decode(OP_DELTA, frame->body, &arena, &msg, &follow->cli->error);

	if (err == ERR_NONE && msg.id == id) {
		for (size_t i = 0; i < msg.runs.n; i++)
			take_run(follow, &msg.runs.at[i]);
		take_jobs(follow, msg.jobs.at, msg.jobs.n);
		if (msg.cut)
			follow->known = false;
		if (msg.resume != 0) {
			follow->mark = msg.resume;
			follow->known = true;
		}
	}
	arena_free(&arena);
	return err;
}

static enum err take_frame(struct follow *follow, const struct incoming *frame, uint64_t id)
{
	switch (frame->op) {
	case OP_SNAPSHOT:
		return take_snapshot(follow, frame, id);
	case OP_DELTA:
		return take_delta(follow, frame, id);
	case OP_ERROR:
		return cli_take_error(follow->cli, frame, id);
	default:
		return ERR_NONE;
	}
}

static bool ended(const struct follow *follow)
{
	/* All known jobs may have ended while more are being added, so the run's own end decides. */
	return follow->known && follow_ended_count(follow) == follow->job_count && follow->ended_ms != 0;
}

static enum err tick(struct follow *follow)
{
	show_redraw(follow);
	if (follow->output != NULL)
		return output_step(follow);
	if (follow->options->tick_cb == NULL || !follow->known)
		return ERR_NONE;
	return follow->options->tick_cb(follow, follow_ended_count(follow), follow->counts[STATE_RUNNING],
					follow->options->arg);
}

/* Follow the run on one connection, until the run has ended or an error occurs. */
static enum err follow_frames(struct follow *follow)
{
	struct msg_subscribe msg = { .what = QUERY_JOBS, .run = follow->run, .since = follow->mark };
	uint64_t id = client_next_id(follow->cli->client);
	enum err err = cli_send(follow->cli, OP_SUBSCRIBE, &msg, id);
	int64_t tick_ns = clock_mono_ns();

	follow->known = false;
	if (err == ERR_NONE)
		err = client_flush(follow->cli->client, &follow->cli->error);
	while (err == ERR_NONE && !ended(follow)) {
		struct incoming frame;

		err = cli_receive(follow->cli, tick_ns, &frame);
		if (err == ERR_NONE)
			err = take_frame(follow, &frame, id);
		else if (err == ERR_PENDING)
			err = ERR_NONE;
		if (err == ERR_NONE && clock_mono_ns() >= tick_ns) {
			show_idle(follow);
			err = tick(follow);
			tick_ns = clock_mono_ns() + TICK_MS * NS_PER_MS;
		}
	}
	return err;
}

static void follow_free(struct follow *follow)
{
	for (size_t i = 0; i < follow->job_count; i++) {
		mem_free(follow->jobs[i].name);
		mem_free(follow->jobs[i].worker);
		mem_free(follow->jobs[i].progress);
	}
	if (follow->output != NULL)
		output_end(follow);
	mem_free(follow->jobs);
	mem_free(follow->name);
	buf_free(&follow->out);
	cli_branch_end(&follow->side);
}

static enum show_mode mode_of(const struct cli *cli, const struct follow_options *options)
{
	if (options->what == FOLLOW_OUTPUT)
		return SHOW_OUTPUT;
	if (cli->settings.style != STYLE_HUMAN)
		return SHOW_ROWS;
	if (cli->settings.quiet)
		return SHOW_NOTHING;
	return cli->out.terminal && !cli->session->out.lines ? SHOW_SCREEN : SHOW_LINES;
}

enum err follow_check(struct cli *cli)
{
	struct records records;

	rows_begin_jobs(&records, &cli->arena);
	return records_check(&records, &cli->out, &cli->error);
}

enum err follow_run(struct cli *cli, uint64_t run, const struct follow_options *options,
		    enum run_state *ret_state)
{
	struct follow follow = { .cli = cli, .run = run, .options = options, .mode = mode_of(cli, options) };
	enum err err = cli_catch_signals(cli);

	cli_branch(cli, &follow.side);
	if (err == ERR_NONE && follow.mode == SHOW_ROWS)
		err = follow_check(cli);
	if (follow.mode == SHOW_OUTPUT)
		output_begin(&follow);
	follow.said_ns = clock_mono_ns();
	if (err == ERR_NONE)
		err = cli_connect(cli);
	while (err == ERR_NONE) {
		err = follow_frames(&follow);
		if (err != ERR_UNREACHABLE)
			break;
		follow_say(&follow, "the connection to the master is lost; waiting for the master");
		client_close(follow.side.client);
		follow.side.client = NULL;
		err = options->lost_cb ? options->lost_cb(&follow, options->arg) : ERR_NONE;
		if (err == ERR_NONE)
			err = cli_reconnect(cli, RECONNECT_MS);
		if (err == ERR_NONE)
			follow_say(&follow, "the master is back");
	}
	if (err == ERR_NONE)
		err = follow.output ? output_rest(&follow) : tick(&follow);
	if (err == ERR_NONE) {
		show_end(&follow);
		*ret_state = follow_state(&follow);
	} else {
		show_leave(&follow);
	}
	show_screen_end(&follow);
	follow_free(&follow);
	return err;
}

int follow_command(struct cli *cli, uint64_t run, enum follow_what what)
{
	const struct follow_options options = { .what = what };
	enum run_state state;
	enum err err = follow_run(cli, run, &options, &state);

	if (err == ERR_NONE)
		return run_exit_status(cli, run, state);
	if (err == ERR_INTERRUPTED || err == ERR_TIMEOUT) {
		cli_note(cli, "still running: titan watch %" PRIu64 ", stop: titan cancel %" PRIu64, run, run);
		return err_exit_status(err);
	}
	return cli_fail(cli);
}
