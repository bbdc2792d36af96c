/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan prune: removes ended runs for good, or only their logs. It first shows what would be removed. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/commands/command.h"
#include "cli/commands/prune.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "proto/resource.h"

static const struct column prune_columns[] = {
	{ "run_count", "runs", true },
	{ "job_count", "jobs", true },
	{ "log_bytes", "log_bytes", true },
	{ "kept_dead_letters", "kept_dead_letters", true },
	{ "kept_needed", "kept_needed", true },
	{ "history_turns", "history_turns", true },
	{ "past_turns", "past_turns", true },
	{ "acts", "acts", true },
	{ "dry_run", "dry_run", false },
};
const struct table prune_table = TABLE_OF(prune_columns);

static enum err read_size(const char *what, const char *text, uint64_t *ret, struct error *error)
{
	uint64_t bytes;

	if (!text)
		return ERR_NONE;
	if (strcmp(text, "0") != 0 && !resource_parse_size(slice_str(text), &bytes))
		return error_set(error, ERR_USAGE, "%s: expected a number of bytes, such as 500M or 20G, not '%s'", what, text);
	*ret = strcmp(text, "0") == 0 ? 1 : bytes + 1;
	return ERR_NONE;
}

static enum err read_span(const char *what, const char *text, uint64_t *ret, struct error *error)
{
	int64_t ms;
	enum err err;

	if (!text)
		return ERR_NONE;
	err = parse_span(text, what, &ms, error);
	if (err == ERR_NONE)
		*ret = (uint64_t)ms + 1;
	return err;
}

static enum err read_count(const char *what, const char *text, uint64_t *ret, struct error *error)
{
	uint64_t count;
	enum err err;

	if (!text)
		return ERR_NONE;
	err = parse_number(text, what, 0, INT64_MAX / 2, &count, error);
	if (err == ERR_NONE)
		*ret = count + 1;
	return err;
}

enum err prune_rules_read(const struct invocation *invocation, struct prune_rules *ret, struct error *error)
{
	struct prune_rules rules = {
		.every_ms = PRUNE_EVERY_MS, .past_ms = PAST_MS + 1, .past_bytes = PAST_BYTES + 1, .acts_ms = ACTS_MS + 1,
	};
	char what[SETTING_NAME_SIZE];
	const char *text;

	text = setting_value(invocation, OPT_master_keep_runs, CONF_keep_runs, what);
	if (read_count(what, text, &rules.keep, error) != ERR_NONE)
		return error->code;
	text = setting_value(invocation, OPT_master_keep_for, CONF_keep_for, what);
	if (read_span(what, text, &rules.older_ms, error) != ERR_NONE)
		return error->code;
	text = setting_value(invocation, OPT_master_keep_logs, CONF_keep_logs, what);
	if (read_size(what, text, &rules.log_bytes, error) != ERR_NONE)
		return error->code;
	text = setting_value(invocation, OPT_master_keep_history, CONF_keep_history, what);
	if (read_span(what, text, &rules.history_ms, error) != ERR_NONE)
		return error->code;
	text = setting_value(invocation, OPT_master_keep_past, CONF_keep_past, what);
	if (read_span(what, text, &rules.past_ms, error) != ERR_NONE)
		return error->code;
	text = setting_value(invocation, OPT_master_keep_past_size, CONF_keep_past_size, what);
	if (read_size(what, text, &rules.past_bytes, error) != ERR_NONE)
		return error->code;
	text = setting_value(invocation, OPT_master_keep_acts, CONF_keep_acts, what);
	if (read_span(what, text, &rules.acts_ms, error) != ERR_NONE)
		return error->code;
	if (interval_read(invocation, OPT_master_prune_every, CONF_prune_every, &rules.every_ms, error) != ERR_NONE)
		return error->code;
	if (rules.every_ms < 100)
		rules.every_ms = 100;
	*ret = rules;
	return ERR_NONE;
}

static enum err read_rule(struct cli *cli, struct msg_prune *ret)
{
	const struct invocation *invocation = cli->invocation;
	struct error *error = &cli->error;
	struct msg_prune rule = {
		.dead = option_given(invocation, OPT_prune_dead), .logs_only = option_given(invocation, OPT_prune_logs_only),
	};

