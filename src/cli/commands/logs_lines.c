/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns the records of many logs into lines marked with their jobs. A line is printed when it is complete, so lines of
 * two jobs never mix. On a terminal the text is escaped; in a file it stands unchanged behind its mark.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/when.h"
#include "cli/commands/logs_internal.h"
#include "cli/session/output.h"
#include "cli/show/json.h"
#include "cli/show/look.h"
#include "cli/show/records.h"

#define LINE_LONGEST 8192                /* a longer line is printed in parts */
#define MARK_WIDEST  32                  /* a longer mark isn't padded with the others */

/* ---- marks ---- */

static void add_mark(const struct line_sink *sink, const struct line_mark *mark, struct buf *out)
{
	bool inner = mark->path.len > 0;

	if (sink->with_run)
		buf_addf(out, "%" PRIu64 "/", inner ? mark->top : mark->run);
	text_escape(out, inner ? mark->path : mark->name, TEXT_KEEP_NONE);
	if (sink->options->try_no == TRY_ALL && mark->try_no > 0)
		buf_addf(out, " try %" PRIu64, mark->try_no);
}

void lines_widen(struct line_sink *sink, const struct line_mark *mark)
{
	struct buf text = { 0 };
	size_t width;

	add_mark(sink, mark, &text);
	width = text_width(buf_slice(&text));
	buf_free(&text);
	if (width > sink->width)
		sink->width = width < MARK_WIDEST ? width : MARK_WIDEST;
}

static enum colour mark_colour(struct slice name)
{
	static const enum colour colours[] = { COLOUR_CYAN, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_BLUE, COLOUR_MAGENTA };
	unsigned sum = 0;

	for (size_t i = 0; i < name.len; i++)
		sum = sum * 31 + name.data[i];
	return colours[sum % (sizeof(colours) / sizeof(colours[0]))];
}

/* ---- writing a log line in each style ---- */

/* There are many lines, so they aren't made of records; their fields are those of this table all the same. */
static const struct column log_line_columns[] = {
	{ "time", "TIME", false },
	{ "job", "JOB", false },
	{ "stream", "STREAM", false },
	{ "text", "TEXT", false },
	{ "run", NULL, true },
	{ "serial", NULL, true },
	{ "name", NULL, false },
	{ "try", NULL, true },
};
const struct table log_line_table = TABLE_OF(log_line_columns);

/* Write RUN/NAME. */
static const struct buf *job_word(const struct line_mark *mark, struct buf *word)
{
	buf_addf(word, "%" PRIu64 "/", mark->run);
	buf_add_slice(word, mark->name);
	return word;
}

static void add_json(const struct line_mark *mark, int stream, struct slice text, int64_t wall_ms, struct buf *out)
{
	struct buf word = { 0 };
	struct json json;

	json_begin(&json, out);
	json_object(&json);
	json_key(&json, "time");
	json_time(&json, wall_ms);
	json_key(&json, "job");
	json_text(&json, buf_slice(job_word(mark, &word)));
	json_key(&json, "stream");
	json_string(&json, stream ? "stderr" : "stdout");
	json_key(&json, "text");
	json_text(&json, text);
	json_key(&json, "run");
	json_u64(&json, mark->run);
	json_key(&json, "serial");
	json_u64(&json, mark->job);
	json_key(&json, "name");
	json_text(&json, mark->name);
	json_key(&json, "try");
	json_u64(&json, mark->try_no);
	json_end(&json);
	buf_add_byte(out, '\n');
	buf_free(&word);
}

static void add_plain(const struct line_mark *mark, int stream, struct slice text, int64_t wall_ms, struct buf *out)
{
	char time[CLOCK_TEXT_SIZE];

	buf_addf(out, "%s\t%" PRIu64 "/", clock_format_utc(wall_ms, time), mark->run);
	text_escape(out, mark->name, TEXT_KEEP_NONE);
	buf_addf(out, "\t%s\t", stream ? "stderr" : "stdout");
	text_escape(out, text, TEXT_KEEP_NONE);
	buf_add_byte(out, '\n');
}

