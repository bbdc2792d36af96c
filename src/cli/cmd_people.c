/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan approvals, approve, reject: what waits for people, and what they say to it. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/act.h"
#include "cli/rows.h"
#include "proto/limits.h"

static const struct column gate_columns[] = {
	{ "address", "JOB", false },
	{ "have", "HAVE", true },
	{ "count", "OF", true },
	{ "left_ms", "LEFT", true },
	{ "message", "QUESTION", false },
	{ "run", NULL, false },
	{ "name", NULL, false },
	{ "expires", NULL, false },
};

static void add_gate(struct records *records, const struct rec_job_row *job)
{
	int64_t left = job->due_ms - clock_wall_ms();

	records_text(records, job_address(job, records->arena));
	records_number(records, job->gate_have);
	records_number(records, job->gate_count);
	records_span(records, job->due_ms == 0 ? -1 : left > 0 ? left : 0);
	records_text(records, job->gate_message);
	records_number(records, job->run);
	records_text(records, job->name);
	records_time(records, job->due_ms);
}

int cmd_approvals(struct cli *cli)
{
	struct msg_query query = { .what = QUERY_GATES };
	struct records records;
	struct buf out = { 0 };
	size_t count = 0;

	records_begin(&records, gate_columns, sizeof(gate_columns) / sizeof(gate_columns[0]), &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE)
		return cli_fail(cli);
	do {
		struct msg_snapshot page;

		if (cli_query(cli, query, &cli->arena, &page) != ERR_NONE)
			return cli_fail(cli);
		for (size_t i = 0; i < page.jobs.n; i++, count++)
			add_gate(&records, &page.jobs.at[i]);
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (cli_chatty(cli))
		cli_note(cli, count ? "next: titan approve JOB, or titan reject JOB -m WHY" : "nothing waits for a person");
	return 0;
}

static int decide(struct cli *cli, enum act_verb verb, const char *reason, const char *what)
{
	struct msg_act act = { .verb = verb, .text = slice_str(reason) };

	if (act.text.len > LIMIT_REASON_MAX) {
		error_set(&cli->error, ERR_USAGE, "--message: at most %d bytes", LIMIT_REASON_MAX);
		return cli_fail(cli);
	}
	if (act_select(cli, &act) != ERR_NONE)
		return cli_fail(cli);
	if (act.job.len == 0) {
		error_set(&cli->error, ERR_USAGE, "'%s' is a run; one of its gates is expected, such as 4127/qa",
			  cli->invocation->args[0]);
		error_next(&cli->error, "titan approvals");
		return cli_fail(cli);
	}
	return act_send(cli, &act, what);
}

int cmd_approve(struct cli *cli)
{
	return decide(cli, ACT_APPROVE, option_value(cli->invocation, OPT_approve_message), "approved");
}

int cmd_reject(struct cli *cli)
{
	const char *reason = option_value(cli->invocation, OPT_reject_message);

	/* Who built it has to know what is wrong. */
	if (reason == NULL || reason[0] == '\0') {
		error_set(&cli->error, ERR_USAGE, "a rejection has a reason");
		error_next(&cli->error, "titan reject %s -m 'WHY'", cli->invocation->args[0]);
		return cli_fail(cli);
	}
	return decide(cli, ACT_REJECT, reason, "rejected");
}
