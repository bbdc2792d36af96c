/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan explain: shows why a job is in its state (the master says that), and which command would change it. */
#include <inttypes.h>

#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/commands/command.h"
#include "cli/commands/decisions.h"
#include "cli/session/output.h"
#include "cli/show/next_step.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "proto/dead.h"
#include "proto/reasons.h"

#define FAN_SHOWN 10                     /* most jobs explained of a fan-out */

static const struct column explain_columns[] = {
	{ "address", "job", false },
	{ "state", "state", false },
	{ "why", "why", false },
	{ "cause", "cause", false },
	{ "next", "next", false },
	{ "reason", "reason", false },
	{ "run", NULL, false },
	{ "name", NULL, false },
};

/* The text for an ended job's state. Some jobs never ran or weren't retried: the state's usual text would be wrong. */
static const char *end_fact(const struct rec_job_row *job, enum job_state state)
{
	bool ran = job->outcome == OUTCOME_EXIT || job->outcome == OUTCOME_SIGNAL || job->outcome == OUTCOME_SPAWN;

	if (state == STATE_TIMED_OUT && job->tries == 0)
		return "the job ran out of time before it started";
	if (state == STATE_CANCELLED && job->tries == 0)
		return "somebody cancelled it before it started";
	if (state == STATE_CANCELLED && job->outcome == OUTCOME_LOST)
		return "somebody cancelled it; its worker was lost, so its process may still be running";
	if (state == STATE_FAILED && job->crash_limit > 0 && job->crashes >= job->crash_limit)
		return dead_text(DEAD_CRASH_LIMIT);
	if (state == STATE_FAILED && ran && job->tries > job->crashes + job->interrupted &&
	    job->tries - job->crashes - job->interrupted <= job->retry_max)
		return "its retry policy doesn't cover this kind of failure";
	return state_table[state].fact;
}

/* Explain in words how the job ended. */
static struct slice end_text(const struct rec_job_row *job, struct arena *arena)
{
	enum job_state state = job_state_checked(job->state);
	struct slice outcome = job_outcome_text(job, arena);
	struct buf text = { 0 };
	struct slice copy;

	if (job->ended_by == EVENT_EXPIRED || job->ended_by == EVENT_PERSON_DONE || job->ended_by == EVENT_PERSON_FAILED)
		buf_addf(&text, "%s%s", event_texts[job->ended_by],
			 job->ended_by == EVENT_EXPIRED && state == STATE_SUCCEEDED ? ", which means approved" : "");
	else if (job->ended_by == EVENT_ENOUGH)
		buf_addf(&text, "%s: pass %" PRIu64 " of %" PRIu64 ", until %.*s", event_texts[EVENT_ENOUGH], job->pass,
			 job->loop_max, (int)job->loop_until.len, (const char *)job->loop_until.data);
	else if (state == STATE_CANCELLED && job->cause != 0)
		buf_add_str(&text, "another job of its fan-out failed, so the others were cancelled");
	else
		buf_add_str(&text, end_fact(job, state));
	if (job_stop_text(job).len > 0)
		buf_addf(&text, ": %s", event_texts[job->stop_cause]);
	if (outcome.len > 0 && state != STATE_SUCCEEDED) {
		buf_add_str(&text, " (");
		buf_add_slice(&text, outcome);
		buf_addf(&text, ", %" PRIu64 " tr%s)", job->tries, job->tries == 1 ? "y" : "ies");
	}
	if (job->interrupted > 0)
		buf_addf(&text, "; %" PRIu64 " %s", job->interrupted, job->interrupted == 1 ?
			 "earlier attempt was ended by its worker" : "earlier attempts were ended by their workers");
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

/* Say who rejected a gate, and why. */
static enum err refusal_text(struct cli *cli, const struct rec_job_row *job, struct slice *ret)
{
	const struct selector selector = { .run = job->run, .job = job->name };
	struct rec_decision *decided;
	size_t count;
	enum err err = decisions_of(cli, &selector, &decided, &count);

	if (err == ERR_NONE && count > 0)
		*ret = decision_text(&decided[0], &cli->arena);          /* the newest comes first */
	return err;
}

static enum err add_row(struct cli *cli, struct records *records, const struct rec_job_row *job)
{
	enum job_state state = job_state_checked(job->state);
	struct rec_job_row *jobs = NULL;
	struct slice cause = slice_make(NULL, 0);
	size_t job_count = 0;
	enum err err = ERR_NONE;

