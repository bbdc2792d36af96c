/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan up: starts the daemons of this cluster on this machine. It is safe to repeat. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/status.h"
#include "cli/commands/up.h"
#include "cli/daemon/daemon.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/look.h"
#include "proto/limits.h"

#define OTHER_START_MS 15000             /* how long to wait until another titan up, or a worker, is ready */
#define PAUSE_MS 50

struct started {
	bool master, worker;             /* true: started by this command */
	uint64_t master_pid, slots;
	const char *boot;                /* how the cluster starts with the machine; NULL: the command isn't about that */
};

static enum err start_master(struct cli *cli)
{
	const char *listen = cli->invocation->command ? option_value(cli->invocation, OPT_up_listen) : NULL;
	const char *const more[] = { listen ? "--listen" : NULL, listen, NULL };
	enum err err = daemon_start(&cli->statedir, "master", "master.log", more, NULL, &cli->error);

	/* ERR_BUSY: another process started a master a moment ago. */
	if (err == ERR_BUSY)
		return cli_reconnect(cli, OTHER_START_MS) == ERR_NONE ? ERR_NONE : err;
	return err == ERR_NONE ? cli_connect(cli) : err;
}

static enum err find_local(struct cli *cli, bool *ret_up, bool *ret_stuck, uint64_t *ret_slots)
{
	struct msg_query query = { .what = QUERY_WORKERS };

	*ret_up = *ret_stuck = false;
	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.workers.n; i++) {
			const struct rec_worker_row *row = &page.workers.at[i];

			if (slice_eq(row->name, slice_str(LOCAL_WORKER)) && row->state == WORKER_UP) {
				*ret_up = true;
				*ret_slots = row->slots;
			}
		}
		*ret_stuck = page.stuck;
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	return ERR_NONE;
}

/* Set the error for a full disk: the worker runs, but the master can't answer it until there is room. */
static enum err refuse_unseen(struct cli *cli)
{
	error_set(&cli->error, ERR_FULL, "the master is running, but the disk of %s is full: workers can't connect until there is space",
		  cli->statedir.dir);
	return error_next(&cli->error, "titan status; df %s", cli->statedir.dir);
}

/* Wait until the local worker is connected. A worker that ran before the master connects by itself. */
static enum err await_local(struct cli *cli, uint64_t *ret_slots)
{
	int64_t until = clock_mono_ns() + OTHER_START_MS * NS_PER_MS;
	bool up = false, stuck;

	for (;;) {
		enum err err = find_local(cli, &up, &stuck, ret_slots);

		if (err != ERR_NONE || up)
			return err;
		if (stuck)
			return refuse_unseen(cli);
		if (clock_mono_ns() >= until)
			return ERR_TIMEOUT;
		err = cli_pause(cli, PAUSE_MS);
		if (err != ERR_NONE)
			return err;
	}
}

static enum err start_worker(struct cli *cli, uint64_t slots, struct started *started)
{
	const char *more[] = { "start", "--name", LOCAL_WORKER, NULL, NULL, NULL };
	struct error failed;
	char number[24];
	bool up, stuck;
	enum err err = find_local(cli, &up, &stuck, &started->slots);

	if (err != ERR_NONE || up)
		return err;
	if (stuck)
		return refuse_unseen(cli);
	if (slots > 0) {
		snprintf(number, sizeof(number), "%" PRIu64, slots);
		more[3] = "--slots";
		more[4] = number;
	}
	err = daemon_start(&cli->statedir, "worker", "worker-" LOCAL_WORKER ".log", more, NULL, &cli->error);
	if (err != ERR_NONE && err != ERR_BUSY)
		return err;
	started->worker = err == ERR_NONE;
	failed = cli->error;
	err = await_local(cli, &started->slots);
	if (err == ERR_TIMEOUT && !started->worker)
		cli->error = failed;
	else if (err == ERR_TIMEOUT)
		error_set(&cli->error, err, "the local worker was started, but it doesn't connect to the master");
	return err;
}

static void with_tilde(const char *path, struct buf *out)
{
	const char *home = getenv("HOME");
	size_t len = home ? strlen(home) : 0;

	if (len > 1 && strncmp(path, home, len) == 0 && path[len] == '/') {
		buf_add_byte(out, '~');
		path += len;
	}
	text_escape(out, slice_str(path), TEXT_KEEP_NONE);
}

static void tell_human(const struct cli *cli, const struct started *started, struct buf *out)
{
	const char *mark = cli->out.utf8 ? "✓" : "+";

	buf_addf(out, "%s state   ", mark);
	with_tilde(cli->statedir.dir, out);
	buf_addf(out, "\n%s master  pid %" PRIu64 "%s\n", mark, started->master_pid,
		 started->master ? "" : "  (already running)");
	buf_addf(out, "%s worker  " LOCAL_WORKER ", %" PRIu64 " slot%s%s\n", mark, started->slots,
		 started->slots == 1 ? "" : "s", started->worker ? "" : "  (already running)");
	if (started->boot)
		buf_addf(out, "%s boot    %s\n", mark, started->boot);
	if (cli_chatty(cli))
		buf_add_str(out, "  try: titan run -f -e \"a -> {b, c}; a='sleep 1'; b=date; c='uname -a'\"\n"
				 "  dashboard: titan\n");
}

