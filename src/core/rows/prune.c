/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pruning: removing ended runs for good. Within one turn a pruned run disappears for everybody: its row and submit
 * keys are deleted, its number joins the ranges of pruned runs, and a row of `pruning` lists what is left to delete.
 * The rest is deleted in later turns, a limited number of rows each; the master removes the logs. A restart in
 * between finds the row of `pruning` and continues.
 *
 * A run isn't pruned while it lives, while something else needs it, or if its row may have changed since it was read.
 */
#include "core/rows/durable.h"

#include <endian.h>

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/rows/internal.h"
#include "core/time/time.h"
#include "core/values/values.h"
#include "core/view/view.h"

#define PART_ROWS 20                     /* jobs whose specifications cost as much as one row */
#define RANGE_BYTES 16

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* ---- rows of pruned runs left to delete ---- */

/* Return the index of the first entry with this number or a higher one. */
static size_t pruning_place(const struct core *core, uint64_t number)
{
	size_t at = core->pruning_count;

	while (at > 0 && core->pruning[at - 1].run >= number)
		at--;
	return at;
}

struct pruning *pruning_find(const struct core *core, uint64_t number)
{
	size_t at = pruning_place(core, number);

	return at < core->pruning_count && core->pruning[at].run == number ? &core->pruning[at] : NULL;
}

static struct pruning *pruning_insert(struct core *core, uint64_t number)
{
	size_t at = pruning_place(core, number);

	GROW(core->pruning, core->pruning_count, core->pruning_cap);
	memmove(&core->pruning[at + 1], &core->pruning[at], (core->pruning_count - at) * sizeof(*core->pruning));
	core->pruning_count++;
	core->pruning[at] = (struct pruning){ .run = number };
	return &core->pruning[at];
}

static uint64_t number_get(const uint8_t *in)
{
	uint64_t value;

	memcpy(&value, in, sizeof(value));
	return le64toh(value);
}

static void pruning_put(struct core *core, const struct pruning *pruning)
{
	struct row *row = outbox_row(core->outbox, TABLE_pruning);
	size_t left = pruning->range_count - pruning->range_at;
	uint8_t *bytes = arena_alloc(&core->outbox->arena, left * RANGE_BYTES);

	for (size_t i = 0; i < left; i++) {
		number_put(bytes + i * RANGE_BYTES, pruning->ranges[pruning->range_at + i].first);
		number_put(bytes + i * RANGE_BYTES + 8, pruning->ranges[pruning->range_at + i].end);
	}
	row->pruning = (struct row_pruning){
		.run = (int64_t)pruning->run, .logs_only = pruning->logs_only, .parts = (int64_t)pruning->parts,
		.part_cost = (int64_t)pruning->part_cost, .jobs = slice_make(bytes, left * RANGE_BYTES),
	};
}

enum err load_pruning(struct core *core, const struct row_pruning *row, struct error *error)
{
	struct pruning *pruning;

	if (row->run < 1 || (uint64_t)row->run >= core->next_run || row->parts < 0 || row->part_cost < 0 ||
	    (row->parts > 0 && row->part_cost == 0) || row->jobs.len % RANGE_BYTES != 0 ||
	    pruning_find(core, (uint64_t)row->run) ||
	    !pruned_find(core, (uint64_t)row->run) != (row->logs_only != 0) ||
	    (row->logs_only != 0 && (row->parts != 0 || row->jobs.len != 0)))
		return error_set(error, ERR_STORE_TRUST, "run %lld is being pruned, but its row contradicts itself",
				 (long long)row->run);
	pruning = pruning_insert(core, (uint64_t)row->run);
	pruning->logs_only = row->logs_only != 0;
	pruning->parts = PLANTED(pruning_lost_at_load) ? 0 : (uint64_t)row->parts;
	pruning->part_cost = (uint64_t)row->part_cost;
	for (size_t i = 0; i < row->jobs.len; i += RANGE_BYTES) {
		struct serials range = { number_get(row->jobs.data + i), number_get(row->jobs.data + i + 8) };

		if (range.first < 1 || range.end <= range.first || range.end > core->next_job)
			return error_set(error, ERR_STORE_TRUST, "run %lld is being pruned, but its row names jobs "
				"that never existed",
					 (long long)row->run);
		GROW(pruning->ranges, pruning->range_count, pruning->range_cap);
		pruning->ranges[pruning->range_count++] = range;
	}
	return ERR_NONE;
}

