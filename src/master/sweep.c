/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "master/sweep.h"

#include <endian.h>
#include <stdlib.h>

#include "base/mem.h"

struct sweep *sweep_new(const struct peer_session *session, const struct msg_prune *rule)
{
	struct sweep *sweep = mem_zalloc(sizeof(*sweep));

	if (session) {
		sweep->conn = session->id;
		memcpy(sweep->person, session->principal.name, sizeof(sweep->person));
	}
	sweep->rule = *rule;
	return sweep;
}

void sweep_free(struct sweep *sweep)
{
	mem_free(sweep->sizes);
	arena_free(&sweep->arena);
	mem_free(sweep);
}

static uint64_t history_ms(const struct sweep *sweep, unsigned history)
{
	const uint64_t ages[] = { sweep->rule.history_ms, sweep->rule.past_ms, sweep->rule.acts_ms,
				  sweep->rule.acts_ms };

	return ages[history];
}

bool sweep_history(struct sweep *sweep, enum store_what *ret_what)
{
	static const enum store_what reads[] = { READ_TURNS, READ_CHANGES, READ_ACTS, READ_PRUNED };

	while (sweep->history < HISTORIES && history_ms(sweep, sweep->history) == 0 &&
	       (sweep->history != HISTORY_PAST || sweep->rule.past_bytes == 0))
		sweep->history++;
	if (sweep->history == HISTORIES)
		return false;
	*ret_what = reads[sweep->history];
	return true;
}

static uint64_t number_at(struct slice bytes, size_t place)
{
	uint64_t number = 0;

	if (bytes.len >= place + sizeof(number))
		memcpy(&number, bytes.data + place, sizeof(number));
	return le64toh(number);
}

static int64_t wall_ms_of(const struct row *row)
{
	switch (row->table) {
	case TABLE_event:
		return row->event.wall_ms;
	case TABLE_change:
		return row->change.wall_ms;
	case TABLE_act:
		return row->act.wall_ms;
	default:
		return row->pruned_run.wall_ms;
	}
}

size_t sweep_history_goes(const struct sweep *sweep, const struct store_query *rows)
{
	bool aged = history_ms(sweep, sweep->history) > 0;
	bool bounded = sweep->history == HISTORY_PAST && sweep->rule.past_bytes > 0;
	/* Never remove the latest act: the chain of hashes continues from it. */
	size_t most = rows->row_count - (sweep->history == HISTORY_ACTS && rows->row_count > 0 && rows->row_count < LIMIT_PRUNE_ROWS);
	size_t count = 0;

	for (; count < most; count++) {
		const struct row *row = &rows->rows[count];
		/*
		 * Bytes of all changes after this row. The row itself stays even if it exceeds the limit, so one turn
		 * too much may be kept.
		 */
		uint64_t behind = bounded ? number_at(row->change.body, 8) - number_at(row->change.body, 0) : 0;

		if (!(aged && wall_ms_of(row) < sweep->history_before_ms[sweep->history]) &&
		    !(bounded && behind >= sweep->rule.past_bytes - 1 && wall_ms_of(row) < sweep->begun_ms))
			break;
	}
	return count;
}

void sweep_begin(struct sweep *sweep, const struct core *core)
{
	int64_t now_ms = clock_wall_ms();
	uint64_t ended = view_ended_runs(core);

	sweep->begun = true;
	sweep->begun_ms = now_ms;
	sweep->cursor = 1;
	sweep->before_ms = now_ms - (int64_t)(sweep->rule.older_ms - 1);
	for (unsigned history = 0; history < HISTORIES; history++)
		sweep->history_before_ms[history] = now_ms - (int64_t)(history_ms(sweep, history) - 1);
	sweep->history = sweep->rule.dry ? HISTORIES : 0;
	sweep->excess = sweep->rule.keep > 0 && ended > sweep->rule.keep - 1 ? ended - (sweep->rule.keep - 1) : 0;
	sweep->scanned = sweep->rule.older_ms == 0 && sweep->rule.log_bytes == 0 && sweep->excess == 0;
	/* A dry run reports how many bytes would go, so it needs the sizes. */
	sweep->measured = sweep->scanned || (sweep->rule.log_bytes == 0 && !sweep->rule.dry);
}

