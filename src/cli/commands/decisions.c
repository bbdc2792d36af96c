/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists decisions as they were recorded: who, when, what and why. */
#include "cli/commands/decisions.h"

#include "cli/commands/listing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/when.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "proto/job_output.h"
#include "proto/limits.h"

static const struct column decision_columns[] = {
	{ "decided", "WHEN", false },
	{ "job", "JOB", false },
	{ "person", "WHO", false },
	{ "verdict", "VERDICT", false },
	{ "pushback_to", "TO", false },
	{ "message", "REASON", false },
	{ "round", NULL, false },
	{ "run", NULL, false },
	{ "name", NULL, false },
	{ "self", NULL, false },
	{ "given", "GIVEN", false },
};
const struct table decision_table = TABLE_OF(decision_columns);

static struct slice copy_out(struct buf *text, struct arena *arena)
{
	struct slice copy = arena_copy(arena, buf_slice(text));

	buf_free(text);
	return copy;
}

struct slice hex_text(struct arena *arena, struct slice bytes, size_t most)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < bytes.len && i < most; i++)
		buf_addf(&text, "%02x", bytes.data[i]);
	return copy_out(&text, arena);
}

static int digit_value(uint8_t digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

bool hex_bytes(struct slice text, uint8_t *ret_bytes)
{
	if (text.len % 2 != 0)
		return false;
	for (size_t i = 0; i < text.len; i += 2) {
		int high = digit_value(text.data[i]), low = digit_value(text.data[i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret_bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* The values that were given for the fields of a gate, NAME=VALUE each, without fields that were left out. */
static struct slice_list given_texts(struct slice given, struct arena *arena)
{
	struct slice_list texts = { arena_zalloc(arena, LIMIT_FORM_FIELDS_MAX, sizeof(struct slice)), 0 };
	struct rec_job_output output;

	while (texts.n < LIMIT_FORM_FIELDS_MAX && job_output_next(&given, arena, &output)) {
		struct buf text = { 0 };

		if (output.value.len == 0)
			continue;
		buf_add_slice(&text, output.name);
		buf_add_byte(&text, '=');
		buf_add_slice(&text, output.value);
		texts.at[texts.n++] = copy_out(&text, arena);
	}
	return texts;
}

struct slice decision_text(const struct rec_decision *decision, struct arena *arena)
{
	struct slice_list given = given_texts(decision->given, arena);
	char when[CLOCK_TEXT_SIZE];
	struct buf text = { 0 };

	buf_addf(&text, "%s ", when_format(decision->wall_ms, clock_wall_ms(), when));
	if (decision->person.len > 0) {
		buf_add_slice(&text, decision->person);
		buf_add_byte(&text, ' ');
	}
	buf_add_str(&text, verdict_text((enum verdict)decision->verdict));
	if (decision->self)
		buf_add_str(&text, " (SELF)");
	if (decision->target.len > 0) {
		buf_add_byte(&text, ' ');
		buf_add_slice(&text, decision->target);
	}
	for (size_t i = 0; i < given.n; i++) {
		buf_add_str(&text, i > 0 ? ", " : " with ");
		buf_add_slice(&text, given.at[i]);
	}
	if (decision->reason.len > 0) {
		buf_add_str(&text, ": ");
		buf_add_slice(&text, decision->reason);
	}
	if (decision->round > 0)
		buf_addf(&text, " (round %" PRIu64 ")", decision->round);
	return copy_out(&text, arena);
}

enum err decisions_of(struct cli *cli, const struct selector *selector, struct rec_decision **ret, size_t *ret_count)
{
	struct msg_query query = { .what = QUERY_DECISIONS, .run = selector->run, .job = selector->job };
	struct rec_decision *all = NULL;
	size_t count = 0;

	do {
		struct msg_snapshot page;
		struct rec_decision *more;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		more = arena_zalloc(&cli->arena, count + page.decisions.n + 1, sizeof(*more));
		if (count > 0)
			memcpy(more, all, count * sizeof(*more));
		if (page.decisions.n > 0)
			memcpy(more + count, page.decisions.at, page.decisions.n * sizeof(*more));
		all = more;
		count += page.decisions.n;
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	*ret = all;
	*ret_count = count;
	return ERR_NONE;
}

static void add_decision(struct records *records, const struct rec_decision *decision)
{
	const struct rec_job_row job = { .run = decision->run, .name = decision->name };

	records_time(records, decision->wall_ms);
	records_text(records, job_address(&job, records->arena));
	records_text(records, decision->person);
	records_text(records, slice_str(verdict_name((enum verdict)decision->verdict)));
	records_text(records, decision->target);
	records_text(records, decision->reason);
	records_number(records, decision->round);
	records_number(records, decision->run);
	records_text(records, decision->name);
	records_bool(records, decision->self);
	records_texts(records, given_texts(decision->given, records->arena));
}

/* Sort newest first; the master sends decisions in the order of jobs. */
static int decision_order(const void *a, const void *b)
{
	const struct rec_decision *left = a, *right = b;

	if (left->wall_ms != right->wall_ms)
		return left->wall_ms < right->wall_ms ? 1 : -1;
	if (left->job != right->job)
		return left->job < right->job ? 1 : -1;
	return left->round == right->round ? 0 : left->round < right->round ? 1 : -1;
}

enum err decisions_list(struct cli *cli, const struct selector *selector)
{
	const struct selector run = { .run = selector->run };
	struct rec_decision *decisions;
	struct listing listing;
	struct records records;
	struct buf out = { 0 };
	size_t count;
	enum err err;

	records_begin(&records, decision_columns, decision_table.count, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = listing_read(cli, &approvals_options, &records, &listing);
	if (err == ERR_NONE)
		err = decisions_of(cli, &run, &decisions, &count);
	if (err == ERR_NONE && count > 1)
		qsort(decisions, count, sizeof(*decisions), decision_order);
	for (size_t i = 0; err == ERR_NONE && i < count; i++) {
		if (!selector_names(selector, decisions[i].name) || !listing_matches(&listing, decisions[i].name, decisions[i].wall_ms))
			continue;
		listing.lines = ++listing.total;
		if (!listing_wants(&listing))
			continue;
		add_decision(&records, &decisions[i]);
		listing_keep(&listing, &records);
	}
	if (err == ERR_NONE)
		err = listing_sort(cli, &listing, &records);
	if (err != ERR_NONE)
		return err;
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	listing_tell(cli, &listing, "decision");
	if (count == 0 && cli_chatty(cli))
		cli_note(cli, "no person has decided anything yet");
	return ERR_NONE;
}
