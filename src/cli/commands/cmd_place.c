/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan cordon, uncordon, drain, worker ls, worker rm: which workers get new jobs. */
#include <inttypes.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/dry_run.h"
#include "cli/commands/listing.h"
#include "cli/commands/object.h"
#include "cli/commands/share.h"
#include "cli/commands/workers.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "cli/show/rows.h"
#include "lang/label.h"
#include "proto/label.h"
#include "proto/limits.h"

static const struct column set_columns[] = {
	{ "name", "NAME", false },
	{ "changed", "CHANGED", true },
	{ "dry_run", NULL, false },
};
const struct table place_set_table = TABLE_OF(set_columns);

#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])

static bool worker_would_change(const struct rec_worker_row *worker, enum set_verb verb)
{
	switch (verb) {
	case SET_PAUSE:
		return worker->standing != STANDING_CORDONED;
	case SET_DRAIN:
		return worker->standing != STANDING_DRAINING;
	case SET_RESUME:
		return worker->standing != STANDING_NONE;
	default:
		return worker->state == WORKER_LOST || worker->state == WORKER_ENDED;     /* titan worker rm */
	}
}

/* Would the act change the worker? */
static enum err would_change(struct cli *cli, const char *name, enum set_verb verb, uint64_t *ret)
{
	struct msg_query query = { .what = QUERY_WORKERS };
	bool found = false;

	*ret = 0;
	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.workers.n; i++)
			if (slice_eq(page.workers.at[i].name, slice_str(name))) {
				*ret = worker_would_change(&page.workers.at[i], verb);
				found = true;
			}
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	if (found)
		return ERR_NONE;
	error_set(&cli->error, ERR_NOT_FOUND, "there is no worker '%s'", name);
	return error_next(&cli->error, "titan worker ls");
}

static enum err set_one(struct cli *cli, const char *name, enum set_verb verb, const char *done,
			struct records *records, uint64_t *sum)
{
	struct msg_set set = { .kind = OBJECT_WORKER, .name = slice_str(name), .verb = verb };
	bool dry = dry_run_wanted(cli);
	struct buf shown = { 0 };
	struct msg_ok ok = { 0 };
	enum err err = dry ? would_change(cli, name, verb, &ok.count) : cli_call(cli, OP_SET, &set, OP_OK, &cli->arena, &ok);

	if (err != ERR_NONE)
		return err;
	*sum += ok.count;
	records_text(records, arena_copy(&cli->arena, slice_str(name)));
	records_number(records, ok.count);
	records_bool(records, dry);
	if (cli_chatty(cli) && !dry) {
		text_escape(&shown, slice_str(name), TEXT_KEEP_NONE);
		cli_note(cli, "%s: %s%s", buf_cstr(&shown), done, ok.count ? "" : " already");
		buf_free(&shown);
	}
	return ERR_NONE;
}