struct prune_rule sweep_rule(const struct sweep *sweep, uint64_t as_of)
{
	return (struct prune_rule){ .as_of = as_of, .dead = sweep->rule.dead, .logs_only = sweep->rule.logs_only };
}

/* ---- sizes ---- */

static int compare_sizes_cb(const void *a, const void *b)
{
	const struct log_size *left = a, *right = b;

	return (left->run > right->run) - (left->run < right->run);
}

static uint64_t size_of(const struct sweep *sweep, uint64_t run)
{
	const struct log_size key = { .run = run };
	const struct log_size *found = NULL;

	if (sweep->size_count > 0)
		found = bsearch(&key, sweep->sizes, sweep->size_count, sizeof(key), compare_sizes_cb);
	return found ? found->bytes : 0;
}

void sweep_measure(struct sweep *sweep, struct log_answer *answer)
{
	sweep->sizes = answer->sizes;
	sweep->size_count = answer->size_count;
	answer->sizes = NULL;
	sweep->measured = true;
	if (sweep->size_count > 0)
		qsort(sweep->sizes, sweep->size_count, sizeof(*sweep->sizes), compare_sizes_cb);
	for (size_t i = 0; i < sweep->size_count; i++)
		sweep->log_bytes += sweep->sizes[i].bytes;
}

/* ---- choosing the runs to prune ---- */

static bool too_old(const struct sweep *sweep, int64_t wall_ms)
{
	return sweep->rule.older_ms > 0 && wall_ms < sweep->before_ms;
}

static bool too_large(const struct sweep *sweep)
{
	return sweep->rule.log_bytes > 0 && sweep->log_bytes > sweep->rule.log_bytes - 1;
}

/* Does a rule prune this run, which is the next one in order? */
static bool wanted(const struct sweep *sweep, const struct row_run *row)
{
	return too_old(sweep, row->ended_ms) || sweep->seen < sweep->excess ||
	       (too_large(sweep) && size_of(sweep, (uint64_t)row->run) > 0);
}

/* Can no later run be pruned? Later runs were submitted, and so ended, after this one was submitted. */
static bool nothing_follows(const struct sweep *sweep, const struct row_run *row)
{
	return !too_old(sweep, row->submitted_ms) && sweep->seen >= sweep->excess && !too_large(sweep);
}

void sweep_count(struct sweep *sweep, const struct row_run *row)
{
	sweep->sum.runs++;
	sweep->sum.jobs += (uint64_t)row->jobs;
	if (sweep->shown_count < SWEEP_SHOWN)
		history_run_row(row, &sweep->arena, &sweep->shown[sweep->shown_count++]);
}

bool sweep_look(struct sweep *sweep, const struct core *core, uint64_t as_of, const struct store_query *runs,
		uint64_t *candidates, size_t *ret_count)
{
	struct prune_rule rule = sweep_rule(sweep, as_of);

	for (size_t i = 0; i < runs->row_count; i++) {
		const struct row_run *row = &runs->rows[i].run;
		enum prune_word word;
		uint64_t bytes;

		if (nothing_follows(sweep, row)) {
			sweep->scanned = true;
			break;
		}
		word = wanted(sweep, row) ? view_prunable(core, row, &rule) : PRUNE_GONE;
		if (word == PRUNE_OLD_NEWS)
			return false;
		sweep->cursor = (uint64_t)row->run + 1;
		sweep->seen++;
		sweep->sum.letters += word == PRUNE_LETTERS;
		sweep->sum.others += word == PRUNE_NEEDED;
		if (word != PRUNE_GOES)
			continue;
		bytes = size_of(sweep, (uint64_t)row->run);
		sweep->log_bytes -= bytes < sweep->log_bytes ? bytes : sweep->log_bytes;
		if (!sweep->rule.dry) {
			candidates[(*ret_count)++] = i;
			continue;
		}
		sweep_count(sweep, row);
		sweep->sum.bytes += bytes;
	}
	return true;
}
