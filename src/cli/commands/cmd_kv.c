/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan kv: values that jobs and people keep in the namespace of a run, of a definition or of the cluster. */
#include <inttypes.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/commands/command.h"
#include "cli/commands/dry_run.h"
#include "cli/commands/kv.h"
#include "cli/commands/object.h"
#include "cli/session/options.h"
#include "cli/session/output.h"

static const char *argument(const struct cli *cli, size_t at)
{
	return cli->invocation->arg_count > at ? cli->invocation->args[at] : NULL;
}

static bool is_human(const struct cli *cli)
{
	return cli->out.style == STYLE_HUMAN;
}

/* ---- lists ---- */

static const struct column kv_columns[] = {
	{ "key", "KEY", false },
	{ "kind", "KIND", false },
	{ "bytes", "BYTES", true },
	{ "members", "MEMBERS", true },
	{ "revision", "REVISION", true },
	{ "until", "UNTIL", false },
};
const struct table kv_table = TABLE_OF(kv_columns);

static void number_cell(struct records *records, uint64_t number)
{
	if (number > 0)
		records_number(records, number);
	else
		records_none(records);
}

static void row_cells(struct cli *cli, struct records *records, const struct kv_place *place, const struct rec_value_row *row)
{
	records_text(records, kv_address(&cli->arena, place, row->key));
	records_text(records, slice_str(kv_kind_word(row->kind)));
	records_number(records, row->bytes);
	number_cell(records, row->members);
	number_cell(records, row->version);
	records_time(records, row->until_ms);
}

/* Ask for all pages of a LIST or MEMBERS, at most --limit rows, and call add for each row. */
static enum err all_pages(struct cli *cli, const struct kv_place *place, enum value_verb verb, struct records *records,
			  void (*add)(struct cli *cli, struct records *records, const struct kv_place *place, const struct rec_value_row *row))
{
	struct rec_value_op op = { .verb = verb, .key = place->key };
	uint64_t left = UINT64_MAX;
	struct msg_valued page;
	enum err err = option_number(cli->invocation, OPT_kv_limit, 1, INT64_MAX, &left, &cli->error);

	while (err == ERR_NONE && left > 0) {
		op.limit = left < LIMIT_QUERY_ROWS_MAX ? left : 0;
		err = kv_call(cli, place, &op, 1, &page);
		for (size_t i = 0; err == ERR_NONE && i < page.rows.n && left > 0; i++, left--)
			add(cli, records, place, &page.rows.at[i]);
		if (err != ERR_NONE || !page.more || page.rows.n == 0)
			break;
		op.value = page.rows.at[page.rows.n - 1].key;
	}
	return err;
}

