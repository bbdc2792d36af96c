/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan analyze: shows where the time of a run went, from the rows, events and tries that the master keeps. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/ask/specs.h"
#include "cli/commands/analyze.h"
#include "cli/commands/command.h"
#include "cli/commands/outputs.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "cli/show/rows.h"
#include "lang/spec_graph.h"
#include "proto/limits.h"

#define COMPARED 10                      /* number of earlier runs of the same name to compare with */
#define SHOWN 12                         /* most rows of a table for people */

/* ---- asking ---- */

static enum err ask_events(struct cli *cli, struct analysis *analysis)
{
	struct msg_query query = { .what = QUERY_EVENTS, .run = analysis->run.run, .since_ms = analysis->run.submitted_ms };
	struct arena arena = { 0 };
	struct msg_snapshot page;
	enum err err;

	do {
		arena_reset(&arena);
		err = cli_query(cli, query, &arena, &page);
		for (size_t i = 0; err == ERR_NONE && i < page.events.n; i++)
			analyze_event(analysis, &page.events.at[i]);
		query.cursor = page.next_turn;
		query.skip = page.skip;
		query.since_ms = page.next_turn != 0 ? 0 : query.since_ms;
	} while (err == ERR_NONE && page.cursor != 0);
	arena_free(&arena);
	return err;
}

static enum err ask_tries(struct cli *cli, struct analysis *analysis)
{
	struct msg_query query = { .what = QUERY_TRIES, .run = analysis->run.run };

	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.tries.n; i++) {
			const struct rec_try_row *row = &page.tries.at[i];

			if (row->outcome == OUTCOME_EXIT && row->code == 0)
				continue;                /* not failed: a pass of a loop, or the job ran again later */
			analysis->retries++;
			analysis->retried_ms += row->started_ms > 0 && row->ended_ms > row->started_ms ? row->ended_ms - row->started_ms : 0;
		}
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	return ERR_NONE;
}

static enum err ask_earlier(struct cli *cli, struct analysis *analysis)
{
	struct msg_query query = { .what = QUERY_RUNS, .name = analysis->run.name, .cursor = analysis->run.run };

	analysis->earlier_ms = arena_alloc(&cli->arena, COMPARED * sizeof(*analysis->earlier_ms));
	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.runs.n && analysis->earlier_count < COMPARED; i++) {
			const struct rec_run_row *run = &page.runs.at[i];

			if (run->ended_ms > 0 && run->state != RUN_CANCELLED && run->run < analysis->run.run)
				analysis->earlier_ms[analysis->earlier_count++] = run->ended_ms - run->submitted_ms;
		}
		query.cursor = page.cursor;
	} while (query.cursor != 0 && analysis->earlier_count < COMPARED);
	return ERR_NONE;
}

static enum err ask_slots(struct cli *cli, struct analysis *analysis)
{
	struct msg_query query = { .what = QUERY_WORKERS };

	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.workers.n; i++)
			analysis->slots += page.workers.at[i].state == WORKER_UP ? page.workers.at[i].slots : 0;
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	return ERR_NONE;
}

static enum err ask_jobs(struct cli *cli, struct analysis *analysis)
{
	struct asked_graph asked;
	struct rec_job_row *rows;
	size_t count = 0;
	enum err err = cli_query_jobs(cli, analysis->run.run, SIZE_MAX, &cli->arena, &rows, &count);

	if (err == ERR_NONE)
		err = cli_query_graph(cli, analysis->run.run, NULL, &asked);
	if (err != ERR_NONE)
		return err;
	analysis->max_jobs = asked.graph.max_jobs;
	analysis->jobs = arena_zalloc(&cli->arena, count + 1, sizeof(*analysis->jobs));
	analysis->count = count;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].index >= count)
			return error_set(&cli->error, ERR_FRAME, "the master answered with a job that run %" PRIu64 " can't have", analysis->run.run);
		analysis->jobs[rows[i].index].row = rows[i];
		analysis->jobs[rows[i].index].pool = rows[i].index < asked.graph.count && asked.graph.jobs[rows[i].index].pool.len > 0;
	}
	return ERR_NONE;
}

static enum err analyze(struct cli *cli, uint64_t run, struct analysis *ret)
{
	enum err err;

