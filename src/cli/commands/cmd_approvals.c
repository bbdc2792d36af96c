/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan approvals: what waits for a person. For people, unknown jobs of one fan-out share a line (list_fold.c). */
#include "cli/commands/approvals.h"

#include "base/clock.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/commands/command.h"
#include "cli/commands/decisions.h"
#include "cli/commands/list_fold.h"
#include "cli/commands/listing.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"

#define DIGEST_SHOWN 8                   /* bytes of a digest shown in a table */
enum { COLUMN_JOB = 0, COLUMN_QUESTION = 4 }; /* the columns that a fan-out's row sums up */

static const struct column gate_columns[] = {
	{ "job", "JOB", false },
	{ "approvals", "HAVE", true },
	{ "approvals_needed", "OF", true },
	{ "left_ms", "LEFT", true },
	{ "question", "QUESTION", false },
	{ "unblocks", "UNBLOCKS", false },
	{ "digest_start", "DIGEST", false },
	{ "run", NULL, false },
	{ "name", NULL, false },
	{ "state", NULL, false },
	{ "due", NULL, false },
	{ "held", NULL, false },
	{ "from", "WHO MAY", false },
	{ "will", NULL, false },
	{ "digest", NULL, false },
	{ "approvers", NULL, false },
	{ "fields", "FIELDS", false },
};
const struct table gate_table = TABLE_OF(gate_columns);

void gate_rows_add(struct records *records, const struct rec_job_row *job)
{
	int64_t left = job->due_ms - clock_wall_ms();
	bool unknown = job->state == STATE_UNKNOWN;

	records_text(records, job_address(job, records->arena));
	records_number(records, job->gate_have);
	records_number(records, unknown ? 1 : job->gate_count);
	records_span(records, job->due_ms == 0 ? -1 : left > 0 ? left : 0);
	records_text(records, unknown ? slice_str("did the job run? its worker was lost") : job->gate_message);
	records_texts(records, job->unblocks);
	records_text(records, hex_text(records->arena, job->digest, DIGEST_SHOWN));
	records_number(records, job->run);
	records_text(records, job->name);
	records_text(records, slice_str(state_table[job_state_checked(job->state)].name));
	records_time(records, job->due_ms);
	records_bool(records, job->held);
	records_texts_as(records, job->gate_from, gate_from_text(job, records->arena));
	records_texts(records, job->will);
	records_text(records, hex_text(records->arena, job->digest, SIZE_MAX));
	records_texts(records, job->approvers);
	records_texts(records, job->gate_fields);
}

const struct listing_options approvals_options = {
	.limit = OPT_approvals_limit, .name = OPT_approvals_name, .since = OPT_approvals_since, .until = OPT_approvals_until,
	.sort = OPT_approvals_sort, .where = OPT_approvals_where,
};

void gate_rows_begin(struct records *records, struct arena *arena)
{
	records_begin(records, gate_columns, sizeof(gate_columns) / sizeof(gate_columns[0]), arena);
}

struct waiting {                         /* the gates and unknown jobs to list */
	struct rec_job_row *at;
	size_t count, room;
};

static void waiting_add(struct waiting *waiting, struct arena *arena, const struct rec_job_row *row)
{
	if (waiting->count == waiting->room) {
		size_t room = waiting->room ? 2 * waiting->room : 64;
		struct rec_job_row *bigger = arena_zalloc(arena, room, sizeof(*bigger));

		if (waiting->count > 0)
			memcpy(bigger, waiting->at, waiting->count * sizeof(*bigger));
		waiting->at = bigger;
		waiting->room = room;
	}
	waiting->at[waiting->count++] = *row;
}

/* Is this gate wanted? records is of the list, and gets no row here. */
static bool is_wanted(struct listing *listing, struct records *records, const struct selector *selector, const struct rec_job_row *row)
{
	if (selector->run != 0 && (row->run != selector->run || !selector_names(selector, row->name)))
		return false;
	if (!listing_matches(listing, row->name, 0))
		return false;
	if (listing->where.text.len == 0)
		return true;
	gate_rows_add(records, row);
	return listing_keeps(listing, records);
}

static enum err ask(struct cli *cli, const struct selector *selector, struct listing *listing, struct records *records,
		    struct waiting *ret)
{
	struct msg_query query = { .what = QUERY_GATES };

	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.jobs.n; i++) {
			if (is_wanted(listing, records, selector, &page.jobs.at[i]))
				waiting_add(ret, &cli->arena, &page.jobs.at[i]);
		}
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	listing->where.text.len = 0;
	return ERR_NONE;
}

