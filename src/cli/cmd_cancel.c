/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan cancel. What has ended already is told and keeps nobody from cancelling the rest. */
#include <inttypes.h>

#include "cli/act.h"
#include "cli/cli.h"
#include "cli/follow.h"

static const struct column cancel_columns[] = {
	{ "run", "RUN", true },
	{ "job", "JOB", false },
	{ "cancelled", "CANCELLED", true },
};

static enum err cancel_one(struct cli *cli, const char *text, const struct selector *selector,
			   struct records *records)
{
	struct msg_act act = { .verb = ACT_CANCEL, .run = selector->run, .job = selector->job };
	struct msg_ok ok;
	enum err err = cli_call(cli, OP_ACT, &act, OP_OK, &cli->arena, &ok);

	if (err != ERR_NONE)
		return err;
	records_number(records, selector->run);
	records_text(records, selector->job);
	records_number(records, ok.count);
	if (cli_chatty(cli))
		cli_note(cli, "%s: %" PRIu64 " job%s cancelled or asked to end", text, ok.count,
			 ok.count == 1 ? "" : "s");
	return ERR_NONE;
}

int cmd_cancel(struct cli *cli)
{
	size_t count = cli->invocation->arg_count;
	struct selector *selectors = arena_zalloc(&cli->arena, count, sizeof(*selectors));
	uint64_t *runs = arena_zalloc(&cli->arena, count, sizeof(*runs));
	enum run_state *states = arena_zalloc(&cli->arena, count, sizeof(*states));
	struct records records;
	struct buf out = { 0 };
	int status = 0;

	records_begin(&records, cancel_columns, 3, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE)
		return cli_fail(cli);
	/* All are understood before the first one is cancelled. */
	for (size_t i = 0; i < count; i++)
		if (cli_select(cli, cli->invocation->args[i], &selectors[i]) != ERR_NONE)
			return cli_fail(cli);
	for (size_t i = 0; i < count; i++)
		if (act_confirm(cli, &selectors[i]) != ERR_NONE)
			return cli_fail(cli);
	for (size_t i = 0; i < count; i++) {
		enum err err = cancel_one(cli, cli->invocation->args[i], &selectors[i], &records);

		runs[i] = selectors[i].run;
		if (err == ERR_NONE)
			continue;
		status = status == 0 ? cli_fail(cli) : (cli_fail(cli), status);
		if (err_again(err))
			break;
	}
	if (cli->out.style != STYLE_HUMAN) {
		records_print(&records, &cli->out, &out);
		cli_print(cli, &out);
	}
	buf_free(&out);
	if (err_again(cli->error.code))
		return status;
	if (option_given(cli->invocation, OPT_cancel_wait) && wait_runs(cli, runs, count, states) != ERR_NONE)
		return cli_fail(cli);
	return status;
}
