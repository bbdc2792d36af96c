/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of jobs that wait for people, by serial number. There may be millions, which may all come or go in one
 * turn. The list is in small pages, so adding or removing a job moves few others. Two neighbouring pages are joined
 * when half a page has room for both, so the number of pages stays in proportion to the jobs.
 */
#include "core/people/people.h"

#include "core/graph/graph.h"

#define PAGE_GATES 64

struct gate_page {
	size_t count;                    /* entries of the page in use, at least 1 */
	struct gate at[PAGE_GATES];      /* the gates of the page, by rising job number */
};

/* Find the last page that begins at or before this number; else the first page. There must be a page. */
static size_t page_place(const struct core *core, uint64_t serial)
{
	size_t low = 0, high = core->gate_page_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (core->gate_pages[middle]->at[0].job <= serial)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Find where in the page this number is or belongs. */
static size_t place_in(const struct gate_page *page, uint64_t serial)
{
	size_t at = 0;

	while (at < page->count && page->at[at].job < serial)
		at++;
	return at;
}

struct gate *gate_find(const struct core *core, uint64_t serial)
{
	struct gate_page *page;
	size_t at;

	if (core->gate_page_count == 0)
		return NULL;
	page = core->gate_pages[page_place(core, serial)];
	at = place_in(page, serial);
	return at < page->count && page->at[at].job == serial ? &page->at[at] : NULL;
}

const struct gate *gate_after(const struct core *core, uint64_t serial)
{
	const struct gate_page *page;
	size_t place, at;

	if (core->gate_page_count == 0)
		return NULL;
	place = page_place(core, serial);
	page = core->gate_pages[place];
	at = place_in(page, serial + 1);
	if (at < page->count)
		return &page->at[at];
	return place + 1 < core->gate_page_count ? &core->gate_pages[place + 1]->at[0] : NULL;
}

static struct gate_page *page_new(struct core *core, size_t place)
{
	struct gate_page *page = mem_zalloc(sizeof(*page));

	GROW(core->gate_pages, core->gate_page_count, core->gate_page_cap);
	memmove(core->gate_pages + place + 1, core->gate_pages + place,
		(core->gate_page_count - place) * sizeof(struct gate_page *));
	core->gate_pages[place] = page;
	core->gate_page_count++;
	return page;
}

/* Find or make a page with room for this number. Numbers behind all others begin a new page. */
static struct gate_page *page_for(struct core *core, uint64_t serial)
{
	size_t place = core->gate_page_count > 0 ? page_place(core, serial) : 0;
	struct gate_page *page = core->gate_page_count > 0 ? core->gate_pages[place] : page_new(core, 0), *other;

	if (page->count < PAGE_GATES)
		return page;
	other = place + 1 < core->gate_page_count ? core->gate_pages[place + 1] : NULL;
	if (serial > page->at[PAGE_GATES - 1].job)
		return other && other->count < PAGE_GATES ? other : page_new(core, place + 1);
	other = page_new(core, place + 1);
	other->count = PAGE_GATES / 2;
	page->count = PAGE_GATES - other->count;
	memcpy(other->at, page->at + page->count, other->count * sizeof(*other->at));
	return serial < other->at[0].job ? page : other;
}

void gate_add(struct core *core, const struct job *job)
{
	struct gate_page *page = page_for(core, job_serial(job));
	size_t at = place_in(page, job_serial(job));

	memmove(&page->at[at + 1], &page->at[at], (page->count++ - at) * sizeof(*page->at));
	page->at[at] = (struct gate){ .job = job_serial(job) };
	core->gate_count++;
}

static void page_drop(struct core *core, size_t place)
{
	mem_free(core->gate_pages[place]);
	core->gate_page_count--;
	memmove(core->gate_pages + place, core->gate_pages + place + 1,
		(core->gate_page_count - place) * sizeof(struct gate_page *));
}

/* Join this page with the next one if half a page has room for both. */
static void pages_join(struct core *core, size_t place)
{
	struct gate_page *page = core->gate_pages[place], *next;

	if (place + 1 >= core->gate_page_count)
		return;
	next = core->gate_pages[place + 1];
	if (page->count + next->count > PAGE_GATES / 2)
		return;
	memcpy(page->at + page->count, next->at, next->count * sizeof(*next->at));
	page->count += next->count;
	page_drop(core, place + 1);
}

static void votes_free(struct gate *gate)
{
	for (size_t i = 0; i < gate->vote_count; i++)
		blob_release(gate->votes[i].given);
	mem_free(gate->votes);
}

void gate_remove(struct core *core, const struct job *job)
{
	size_t place, at;
	struct gate_page *page;

	CHECK(gate_find(core, job_serial(job)));
	place = page_place(core, job_serial(job));
	page = core->gate_pages[place];
	at = place_in(page, job_serial(job));
	votes_free(&page->at[at]);
	page->count--;
	core->gate_count--;
	memmove(&page->at[at], &page->at[at + 1], (page->count - at) * sizeof(*page->at));
	pages_join(core, place);
	if (page->count == 0)
		page_drop(core, place);
	else if (place > 0)
		pages_join(core, place - 1);
}

void gates_check(const struct core *core)
{
	size_t count = 0;

	for (size_t place = 0; place < core->gate_page_count; place++) {
		const struct gate_page *page = core->gate_pages[place], *before = place > 0 ? core->gate_pages[place - 1] : NULL;

		CHECK(page->count > 0 && page->count <= PAGE_GATES);
		CHECK(!before || before->at[before->count - 1].job < page->at[0].job);
		CHECK(!before || before->count + page->count > PAGE_GATES / 2);
		for (size_t i = 1; i < page->count; i++)
			CHECK(page->at[i - 1].job < page->at[i].job);
		count += page->count;
	}
	CHECK(count == core->gate_count);
}

void gates_free(struct core *core)
{
	for (size_t place = 0; place < core->gate_page_count; place++) {
		for (size_t i = 0; i < core->gate_pages[place]->count; i++)
			votes_free(&core->gate_pages[place]->at[i]);
		mem_free(core->gate_pages[place]);
	}
	mem_free(core->gate_pages);
}