	*ret = (struct analysis){ 0 };
	if ((err = cli_query_run(cli, run, &cli->arena, &ret->run)) != ERR_NONE || (err = ask_jobs(cli, ret)) != ERR_NONE)
		return err;
	ret->end_ms = ret->run.ended_ms > 0 ? ret->run.ended_ms : cli_now_ms(cli);
	analyze_begin(ret, &cli->arena);
	err = ask_events(cli, ret);
	analyze_end(ret);
	if (err != ERR_NONE || (err = ask_tries(cli, ret)) != ERR_NONE || (err = ask_earlier(cli, ret)) != ERR_NONE ||
	    (err = ask_slots(cli, ret)) != ERR_NONE)
		return err;
	analyze_path(ret, &cli->arena);
	return ERR_NONE;
}

/* ---- figures ---- */

static int64_t taken(const struct analysis *analysis)
{
	return analysis->end_ms > analysis->run.submitted_ms ? analysis->end_ms - analysis->run.submitted_ms : 0;
}

/* Return how long the job waited: the time from the end of its last need to its own end, without the time that it ran. */
static int64_t waited(const struct job_times *job)
{
	int64_t all = job->end_ms > job->ready_ms ? job->end_ms - job->ready_ms : 0;

	return all > job->ran_ms ? all - job->ran_ms : 0;
}

static uint64_t permille(int64_t part, int64_t whole)
{
	return whole > 0 && part > 0 ? (uint64_t)(part * 1000 / whole) : 0;
}

static uint64_t path_share(const struct analysis *analysis, const struct job_times *job)
{
	return permille(job->end_ms - job->ready_ms, taken(analysis));
}

static int64_t wait_sum(const struct analysis *analysis, enum wait_reason reason, uint64_t *ret_jobs)
{
	int64_t sum = 0;

	*ret_jobs = 0;
	for (size_t i = 0; i < analysis->count; i++) {
		sum += analysis->jobs[i].waits[reason];
		*ret_jobs += analysis->jobs[i].waits[reason] > 0;
	}
	return sum;
}

/* ---- for programs ---- */

static const struct column analysis_columns[] = {
	{ "topic", "TOPIC", false },
	{ "name", "NAME", false },
	{ "count", "COUNT", true },
	{ "waited_ms", "WAITED", true },
	{ "ran_ms", "RAN", true },
	{ "slack_ms", "SLACK", true },
	{ "share_permille", "SHARE", true },
	{ "median_ms", "MEDIAN", true },
	{ "deviation_permille", "DEVIATION", true },
};
const struct table analysis_table = TABLE_OF(analysis_columns);

/* stands for a number that the row doesn't have */
#define NONE INT64_MIN

static void add_row(struct records *records, const char *topic, struct slice name, const int64_t values[7])
{
	records_text(records, slice_str(topic));
	records_text(records, name);
	for (size_t i = 0; i < 7; i++) {
		if (values[i] == NONE)
			records_none(records);
		else
			records_number(records, (uint64_t)values[i]);
	}
}

static void add_rows(const struct analysis *analysis, struct records *records)
{
	int64_t median = analyze_median(analysis->earlier_ms, analysis->earlier_count), available = (int64_t)analysis->slots * taken(analysis);
	uint64_t jobs;

	add_row(records, "run", analysis->run.name, (const int64_t[]){ (int64_t)analysis->count, NONE, taken(analysis), NONE, NONE, NONE, NONE });
	for (size_t i = analysis->path_count; i-- > 0;) {
		const struct job_times *job = &analysis->jobs[analysis->path[i]];

		add_row(records, "path", job->row.name, (const int64_t[]){ NONE, waited(job), job->ran_ms, job->slack_ms,
								      (int64_t)path_share(analysis, job), NONE, NONE });
	}
	for (size_t i = 0; i < WAIT_REASONS; i++) {
		int64_t sum = wait_sum(analysis, (enum wait_reason)i, &jobs);

		if (jobs > 0)
			add_row(records, "wait", slice_str(wait_name((enum wait_reason)i)), (const int64_t[]){ (int64_t)jobs, sum, NONE, NONE, NONE, NONE, NONE });
	}
	for (size_t i = 0; i < analysis->count; i++) {
		const struct job_times *job = &analysis->jobs[i];

		add_row(records, "job", job->row.name, (const int64_t[]){ NONE, waited(job), job->ran_ms, job->slack_ms, NONE, NONE, NONE });
	}
	add_row(records, "slots", analysis->run.name, (const int64_t[]){ (int64_t)analysis->slots, NONE, analysis->busy_ms, NONE,
									 analysis->slots > 0 ? (int64_t)permille(analysis->busy_ms, available) : NONE, NONE, NONE });
	add_row(records, "retries", analysis->run.name, (const int64_t[]){ (int64_t)analysis->retries, wait_sum(analysis, WAIT_RETRY, &jobs),
									   analysis->retried_ms, NONE, NONE, NONE, NONE });
	if (analysis->earlier_count > 0)
		add_row(records, "earlier", analysis->run.name, (const int64_t[]){ (int64_t)analysis->earlier_count, NONE, taken(analysis), NONE, NONE, median,
										   median > 0 ? (taken(analysis) - median) * 1000 / median : NONE });
}