static struct row *delete_range(struct core *core, enum row_table table, uint64_t until)
{
	struct row *row = outbox_row(core->outbox, table);

	row->deleted = true;
	row->until = (int64_t)until;
	return row;
}

static void parts_delete(struct core *core, struct pruning *pruning, uint64_t count)
{
	struct row *row = delete_range(core, TABLE_spec, pruning->parts);

	pruning->parts -= count;
	row->spec.run = (int64_t)pruning->run;
	row->spec.part = (int64_t)pruning->parts;
}

static void jobs_delete(struct core *core, struct pruning *pruning, uint64_t count)
{
	struct serials *range = &pruning->ranges[pruning->range_at];
	uint64_t until = range->first + count;

	delete_range(core, TABLE_job, until)->job.job = (int64_t)range->first;
	delete_range(core, TABLE_decision, until)->decision.job = (int64_t)range->first;
	delete_range(core, TABLE_dead, until)->dead.job = (int64_t)range->first;
	delete_range(core, TABLE_attempt, until)->attempt.job = (int64_t)range->first;
	range->first = until;
	pruning->range_at += range->first == range->end;
}

/* Delete as many rows of a pruned run as this turn has room for, perhaps all. */
static void pruning_go_on(struct core *core, struct pruning *pruning, uint64_t *room)
{
	while (pruning->parts > 0 && *room > 0) {
		uint64_t cost = least(pruning->part_cost, *room);
		uint64_t count = least(*room / cost, pruning->parts);

		parts_delete(core, pruning, count);
		*room -= count * cost;
	}
	while (pruning->range_at < pruning->range_count && *room > 0) {
		const struct serials *range = &pruning->ranges[pruning->range_at];
		uint64_t count = least(range->end - range->first, *room);

		*room -= count;
		jobs_delete(core, pruning, count);
	}
}

static void pruning_end(struct core *core, struct pruning *pruning)
{
	size_t at = (size_t)(pruning - core->pruning);
	struct row *row = outbox_row(core->outbox, TABLE_pruning);

	row->deleted = true;
	row->pruning.run = (int64_t)pruning->run;
	mem_free(pruning->ranges);
	memmove(pruning, pruning + 1, (core->pruning_count - at - 1) * sizeof(*pruning));
	core->pruning_count--;
}

/* ---- which runs may be pruned ---- */

enum prune_word view_prunable(const struct core *core, const struct row_run *row, const struct prune_rule *rule)
{
	const struct schedule *schedule = row->schedule.len ? schedule_find(core, row->schedule) : NULL;
	const struct run *parent = row->parent_run ? run_find(core, (uint64_t)row->parent_run) : NULL;
	uint64_t number = (uint64_t)row->run;

	if (row->ended_ms == 0 || run_find(core, number))
		return PRUNE_LIVE;
	if (pruned_find(core, number) || pruning_find(core, number) || (rule->logs_only && row->logs_gone_ms >= row->ended_ms))
		return PRUNE_GONE;
	if (core->revived_turn > rule->as_of && !PLANTED(pruned_by_old_rows))
		return PRUNE_OLD_NEWS;
	if (row->dead > 0 && !rule->dead && !PLANTED(pruned_with_its_letters))
		return PRUNE_LETTERS;
	if (!rule->logs_only &&
	    ((schedule && schedule->last_run == number) ||
	     (parent && parent->ended_ms == 0 && !PLANTED(pruned_under_a_live_run))))
		return PRUNE_NEEDED;
	return PRUNE_GOES;
}

/* ---- pruning a run ---- */

/*
 * Delete the submit keys of a run and return their number. A schedule's run has none; a run that was added to has
 * several.
 */
static uint64_t keys_forget(struct core *core, uint64_t number)
{
	struct submit_key *next = map_remove(&core->keys_of, number);
	uint64_t count = 0;

	map_remove(&core->begun, number);
	while (next) {
		struct submit_key *key = next;
		struct row *row = outbox_row(core->outbox, TABLE_submit_key);

		next = key->next;
		row->deleted = true;
		row->submit_key.run = (int64_t)key->run;
		row->submit_key.principal = (int64_t)number_get(key->id) + PLANTED(pruned_key_kept_on_disk);
		row->submit_key.submit_key = arena_copy(&core->outbox->arena, slice_make(key->id + 8, 16));
		name_map_remove(&core->keys, slice_make(key->id, sizeof(key->id)));
		mem_free(key);
		count++;
	}
	return count;
}

