/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan cancel. What has ended already is told and keeps nobody from cancelling the rest. */
#include "cli/act.h"
#include "cli/follow.h"

int cmd_cancel(struct cli *cli)
{
	const struct msg_act act = { .verb = ACT_CANCEL };
	enum run_state *states;
	struct targets targets;
	size_t count = 0;
	uint64_t *runs;
	int status;

	if (act_targets(cli, REACH_LIVE, &targets) != ERR_NONE)
		return cli_fail(cli);
	status = act_each(cli, &targets, &act, "cancelled or asked to end");
	if (err_again(cli->error.code) || !option_given(cli->invocation, OPT_cancel_wait))
		return status;
	runs = arena_zalloc(&cli->arena, targets.count + 1, sizeof(*runs));
	states = arena_zalloc(&cli->arena, targets.count + 1, sizeof(*states));
	for (size_t i = 0; i < targets.count; i++)
		if (count == 0 || runs[count - 1] != targets.at[i].run)
			runs[count++] = targets.at[i].run;
	return wait_runs(cli, runs, count, states) == ERR_NONE ? status : cli_fail(cli);
}