static int kv_ls(struct cli *cli)
{
	struct kv_place place;
	struct records records;
	struct buf out = { 0 };
	enum err err;

	records_begin(&records, kv_columns, kv_table.count, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = kv_read_place(cli, argument(cli, 1), true, &place);
	if (err == ERR_NONE)
		err = all_pages(cli, &place, VALUES_LIST, &records, row_cells);
	if (err != ERR_NONE)
		return cli_fail(cli);
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (records_rows(&records) == 0 && cli_chatty(cli))
		cli_note(cli, "no keys");
	return 0;
}

static const struct column member_columns[] = {
	{ "value", "MEMBER", false },
	{ "base64", NULL, false },
};
const struct table kv_member_table = TABLE_OF(member_columns);

static void member_cells(struct cli *cli, struct records *records, const struct kv_place *place, const struct rec_value_row *row)
{
	(void)place;
	if (!is_human(cli)) {
		kv_value_cells(records, row->key, true);
		return;
	}
	records_text(records, row->key);
	records_none(records);
}

static int kv_smembers(struct cli *cli)
{
	struct kv_place place;
	struct records records;
	struct buf out = { 0 };
	enum err err;

	records_begin(&records, member_columns, kv_member_table.count, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = kv_read_place(cli, argument(cli, 1), false, &place);
	if (err == ERR_NONE)
		err = all_pages(cli, &place, VALUES_MEMBERS, &records, member_cells);
	if (err != ERR_NONE)
		return cli_fail(cli);
	for (size_t i = 0; is_human(cli) && i < records.cell_count; i += kv_member_table.count) {
		text_escape(&out, records.cells[i].text, TEXT_KEEP_NONE);
		buf_add_byte(&out, '\n');
	}
	if (!is_human(cli))
		records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}

/* ---- one key ---- */

static const struct column value_columns[] = {
	{ "key", "key", false },
	{ "kind", "kind", false },
	{ "bytes", "bytes", true },
	{ "members", "members", true },
	{ "revision", "revision", true },
	{ "until", "until", false },
	{ "value", "value", false },
	{ "base64", "base64", false },
};
const struct table kv_value_table = TABLE_OF(value_columns);

static const struct column change_columns[] = {
	{ "key", "key", false },
	{ "revision", "revision", true },
	{ "number", "number", true },
	{ "dry_run", NULL, false },
};
const struct table kv_change_table = TABLE_OF(change_columns);

static int missing(struct cli *cli, const struct kv_place *place)
{
	struct slice address = kv_address(&cli->arena, place, place->key);

	error_set(&cli->error, ERR_NOT_FOUND, "there is no key '%.*s'", (int)(address.len < 200 ? address.len : 200), (const char *)address.data);
	error_next(&cli->error, "titan kv ls");
	return cli_fail(cli);
}

/* Print a value as it is; on a terminal escaped, with a newline. A set is printed as lines of members. */
static void print_raw(struct cli *cli, const struct rec_value_row *row)
{
	struct slice body = row->value;
	struct buf out = { 0 };

	while (row->kind == VALUE_SET && body.len >= 2) {
		size_t len = body.data[0] | (size_t)body.data[1] << 8;

		if (len > body.len - 2)
			break;
		text_escape(&out, slice_make(body.data + 2, len), TEXT_KEEP_NONE);
		buf_add_byte(&out, '\n');
		body = slice_make(body.data + 2 + len, body.len - 2 - len);
	}
	if (row->kind != VALUE_SET && cli->out.terminal) {
		text_escape(&out, body, TEXT_KEEP_NEWLINE | TEXT_KEEP_TAB);
		buf_add_byte(&out, '\n');
	} else if (row->kind != VALUE_SET) {
		buf_add_slice(&out, body);
	}
	cli_print(cli, &out);
	buf_free(&out);
}

static int kv_get(struct cli *cli)
{
	struct rec_value_op op = { .verb = VALUES_GET };
	struct kv_place place;
	struct msg_valued valued;
	struct records records;
	struct buf out = { 0 };
	enum err err;

	records_begin(&records, value_columns, kv_value_table.count, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = kv_read_place(cli, argument(cli, 1), false, &place);
	op.key = place.key;
	if (err == ERR_NONE)
		err = kv_call(cli, &place, &op, 1, &valued);
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (valued.rows.n != 1 || valued.rows.at[0].kind == VALUE_NONE)
		return missing(cli, &place);
	if (is_human(cli)) {
		print_raw(cli, &valued.rows.at[0]);
		return 0;
	}
	row_cells(cli, &records, &place, &valued.rows.at[0]);
	kv_value_cells(&records, valued.rows.at[0].value, valued.rows.at[0].kind != VALUE_SET);
	records_print_one(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}

/* Do one change. The number that it returns is printed if `tells`; with 0 and `needs` the key doesn't exist. */
static int change(struct cli *cli, const struct kv_place *place, struct rec_value_op op, bool tells, bool needs)
{
	struct records records;
	struct msg_valued valued;
	struct buf out = { 0 };
	enum err err;

	records_begin(&records, change_columns, kv_change_table.count, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	op.key = place->key;
	if (err == ERR_NONE)
		err = kv_call(cli, place, &op, 1, &valued);
	if (err == ERR_NONE && valued.rows.n != 1)
		err = error_set(&cli->error, ERR_INTERNAL, "the master's answer has no row");
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (needs && valued.rows.at[0].number == 0)
		return missing(cli, place);
	if (!is_human(cli)) {
		records_text(&records, kv_address(&cli->arena, place, place->key));
		/* A dry run's change would have the next revision, which is somebody else's by then. */
		number_cell(&records, valued.rows.at[0].version > valued.revision ? 0 : valued.rows.at[0].version);
		if (tells || needs)
			records_number(&records, (uint64_t)valued.rows.at[0].number);
		else
			records_none(&records);
		records_bool(&records, dry_run_wanted(cli));
		records_print_one(&records, &cli->out, &out);
	} else if (tells) {
		buf_addf(&out, "%" PRId64 "\n", valued.rows.at[0].number);
	}
	cli_print(cli, &out);
	buf_free(&out);
	kv_dry_tell(cli, (op.verb != VALUES_SADD && op.verb != VALUES_SREM) || valued.rows.at[0].number != 0);
	return 0;
}

static enum err read_ttl(struct cli *cli, struct rec_value_op *op)
{
	int64_t ttl_ms = 0;
	enum err err = option_span(cli->invocation, OPT_kv_ttl, &ttl_ms, &cli->error);

	if (err == ERR_NONE && option_given(cli->invocation, OPT_kv_ttl) && ttl_ms == 0)
		return error_set(&cli->error, ERR_USAGE, "--ttl must be more than 0; without --ttl the value lasts until it is deleted");
	op->ttl_ms = (uint64_t)ttl_ms;
	return err;
}

static int set_value(struct cli *cli, enum value_verb verb, size_t value_at, uint64_t version)
{
	struct rec_value_op op = { .verb = verb, .version = version };
	struct kv_place place;

	if (read_ttl(cli, &op) != ERR_NONE || kv_read_place(cli, argument(cli, 1), false, &place) != ERR_NONE ||
	    kv_read_value(cli, value_at, &op.value) != ERR_NONE)
		return cli_fail(cli);
	return change(cli, &place, op, false, false);
}

static int kv_set(struct cli *cli)
{
	return set_value(cli, VALUES_SET, 2, 0);
}

static int kv_add(struct cli *cli)
{
	return set_value(cli, VALUES_ADD, 2, 0);
}

static int kv_cas(struct cli *cli)
{
	uint64_t version;

	if (parse_number(argument(cli, 2), "REVISION", 0, INT64_MAX, &version, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	return set_value(cli, VALUES_CAS, 3, version);
}

static int on_key(struct cli *cli, struct rec_value_op op, bool tells, bool needs)
{
	struct kv_place place;

	if (kv_read_place(cli, argument(cli, 1), false, &place) != ERR_NONE)
		return cli_fail(cli);
	return change(cli, &place, op, tells, needs);
}

static int kv_del(struct cli *cli)
{
	return on_key(cli, (struct rec_value_op){ .verb = VALUES_DEL }, false, true);
}

static int kv_incr(struct cli *cli)
{
	const char *by = argument(cli, 2);
	bool negative = by && by[0] == '-';
	uint64_t number = 1;

	if (by && parse_number(by + negative, "N", 0, INT64_MAX, &number, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	return on_key(cli, (struct rec_value_op){ .verb = VALUES_INCR, .by = negative ? -(int64_t)number : (int64_t)number }, true, false);
}

static int on_member(struct cli *cli, enum value_verb verb)
{
	struct rec_value_op op = { .verb = verb };

	if (kv_read_value(cli, 2, &op.value) != ERR_NONE)
		return cli_fail(cli);
	return on_key(cli, op, true, false);
}

static int kv_sadd(struct cli *cli)
{
	return on_member(cli, VALUES_SADD);
}

static int kv_srem(struct cli *cli)
{
	return on_member(cli, VALUES_SREM);
}

static int kv_touch(struct cli *cli)
{
	struct rec_value_op op = { .verb = VALUES_TOUCH };

	return read_ttl(cli, &op) == ERR_NONE ? on_key(cli, op, false, false) : cli_fail(cli);
}

int cmd_kv(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 1, "", kv_ls }, { "get", 1, 1, "KEY", kv_get }, { "set", 1, 2, "KEY", kv_set }, { "add", 1, 2, "KEY", kv_add },
		{ "cas", 2, 3, "KEY and REVISION", kv_cas }, { "del", 1, 1, "KEY", kv_del }, { "incr", 1, 2, "KEY", kv_incr },
		{ "sadd", 1, 2, "KEY and MEMBER", kv_sadd }, { "srem", 1, 2, "KEY and MEMBER", kv_srem },
		{ "smembers", 1, 1, "KEY", kv_smembers }, { "touch", 1, 1, "KEY", kv_touch }, { "txn", 0, 1, "", kv_txn },
		{ "watch", 0, 1, "", kv_watch },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
