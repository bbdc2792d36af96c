/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns the end of a run into an exit status, with queries to the master for the rows that decide. */
#include "cli/follow/exit_status.h"

#include <errno.h>

#include "cli/ask/query.h"
#include "cli/session/options.h"
#include "cli/show/row_words.h"

#define EXIT_NOT_STARTED 126             /* the status with which a shell reports a command that it can't start */
#define EXIT_NOT_FOUND 127

int failed_run_status(const struct rec_run_row *run, const struct rec_job_row *jobs, size_t job_count)
{
	uint64_t counts[STATE_COUNT] = { 0 };
	bool denied, bad;

	for (size_t i = 0; i < run->counts.n && i < STATE_COUNT; i++)
		counts[i] = run->counts.at[i];
	for (size_t i = 0; i < job_count; i++)
		if (jobs[i].forgiven && counts[job_state_checked(jobs[i].state)] > 0)
			counts[job_state_checked(jobs[i].state)]--;
	denied = counts[STATE_DENIED] > 0;
	bad = counts[STATE_FAILED] + counts[STATE_TIMED_OUT] + counts[STATE_QUARANTINED] > 0;
	return err_exit_status(denied && !bad ? ERR_DENIED : ERR_JOB_FAILED);
}

int first_exit_code(const struct rec_job_row *jobs, size_t job_count)
{
	const struct rec_job_row *first = NULL;

	for (size_t i = 0; i < job_count; i++)
		if (jobs[i].state == STATE_FAILED && !jobs[i].forgiven &&
		    (jobs[i].outcome == OUTCOME_EXIT || jobs[i].outcome == OUTCOME_SIGNAL || outcome_is_no_start(jobs[i].outcome)) &&
		    (first == NULL || jobs[i].ended_ms < first->ended_ms))
			first = &jobs[i];
	if (first == NULL || first->code == 0 || first->code > 255)
		return 0;
	if (outcome_is_no_start(first->outcome))
		return first->outcome == OUTCOME_SPAWN && first->code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_STARTED;
	return first->outcome == OUTCOME_SIGNAL ? 128 + (int)(first->code & 127) : (int)first->code;
}

/* The status of a failed run without --propagate. Jobs are queried only if some failures are forgiven. */
static int plain_status(struct cli *cli, uint64_t run)
{
	struct rec_job_row *jobs = NULL;
	struct rec_run_row row;
	size_t count = 0;

	if (cli_query_run(cli, run, &cli->arena, &row) != ERR_NONE ||
	    (row.forgiven > 0 && cli_query_jobs(cli, run, SIZE_MAX, &cli->arena, &jobs, &count) != ERR_NONE))
		return err_exit_status(ERR_JOB_FAILED);
	return failed_run_status(&row, jobs, count);
}

int run_exit_status(struct cli *cli, uint64_t run, enum run_state state)
{
	struct rec_job_row *jobs;
	size_t count;
	int code;

	if (state == RUN_SUCCEEDED)
		return 0;
	if (state != RUN_FAILED)
		return err_exit_status(ERR_JOB_FAILED);
	if (option_given(cli->invocation, OPT_run_propagate) &&
	    cli_query_jobs(cli, run, SIZE_MAX, &cli->arena, &jobs, &count) == ERR_NONE) {
		code = first_exit_code(jobs, count);
		if (code != 0)
			return code;
	}
	return plain_status(cli, run);
}
