/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan worker stop, rm, logs and check-net, for workers that titan worker add put on machines. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/dry_run.h"
#include "cli/commands/share.h"
#include "cli/commands/workers.h"
#include "cli/reach/ssh_failure.h"
#include "cli/reach/placing.h"
#include "cli/session/output.h"
#include "cli/show/records.h"

#define LOOK_MS   200
#define LOST_MS   120000                 /* how long the master may take to notice that a removed worker is gone */
#define FETCH_MS  60000
#define LOG_LINES 200

static enum err take_named(struct cli *cli, struct placings *placings, const char *act)
{
	for (size_t i = 1; i < cli->invocation->arg_count; i++) {
		struct placing *placing = placings_add(placings);
		enum err err = machine_read(&cli->statedir, cli->invocation->args[i], &placing->machine, &cli->error);

		placing->act = act;
		placing->known = true;
		if (err == ERR_NOT_FOUND)
			return error_next(&cli->error, "titan worker ls");
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

/* Find the row of a worker; *ret false: the master doesn't know the worker. */
static enum err find_worker(struct cli *cli, const char *name, bool *ret_found, struct rec_worker_row *ret)
{
	struct msg_query query = { .what = QUERY_WORKERS };

	*ret_found = false;
	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.workers.n; i++)
			if (slice_eq(page.workers.at[i].name, slice_str(name))) {
				*ret_found = true;
				*ret = page.workers.at[i];
			}
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	return ERR_NONE;
}

static enum err set_worker(struct cli *cli, const char *name, enum set_verb verb)
{
	struct msg_set set = { .kind = OBJECT_WORKER, .name = slice_str(name), .verb = verb };
	struct msg_ok ok;

	return cli_call(cli, OP_SET, &set, OP_OK, &cli->arena, &ok);
}

/* Drain the worker and wait until it has finished its jobs, unless it isn't connected. */
static enum err drain(struct cli *cli, const char *name)
{
	struct rec_worker_row row;
	uint64_t told = UINT64_MAX;
	bool found;
	enum err err = find_worker(cli, name, &found, &row);

	if (err != ERR_NONE || !found || row.state != WORKER_UP)
		return err;
	err = set_worker(cli, name, SET_DRAIN);
	while (err == ERR_NONE && (err = find_worker(cli, name, &found, &row)) == ERR_NONE && found && row.state == WORKER_UP &&
	       row.busy + row.prefetched > 0) {
		if (row.busy != told && row.busy > 0)
			cli_note(cli, "%s: waits for %" PRIu64 " job%s; titan worker stop --now ends them", name, row.busy, row.busy == 1 ? "" : "s");
		told = row.busy;
		err = cli_pause(cli, LOOK_MS);
	}
	return err;
}

static void row_of(struct records *records, const struct placing *placing, bool dry)
{
	records_text(records, slice_str(placing->machine.name));
	records_number(records, dry || placing->step == PLACING_DONE);
	records_bool(records, dry);
}

static int print_rows(struct cli *cli, const struct placings *placings)
{
	struct records records;
	struct buf out = { 0 };
	int status = 0;

	records_begin(&records, place_set_table.columns, place_set_table.count, &cli->arena);
	for (size_t i = 0; i < placings->count; i++) {
		row_of(&records, placings->at[i], placings->dry);
		if (status == 0 && placings->at[i]->step == PLACING_FAILED)
			status = err_exit_status(placings->at[i]->error.code);
	}
	if (placings->dry || cli->out.style == STYLE_JSON || cli->out.style == STYLE_FORMAT || cli->out.style == STYLE_PLAIN) {
		records_print(&records, &cli->out, &out);
		cli_print(cli, &out);
	}
	buf_free(&out);
	return status;
}

static int end_all(struct cli *cli, struct placings *placings, enum err err, enum err (*after_cb)(struct cli *cli, struct placing *placing))
{
	int status;

	if (err == ERR_NONE && !placings->dry)
		err = placings_run(placings);
	for (size_t i = 0; i < placings->count && err == ERR_NONE && !placings->dry; i++)
		if (placings->at[i]->step == PLACING_DONE)
			err = after_cb(cli, placings->at[i]);
	status = err == ERR_NONE ? print_rows(cli, placings) : cli_fail(cli);
	placings_free(placings);
	return status;
}

static enum err after_stop(struct cli *cli, struct placing *placing)
{
	struct machine *machine = &placing->machine;

	snprintf(machine->stopped, sizeof(machine->stopped), "yes");
	cli_note(cli, "%s: stopped; titan worker start %s starts it again", machine->name, machine->name);
	return machine_write(&cli->statedir, machine, &cli->error);
}

int workers_stop(struct cli *cli)
{
	bool now = option_given(cli->invocation, OPT_worker_now);
	struct placings placings = { .cli = cli, .dry = dry_run_wanted(cli) };
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = take_named(cli, &placings, now ? "end" : "stop");
	for (size_t i = 0; i < placings.count && err == ERR_NONE && !now && !placings.dry; i++)
		err = drain(cli, placings.at[i]->machine.name);
	return end_all(cli, &placings, err, after_stop);
}

static bool is_gone(const struct rec_worker_row *row)
{
	return row->state == WORKER_LOST || row->state == WORKER_ENDED;
}

/* The worker has ended for good: remove its key and its row at the master as well. */
static enum err after_remove(struct cli *cli, struct placing *placing)
{
	const struct machine *machine = &placing->machine;
	struct msg_set set = { .kind = OBJECT_TOKEN, .verb = SET_REMOVE, .name = slice_str(machine->token) };
	int64_t until_ns = clock_mono_ns() + LOST_MS * NS_PER_MS;
	struct rec_worker_row row = { 0 };
	struct msg_ok ok;
	bool found = true;
	enum err err = machine_remove(&cli->statedir, machine->name, &cli->error);

