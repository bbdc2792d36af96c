/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan explain: shows why a job is in its state (the master tells the reason), and which command would change that.
 * Jobs of a run that share state and reason share a row (explain_groups.c).
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/ask/targets.h"
#include "cli/commands/command.h"
#include "cli/commands/decisions.h"
#include "cli/commands/explain_groups.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/next_step.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "proto/reasons.h"

static const struct column one_columns[] = {
	{ "job", "job", false },
	{ "count", NULL, true },
	{ "state", "state", false },
	{ "why", "why", false },
	{ "cause", "cause", false },
	{ "next", "next", false },
	{ "alike", NULL, false },
	{ "reason", "reason", false },
	{ "run", NULL, true },
	{ "name", NULL, false },
};
const struct table explain_table = TABLE_OF(one_columns);

static const struct column group_columns[] = {
	{ "job", NULL, false },
	{ "count", "COUNT", true },
	{ "state", "STATE", false },
	{ "why", "WHY", false },
	{ "cause", NULL, false },
	{ "next", "NEXT", false },
	{ "alike", "JOBS", false },
	{ "reason", "REASON", false },
	{ "run", NULL, true },
	{ "name", NULL, false },
};
const struct table explain_groups_table = TABLE_OF(group_columns);

#define COLUMN_COUNT (sizeof(one_columns) / sizeof(one_columns[0]))

/* Say who rejected a gate, and why. */
static enum err refusal_text(struct cli *cli, const struct rec_job_row *job, struct slice *ret)
{
	const struct selector selector = { .run = job->run, .job = job->name };
	struct rec_decision *decided;
	size_t count;
	enum err err = decisions_of(cli, &selector, &decided, &count);

	if (err == ERR_NONE && count > 0)
		*ret = decision_text(&decided[0], &cli->arena);          /* the newest decision comes first */
	return err;
}

/* Rows of all jobs of the run by index, if they were read: for the names of causes and of parents. */
struct run_jobs {
	struct rec_job_row *at;
	size_t count;
};

static struct slice why_of(const struct explain_group *group)
{
	enum job_state state = job_state_checked(group->first->state);

	if (group->why.len > 0)
		return group->why;
	return slice_str(state_terminal(state) ? state_table[state].fact : reason_text(explain_reason(group->first)));
}

/* The command that would move the group's jobs on; one command for all of them if they are many. */
static struct slice next_of(const struct explain_group *group, const struct run_jobs *run, struct arena *arena)
{
	struct slice next = explain_next(group->first, run->at, run->count, arena);
	static const struct { const char *one, *all; } verbs[] = {
		{ "titan retry ", "titan retry" }, { "titan approve ", "titan approvals" }, { "titan settle ", "titan approvals" },
	};
	char text[64];

	for (size_t i = 0; group->ids.n > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		size_t len = strlen(verbs[i].one);

		if (next.len < len || memcmp(next.data, verbs[i].one, len) != 0)
			continue;
		snprintf(text, sizeof(text), "%s %" PRIu64, verbs[i].all, group->first->run);
		return arena_copy(arena, slice_str(text));
	}
	return next;
}

static enum err add_row(struct cli *cli, struct records *records, const struct explain_group *group, const struct run_jobs *run, bool alone)
{
	const struct rec_job_row *job = group->first;
	enum job_state state = job_state_checked(job->state);
	struct slice cause = slice_make(NULL, 0);
	enum err err = ERR_NONE;

	if (state == STATE_DENIED)
		err = refusal_text(cli, job, &cause);
	else if (state_terminal(state) && state != STATE_TIMED_OUT)
		cause = job_cause_text(job, run->at, run->count, &cli->arena);
	if (alone && job->condition_false)
		cause = explain_condition(cli, job, cause);
	if (err != ERR_NONE)
		return err;
	records_text(records, group->ids.at[0]);
	records_number(records, group->ids.n);
	records_state(records, job_look(job), state_table[state].name);
	records_text(records, why_of(group));
	records_text(records, cause);
	records_text(records, next_of(group, run, &cli->arena));
	records_texts(records, group->ids);
	records_text(records, slice_str(reason_name(explain_reason(job))));
	records_number(records, job->run);
	records_text(records, job->name);
	return ERR_NONE;
}