	if (read_span("--older", option_value(invocation, OPT_prune_older), &rule.older_ms, error) != ERR_NONE ||
	    read_count("--keep", option_value(invocation, OPT_prune_keep), &rule.keep, error) != ERR_NONE ||
	    read_size("--size", option_value(invocation, OPT_prune_size), &rule.log_bytes, error) != ERR_NONE ||
	    read_span("--history", option_value(invocation, OPT_prune_history), &rule.history_ms, error) != ERR_NONE ||
	    read_size("--past-size", option_value(invocation, OPT_prune_past_size), &rule.past_bytes, error) != ERR_NONE ||
	    read_span("--acts", option_value(invocation, OPT_prune_acts), &rule.acts_ms, error) != ERR_NONE)
		return error->code;
	rule.past_ms = rule.history_ms;
	if (rule.older_ms + rule.keep + rule.log_bytes + rule.history_ms + rule.past_bytes + rule.acts_ms == 0) {
		error_set(error, ERR_USAGE, "give at least one rule for pruning: --older SPAN, --keep N, --size SIZE, --history SPAN, --past-size SIZE or"
			  " --acts SPAN");
		return error_next(error, "titan prune --older 30d -n");
	}
	*ret = rule;
	return ERR_NONE;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Write "12 runs of 340 jobs, with 52314 bytes of logs". */
static void add_what(struct buf *out, const struct msg_prune *rule, const struct rec_prune_sum *sum)
{
	buf_addf(out, "%s%" PRIu64 " run%s of %" PRIu64 " job%s, with %" PRIu64 " byte%s of logs",
		 rule->logs_only ? "the logs of " : "", sum->runs, plural(sum->runs), sum->jobs, plural(sum->jobs), sum->bytes,
		 plural(sum->bytes));
	if (sum->turns > 0)
		buf_addf(out, "; %" PRIu64 " turn%s of history", sum->turns, plural(sum->turns));
	if (sum->past > 0)
		buf_addf(out, "; what %" PRIu64 " turn%s changed", sum->past, plural(sum->past));
	if (sum->acts > 0)
		buf_addf(out, "; %" PRIu64 " act%s", sum->acts, plural(sum->acts));
}

static void note_first(struct cli *cli, const struct msg_snapshot *answer)
{
	struct buf line = { 0 };
	char when[CLOCK_TEXT_SIZE];

	for (size_t i = 0; i < answer->runs.n; i++) {
		const struct rec_run_row *run = &answer->runs.at[i];

		buf_addf(&line, "  %" PRIu64 " ", run->run);
		text_escape(&line, run->name, TEXT_KEEP_NONE);
		buf_addf(&line, ", ended %s", clock_format_utc(run->ended_ms, when));
		cli_note(cli, "%s", buf_cstr(&line));
		buf_clear(&line);
	}
	if (answer->pruned.at[0].runs > answer->runs.n)
		cli_note(cli, "  and %" PRIu64 " more", answer->pruned.at[0].runs - answer->runs.n);
	buf_free(&line);
}

static void note_kept(struct cli *cli, const struct rec_prune_sum *sum)
{
	if (sum->letters > 0)
		cli_note(cli, "kept: %" PRIu64 " run%s with dead letters (see titan dlq; --dead removes them, too)", sum->letters,
			 plural(sum->letters));
	if (sum->others > 0)
		cli_note(cli, "kept: %" PRIu64 " run%s that other runs, jobs or schedules still need", sum->others, plural(sum->others));
}

static void print_sum(struct cli *cli, const struct rec_prune_sum *sum, bool dry)
{
	struct records records;
	struct buf out = { 0 };

	if (cli->out.style == STYLE_HUMAN)
		return;
	records_begin(&records, prune_columns, prune_table.count, &cli->arena);
	records_number(&records, sum->runs);
	records_number(&records, sum->jobs);
	records_number(&records, sum->bytes);
	records_number(&records, sum->letters);
	records_number(&records, sum->others);
	records_number(&records, sum->turns);
	records_number(&records, sum->past);
	records_number(&records, sum->acts);
	records_bool(&records, dry);
	records_print_one(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
}

static enum err call(struct cli *cli, struct msg_prune *rule, struct msg_snapshot *ret_answer)
{
	enum err err = cli_call(cli, OP_PRUNE, rule, OP_SNAPSHOT, &cli->arena, ret_answer);

	if (err == ERR_NONE && ret_answer->pruned.n != 1)
		err = error_set(&cli->error, ERR_FRAME, "the master's answer has no result of the prune");
	return err;
}

/* Show what would be removed, and ask for a yes. */
static enum err look_first(struct cli *cli, const struct msg_prune *rule, bool dry, struct msg_snapshot *answer)
{
	struct msg_prune look = *rule;
	struct buf what = { 0 };
	enum err err;

	look.dry = true;
	err = call(cli, &look, answer);
	if (err != ERR_NONE)
		return err;
	add_what(&what, rule, &answer->pruned.at[0]);
	if (dry || !cli->settings.yes) {
		cli_note(cli, "would be removed: %s", buf_cstr(&what));
		note_first(cli, answer);
		note_kept(cli, &answer->pruned.at[0]);
	}
	if (!dry && (answer->pruned.at[0].runs > 0 || rule->history_ms + rule->past_bytes + rule->acts_ms > 0)) {
		struct buf question = { 0 };

		buf_addf(&question, "pruning %s", buf_cstr(&what));
		err = cli_confirm(cli, buf_cstr(&question));
		buf_free(&question);
	}
	buf_free(&what);
	return err;
}

int cmd_prune(struct cli *cli)
{
	bool dry = option_given(cli->invocation, OPT_prune_dry);
	struct msg_snapshot answer;
	struct msg_prune rule;
	struct records records;
	struct buf what = { 0 };

	records_begin(&records, prune_columns, prune_table.count, &cli->arena);
	if (read_rule(cli, &rule) != ERR_NONE || records_check(&records, &cli->out, &cli->error) != ERR_NONE ||
	    cli_connect(cli) != ERR_NONE)
		return cli_fail(cli);
	if ((dry || !cli->settings.yes) && look_first(cli, &rule, dry, &answer) != ERR_NONE)
		return cli_fail(cli);
	if (!dry && call(cli, &rule, &answer) != ERR_NONE)
		return cli_fail(cli);
	print_sum(cli, &answer.pruned.at[0], dry);
	if (dry)
		return 0;
	add_what(&what, &rule, &answer.pruned.at[0]);
	cli_note(cli, "pruned: %s", buf_cstr(&what));
	if (cli->settings.yes)
		note_kept(cli, &answer.pruned.at[0]);
	buf_free(&what);
	return 0;
}
