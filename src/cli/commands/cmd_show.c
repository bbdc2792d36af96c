/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan show: a run with its jobs, some jobs of a run, or one job (show_job.c). Jobs are printed in portions, so a run
 * of a million jobs needs little memory.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/when.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/ask/targets.h"
#include "cli/commands/command.h"
#include "cli/commands/show.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/json.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "cli/show/rows.h"
#include "cli/show/wrap.h"

#define PORTION 1000                     /* most jobs printed at a time, except in a table */
#define TABLE_MOST 1000                  /* most rows of a table unless --all is given */
#define FOLD_MOST 20000                  /* most jobs that are read to be folded into fan-outs */
#define HEADER_INDENT 4                  /* of further lines about the run */

static void header_text(const struct cli *cli, const struct rec_run_row *run, struct buf *out)
{
	struct run_counts counts = run_counts(run);
	int64_t end_ms = run->ended_ms ? run->ended_ms : cli_now_ms(cli);
	char time[CLOCK_TEXT_SIZE];

	buf_addf(out, "%" PRIu64 " ", run->run);
	text_escape(out, run->name, TEXT_KEEP_NONE);
	buf_add_str(out, "  ");
	look_state(&cli->out, run_look(run), out);
	if (run->held)
		buf_add_str(out, " (held)");
	buf_addf(out, "  %" PRIu64 "/%" PRIu64 " ended  submitted %s", counts.ended, counts.jobs,
		 when_format(run->submitted_ms, cli_now_ms(cli), time));
	if (run->owner.len > 0) {
		buf_add_str(out, " by ");
		text_escape(out, run->owner, TEXT_KEEP_NONE);
	}
	if (run->tenant.len > 0) {
		buf_add_str(out, " for ");
		text_escape(out, run->tenant, TEXT_KEEP_NONE);
	}
	if (run->concurrency.len > 0) {
		buf_add_str(out, " in group ");
		text_escape(out, run->concurrency, TEXT_KEEP_NONE);
		buf_add_str(out, run->ended_ms ? "" : run->seated ? " (it has a place in its group)" : " (it waits "
			"for a place in its group)");
	}
	if (run->parent_run != 0) {
		buf_addf(out, "  sub-run of %" PRIu64 "/", run->parent_run);
		text_escape(out, run->parent_job, TEXT_KEEP_NONE);
	}
	buf_addf(out, "  %s ", run->ended_ms ? "took" : "age");
	text_add_span(out, end_ms > run->submitted_ms ? end_ms - run->submitted_ms : 0);
	if (run->ended_ms)
		buf_addf(out, "  ended %s", when_format(run->ended_ms, cli_now_ms(cli), time));
}

static void run_header(const struct cli *cli, const struct rec_run_row *run, struct buf *out)
{
	struct buf text = { 0 };

	header_text(cli, run, &text);
	wrap_add(&cli->out, buf_slice(&text), 0, HEADER_INDENT, out);
	buf_add_byte(out, '\n');
	buf_free(&text);
}

struct shown_run {
	const struct rec_run_row *run;
	const struct rec_job_row *jobs;
	size_t job_count;
	int64_t now_ms;
	const bool *wanted;              /* for each job of the run, whether to print it; NULL: print all */
};

/* Add the rows of one portion, from this job on. */
static size_t add_portion(const struct shown_run *shown, size_t from, size_t most, struct records *records, struct arena *arena,
			  size_t *ret_rows)
{
	size_t rows = 0;
	size_t count = shown->job_count - from < most ? shown->job_count - from : most;

	arena_reset(arena);
	rows_begin_jobs(records, arena);
	for (size_t i = from; i < from + count; i++) {
		if (shown->wanted != NULL && !shown->wanted[i])
			continue;
		rows_add_job(records, &shown->jobs[i], shown->jobs, shown->job_count, shown->now_ms);
		rows++;
	}
	*ret_rows = rows;
	return count;
}

static void print_run_json(struct cli *cli, const struct shown_run *shown)
{
	struct arena arena = { 0 };
	struct records records;
	struct buf out = { 0 };
	struct json json;
	size_t count, rows;

	rows_begin_runs(&records, &arena);
	rows_add_run(&records, shown->run, cli_now_ms(cli));
	json_begin(&json, &out);
	json_object(&json);
	records_json_fields(&records, 0, &json);
	json_key(&json, "jobs");
	json_array(&json);
	for (size_t from = 0; from < shown->job_count; from += count) {
		count = add_portion(shown, from, PORTION, &records, &arena, &rows);
		for (size_t i = 0; i < rows; i++)
			records_json_row(&records, i, &json);
		cli_print(cli, &out);
	}
	json_end(&json);
	json_end(&json);
	cli_print(cli, &out);
	buf_free(&out);
	arena_free(&arena);
}

/* Are the rows of all jobs known, in the order of the graph? Then similar jobs can share a row. */
static bool may_fold(const struct cli *cli, const struct shown_run *shown)
{
	if (cli->out.style != STYLE_HUMAN || shown->wanted != NULL || option_given(cli->invocation, OPT_show_all))
		return false;
	for (size_t i = 0; i < shown->job_count; i++)
		if (shown->jobs[i].index != i)
			return false;
	return true;
}

