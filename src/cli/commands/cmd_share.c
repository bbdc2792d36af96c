/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan tenant, titan group: limits and weights for what jobs share. */
#include <ctype.h>
#include <inttypes.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/object.h"
#include "cli/commands/share.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "proto/limits.h"

#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])

/* Ask for all pages of a list and add their rows. */
static enum err list_ask(struct cli *cli, enum query_what what, struct records *records,
			 size_t (*add_cb)(struct records *records, const struct msg_snapshot *page), size_t *ret_count)
{
	struct msg_query query = { .what = what };
	enum err err = records_check(records, &cli->out, &cli->error);

	if (err == ERR_NONE)
		err = cli_connect(cli);
	*ret_count = 0;
	while (err == ERR_NONE) {
		struct msg_snapshot page;

		err = cli_query(cli, query, &cli->arena, &page);
		if (err == ERR_NONE)
			*ret_count += add_cb(records, &page);
		query.cursor = page.cursor;
		if (err == ERR_NONE && query.cursor == 0)
			break;
	}
	return err;
}

int share_list(struct cli *cli, enum query_what what, const struct column *columns, size_t column_count,
	       size_t (*add_cb)(struct records *records, const struct msg_snapshot *page), const char *none)
{
	struct records records;
	struct buf out = { 0 };
	size_t count = 0;

	records_begin(&records, columns, column_count, &cli->arena);
	if (list_ask(cli, what, &records, add_cb, &count) != ERR_NONE)
		return cli_fail(cli);
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (count == 0 && cli_chatty(cli))
		cli_note(cli, "%s", none);
	return 0;
}

/* The heading of a column as a word for a list of facts; a column that tables leave out has its key as the word. */
static const char *column_word(const struct column *column, struct arena *arena)
{
	char *word;

	if (column->title == NULL)
		return column->key;
	word = arena_strdup(arena, slice_str(column->title));
	for (char *at = word; *at != '\0'; at++)
		*at = (char)tolower((unsigned char)*at);
	return word;
}

int share_show_row(struct cli *cli, const struct records *records)
{
	const char *object = cli->invocation->command->verb, *name = cli->invocation->args[1];
	size_t count = records->column_count;
	struct column *columns = arena_zalloc(&cli->arena, count, sizeof(*columns));
	struct buf out = { 0 };

	memcpy(columns, records->columns, count * sizeof(*columns));
	for (size_t i = 0; i < count; i++)
		columns[i].title = column_word(&columns[i], &cli->arena);
	for (size_t at = 0; at < records->cell_count; at += count) {
		struct records one = { .columns = columns, .column_count = count, .arena = records->arena,
				       .cells = &records->cells[at], .cell_count = count };

		if (!slice_eq(records->cells[at].text, slice_str(name)))
			continue;
		records_print_one(&one, &cli->out, &out);
		cli_print(cli, &out);
		buf_free(&out);
		return 0;
	}
	error_set(&cli->error, ERR_NOT_FOUND, "there is no %s '%s'", object, name);
	error_next(&cli->error, "titan %s", object);
	return cli_fail(cli);
}

int share_show(struct cli *cli, enum query_what what, const struct column *columns, size_t column_count,
	       size_t (*add_cb)(struct records *records, const struct msg_snapshot *page))
{
	struct records records;
	size_t count;

	records_begin(&records, columns, column_count, &cli->arena);
	return list_ask(cli, what, &records, add_cb, &count) == ERR_NONE ? share_show_row(cli, &records) : cli_fail(cli);
}

static const struct column share_changed_columns[] = {
	{ "name", "name", false },
	{ "changed", "changed", true },
};
const struct table share_changed_table = TABLE_OF(share_changed_columns);

enum err share_changed_begin(struct cli *cli, struct records *records)
{
	records_begin(records, share_changed_columns, share_changed_table.count, &cli->arena);
	return records_check(records, &cli->out, &cli->error);
}