static void add_human(const struct line_sink *sink, const struct line_mark *mark, int stream, struct slice text,
		      int64_t wall_ms, struct buf *out)
{
	const struct look *look = &sink->cli->out;
	bool red = stream == 1 && look->colour && look->terminal;
	char time[CLOCK_TEXT_SIZE];

	if (sink->options->times)
		buf_addf(out, "%s ", when_format(wall_ms, clock_wall_ms(), time));
	if (sink->marked) {
		struct buf name = { 0 };
		size_t width;

		add_mark(sink, mark, &name);
		width = text_width(buf_slice(&name));
		look_colour(look, mark_colour(mark->name), ATTR_PLAIN, out);
		buf_add_slice(out, buf_slice(&name));
		buf_addf(out, "%*s |", width < sink->width ? (int)(sink->width - width) : 0, "");
		look_plain(look, out);
		buf_add_byte(out, ' ');
		buf_free(&name);
	}
	if (red)
		look_colour(look, COLOUR_RED, ATTR_PLAIN, out);
	if (look->terminal)
		text_escape(out, text, TEXT_KEEP_TAB | (look->colour ? TEXT_KEEP_COLOUR : 0));
	else
		buf_add_slice(out, text);
	if (red)
		look_plain(look, out);
	buf_add_byte(out, '\n');
}

/* ---- lines ---- */

static struct buf *line_place(struct line_sink *sink)
{
	struct buf *place;

	if (sink->options->tail == UINT64_MAX || sink->ring_at == SIZE_MAX)
		return &sink->out;
	if (sink->options->tail == 0)
		return NULL;
	if (sink->ring_count < sink->options->tail) {
		if (sink->ring_count == sink->ring_room) {
			size_t room = sink->ring_room ? 2 * sink->ring_room : 16;

			sink->ring = mem_resize(sink->ring, room, sizeof(*sink->ring));
			memset(sink->ring + sink->ring_room, 0, (room - sink->ring_room) * sizeof(*sink->ring));
			sink->ring_room = room;
		}
		return &sink->ring[sink->ring_count++];
	}
	place = &sink->ring[sink->ring_at];
	sink->ring_at = (sink->ring_at + 1) % sink->ring_count;
	buf_clear(place);
	return place;
}

/*
 * Search a copy that ends with a NUL: the line itself continues in memory, and regexec of some systems looks for a NUL
 * despite its length argument.
 */
static bool matches(struct line_sink *sink, struct slice text)
{
	regmatch_t match = { .rm_so = 0, .rm_eo = (regoff_t)text.len };

	buf_clear(&sink->searched);
	buf_add_slice(&sink->searched, text);
	return regexec(sink->options->grep, buf_cstr(&sink->searched), 1, &match, REG_STARTEND) == 0;
}

static void put_line(struct line_sink *sink, const struct line_mark *mark, int stream, struct slice text, int64_t wall_ms)
{
	struct buf *out;

	if (text.len > 0 && text.data[text.len - 1] == '\n')
		text.len--;
	if (sink->options->grep && !matches(sink, text))
		return;
	out = line_place(sink);
	if (!out)
		return;
	if (sink->cli->out.style == STYLE_JSON)
		add_json(mark, stream, text, wall_ms, out);
	else if (sink->cli->out.style == STYLE_PLAIN)
		add_plain(mark, stream, text, wall_ms, out);
	else
		add_human(sink, mark, stream, text, wall_ms, out);
}

static void put_lines(struct line_sink *sink, struct lines_of *of, int stream, bool all)
{
	struct line_stream *state = &of->streams[stream];
	struct buf *line = &state->text;

	for (;;) {
		const uint8_t *end = line->len ? memchr(line->data, '\n', line->len) : NULL;
		size_t len = end ? (size_t)(end - line->data) + 1 : line->len;

		if (len == 0 || (end == NULL && !all && len < LINE_LONGEST))
			return;
		if (!state->cut && state->wall_ms >= sink->options->since_ms)
			put_line(sink, &of->mark, stream, slice_make(line->data, len), state->wall_ms);
		if (end != NULL)
			state->cut = false;
		buf_drop(line, len);
	}
}