/* Explain one job by itself. */
static enum err explain_one(struct cli *cli, const struct selector *selector, struct records *records)
{
	struct rec_job_row job;
	struct explain_group group;
	struct run_jobs run = { 0 };
	enum err err = explain_ask(cli, selector, &cli->arena, &job);

	/* The names of the job's cause and of the jobs that it waits for are in the rows of those jobs. */
	if (err == ERR_NONE && (job.cause != 0 || job.why_code == REASON_WAITS_FOR_DEPENDENCY))
		err = cli_query_jobs(cli, job.run, SIZE_MAX, &cli->arena, &run.at, &run.count);
	if (err != ERR_NONE)
		return err;
	group = explain_alone(&job, &cli->arena);
	return add_row(cli, records, &group, &run, true);
}

static bool is_wanted(const struct selector *targets, size_t count, struct slice name)
{
	for (size_t i = 0; i < count; i++)
		if (selector_names(&targets[i], name))
			return true;
	return false;
}

/* Explain the jobs of one run that these targets name. */
static enum err explain_some(struct cli *cli, const struct selector *targets, size_t count, struct records *records)
{
	struct run_jobs run;
	struct rec_run_row row;
	struct rec_job_row job;
	bool each = option_given(cli->invocation, OPT_explain_all);
	struct explain_groups groups = { 0 };
	enum err err = cli_query_run(cli, targets[0].run, &cli->arena, &row);

	if (err == ERR_NONE)
		err = cli_query_jobs(cli, targets[0].run, SIZE_MAX, &cli->arena, &run.at, &run.count);
	for (size_t i = 0; err == ERR_NONE && i < run.count; i++)
		if (is_wanted(targets, count, run.at[i].name))
			explain_groups_add(&groups, &run.at[i], each, &cli->arena);
	if (err == ERR_NONE && groups.jobs == 0)
		err = cli_query_job(cli, &targets[0], &cli->arena, &job);        /* cli_query_job makes the error */
	for (size_t i = 0; err == ERR_NONE && i < groups.count; i++)
		err = add_row(cli, records, &groups.at[i], &run, false);
	if (err == ERR_NONE && cli->settings.style == STYLE_HUMAN)
		cli_note(cli, "%zu of %zu job%s of run %" PRIu64 " %s", groups.jobs - groups.open, groups.jobs, groups.jobs == 1 ? "" : "s",
			 targets[0].run, groups.jobs - groups.open == 1 ? "has succeeded" : "have succeeded");
	return err;
}

static void print(struct cli *cli, const struct records *records, bool one)
{
	struct buf out = { 0 };

	if (one && cli->out.style != STYLE_JSON)
		records_print_one(records, &cli->out, &out);
	else if (cli->out.style != STYLE_HUMAN || records->cell_count > 0)
		records_print(records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
}

static enum err explain_targets(struct cli *cli, const struct targets *targets, struct records *records)
{
	enum err err = ERR_NONE;
	size_t count;

	for (size_t i = 0; i < targets->count && err == ERR_NONE; i += count) {
		for (count = 1; i + count < targets->count && targets->at[i + count].run == targets->at[i].run;)
			count++;
		err = explain_some(cli, &targets->at[i], count, records);
	}
	return err;
}

int cmd_explain(struct cli *cli)
{
	struct targets targets;
	struct records records;
	enum err err;
	bool one;

	records_begin(&records, one_columns, COLUMN_COUNT, &cli->arena);
	if ((err = records_check(&records, &cli->out, &cli->error)) != ERR_NONE || (err = cli_connect(cli)) != ERR_NONE ||
	    (err = cli_targets(cli, cli->invocation->args, cli->invocation->arg_count, REACH_EVERY, &targets)) != ERR_NONE)
		return cli_fail(cli);
	one = !targets.bulk && targets.count == 1 && targets.at[0].job.len > 0;
	if (one) {
		err = explain_one(cli, &targets.at[0], &records);
		one = err != ERR_NOT_FOUND;      /* no job has this name, which may be that of a whole fan-out */
	}
	if (!one) {
		records_begin(&records, group_columns, COLUMN_COUNT, &cli->arena);
		records.wraps = true;
		err = explain_targets(cli, &targets, &records);
	}
	if (err != ERR_NONE)
		return cli_fail(cli);
	print(cli, &records, one);
	return 0;
}
