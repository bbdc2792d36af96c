/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan dlq: dead letters of live and ended runs. dlq_ls.c lists them, dlq_edit.c edits one. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/map.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/ask/targets.h"
#include "cli/commands/act.h"
#include "cli/commands/command.h"
#include "cli/commands/dlq.h"
#include "cli/commands/dry_run.h"
#include "cli/commands/listing.h"
#include "cli/commands/object.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "core/view/view.h"
#include "lang/demand.h"
#include "lang/failure.h"
#include "proto/dead.h"

static void dead_letters_add(struct dead_letters *dead_letters, struct arena *arena, const struct rec_dead_row *row)
{
	if (dead_letters->count == dead_letters->room) {
		size_t room = dead_letters->room ? dead_letters->room * 2 : 64;
		struct rec_dead_row *list = arena_zalloc(arena, room, sizeof(*list));

		if (dead_letters->count > 0)
			memcpy(list, dead_letters->at, dead_letters->count * sizeof(*list));
		dead_letters->at = list;
		dead_letters->room = room;
	}
	dead_letters->at[dead_letters->count++] = *row;
}

enum err dead_letters_ask(struct cli *cli, const struct selector *selector, struct dead_letters *dead_letters)
{
	struct msg_query query = { .what = QUERY_DEAD, .run = selector->run };

	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.dead.n; i++)
			if (selector_names(selector, page.dead.at[i].name))
				dead_letters_add(dead_letters, &cli->arena, &page.dead.at[i]);
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	return ERR_NONE;
}

struct slice dead_letter_address(const struct rec_dead_row *dead_letter, struct arena *arena)
{
	const struct rec_job_row row = { .run = dead_letter->run, .name = dead_letter->name };

	return job_address(&row, arena);
}

struct slice dead_letter_outcome(const struct rec_dead_row *dead_letter, struct arena *arena)
{
	const struct rec_job_row row = { .outcome = dead_letter->outcome,
					 .code = dead_letter->code, .state = dead_letter->state };

	return job_outcome_text(&row, arena);
}

/* ---- show ---- */

static const struct column detail_columns[] = {
	{ "job", "job", false },
	{ "reason", "reason", false },
	{ "why", "why", false },
	{ "state", "state", false },
	{ "outcome", "result", false },
	{ "died", "died", false },
	{ "tries", "tries", true },
	{ "retry_max", "retries allowed", true },
	{ "crashes", "crashes", true },
	{ "worker", "worker", false },
	{ "command", "command", false },
	{ "dir", "directory", false },
	{ "env", "environment", false },
	{ "mode", "mode", false },
	{ "priority", "priority", true },
	{ "labels", "labels wanted", false },
	{ "asks", "asks for", false },
	{ "timeout_ms", "time-out", true },
	{ "pipeline", "pipeline", false },
	{ "owner", "submitted by", false },
	{ "round", "round", true },
	{ "epoch", "epoch", true },
	{ "exit_code", NULL, false },
	{ "signal", NULL, false },
	{ "spawn_error", NULL, false },
	{ "run", NULL, false },
	{ "name", NULL, false },
	{ "serial", NULL, false },
	{ "index", NULL, false },
};
const struct table dead_letter_detail_table = TABLE_OF(detail_columns);

static void add_detail(struct records *records, const struct rec_dead_row *dead_letter, const struct rec_job_spec *spec)
{
	enum job_state state = job_state_checked(dead_letter->state);
	struct rec_job_row row = { 0 };

	view_spec(spec, VIEW_FULL, records->arena, &row);
	records_text(records, dead_letter_address(dead_letter, records->arena));
	records_text(records, slice_str(dead_name(dead_letter->reason)));
	records_text(records, slice_str(dead_text(dead_letter->reason)));
	records_state(records, state == STATE_FAILED ? &flag_table[FLAG_DEAD] : &state_table[state], state_table[state].name);
	records_text(records, dead_letter_outcome(dead_letter, records->arena));
	records_time(records, dead_letter->died_ms);
	records_number(records, dead_letter->tries);
	records_number(records, spec->retry_max);
	records_number(records, dead_letter->crashes);
	records_text(records, dead_letter->worker);
	records_text(records, row.command);
	records_text(records, spec->dir);
	records_texts(records, spec->env);
	records_text(records, slice_str(exec_mode_name(spec->mode < EXEC_MODE_COUNT ? (enum exec_mode)spec->mode : EXEC_RETRY)));
	records_number(records, dead_letter->priority);
	records_texts(records, spec->labels);
	records_texts(records, demand_shown(spec->asks, records->arena));
	records_span(records, spec->timeout_ms ? (int64_t)spec->timeout_ms : -1);
	records_text(records, dead_letter->run_name);
	records_text(records, dead_letter->owner);
	records_number(records, dead_letter->round);
	records_number(records, dead_letter->epoch);
	records_end(records, dead_letter->outcome, dead_letter->code);
	records_number(records, dead_letter->run);
	records_text(records, dead_letter->name);
	records_number(records, dead_letter->job);
	records_number(records, dead_letter->index);
}

