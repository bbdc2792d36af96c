/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares how two runs and their jobs ended, and how long they took. */
#include "cli/commands/diff.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/show/row_words.h"

/* Durations differ if one is longer by at least this much and by at least a fifth of the shorter one. */
#define NOTABLE_MS 1000

static struct slice span_text(int64_t ms, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	text_add_span(&text, ms);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

static void diff_time(struct diff_list *list, struct slice name, int64_t before, int64_t after)
{
	int64_t more = before > after ? before - after : after - before, least = before < after ? before : after;

	if (before >= 0 && after >= 0 && more >= NOTABLE_MS && more * 5 >= least)
		diff_add(list, name, DIFF_TIME, "duration", span_text(before, list->arena), span_text(after, list->arena));
}

static struct slice outcome(const struct rec_job_row *row, struct arena *arena)
{
	enum job_state state = job_state_checked(row->state);
	struct slice text = state == STATE_SUCCEEDED || !state_terminal(state) ? (struct slice){ 0 } : job_outcome_text(row, arena);
	struct buf out = { 0 };
	struct slice copy;

	if (text.len == 0 || row->tries == 0)
		return slice_str(state_table[state].name);
	buf_addf(&out, "%s, ", state_table[state].name);
	buf_add_slice(&out, text);
	copy = arena_copy(arena, buf_slice(&out));
	buf_free(&out);
	return copy;
}

static struct slice number_text(uint64_t number, struct arena *arena)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return arena_copy(arena, slice_str(text));
}

static void diff_job(const struct rec_job_row *one, const struct rec_job_row *other, struct diff_list *list)
{
	struct slice before = outcome(one, list->arena), after = outcome(other, list->arena);

	if (!slice_eq(before, after))
		diff_add(list, one->name, DIFF_RESULT, "outcome", before, after);
	if (one->tries != other->tries)
		diff_add(list, one->name, DIFF_RESULT, "tries", number_text(one->tries, list->arena), number_text(other->tries, list->arena));
	if (one->ended_ms > 0 && other->ended_ms > 0 && one->started_ms > 0 && other->started_ms > 0)
		diff_time(list, one->name, one->ended_ms - one->started_ms, other->ended_ms - other->started_ms);
}

void diff_results(const struct diff_side *one, const struct diff_side *other, struct diff_list *list)
{
	struct slice before = slice_str(run_state_name(run_state_checked(one->run.state)));
	struct slice after = slice_str(run_state_name(run_state_checked(other->run.state)));
	struct spec_index index;

	if (!slice_eq(before, after))
		diff_add(list, (struct slice){ 0 }, DIFF_RESULT, "state", before, after);
	if (one->run.ended_ms > 0 && other->run.ended_ms > 0)
		diff_time(list, (struct slice){ 0 }, one->run.ended_ms - one->run.submitted_ms, other->run.ended_ms - other->run.submitted_ms);
	spec_index_make(&other->asked.graph, &index);
	for (uint64_t i = 0; i < one->asked.graph.count; i++) {
		uint64_t at = spec_index_find(&index, one->jobs[i].name);

		if (at != UINT64_MAX)
			diff_job(&one->jobs[i], &other->jobs[at], list);
	}
	spec_index_free(&index);
}