/* Print the jobs. Return the number of jobs that were left out. */
static size_t print_run_rows(struct cli *cli, const struct shown_run *shown)
{
	struct arena arena = { 0 };
	struct records records;
	struct buf out = { 0 };
	size_t count, rows, left_out = 0;

	if (cli->out.style == STYLE_HUMAN)
		run_header(cli, shown->run, &out);
	if (may_fold(cli, shown)) {
		rows_begin_jobs(&records, &arena);
		left_out = show_folded(shown->jobs, shown->job_count, shown->now_ms, TABLE_MOST, &records);
		records_print(&records, &cli->out, &out);
	}
	/* A table is a single portion: its columns are as wide as its widest row. */
	for (size_t from = 0; from < shown->job_count && !may_fold(cli, shown); from += count) {
		count = add_portion(shown, from, cli->out.style == STYLE_HUMAN ? SIZE_MAX : PORTION, &records, &arena, &rows);
		records_print(&records, &cli->out, &out);
		cli_print(cli, &out);
	}
	cli_print(cli, &out);
	buf_free(&out);
	arena_free(&arena);
	return left_out;
}

static size_t want_named(const struct selector *target, const struct shown_run *shown, bool *wanted)
{
	size_t found = 0;

	for (size_t i = 0; i < shown->job_count; i++) {
		if (!selector_names(target, shown->jobs[i].name))
			continue;
		wanted[i] = true;
		found++;
	}
	return found;
}

/* Mark the jobs that the targets name; all targets are in one run. *ret is NULL if a target is the run itself. */
static enum err wanted_jobs(struct cli *cli, const struct selector *targets, size_t count, struct shown_run *shown)
{
	bool *wanted = arena_zalloc(&cli->arena, shown->job_count + 1, sizeof(*wanted));
	struct rec_job_row row;

	for (size_t i = 0, at = 0; i < count; i++) {
		size_t looked = 0;
		enum err err = ERR_NONE;

		if (targets[i].job.len == 0)
			return ERR_NONE;
		/* Targets are mostly in the order of the jobs, so the search continues from the last match. */
		while (looked < shown->job_count && !slice_eq(shown->jobs[at].name, targets[i].job)) {
			at = at + 1 < shown->job_count ? at + 1 : 0;
			looked++;
		}
		if (looked < shown->job_count)
			wanted[at] = true;
		else if (want_named(&targets[i], shown, wanted) == 0)
			err = cli_query_job(cli, &targets[i], &cli->arena, &row);
		if (err != ERR_NONE)
			return err;
	}
	shown->wanted = wanted;
	return ERR_NONE;
}

/* Show the run of these targets, with all its jobs or with those that the targets name. before: text to print first. */
static enum err show_run(struct cli *cli, const struct selector *targets, size_t count, struct buf *before)
{
	bool all = cli->out.style != STYLE_HUMAN || option_given(cli->invocation, OPT_show_all);
	bool whole = count == 1 && targets[0].job.len == 0;
	size_t left_out = 0;
	uint64_t run_no = targets[0].run;
	struct rec_run_row run;
	struct rec_job_row *jobs;
	struct records records;
	struct shown_run shown = { .run = &run, .now_ms = cli_now_ms(cli) };
	enum err err;

	rows_begin_jobs(&records, &cli->arena);
	if ((err = records_check(&records, &cli->out, &cli->error)) != ERR_NONE ||
	    (err = cli_query_run(cli, run_no, &cli->arena, &run)) != ERR_NONE ||
	    (err = cli_query_jobs(cli, run_no, whole && !all ? FOLD_MOST : SIZE_MAX, &cli->arena, &jobs, &shown.job_count)) !=
		    ERR_NONE)
		return err;
	shown.jobs = jobs;
	if (!whole && (err = wanted_jobs(cli, targets, count, &shown)) != ERR_NONE)
		return err;
	cli_print(cli, before);
	if (cli->out.style == STYLE_JSON)
		print_run_json(cli, &shown);
	else
		left_out = print_run_rows(cli, &shown);
	if (whole && !all && (run.jobs > shown.job_count || left_out > 0))
		cli_note(cli, "these are the first of %" PRIu64 " jobs; for all: titan show %" PRIu64 " --all", run.jobs, run_no);
	return ERR_NONE;
}

/* Show the runs of all targets. With --json the result is a list even for one run. */
static enum err show_several(struct cli *cli, const struct targets *targets)
{
	bool json = cli->out.style == STYLE_JSON;
	struct buf text = { 0 };
	enum err err = ERR_NONE;
	size_t count;

	for (size_t i = 0; i < targets->count && err == ERR_NONE; i += count) {
		for (count = 1; i + count < targets->count && targets->at[i + count].run == targets->at[i].run;)
			count++;
		if (json)
			buf_add_byte(&text, i > 0 ? ',' : '[');
		else if (i > 0 && cli->out.style == STYLE_HUMAN)
			buf_add_byte(&text, '\n');
		err = show_run(cli, &targets->at[i], count, &text);
	}
	if (json && err == ERR_NONE)
		buf_add_str(&text, "]\n");
	if (err == ERR_NONE)
		cli_print(cli, &text);
	buf_free(&text);
	return err;
}

int cmd_show(struct cli *cli)
{
	struct targets targets;
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = cli_targets(cli, cli->invocation->args, cli->invocation->arg_count, REACH_EVERY, &targets);
	if (err == ERR_NONE)
		err = targets_where(cli, OPT_show_where, REACH_EVERY, &targets);
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (!targets.bulk && targets.count == 1 && targets.at[0].job.len > 0)
		err = show_job(cli, &targets.at[0]);
	else
		err = ERR_NOT_FOUND;
	if (err == ERR_NOT_FOUND)        /* the targets are runs, several jobs, or a whole fan-out */
		err = show_several(cli, &targets);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}
