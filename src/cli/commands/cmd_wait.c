/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan wait and watch: wait until runs have ended. */
#include <inttypes.h>

#include "base/clock.h"
#include "cli/ask/ask.h"
#include "cli/ask/select.h"
#include "cli/ask/targets.h"
#include "cli/commands/command.h"
#include "cli/follow/exit_status.h"
#include "cli/follow/failures.h"
#include "cli/follow/follow.h"
#include "cli/follow/wait.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"

static const struct column wait_columns[] = {
	{ "run", "ID", true },
	{ "state", "STATE", false },
};
const struct table wait_table = TABLE_OF(wait_columns);

static void note_running(struct cli *cli, const uint64_t *runs, const enum run_state *states, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (run_state_terminal(states[i]))
			continue;
		cli_note(cli, "still running: titan watch %" PRIu64 ", stop: titan cancel %" PRIu64, runs[i], runs[i]);
		break;
	}
}

/* Find the runs that the arguments select, each once. */
static enum err read_runs(struct cli *cli, uint64_t **ret_runs, size_t *ret_count)
{
	const struct invocation *invocation = cli->invocation;
	struct targets targets;
	size_t count = 0;
	enum err err = cli_targets(cli, invocation->args, invocation->arg_count, REACH_EVERY, &targets);
	uint64_t *runs = err == ERR_NONE ? arena_zalloc(&cli->arena, targets.count, sizeof(*runs)) : NULL;

	for (size_t i = 0; err == ERR_NONE && i < targets.count; i++) {
		if (targets.at[i].job.len > 0 && !targets.bulk)
			return error_set(&cli->error, ERR_USAGE, "'%s' is a job, but a run is needed here", invocation->args[i]);
		if (!targets.bulk || count == 0 || runs[count - 1] != targets.at[i].run)
			runs[count++] = targets.at[i].run;
	}
	*ret_runs = runs;
	*ret_count = count;
	return err;
}

int cmd_wait(struct cli *cli)
{
	enum run_state *states;
	uint64_t *runs = NULL;
	size_t count = 0;
	struct records records;
	struct buf out = { 0 };
	int status = 0;
	enum err err;

	/* With --timeout 0 the command looks only once; the query itself must not time out. */
	if (cli->settings.timeout_ms == 0)
		cli->deadline_ns = TIME_NEVER;
	records_begin(&records, wait_columns, 2, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE)
		return cli_fail(cli);
	if (read_runs(cli, &runs, &count) != ERR_NONE)
		return cli_fail(cli);
	states = arena_zalloc(&cli->arena, count, sizeof(*states));
	err = wait_runs(cli, runs, count, states);
	if (err != ERR_NONE && err != ERR_PENDING) {
		if (err == ERR_INTERRUPTED)
			cli->error.text[0] = '\0';       /* Ctrl-C needs no message */
		status = cli_fail(cli);
		if (err == ERR_INTERRUPTED || err == ERR_TIMEOUT)
			note_running(cli, runs, states, count);
		return status;
	}
	for (size_t i = 0; i < count; i++) {
		records_number(&records, runs[i]);
		records_state(&records, run_state_info(states[i]), run_state_name(states[i]));
		if (run_state_terminal(states[i]) && states[i] != RUN_SUCCEEDED)
			status = run_exit_status(cli, runs[i], states[i]);
		if (states[i] == RUN_FAILED)
			tell_failures(cli, runs[i]);
	}
	if (err == ERR_PENDING)
		status = err_exit_status(ERR_PENDING);
	if (!cli->settings.quiet && (cli->out.terminal || cli->out.style != STYLE_HUMAN)) {
		records_print(&records, &cli->out, &out);
		cli_print(cli, &out);
	}
	buf_free(&out);
	return status;
}

int cmd_watch(struct cli *cli)
{
	uint64_t run;

	if (cli_connect(cli) != ERR_NONE || cli_select_run(cli, cli->invocation->args[0], &run) != ERR_NONE)
		return cli_fail(cli);
	return follow_command(cli, run, FOLLOW_CHANGES);
}
