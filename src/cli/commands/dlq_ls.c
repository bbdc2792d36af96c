/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan dlq ls. For people, dead letters of one fan-out share a line (list_fold.c). */
#include "base/clock.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/dlq.h"
#include "cli/commands/list_fold.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "proto/dead.h"

enum { COLUMN_JOB, COLUMN_REASON, COLUMN_OUTCOME, COLUMN_TRIES, COLUMN_WORKER }; /* the columns that a fan-out's row sums up */

static const struct column dead_letter_columns[] = {
	{ "job", "JOB", false },
	{ "reason", "REASON", false },
	{ "outcome", "RESULT", false },
	{ "tries", "TRY", true },
	{ "worker", "WORKER", false },
	{ "age_ms", "AGE", true },
	{ "pipeline", "PIPELINE", false },
	{ "why", NULL, false },
	{ "died", NULL, false },
	{ "state", NULL, false },
	{ "crashes", NULL, false },
	{ "exit_code", NULL, false },
	{ "signal", NULL, false },
	{ "spawn_error", NULL, false },
	{ "epoch", NULL, false },
	{ "round", NULL, false },
	{ "priority", NULL, false },
	{ "owner", NULL, false },
	{ "run", NULL, false },
	{ "name", NULL, false },
	{ "serial", NULL, false },
	{ "index", NULL, false },
};
const struct table dead_letter_table = TABLE_OF(dead_letter_columns);

static void add_dead_letter(struct records *records, const struct rec_dead_row *dead_letter, int64_t now_ms)
{
	enum job_state state = job_state_checked(dead_letter->state);

	records_text(records, dead_letter_address(dead_letter, records->arena));
	records_text(records, slice_str(dead_name(dead_letter->reason)));
	records_text(records, dead_letter_outcome(dead_letter, records->arena));
	records_number(records, dead_letter->tries);
	records_text(records, dead_letter->worker);
	records_span(records, now_ms > dead_letter->died_ms ? now_ms - dead_letter->died_ms : 0);
	records_text(records, dead_letter->run_name);
	records_text(records, slice_str(dead_text(dead_letter->reason)));
	records_time(records, dead_letter->died_ms);
	records_text(records, slice_str(state_table[state].name));
	records_number(records, dead_letter->crashes);
	records_end(records, dead_letter->outcome, dead_letter->code);
	records_number(records, dead_letter->epoch);
	records_number(records, dead_letter->round);
	records_number(records, dead_letter->priority);
	records_text(records, dead_letter->owner);
	records_number(records, dead_letter->run);
	records_text(records, dead_letter->name);
	records_number(records, dead_letter->job);
	records_number(records, dead_letter->index);
}

const struct listing_options dlq_options = {
	.limit = OPT_dlq_limit, .all = OPT_dlq_all, .name = OPT_dlq_name, .since = OPT_dlq_since, .until = OPT_dlq_until,
	.sort = OPT_dlq_sort, .where = OPT_dlq_where,
};

/* Turn the last row, which is of the line's first dead letter, into the row of them all. */
static void fold_row(struct records *records, const struct dead_letters *dead_letters, const struct list_line *line)
{
	struct record_cell *cells = &records->cells[records->cell_count - records->column_count];
	struct text_counts reasons = { 0 }, outcomes = { 0 }, workers = { 0 };
	struct buf text = { 0 };
	uint64_t tries = 0;

	for (size_t i = 0; i < line->count; i++) {
		const struct rec_dead_row *row = &dead_letters->at[line->members[i]];

		text_counts_add(&reasons, slice_str(dead_name(row->reason)));
		text_counts_add(&outcomes, dead_letter_outcome(row, records->arena));
		text_counts_add(&workers, row->worker);
		tries = row->tries > tries ? row->tries : tries;
	}
	buf_addf(&text, "%zu jobs: ", line->count);
	buf_add_slice(&text, text_counts_shown(&outcomes, records->arena));
	cells[COLUMN_JOB].text = line->job;
	cells[COLUMN_REASON].text = text_counts_common(&reasons, records->arena);
	cells[COLUMN_OUTCOME].text = arena_copy(records->arena, buf_slice(&text));
	cells[COLUMN_TRIES].number = (int64_t)tries;
	cells[COLUMN_WORKER].text = text_counts_common(&workers, records->arena);
	buf_free(&text);
}

static void add_lines(struct cli *cli, struct listing *listing, const struct dead_letters *wanted, bool fold, struct records *records)
{
	struct list_job *jobs = arena_zalloc(&cli->arena, wanted->count + 1, sizeof(*jobs));
	struct list_lines lines;

	for (size_t i = 0; i < wanted->count; i++)
		jobs[i] = (struct list_job){ .run = wanted->at[i].run, .name = wanted->at[i].name };
	lines = list_fold(jobs, wanted->count, fold, &cli->arena);
	listing->lines = lines.count;
	listing->total = wanted->count;
	for (size_t i = 0; i < lines.count && listing_wants(listing); i++) {
		add_dead_letter(records, &wanted->at[lines.at[i].members[0]], clock_wall_ms());
		if (lines.at[i].count > 1)
			fold_row(records, wanted, &lines.at[i]);
	}
}

/* Keep the dead letters that match the options. records is of another list, and gets no row. */
static void keep_wanted(struct listing *listing, struct records *records, struct dead_letters *dead_letters)
{
	size_t kept = 0;

	for (size_t i = 0; i < dead_letters->count; i++) {
		if (!listing_matches(listing, dead_letters->at[i].run_name, dead_letters->at[i].died_ms))
			continue;
		if (listing->where.text.len > 0) {
			add_dead_letter(records, &dead_letters->at[i], clock_wall_ms());
			if (!listing_keeps(listing, records))
				continue;
		}
		dead_letters->at[kept++] = dead_letters->at[i];
	}
	dead_letters->count = kept;
	listing->where.text.len = 0;
}

static enum err ask(struct cli *cli, struct selector *ret_selector, struct dead_letters *ret)
{
	const char *target = cli->invocation->arg_count > 1 ? cli->invocation->args[1] : NULL;
	enum err err = cli_connect(cli);

	if (err == ERR_NONE && target)
		err = cli_select(cli, target, ret_selector);
	if (err == ERR_NONE)
		err = dead_letters_ask(cli, ret_selector, ret);
	if (err == ERR_NONE && target && ret->count == 0)
		err = cli_query_named(cli, ret_selector);
	return err;
}

int dlq_ls(struct cli *cli)
{
	struct dead_letters dead_letters = { 0 };
	struct selector selector = { 0 };
	struct listing listing;
	struct records records;
	struct buf out = { 0 };

	records_begin(&records, dead_letter_columns, dead_letter_table.count, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE ||
	    listing_read(cli, &dlq_options, &records, &listing) != ERR_NONE ||
	    ask(cli, &selector, &dead_letters) != ERR_NONE)
		return cli_fail(cli);
	keep_wanted(&listing, &records, &dead_letters);
	/* A person who names a fan-out wants to see its jobs. */
	add_lines(cli, &listing, &dead_letters,
		  cli->out.style == STYLE_HUMAN && selector.job.len == 0 && !option_given(cli->invocation, OPT_dlq_all), &records);
	if (listing_sort(cli, &listing, &records) != ERR_NONE)
		return cli_fail(cli);
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	listing_tell(cli, &listing, "dead letter");
	if (cli_chatty(cli))
		cli_note(cli, listing.shown ? "next: titan dlq show JOB, titan dlq requeue JOB" : "there are no dead letters");
	return 0;
}
