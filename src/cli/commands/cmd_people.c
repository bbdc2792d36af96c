/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan approve, reject, pushback, settle: the answers of people. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/commands/act.h"
#include "cli/commands/command.h"
#include "cli/commands/decisions.h"
#include "cli/commands/listing.h"
#include "cli/commands/approvals.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "proto/limits.h"

#define UNBLOCKS_TOLD 3                  /* most unblocked jobs named before a decision */

static enum err usage(struct cli *cli, const char *what, const char *next)
{
	error_set(&cli->error, ERR_USAGE, "%s", what);
	return error_next(&cli->error, "%s", next);
}

static enum err read_digest(struct cli *cli, const char *text, struct msg_act *act)
{
	size_t len = strlen(text);
	uint8_t *bytes = arena_zalloc(&cli->arena, len / 2 + 1, 1);

	if (len < 16 || len > 64 || !hex_bytes(slice_str(text), bytes))
		return error_set(&cli->error, ERR_USAGE, "--digest must have 16 to 64 hex digits, as titan approvals "
			"--json shows");
	act->digest = slice_make(bytes, len / 2);
	return ERR_NONE;
}

/* Read the values for the fields of gates. */
static void read_given(struct cli *cli, struct msg_act *act)
{
	const struct invocation *invocation = cli->invocation;

	act->given.at = arena_zalloc(&cli->arena, invocation->option_count + 1, sizeof(*act->given.at));
	for (size_t i = 0; i < invocation->option_count; i++)
		if (invocation->options[i].id == OPT_approve_set)
			act->given.at[act->given.n++] = slice_str(invocation->options[i].value);
}

/*
 * Show the gate that is about to be decided, and put its digest into the act, so that the master can check what the
 * person has seen.
 */
static enum err show_gate(struct cli *cli, struct msg_act *act)
{
	const struct selector selector = { .run = act->run, .job = act->job };
	struct buf text = { 0 };
	struct rec_job_row job;
	enum err err = cli_query_job(cli, &selector, &cli->arena, &job);

	if (err != ERR_NONE)
		return err;
	act->digest = job.digest;
	if (job.digest.len == 0)
		/* An invented digest that never matches, so that the master refuses and says what the job is. */
		act->digest = slice_str("no gate!");
	if (!cli_chatty(cli) || job.digest.len == 0)
		return ERR_NONE;
	text_escape(&text, job.gate_message, TEXT_KEEP_NONE);
	if (text.len > 0)
		cli_note(cli, "%s", buf_cstr(&text));
	for (size_t i = 0; i < job.unblocks.n && i < UNBLOCKS_TOLD; i++) {
		buf_clear(&text);
		text_escape(&text, job.unblocks.at[i], TEXT_KEEP_NONE);
		buf_add_str(&text, ": ");
		text_escape(&text, i < job.will.n ? job.will.at[i] : slice_make(NULL, 0), TEXT_KEEP_NONE);
		cli_note(cli, "  unblocks %s", buf_cstr(&text));
	}
	if (job.unblocks.n > UNBLOCKS_TOLD)
		cli_note(cli, "  and more: titan show %" PRIu64 "/%.*s", act->run, (int)act->job.len,
			 (const char *)act->job.data);
	buf_free(&text);
	return ERR_NONE;
}

static enum err read_reason(struct cli *cli, const char *reason, const char *missing, const char *next,
			    struct msg_act *act)
{
	act->text = slice_str(reason);
	if (missing && act->text.len == 0)
		return usage(cli, missing, next);
	if (act->text.len > LIMIT_REASON_MAX)
		return error_set(&cli->error, ERR_USAGE, "--message may have at most %d bytes", LIMIT_REASON_MAX);
	return ERR_NONE;
}

static enum err select_job(struct cli *cli, struct msg_act *act)
{
	enum err err = act_select(cli, act);

	if (err != ERR_NONE || act->job.len > 0)
		return err;
	error_set(&cli->error, ERR_USAGE, "'%s' is a run; name one of its jobs, such as 4127/qa",
		  cli->invocation->args[0]);
	return error_next(&cli->error, "titan approvals");
}

static int decide(struct cli *cli, struct msg_act *act, const char *digest, const char *what)
{
	enum err err = select_job(cli, act);

	if (err == ERR_NONE)
		err = digest ? read_digest(cli, digest, act) : show_gate(cli, act);
	return err == ERR_NONE ? act_send(cli, act, what) : cli_fail(cli);
}

