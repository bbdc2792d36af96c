/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many ended runs and jobs the store has in each state, so that nobody has to count a million rows. The sums are rows of
 * `meta`: ended_runs, ended_runs_STATE and ended_jobs_STATE. Each changes in the turn in which a run ends, lives again or is
 * pruned. A store that was written by an older master has no such rows: there the rows of its ended runs are added up once.
 */
#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/rows/durable.h"
#include "core/rows/internal.h"

enum sign { ADDED, TAKEN };

static void sum_move(uint64_t *sum, uint64_t count, enum sign sign)
{
	*sum = sign == ADDED ? *sum + count : *sum - (count < *sum ? count : *sum);
}

static void sums_move(struct core *core, const uint32_t counts[STATE_COUNT], enum run_state state, enum sign sign)
{
	struct ended_sums *sums = &core->ended_sums;

	sum_move(&sums->all, 1, sign);
	sum_move(&sums->runs[state], 1, sign);
	sums->runs_due |= 1u << state;
	for (size_t i = 0; i < STATE_COUNT; i++) {
		if (counts[i] == 0)
			continue;
		sum_move(&sums->jobs[i], counts[i], sign);
		sums->jobs_due |= 1u << i;
	}
	sums->due = true;
}

void ended_sums_run_ended(struct core *core, const struct run *run)
{
	sums_move(core, run->counts, run_state_of(run->counts, run->forgiven), ADDED);
}

void ended_sums_run_lives_again(struct core *core, const struct run *run)
{
	if (!PLANTED(ended_sums_kept_over_a_retry))
		sums_move(core, run->counts, run_state_of(run->counts, run->forgiven), TAKEN);
}

/* Add or take the counts in the row of an ended run. A row of an older master may have fewer states. */
static bool row_move(struct core *core, const struct row_run *row, enum sign sign)
{
	uint32_t counts[STATE_COUNT] = { 0 };

	if (row->counts.len % 4 != 0 || row->counts.len > sizeof(counts) || row->state < 0 || row->state >= RUN_STATE_COUNT)
		return false;
	for (size_t i = 0; i < row->counts.len / 4; i++) {
		memcpy(&counts[i], row->counts.data + 4 * i, 4);
		counts[i] = le32toh(counts[i]);
	}
	sums_move(core, counts, (enum run_state)row->state, sign);
	return true;
}

void ended_sums_run_pruned(struct core *core, const struct row_run *row)
{
	if (!PLANTED(ended_sums_kept_after_prune))
		row_move(core, row, TAKEN);
}

/* ---- rows ---- */

static void sum_put(struct core *core, const char *prefix, const char *name, uint64_t value)
{
	struct row *row = outbox_row(core->outbox, TABLE_meta);
	struct buf text = { 0 };

	buf_addf(&text, "%s%s", prefix, name);
	row->meta = (struct row_meta){ .name = arena_copy(&core->outbox->arena, buf_slice(&text)), .value = (int64_t)value };
	buf_free(&text);
}

void ended_sums_flush(struct core *core)
{
	struct ended_sums *sums = &core->ended_sums;

	if (!sums->due)
		return;
	sum_put(core, "ended_runs", "", sums->all);
	for (size_t i = 0; i < RUN_STATE_COUNT; i++)
		if (sums->runs_due & (1u << i))
			sum_put(core, "ended_runs_", run_state_name((enum run_state)i), sums->runs[i]);
	for (size_t i = 0; i < STATE_COUNT; i++)
		if (sums->jobs_due & (1u << i))
			sum_put(core, "ended_jobs_", state_table[i].name, sums->jobs[i]);
	sums->due = false;
	sums->runs_due = sums->jobs_due = 0;
}

/* If the name of a row of `meta` is the prefix and then another name, return the sum of that name. */
static bool is_sum(struct slice name, const char *prefix, const char *rest)
{
	size_t len = strlen(prefix);

	return name.len == len + strlen(rest) && memcmp(name.data, prefix, len) == 0 && memcmp(name.data + len, rest, name.len - len) == 0;
}

static uint64_t *sum_of(struct core *core, struct slice name)
{
	struct ended_sums *sums = &core->ended_sums;

	if (is_sum(name, "ended_runs", ""))
		return &sums->all;
	for (size_t i = 0; i < RUN_STATE_COUNT; i++)
		if (is_sum(name, "ended_runs_", run_state_name((enum run_state)i)))
			return &sums->runs[i];
	for (size_t i = 0; i < STATE_COUNT; i++)
		if (is_sum(name, "ended_jobs_", state_table[i].name))
			return &sums->jobs[i];
	return NULL;
}

enum err ended_sums_load(struct core *core, const struct row_meta *row, struct error *error)
{
	uint64_t *sum = sum_of(core, row->name);

	if (!sum)
		return ERR_NONE;
	if (!number_sane(row->value, 0))
		return TRUST(error, "meta: %.*s has the bad value %lld", (int)row->name.len, (const char *)row->name.data, (long long)row->value);
	*sum = PLANTED(ended_sums_forgotten_at_load) ? 0 : (uint64_t)row->value;
	core->ended_sums.known |= sum == &core->ended_sums.all;
	return ERR_NONE;
}

enum err ended_sums_load_run(struct core *core, const struct row_run *row, struct error *error)
{
	if (core->ended_sums.known)
		return TRUST(error, "run %lld has ended, and the store has sums of ended runs, so its row should not be read", (long long)row->run);
	if (!row_move(core, row, ADDED))
		return TRUST(error, "run %lld: the row has a bad state, or bad counts of its jobs", (long long)row->run);
	return ERR_NONE;
}

void ended_sums_loaded(struct core *core)
{
	core->ended_sums.due |= !core->ended_sums.known;
	core->ended_sums.known = true;
}