static const struct column up_columns[] = {
	{ "pid", "pid", true },
	{ "worker", "worker", false },
	{ "slots", "slots", true },
	{ "master_began", "master_began", false },
	{ "worker_began", "worker_began", false },
	{ "boot", "boot", false },
};
const struct table up_table = TABLE_OF(up_columns);

static void tell_row(struct cli *cli, const struct started *started, struct buf *out)
{
	struct records records;

	records_begin(&records, up_columns, up_table.count, &cli->arena);
	records_number(&records, started->master_pid);
	records_text(&records, slice_str(LOCAL_WORKER));
	records_number(&records, started->slots);
	records_bool(&records, started->master);
	records_bool(&records, started->worker);
	records_text(&records, slice_str(started->boot));
	records_print_one(&records, &cli->out, out);
}

/* Report an option that differs from what already runs, and the command that would change it. */
static void note_other_slots(struct cli *cli, const struct started *started)
{
	char source[SETTING_NAME_SIZE];
	const char *text = setting_value(cli->invocation, OPT_up_slots, CONF_slots, source);
	uint64_t wanted = 0;
	struct error unread;

	/* A titan.conf that can't be read is reported by the process that uses it. */
	if (started->worker || text == NULL || parse_number(text, source, 1, LIMIT_SLOTS_MAX, &wanted, &unread) != ERR_NONE ||
	    wanted == started->slots)
		return;
	cli_note(cli, "titan: the local worker already runs with %" PRIu64 " slot%s, and %s says %" PRIu64 "; nothing was changed\n"
		 "   try: titan down --leave-jobs && titan up --slots %" PRIu64, started->slots,
		 started->slots == 1 ? "" : "s", source, wanted, wanted);
}

static void note_other_program(struct cli *cli)
{
	char path[PATH_MAX];
	struct buf shown = { 0 };

	if (!upgrade_is_due(cli, path))
		return;
	text_escape(&shown, slice_str(path), TEXT_KEEP_NONE);
	cli_note(cli, "titan: the running master is another program than this command, %s; nothing was changed\n"
		 "   try: titan up --upgrade", buf_cstr(&shown));
	buf_free(&shown);
}

static void note_exposed(struct cli *cli)
{
	struct buf path = { 0 };
	char above[PATH_MAX];

	if (!statedir_is_exposed(&cli->statedir, above))
		return;
	text_escape(&path, slice_str(above), TEXT_KEEP_NONE);
	cli_note(cli, "titan: every user may write to %s, and so replace the state directory in it\n   try: chmod "
		"o-w %s", buf_cstr(&path),
		 buf_cstr(&path));
	buf_free(&path);
}

int up_start(struct cli *cli, bool silent)
{
	struct started started = { 0 };
	struct msg_snapshot status;
	struct buf out = { 0 };
	bool upgrade = cli->invocation->command != NULL && option_given(cli->invocation, OPT_up_upgrade);
	char path[PATH_MAX];
	uint64_t slots = 0;
	enum err err;
	int made;

	if (cli->invocation->command != NULL &&
	    option_number(cli->invocation, OPT_up_slots, 1, LIMIT_SLOTS_MAX, &slots, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	if (cli->invocation->command != NULL && option_given(cli->invocation, OPT_up_boot) &&
	    option_given(cli->invocation, OPT_up_no_boot)) {
		error_set(&cli->error, ERR_USAGE, "--boot and --no-boot were given; give only one of the two");
		return cli_fail(cli);
	}
	if (cli_refuse_in_job(cli, "start it", "titan -C CLUSTER up") != ERR_NONE)
		return cli_fail(cli);
	made = statedir_make(&cli->statedir);
	if (made != 0) {
		error_state_dir(&cli->error, -made, cli->statedir.dir);
		if (made == -EPERM || made == -ELOOP)
			cli->error.code = ERR_DENIED;
		return cli_fail(cli);
	}
	note_exposed(cli);
	err = cli_connect(cli);
	if (err == ERR_UNREACHABLE) {
		started.master = true;
		err = start_master(cli);
	}
	if (err == ERR_NONE && !started.master && upgrade && upgrade_is_due(cli, path)) {
		started.master = true;
		err = upgrade_master(cli);
	}
	if (err == ERR_NONE)
		err = start_worker(cli, slots, &started);
	if (err == ERR_NONE)
		err = up_boot(cli, &started.boot);
	if (err == ERR_NONE)
		err = cli_query(cli, (struct msg_query){ .what = QUERY_STATUS }, &cli->arena, &status);
	if (err != ERR_NONE)
		return cli_fail(cli);
	started.master_pid = client_welcome(cli->client)->pid;
	if (!silent && cli->settings.style != STYLE_HUMAN)
		tell_row(cli, &started, &out);
	else if (!silent && !cli->settings.quiet)
		tell_human(cli, &started, &out);
	if (cli->settings.style == STYLE_HUMAN && !silent)
		look_alarm_store(cli, &status, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (!silent) {
		note_other_program(cli);
		note_other_slots(cli, &started);
	}
	return 0;
}

int cmd_up(struct cli *cli)
{
	return up_start(cli, false);
}