	if (err == ERR_NONE && cli_call(cli, OP_SET, &set, OP_OK, &cli->arena, &ok) != ERR_NONE)
		err = cli->error.code == ERR_NOT_FOUND ? ERR_NONE : cli->error.code;
	while (err == ERR_NONE && (err = find_worker(cli, machine->name, &found, &row)) == ERR_NONE && found &&
	       !is_gone(&row) && clock_mono_ns() < until_ns)
		err = cli_pause(cli, LOOK_MS);
	if (err == ERR_NONE && found && is_gone(&row))
		err = set_worker(cli, machine->name, SET_REMOVE);
	if (err == ERR_NONE)
		cli_note(cli, "%s: removed from %s", machine->name, machine->destination);
	return err;
}

int workers_remove(struct cli *cli)
{
	struct placings placings = { .cli = cli, .dry = dry_run_wanted(cli) };
	struct machine machine;
	struct error none;
	size_t known = 0;
	enum err err;

	for (size_t i = 1; i < cli->invocation->arg_count; i++)
		known += machine_read(&cli->statedir, cli->invocation->args[i], &machine, &none) == ERR_NONE;
	if (known == 0)
		return workers_forget(cli);
	err = cli_connect(cli);
	if (err == ERR_NONE)
		err = take_named(cli, &placings, "remove");
	return end_all(cli, &placings, err, after_remove);
}

/* ---- one command, whose output is shown ---- */

static enum err fetch(struct cli *cli, const struct machine *machine, const char *command, struct ssh_call *call)
{
	enum err err = ssh_call_start(call, machine, command, false, FETCH_MS, &cli->error);

	while (err == ERR_NONE && !call->ended)
		err = ssh_calls_wait(cli, (struct ssh_call *const[]){ call }, 1, TIME_NEVER);
	return err;
}

static void print_said(struct cli *cli, struct slice text)
{
	struct buf out = { 0 };

	text_escape(&out, text, TEXT_KEEP_NEWLINE | TEXT_KEEP_TAB);
	cli_print(cli, &out);
	buf_free(&out);
}

static enum err take_one(struct cli *cli, struct machine *machine)
{
	enum err err = machine_read(&cli->statedir, cli->invocation->args[1], machine, &cli->error);

	return err == ERR_NOT_FOUND ? error_next(&cli->error, "titan worker ls") : err;
}

int workers_logs(struct cli *cli)
{
	struct machine machine;
	struct ssh_call call;
	struct buf command = { 0 }, script = { 0 };
	char nonce[NONCE_SIZE];
	struct slice text;
	size_t noise;
	enum err err = take_one(cli, &machine);

	ssh_call_init(&call);
	if (err == ERR_NONE) {
		nonce_make(nonce);
		buf_addf(&script, "exec tail -n %d %s/%s/worker-%s.log", LOG_LINES, machine.base, machine.token, machine.name);
		sentinel_command(nonce, buf_cstr(&script), &command);
		err = fetch(cli, &machine, buf_cstr(&command), &call);
	}
	if (err == ERR_NONE && !sentinel_find(&call.said, nonce, &text, &noise))
		err = failure_of_login(&machine, &call, &cli->error);
	else if (err == ERR_NONE && ssh_call_status(&call) != 0)
		err = failure_of_command(&machine, &call, "reading the worker's log", &cli->error);
	else if (err == ERR_NONE)
		print_said(cli, text);
	ssh_call_free(&call);
	buf_free(&command);
	buf_free(&script);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}

/* Print the lines of the machine's answer without the mark at their beginning. */
static bool print_checks(struct cli *cli, const struct buf *said)
{
	static const char mark[] = "titan-far check ";
	struct buf out = { 0 };
	size_t lines = 0;

	for (size_t from = 0, len; from < said->len; from += len + 1) {
		const uint8_t *at = said->data + from, *stop = memchr(at, '\n', said->len - from);

		len = stop ? (size_t)(stop - at) : said->len - from;
		if (len > strlen(mark) && memcmp(at, mark, strlen(mark)) == 0) {
			text_escape(&out, slice_make(at + strlen(mark), len - strlen(mark)), TEXT_KEEP_NONE);
			buf_add_byte(&out, '\n');
			lines++;
		}
	}
	cli_print(cli, &out);
	buf_free(&out);
	return lines > 0;
}

int workers_check_net(struct cli *cli)
{
	struct machine machine;
	struct ssh_call call;
	struct buf command = { 0 };
	enum err err = take_one(cli, &machine);
	int status;

	ssh_call_init(&call);
	if (err == ERR_NONE) {
		machine_far(&machine, machine.hash, "check", "", &command);
		err = fetch(cli, &machine, buf_cstr(&command), &call);
	}
	if (err == ERR_NONE && !print_checks(cli, &call.said))
		err = failure_of_login(&machine, &call, &cli->error);
	status = err == ERR_NONE ? ssh_call_status(&call) : cli_fail(cli);
	ssh_call_free(&call);
	buf_free(&command);
	return status;
}