static void note_gap(struct line_sink *sink, struct lines_of *of, int stream, uint64_t bytes, bool live_tail)
{
	struct buf name = { 0 };

	put_lines(sink, of, stream, true);
	cli_print(sink->cli, &sink->out);
	add_mark(sink, &of->mark, &name);
	cli_note(sink->cli, "[%s: %" PRIu64 " bytes %s%s]", buf_cstr(&name), bytes,
		 live_tail ? "skipped: the job writes more than its log keeps, and the next lines are its newest output" : "dropped",
		 stream ? " of its standard error" : "");
	buf_free(&name);
	of->missing += live_tail ? 0 : bytes;
}

void lines_take(struct line_sink *sink, struct lines_of *of, const struct rec_output *piece, bool live_tail)
{
	int stream = piece->stream == 2;
	struct line_stream *state = &of->streams[stream];
	struct slice text = piece->data;
	uint64_t end = piece->offset + text.len;

	if ((sink->options->only_stdout && stream == 1) || (sink->options->only_stderr && stream == 0) || text.len == 0)
		return;
	/* The kept end of the log may overlap with live tail that was already printed: take only the new part. */
	if (state->known && end <= state->next)
		return;
	if (state->known && piece->offset < state->next)
		text = slice_make(text.data + (state->next - piece->offset), (size_t)(end - state->next));
	else if (state->known && piece->offset > state->next)
		note_gap(sink, of, stream, piece->offset - state->next, live_tail);
	state->known = true;
	state->next = end;
	state->wall_ms = piece->wall_ms;
	buf_add_slice(&state->text, text);
	put_lines(sink, of, stream, false);
}

void lines_damage(struct line_sink *sink, struct lines_of *of, struct slice what)
{
	struct buf text = { 0 };

	cli_print(sink->cli, &sink->out);
	text_escape(&text, what, TEXT_KEEP_NONE);
	cli_note(sink->cli, "[%s]", buf_cstr(&text));
	buf_free(&text);
	sink->damaged = true;
	/* Damage: the number of missing bytes in each stream is unknown. */
	of->streams[0].known = of->streams[1].known = false;
}

void lines_end(struct line_sink *sink, struct lines_of *of, uint64_t dropped)
{
	struct buf name = { 0 };

	for (int stream = 0; stream < 2; stream++)
		put_lines(sink, of, stream, true);
	if (dropped <= of->missing || sink->options->tail != UINT64_MAX || sink->options->since_ms != INT64_MIN)
		return;
	cli_print(sink->cli, &sink->out);
	add_mark(sink, &of->mark, &name);
	cli_note(sink->cli, "[%s: %" PRIu64 " bytes dropped]", buf_cstr(&name), dropped - of->missing);
	buf_free(&name);
	of->missing = dropped;
}

void lines_free(struct lines_of *of)
{
	buf_free(&of->streams[0].text);
	buf_free(&of->streams[1].text);
}

void sink_flush(struct line_sink *sink)
{
	for (size_t i = 0; sink->ring_at != SIZE_MAX && i < sink->ring_count; i++) {
		buf_add_slice(&sink->out, buf_slice(&sink->ring[(sink->ring_at + i) % sink->ring_count]));
		cli_print(sink->cli, &sink->out);
	}
	sink->ring_at = SIZE_MAX;
	cli_print(sink->cli, &sink->out);
}

void sink_free(struct line_sink *sink)
{
	for (size_t i = 0; i < sink->ring_room; i++)
		buf_free(&sink->ring[i]);
	buf_free(&sink->searched);
	mem_free(sink->ring);
	buf_free(&sink->out);
}
