/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A heap of logs (sources), ordered by the time of their next record. A source that wasn't read yet stands at the start
 * time of its attempt. Pages are in a list by last use; when there are too many, the one unused for longest is dropped,
 * and its source remembers how many of the page's records were already returned.
 */
#include "cli/ask/logmerge.h"

#include "base/arena.h"
#include "base/mem.h"

struct log_page {
	struct log_source *source;
	struct log_page *newer, *older;
	struct arena arena;
	struct msg_log_data data;
	size_t at;                       /* the next record: first the pieces, then damage, then the live tail */
	size_t bytes;
};

/* ---- the heap ---- */

static bool before(const struct log_source *a, const struct log_source *b)
{
	return a->next_ms != b->next_ms ? a->next_ms < b->next_ms : a->order < b->order;
}

static void sift_up(struct log_merge *merge, size_t at)
{
	struct log_source *source = merge->heap[at];

	while (at > 0 && before(source, merge->heap[(at - 1) / 2])) {
		merge->heap[at] = merge->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	merge->heap[at] = source;
}

static void sift_down(struct log_merge *merge, size_t at)
{
	struct log_source *source = merge->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < merge->count && before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (child >= merge->count || !before(merge->heap[child], source))
			break;
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = source;
}

void log_merge_add(struct log_merge *merge, struct log_source *source)
{
	if (merge->count == merge->room) {
		merge->room = merge->room ? 2 * merge->room : 64;
		merge->heap = mem_resize(merge->heap, merge->room, sizeof(*merge->heap));
	}
	if (source->order == 0)
		source->order = ++merge->added;
	if (source->next_ms < source->from_ms)
		source->next_ms = source->from_ms;
	source->at_end = false;
	merge->heap[merge->count++] = source;
	sift_up(merge, merge->count - 1);
}

static void leave(struct log_merge *merge)
{
	merge->heap[0] = merge->heap[--merge->count];
	if (merge->count > 0)
		sift_down(merge, 0);
}

/* ---- pages ---- */

static void page_unlink(struct log_merge *merge, struct log_page *page)
{
	if (page->newer)
		page->newer->older = page->older;
	else
		merge->pages = page->older;
	if (page->older)
		page->older->newer = page->newer;
	else
		merge->pages_end = page->newer;
}

static void page_link(struct log_merge *merge, struct log_page *page)
{
	page->newer = NULL;
	page->older = merge->pages;
	if (merge->pages)
		merge->pages->newer = page;
	else
		merge->pages_end = page;
	merge->pages = page;
}

static void page_free(struct log_merge *merge, struct log_page *page)
{
	page_unlink(merge, page);
	merge->bytes -= page->bytes;
	page->source->page = NULL;
	arena_free(&page->arena);
	mem_free(page);
}

/* A live tail is sent once only, so its page is never dropped. At least one other page stays: the one in use. */
static void make_room(struct log_merge *merge)
{
	size_t most = merge->most ? merge->most : LOG_MERGE_BYTES;
	struct log_page *page = merge->pages_end;

	while (merge->bytes > most && page != NULL && page != merge->pages) {
		struct log_page *newer = page->newer;

		if (page->data.live_tail.n == 0) {
			page->source->skip = page->at;
			page_free(merge, page);
		}
		page = newer;
	}
}

static size_t page_records(const struct log_page *page)
{
	return page->data.pieces.n + (page->data.damage.len > 0) + page->data.live_tail.n;
}

/* The time of a record; damage has none and goes with the record before it. */
static int64_t record_ms(const struct log_page *page, size_t at)
{
	size_t pieces = page->data.pieces.n, tail = pieces + (page->data.damage.len > 0);

	if (at < pieces)
		return page->data.pieces.at[at].wall_ms;
	return at >= tail ? page->data.live_tail.at[at - tail].wall_ms : INT64_MIN;
}

/* The order within a log is kept, even if its worker's clock was set back. */
static void set_next(struct log_source *source)
{
	int64_t next_ms = record_ms(source->page, source->page->at);

	if (next_ms > source->next_ms)
		source->next_ms = next_ms;
}

static enum err page_read(struct cli *cli, struct log_merge *merge, struct log_source *source)
{
	struct log_page *page = mem_zalloc(sizeof(*page));
	uint64_t newest = source->reader.newest;
	enum err err;

	if (source->skip > 0)
		source->reader.offset = source->page_offset;
	else
		source->page_offset = source->reader.offset;
	err = log_read_some(cli, &source->reader, &page->arena, &page->data);
	if (err == ERR_NOT_FOUND) {
		page->data = (struct msg_log_data){ .end = true };
		source->reader.newest = newest;
		err = ERR_NONE;
	}
	if (err != ERR_NONE) {
		arena_free(&page->arena);
		mem_free(page);
		return err;
	}
	page->source = source;
	page->at = source->skip < page_records(page) ? source->skip : page_records(page);
	source->skip = 0;
	page->bytes = sizeof(*page) + page_records(page) * sizeof(struct rec_output);
	for (size_t i = 0; i < page->data.pieces.n; i++)
		page->bytes += page->data.pieces.at[i].data.len;
	for (size_t i = 0; i < page->data.live_tail.n; i++)
		page->bytes += page->data.live_tail.at[i].data.len;
	source->page = page;
	merge->bytes += page->bytes;
	page_link(merge, page);
	make_room(merge);
	return ERR_NONE;
}

static void give(struct log_page *page, struct log_piece *ret)
{
	size_t pieces = page->data.pieces.n, tail = pieces + (page->data.damage.len > 0), at = page->at++;

	*ret = (struct log_piece){ .source = page->source, .live_tail = at >= tail };
	if (at < pieces)
		ret->output = &page->data.pieces.at[at];
	else if (at < tail)
		ret->damage = page->data.damage;
	else
		ret->output = &page->data.live_tail.at[at - tail];
}

enum err log_merge_next(struct cli *cli, struct log_merge *merge, struct log_piece *ret)
{
	while (merge->count > 0) {
		struct log_source *source = merge->heap[0];
		struct log_page *page = source->page;
		enum err err;

		if (page == NULL) {
			err = page_read(cli, merge, source);
			if (err != ERR_NONE)
				return err;
			page = source->page;
		} else if (page->at < page_records(page) && merge->pages != page) {
			page_unlink(merge, page);
			page_link(merge, page);
		}
		if (page->at < page_records(page)) {
			int64_t stood = source->next_ms;

			set_next(source);
			if (source->next_ms != stood) {
				/* The source had stood at an earlier time, so another one may come first now. */
				sift_down(merge, 0);
				if (merge->heap[0] != source)
					continue;
			}
			give(page, ret);
			return ERR_NONE;
		}
		source->at_end = page->data.end;
		page_free(merge, page);
		if (source->at_end) {
			leave(merge);
			*ret = (struct log_piece){ .source = source };
			return ERR_NONE;
		}
	}
	return ERR_PENDING;
}

void log_merge_free(struct log_merge *merge)
{
	while (merge->pages)
		page_free(merge, merge->pages);
	mem_free(merge->heap);
	*merge = (struct log_merge){ 0 };
}
