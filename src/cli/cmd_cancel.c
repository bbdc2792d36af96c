/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan cancel. What has ended already isn't an error when nothing was left to do for a whole run. */
#include <inttypes.h>

#include "cli/cli.h"
#include "cli/follow.h"

static enum err cancel_one(struct cli *cli, const char *text, const struct selector *selector)
{
	struct msg_act act = { .verb = ACT_CANCEL, .run = selector->run, .job = selector->job };
	struct msg_ok ok;
	enum err err = cli_call(cli, OP_ACT, &act, OP_OK, &cli->arena, &ok);

	if (err == ERR_NONE && cli_chatty(cli))
		cli_note(cli, "%s: %" PRIu64 " job%s cancelled or asked to end", text, ok.count,
			 ok.count == 1 ? "" : "s");
	return err;
}

int cmd_cancel(struct cli *cli)
{
	size_t count = cli->invocation->arg_count;
	struct selector *selectors = arena_zalloc(&cli->arena, count, sizeof(*selectors));
	uint64_t *runs = arena_zalloc(&cli->arena, count, sizeof(*runs));
	enum run_state *states = arena_zalloc(&cli->arena, count, sizeof(*states));

	if (cli_connect(cli) != ERR_NONE)
		return cli_fail(cli);
	/* All are understood before the first one is cancelled. */
	for (size_t i = 0; i < count; i++)
		if (cli_select(cli, cli->invocation->args[i], &selectors[i]) != ERR_NONE)
			return cli_fail(cli);
	for (size_t i = 0; i < count; i++) {
		runs[i] = selectors[i].run;
		if (cancel_one(cli, cli->invocation->args[i], &selectors[i]) != ERR_NONE)
			return cli_fail(cli);
	}
	if (option_given(cli->invocation, OPT_cancel_wait) && wait_runs(cli, runs, count, states) != ERR_NONE)
		return cli_fail(cli);
	return 0;
}