/* Find the serial numbers of the run's jobs: consecutive within a submit, with gaps before jobs added later. */
static void ranges_take(struct pruning *pruning, const struct row_run *run, const struct row *parts, size_t count)
{
	uint64_t next = (uint64_t)run->first, jobs = 0;

	for (size_t i = 0; i < count; i++) {
		const struct row_spec *part = &parts[i].spec;
		struct serials *last = pruning->range_count ? &pruning->ranges[pruning->range_count - 1] : NULL;

		if (part->first != 0)
			next = (uint64_t)part->first;
		jobs += (uint64_t)part->count;
		if (last && last->end == next) {
			last->end += (uint64_t)part->count;
		} else if (part->count > 0) {
			GROW(pruning->ranges, pruning->range_count, pruning->range_cap);
			pruning->ranges[pruning->range_count++] = (struct serials){ next, next + (uint64_t)part->count };
		}
		next += (uint64_t)part->count;
	}
	pruning->parts = count;
	pruning->part_cost = count ? 1 + jobs / count / PART_ROWS : 0;
}

static void run_row_delete(struct core *core, uint64_t number)
{
	struct row *row = outbox_row(core->outbox, TABLE_run);

	row->deleted = true;
	row->run.run = (int64_t)number;
}

static void logs_row_put(struct core *core, const struct row_run *run)
{
	struct row *row = outbox_row(core->outbox, TABLE_run);

	row->run = *run;
	row->run.logs_gone_ms = core->now.wall_ms > run->ended_ms ? core->now.wall_ms : run->ended_ms;
	outbox_own(core->outbox, row);
}

/*
 * Take the rows that aren't counted one by one: for example the run's own row, one of `pruning` and one of `pruned`.
 */
static void room_take(uint64_t *room, uint64_t rows)
{
	*room -= least(rows, *room);
}

/* Put the row that keeps what people may still ask about a pruned run. */
static void facts_put(struct core *core, const struct row_run *run, struct slice person)
{
	struct row *row = outbox_row(core->outbox, TABLE_pruned_run);

	row->pruned_run = (struct row_pruned_run){
		.run = run->run, .name = run->name, .owner = run->owner, .schedule = run->schedule, .state = run->state,
		.jobs = run->jobs, .submitted_ms = run->submitted_ms, .ended_ms = run->ended_ms,
		.wall_ms = core->now.wall_ms, .person = person,
	};
	outbox_own(core->outbox, row);
}

static void run_prune(struct core *core, const struct row_run *run, const struct row *parts, size_t count,
		      const struct input_prune *prune, uint64_t *room)
{
	bool logs_only = prune->rule.logs_only;
	struct pruning *pruning = pruning_insert(core, (uint64_t)run->run);

	pruning->logs_only = logs_only;
	if (logs_only) {
		logs_row_put(core, run);
		room_take(room, 2);
	} else {
		run_row_delete(core, (uint64_t)run->run);
		ended_sums_run_pruned(core, run);
		facts_put(core, run, prune->person);
		happened(core, HAPPENED_RUN_PRUNED, (uint64_t)run->run, run->name, 0);
		room_take(room, 4 + keys_forget(core, (uint64_t)run->run) + values_forget_run(core, (uint64_t)run->run));
		pruned_add(core, (uint64_t)run->run);
		ranges_take(pruning, run, parts, count);
		pruning_go_on(core, pruning, room);
	}
	pruning_put(core, pruning);
	outbox_changed(core->outbox, CHANGED_RUN, (uint64_t)run->run, 0);
}

