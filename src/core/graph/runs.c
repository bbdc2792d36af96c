/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of runs in memory, and the directory from serial numbers to jobs, also those that callers say they are: pages of PAGE_JOBS numbers, each listing
 * the extents with jobs in it. Numbers only grow, so entries are appended, except when a run comes back into memory.
 */
#include "core/graph/graph.h"

#include "core/graph/internal.h"

/* Return the last entry with a number <= number; list->count if there is none. */
static size_t run_place(const struct run_list *list, uint64_t number)
{
	size_t low = list->head, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->at[middle].number <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low > list->head ? low - 1 : list->count;
}

struct run *run_find(const struct core *core, uint64_t number)
{
	size_t at = run_place(&core->runs, number);

	if (at == core->runs.count || core->runs.at[at].number != number)
		return NULL;
	return core->runs.at[at].run;
}

struct job *job_find(const struct core *core, uint64_t serial)
{
	const struct page *page = map_get(&core->pages, serial / PAGE_JOBS);
	size_t low = 0, high = page ? page->count : 0;
	const struct extent *extent;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (page->at[middle].first <= serial)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	extent = page->at[low - 1].extent;
	return serial - extent->first < extent->count ? &extent->jobs[serial - extent->first] : NULL;
}

static void page_add(struct core *core, uint64_t number, struct extent *extent)
{
	struct page *page = map_get(&core->pages, number);
	size_t at;

	if (!page) {
		page = mem_zalloc(sizeof(*page));
		map_put(&core->pages, number, page);
	}
	if (page->count == page->cap) {
		page->cap = page->cap ? 4 * page->cap : 1;
		page->at = mem_resize(page->at, page->cap, sizeof(*page->at));
	}
	for (at = page->count++; at > 0 && page->at[at - 1].first > extent->first; at--)
		page->at[at] = page->at[at - 1];
	page->at[at] = (struct page_entry){ .first = extent->first, .extent = extent };
}

static void page_remove(struct core *core, uint64_t number, const struct extent *extent)
{
	struct page *page = map_get(&core->pages, number);
	size_t at = page->count - 1;

	while (page->at[at].extent != extent)
		at--;
	page->count--;
	memmove(&page->at[at], &page->at[at + 1], (page->count - at) * sizeof(*page->at));
	if (page->count > 0)
		return;
	map_remove(&core->pages, number);
	mem_free(page->at);
	mem_free(page);
}

static uint64_t last_page(const struct extent *extent)
{
	return (extent->first + extent->count - 1) / PAGE_JOBS;
}

void extent_add(struct core *core, struct extent *extent)
{
	CHECK(extent->count > 0);
	for (uint64_t page = extent->first / PAGE_JOBS; page <= last_page(extent); page++)
		page_add(core, page, extent);
}

bool directory_free(const struct core *core, const struct extent *extent)
{
	uint64_t end = extent->first + extent->count;

	for (uint64_t at = extent->first / PAGE_JOBS; at <= last_page(extent); at++) {
		const struct page *page = map_get(&core->pages, at);

		for (size_t i = 0; page && i < page->count; i++)
			if (page->at[i].first < end && extent->first < page->at[i].first + page->at[i].extent->count)
				return false;
	}
	return true;
}

struct extent *extent_find(const struct run *run, uint32_t index)
{
	uint32_t low = 0, high = run->extent_count;

	CHECK(index < run->job_count);
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (run->extents[middle]->start <= index)
			low = middle;
		else
			high = middle;
	}
	return run->extents[low];
}

struct child_walk children_of(const struct job *job)
{
	const struct extent *extent = run_extent(job->run, job->index);
	uint32_t at = job->index - extent->start;

	return (struct child_walk){
		.at = extent->children + extent->child_start[at], .end = extent->children + extent->child_start[at + 1],
		.parent = job->flags & JOB_LATER ? job : NULL,
	};
}

