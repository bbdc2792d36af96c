/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan status: the cluster at a glance. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/status.h"
#include "cli/session/output.h"
#include "cli/show/json.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "cli/show/rows.h"

#define COUNTS_AT 9                      /* the column in which the counts of jobs begin */

/* Runs that have ended, and their jobs; null for a person who may not see all runs. */
static void status_json_ended(const struct msg_snapshot *status, struct json *json)
{
	json_key(json, "ended_runs");
	if (status->ended_runs.n == 0) {
		json_null(json);
		json_key(json, "ended_jobs");
		json_null(json);
		return;
	}
	json_object(json);
	for (size_t i = 0; i < RUN_STATE_COUNT && i < status->ended_runs.n; i++) {
		if (!run_state_terminal((enum run_state)i))
			continue;
		json_key(json, run_state_name((enum run_state)i));
		json_u64(json, status->ended_runs.at[i]);
	}
	json_end(json);
	json_key(json, "ended_jobs");
	json_object(json);
	for (size_t i = 0; i < STATE_COUNT && i < status->ended_jobs.n; i++) {
		if (!state_terminal((enum job_state)i))
			continue;
		json_key(json, state_table[i].name);
		json_u64(json, status->ended_jobs.at[i]);
	}
	json_end(json);
}

static void status_json(const struct cli *cli, const struct msg_welcome *welcome, const struct msg_snapshot *status,
			const struct records *workers, struct buf *out)
{
	struct json json;

	json_begin(&json, out);
	json_object(&json);
	json_key(&json, "cluster");
	json_text(&json, welcome->cluster);
	json_key(&json, "state_dir");
	json_string(&json, cli->statedir.dir);
	json_key(&json, "master");
	json_object(&json);
	json_key(&json, "pid");
	if (cli->at_ms)
		json_null(&json);
	else
		json_u64(&json, welcome->pid);
	json_key(&json, "generation");
	json_u64(&json, welcome->generation);
	json_key(&json, "boot");
	json_u64(&json, welcome->boot);
	json_key(&json, "turn");
	json_u64(&json, status->turn);
	json_end(&json);
	json_key(&json, "store");
	json_object(&json);
	json_key(&json, "full");
	json_bool(&json, status->full);
	json_key(&json, "stuck");
	json_bool(&json, status->stuck);
	json_end(&json);
	json_key(&json, "workers");
	json_array(&json);
	for (size_t i = 0; i < status->workers.n; i++)
		records_json_row(workers, i, &json);
	json_end(&json);
	json_key(&json, "counts");
	json_object(&json);
	for (size_t i = 0; i < STATE_COUNT; i++) {
		json_key(&json, state_table[i].name);
		json_u64(&json, i < status->counts.n ? status->counts.at[i] : 0);
	}
	json_end(&json);
	status_json_ended(status, &json);
	json_end(&json);
	buf_add_byte(out, '\n');
}

static void status_plain(const struct msg_welcome *welcome, const struct msg_snapshot *status, struct buf *out)
{
	buf_add_str(out, "cluster\t");
	text_escape(out, welcome->cluster, TEXT_KEEP_NONE);
	buf_addf(out, "\nmaster.pid\t%" PRIu64 "\nmaster.generation\t%" PRIu64 "\nmaster.boot\t%" PRIu64 "\n",
		 welcome->pid, welcome->generation, welcome->boot);
	buf_addf(out, "store.full\t%d\nstore.stuck\t%d\n", status->full, status->stuck);
	for (size_t i = 0; i < status->counts.n && i < STATE_COUNT; i++)
		buf_addf(out, "jobs.%s\t%" PRIu64 "\n", state_table[i].name, status->counts.at[i]);
	for (size_t i = 0; i < status->ended_runs.n && i < RUN_STATE_COUNT; i++)
		if (run_state_terminal((enum run_state)i))
			buf_addf(out, "ended_runs.%s\t%" PRIu64 "\n", run_state_name((enum run_state)i), status->ended_runs.at[i]);
	for (size_t i = 0; i < status->ended_jobs.n && i < STATE_COUNT; i++)
		if (state_terminal((enum job_state)i))
			buf_addf(out, "ended_jobs.%s\t%" PRIu64 "\n", state_table[i].name, status->ended_jobs.at[i]);
}