int cmd_approve(struct cli *cli)
{
	const char *word = cli->invocation->args[0], *digest = option_value(cli->invocation, OPT_approve_digest);
	struct msg_act act = { .verb = ACT_APPROVE };

	if (read_reason(cli, option_value(cli->invocation, OPT_approve_message), NULL, NULL, &act) != ERR_NONE)
		return cli_fail(cli);
	read_given(cli, &act);
	/* One gate by its full name is approved without a question. */
	if (cli->invocation->arg_count == 1 && strchr(word, '/') != NULL && strchr(word, '=') == NULL &&
	    !option_given(cli->invocation, OPT_approve_dry_run))
		return decide(cli, &act, digest, "approved");
	if (digest != NULL) {
		usage(cli, "--digest can be given for a single gate only", "titan approve RUN/JOB --digest HEX");
		return cli_fail(cli);
	}
	return approve_many(cli, &act);
}

int cmd_reject(struct cli *cli)
{
	struct msg_act act = { .verb = ACT_REJECT };

	/* A reason is required: the author of the rejected work has to know what is wrong. */
	if (read_reason(cli, option_value(cli->invocation, OPT_reject_message), "a rejection needs a reason",
			"titan reject RUN/JOB -m 'WHY'", &act) != ERR_NONE)
		return cli_fail(cli);
	return decide(cli, &act, option_value(cli->invocation, OPT_reject_digest), "rejected");
}

int cmd_pushback(struct cli *cli)
{
	struct msg_act act = { .verb = ACT_PUSHBACK };

	act.target = slice_str(option_value(cli->invocation, OPT_pushback_to));
	if (act.target.len == 0) {
		usage(cli, "name the job before the gate that is to run again", "titan pushback RUN/GATE --to JOB -m 'WHY'");
		return cli_fail(cli);
	}
	if (read_reason(cli, option_value(cli->invocation, OPT_pushback_message), "a push back needs a reason",
			"titan pushback RUN/GATE --to JOB -m 'WHY'", &act) != ERR_NONE)
		return cli_fail(cli);
	return decide(cli, &act, option_value(cli->invocation, OPT_pushback_digest), "scheduled to run again");
}

/* Find the unknown jobs of a fan-out. Any other name stays one target, so that the master says what is wrong with it. */
static enum err unknown_jobs(struct cli *cli, const struct selector *selector, struct targets *ret)
{
	struct rec_job_row *jobs;
	size_t count;
	enum err err = cli_query_jobs(cli, selector->run, SIZE_MAX, &cli->arena, &jobs, &count);

	if (err != ERR_NONE)
		return err;
	ret->at = arena_zalloc(&cli->arena, count + 1, sizeof(*ret->at));
	for (size_t i = 0; i < count; i++)
		if (jobs[i].state == STATE_UNKNOWN && selector_names(selector, jobs[i].name))
			ret->at[ret->count++] = (struct selector){ .run = selector->run, .job = jobs[i].name };
	if (ret->count == 0)
		ret->at[ret->count++] = *selector;
	return ERR_NONE;
}

int cmd_settle(struct cli *cli)
{
	static const char *const words[] = { [SETTLE_DONE] = "done", [SETTLE_FAILED] = "failed", [SETTLE_RETRY] = "retry" };
	const char *word = cli->invocation->args[1];
	struct msg_act act = { .verb = ACT_SETTLE };
	struct targets targets = { 0 };

	while (act.value <= SETTLE_RETRY && strcmp(words[act.value], word) != 0)
		act.value++;
	if (act.value > SETTLE_RETRY) {
		error_set(&cli->error, ERR_USAGE, "'%s' must be done, failed or retry", word);
		return cli_fail(cli);
	}
	if (read_reason(cli, option_value(cli->invocation, OPT_settle_message), "say how you know what became of the job: -m TEXT is kept with your name",
			"titan settle RUN/JOB done|failed|retry -m 'HOW YOU KNOW'", &act) != ERR_NONE ||
	    select_job(cli, &act) != ERR_NONE ||
	    unknown_jobs(cli, &(struct selector){ .run = act.run, .job = act.job }, &targets) != ERR_NONE)
		return cli_fail(cli);
	return act_each(cli, &targets, &act, "settled");
}
