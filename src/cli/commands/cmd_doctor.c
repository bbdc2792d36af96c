/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan doctor: runs all checks, asks the master and prints the findings. It changes nothing. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/doctor.h"
#include "cli/commands/outputs.h"
#include "cli/daemon/daemon.h"
#include "cli/session/output.h"
#include "cli/show/rows.h"
#include "cli/show/wrap.h"
#include "net/client.h"

#define MASTER_WAIT_MS 10000
#define FOUND_AT       14                /* the column in which findings begin */

static const struct column columns[] = {
	{ "check", "CHECK", false }, { "verdict", "VERDICT", false }, { "finding", "FOUND", false }, { "next", "NEXT", false },
};
const struct table doctor_table = TABLE_OF(columns);

static const char *const verdict_words[] = { "ok", "advice", "problem" };

void finding_add(struct findings *findings, const char *check, enum finding_state verdict, const char *text, const char *next)
{
	struct records *records = &findings->records;

	findings->problems += verdict == FINDING_PROBLEM;
	findings->advice += verdict == FINDING_ADVICE;
	records_text(records, slice_str(check));
	records_text(records, slice_str(verdict_words[verdict]));
	records_text(records, arena_copy(records->arena, slice_str(text)));
	records_text(records, arena_copy(records->arena, slice_str(next)));
}

static void check_worker(const struct rec_worker_row *worker, struct findings *findings)
{
	struct buf text = { 0 }, next = { 0 };

	buf_addf(&text, "worker %.*s ", (int)worker->name.len, (const char *)worker->name.data);
	if (worker->state == WORKER_ENDED) {
		buf_add_str(&text, "was told to end");
		buf_addf(&next, "start it again when it is needed, or forget it: titan worker rm %.*s", (int)worker->name.len,
			 (const char *)worker->name.data);
		finding_add(findings, "workers", FINDING_ADVICE, buf_cstr(&text), buf_cstr(&next));
	} else if (worker->state != WORKER_UP) {
		buf_add_str(&text, "isn't connected");
		buf_addf(&next, "start the worker again, or if its machine is gone for good: titan worker rm %.*s", (int)worker->name.len,
			 (const char *)worker->name.data);
		finding_add(findings, "workers", FINDING_PROBLEM, buf_cstr(&text), buf_cstr(&next));
	} else if (worker->refused_code != 0) {
		buf_addf(&text, "couldn't start a job: %s", err_text((enum err)worker->refused_code));
		finding_add(findings, "workers", FINDING_PROBLEM, buf_cstr(&text), "titan worker ls");
	} else if (worker->stuck > 0) {
		buf_addf(&text, "has %" PRIu64 " job(s) with a process that was killed but is still there", worker->stuck);
		finding_add(findings, "workers", FINDING_PROBLEM, buf_cstr(&text), "titan worker ls");
	} else if (worker->standing != STANDING_NONE) {
		buf_add_str(&text, "gets no new jobs: it is cordoned or drained");
		buf_addf(&next, "titan uncordon %.*s", (int)worker->name.len, (const char *)worker->name.data);
		finding_add(findings, "workers", FINDING_ADVICE, buf_cstr(&text), buf_cstr(&next));
	} else if (worker->protocol != 0 && worker->protocol < PROTOCOL_VERSION) {
		buf_addf(&text, "is connected, and speaks version %" PRIu64 " of the protocol, the one before: it is of an older titan", worker->protocol);
		if (slice_eq(worker->name, slice_str(LOCAL_WORKER)))
			buf_add_str(&next, "titan down --leave-jobs && titan up");
		else
			buf_addf(&next, "titan worker upgrade %.*s, or if it was started by hand, start it again with this titan",
				 (int)worker->name.len, (const char *)worker->name.data);
		finding_add(findings, "workers", FINDING_ADVICE, buf_cstr(&text), buf_cstr(&next));
	} else {
		buf_addf(&text, "is connected, %" PRIu64 " of %" PRIu64 " slots busy", worker->busy, worker->slots);
		finding_add(findings, "workers", FINDING_OK, buf_cstr(&text), NULL);
	}
	buf_free(&text);
	buf_free(&next);
}

static enum err check_workers(struct cli *cli, struct findings *findings)
{
	struct msg_query query = { .what = QUERY_WORKERS };
	size_t count = 0;

	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.workers.n; i++, count++)
			check_worker(&page.workers.at[i], findings);
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	if (count == 0)
		finding_add(findings, "workers", FINDING_PROBLEM, "no worker has ever connected, so no job can run", "titan up");
	return ERR_NONE;
}