/* ---- for people ---- */

static const struct column path_columns[] = {
	{ "name", "CRITICAL PATH", false }, { "waited_ms", "WAITED", true }, { "ran_ms", "RAN", true }, { "share_permille", "SHARE", true },
};
static const struct column wait_columns[] = {
	{ "name", "WAITS FOR", false }, { "count", "JOBS", true }, { "waited_ms", "TIME", true }, { "why", "WHICH MEANS", false },
};
static const struct column slack_columns[] = {
	{ "name", "LEAST SLACK", false }, { "slack_ms", "SLACK", true }, { "waited_ms", "WAITED", true }, { "ran_ms", "RAN", true },
};

static void percent(struct cli *cli, struct records *records, uint64_t share)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64 "%%", (share + 5) / 10);
	records_text(records, arena_copy(&cli->arena, slice_str(text)));
}

static void print_table(struct cli *cli, struct records *records, struct buf *out)
{
	if (records_rows(records) == 0)
		return;
	buf_add_byte(out, '\n');
	records_print(records, &cli->out, out);
}

static void print_path(struct cli *cli, const struct analysis *analysis, struct buf *out)
{
	struct records records;
	size_t left = analysis->path_count > SHOWN ? analysis->path_count - SHOWN : 0;

	records_begin(&records, path_columns, 4, &cli->arena);
	/* Of a long path, show the SHOWN jobs with the largest shares. The last line counts the jobs that aren't shown. */
	for (size_t i = analysis->path_count; i-- > 0;) {
		const struct job_times *job = &analysis->jobs[analysis->path[i]];
		size_t larger = 0;

		for (size_t k = 0; k < analysis->path_count && left > 0; k++)
			larger += path_share(analysis, &analysis->jobs[analysis->path[k]]) > path_share(analysis, job) ||
				  (path_share(analysis, &analysis->jobs[analysis->path[k]]) == path_share(analysis, job) && k > i);
		if (larger >= SHOWN)
			continue;
		records_text(&records, job->row.name);
		records_span(&records, waited(job));
		records_span(&records, job->ran_ms);
		percent(cli, &records, path_share(analysis, job));
	}
	print_table(cli, &records, out);
	if (left > 0)
		buf_addf(out, "and %zu more with smaller shares\n", left);
}

static void print_waits(struct cli *cli, const struct analysis *analysis, struct buf *out)
{
	struct records records;

	records_begin(&records, wait_columns, 4, &cli->arena);
	for (size_t i = 0; i < WAIT_REASONS; i++) {
		uint64_t jobs;
		int64_t sum = wait_sum(analysis, (enum wait_reason)i, &jobs);

		if (jobs == 0)
			continue;
		records_text(&records, slice_str(wait_name((enum wait_reason)i)));
		records_number(&records, jobs);
		records_span(&records, sum);
		records_text(&records, slice_str(wait_text((enum wait_reason)i)));
	}
	print_table(cli, &records, out);
}

struct folded {                          /* a row of the table: a fan-out, or a job that isn't in one */
	struct slice name;
	int64_t slack_ms, waited_ms, ran_ms;
	uint64_t count;
};

static int by_slack(const void *a, const void *b)
{
	const struct folded *one = a, *other = b;

	return one->slack_ms != other->slack_ms ? (one->slack_ms > other->slack_ms) - (one->slack_ms < other->slack_ms) :
						  (one->ran_ms < other->ran_ms) - (one->ran_ms > other->ran_ms);
}

/* Make one row of all members of a fan-out, which are neighbours: with their least slack and their longest times. */
static size_t fold(struct cli *cli, const struct analysis *analysis, struct folded **ret)
{
	struct folded *list = arena_zalloc(&cli->arena, analysis->count + 1, sizeof(*list)), *last = NULL;
	size_t count = 0;

	for (size_t i = 0; i < analysis->count; i++) {
		const struct job_times *job = &analysis->jobs[i];
		struct slice stem = slice_make(job->row.name.data, spec_stem(job->row.name));

		if (!last || stem.len == job->row.name.len || !slice_eq(last->name, stem)) {
			last = &list[count++];
			*last = (struct folded){ .name = stem, .slack_ms = job->slack_ms };
		}
		last->count += stem.len < job->row.name.len;
		last->slack_ms = job->slack_ms < last->slack_ms ? job->slack_ms : last->slack_ms;
		last->waited_ms = waited(job) > last->waited_ms ? waited(job) : last->waited_ms;
		last->ran_ms = job->ran_ms > last->ran_ms ? job->ran_ms : last->ran_ms;
	}
	*ret = list;
	return count;
}

