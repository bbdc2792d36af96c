/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan logs: the output of one job as it was written (logs_one.c), or lines of many jobs, each marked with its job
 * (logs_many.c). Options that select lines use logs_many.c for one job, too.
 */
#include <inttypes.h>

#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/logs_internal.h"
#include "cli/session/options.h"
#include "cli/session/output.h"

static enum err read_grep(struct cli *cli, const char *text, regex_t *regex)
{
	char why[128];
	int result = regcomp(regex, text, REG_EXTENDED);

	if (result == 0)
		return ERR_NONE;
	regerror(result, regex, why, sizeof(why));
	return error_set(&cli->error, ERR_USAGE, "--grep '%s' is no regular expression: %s", text, why);
}

static enum err read_options(struct cli *cli, struct logs_options *options)
{
	const struct invocation *invocation = cli->invocation;

	*options = (struct logs_options){
		.only_stdout = option_given(invocation, OPT_logs_stdout),
		.only_stderr = option_given(invocation, OPT_logs_stderr),
		.times = option_given(invocation, OPT_logs_time),
		.follow = option_given(invocation, OPT_logs_follow),
		.failed = option_given(invocation, OPT_logs_failed),
		.no_sub = option_given(invocation, OPT_logs_no_sub),
		.tail = UINT64_MAX, .since_ms = INT64_MIN,
	};
	if (option_number(invocation, OPT_logs_tail, 0, UINT32_MAX, &options->tail, &cli->error) != ERR_NONE ||
	    option_when(invocation, OPT_logs_since, &options->since_ms, &cli->error) != ERR_NONE)
		return cli->error.code;
	if (option_value(invocation, OPT_logs_try) && strcmp(option_value(invocation, OPT_logs_try), "all") == 0)
		options->try_no = TRY_ALL;
	else if (option_number(invocation, OPT_logs_try, 1, UINT16_MAX, &options->try_no, &cli->error) != ERR_NONE)
		return cli->error.code;
	if (options->try_no != 0 && options->follow)
		return error_set(&cli->error, ERR_USAGE, "-f follows the last try; leave out --try");
	if (options->only_stdout && options->only_stderr)
		return error_set(&cli->error, ERR_USAGE, "--stdout and --stderr exclude each other; give one of them, or "
			"none for both");
	if (cli->settings.style == STYLE_FORMAT)
		return error_set(&cli->error, ERR_USAGE, "lines of output have no columns for --format; use --json or --plain");
	return ERR_NONE;
}

/* Only one run can be followed. */
static enum err check_follow(struct cli *cli, const struct targets *targets)
{
	for (size_t i = 1; i < targets->count; i++) {
		if (targets->at[i].run == targets->at[0].run)
			continue;
		error_set(&cli->error, ERR_USAGE, "-f follows one run, but these are several");
		return error_next(&cli->error, "titan logs -f %" PRIu64, targets->at[0].run);
	}
	return ERR_NONE;
}

/* Do the targets stand for one job? A run with a single job counts as that job, whose name is then filled in. */
static enum err is_one(struct cli *cli, struct targets *targets, bool no_sub, bool *ret_one)
{
	struct msg_query query = { .what = QUERY_JOBS, .run = targets->at[0].run, .limit = 2 };
	struct selector *target = &targets->at[0];
	struct msg_snapshot page;
	enum err err;

	*ret_one = false;
	if (targets->count != 1 || targets->bulk)
		return ERR_NONE;
	if (target->job.len > 0)
		query = (struct msg_query){ .what = QUERY_JOB, .run = target->run, .job = target->job };
	err = cli_query(cli, query, &cli->arena, &page);
	if (err == ERR_NOT_FOUND && target->job.len > 0)
		return ERR_NONE;         /* a fan-out, or no such job: the rows of the run will tell */
	if (err == ERR_NONE && page.jobs.n == 1 && page.cursor == 0) {
		target->job = page.jobs.at[0].name;
		/* A job with a sub-run has no output itself: the jobs of the sub-run have it. */
		*ret_one = page.jobs.at[0].child_jobs == 0 || no_sub;
	}
	return err;
}

int cmd_logs(struct cli *cli)
{
	const struct invocation *invocation = cli->invocation;
	const char *grep = option_value(invocation, OPT_logs_grep);
	struct logs_options options;
	struct targets targets;
	regex_t regex;
	bool one = false;
	int status;

	if (read_options(cli, &options) != ERR_NONE || (grep && read_grep(cli, grep, &regex) != ERR_NONE))
		return cli_fail(cli);
	options.grep = grep ? &regex : NULL;
	if (cli_catch_signals(cli) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    cli_targets(cli, invocation->args, invocation->arg_count, REACH_EVERY, &targets) != ERR_NONE ||
	    (options.follow && check_follow(cli, &targets) != ERR_NONE) || is_one(cli, &targets, options.no_sub, &one) != ERR_NONE)
		status = cli_fail(cli);
	else if (one && !grep && !options.failed && options.try_no == 0 && options.since_ms == INT64_MIN && cli->out.style == STYLE_HUMAN)
		status = logs_one(cli, &options, &targets.at[0]);
	else
		status = logs_many(cli, &options, &targets);
	if (grep)
		regfree(&regex);
	return status;
}
