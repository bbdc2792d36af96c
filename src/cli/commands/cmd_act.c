/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan retry, hold, release and priority, and the code that cancel shares with them: acts on runs and jobs. */
#include <inttypes.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/ask/targets.h"
#include "cli/commands/act.h"
#include "cli/commands/command.h"
#include "cli/commands/dry_run.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"

#define BULK_NAMED 5

static const struct column act_columns[] = {
	{ "target", "TARGET", false },
	{ "changed", "JOBS", true },
	{ "run", NULL, true },
	{ "job", NULL, false },
	{ "name", NULL, false },
	{ "dry_run", NULL, false },
};
const struct table act_table = TABLE_OF(act_columns);

void act_rows_begin(struct cli *cli, struct records *records)
{
	records_begin(records, act_columns, act_table.count, &cli->arena);
}

void act_rows_add(struct records *records, const struct msg_act *act, uint64_t changed, bool dry)
{
	const struct rec_job_row job = { .run = act->run, .name = act->job };
	struct slice address = job_address(&job, records->arena);

	/* Cut the slash off an address that names a whole run. */
	records_text(records, act->job.len > 0 ? address : slice_make(address.data, address.len - 1));
	records_number(records, changed);
	records_number(records, act->run);
	records_text(records, act->job.len > 0 ? address : slice_make(NULL, 0));
	records_text(records, act->job);
	records_bool(records, dry);
}