void share_changed(struct cli *cli, struct records *records, struct slice name, uint64_t count)
{
	struct buf out = { 0 };

	if (cli->out.style != STYLE_JSON && cli->out.style != STYLE_FORMAT)
		return;
	records_text(records, name);
	records_number(records, count);
	records_print_one(records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
}

int share_set(struct cli *cli, struct msg_set *set, const char *what)
{
	struct records records;
	struct msg_ok ok;
	struct buf shown = { 0 };

	set->name = slice_str(cli->invocation->args[1]);
	if (share_changed_begin(cli, &records) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    cli_call(cli, OP_SET, set, OP_OK, &cli->arena, &ok) != ERR_NONE)
		return cli_fail(cli);
	share_changed(cli, &records, set->name, ok.count);
	if (!cli_chatty(cli))
		return 0;
	text_escape(&shown, set->name, TEXT_KEEP_NONE);
	cli_note(cli, "%s %s: %s", cli->invocation->command->verb, buf_cstr(&shown), what);
	buf_free(&shown);
	return 0;
}

int share_remove(struct cli *cli, enum object_kind kind, const char *what)
{
	struct msg_set set = { .kind = kind, .verb = SET_REMOVE };

	return share_set(cli, &set, what);
}

/* ---- tenants ---- */

static const struct column tenant_columns[] = {
	{ "name", "TENANT", false },
	{ "weight", "WEIGHT", true },
	{ "max_jobs", "MAX", true },
	{ "active_jobs", "OUT", true },
	{ "queued_jobs", "QUEUED", true },
	{ "max_queued", "MAX-QUEUED", true },
	{ "live_runs", "RUNS", true },
	{ "set", NULL, false },
};
const struct table tenant_table = TABLE_OF(tenant_columns);

static void bound_cell(struct records *records, uint64_t bound)
{
	if (bound > 0)
		records_number(records, bound);
	else
		records_none(records);
}

static size_t add_tenants(struct records *records, const struct msg_snapshot *page)
{
	for (size_t i = 0; i < page->tenants.n; i++) {
		const struct rec_tenant_row *row = &page->tenants.at[i];

		records_text(records, row->name);
		records_number(records, row->weight);
		bound_cell(records, row->max_jobs);
		records_number(records, row->out);
		records_number(records, row->queued);
		bound_cell(records, row->max_queued);
		records_number(records, row->runs);
		records_bool(records, row->set);
	}
	return page->tenants.n;
}

static enum err read_tenant(struct cli *cli, struct msg_set *set)
{
	const struct invocation *invocation = cli->invocation;
	enum err err;

	if ((err = option_number(invocation, OPT_tenant_weight, 1, LIMIT_TENANT_WEIGHT_MAX, &set->weight, &cli->error)) !=
		    ERR_NONE ||
	    (err = option_number(invocation, OPT_tenant_max_jobs, 0, LIMIT_RUN_JOBS_MAX - 1, &set->number, &cli->error)) !=
		    ERR_NONE ||
	    (err = option_number(invocation, OPT_tenant_max_queued, 0, LIMIT_RUN_JOBS_MAX - 1, &set->most, &cli->error)) !=
		    ERR_NONE)
		return err;
	/* On the wire 0 means unchanged, so a limit is sent as limit + 1. */
	set->number += option_given(invocation, OPT_tenant_max_jobs);
	set->most += option_given(invocation, OPT_tenant_max_queued);
	if (set->weight + set->number + set->most == 0)
		return error_set(&cli->error, ERR_USAGE, "give at least one of --weight, --max-jobs and --max-queued");
	return ERR_NONE;
}

static int tenant_ls(struct cli *cli)
{
	return share_list(cli, QUERY_TENANTS, COLUMNS(tenant_columns), add_tenants,
			  "no tenant has a weight or limit, and none has a live run");
}

static int tenant_show(struct cli *cli)
{
	return share_show(cli, QUERY_TENANTS, COLUMNS(tenant_columns), add_tenants);
}

static int tenant_set(struct cli *cli)
{
	struct msg_set set = { .kind = OBJECT_TENANT, .verb = SET_PUT };

	return read_tenant(cli, &set) == ERR_NONE ? share_set(cli, &set, "set") : object_usage(cli);
}

static int tenant_rm(struct cli *cli)
{
	return share_remove(cli, OBJECT_TENANT, "weight and limits were removed");
}

int cmd_tenant(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 0, "", tenant_ls }, { "show", 1, 1, "NAME", tenant_show }, { "set", 1, 1, "NAME", tenant_set },
		{ "rm", 1, 1, "NAME", tenant_rm },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}

/* ---- concurrency groups ---- */

static const struct column group_columns[] = {
	{ "name", "GROUP", false },
	{ "max", "MAX", true },
	{ "active_runs", "RUNS", true },
	{ "active_jobs", "JOBS", true },
	{ "waiting", "WAITING", true },
	{ "set", NULL, false },
};
const struct table group_table = TABLE_OF(group_columns);

static size_t add_groups(struct records *records, const struct msg_snapshot *page)
{
	for (size_t i = 0; i < page->groups.n; i++) {
		const struct rec_group_row *row = &page->groups.at[i];

		records_text(records, row->name);
		records_number(records, row->limit);
		records_number(records, row->runs);
		records_number(records, row->jobs);
		records_number(records, row->waiting);
		records_bool(records, row->set);
	}
	return page->groups.n;
}

static int group_ls(struct cli *cli)
{
	return share_list(cli, QUERY_GROUPS, COLUMNS(group_columns), add_groups,
			  "no group has a limit, and no live run names one");
}

static int group_show(struct cli *cli)
{
	return share_show(cli, QUERY_GROUPS, COLUMNS(group_columns), add_groups);
}

static int group_set(struct cli *cli)
{
	struct msg_set set = { .kind = OBJECT_GROUP, .verb = SET_PUT };

	if (!option_given(cli->invocation, OPT_group_max)) {
		error_set(&cli->error, ERR_USAGE, "give the limit: --max N");
		return object_usage(cli);
	}
	if (option_number(cli->invocation, OPT_group_max, 1, LIMIT_RUN_JOBS_MAX - 1, &set.number, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	return share_set(cli, &set, "set");
}

static int group_rm(struct cli *cli)
{
	return share_remove(cli, OBJECT_GROUP, "its limit was removed");
}

int cmd_group(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 0, "", group_ls }, { "show", 1, 1, "NAME", group_show }, { "set", 1, 1, "NAME", group_set },
		{ "rm", 1, 1, "NAME", group_rm },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
