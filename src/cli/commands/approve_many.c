/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan approve for several gates. A person approves what was listed: each vote has the digest of the gate as it was
 * when it was listed, so a gate that has changed since is refused by the master.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/act.h"
#include "cli/commands/approvals.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "proto/form.h"

struct gates {                           /* gates that wait for approval */
	struct rec_job_row *at;
	size_t count, room;
};

static void gates_add(struct gates *gates, struct arena *arena, const struct rec_job_row *row)
{
	if (gates->count == gates->room) {
		size_t room = gates->room ? 2 * gates->room : 64;
		struct rec_job_row *bigger = arena_zalloc(arena, room, sizeof(*bigger));

		if (gates->count > 0)
			memcpy(bigger, gates->at, gates->count * sizeof(*bigger));
		gates->at = bigger;
		gates->room = room;
	}
	gates->at[gates->count++] = *row;
}

static enum err ask_gates(struct cli *cli, struct gates *ret)
{
	struct msg_query query = { .what = QUERY_GATES };

	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.jobs.n; i++)
			if (page.jobs.at[i].state == STATE_APPROVAL)
				gates_add(ret, &cli->arena, &page.jobs.at[i]);
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	return ERR_NONE;
}

static bool is_meant(const struct targets *targets, const struct rec_job_row *gate)
{
	for (size_t i = 0; i < targets->count; i++)
		if (targets->at[i].run == gate->run &&
		    (targets->at[i].job.len == 0 || slice_eq(targets->at[i].job, gate->name)))
			return true;
	return false;
}

/* Refuse a gate that was named and isn't waiting, so that nobody believes that it was approved. */
static enum err check_named(struct cli *cli, const struct targets *targets, const struct gates *waiting)
{
	for (size_t i = 0; !targets->bulk && i < targets->count; i++) {
		const struct selector *target = &targets->at[i];
		bool found = target->job.len == 0;

		for (size_t k = 0; k < waiting->count && !found; k++)
			found = waiting->at[k].run == target->run && slice_eq(waiting->at[k].name, target->job);
		if (found)
			continue;
		error_set(&cli->error, ERR_INVALID, "%" PRIu64 "/%.*s isn't a gate that waits for approval; nothing was approved",
			  target->run, (int)target->job.len, (const char *)target->job.data);
		return error_next(&cli->error, "titan approvals");
	}
	return ERR_NONE;
}

static enum err choose(struct cli *cli, struct gates *ret)
{
	struct targets targets;
	struct gates waiting = { 0 };
	enum err err = cli_targets(cli, (const char *const *)cli->invocation->args, cli->invocation->arg_count, REACH_LIVE, &targets);

	if (err == ERR_NONE)
		err = ask_gates(cli, &waiting);
	if (err == ERR_NONE)
		err = check_named(cli, &targets, &waiting);
	for (size_t i = 0; err == ERR_NONE && i < waiting.count; i++)
		if (is_meant(&targets, &waiting.at[i]))
			gates_add(ret, &cli->arena, &waiting.at[i]);
	if (err != ERR_NONE || ret->count > 0)
		return err;
	error_set(&cli->error, ERR_NOT_FOUND, "no gate of %s%s waits for approval", cli->invocation->args[0],
		  cli->invocation->arg_count > 1 ? " and the others" : "");
	return error_next(&cli->error, "titan approvals");
}

/* Refuse before the question what the master would refuse after it: values that don't fit the fields of one of the gates. */
static enum err check_given(struct cli *cli, const struct gates *gates, const struct msg_act *act)
{
	enum err err = ERR_NONE;

	for (size_t i = 0; i < gates->count && err == ERR_NONE; i++) {
		const struct rec_job_row *gate = &gates->at[i];
		struct slice address = job_address(gate, &cli->arena);
		struct buf why = { 0 }, options = { 0 };

		if (!form_check(gate->gate_fields, act->given, &why)) {
			form_options(gate->gate_fields, &options);
			error_set(&cli->error, ERR_USAGE, "no gate was approved, because of %.*s: %s", (int)address.len, (const char *)address.data,
				  buf_cstr(&why));
			err = error_next(&cli->error, "titan approve %.*s%s", (int)address.len, (const char *)address.data, buf_cstr(&options));
		}
		buf_free(&why);
		buf_free(&options);
	}
	return err;
}

/* Print on standard error the gates that the question is about. */
static enum err confirm(struct cli *cli, const struct gates *gates)
{
	char question[64];

	for (size_t i = 0; i < gates->count && !cli->settings.quiet; i++) {
		struct buf line = { 0 };

		text_escape(&line, job_address(&gates->at[i], &cli->arena), TEXT_KEEP_NONE);
		if (gates->at[i].gate_message.len > 0)
			buf_add_str(&line, "  ");
		text_escape(&line, gates->at[i].gate_message, TEXT_KEEP_NONE);
		cli_note(cli, "%s", buf_cstr(&line));
		buf_free(&line);
	}
	snprintf(question, sizeof(question), "approve %zu gate%s", gates->count, gates->count == 1 ? "" : "s");
	return cli_confirm(cli, question);
}

static void list(struct cli *cli, const struct gates *gates)
{
	struct records records;
	struct buf out = { 0 };

	gate_rows_begin(&records, &cli->arena);
	for (size_t i = 0; i < gates->count; i++)
		gate_rows_add(&records, &gates->at[i]);
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	cli_note(cli, "%zu gate%s; nothing was approved", gates->count, gates->count == 1 ? "" : "s");
}

int approve_many(struct cli *cli, const struct msg_act *act)
{
	struct targets targets = { .bulk = true };
	struct gates gates = { 0 };
	struct slice *digests;

	if (cli_connect(cli) != ERR_NONE || choose(cli, &gates) != ERR_NONE)
		return cli_fail(cli);
	if (option_given(cli->invocation, OPT_approve_dry_run)) {
		list(cli, &gates);
		return 0;
	}
	if (check_given(cli, &gates, act) != ERR_NONE || confirm(cli, &gates) != ERR_NONE)
		return cli_fail(cli);
	targets.count = gates.count;
	targets.at = arena_zalloc(&cli->arena, gates.count, sizeof(*targets.at));
	digests = arena_zalloc(&cli->arena, gates.count, sizeof(*digests));
	for (size_t i = 0; i < gates.count; i++) {
		targets.at[i] = (struct selector){ .run = gates.at[i].run, .job = gates.at[i].name };
		digests[i] = gates.at[i].digest;
	}
	return act_each_with(cli, &targets, act, digests, "approved");
}
