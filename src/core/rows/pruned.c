/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of pruned runs: consecutive numbers pruned on one day share a range, and each range is a row. */
#include "core/rows/durable.h"

#include "core/rows/internal.h"
#include "core/view/view.h"

#define DAY_MS INT64_C(86400000)

/* Find the first range that ends at or after this number; pruned_count if there is none. */
static size_t pruned_place(const struct core *core, uint64_t number)
{
	size_t low = 0, high = core->pruned_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (core->pruned[middle].last < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct pruned *pruned_find(const struct core *core, uint64_t number)
{
	size_t at = pruned_place(core, number);

	return at < core->pruned_count && core->pruned[at].first <= number ? &core->pruned[at] : NULL;
}

static void pruned_insert(struct core *core, size_t at, struct pruned range)
{
	GROW(core->pruned, core->pruned_count, core->pruned_cap);
	memmove(&core->pruned[at + 1], &core->pruned[at], (core->pruned_count - at) * sizeof(range));
	core->pruned[at] = range;
	core->pruned_count++;
}

static void pruned_remove(struct core *core, size_t at)
{
	struct row *row = outbox_row(core->outbox, TABLE_pruned);

	row->deleted = true;
	row->pruned.first = (int64_t)core->pruned[at].first;
	memmove(&core->pruned[at], &core->pruned[at + 1], (core->pruned_count - at - 1) * sizeof(*core->pruned));
	core->pruned_count--;
}

static bool same_day(const struct core *core, const struct pruned *range)
{
	return range->wall_ms / DAY_MS == core->now.wall_ms / DAY_MS;
}

void pruned_add(struct core *core, uint64_t number)
{
	const struct pruned *before = pruned_find(core, number - 1), *behind;
	size_t at = pruned_place(core, number);

	CHECK(!pruned_find(core, number));
	if (before && same_day(core, before))
		core->pruned[--at].last = number;
	else
		pruned_insert(core, at, (struct pruned){ .first = number, .last = number });
	behind = pruned_find(core, number + 1);
	if (behind && same_day(core, behind)) {
		core->pruned[at].last = behind->last;
		pruned_remove(core, at + 1);
	}
	core->pruned[at].wall_ms = core->now.wall_ms;
	core->pruned[at].row_due = true;
	core->pruned_due = true;
	core->pruned_total++;
}

enum err load_pruned(struct core *core, const struct row_pruned *row, struct error *error)
{
	size_t at = pruned_place(core, (uint64_t)row->first);

	if (row->first < 1 || row->last < row->first || (uint64_t)row->last >= core->next_run ||
	    (at < core->pruned_count && core->pruned[at].first <= (uint64_t)row->last))
		return error_set(error, ERR_STORE_TRUST, "pruned runs %lld to %lld are stored twice, or their numbers are above next_run",
				 (long long)row->first, (long long)row->last);
	pruned_insert(core, at, (struct pruned){
		.first = (uint64_t)row->first, .last = (uint64_t)row->last, .wall_ms = row->wall_ms });
	core->pruned_total += (uint64_t)(row->last - row->first) + 1;
	return ERR_NONE;
}

void pruned_flush(struct core *core)
{
	for (size_t i = 0; core->pruned_due && i < core->pruned_count; i++) {
		struct pruned *range = &core->pruned[i];
		struct row *row;

		if (!range->row_due)
			continue;
		range->row_due = false;
		row = outbox_row(core->outbox, TABLE_pruned);
		row->pruned = (struct row_pruned){
			.first = (int64_t)range->first, .last = (int64_t)range->last, .wall_ms = range->wall_ms };
	}
	core->pruned_due = false;
}

bool view_pruned(const struct core *core, uint64_t run, int64_t *ret_wall_ms)
{
	const struct pruned *range = pruned_find(core, run);

	if (range && ret_wall_ms)
		*ret_wall_ms = range->wall_ms;
	return range != NULL;
}

void pruned_check(const struct core *core)
{
	uint64_t total = 0;

	for (size_t i = 0; i < core->pruned_count; i++) {
		const struct pruned *range = &core->pruned[i];

		CHECK(range->first >= 1 && range->first <= range->last && range->last < core->next_run && !range->row_due);
		CHECK(i == 0 || core->pruned[i - 1].last < range->first);
		total += range->last - range->first + 1;
	}
	CHECK(total == core->pruned_total);
}
