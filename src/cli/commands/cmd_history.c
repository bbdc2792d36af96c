/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan history: what people and jobs did, and which runs there were, also those that were pruned. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/select.h"
#include "cli/commands/command.h"
#include "cli/commands/history_merge.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"

#define HISTORY_LIMIT 50                 /* entries that titan history prints to people without --limit */
#define PORTION 1000

static const struct column history_columns[] = {
	{ "time", "WHEN", false },
	{ "person", "WHO", false },
	{ "verb", "WHAT", false },
	{ "target", "ON", false },
	{ "detail", "DETAIL", false },
	{ "message", "REASON", false },
	{ "act", NULL, false },
	{ "turn", NULL, false },
	{ "origin", NULL, false },
	{ "before", NULL, false },
	{ "after", NULL, false },
	{ "run", NULL, false },
	{ "name", NULL, false },
	{ "state", NULL, false },
	{ "job_count", NULL, false },
	{ "schedule", NULL, false },
	{ "submitted", NULL, false },
	{ "ended", NULL, false },
	{ "pruned", NULL, false },
	{ "pruned_by", NULL, false },
};
const struct table history_table = TABLE_OF(history_columns);

static struct slice taken(struct buf *text, struct arena *arena)
{
	struct slice copy = arena_copy(arena, buf_slice(text));

	buf_free(text);
	return copy;
}

static void add_prune(const struct history_facts *facts, struct buf *out)
{
	char when[CLOCK_TEXT_SIZE];

	if (facts->pruned_ms == 0)
		return;
	buf_addf(out, ", pruned %.10s", clock_format_utc(facts->pruned_ms, when));
	if (facts->pruned_by.len > 0) {
		buf_add_str(out, " by ");
		buf_add_slice(out, facts->pruned_by);
	}
}

/* "deploy, 5 jobs: failed in 0:12, pruned 2026-11-19 by ana" */
static struct slice facts_text(const struct history_facts *facts, struct arena *arena)
{
	char span[CLOCK_TEXT_SIZE];
	struct buf text = { 0 };

	buf_add_slice(&text, facts->name);
	buf_addf(&text, ", %" PRIu64 " job%s: %s", facts->jobs, facts->jobs == 1 ? "" : "s", run_state_name(facts->state));
	if (facts->ended_ms != 0)
		buf_addf(&text, " in %s", clock_format_span(facts->ended_ms - facts->submitted_ms, span));
	add_prune(facts, &text);
	return taken(&text, arena);
}

static struct slice change_text(const struct rec_act_row *act, struct arena *arena)
{
	struct buf text = { 0 };

	buf_add_slice(&text, act->before);
	if (act->before.len > 0 && act->after.len > 0)
		buf_add_str(&text, " -> ");
	else if (act->before.len > 0)
		buf_add_str(&text, " -> gone");
	buf_add_slice(&text, act->after);
	return taken(&text, arena);
}

static struct slice target_text(const struct history_entry *entry, struct arena *arena)
{
	struct buf text = { 0 };

	if (entry->is_act)
		return arena_copy(arena, entry->act.target);
	if (entry->is_decision) {
		buf_addf(&text, "job %" PRIu64 "/", entry->decision.run);
		buf_add_slice(&text, entry->decision.name);
	} else {
		buf_addf(&text, "run %" PRIu64, entry->facts.run);
	}
	return taken(&text, arena);
}

/* The columns for people and scripts alike. */
static void add_shown(struct records *records, const struct history_entry *entry)
{
	struct arena *arena = records->arena;
	const struct history_facts *facts = &entry->facts;
	struct slice detail = { 0 };

	if (facts->run != 0)
		detail = facts_text(facts, arena);
	else if (entry->is_act)
		detail = change_text(&entry->act, arena);
	else if (entry->is_decision)
		detail = slice_str(verdict_text((enum verdict)entry->decision.verdict));
	records_time(records, entry->wall_ms);
	records_text(records, arena_copy(arena, entry->is_act ? entry->act.name :
					 entry->is_decision ? entry->decision.person : facts->owner));
	if (entry->is_act)
		records_text(records, arena_copy(arena, entry->act.verb));
	else
		records_text(records, slice_str(entry->is_decision ? decision_verb(&entry->decision) :
						facts->schedule.len > 0 ? "fire" : "submit"));
	records_text(records, target_text(entry, arena));
	records_text(records, detail);
	records_text(records, arena_copy(arena, entry->is_act ? entry->act.reason : entry->decision.reason));
}

static void number_or_none(struct records *records, uint64_t number)
{
	if (number != 0)
		records_number(records, number);
	else
		records_none(records);
}

