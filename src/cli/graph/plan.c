/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints the jobs that a graph would run, one row each, without submitting it. A fan-out may have millions of jobs, so
 * rows are made in batches; for a table all rows are made twice, first to measure the columns.
 */
#include "cli/graph/plan.h"

#include <ctype.h>
#include <inttypes.h>

#include "cli/graph/folded.h"
#include "cli/graph/submit.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/rows.h"
#include "lang/demand.h"

#define PRIORITY_DEFAULT 50
#define FOLD_MOST   20000                /* most jobs that a graph may have for its fan-outs to be folded */
#define BATCH_CELLS 16384                /* most table cells and needs in memory at once */

static const struct column plan_columns[] = {
	{ "name", "JOB", false },
	{ "needs", "NEEDS", false },
	{ "retry_max", "RETRY", true },
	{ "command", "COMMAND", false },
	{ "shell", NULL, false },
	{ "labels", NULL, false },
	{ "asks", NULL, false },
	{ "approvals_needed", NULL, true },
	{ "from", NULL, false },
	{ "priority", NULL, true },
	{ "mode", NULL, false },
	{ "when", NULL, false },
	{ "needs_text", NULL, false },
	{ "kind", NULL, false },
};
const struct table plan_table = TABLE_OF(plan_columns);

#define OWN_COLUMNS (sizeof(plan_columns) / sizeof(plan_columns[0]))

static const char *capitals(const char *word, struct arena *arena)
{
	char *copy = arena_alloc(arena, strlen(word) + 1);

	for (size_t i = 0; i <= strlen(word); i++)
		copy[i] = (char)toupper((unsigned char)word[i]);
	return copy;
}

/*
 * Add columns for the plain settings. Tables show a text setting if any job has it; all other settings are only in
 * JSON.
 */
static size_t add_setting_columns(const struct graph_source *source, struct arena *arena, struct column *columns)
{
	struct arena scratch = { 0 };
	size_t count = OWN_COLUMNS;

	memcpy(columns, plan_columns, sizeof(plan_columns));
	for (size_t i = 0; i < setting_count; i++)
		if (setting_table[i].shape != SHAPE_OWN)
			columns[count++] = (struct column){ .key = setting_table[i].field };
	for (uint64_t job = 0; job < source->count; job++) {
		struct rec_job_spec spec;
		size_t at = OWN_COLUMNS;

		arena_reset(&scratch);
		source->job_cb(source->arg, job, &scratch, &spec);
		for (size_t i = 0; i < setting_count; i++) {
			if (setting_table[i].shape == SHAPE_TEXT && !columns[at].title && setting_is_said(&setting_table[i], &spec))
				columns[at].title = capitals(setting_table[i].yaml, arena);
			at += setting_table[i].shape != SHAPE_OWN;
		}
	}
	arena_free(&scratch);
	return count;
}

static struct slice with_result(struct arena *arena, struct slice name, uint64_t trigger)
{
	struct buf text = { 0 };
	struct slice copy;

	buf_add_slice(&text, name);
	buf_add_str(&text, trigger == TRIGGER_FAILED ? ":failed" : ":done");
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

static void describe_gate(const struct rec_job_spec *spec, struct buf *out)
{
	buf_addf(out, "(%" PRIu64 " must approve", spec->gate_count);
	for (size_t i = 0; i < spec->gate_from.n; i++) {
		buf_add_str(out, i == 0 ? ", of: " : ", ");
		buf_add_slice(out, spec->gate_from.at[i]);
	}
	buf_add_byte(out, ')');
}

static struct slice_list parents_named(const struct graph_source *source, const struct rec_job_spec *spec, struct arena *arena)
{
	struct slice_list needs = { .n = spec->needs.n };
	struct arena scratch = { 0 };

