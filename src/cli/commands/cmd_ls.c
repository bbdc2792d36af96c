/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan ls: runs, the newest first. The master sends them in pages. Styles that need no measuring and no sorting print
 * each page at once, so a list of any length needs little memory here, too.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/targets.h"
#include "cli/commands/command.h"
#include "cli/commands/listing.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/rows.h"

#define PAGE_ROWS 1000                   /* most runs that a page of the master has */

static const struct listing_options ls_options = {
	.limit = OPT_ls_limit, .all = OPT_ls_all, .name = OPT_ls_name, .since = OPT_ls_since, .until = OPT_ls_until,
	.sort = OPT_ls_sort, .where = OPT_ls_where,
};

struct ls {
	struct listing listing;
	struct records records;
	struct arena page;               /* memory for rows that are printed page by page */
	struct printing printing;
	bool at_once;
	bool stuck;
};

/* List the runs that the arguments select, or that have a selected job; each run once. */
static enum err gather_named(struct cli *cli, struct ls *ls)
{
	struct targets targets;
	enum err err = cli_targets(cli, cli->invocation->args, cli->invocation->arg_count, REACH_EVERY, &targets);

	for (size_t i = 0; err == ERR_NONE && i < targets.count; i++) {
		struct rec_run_row run;

		if (i > 0 && targets.at[i].run == targets.at[i - 1].run)
			continue;
		err = cli_query_run(cli, targets.at[i].run, &cli->arena, &run);
		if (err != ERR_NONE || !listing_matches(&ls->listing, run.name, run.submitted_ms))
			continue;
		if (!listing_wants(&ls->listing))
			break;
		rows_add_run(&ls->records, &run, cli_now_ms(cli));
		listing_keep(&ls->listing, &ls->records);
	}
	return err;
}

/* Print the runs of a page, or keep them if they have to be sorted or measured first. */
static void add_page(struct cli *cli, struct ls *ls, const struct msg_snapshot *page)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < page->runs.n && listing_wants(&ls->listing); i++) {
		rows_add_run(&ls->records, &page->runs.at[i], cli_now_ms(cli));
		listing_keep(&ls->listing, &ls->records);
	}
	ls->stuck = page->stuck;
	if (!ls->at_once)
		return;
	printing_rows(&ls->printing, &ls->records, &out);
	cli_print(cli, &out);
	buf_free(&out);
	records_clear(&ls->records);
	arena_reset(&ls->page);
}

static enum err gather_all(struct cli *cli, struct ls *ls)
{
	const struct listing *listing = &ls->listing;
	struct msg_query query = {
		.what = QUERY_RUNS, .reasons = true, .name = listing->name, .since_ms = listing->since_ms, .until_ms = listing->until_ms,
	};
	bool whole = listing->sort || listing->name.len > 0 || listing->until_ms != 0 || listing->where.text.len > 0;

	do {
		struct msg_snapshot page;
		enum err err;

		/*
		 * Ask for one run more than wanted, to know whether there are more. With a filter, whole pages are
		 * searched.
		 */
		query.limit = !whole && listing->limit - listing->shown < PAGE_ROWS ? listing->limit - listing->shown + 1 : 0;
		err = cli_query(cli, query, ls->at_once ? &ls->page : &cli->arena, &page);
		if (err != ERR_NONE)
			return err;
		add_page(cli, ls, &page);
		query.cursor = page.cursor;
	} while (query.cursor != 0 && !listing->cut && !cli->output->lost);
	return ERR_NONE;
}

static enum err print_list(struct cli *cli, struct ls *ls, bool named)
{
	struct buf out = { 0 };
	enum err err;

	if (ls->at_once) {
		printing_begin(&ls->printing, &ls->records, &out);
		cli_print(cli, &out);
	}
	err = named ? gather_named(cli, ls) : gather_all(cli, ls);
	if (err == ERR_NONE && !ls->at_once)
		err = listing_sort(cli, &ls->listing, &ls->records);
	if (err == ERR_NONE && ls->at_once)
		printing_end(&ls->printing, &out);
	else if (err == ERR_NONE)
		records_print(&ls->records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return err;
}

static void tell(struct cli *cli, const struct ls *ls, bool named)
{
	const struct listing *listing = &ls->listing;

	if (ls->stuck)
		cli_note_stuck(cli);
	listing_tell(cli, listing, "run");
	if (listing->shown > 0 || !cli_chatty(cli))
		return;
	if (named || listing->name.len > 0 || listing->where.text.len > 0 || listing->since_ms != 0 || listing->until_ms != 0)
		cli_note(cli, "no run matches");
	else
		cli_note(cli, "no run yet; try: titan run -f -e \"hello; hello='echo hello'\"");
}

int cmd_ls(struct cli *cli)
{
	bool named = cli->invocation->arg_count > 0;
	struct ls *ls = arena_zalloc(&cli->arena, 1, sizeof(*ls));
	enum err err;

	rows_begin_runs(&ls->records, &cli->arena);
	err = records_check(&ls->records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = listing_read(cli, &ls_options, &ls->records, &ls->listing);
	if (err == ERR_NONE)
		err = cli_connect(cli);
	ls->printing.look = &cli->out;
	ls->at_once = !named && !ls->listing.sort && !printing_measures(&cli->out);
	if (ls->at_once)
		rows_begin_runs(&ls->records, &ls->page);
	if (err == ERR_NONE)
		err = print_list(cli, ls, named);
	arena_free(&ls->page);
	if (err != ERR_NONE)
		return cli_fail(cli);
	tell(cli, ls, named);
	return 0;
}