	/* The names of the job's cause and of the jobs that it waits for are in the rows of those jobs. */
	if (job->cause != 0 || job->why_code == REASON_WAITS_FOR_DEPENDENCY)
		err = cli_query_jobs(cli, job->run, SIZE_MAX, &cli->arena, &jobs, &job_count);
	if (err == ERR_NONE && state == STATE_DENIED)
		err = refusal_text(cli, job, &cause);
	else if (err == ERR_NONE && state_terminal(state) && state != STATE_TIMED_OUT)
		cause = job_cause_text(job, jobs, job_count, &cli->arena);
	if (err != ERR_NONE)
		return err;
	records_text(records, job_address(job, &cli->arena));
	records_state(records, job_look(job), state_table[state].name);
	records_text(records, job->why.len && !state_terminal(state) ? job->why : end_text(job, &cli->arena));
	records_text(records, cause);
	records_text(records, explain_next(job, jobs, job_count, &cli->arena));
	records_text(records, slice_str(reason_name(job->condition_false ? REASON_CONDITION :
						      job->why_code ? job->why_code : REASON_ENDED)));
	records_number(records, job->run);
	records_text(records, job->name);
	return ERR_NONE;
}

/*
 * Explain the first few jobs of a fan-out that haven't succeeded. If there is no such fan-out, keep the earlier error.
 */
static enum err explain_fan(struct cli *cli, const struct selector *selector, struct records *records)
{
	struct slice stem = selector->job;
	struct rec_job_row *jobs, row;
	size_t job_count, members = 0, open = 0;
	struct error why = cli->error;
	enum err err = cli_query_jobs(cli, selector->run, SIZE_MAX, &cli->arena, &jobs, &job_count);

	for (size_t i = 0; err == ERR_NONE && i < job_count; i++) {
		struct slice name = jobs[i].name;

		if (name.len <= stem.len + 2 || memcmp(name.data, stem.data, stem.len) != 0 || name.data[stem.len] != '[')
			continue;
		members++;
		if (jobs[i].state == STATE_SUCCEEDED || open++ >= FAN_SHOWN)
			continue;
		err = explain_ask(cli, &(struct selector){ .run = selector->run, .job = name }, &cli->arena, &row);
		if (err == ERR_NONE)
			err = add_row(cli, records, &row);
	}
	if (err != ERR_NONE || members == 0) {
		cli->error = err != ERR_NONE ? cli->error : why;
		return err != ERR_NONE ? err : why.code;
	}
	cli_note(cli, "%zu of %zu jobs of this fan-out haven't succeeded%s", open, members,
		 open > FAN_SHOWN ? "; the first of them:" : "");
	return ERR_NONE;
}

static enum err explain_into(struct cli *cli, const struct selector *selector, struct records *records, bool *ret_fan)
{
	struct rec_job_row job;
	enum err err = explain_ask(cli, selector, &cli->arena, &job);

	*ret_fan = err == ERR_NOT_FOUND;
	if (err == ERR_NOT_FOUND)
		return explain_fan(cli, selector, records);
	return err == ERR_NONE ? add_row(cli, records, &job) : err;
}

int cmd_explain(struct cli *cli)
{
	bool fan;
	struct selector selector;
	struct records records;
	struct buf out = { 0 };

	records_begin(&records, explain_columns, sizeof(explain_columns) / sizeof(explain_columns[0]), &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    cli_select(cli, cli->invocation->args[0], &selector) != ERR_NONE)
		return cli_fail(cli);
	if (selector.job.len == 0) {
		error_set(&cli->error, ERR_USAGE, "'%s' is a run; name one of its jobs, such as 4127/load",
			  cli->invocation->args[0]);
		error_next(&cli->error, "titan show %s", cli->invocation->args[0]);
		return cli_fail(cli);
	}
	if (explain_into(cli, &selector, &records, &fan) != ERR_NONE)
		return cli_fail(cli);
	if (fan)
		records_print(&records, &cli->out, &out);
	else
		records_print_one(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}
