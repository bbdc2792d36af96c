/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts what an act would change, from the rows of the jobs. The master decides for itself when the act is really
 * sent.
 */
#include "cli/commands/dry_run.h"

#include <inttypes.h>

#include "cli/ask/query.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/row_words.h"

bool dry_run_wanted(const struct cli *cli)
{
	for (const struct option_info *option = cli->invocation->command->options; option->id != OPT_none; option++)
		if (strcmp(option->word, "dry-run") == 0)
			return option_given(cli->invocation, option->id);
	return false;
}

static bool ended_badly(enum job_state state)
{
	return state_terminal(state) && state != STATE_SUCCEEDED && state != STATE_SKIPPED;
}

static bool would_change(const struct msg_act *act, const struct rec_job_row *job, bool run_held)
{
	enum job_state state = job_state_checked(job->state);

	switch ((enum act_verb)act->verb) {
	case ACT_RETRY:
		if (act->job.len > 0)
			return true;
		return act->value == RETRY_ALL ? state_terminal(state) : ended_badly(state);
	case ACT_HOLD:
		return !state_terminal(state) && !job->held && !run_held;
	case ACT_RELEASE:
		return !state_terminal(state) && (job->held || run_held);
	default:
		return !state_terminal(state);
	}
}

enum err dry_run_count(struct cli *cli, const struct msg_act *act, uint64_t *ret_count)
{
	const struct selector selector = { .run = act->run, .job = act->job };
	struct rec_job_row *jobs = NULL, job;
	struct rec_run_row run;
	size_t count = 0, named = 0;
	enum err err = cli_query_run(cli, act->run, &cli->arena, &run);

	*ret_count = 0;
	if (err == ERR_NONE)
		err = cli_query_jobs(cli, act->run, SIZE_MAX, &cli->arena, &jobs, &count);
	for (size_t i = 0; err == ERR_NONE && i < count; i++) {
		if (!selector_names(&selector, jobs[i].name))
			continue;
		named++;
		/* The run's own hold only matters for an act on the whole run. */
		*ret_count += would_change(act, &jobs[i], run.held && act->job.len == 0);
	}
	if (err == ERR_NONE && named == 0)
		/* cli_query_job makes the error for a name that no job has */
		err = cli_query_job(cli, &selector, &cli->arena, &job);
	return err;
}

void dry_run_tell(struct cli *cli, uint64_t count, const char *noun, const char *what)
{
	if (cli->settings.style == STYLE_HUMAN)
		cli_note(cli, "dry run: %" PRIu64 " %s%s would be %s; nothing was changed", count, noun, count == 1 ? "" : "s", what);
}
