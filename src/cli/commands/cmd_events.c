/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan events: what happened, oldest first, a line for each event; with -f also new events. Each event has the number
 * of its turn, from which a later titan events can continue. After a lost connection titan events -f continues behind
 * the last event that it printed.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/commands/command.h"
#include "cli/commands/event_words.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"

#define RECENT_MS    3600000             /* how far people see back without --since */
#define RECONNECT_MS 60000

struct watching {
	struct cli *cli;
	struct msg_query query;
	uint64_t kinds;                  /* bits of enum event_class; 0: all */
	uint64_t limit, count;
	bool follow, ended;              /* ended: the followed run has ended */
};

static void print_row(struct watching *watching, const struct rec_event_row *row, struct arena *arena, struct buf *out)
{
	struct cli *cli = watching->cli;
	struct records records;

	if (cli->out.style == STYLE_HUMAN) {
		event_line(row, &cli->out, out);
		return;
	}
	event_records_begin(&records, arena);
	event_records_add(&records, row);
	records_print_line(&records, &cli->out, out);
}

static void print_page(struct watching *watching, const struct msg_snapshot *page)
{
	struct arena arena = { 0 };
	struct buf out = { 0 };

	for (size_t i = 0; i < page->events.n && watching->count < watching->limit; i++) {
		const struct rec_event_row *row = &page->events.at[i];

		watching->ended |= row->kind == HAPPENED_RUN_ENDED && watching->query.run != 0;
		if (watching->kinds != 0 && !(watching->kinds >> event_class(row) & 1))
			continue;
		print_row(watching, row, &arena, &out);
		watching->count++;
		arena_reset(&arena);
	}
	cli_print(watching->cli, &out);
	buf_free(&out);
	arena_free(&arena);
}

/* Send the query and wait for the answer without a time limit: there may be no event for days. */
static enum err ask_patiently(struct watching *watching, struct arena *arena, struct msg_snapshot *ret_page)
{
	struct cli *cli = watching->cli;
	struct incoming frame;
	enum err err;

	watching->query.id = client_next_id(cli->client);
	err = cli_send(cli, OP_QUERY, &watching->query, watching->query.id);
	if (err == ERR_NONE)
		err = client_flush(cli->client, &cli->error);
	while (err == ERR_NONE) {
		err = cli_receive(cli, TIME_NEVER, &frame);
		if (err == ERR_NONE && frame.op == OP_SNAPSHOT) {
			err = message_decode(OP_SNAPSHOT, frame.body, arena, ret_page, &cli->error);
			if (err != ERR_NONE || ret_page->id == watching->query.id)
				return err;
		} else if (err == ERR_NONE && frame.op == OP_ERROR) {
			err = cli_take_error(cli, &frame, watching->query.id);
		}
	}
	return err;
}

/* Ask for the next page. With -f, a query at the end of the list waits for the next event. */
static enum err next_page(struct watching *watching, struct arena *arena, struct msg_snapshot *ret_page)
{
	struct cli *cli = watching->cli;
	enum err err = ask_patiently(watching, arena, ret_page);

	while (err == ERR_UNREACHABLE && watching->follow) {
		cli_note(cli, "the connection to the master is lost; waiting for the master");
		err = cli_reconnect(cli, RECONNECT_MS);
		if (err == ERR_NONE)
			err = ask_patiently(watching, arena, ret_page);
	}
	return err;
}

static enum err watch(struct watching *watching)
{
	struct arena arena = { 0 };
	enum err err = ERR_NONE;
	bool more = true;

	while (err == ERR_NONE && more && watching->count < watching->limit) {
		struct msg_snapshot page;

		arena_reset(&arena);
		err = next_page(watching, &arena, &page);
		if (err != ERR_NONE)
			break;
		print_page(watching, &page);
		watching->query.cursor = page.next_turn;
		watching->query.skip = page.skip;
		if (page.next_turn != 0)
			watching->query.since_ms = 0;
		more = page.cursor != 0 || (watching->follow && !watching->ended);
		watching->query.wait = watching->follow && page.cursor == 0;
		/* Stop if the reader of the output has left, as a failed write has shown. */
		if (watching->cli->output->lost)
			break;
	}
	arena_free(&arena);
	return err;
}