/* SET each worker named from this argument on, in order; stop at the first error. */
static int set_all(struct cli *cli, size_t from, enum set_verb verb, const char *done)
{
	bool dry = dry_run_wanted(cli);
	struct records records;
	struct buf out = { 0 };
	uint64_t sum = 0;
	enum err err;

	records_begin(&records, COLUMNS(set_columns), &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = cli_connect(cli);
	for (size_t i = from; i < cli->invocation->arg_count && err == ERR_NONE; i++)
		err = set_one(cli, cli->invocation->args[i], verb, done, &records, &sum);
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (dry || cli->out.style == STYLE_JSON || cli->out.style == STYLE_FORMAT) {
		records_print(&records, &cli->out, &out);
		cli_print(cli, &out);
	}
	buf_free(&out);
	if (dry)
		dry_run_tell(cli, sum, "worker", "changed");
	return 0;
}

int cmd_cordon(struct cli *cli)
{
	return set_all(cli, 0, SET_PAUSE, "cordoned");
}

int cmd_uncordon(struct cli *cli)
{
	return set_all(cli, 0, SET_RESUME, "gets new jobs again");
}

int cmd_drain(struct cli *cli)
{
	return set_all(cli, 0, SET_DRAIN, "draining");
}

/* --- lists --- */

static const struct listing_options worker_options = {
	.limit = OPT_worker_limit, .all = OPT_worker_all, .name = OPT_worker_name, .sort = OPT_worker_sort, .where = OPT_worker_where,
};

/* Read the requirements of titan worker ls --label. */
static enum err read_requirements(struct cli *cli, struct label_want *wants, size_t *ret_count)
{
	const struct invocation *invocation = cli->invocation;
	struct error why = { 0 };
	struct slice text;

	*ret_count = 0;
	for (size_t i = 0; i < invocation->option_count; i++) {
		if (invocation->options[i].id != OPT_worker_label)
			continue;
		if (*ret_count == LIMIT_LABELS_MAX)
			return error_set(&cli->error, ERR_USAGE, "--label: at most %d are allowed", LIMIT_LABELS_MAX);
		if (label_parse(slice_str(invocation->options[i].value), &cli->arena, &text, &why) != ERR_NONE)
			return error_set(&cli->error, ERR_USAGE, "--label: %s", why.text);
		CHECK(label_want_read(text, &wants[(*ret_count)++]));
	}
	return ERR_NONE;
}

static bool labels_match(const struct rec_worker_row *worker, const struct label_want *wants, size_t count)
{
	struct slice_list labels = worker->labels;

	labels_order(&labels);
	for (size_t i = 0; i < count; i++)
		if (!label_met(&labels, &wants[i]))
			return false;
	return true;
}

/* Ask for the workers that match the listing; listing NULL: all. alarms: warnings for people. */
static enum err workers_ask(struct cli *cli, struct records *records, struct listing *listing, struct buf *alarms,
			    bool *ret_stuck)
{
	struct msg_query query = { .what = QUERY_WORKERS };
	struct label_want wants[LIMIT_LABELS_MAX];
	size_t want_count = 0;
	enum err err;

	rows_begin_workers(records, &cli->arena);
	err = records_check(records, &cli->out, &cli->error);
	if (err == ERR_NONE && listing)
		err = listing_read(cli, &worker_options, records, listing);
	if (err == ERR_NONE && listing)
		err = read_requirements(cli, wants, &want_count);
	if (err == ERR_NONE)
		err = cli_connect(cli);
	while (err == ERR_NONE) {
		struct msg_snapshot page;

		err = cli_query(cli, query, &cli->arena, &page);
		for (size_t i = 0; err == ERR_NONE && i < page.workers.n; i++) {
			if (listing && (!listing_matches(listing, page.workers.at[i].name, 0) || !labels_match(&page.workers.at[i], wants, want_count)))
				continue;
			if (listing && !listing_wants(listing))
				break;
			rows_add_worker(records, &page.workers.at[i], clock_wall_ms());
			if (!listing || listing_keep(listing, records))
				rows_alarm(&page.workers.at[i], alarms);
		}
		if (err != ERR_NONE)
			break;
		query.cursor = page.cursor;
		*ret_stuck = page.stuck;
		if (query.cursor == 0 || (listing && listing->cut))
			break;
	}
	return err;
}

int workers_show(struct cli *cli)
{
	struct records records;
	struct buf alarms = { 0 };
	bool stuck;
	enum err err = workers_ask(cli, &records, NULL, &alarms, &stuck);

	buf_free(&alarms);
	return err == ERR_NONE ? share_show_row(cli, &records) : cli_fail(cli);
}

int workers_list(struct cli *cli)
{
	struct listing listing;
	struct records records;
	struct buf out = { 0 }, alarms = { 0 };
	bool stuck = false;

	if (workers_ask(cli, &records, &listing, &alarms, &stuck) != ERR_NONE ||
	    listing_sort(cli, &listing, &records) != ERR_NONE) {
		buf_free(&alarms);
		return cli_fail(cli);
	}
	records_print(&records, &cli->out, &out);
	if (cli->out.style == STYLE_HUMAN)
		buf_add_slice(&out, buf_slice(&alarms));
	cli_print(cli, &out);
	listing_tell(cli, &listing, "worker");
	if (stuck)
		cli_note_stuck(cli);
	buf_free(&out);
	buf_free(&alarms);
	return 0;
}

int workers_forget(struct cli *cli)
{
	return set_all(cli, 1, SET_REMOVE, "forgotten");
}