static void print_slack(struct cli *cli, const struct analysis *analysis, struct buf *out)
{
	struct records records;
	struct folded *list;
	size_t count = fold(cli, analysis, &list);

	qsort(list, count, sizeof(*list), by_slack);
	records_begin(&records, slack_columns, 4, &cli->arena);
	for (size_t i = 0; i < count && i < SHOWN; i++) {
		struct buf name = { 0 };

		buf_add_slice(&name, list[i].name);
		if (list[i].count > 0)
			buf_addf(&name, "[%" PRIu64 "]", list[i].count);
		records_text(&records, arena_copy(&cli->arena, buf_slice(&name)));
		records_span(&records, list[i].slack_ms);
		records_span(&records, list[i].waited_ms);
		records_span(&records, list[i].ran_ms);
		buf_free(&name);
	}
	print_table(cli, &records, out);
	if (count > SHOWN)
		buf_addf(out, "and %zu more; all of them: titan analyze %" PRIu64 " --plain\n", count - SHOWN, analysis->run.run);
}

static void print_sums(const struct analysis *analysis, struct buf *out)
{
	int64_t median = analyze_median(analysis->earlier_ms, analysis->earlier_count), all = taken(analysis);
	uint64_t jobs;

	buf_add_str(out, "\nslots    busy for ");
	text_add_span(out, analysis->busy_ms);
	if (analysis->slots > 0)
		buf_addf(out, ", %" PRIu64 "%% of the %" PRIu64 " slot%s that workers have now", (permille(analysis->busy_ms, (int64_t)analysis->slots * all) + 5) / 10,
			 analysis->slots, analysis->slots == 1 ? "" : "s");
	buf_addf(out, "\nretries  %" PRIu64 " tr%s failed", analysis->retries, analysis->retries == 1 ? "y" : "ies");
	if (analysis->retries > 0) {
		buf_add_str(out, " and took ");
		text_add_span(out, analysis->retried_ms);
		buf_add_str(out, "; waits before the next took ");
		text_add_span(out, wait_sum(analysis, WAIT_RETRY, &jobs));
	}
	buf_add_str(out, "\nearlier  ");
	if (analysis->earlier_count == 0) {
		buf_add_str(out, "no other run of this name has ended\n");
		return;
	}
	buf_addf(out, "%zu run%s of this name took ", analysis->earlier_count, analysis->earlier_count == 1 ? "" : "s");
	text_add_span(out, median);
	buf_add_str(out, analysis->earlier_count == 1 ? "" : " (median)");
	if (median > 0)
		buf_addf(out, "; this one %+lld%%", (long long)((all - median) * 100 / median));
	buf_add_byte(out, '\n');
}

static void print_people(struct cli *cli, const struct analysis *analysis, struct buf *out)
{
	buf_addf(out, "%" PRIu64 " ", analysis->run.run);
	text_escape(out, analysis->run.name, TEXT_KEEP_NONE);
	buf_add_str(out, "  ");
	look_state(&cli->out, run_look(&analysis->run), out);
	buf_add_str(out, analysis->run.ended_ms > 0 ? "  took " : "  so far ");
	text_add_span(out, taken(analysis));
	buf_add_byte(out, '\n');
	print_path(cli, analysis, out);
	print_waits(cli, analysis, out);
	print_slack(cli, analysis, out);
	print_sums(analysis, out);
}

int cmd_analyze(struct cli *cli)
{
	struct analysis analysis;
	struct records records;
	struct buf out = { 0 };
	uint64_t run;

	records_begin(&records, analysis_columns, analysis_table.count, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    cli_select_run(cli, cli->invocation->args[0], &run) != ERR_NONE || analyze(cli, run, &analysis) != ERR_NONE)
		return cli_fail(cli);
	if (cli->out.style == STYLE_HUMAN) {
		print_people(cli, &analysis, &out);
	} else {
		add_rows(&analysis, &records);
		records_print(&records, &cli->out, &out);
	}
	cli_print(cli, &out);
	buf_free(&out);
	if (analysis.unseen > 0)
		cli_note(cli, "the history of %" PRIu64 " job%s was removed, so only their last tries count", analysis.unseen, analysis.unseen == 1 ? "" : "s");
	return 0;
}