static enum err read_kinds(struct cli *cli, uint64_t *ret_kinds)
{
	for (size_t i = 0; i < cli->invocation->option_count; i++) {
		const struct given_option *option = &cli->invocation->options[i];
		uint64_t kinds;

		if (option->id != OPT_events_kind)
			continue;
		kinds = event_classes(slice_str(option->value));
		if (kinds == 0)
			return error_set(&cli->error, ERR_USAGE, "--kind: '%s' must be one of %s, or several with commas", option->value,
					 EVENT_CLASSES);
		*ret_kinds |= kinds;
	}
	return ERR_NONE;
}

/*
 * Decide where to begin: at the given turn, time or run; otherwise people see recent events, and with -f new events
 * only.
 */
static enum err read_begin(struct cli *cli, struct watching *watching)
{
	const struct invocation *invocation = cli->invocation;
	struct msg_query *query = &watching->query;
	struct rec_run_row run;
	enum err err;

	if ((err = option_when(invocation, OPT_events_since, &query->since_ms, &cli->error)) != ERR_NONE ||
	    (err = option_when(invocation, OPT_events_until, &query->until_ms, &cli->error)) != ERR_NONE ||
	    (err = option_number(invocation, OPT_events_from, 0, INT64_MAX, &query->cursor, &cli->error)) != ERR_NONE)
		return err;
	if (watching->follow && query->until_ms != 0)
		return error_set(&cli->error, ERR_USAGE, "give only one of --follow and --until");
	if (option_given(invocation, OPT_events_from) && query->since_ms != 0)
		return error_set(&cli->error, ERR_USAGE, "give only one of --from and --since");
	if (query->run != 0) {
		err = cli_query_run(cli, query->run, &cli->arena, &run);
		/* When a pruned run began isn't known. */
		if (err == ERR_PRUNED)
			return ERR_NONE;
		if (err == ERR_NONE && query->cursor == 0 && query->since_ms == 0)
			query->since_ms = run.submitted_ms;
		watching->ended = err == ERR_NONE && run.ended_ms != 0;
		return err;
	}
	if (query->since_ms == 0 && !option_given(invocation, OPT_events_from) && (watching->follow || cli->out.style == STYLE_HUMAN))
		query->since_ms = clock_wall_ms() - (watching->follow ? 0 : RECENT_MS);
	return ERR_NONE;
}

int cmd_events(struct cli *cli)
{
	struct watching watching = {
		.cli = cli, .query = { .what = QUERY_EVENTS }, .limit = UINT64_MAX,
		.follow = option_given(cli->invocation, OPT_events_follow),
	};
	struct records check;
	enum err err;

	event_records_begin(&check, &cli->arena);
	err = records_check(&check, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = read_kinds(cli, &watching.kinds);
	if (err == ERR_NONE)
		err = option_number(cli->invocation, OPT_events_limit, 1, INT64_MAX, &watching.limit, &cli->error);
	if (err == ERR_NONE)
		err = cli_catch_signals(cli);
	if (err == ERR_NONE)
		err = cli_connect(cli);
	if (err == ERR_NONE && cli->invocation->arg_count > 0)
		err = cli_select_run(cli, cli->invocation->args[0], &watching.query.run);
	if (err == ERR_NONE)
		err = read_begin(cli, &watching);
	if (err == ERR_NONE)
		err = watch(&watching);
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (watching.count == 0 && cli_chatty(cli))
		cli_note(cli, "no event matches%s",
			 watching.query.run == 0 ? " in the last hour; titan events --from 0 prints all events" : "");
	return 0;
}
