/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option --where of commands about runs and jobs: it selects jobs of the runs that the arguments name. */
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/targets.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/row_words.h"
#include "cli/show/rows.h"
#include "cli/show/where.h"

/* What the expression may use besides the columns of a list of jobs. */
static const struct column further[] = {
	{ "age_ms", NULL, true }, { "owner", NULL, false }, { "tenant", NULL, false }, { "pipeline", NULL, false },
	{ "submitted", NULL, false }, { "labels", NULL, false },
};
#define FURTHER (sizeof(further) / sizeof(further[0]))

struct filter {
	struct cli *cli;
	struct where where;
	struct records records;
	enum reach reach;
	struct targets found;
	size_t room;
};

static void begin(struct filter *filter)
{
	struct arena *arena = &filter->cli->arena;
	struct column *columns;

	rows_begin_jobs(&filter->records, arena);
	columns = arena_zalloc(arena, filter->records.column_count + FURTHER, sizeof(*columns));
	memcpy(columns, filter->records.columns, filter->records.column_count * sizeof(*columns));
	memcpy(columns + filter->records.column_count, further, sizeof(further));
	records_begin(&filter->records, columns, filter->records.column_count + FURTHER, arena);
}

static bool within(enum reach reach, const struct rec_job_row *job)
{
	enum job_state state = job_state_checked(job->state);

	switch (reach) {
	case REACH_LIVE:
		return !state_terminal(state);
	case REACH_BAD:
		return state_terminal(state) && state != STATE_SUCCEEDED;
	case REACH_EVERY:
		break;
	}
	return true;
}

static bool meets(struct filter *filter, const struct rec_run_row *run, const struct rec_job_row *job)
{
	struct records *records = &filter->records;
	int64_t now_ms = cli_now_ms(filter->cli);

	rows_add_job(records, job, NULL, 0, now_ms);
	records_span(records, job_span_ms(job, now_ms));
	records_text(records, run->owner);
	records_text(records, run->tenant.len > 0 ? run->tenant : run->owner);
	records_text(records, run->name);
	records_time(records, run->submitted_ms);
	records_texts(records, job->labels);
	if (!where_keeps(&filter->where, records))
		return false;
	records->cell_count = 0;
	return true;
}

static void add(struct filter *filter, struct selector target)
{
	struct targets *found = &filter->found;

	if (found->count == filter->room) {
		struct selector *bigger = arena_zalloc(&filter->cli->arena, filter->room ? 2 * filter->room : 16, sizeof(*bigger));

		if (found->count > 0)
			memcpy(bigger, found->at, found->count * sizeof(*bigger));
		found->at = bigger;
		filter->room = filter->room ? 2 * filter->room : 16;
	}
	found->at[found->count++] = target;
}

/* Add the jobs of one run that one of these targets names and that meet the expression. */
static enum err filter_run(struct filter *filter, const struct selector *targets, size_t count)
{
	struct cli *cli = filter->cli;
	struct rec_run_row run;
	struct rec_job_row *jobs;
	size_t job_count;
	enum err err = cli_query_run(cli, targets[0].run, &cli->arena, &run);

	if (err == ERR_NONE)
		err = cli_query_jobs(cli, targets[0].run, SIZE_MAX, &cli->arena, &jobs, &job_count);
	for (size_t i = 0; err == ERR_NONE && i < job_count; i++) {
		bool named = false;

		for (size_t k = 0; k < count && !named; k++)
			named = selector_names(&targets[k], jobs[i].name);
		if (named && within(filter->reach, &jobs[i]) && meets(filter, &run, &jobs[i]))
			add(filter, (struct selector){ .run = run.run, .job = jobs[i].name });
	}
	return err;
}

enum err targets_where(struct cli *cli, enum option_id option, enum reach reach, struct targets *targets)
{
	struct filter filter = { .cli = cli, .reach = reach, .found = { .bulk = true } };
	const char *text = option_value(cli->invocation, option);
	struct dag_spot spot;
	enum err err;
	size_t count;

	if (text == NULL)
		return ERR_NONE;
	begin(&filter);
	err = where_read(&filter.where, text, filter.records.columns, filter.records.column_count, cli_now_ms(cli), &cli->arena, &spot,
			 &cli->error);
	if (err != ERR_NONE)
		load_explain(cli, slice_str(text), "--where", &spot);
	for (size_t i = 0; i < targets->count && err == ERR_NONE; i += count) {
		for (count = 1; i + count < targets->count && targets->at[i + count].run == targets->at[i].run;)
			count++;
		err = filter_run(&filter, &targets->at[i], count);
	}
	if (err != ERR_NONE)
		return err;
	*targets = filter.found;
	if (targets->count > 0)
		return ERR_NONE;
	return error_set(&cli->error, ERR_NOT_FOUND, "no %sjob of these runs meets the expression of --where",
			 reach == REACH_LIVE ? "live " : reach == REACH_BAD ? "badly ended " : "");
}