static enum err no_dead_letter(struct cli *cli, const char *target)
{
	error_set(&cli->error, ERR_NOT_FOUND, "there is no dead letter %s", target);
	return error_next(&cli->error, "titan dlq ls");
}

enum err dead_letter_ask(struct cli *cli, const char *target, struct rec_dead_row *ret_dead_letter, struct rec_job_spec *ret_spec)
{
	struct dead_letters dead_letters = { 0 };
	struct selector selector;
	struct msg_snapshot page;
	struct slice bytes;
	enum err err = cli_select(cli, target, &selector);

	if (err == ERR_NONE && selector.job.len == 0) {
		error_set(&cli->error, ERR_USAGE, "'%s' is a run; name one of its jobs, such as 4127/load", target);
		return error_next(&cli->error, "titan dlq ls %s", target);
	}
	if (err == ERR_NONE)
		err = dead_letters_ask(cli, &selector, &dead_letters);
	if (err != ERR_NONE)
		return err;
	if (dead_letters.count == 0)
		return no_dead_letter(cli, target);
	if (dead_letters.count > 1) {
		struct slice first = dead_letter_address(&dead_letters.at[0], &cli->arena);

		error_set(&cli->error, ERR_USAGE, "'%s' stands for %zu dead letters, but this command needs one, such as %.*s", target,
			  dead_letters.count, (int)first.len, (const char *)first.data);
		return error_next(&cli->error, "titan dlq ls '%s'", target);
	}
	/*
	 * Ask for dead letters below job + 1: the first one is this job's, with all its fields. By now it may be gone.
	 */
	err = cli_query(cli, (struct msg_query){ .what = QUERY_DEAD, .cursor = dead_letters.at[0].job + 1, .limit = 1 },
			&cli->arena, &page);
	if (err != ERR_NONE)
		return err;
	if (page.dead.n == 0 || page.dead.at[0].job != dead_letters.at[0].job)
		return no_dead_letter(cli, target);
	*ret_dead_letter = page.dead.at[0];
	bytes = ret_dead_letter->spec;
	return record_decode(REC_job_spec, &bytes, &cli->arena, ret_spec, &cli->error);
}

