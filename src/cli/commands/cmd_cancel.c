/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan cancel. A target that has already ended is reported; the others are cancelled all the same. */
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/ask/targets.h"
#include "cli/commands/act.h"
#include "cli/commands/command.h"
#include "cli/commands/dry_run.h"
#include "cli/follow/wait.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/row_words.h"

#define LOOK_AGAIN_MS 100
#define RECONNECT_MS 60000

/* Have all jobs of the target ended? A name without jobs counts as ended, because it was reported before. */
static enum err look(struct cli *cli, const struct selector *selector, bool *ret_ended)
{
	struct arena arena = { 0 };
	struct rec_job_row *jobs, job;
	size_t count = 0;
	enum err err = cli_query_job(cli, selector, &arena, &job);

	*ret_ended = err != ERR_NONE || state_terminal(job_state_checked(job.state));
	if (err == ERR_NOT_FOUND)
		err = cli_query_jobs(cli, selector->run, SIZE_MAX, &arena, &jobs, &count);
	for (size_t i = 0; err == ERR_NONE && i < count; i++)
		if (selector_names(selector, jobs[i].name) && !state_terminal(job_state_checked(jobs[i].state)))
			*ret_ended = false;
	arena_free(&arena);
	return err == ERR_NOT_FOUND ? ERR_NONE : err;
}

/* Wait for a job by repeated queries: there is no subscription to single jobs of several runs. */
static enum err wait_job(struct cli *cli, const struct selector *selector)
{
	enum err err = cli_catch_signals(cli);
	bool ended = false;

	while (err == ERR_NONE && !ended) {
		err = look(cli, selector, &ended);
		if (err == ERR_UNREACHABLE)
			err = cli_reconnect(cli, RECONNECT_MS);
		else if (err == ERR_NONE && !ended)
			err = cli_pause(cli, LOOK_AGAIN_MS);
	}
	return err;
}

static enum err wait_targets(struct cli *cli, const struct targets *targets)
{
	uint64_t *runs = arena_zalloc(&cli->arena, targets->count + 1, sizeof(*runs));
	enum run_state *states = arena_zalloc(&cli->arena, targets->count + 1, sizeof(*states));
	enum err err = ERR_NONE;
	size_t count = 0;

	for (size_t i = 0; i < targets->count; i++)
		if (targets->at[i].job.len == 0)
			runs[count++] = targets->at[i].run;
	if (count > 0)
		err = wait_runs(cli, runs, count, states);
	for (size_t i = 0; i < targets->count && err == ERR_NONE; i++)
		if (targets->at[i].job.len > 0)
			err = wait_job(cli, &targets->at[i]);
	return err;
}

int cmd_cancel(struct cli *cli)
{
	struct msg_act act = { .verb = ACT_CANCEL };
	struct targets targets;
	int status;

	if (option_given(cli->invocation, OPT_cancel_all))
		act.value = CANCEL_ALL;
	if (act_targets(cli, REACH_LIVE, OPT_cancel_where, &targets) != ERR_NONE)
		return cli_fail(cli);
	status = act_each(cli, &targets, &act, "cancelled or told to end");
	if (err_again(cli->error.code) || dry_run_wanted(cli) || !option_given(cli->invocation, OPT_cancel_wait))
		return status;
	return wait_targets(cli, &targets) == ERR_NONE ? status : cli_fail(cli);
}