void look_alarm_store(const struct cli *cli, const struct msg_snapshot *status, struct buf *out)
{
	if (!status->full && !status->stuck)
		return;
	buf_add_str(out, "alarm    the disk of ");
	text_escape(out, slice_str(cli->statedir.dir), TEXT_KEEP_NONE);
	buf_add_str(out, status->stuck ? " is full: the master can't write, and all changes wait until there is space" :
		    " is nearly full: new runs are refused");
	buf_add_str(out, "    next: df ");
	text_escape(out, slice_str(cli->statedir.dir), TEXT_KEEP_NONE);
	buf_add_byte(out, '\n');
}

/* Add the states that have jobs, with their numbers; `at` columns of the line are in use. */
static void counts_human(const struct cli *cli, const struct u64_list *counts, size_t at, struct buf *out)
{
	struct buf one = { 0 };
	bool any = false;

	for (size_t i = 0; i < counts->n && i < STATE_COUNT; i++) {
		if (counts->at[i] == 0)
			continue;
		/*
		 * All delayed jobs are counted together, whether a retry or a first start is due: they are shown as
		 * starting later.
		 */
		buf_clear(&one);
		look_state(&cli->out, i == STATE_DELAYED ? &flag_table[FLAG_LATER] : &state_table[i], &one);
		buf_addf(&one, " %" PRIu64, counts->at[i]);
		if (cli->out.columns > 0 && at + 2 + text_width(buf_slice(&one)) > cli->out.columns) {
			buf_addf(out, "\n%*s", COUNTS_AT, "");
			at = COUNTS_AT;
		} else if (any) {
			buf_add_str(out, "  ");
			at += 2;
		}
		buf_add_slice(out, buf_slice(&one));
		at += text_width(buf_slice(&one));
		any = true;
	}
	buf_free(&one);
}

static void ended_human(const struct cli *cli, const struct msg_snapshot *status, struct buf *out)
{
	uint64_t runs = 0;
	size_t before = out->len;

	for (size_t i = 0; i < status->ended_runs.n; i++)
		runs += status->ended_runs.at[i];
	if (runs == 0)
		return;
	buf_addf(out, "ended    %" PRIu64 " run%s: ", runs, runs == 1 ? "" : "s");
	counts_human(cli, &status->ended_jobs, out->len - before, out);
	buf_add_byte(out, '\n');
}

static void status_human(const struct cli *cli, const struct msg_welcome *welcome, const struct msg_snapshot *status,
			 struct buf *out)
{
	uint64_t live = 0, people = 0;

	buf_add_str(out, "cluster  ");
	text_escape(out, welcome->cluster, TEXT_KEEP_NONE);
	buf_add_str(out, "  ");
	text_escape(out, slice_str(cli->statedir.dir), TEXT_KEEP_NONE);
	buf_addf(out, "\nmaster   pid %" PRIu64 "  generation %" PRIu64 "  boot %" PRIu64 "\njobs     ", welcome->pid,
		 welcome->generation, welcome->boot);
	for (size_t i = 0; i < status->counts.n && i < STATE_COUNT; i++) {
		live += status->counts.at[i];
		people += i == STATE_APPROVAL || i == STATE_UNKNOWN ? status->counts.at[i] : 0;
	}
	counts_human(cli, &status->counts, COUNTS_AT, out);
	buf_add_str(out, live ? "\n" : "no live jobs\n");
	ended_human(cli, status, out);
	if (people > 0)
		buf_addf(out, "people   %" PRIu64 " job%s for them    next: titan approvals\n", people,
			 people == 1 ? " waits" : "s wait");
	look_alarm_store(cli, status, out);
	for (size_t i = 0; i < status->workers.n && !cli->at_ms; i++)
		rows_alarm(&status->workers.at[i], out);
}

int cmd_status(struct cli *cli)
{
	struct msg_snapshot status;
	struct records workers;
	struct buf out = { 0 };

	rows_begin_workers(&workers, &cli->arena);
	if (records_check(&workers, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    cli_query(cli, (struct msg_query){ .what = QUERY_STATUS }, &cli->arena, &status) != ERR_NONE)
		return cli_fail(cli);
	for (size_t i = 0; i < status.workers.n; i++) {
		rows_add_worker(&workers, &status.workers.at[i], cli_now_ms(cli));
		if (cli->at_ms)
			rows_forget_load(&workers);
	}
	if (cli->out.style == STYLE_JSON)
		status_json(cli, client_welcome(cli->client), &status, &workers, &out);
	else if (cli->out.style == STYLE_PLAIN)
		status_plain(client_welcome(cli->client), &status, &out);
	else if (cli->out.style == STYLE_HUMAN)
		status_human(cli, client_welcome(cli->client), &status, &out);
	if (cli->out.style == STYLE_FORMAT || (cli->out.style == STYLE_HUMAN && status.workers.n > 0))
		records_print(&workers, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}
