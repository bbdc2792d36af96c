/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan diff: shows how two runs differ. As with diff(1), exit status 0 means that they don't; durations don't count. */
#include <inttypes.h>

#include "base/mem.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/commands/command.h"
#include "cli/commands/diff.h"
#include "cli/commands/outputs.h"
#include "cli/session/output.h"
#include "cli/show/records.h"

#define DIFFERENT 1                      /* exit status if the runs differ */

static const char *const kinds[DIFF_KINDS] = {
	[DIFF_RUN] = "run", [DIFF_JOB] = "job", [DIFF_SETTING] = "setting", [DIFF_VARIABLE] = "variable", [DIFF_RESULT] = "result",
	[DIFF_TIME] = "time",
};

void diff_add(struct diff_list *list, struct slice name, enum diff_kind kind, const char *what, struct slice before, struct slice after)
{
	if (list->count == list->room) {
		struct diff_entry *bigger;

		list->room = list->room ? 2 * list->room : 64;
		bigger = arena_alloc(list->arena, list->room * sizeof(*bigger));
		if (list->count > 0)
			memcpy(bigger, list->at, list->count * sizeof(*bigger));
		list->at = bigger;
	}
	list->at[list->count++] = (struct diff_entry){
		.name = name, .kind = kind, .what = arena_copy(list->arena, slice_str(what)), .before = before, .after = after,
	};
}

static enum err ask_side(struct cli *cli, const char *word, struct diff_side *ret)
{
	uint64_t run;
	struct rec_job_row *rows;
	size_t count = 0;
	enum err err = cli_select_run(cli, word, &run);

	if (err != ERR_NONE || (err = cli_query_run(cli, run, &cli->arena, &ret->run)) != ERR_NONE ||
	    (err = cli_query_graph(cli, run, NULL, &ret->asked)) != ERR_NONE || (err = cli_query_jobs(cli, run, SIZE_MAX, &cli->arena, &rows, &count)) != ERR_NONE)
		return err;
	ret->jobs = arena_zalloc(&cli->arena, (size_t)ret->asked.graph.count + 1, sizeof(*ret->jobs));
	for (size_t i = 0; i < ret->asked.graph.count; i++)
		ret->jobs[i].name = ret->asked.graph.jobs[i].name;
	for (size_t i = 0; i < count; i++)
		if (rows[i].index < ret->asked.graph.count)
			ret->jobs[rows[i].index] = rows[i];
	return ERR_NONE;
}

/* ---- folding: the same difference of several members of a fan-out is one line ---- */

static struct slice stem_of(struct slice name)
{
	return slice_make(name.data, spec_stem(name));
}

static bool same_line(const struct diff_entry *one, const struct diff_entry *other)
{
	return one->kind == other->kind && slice_eq(one->what, other->what) && slice_eq(stem_of(one->name), stem_of(other->name));
}

static size_t fold(struct diff_list *list)
{
	size_t kept = 0, start = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct diff_entry entry = list->at[i];
		struct slice stem = stem_of(entry.name);
		bool member = stem.len < entry.name.len;
		size_t at = kept;

		/* An entry joins only lines of its own fan-out. Those are the last lines: they begin at start. */
		if (kept > 0 && !(member && slice_eq(stem_of(list->at[kept - 1].name), stem)))
			start = kept;
		for (size_t k = start; k < kept && member && at == kept; k++)
			if (list->at[k].count > 0 && same_line(&list->at[k], &entry))
				at = k;
		if (at == kept) {
			entry.count = member;
			list->at[kept++] = entry;
			continue;
		}
		list->at[at].count++;
		if (!slice_eq(list->at[at].before, entry.before) || !slice_eq(list->at[at].after, entry.after))
			list->at[at].before = list->at[at].after = slice_str("(various)");
	}
	return kept;
}

/* ---- printing ---- */

static const struct column diff_columns[] = {
	{ "name", "JOB", false },
	{ "kind", "KIND", false },
	{ "what", "WHAT", false },
	{ "before", "BEFORE", false },
	{ "after", "AFTER", false },
};
const struct table diff_table = TABLE_OF(diff_columns);

static void add_entry(struct cli *cli, const struct diff_entry *entry, struct records *records)
{
	bool human = cli->out.style == STYLE_HUMAN;
	struct buf name = { 0 };

	if (entry->name.len == 0 && human)
		buf_add_str(&name, "(run)");
	buf_add(&name, entry->name.data, entry->count > 0 ? stem_of(entry->name).len : entry->name.len);
	if (entry->count > 0)
		buf_addf(&name, "[%" PRIu64 "]", entry->count);
	records_text(records, arena_copy(&cli->arena, buf_slice(&name)));
	records_text(records, slice_str(kinds[entry->kind]));
	records_text(records, entry->what);
	records_text(records, human && entry->before.len == 0 ? slice_str("-") : entry->before);
	records_text(records, human && entry->after.len == 0 ? slice_str("-") : entry->after);
	buf_free(&name);
}

static void print(struct cli *cli, struct diff_list *list)
{
	size_t count = cli->out.style == STYLE_HUMAN ? fold(list) : list->count;
	struct records records;
	struct buf out = { 0 };

	records_begin(&records, diff_columns, diff_table.count, &cli->arena);
	for (size_t i = 0; i < count; i++)
		add_entry(cli, &list->at[i], &records);
	if (count > 0 || cli->out.style != STYLE_HUMAN)
		records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
}

int cmd_diff(struct cli *cli)
{
	struct diff_list list = { .arena = &cli->arena };
	struct diff_side one = { 0 }, other = { 0 };
	struct records records;
	bool differ = false;

	records_begin(&records, diff_columns, diff_table.count, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    ask_side(cli, cli->invocation->args[0], &one) != ERR_NONE || ask_side(cli, cli->invocation->args[1], &other) != ERR_NONE)
		return cli_fail(cli);
	diff_graphs(&one, &other, &list);
	diff_results(&one, &other, &list);
	for (size_t i = 0; i < list.count; i++)
		differ = differ || list.at[i].kind != DIFF_TIME;
	print(cli, &list);
	if (one.asked.masked || other.asked.masked)
		cli_note(cli, "somebody else submitted one of these runs: values of variables weren't compared");
	return differ ? DIFFERENT : 0;
}
