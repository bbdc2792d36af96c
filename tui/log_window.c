/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps a part of a log in memory, and splits it into lines. After a change at its front all lines are split anew. */
#include "tui/log_window.h"

#include "base/check.h"
#include "base/mem.h"

#define FIRST_POSITION (UINT64_C(1) << 62)
#define CHUNK_BYTES    65536             /* pieces are added to the last chunk until it has so many bytes of the file */

#define LIST_ROOM(list, count, cap)                                     \
	do {                                                            \
		if ((count) == (cap)) {                                 \
			(cap) = (cap) ? (cap) * 2 : 32;                 \
			(list) = mem_resize((list), (cap), sizeof *(list)); \
		}                                                       \
	} while (0)

void window_clear(struct log_window *window)
{
	mem_free(window->chunks);
	mem_free(window->records);
	mem_free(window->lines);
	buf_free(&window->bytes[0]);
	buf_free(&window->bytes[1]);
	*window = (struct log_window){ .base = { FIRST_POSITION, FIRST_POSITION } };
}

size_t window_bytes(const struct log_window *window)
{
	return window->bytes[0].len + window->bytes[1].len;
}

uint64_t window_from(const struct log_window *window)
{
	return window->chunk_count > 0 ? window->chunks[0].from : 0;
}

uint64_t window_to(const struct log_window *window)
{
	return window->chunk_count > 0 ? window->chunks[window->chunk_count - 1].to : 0;
}

struct slice window_text(const struct log_window *window, const struct log_line *line)
{
	unsigned stream = line->place.stream;

	return slice_make(window->bytes[stream].data + (line->at - window->base[stream]), line->len);
}

struct slice line_last_state(struct slice text)
{
	size_t end = text.len, at;

	while (end > 0 && text.data[end - 1] == '\r')
		end--;
	at = end;
	while (at > 0 && text.data[at - 1] != '\r')
		at--;
	return slice_make(text.data + at, end - at);
}

/* ---- lines ---- */

static struct log_line *open_line(struct log_window *window, struct log_place place, uint64_t at, int64_t wall_ms)
{
	size_t *open = &window->open[place.stream];

	if (*open == 0) {
		LIST_ROOM(window->lines, window->line_count, window->line_cap);
		window->lines[window->line_count++] = (struct log_line){ .place = place, .at = at, .wall_ms = wall_ms };
		window->added++;
		*open = window->line_count;
	}
	return &window->lines[*open - 1];
}

/* The line is as long as a line may be: forget its earlier states, or end it. */
static void line_is_full(struct log_window *window, struct log_line *line)
{
	struct slice text = window_text(window, line), last = line_last_state(text);
	size_t gone = (size_t)(last.data - text.data);

	if (gone > 0) {
		line->at += gone;
		line->place.offset += gone;
		line->len -= (uint32_t)gone;
		return;
	}
	line->whole = true;
	window->open[line->place.stream] = 0;
}

/* Split the bytes at this position, which the window has already. */
static void split(struct log_window *window, struct log_place place, uint64_t at, size_t len, int64_t wall_ms)
{
	const uint8_t *data = window->bytes[place.stream].data + (at - window->base[place.stream]);

	while (len > 0) {
		struct log_line *line = open_line(window, place, at, wall_ms);
		const uint8_t *newline = memchr(data, '\n', len);
		size_t used = newline ? (size_t)(newline - data) : len;
		bool full = line->len + used >= LOG_LINE_MAX;

		if (full)
			used = LOG_LINE_MAX - line->len;
		line->len += (uint32_t)used;
		if (full) {
			line_is_full(window, line);
		} else if (newline) {
			line->whole = true;
			window->open[place.stream] = 0;
			used++;
		}
		/* A newline right behind a line of the greatest length ends it. */
		if (full && window->open[place.stream] == 0 && used < len && data[used] == '\n')
			used++;
		data += used;
		at += used;
		place.offset += used;
		len -= used;
	}
}

static void split_all(struct log_window *window)
{
	uint64_t at[2] = { window->base[0], window->base[1] }, added = window->added;
	uint64_t next[2] = { 0 };

	window->line_count = 0;
	window->open[0] = window->open[1] = 0;
	for (size_t i = 0; i < window->record_count; i++) {
		const struct log_record *record = &window->records[i];
		unsigned stream = record->place.stream;

		if (record->place.offset != next[stream])
			window->open[stream] = 0;        /* output is missing here */
		split(window, record->place, at[stream], record->len, record->wall_ms);
		at[stream] += record->len;
		next[stream] = record->place.offset + record->len;
	}
	window->added = added;
}

size_t window_find(const struct log_window *window, struct log_place place)
{
	size_t found = window->line_count;

	for (size_t i = 0; i < window->line_count; i++) {
		const struct log_place *at = &window->lines[i].place;

		if (at->stream == place.stream && at->offset <= place.offset)
			found = i;
	}
	return found;
}

/* ---- both ends ---- */