/* Turn the last row, which is of the line's first job, into the row of them all. */
static void fold_row(struct records *records, const struct list_line *line)
{
	struct record_cell *cells = &records->cells[records->cell_count - records->column_count];
	struct buf text = { 0 };

	buf_addf(&text, "%zu jobs: ", line->count);
	buf_add_slice(&text, cells[COLUMN_QUESTION].text);
	cells[COLUMN_JOB].text = line->job;
	cells[COLUMN_QUESTION].text = arena_copy(records->arena, buf_slice(&text));
	buf_free(&text);
}

static void add_lines(struct cli *cli, struct listing *listing, const struct waiting *waiting, bool fold, struct records *records)
{
	struct list_job *jobs = arena_zalloc(&cli->arena, waiting->count + 1, sizeof(*jobs));
	struct list_lines lines;

	for (size_t i = 0; i < waiting->count; i++)
		jobs[i] = (struct list_job){ waiting->at[i].run, waiting->at[i].name, waiting->at[i].state };
	lines = list_fold(jobs, waiting->count, fold, &cli->arena);
	listing->lines = lines.count;
	listing->total = waiting->count;
	for (size_t i = 0; i < lines.count && listing_wants(listing); i++) {
		gate_rows_add(records, &waiting->at[lines.at[i].members[0]]);
		if (lines.at[i].count > 1)
			fold_row(records, &lines.at[i]);
	}
}

static void tell(struct cli *cli, const struct listing *listing, const struct waiting *waiting)
{
	size_t gates = 0;

	listing_tell(cli, listing, "decision");
	if (!cli_chatty(cli))
		return;
	for (size_t i = 0; i < waiting->count; i++)
		gates += waiting->at[i].state == STATE_APPROVAL;
	if (waiting->count == 0)
		cli_note(cli, "no gate and no job waits for a person");
	if (gates > 0)
		cli_note(cli, "next: titan approve JOB, titan reject JOB -m WHY, or titan pushback JOB --to JOB -m WHY");
	if (waiting->count > gates)
		cli_note(cli, "next: titan settle JOB done|failed|retry -m HOW-YOU-KNOW");
}

static enum err list_waiting(struct cli *cli, const struct selector *selector)
{
	struct waiting waiting = { 0 };
	struct listing listing;
	struct records records;
	struct buf out = { 0 };
	enum err err;

	gate_rows_begin(&records, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = listing_read(cli, &approvals_options, &records, &listing);
	if (err == ERR_NONE)
		err = ask(cli, selector, &listing, &records, &waiting);
	if (err != ERR_NONE)
		return err;
	/* A person who names a fan-out wants to see its jobs. */
	add_lines(cli, &listing, &waiting, cli->out.style == STYLE_HUMAN && selector->job.len == 0, &records);
	if ((err = listing_sort(cli, &listing, &records)) != ERR_NONE)
		return err;
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	tell(cli, &listing, &waiting);
	return ERR_NONE;
}

/* Gates and unknown jobs that wait have no time in the list, so there is nothing to compare. */
static enum err check_options(struct cli *cli, bool past)
{
	if (past || (!option_given(cli->invocation, OPT_approvals_since) && !option_given(cli->invocation, OPT_approvals_until)))
		return ERR_NONE;
	error_set(&cli->error, ERR_USAGE, "--since and --until are about past decisions, so they need --all");
	return error_next(&cli->error, "titan approvals --all --since 1d");
}

int cmd_approvals(struct cli *cli)
{
	bool past = option_given(cli->invocation, OPT_approvals_all);
	struct selector selector = { 0 };
	enum err err = check_options(cli, past);

	if (err == ERR_NONE)
		err = cli_connect(cli);
	if (err == ERR_NONE && cli->invocation->arg_count > 0) {
		err = cli_select(cli, cli->invocation->args[0], &selector);
		if (err == ERR_NONE && (err = cli_query_named(cli, &selector)) == ERR_PRUNED && past)
			err = ERR_NONE;          /* decisions are kept longer than runs */
	}
	if (err == ERR_NONE)
		err = past ? decisions_list(cli, &selector) : list_waiting(cli, &selector);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}