void act_rows_print(struct cli *cli, const struct records *records)
{
	struct buf out = { 0 };

	if (cli->settings.style == STYLE_HUMAN && !dry_run_wanted(cli))
		return;
	records_print(records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
}

/* Print what an act changed: data for programs, a line for people. The change is already durable at the master. */
static void tell(struct cli *cli, const struct msg_act *act, const char *what, uint64_t changed)
{
	struct buf target = { 0 }, shown = { 0 };

	buf_addf(&target, "%" PRIu64, act->run);
	if (act->job.len > 0)
		buf_add_byte(&target, '/');
	buf_add_slice(&target, act->job);
	text_escape(&shown, buf_slice(&target), TEXT_KEEP_NONE);
	/* Print "nothing changed" even if output isn't a terminal, because the user expected a change. */
	if (changed == 0 && (cli_chatty(cli) || cli->settings.style == STYLE_HUMAN))
		cli_note(cli, "%s: nothing changed, because no job was %s", buf_cstr(&shown), what);
	else if (cli_chatty(cli))
		cli_note(cli, "%s: %" PRIu64 " job%s %s", buf_cstr(&shown), changed, changed == 1 ? "" : "s", what);
	buf_free(&target);
	buf_free(&shown);
}

/* After a cancel: say how many final jobs still run. */
static void tell_left(struct cli *cli, uint64_t run, uint64_t left)
{
	if (left > 0 && cli->settings.style == STYLE_HUMAN && !cli->settings.quiet)
		cli_note(cli, "%" PRIu64 ": %" PRIu64 " job%s that run%s in any case may go on for a while; titan "
			"cancel %" PRIu64 " again ends %s, too", run, left, left == 1 ? "" : "s", left == 1 ? "s" : "", run, left == 1 ? "it" : "them");
}

static enum err check_format(struct cli *cli)
{
	struct records records;

	act_rows_begin(cli, &records);
	return records_check(&records, &cli->out, &cli->error);
}

/* Send the act, or only count what it would change. */
static enum err act_one(struct cli *cli, struct msg_act *act, const char *what, bool dry, struct records *records, uint64_t *sum)
{
	struct msg_ok ok = { 0 };
	enum err err = dry ? dry_run_count(cli, act, &ok.count) : cli_call(cli, OP_ACT, act, OP_OK, &cli->arena, &ok);

	if (err != ERR_NONE)
		return err;
	act_rows_add(records, act, ok.count, dry);
	*sum += ok.count;
	if (!dry) {
		tell(cli, act, what, ok.count);
		tell_left(cli, act->run, ok.left);
	}
	return ERR_NONE;
}

int act_each(struct cli *cli, const struct targets *targets, const struct msg_act *act, const char *what)
{
	return act_each_with(cli, targets, act, NULL, what);
}

int act_each_with(struct cli *cli, const struct targets *targets, const struct msg_act *act, const struct slice *digests,
		  const char *what)
{
	bool dry = dry_run_wanted(cli);
	struct records records;
	uint64_t sum = 0;
	int status = 0;

	act_rows_begin(cli, &records);
	for (size_t i = 0; i < targets->count; i++) {
		struct msg_act one = *act;
		int failed;

		one.run = targets->at[i].run;
		if (targets->at[i].job.len > 0)
			one.job = targets->at[i].job;
		if (digests)
			one.digest = digests[i];
		if (act_one(cli, &one, what, dry, &records, &sum) == ERR_NONE)
			continue;
		failed = cli_fail(cli);
		status = status != 0 ? status : failed;
		if (err_again(cli->error.code))
			break;
	}
	act_rows_print(cli, &records);
	if (dry && status == 0)
		dry_run_tell(cli, sum, "job", what);
	return status;
}

int act_send(struct cli *cli, struct msg_act *act, const char *what)
{
	const struct selector target = { .run = act->run, .job = act->job };
	struct targets targets = { .at = (struct selector *)&target, .count = 1 };

	return act_each(cli, &targets, act, what);
}

/* Count the jobs encode[0], encode[1] and so on. names: the first few names, for people. */
static enum err count_fan_out(struct cli *cli, const struct selector *selector, struct slice stem, size_t *ret_count,
			      struct buf *names)
{
	struct rec_job_row *jobs;
	size_t job_count, count = 0;
	enum err err = cli_query_jobs(cli, selector->run, SIZE_MAX, &cli->arena, &jobs, &job_count);

	for (size_t i = 0; err == ERR_NONE && i < job_count; i++) {
		struct slice name = jobs[i].name;

		if (name.len <= stem.len || memcmp(name.data, stem.data, stem.len) != 0 || name.data[stem.len] != '[')
			continue;
		if (count++ < BULK_NAMED) {
			buf_add_str(names, count > 1 ? ", " : "");
			text_escape(names, name, TEXT_KEEP_NONE);
		}
	}
	*ret_count = count;
	return err;
}

static enum err confirm_fan_out(struct cli *cli, const struct selector *selector)
{
	struct slice stem = selector->job;
	struct rec_job_row job;
	struct buf question = { 0 }, names = { 0 };
	size_t count = 0;
	enum err err;

	if (stem.len > 3 && memcmp(stem.data + stem.len - 3, "[*]", 3) == 0)
		stem.len -= 3;
	/*
	 * A complete name stands for one job and needs no question. If no job has the name, the master reports the
	 * error.
	 */
	if (cli->settings.yes || dry_run_wanted(cli) || stem.len == 0 || stem.data[stem.len - 1] == ']' ||
	    cli_query_job(cli, &(struct selector){ .run = selector->run, .job = stem }, &cli->arena, &job) != ERR_NOT_FOUND)
		return ERR_NONE;
	err = count_fan_out(cli, selector, stem, &count, &names);
	if (err == ERR_NONE && count > 0) {
		buf_addf(&question, "%s of %zu jobs (%s%s)", cli->invocation->command->verb, count,
			 buf_cstr(&names), count > BULK_NAMED ? ", ..." : "");
		err = cli_confirm(cli, buf_cstr(&question));
	}
	buf_free(&question);
	buf_free(&names);
	return err == ERR_NOT_FOUND ? ERR_NONE : err;
}

enum err act_select(struct cli *cli, struct msg_act *act)
{
	struct selector selector;
	enum err err = check_format(cli);

	if (err == ERR_NONE)
		err = cli_connect(cli);
	if (err == ERR_NONE)
		err = cli_select(cli, cli->invocation->args[0], &selector);
	if (err != ERR_NONE)
		return err;
	act->run = selector.run;
	act->job = selector.job;
	return confirm_fan_out(cli, &selector);
}

enum err act_targets(struct cli *cli, enum reach reach, enum option_id where, struct targets *ret)
{
	const struct invocation *invocation = cli->invocation;
	enum err err = check_format(cli);

	if (err == ERR_NONE)
		err = cli_connect(cli);
	if (err == ERR_NONE)
		err = cli_targets(cli, invocation->args, invocation->arg_count, reach, ret);
	if (err == ERR_NONE)
		err = targets_where(cli, where, reach, ret);
	if (err == ERR_NONE && !dry_run_wanted(cli))
		err = targets_confirm(cli, ret, invocation->command->verb);
	/* Check and confirm all targets before the first act is sent. */
	for (size_t i = 0; err == ERR_NONE && !ret->bulk && i < ret->count; i++)
		err = confirm_fan_out(cli, &ret->at[i]);
	return err;
}

static enum err read_scope(struct cli *cli, struct msg_act *act)
{
	const struct invocation *invocation = cli->invocation;
	const char *from = option_value(invocation, OPT_retry_from);
	const char *only = option_value(invocation, OPT_retry_only);
	bool failed = option_given(invocation, OPT_retry_failed);
	bool all = option_given(invocation, OPT_retry_all);

	if (failed + all + (from != NULL) + (only != NULL) > 1)
		return error_set(&cli->error, ERR_USAGE, "only one of --failed, --from, --only and --all can be given");
	if (act->job.len > 0 && (failed || all || from != NULL || only != NULL))
		return error_set(&cli->error, ERR_USAGE,
				 "--from, --only and --all need a run, not a job; a job without options is retried "
				 "with all that depends on it");
	if (from != NULL || only != NULL)
		act->job = slice_str(from ? from : only);
	if (act->job.len > 0)
		act->value = only ? RETRY_ONLY : RETRY_FROM;
	else
		act->value = all ? RETRY_ALL : RETRY_FAILED;
	return ERR_NONE;
}

int cmd_retry(struct cli *cli)
{
	struct msg_act act = { .verb = ACT_RETRY };
	struct targets targets;
	bool jobs = false, runs = false;

	if (act_targets(cli, REACH_BAD, OPT_retry_where, &targets) != ERR_NONE)
		return cli_fail(cli);
	for (size_t i = 0; i < targets.count; i++) {
		jobs = jobs || targets.at[i].job.len > 0;
		runs = runs || targets.at[i].job.len == 0;
	}
	if (jobs && runs) {
		error_set(&cli->error, ERR_USAGE, "give either runs or jobs to retry, not both in one command");
		return cli_fail(cli);
	}
	if (jobs)
		act.job = targets.at[0].job;
	return read_scope(cli, &act) == ERR_NONE ? act_each(cli, &targets, &act, "scheduled to run again") : cli_fail(cli);
}

static int act_all(struct cli *cli, enum act_verb verb, enum option_id where, const char *what)
{
	struct msg_act act = { .verb = verb };
	struct targets targets;

	return act_targets(cli, REACH_LIVE, where, &targets) == ERR_NONE ? act_each(cli, &targets, &act, what) : cli_fail(cli);
}

int cmd_hold(struct cli *cli)
{
	return act_all(cli, ACT_HOLD, OPT_hold_where, "held back");
}

int cmd_release(struct cli *cli)
{
	return act_all(cli, ACT_RELEASE, OPT_release_where, "let go");
}

int cmd_priority(struct cli *cli)
{
	struct msg_act act = { .verb = ACT_PRIORITY };

	if (parse_number(cli->invocation->args[1], "the priority", 0, 100, &act.value, &cli->error) != ERR_NONE ||
	    act_select(cli, &act) != ERR_NONE)
		return cli_fail(cli);
	return act_send(cli, &act, "changed");
}