static void add_entry(struct records *records, const struct history_entry *entry)
{
	struct arena *arena = records->arena;
	const struct history_facts *facts = &entry->facts;

	add_shown(records, entry);
	number_or_none(records, entry->act.act);
	number_or_none(records, entry->act.turn);
	records_text(records, arena_copy(arena, entry->act.origin));
	records_text(records, arena_copy(arena, entry->act.before));
	records_text(records, arena_copy(arena, entry->act.after));
	number_or_none(records, entry->is_act ? entry->act.run : entry->is_decision ? entry->decision.run : facts->run);
	records_text(records, arena_copy(arena, facts->name));
	if (facts->run != 0)
		records_state(records, run_state_info(facts->state), run_state_name(facts->state));
	else
		records_none(records);
	number_or_none(records, facts->jobs);
	records_text(records, arena_copy(arena, facts->schedule));
	records_time(records, facts->submitted_ms);
	records_time(records, facts->ended_ms);
	records_time(records, facts->pruned_ms);
	records_text(records, arena_copy(arena, facts->pruned_by));
}

/*
 * Print at most limit entries: in portions, or all at once as a table, whose columns must be measured. *ret_more: there
 * are more entries.
 */
static enum err print_entries(struct cli *cli, struct history_merge *merge, uint64_t limit, uint64_t *ret_count, bool *ret_more)
{
	bool table = printing_measures(&cli->out);
	struct printing printing = { .look = &cli->out };
	struct arena arena = { 0 };
	struct history_entry entry;
	struct records records;
	struct buf out = { 0 };
	uint64_t count = 0;
	enum err err = ERR_NONE;

	records_begin(&records, history_columns, history_table.count, &arena);
	if (!table)
		printing_begin(&printing, &records, &out);
	while (count < limit && (err = history_next(merge, &entry)) == ERR_NONE) {
		add_entry(&records, &entry);
		count++;
		if (table || count % PORTION != 0)
			continue;
		printing_rows(&printing, &records, &out);
		cli_print(cli, &out);
		records_clear(&records);
		arena_reset(&arena);
	}
	*ret_more = err == ERR_NONE && history_next(merge, &entry) == ERR_NONE;
	*ret_count = count;
	if (table) {
		records_print(&records, &cli->out, &out);
	} else {
		printing_rows(&printing, &records, &out);
		printing_end(&printing, &out);
	}
	if (err == ERR_NONE || err == ERR_NOT_FOUND)
		cli_print(cli, &out);
	buf_free(&out);
	arena_free(&arena);
	return err == ERR_NOT_FOUND ? ERR_NONE : err;
}

static enum err read_wanted(struct cli *cli, struct history_wanted *ret, uint64_t *ret_limit)
{
	const struct invocation *invocation = cli->invocation;
	const char *by = option_value(invocation, OPT_history_by), *verb = option_value(invocation, OPT_history_verb);
	const char *run = option_value(invocation, OPT_history_run);
	enum err err;

	*ret = (struct history_wanted){ .by = slice_str(by), .verb = slice_str(verb) };
	*ret_limit = cli->out.style == STYLE_HUMAN ? HISTORY_LIMIT : UINT64_MAX;
	if ((err = option_number(invocation, OPT_history_limit, 1, INT32_MAX, ret_limit, &cli->error)) != ERR_NONE ||
	    (err = option_when(invocation, OPT_history_since, &ret->since_ms, &cli->error)) != ERR_NONE ||
	    (err = option_when(invocation, OPT_history_until, &ret->until_ms, &cli->error)) != ERR_NONE)
		return err;
	if (run == NULL)
		return ERR_NONE;
	if (strcmp(run, "last") == 0)
		return cli_select_run(cli, run, &ret->run);
	/* A pruned run has entries too, so the run isn't looked up here. */
	return parse_number(run, "--run", 1, INT64_MAX, &ret->run, &cli->error);
}

int cmd_history(struct cli *cli)
{
	struct history_wanted wanted;
	struct history_merge *merge;
	struct records check;
	uint64_t limit, count = 0;
	bool more = false;
	enum err err;

	records_begin(&check, history_columns, history_table.count, &cli->arena);
	if (records_check(&check, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    read_wanted(cli, &wanted, &limit) != ERR_NONE)
		return cli_fail(cli);
	merge = history_begin(cli, &wanted);
	err = print_entries(cli, merge, limit, &count, &more);
	history_end(merge);
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (more)
		cli_note(cli, "these are the newest %" PRIu64 " entries; for more: titan history --limit %" PRIu64, count, 10 * count);
	if (count == 0 && cli_chatty(cli))
		cli_note(cli, "no entry of the history matches");
	return 0;
}