	needs.at = arena_zalloc(arena, needs.n + 1, sizeof(struct slice));
	for (size_t i = 0; i < needs.n; i++) {
		uint64_t trigger = i < spec->triggers.n ? spec->triggers.at[i] : TRIGGER_OK;
		struct rec_job_spec parent;

		arena_reset(&scratch);
		if (spec->needs.at[i] < source->count)
			source->job_cb(source->arg, spec->needs.at[i], &scratch, &parent);
		else
			parent.name = source->parents.at[spec->needs.at[i] - source->count];
		needs.at[i] = trigger == TRIGGER_FAILED || trigger == TRIGGER_DONE ? with_result(arena, parent.name, trigger) :
										     arena_copy(arena, parent.name);
	}
	arena_free(&scratch);
	return needs;
}

/* Add a row. name and needs are those of the job, or of the fan-out that the row stands for. */
static void add_plan_row(struct records *records, const struct rec_job_spec *spec, struct slice name, struct slice_list needs)
{
	struct arena *arena = records->arena;
	struct rec_job_settings settings;
	struct buf command = { 0 };

	for (size_t i = 0; i < spec->argv.n; i++) {
		if (i > 0)
			buf_add_byte(&command, ' ');
		buf_add_slice(&command, spec->argv.at[i]);
	}
	buf_add_slice(&command, spec->script);
	if (spec->sub_count > 0)
		buf_addf(&command, "(sub-run %.*s: %" PRIu64 " job%s)", (int)spec->sub_name.len,
			 (const char *)spec->sub_name.data, spec->sub_count, spec->sub_count == 1 ? "" : "s");
	if (spec->gate_count > 0)
		describe_gate(spec, &command);
	if (spec->kind == KIND_NOOP)
		buf_add_str(&command, "(nothing)");
	records_text(records, name);
	records_texts_as(records, needs, rows_needs_shown(needs, spec->needs_text, spec->when, arena));
	records_number(records, spec->retry_max);
	records_text(records, arena_copy(arena, buf_slice(&command)));
	records_bool(records, spec->script.len > 0);
	records_texts(records, spec->labels);
	records_texts(records, demand_shown(spec->asks, arena));
	records_number(records, spec->gate_count);
	records_texts(records, spec->gate_from);
	records_number(records, spec->priority ? spec->priority - 1 : PRIORITY_DEFAULT);
	records_text(records, slice_str(exec_mode_name((enum exec_mode)spec->mode)));
	records_text(records, spec->when);
	records_text(records, spec->needs_text);
	records_text(records, slice_str(job_kind_name(spec_kind(spec))));
	settings_of(spec, &settings);
	records_settings(records, &settings);
	buf_free(&command);
}

/* Add the row of a job, or of the fan-out whose first job it is. */
static void add_job(struct records *records, const struct graph_source *source, const struct picture *folds, uint64_t index,
		    const struct rec_job_spec *spec)
{
	uint32_t at = (uint32_t)index;
	struct slice_list needs = { 0 };
	struct slice name = spec->name;

	if (folds != NULL)
		needs = folded_needs(folds, at, records->arena);
	if (folds != NULL && folded_row(folds, at) == FOLDED_GROUP) {
		uint32_t node = folds->fold.node_of[at];
		struct buf text = { 0 };

		buf_add_slice(&text, folded_name(folds, node, records->arena));
		buf_addf(&text, " (%" PRIu32 ")", folds->fold.nodes[node].member_count);
		name = arena_copy(records->arena, buf_slice(&text));
		buf_free(&text);
	}
	add_plan_row(records, spec, name, needs.n > 0 ? needs : parents_named(source, spec, records->arena));
}

/*
 * Add rows from this job on until a batch is full. Return the index of the next job. folds: which fan-outs share rows,
 * or NULL.
 */
static uint64_t add_batch(struct records *records, const struct graph_source *source, const struct picture *folds, uint64_t from)
{
	size_t needs = 0;

	arena_reset(records->arena);
	records_clear(records);
	while (from < source->count && records->cell_count + needs < BATCH_CELLS) {
		struct rec_job_spec spec;

		if (folds != NULL && folded_row(folds, (uint32_t)from) == FOLDED_NONE) {
			from++;
			continue;
		}
		source->job_cb(source->arg, from, records->arena, &spec);
		add_job(records, source, folds, from++, &spec);
		needs += spec.needs.n;
	}
	return from;
}

enum err plan_print(struct cli *cli, const struct graph_source *source, bool all)
{
	bool fold = !all && cli->out.style == STYLE_HUMAN && source->count <= FOLD_MOST && source->parents.n == 0;
	struct column *columns = arena_zalloc(&cli->arena, OWN_COLUMNS + setting_count, sizeof(*columns));
	struct printing printing = { .look = &cli->out };
	struct arena arena = { 0 };
	struct picture picture = { 0 };
	struct records records;
	struct buf out = { 0 };
	enum err err;

	records_begin(&records, columns, add_setting_columns(source, &cli->arena, columns), &arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err != ERR_NONE)
		return err;
	if (fold)
		picture_of_source(source, &picture);
	for (uint64_t i = printing_measures(&cli->out) ? 0 : source->count; i < source->count;) {
		i = add_batch(&records, source, fold ? &picture : NULL, i);
		printing_measure(&printing, &records);
	}
	printing_begin(&printing, &records, &out);
	for (uint64_t i = 0; i < source->count;) {
		i = add_batch(&records, source, fold ? &picture : NULL, i);
		printing_rows(&printing, &records, &out);
		cli_print(cli, &out);
	}
	printing_end(&printing, &out);
	cli_print(cli, &out);
	buf_free(&out);
	arena_free(&arena);
	picture_free(&picture);
	cli_note(cli, "%" PRIu64 " job%s; nothing was submitted", source->count, source->count == 1 ? "" : "s");
	return ERR_NONE;
}
