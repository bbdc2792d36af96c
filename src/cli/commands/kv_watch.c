/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan kv watch: a line for each change, in the order of their revisions. After a lost connection the watch continues
 * after the last revision that it was told.
 */
#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/commands/kv.h"
#include "cli/session/options.h"
#include "cli/session/output.h"

#define RECONNECT_MS 30000

static const struct column watch_columns[] = {
	{ "revision", "REVISION", true },
	{ "kind", "KIND", false },
	{ "key", "KEY", false },
	{ "value", "VALUE", false },
	{ "base64", NULL, false },
	{ "until", NULL, false },
};
const struct table kv_watch_table = TABLE_OF(watch_columns);

struct watching {
	struct cli *cli;
	struct kv_place place;
	struct msg_values_watch msg;
	uint64_t left;                   /* how many changes are still to be shown */
};

static void print_human(const struct rec_value_row *row, struct slice address, struct buf *out)
{
	buf_addf(out, "%llu %s ", (unsigned long long)row->version, kv_kind_word(row->kind));
	text_escape(out, address, TEXT_KEEP_NONE);
	if (row->kind == VALUE_SET)
		buf_addf(out, " (%llu members)", (unsigned long long)row->members);
	else if (row->kind != VALUE_NONE)
		buf_add_str(out, " ");
	if (row->kind != VALUE_SET && row->kind != VALUE_NONE)
		text_escape(out, row->value, TEXT_KEEP_NONE);
	buf_add_byte(out, '\n');
}

static void print_rows(struct watching *watching, const struct msg_values_changed *changed)
{
	struct cli *cli = watching->cli;
	struct arena arena = { 0 };
	struct buf out = { 0 };

	for (size_t i = 0; i < changed->rows.n && watching->left > 0; i++, watching->left--) {
		const struct rec_value_row *row = &changed->rows.at[i];
		struct slice address = kv_address(&arena, &watching->place, row->key);
		struct records records;

		if (cli->out.style == STYLE_HUMAN) {
			print_human(row, address, &out);
			continue;
		}
		records_begin(&records, watch_columns, kv_watch_table.count, &arena);
		records_number(&records, row->version);
		records_text(&records, slice_str(kv_kind_word(row->kind)));
		records_text(&records, address);
		kv_value_cells(&records, row->value, row->kind == VALUE_BYTES || row->kind == VALUE_INTEGER);
		records_time(&records, row->until_ms);
		records_print_line(&records, &cli->out, &out);
	}
	cli_print(cli, &out);
	buf_free(&out);
	arena_free(&arena);
}

static enum err compacted(struct watching *watching)
{
	error_set(&watching->cli->error, ERR_CHANGED, "compacted: deletions after revision %llu are forgotten, or the store was restored",
		  (unsigned long long)(watching->msg.since - 1));
	return error_next(&watching->cli->error, "titan kv watch --from 0 begins anew with all keys");
}

/* Receive changes until the connection is lost or enough were shown. */
static enum err receive(struct watching *watching)
{
	struct cli *cli = watching->cli;
	struct arena arena = { 0 };
	enum err err = ERR_NONE;

	watching->msg.id = client_next_id(cli->client);
	err = cli_send(cli, OP_VALUES_WATCH, &watching->msg, watching->msg.id);
	if (err == ERR_NONE)
		err = client_flush(cli->client, &cli->error);
	while (err == ERR_NONE && watching->left > 0 && !cli->output->lost) {
		struct msg_values_changed changed;
		struct incoming frame;

		arena_reset(&arena);
		err = cli_receive(cli, TIME_NEVER, &frame);
		if (err == ERR_NONE && frame.op == OP_ERROR)
			err = cli_take_error(cli, &frame, watching->msg.id);
		if (err != ERR_NONE || frame.op != OP_VALUES_CHANGED)
			continue;
		err = message_decode(OP_VALUES_CHANGED, frame.body, &arena, &changed, &cli->error);
		if (err == ERR_NONE && changed.compacted)
			err = compacted(watching);
		if (err != ERR_NONE)
			continue;
		print_rows(watching, &changed);
		watching->msg.since = changed.revision + 1;
	}
	arena_free(&arena);
	return err;
}

static enum err watch(struct watching *watching)
{
	struct cli *cli = watching->cli;
	enum err err = receive(watching);

	while (err == ERR_UNREACHABLE) {
		cli_note(cli, "the connection to the master is lost; waiting for the master");
		err = cli_reconnect(cli, RECONNECT_MS);
		if (err == ERR_NONE)
			err = receive(watching);
	}
	return err;
}

int kv_watch(struct cli *cli)
{
	struct watching watching = { .cli = cli, .left = UINT64_MAX };
	uint64_t from = 0;
	struct records check;
	enum err err;

	records_begin(&check, watch_columns, kv_watch_table.count, &cli->arena);
	err = records_check(&check, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = option_number(cli->invocation, OPT_kv_limit, 1, INT64_MAX, &watching.left, &cli->error);
	if (err == ERR_NONE)
		err = option_number(cli->invocation, OPT_kv_from, 0, INT64_MAX, &from, &cli->error);
	if (err == ERR_NONE)
		err = kv_read_place(cli, cli->invocation->arg_count > 1 ? cli->invocation->args[1] : NULL, true, &watching.place);
	if (err == ERR_NONE)
		err = cli_catch_signals(cli);
	if (err == ERR_NONE)
		err = cli_connect(cli);
	watching.msg = (struct msg_values_watch){
		.space = watching.place.space, .run = watching.place.run, .definition = watching.place.definition,
		.prefix = watching.place.key, .since = option_given(cli->invocation, OPT_kv_from) ? from + 1 : 0,
	};
	if (err == ERR_NONE)
		err = watch(&watching);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}