bool children_later(struct child_walk *walk)
{
	const struct later *later = walk->parent ? map_get(&walk->parent->run->laters, walk->parent->index) : NULL;

	walk->parent = NULL;
	if (!later || later->count == 0)
		return false;
	walk->at = later->at;
	walk->end = later->at + later->count;
	return true;
}

static void run_list_add(struct run_list *list, struct run *run)
{
	size_t at = run_place(list, run->number);

	if (at < list->count && list->at[at].number == run->number) {
		/* the run had left memory, and its empty entry is still in the list */
		CHECK(!list->at[at].run);
		list->at[at].run = run;
		list->gone--;
		return;
	}
	GROW(list->at, list->count, list->cap);
	for (at = list->count++; at > list->head && list->at[at - 1].number > run->number; at--)
		list->at[at] = list->at[at - 1];
	list->at[at] = (struct run_entry){ .number = run->number, .run = run };
}

void run_add(struct core *core, struct run *run)
{
	CHECK(run->job_count > 0);
	run_list_add(&core->runs, run);
	for (uint32_t i = 0; i < run->extent_count; i++)
		extent_add(core, run->extents[i]);
	core->live_runs++;
	core->live_jobs += run->job_count;
	for (size_t state = 0; state < STATE_COUNT; state++)
		core->counts[state] += run->counts[state];
}

/* Skip gaps at the front, and close other gaps when they are the majority: removal stays cheap. */
static void run_list_tidy(struct run_list *list)
{
	size_t kept = 0;

	while (list->head < list->count && !list->at[list->head].run) {
		list->head++;
		list->gone--;
	}
	if (list->gone <= (list->count - list->head) / 2 && list->head <= list->count / 2)
		return;
	for (size_t i = list->head; i < list->count; i++)
		if (list->at[i].run)
			list->at[kept++] = list->at[i];
	list->head = 0;
	list->count = kept;
	list->gone = 0;
}

void run_remove(struct core *core, struct run *run)
{
	size_t at = run_place(&core->runs, run->number);

	CHECK(at < core->runs.count && core->runs.at[at].run == run);
	core->runs.at[at].run = NULL;
	core->runs.gone++;
	run_list_tidy(&core->runs);
	/* Remove the last extents first, because they are at the ends of their pages. */
	for (uint32_t i = run->extent_count; i-- > 0;)
		for (uint64_t page = run->extents[i]->first / PAGE_JOBS; page <= last_page(run->extents[i]); page++)
			page_remove(core, page, run->extents[i]);
	core->live_jobs -= run->job_count;
	for (size_t state = 0; state < STATE_COUNT; state++)
		core->counts[state] -= run->counts[state];
}

void run_touch(struct core *core, struct run *run, bool row)
{
	run->row_due |= row;
	if (run->touched)
		return;
	run->touched = true;
	GROW(core->touched_runs, core->touched_run_count, core->touched_run_cap);
	core->touched_runs[core->touched_run_count++] = run;
}

void later_put(struct run *run, uint32_t parent, uint32_t child)
{
	struct later *later = map_get(&run->laters, parent);

	if (!later) {
		later = mem_zalloc(sizeof(*later));
		map_put(&run->laters, parent, later);
		run_job(run, parent)->flags |= JOB_LATER;
	}
	GROW(later->at, later->count, later->cap);
	later->at[later->count++] = child;
}

enum err caller_check(const struct core *core, const struct caller *caller, const struct run **ret_run,
		      struct error *error)
{
	const struct job *job = job_find(core, caller->job);

	/* The process of an unknown job may live, at a worker that has returned. */
	if (!job || job->epoch != caller->epoch || (!state_holds(job->state) && job->state != STATE_UNKNOWN))
		return error_set(error, ERR_STALE, "the calling process belongs to an old attempt of its job: the job has ended, or a worker has a new attempt");
	*ret_run = job->run;
	return ERR_NONE;
}
