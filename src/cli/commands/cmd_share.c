/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan tenant, titan group: limits and weights for what jobs share. */
#include <inttypes.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/share.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "proto/limits.h"

const char *share_verb(struct cli *cli)
{
	return cli->invocation->args[0];
}

int share_usage(struct cli *cli, const char *words)
{
	const char *verb = cli->invocation->command->verb;

	error_set(&cli->error, ERR_USAGE, "titan %s: expected %s", verb, words);
	error_next(&cli->error, "titan %s --help", verb);
	return cli_fail(cli);
}

bool share_named(struct cli *cli, const char *verb)
{
	return strcmp(share_verb(cli), verb) == 0 && cli->invocation->arg_count == 2;
}

int share_list(struct cli *cli, enum query_what what, const struct column *columns, size_t column_count,
	       size_t (*add_cb)(struct records *records, const struct msg_snapshot *page), const char *none)
{
	struct msg_query query = { .what = what };
	struct records records;
	struct buf out = { 0 };
	size_t count = 0;

	records_begin(&records, columns, column_count, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE)
		return cli_fail(cli);
	do {
		struct msg_snapshot page;

		if (cli_query(cli, query, &cli->arena, &page) != ERR_NONE)
			return cli_fail(cli);
		count += add_cb(&records, &page);
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (count == 0 && cli_chatty(cli))
		cli_note(cli, "%s", none);
	return 0;
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

int cmd_tenant(struct cli *cli)
{
	struct msg_set set = { .kind = OBJECT_TENANT, .verb = SET_PUT };

	if (strcmp(share_verb(cli), "ls") == 0 && cli->invocation->arg_count == 1)
		return share_list(cli, QUERY_TENANTS, tenant_columns, tenant_table.count,
				  add_tenants, "no tenant has a weight or limit, and none has a live run");
	if (share_named(cli, "rm")) {
		set.verb = SET_REMOVE;
		return share_set(cli, &set, "weight and limits were removed");
	}
	if (!share_named(cli, "set"))
		return share_usage(cli, "ls, set NAME or rm NAME");
	if (read_tenant(cli, &set) != ERR_NONE)
		return cli_fail(cli);
	return share_set(cli, &set, "set");
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

int cmd_group(struct cli *cli)
{
	struct msg_set set = { .kind = OBJECT_GROUP, .verb = SET_PUT };

	if (strcmp(share_verb(cli), "ls") == 0 && cli->invocation->arg_count == 1)
		return share_list(cli, QUERY_GROUPS, group_columns, group_table.count,
				  add_groups, "no group has a limit, and no live run names one");
	if (share_named(cli, "rm")) {
		set.verb = SET_REMOVE;
		return share_set(cli, &set, "weight and limits were removed");
	}
	if (!share_named(cli, "set"))
		return share_usage(cli, "ls, set NAME or rm NAME");
	if (!option_given(cli->invocation, OPT_group_max)) {
		error_set(&cli->error, ERR_USAGE, "give the limit: --max N");
		return cli_fail(cli);
	}
	if (option_number(cli->invocation, OPT_group_max, 1, LIMIT_RUN_JOBS_MAX - 1, &set.number, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	return share_set(cli, &set, "set");
}
