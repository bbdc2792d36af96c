/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan lock: shows who holds which lock, and takes and releases locks for people. */
#include <inttypes.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/commands/command.h"
#include "cli/commands/object.h"
#include "cli/commands/share.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "proto/limits.h"

#define ASK_AGAIN_MS 200
#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])

static const struct column lock_columns[] = {
	{ "name", "LOCK", false },
	{ "mode", "MODE", false },
	{ "holder", "HOLDER", false },
	{ "taken", "TAKEN", false },
	{ "until", "UNTIL", false },
	{ "waiting", "WAITING", true },
	{ "message", "REASON", false },
	{ "person", NULL, false },
	{ "owner", NULL, false },
	{ "fence", NULL, true },
	{ "run", NULL, true },
	{ "job", NULL, false },
	{ "others", NULL, true },
};
const struct table lock_table = TABLE_OF(lock_columns);

static void holder_cell(struct records *records, const struct rec_lock_row *row)
{
	struct buf text = { 0 };

	if (row->job == 0) {
		buf_add_slice(&text, row->owner);
	} else {
		buf_addf(&text, "%" PRIu64 "/", row->run);
		buf_add_slice(&text, row->job_name);
	}
	if (row->others > 0)
		buf_addf(&text, " and %" PRIu64 " more", row->others);
	records_text(records, arena_copy(records->arena, buf_slice(&text)));
	buf_free(&text);
}

static void number_cell(struct records *records, uint64_t number)
{
	if (number > 0)
		records_number(records, number);
	else
		records_none(records);
}

static size_t add_locks(struct records *records, const struct msg_snapshot *page)
{
	for (size_t i = 0; i < page->locks.n; i++) {
		const struct rec_lock_row *row = &page->locks.at[i];
		const struct rec_job_row job = { .run = row->run, .name = row->job_name };

		records_text(records, row->name);
		records_text(records, slice_str(row->shared ? "shared" : "alone"));
		holder_cell(records, row);
		records_time(records, row->taken_ms);
		records_time(records, row->until_ms);
		records_number(records, row->waiting);
		records_text(records, row->reason);
		records_text(records, row->person);
		records_text(records, row->owner);
		number_cell(records, row->fence);
		number_cell(records, row->run);
		records_text(records, row->job ? job_address(&job, records->arena) : slice_make(NULL, 0));
		number_cell(records, row->others);
	}
	return page->locks.n;
}

static const struct column taken_columns[] = {
	{ "name", "LOCK", false },
	{ "fence", "FENCE", true },
};
const struct table taken_table = TABLE_OF(taken_columns);

static void print_fence(struct cli *cli, uint64_t fence)
{
	struct records records;
	struct buf out = { 0 };

	if (cli->settings.style == STYLE_HUMAN) {
		buf_addf(&out, "%" PRIu64 "\n", fence);
	} else {
		records_begin(&records, taken_columns, taken_table.count, &cli->arena);
		records_text(&records, slice_str(cli->invocation->args[1]));
		records_number(&records, fence);
		records_print_one(&records, &cli->out, &out);
	}
	cli_print(cli, &out);
	buf_free(&out);
}

/* Take the lock. If it is held, say once by whom, then ask again until it is free. */
static enum err take(struct cli *cli, struct msg_set *set, struct msg_ok *ret_ok)
{
	bool told = false;
	enum err err;

	while ((err = cli_call(cli, OP_SET, set, OP_OK, &cli->arena, ret_ok)) == ERR_BUSY &&
	       option_given(cli->invocation, OPT_lock_wait)) {
		struct buf shown = { 0 };

		text_escape(&shown, slice_str(cli->error.text), TEXT_KEEP_NONE);
		if (!told)
			cli_note(cli, "waiting: %s", buf_cstr(&shown));
		buf_free(&shown);
		told = true;
		err = cli_pause(cli, ASK_AGAIN_MS);
		if (err != ERR_NONE)
			return err;
	}
	return err;
}

static int lock_take(struct cli *cli)
{
	struct msg_set set = { .kind = OBJECT_LOCK, .verb = SET_TAKE };
	const char *reason = option_value(cli->invocation, OPT_lock_message);
	struct slice word = slice_str(reason);
	int64_t ttl_ms = 0;
	struct msg_ok ok;

	set.text = slice_str(option_value(cli->invocation, OPT_lock_owner));
	set.name = slice_str(cli->invocation->args[1]);
	set.flag = option_given(cli->invocation, OPT_lock_shared);
	if (reason)
		set.words = (struct slice_list){ &word, 1 };
	if (option_span(cli->invocation, OPT_lock_ttl, &ttl_ms, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	if (option_given(cli->invocation, OPT_lock_ttl) && ttl_ms == 0) {
		error_set(&cli->error, ERR_USAGE, "--ttl must be more than 0; without --ttl the lock lasts until it "
			"is dropped");
		return cli_fail(cli);
	}
	set.span_ms = (uint64_t)ttl_ms;
	if (cli_catch_signals(cli) != ERR_NONE || cli_connect(cli) != ERR_NONE || take(cli, &set, &ok) != ERR_NONE)
		return cli_fail(cli);
	print_fence(cli, ok.number);
	return 0;
}

static int lock_drop(struct cli *cli)
{
	struct msg_set set = { .kind = OBJECT_LOCK, .verb = SET_DROP };

	set.text = slice_str(option_value(cli->invocation, OPT_lock_owner));
	return share_set(cli, &set, "dropped");
}

static int lock_ls(struct cli *cli)
{
	return share_list(cli, QUERY_LOCKS, COLUMNS(lock_columns), add_locks, "nobody has any lock");
}

static int lock_show(struct cli *cli)
{
	return share_show(cli, QUERY_LOCKS, COLUMNS(lock_columns), add_locks);
}

int cmd_lock(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 0, "", lock_ls }, { "show", 1, 1, "NAME", lock_show }, { "take", 1, 1, "NAME", lock_take },
		{ "drop", 1, 1, "NAME", lock_drop },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