static void begin_chunk(struct log_window *window, uint64_t from, uint64_t to)
{
	struct log_chunk *last = window->chunk_count > 0 ? &window->chunks[window->chunk_count - 1] : NULL;

	if (last && last->to - last->from < CHUNK_BYTES) {
		last->to = to > last->to ? to : last->to;
		return;
	}
	LIST_ROOM(window->chunks, window->chunk_count, window->chunk_cap);
	window->chunks[window->chunk_count++] = (struct log_chunk){ .from = from, .to = to };
}

static void add_record(struct log_window *window, struct log_record record, const uint8_t *data)
{
	unsigned stream = record.place.stream;
	struct log_chunk *chunk = &window->chunks[window->chunk_count - 1];
	uint64_t at = window->base[stream] + window->bytes[stream].len;

	LIST_ROOM(window->records, window->record_count, window->record_cap);
	window->records[window->record_count++] = record;
	chunk->records++;
	chunk->bytes[stream] += record.len;
	buf_add(&window->bytes[stream], data, record.len);
	if (!window->known[stream])
		window->low[stream] = record.place.offset;
	else if (window->next[stream] != record.place.offset)
		window->open[stream] = 0;
	window->known[stream] = true;
	window->next[stream] = record.place.offset + record.len;
	split(window, record.place, at, record.len, record.wall_ms);
}

void window_append(struct log_window *window, uint64_t from, uint64_t to, const struct rec_output *pieces, size_t count,
		   const struct log_window *until)
{
	if (window->base[0] == 0)
		window_clear(window);
	begin_chunk(window, from, to);
	for (size_t i = 0; i < count; i++) {
		const struct rec_output *piece = &pieces[i];
		unsigned stream = piece->stream == 2;
		uint64_t begin = piece->offset, end = begin + piece->data.len;

		if (until && until->known[stream] && end > until->low[stream])
			end = until->low[stream];
		/* Bytes that the window has: the kept end of the output repeats what was shown live. */
		if (window->known[stream] && begin < window->next[stream])
			begin = window->next[stream];
		if (begin < end)
			add_record(window,
				(struct log_record){ { stream, begin }, (uint32_t)(end - begin), piece->wall_ms },
				piece->data.data + (begin - piece->offset));
		if (until && end < piece->offset + piece->data.len)
			return;          /* the rest is in the other window */
	}
}

static void *joined(void *before, size_t before_count, void *after, size_t after_count, size_t size)
{
	uint8_t *both = mem_array(before_count + after_count + 1, size);

	if (before_count > 0)
		memcpy(both, before, before_count * size);
	if (after_count > 0)
		memcpy(both + before_count * size, after, after_count * size);
	mem_free(after);
	return both;
}

void window_prepend(struct log_window *window, struct log_window *before)
{
	window->chunks = joined(before->chunks, before->chunk_count, window->chunks, window->chunk_count, sizeof *window->chunks);
	window->chunk_count = window->chunk_cap = window->chunk_count + before->chunk_count;
	window->records = joined(before->records, before->record_count, window->records, window->record_count, sizeof *window->records);
	window->record_count = window->record_cap = window->record_count + before->record_count;
	for (unsigned stream = 0; stream < 2; stream++) {
		struct buf *bytes = &window->bytes[stream], all = { 0 };

		window->base[stream] -= before->bytes[stream].len;
		buf_add(&all, before->bytes[stream].data, before->bytes[stream].len);
		buf_add(&all, bytes->data, bytes->len);
		buf_free(bytes);
		*bytes = all;
		if (!before->known[stream])
			continue;
		window->low[stream] = before->low[stream];
		if (!window->known[stream])
			window->next[stream] = before->next[stream];
		window->known[stream] = true;
	}
	window_clear(before);
	split_all(window);
}

void window_cut_first(struct log_window *window)
{
	struct log_chunk gone = window->chunks[0];

	CHECK(window->chunk_count > 0);
	memmove(window->chunks, window->chunks + 1, --window->chunk_count * sizeof *window->chunks);
	window->record_count -= gone.records;
	memmove(window->records, window->records + gone.records, window->record_count * sizeof *window->records);
	for (unsigned stream = 0; stream < 2; stream++) {
		struct buf *bytes = &window->bytes[stream];

		if (gone.bytes[stream] > 0)
			memmove(bytes->data, bytes->data + gone.bytes[stream], bytes->len - gone.bytes[stream]);
		buf_cut(bytes, bytes->len - gone.bytes[stream]);
		window->base[stream] += gone.bytes[stream];
		window->low[stream] = window->next[stream];
		for (size_t i = window->record_count; i-- > 0;)
			if (window->records[i].place.stream == stream)
				window->low[stream] = window->records[i].place.offset;
	}
	split_all(window);
}

void window_cut_last(struct log_window *window)
{
	struct log_chunk gone = window->chunks[window->chunk_count - 1];

	window->chunk_count--;
	for (size_t i = window->record_count - gone.records; i < window->record_count; i++) {
		const struct log_place *place = &window->records[i].place;

		if (place->offset < window->next[place->stream])
			window->next[place->stream] = place->offset;
	}
	window->record_count -= gone.records;
	for (unsigned stream = 0; stream < 2; stream++)
		buf_cut(&window->bytes[stream], window->bytes[stream].len - gone.bytes[stream]);
	split_all(window);
}
