/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sums of ended runs and of their jobs in `meta` equal a count of the rows, after each turn that ended, revived or pruned a run. */
#include "oracle.h"

#include <endian.h>

static uint64_t stored(const struct sim_world *world, const char *prefix, const char *name)
{
	struct buf text = { 0 };
	const struct row *row;

	buf_addf(&text, "%s%s", prefix, name);
	row = disk_get_text(&world->disk, TABLE_meta, buf_slice(&text));
	buf_free(&text);
	return row ? (uint64_t)row->meta.value : 0;
}

static void sum_agrees(struct sim_world *world, const char *prefix, const char *name, uint64_t counted)
{
	if (stored(world, prefix, name) != counted)
		world_fail(world, "%s%s is %u in meta, and the rows of runs say %u", prefix, name, (unsigned)stored(world, prefix, name),
			   (unsigned)counted);
}

static void sums_agree(struct sim_world *world)
{
	uint64_t all = 0, runs[RUN_STATE_COUNT] = { 0 }, jobs[STATE_COUNT] = { 0 };

	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row_run *run = &world->disk.order[i]->row.run;

		if (world->disk.order[i]->row.table != TABLE_run || run->ended_ms == 0)
			continue;
		all++;
		runs[run->state]++;
		for (size_t state = 0; state < run->counts.len / 4; state++) {
			uint32_t count;

			memcpy(&count, run->counts.data + 4 * state, 4);
			jobs[state] += le32toh(count);
		}
	}
	sum_agrees(world, "ended_runs", "", all);
	for (size_t state = 0; state < RUN_STATE_COUNT; state++)
		sum_agrees(world, "ended_runs_", run_state_name((enum run_state)state), runs[state]);
	for (size_t state = 0; state < STATE_COUNT; state++)
		sum_agrees(world, "ended_jobs_", state_table[state].name, jobs[state]);
}

static void sums_committed(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->row_count; i++) {
		if (outbox->rows[i].table == TABLE_run) {
			sums_agree(world);
			return;
		}
	}
}

const struct oracle_check oracle_sums = { .committed = sums_committed, .rest = sums_agree };
