/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan undo: takes back one of the person's acts by sending the inverse act. */
#include <inttypes.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/dry_run.h"
#include "cli/commands/undo.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"

static const struct column undo_columns[] = {
	{ "act", "act", true },
	{ "verb", "act was", false },
	{ "target", "on", false },
	{ "before", "before", false },
	{ "after", "after", false },
	{ "changed", "changed", true },
	{ "dry_run", NULL, false },
};
const struct table undo_table = TABLE_OF(undo_columns);

/*
 * Find the person's act with this number, or with 0 the newest one. *ret_other: an older act that can be undone; 0:
 * none among the recent ones.
 */
static enum err find_act(struct cli *cli, uint64_t number, struct rec_act_row *ret, uint64_t *ret_other)
{
	struct msg_query query = { .what = QUERY_ACTS, .mine = true, .cursor = number > 0 ? number + 1 : 0 };
	struct msg_snapshot page;
	struct error why;
	struct undo undo;

	do {
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		query.cursor = page.cursor;
	} while (page.acts.n == 0 && query.cursor != 0);
	if (page.acts.n == 0 && number == 0)
		return error_set(&cli->error, ERR_NOT_FOUND, "none of your acts can be undone");
	if (page.acts.n == 0 || (number > 0 && page.acts.at[0].act != number)) {
		error_set(&cli->error, ERR_NOT_FOUND, "there is no act %" PRIu64 " of yours", number);
		return error_next(&cli->error, "titan history");
	}
	*ret = page.acts.at[0];
	*ret_other = 0;
	for (size_t i = 1; i < page.acts.n && *ret_other == 0; i++)
		if (undo_read(&page.acts.at[i], &undo, &why) == ERR_NONE)
			*ret_other = page.acts.at[i].act;
	return ERR_NONE;
}

/* "act 12 (hold run 4)" */
static void add_act(const struct rec_act_row *act, struct buf *out)
{
	buf_addf(out, "act %" PRIu64 " (", act->act);
	text_escape(out, act->verb, TEXT_KEEP_NONE);
	buf_add_byte(out, ' ');
	text_escape(out, act->target, TEXT_KEEP_NONE);
	buf_add_byte(out, ')');
}

/* Put the act before the reason in cli->error, and fail. */
static int refuse(struct cli *cli, const struct rec_act_row *act, uint64_t other)
{
	struct error why = cli->error;
	struct buf text = { 0 };

	if (err_again(why.code))
		return cli_fail(cli);
	buf_addf(&text, "act %" PRIu64 " (%.*s %.*s)", act->act, (int)act->verb.len, (const char *)act->verb.data,
		 (int)act->target.len, (const char *)act->target.data);
	error_set(&cli->error, why.code, "%s can't be undone: %s", buf_cstr(&text), why.text);
	if (other > 0)
		error_next(&cli->error, "titan undo %" PRIu64, other);
	else
		error_next(&cli->error, "titan history");
	buf_free(&text);
	return cli_fail(cli);
}

static enum err send_inverse(struct cli *cli, struct undo *undo, uint64_t *ret_changed)
{
	struct msg_ok ok = { 0 };
	enum err err;

	if (!undo->of_run) {
		err = cli_call(cli, OP_SET, &undo->set, OP_OK, &cli->arena, &ok);
		*ret_changed = ok.count;
		return err;
	}
	err = cli_call(cli, OP_ACT, &undo->step, OP_OK, &cli->arena, &ok);
	*ret_changed = ok.count;
	return err;
}

static void print_row(struct cli *cli, const struct rec_act_row *act, uint64_t changed, bool dry, struct records *records)
{
	struct buf out = { 0 };

	records_number(records, act->act);
	records_text(records, act->verb);
	records_text(records, act->target);
	/* An undo is an act of its own: the state after the first act is the state before this one. */
	records_text(records, act->after);
	records_text(records, act->before);
	if (dry)
		records_none(records);
	else
		records_number(records, changed);
	records_bool(records, dry);
	records_print_one(records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
}

/* "act 12 (hold run 4): held -> free" */
static void tell(struct cli *cli, const struct rec_act_row *act, bool dry)
{
	struct buf text = { 0 };

	buf_add_str(&text, dry ? "dry run: would undo " : "takes back ");
	add_act(act, &text);
	buf_add_str(&text, ": ");
	text_escape(&text, act->after.len > 0 ? act->after : slice_str("none"), TEXT_KEEP_NONE);
	buf_add_str(&text, " -> ");
	text_escape(&text, act->before.len > 0 ? act->before : slice_str("none"), TEXT_KEEP_NONE);
	cli_note(cli, "%s%s", buf_cstr(&text), dry ? "; nothing was changed" : "");
	buf_free(&text);
}

int cmd_undo(struct cli *cli)
{
	bool dry = dry_run_wanted(cli), human = cli->settings.style == STYLE_HUMAN;
	uint64_t number = 0, other = 0, changed = 0;
	struct records records;
	struct rec_act_row act;
	struct undo undo;

	records_begin(&records, undo_columns, undo_table.count, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE ||
	    (cli->invocation->arg_count > 0 &&
	     parse_number(cli->invocation->args[0], "the number of the act", 1, INT64_MAX - 1, &number, &cli->error) != ERR_NONE) ||
	    cli_connect(cli) != ERR_NONE || find_act(cli, number, &act, &other) != ERR_NONE)
		return cli_fail(cli);
	if (undo_read(&act, &undo, &cli->error) != ERR_NONE || undo_check(cli, &undo) != ERR_NONE)
		return refuse(cli, &act, number == 0 ? other : 0);
	if (human && (dry || !cli->settings.quiet))
		tell(cli, &act, dry);
	if (!dry && send_inverse(cli, &undo, &changed) != ERR_NONE)
		return refuse(cli, &act, 0);
	if (!human)
		print_row(cli, &act, changed, dry, &records);
	return 0;
}