uint64_t prune_step(struct core *core, const struct core_input *input)
{
	const struct input_prune *prune = &input->prune;
	uint64_t room = prune->room > 0 ? least(prune->room, LIMIT_PRUNE_ROWS) : LIMIT_PRUNE_ROWS;
	size_t parts;

	for (size_t i = 0; i < prune->gone_count; i++) {
		struct pruning *pruning = pruning_find(core, prune->gone[i]);

		if (pruning)
			pruning->logs_gone = true;
	}
	for (size_t i = core->pruning_count; i > 0; i--) {
		struct pruning *pruning = &core->pruning[i - 1];
		uint64_t before = room;

		pruning_go_on(core, pruning, &room);
		if (room != before)
			pruning_put(core, pruning);
		if (pruning->logs_gone && !pruning_has_rows(pruning))
			pruning_end(core, pruning);
	}
	for (size_t i = 0; i < prune->row_count; i += 1 + parts) {
		const struct row_run *run = &prune->rows[i].run;

		CHECK(prune->rows[i].table == TABLE_run);
		for (parts = 0; i + 1 + parts < prune->row_count && prune->rows[i + 1 + parts].table == TABLE_spec; parts++)
			;
		if (room > 0 && core->pruning_count < LIMIT_PRUNE_RUNS && view_prunable(core, run, &prune->rule) == PRUNE_GOES)
			run_prune(core, run, &prune->rows[i + 1], parts, prune, &room);
	}
	if (prune->turns_until > prune->turns_from)
		delete_range(core, TABLE_event, least(prune->turns_until, core->turn))->event.turn = (int64_t)prune->turns_from;
	if (prune->past_until > prune->past_from)
		delete_range(core, TABLE_change, least(prune->past_until, core->turn))->change.turn = (int64_t)prune->past_from;
	if (least(prune->acts_until, core->acts.count) > prune->acts_from)
		delete_range(core, TABLE_act, least(prune->acts_until, core->acts.count))->act.act = (int64_t)prune->acts_from;
	if (prune->facts_until > prune->facts_from)
		delete_range(core, TABLE_pruned_run, prune->facts_until)->pruned_run.run = (int64_t)prune->facts_from;
	return prune->asked.len > 0;
}

/* ---- for people and the master ---- */

uint64_t view_ended_runs(const struct core *core)
{
	return core->next_run - 1 - core->live_runs - core->pruned_total;
}

uint64_t view_pruning_after(const struct core *core, uint64_t run, bool *ret_rows)
{
	size_t at = pruning_place(core, run + 1);

	if (at == core->pruning_count)
		return 0;
	*ret_rows = pruning_has_rows(&core->pruning[at]);
	return core->pruning[at].run;
}

/* ---- checks ---- */

void prune_check(const struct core *core)
{
	size_t cursor = 0, keys = 0;
	struct slice name;
	uint64_t number;
	void *value;

	pruned_check(core);
	for (size_t i = 0; i < core->pruning_count; i++) {
		const struct pruning *pruning = &core->pruning[i];

		CHECK(i == 0 || core->pruning[i - 1].run < pruning->run);
		CHECK(!pruned_find(core, pruning->run) == pruning->logs_only);
		CHECK(!run_find(core, pruning->run) && (!pruning->logs_only || !pruning_has_rows(pruning)));
	}
	for (size_t i = core->runs.head; i < core->runs.count; i++)
		CHECK(!core->runs.at[i].run || !pruned_find(core, core->runs.at[i].number));
	while (name_map_next(&core->keys, &cursor, &name, &value)) {
		const struct submit_key *key = value;

		CHECK(!pruned_find(core, key->run));
		keys += key->run != 0;
	}
	cursor = 0;
	while (map_next(&core->keys_of, &cursor, &number, &value))
		for (const struct submit_key *key = value; key; key = key->next, keys--)
			CHECK(key->run == number);
	CHECK(keys == 0);
}

static void mix(uint64_t *hash, uint64_t value)
{
	*hash = hash_u64(*hash ^ value) + 0x9e3779b97f4a7c15;
}

uint64_t prune_hash(const struct core *core)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < core->pruned_count; i++) {
		mix(&hash, core->pruned[i].first);
		mix(&hash, core->pruned[i].last);
		mix(&hash, (uint64_t)core->pruned[i].wall_ms);
	}
	for (size_t i = 0; i < core->pruning_count; i++) {
		const struct pruning *pruning = &core->pruning[i];

		mix(&hash, pruning->run << 1 | pruning->logs_only);
		mix(&hash, pruning->parts);
		mix(&hash, pruning->part_cost);
		for (size_t at = pruning->range_at; at < pruning->range_count; at++) {
			mix(&hash, pruning->ranges[at].first);
			mix(&hash, pruning->ranges[at].end);
		}
	}
	return hash;
}

void prune_free(struct core *core)
{
	for (size_t i = 0; i < core->pruning_count; i++)
		mem_free(core->pruning[i].ranges);
	mem_free(core->pruning);
	mem_free(core->pruned);
	map_free(&core->keys_of);
}
