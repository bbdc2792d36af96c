/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Searches all of a log, also what isn't in memory: reads it from its beginning, a piece at a time, and notes the places
 * of lines that match. As long as the log grows, the search goes on behind its end.
 */
#include "base/mem.h"
#include "tui/model_internal.h"
#include "tui/views.h"

void log_search_free(struct log_search *search)
{
	buf_free(&search->partial[0]);
	buf_free(&search->partial[1]);
	mem_free(search->matches);
	*search = (struct log_search){ 0 };
}

bool log_search_wants(const struct log_view *log)
{
	return log->search.len > 0 && log->search.count < LOG_MATCHES_MAX && log->search.offset < log->size;
}

/* Does the line match, as it is shown? */
static bool line_matches(struct slice line, struct slice wanted)
{
	struct buf text = { 0 }, words = { 0 };
	size_t plain = 0;
	bool found;

	line = line_last_state(line);
	while (plain < line.len && line.data[plain] >= 0x20 && line.data[plain] < 0x7f)
		plain++;
	if (plain == line.len)
		return text_has(line, wanted);
	program_text(line, &text);
	program_words(buf_slice(&text), &words);
	found = text_has(buf_slice(&words), wanted);
	buf_free(&text);
	buf_free(&words);
	return found;
}

static void line_test(struct app *app, unsigned stream)
{
	struct log_search *search = &app->log.search;
	struct buf *partial = &search->partial[stream];

	if (search->count < LOG_MATCHES_MAX && line_matches(buf_slice(partial), slice_make(search->text, search->len))) {
		if (search->count == search->cap) {
			search->cap = search->cap ? search->cap * 2 : 16;
			search->matches = mem_resize(search->matches, search->cap, sizeof *search->matches);
		}
		search->matches[search->count++] = search->part[stream];
	}
	buf_clear(partial);
}

/* The line is as long as the view's lines may be: forget its earlier states, or end it. */
static void line_is_full(struct app *app, unsigned stream)
{
	struct log_search *search = &app->log.search;
	struct buf *partial = &search->partial[stream], last = { 0 };
	struct slice state = line_last_state(buf_slice(partial));
	size_t gone = (size_t)(state.data - partial->data);

	if (gone == 0) {
		line_test(app, stream);
		return;
	}
	buf_add_slice(&last, state);
	buf_free(partial);
	*partial = last;
	search->part[stream].place.offset += gone;
}

static void take_piece(struct app *app, const struct rec_output *piece, uint64_t from)
{
	struct log_search *search = &app->log.search;
	unsigned stream = piece->stream == 2;
	struct buf *partial = &search->partial[stream];
	struct slice left = piece->data;
	uint64_t offset = piece->offset;

	if (partial->len > 0 && search->next[stream] != offset)
		line_test(app, stream);  /* output is missing here */
	while (left.len > 0) {
		const uint8_t *newline = memchr(left.data, '\n', left.len);
		size_t used = newline ? (size_t)(newline - left.data) : left.len;
		bool full = partial->len + used >= LOG_LINE_MAX;

		if (full)
			used = LOG_LINE_MAX - partial->len;
		if (partial->len == 0)
			search->part[stream] = (struct log_match){ { stream, offset }, from };
		buf_add(partial, left.data, used);
		if (full)
			line_is_full(app, stream);
		else if (newline)
			line_test(app, stream);
		used += !full && newline;
		offset += used;
		left = slice_make(left.data + used, left.len - used);
	}
	search->next[stream] = offset;
}

void log_search_take(struct app *app, const struct msg_log_data *msg)
{
	struct log_search *search = &app->log.search;
	uint64_t from = search->offset;

	for (size_t i = 0; i < msg->pieces.n; i++)
		take_piece(app, &msg->pieces.at[i], from);
	search->offset = msg->offset > from ? msg->offset : from;
	if (msg->offset <= from)
		search->offset = UINT64_MAX;     /* the master can't read on */
	/* The last line of a job that ended without a newline. */
	for (unsigned stream = 0; stream < 2; stream++)
		if (msg->end && search->partial[stream].len > 0 && !log_grows(app))
			line_test(app, stream);
	log_search_go(app);
}

/* ---- matches ---- */

/* Return the number of the first match that is behind the line at the top, from 1; count + 1: none is. */
static size_t first_behind_top(const struct log_view *log)
{
	const struct log_window *window = &log->window;
	const struct log_search *search = &log->search;
	uint64_t behind[2] = { window->low[0], window->low[1] };
	size_t at = 1;

	/* In each stream, the offset from which on lines of the window are behind the top. */
	for (size_t i = 0; i <= log->top && i < window->line_count; i++)
		behind[window->lines[i].place.stream] = window->lines[i].place.offset + 1;
	for (; at <= search->count; at++) {
		const struct log_match *match = &search->matches[at - 1];

		if (match->from >= window_to(window) || match->place.offset >= behind[match->place.stream])
			break;
	}
	return at;
}

/* Return the number of the match to go to, from 1; 0: none is known there yet. */
static size_t next_match(const struct log_view *log, int step)
{
	const struct log_search *search = &log->search;
	bool all = !log_search_wants(log);
	size_t first;

	if (search->count == 0)
		return 0;
	if (search->at > 0 && step > 0)
		return search->at < search->count ? search->at + 1 : all ? 1 : 0;
	if (search->at > 0)
		return search->at > 1 ? search->at - 1 : all ? search->count : 0;
	first = first_behind_top(log);
	if (step > 0)
		return first <= search->count ? first : all ? 1 : 0;
	return first > 1 ? first - 1 : all ? search->count : 0;
}

void log_search_go(struct app *app)
{
	struct log_view *log = &app->log;
	struct log_search *search = &log->search;
	size_t to;

	if (search->step == 0 || log->wants)
		return;
	to = next_match(log, search->step);
	if (to == 0) {
		if (!log_search_wants(log)) {
			char text[160];

			search->step = 0;
			app_notice(app, false, "no match for %s", model_plain(slice_make(search->text, search->len), text, sizeof text));
		}
		return;
	}
	search->step = 0;
	search->at = to;
	log_go_to(app, search->matches[to - 1]);
}

bool log_find(struct app *app, int step)
{
	struct log_search *search = &app->log.search;

	if (search->len != app->find.len || memcmp(search->text, app->find.text, app->find.len) != 0) {
		log_search_free(search);
		memcpy(search->text, app->find.text, app->find.len);
		search->len = app->find.len;
	}
	search->step = step;
	log_search_go(app);
	return true;
}