static int dlq_show(struct cli *cli, const char *target)
{
	struct rec_dead_row dead_letter = { 0 };
	struct rec_job_spec spec = { 0 };
	struct records records;
	struct buf out = { 0 };

	records_begin(&records, detail_columns, dead_letter_detail_table.count, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    dead_letter_ask(cli, target, &dead_letter, &spec) != ERR_NONE)
		return cli_fail(cli);
	add_detail(&records, &dead_letter, &spec);
	records_print_one(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (cli_chatty(cli))
		cli_note(cli, "output: titan logs %s    again: titan dlq requeue %s", target, target);
	return 0;
}

/* ---- requeue, discard ---- */

struct dead_letter_act {
	struct selector selector;
	uint64_t dead_letters;
};

/* the acts to send: one for each named target, or with "all" one for each run that has dead letters */
struct dead_letter_acts {
	struct dead_letter_act *at;
	size_t count, room;
	uint64_t dead_letters;
};

static void acts_put(struct dead_letter_acts *acts, struct arena *arena, struct selector target, uint64_t dead_letters)
{
	if (acts->count == acts->room) {
		size_t room = acts->room ? 2 * acts->room : 64;
		struct dead_letter_act *bigger = arena_zalloc(arena, room, sizeof(*bigger));

		if (acts->count > 0)
			memcpy(bigger, acts->at, acts->count * sizeof(*bigger));
		acts->at = bigger;
		acts->room = room;
	}
	acts->at[acts->count++] = (struct dead_letter_act){ target, dead_letters };
}

static enum err acts_add(struct cli *cli, struct dead_letter_acts *acts, const struct selector *selector,
			 const char *target)
{
	struct dead_letters dead_letters = { 0 };
	struct map runs = { 0 };                 /* from a run's number to the index of its act, plus 1 */
	enum err err = dead_letters_ask(cli, selector, &dead_letters);

	if (err != ERR_NONE)
		return err;
	if (dead_letters.count == 0 && selector->run != 0)
		return no_dead_letter(cli, target);
	acts->dead_letters += dead_letters.count;
	if (selector->run != 0) {
		acts_put(acts, &cli->arena, *selector, dead_letters.count);
		return ERR_NONE;
	}
	/*
	 * A run's dead letters aren't always neighbours in the list, because its jobs may have been added at different
	 * times.
	 */
	for (size_t i = 0; i < dead_letters.count; i++) {
		size_t place = (size_t)map_get(&runs, dead_letters.at[i].run);

		if (place > 0) {
			acts->at[place - 1].dead_letters++;
			continue;
		}
		acts_put(acts, &cli->arena, (struct selector){ .run = dead_letters.at[i].run }, 1);
		map_put(&runs, dead_letters.at[i].run, (void *)(uintptr_t)acts->count);
	}
	map_free(&runs);
	return ERR_NONE;
}

/* Add an act for each dead letter that the selector covers. Some runs or jobs may have none, but not all of them. */
static enum err acts_add_many(struct cli *cli, struct dead_letter_acts *acts, const char *target)
{
	uint64_t before = acts->dead_letters;
	struct targets targets;
	enum err err = cli_targets(cli, &target, 1, REACH_BAD, &targets);

	for (size_t i = 0; err == ERR_NONE && i < targets.count; i++) {
		err = acts_add(cli, acts, &targets.at[i], target);
		if (err == ERR_NOT_FOUND)
			err = ERR_NONE;
	}
	return err == ERR_NONE && acts->dead_letters == before ? no_dead_letter(cli, target) : err;
}

static enum err acts_collect(struct cli *cli, struct dead_letter_acts *acts)
{
	for (size_t i = 1; i < cli->invocation->arg_count; i++) {
		const char *target = cli->invocation->args[i];
		struct selector selector = { 0 };
		bool many = strcmp(target, "all") != 0 && selector_is_many(target);
		enum err err;

		if (many)
			err = acts_add_many(cli, acts, target);
		else if ((err = strcmp(target, "all") == 0 ? ERR_NONE : cli_select_named(cli, target, &selector)) == ERR_NONE)
			err = acts_add(cli, acts, &selector, target);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

/* One dead letter needs no question; for several, say how many there are and ask for a yes. */
static enum err acts_confirm(struct cli *cli, const struct dead_letter_acts *acts, const char *verb)
{
	char question[80];

	if (acts->dead_letters <= 1)
		return ERR_NONE;
	snprintf(question, sizeof(question), "%s %" PRIu64 " dead letters", verb, acts->dead_letters);
	return cli_confirm(cli, question);
}

static enum err act_send_one(struct cli *cli, const struct dead_letter_act *target, enum act_verb verb, const char *what,
			     struct records *records)
{
	struct msg_act act = { .verb = verb, .run = target->selector.run, .job = target->selector.job };
	struct msg_ok ok = { .count = target->dead_letters };
	bool dry = dry_run_wanted(cli);
	enum err err = dry ? ERR_NONE : cli_call(cli, OP_ACT, &act, OP_OK, &cli->arena, &ok);

	if (err != ERR_NONE)
		return err;
	act_rows_add(records, &act, ok.count, dry);
	if (cli_chatty(cli) && !dry)
		cli_note(cli, "%" PRIu64 "%s%.*s: %" PRIu64 " %s", act.run, act.job.len ? "/" : "",
			 (int)act.job.len, (const char *)act.job.data, ok.count, what);
	return ERR_NONE;
}

static int dlq_act(struct cli *cli, enum act_verb verb)
{
	const char *word = verb == ACT_REQUEUE ? "requeue" : "discard";
	const char *what = verb == ACT_REQUEUE ? "jobs run again" : "dead letters discarded";
	struct dead_letter_acts *acts = arena_zalloc(&cli->arena, 1, sizeof(*acts));
	bool dry = dry_run_wanted(cli);
	struct records records;
	int status = 0;

	act_rows_begin(cli, &records);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    acts_collect(cli, acts) != ERR_NONE || (!dry && acts_confirm(cli, acts, word) != ERR_NONE))
		return cli_fail(cli);
	/* Report each refusal and go on with the others. */
	for (size_t i = 0; i < acts->count; i++) {
		int failed;

		if (act_send_one(cli, &acts->at[i], verb, what, &records) == ERR_NONE)
			continue;
		failed = cli_fail(cli);
		status = status != 0 ? status : failed;
		if (err_again(cli->error.code))
			break;
	}
	act_rows_print(cli, &records);
	if (dry)
		dry_run_tell(cli, acts->dead_letters, "dead letter", verb == ACT_REQUEUE ? "requeued" : "discarded");
	return status;
}

/* ---- choosing the verb ---- */

static int verb_show(struct cli *cli)
{
	return dlq_show(cli, cli->invocation->args[1]);
}

static int verb_requeue(struct cli *cli)
{
	return option_given(cli->invocation, OPT_dlq_edit) ? dlq_edit(cli) : dlq_act(cli, ACT_REQUEUE);
}

static int verb_discard(struct cli *cli)
{
	return dlq_act(cli, ACT_DISCARD);
}

int cmd_dlq(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 1, "", dlq_ls }, { "show", 1, 1, "RUN/JOB", verb_show },
		{ "requeue", 1, -1, "RUN, RUN/JOB, several of them, or all", verb_requeue },
		{ "discard", 1, -1, "RUN, RUN/JOB, several of them, or all", verb_discard },
	};

	if (cli->invocation->arg_count > 0 && strcmp(cli->invocation->args[0], "ls") != 0 &&
	    listing_refuse(cli, &dlq_options, cli->invocation->args[0]) != ERR_NONE)
		return cli_fail(cli);
	if (option_given(cli->invocation, OPT_dlq_edit) && (cli->invocation->arg_count == 0 || strcmp(cli->invocation->args[0], "requeue") != 0)) {
		error_set(&cli->error, ERR_USAGE, "--edit works only with requeue");
		error_next(&cli->error, "titan dlq requeue RUN/JOB --edit");
		return cli_fail(cli);
	}
	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