static enum err check_master(struct cli *cli, struct findings *findings)
{
	struct msg_snapshot status;
	char text[160];
	enum err err = cli_query(cli, (struct msg_query){ .what = QUERY_STATUS }, &cli->arena, &status);

	if (err != ERR_NONE)
		return err;
	snprintf(text, sizeof(text), "master pid %" PRIu64 " answers", client_welcome(cli->client)->pid);
	finding_add(findings, "master", FINDING_OK, text, NULL);
	if (status.full || status.stuck)
		finding_add(findings, "store", FINDING_PROBLEM,
			    status.stuck ? "the disk is full: the master can't write, and all changes wait until there is space" :
			    "the disk is nearly full: the master refuses new runs",
			    "free space, or remove old runs: titan prune --dry-run --older 30d");
	return check_workers(cli, findings);
}

static void doctor_master(struct cli *cli, struct findings *findings)
{
	int64_t until_ns = clock_mono_ns() + MASTER_WAIT_MS * NS_PER_MS;
	enum err err;

	if (cli->deadline_ns > until_ns)
		cli->deadline_ns = until_ns;
	err = cli_connect(cli);
	if (err == ERR_NONE)
		err = check_master(cli, findings);
	if (err == ERR_NONE)
		return;
	finding_add(findings, "master", err == ERR_UNREACHABLE ? FINDING_ADVICE : FINDING_PROBLEM, cli->error.text,
		    cli->error.next[0] != '\0' ? cli->error.next : "titan up");
	cli->error = (struct error){ 0 };
}

static void add_wrapped(const struct look *look, struct slice text, size_t column, struct buf *out)
{
	struct buf shown = { 0 };

	text_escape(&shown, text, TEXT_KEEP_NONE);
	wrap_add(look, buf_slice(&shown), column, column, out);
	buf_free(&shown);
}

static void print_human(const struct cli *cli, const struct findings *findings, struct buf *out)
{
	static const struct { const char *glyph, *ascii; enum colour colour; } marks[] = {
		{ "✓", "+", COLOUR_GREEN }, { "!", "!", COLOUR_YELLOW }, { "✗", "x", COLOUR_RED },
	};
	const struct records *records = &findings->records;

	for (size_t at = 0; at < records->cell_count; at += records->column_count) {
		const struct record_cell *cells = &records->cells[at];
		size_t verdict = 0;

		while (!slice_eq(cells[1].text, slice_str(verdict_words[verdict])))
			verdict++;
		look_colour(&cli->out, marks[verdict].colour, ATTR_BOLD, out);
		buf_add_str(out, cli->out.utf8 ? marks[verdict].glyph : marks[verdict].ascii);
		look_plain(&cli->out, out);
		buf_addf(out, " %-11.*s ", (int)cells[0].text.len, (const char *)cells[0].text.data);
		add_wrapped(&cli->out, cells[2].text, FOUND_AT, out);
		if (cells[3].text.len > 0) {
			buf_addf(out, "\n%*snext: ", FOUND_AT, "");
			add_wrapped(&cli->out, cells[3].text, FOUND_AT + strlen("next: "), out);
		}
		buf_add_byte(out, '\n');
	}
}

static void doctor_here(struct cli *cli, struct findings *findings)
{
	doctor_machine(cli, findings);
	if (cli->settings.socket == NULL) {
		doctor_place(cli, findings);
		doctor_boot(cli, findings);
	}
	doctor_master(cli, findings);
}

int cmd_doctor(struct cli *cli)
{
	struct findings findings = { 0 };
	struct buf out = { 0 };

	records_begin(&findings.records, columns, sizeof(columns) / sizeof(columns[0]), &cli->arena);
	if (records_check(&findings.records, &cli->out, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	if (cli->invocation->arg_count > 0) {
		if (doctor_host(cli, cli->invocation->args[0], &findings) != ERR_NONE)
			return cli_fail(cli);
	} else {
		doctor_here(cli, &findings);
	}
	if (cli->out.style == STYLE_HUMAN)
		print_human(cli, &findings, &out);
	else
		records_print(&findings.records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (cli->out.style == STYLE_HUMAN && findings.problems == 0)
		cli_note(cli, findings.advice > 0 ? "nothing is wrong, but see the advice above" : "nothing is wrong");
	return findings.problems > 0;
}
