/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log view of one job: the last 64 KB of its output, in lines. Output is escaped when it arrives, except colours,
 * which are drawn. Moving up stops following new output; End resumes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/when.h"
#include "tui/model_internal.h"
#include "tui/views.h"

#define LOG_LINE_MAX 4096                /* most bytes of a line; a longer one is broken */

void log_free(struct log_view *log)
{
	for (size_t i = 0; i < log->count; i++)
		mem_free(log->lines[(log->first + i) % LOG_KEEP_LINES].text);
	mem_free(log->lines);
	buf_free(&log->partial[0]);
	buf_free(&log->partial[1]);
	*log = (struct log_view){ 0 };
}

void log_open(struct app *app, uint32_t index)
{
	const struct tui_graph *graph = &app->model.graph;
	const struct tui_job *job = &graph->jobs[index];

	if (job->epoch == 0) {
		app_notice(app, false, "no log yet: no worker has got the job");
		return;
	}
	log_free(&app->log);
	app->log = (struct log_view){ .run = graph->run, .job = job->job, .epoch = job->epoch, .index = index,
		.follow = true };
	app->log.lines = mem_array(LOG_KEEP_LINES, sizeof *app->log.lines);
	model_plain(job->name, app->log.name, sizeof app->log.name);
	if (app->link == LINK_LIVE)
		send_log_read(app);
	app_go(app, VIEW_LOG);
}

static void forget_line(struct log_view *log)
{
	struct log_line *line = &log->lines[log->first];

	log->bytes -= line->len;
	mem_free(line->text);
	log->first = (log->first + 1) % LOG_KEEP_LINES;
	log->count--;
	log->forgotten++;
	log->top -= log->top > 0;
}

void program_text(struct slice raw, struct buf *out)
{
	struct buf text = { 0 };

	if (raw.len > 0 && raw.data[raw.len - 1] == '\r')
		raw.len--;
	for (size_t i = 0; i < raw.len; i++) {
		if (raw.data[i] != '\t') {
			buf_add_byte(&text, raw.data[i]);
			continue;
		}
		do {
			buf_add_byte(&text, ' ');
		} while (text.len % 8 != 0);
	}
	text_escape(out, buf_slice(&text), TEXT_KEEP_COLOUR);
	buf_free(&text);
}

static void keep_line(struct log_view *log, struct slice raw, unsigned stream, int64_t wall_ms)
{
	struct buf escaped = { 0 };
	struct log_line *line;

	program_text(raw, &escaped);
	while (log->count > 0 && (log->count == LOG_KEEP_LINES || log->bytes + escaped.len > LOG_KEEP_BYTES))
		forget_line(log);
	line = &log->lines[(log->first + log->count++) % LOG_KEEP_LINES];
	*line = (struct log_line){
		.len = (uint32_t)escaped.len, .stream = (uint8_t)stream, .wall_ms = wall_ms};
	line->text = mem_alloc(escaped.len + 1);
	memcpy(line->text, buf_cstr(&escaped), escaped.len + 1);
	log->bytes += escaped.len;
	buf_free(&escaped);
}

static void take_piece(struct log_view *log, const struct rec_output *piece)
{
	unsigned which = piece->stream == 2;
	struct buf *partial = &log->partial[which];
	const uint8_t *at = piece->data.data;
	size_t left = piece->data.len, seen = 0;
	uint64_t end = piece->offset + left;

	/* Skip bytes that were already shown live: the kept end of the output repeats them. */
	if (log->known[which] && piece->offset < log->next[which])
		seen = log->next[which] < end ? (size_t)(log->next[which] - piece->offset) : left;
	at += seen;
	left -= seen;
	log->next[which] = log->known[which] && log->next[which] > end ? log->next[which] : end;
	log->known[which] = true;
	while (left > 0) {
		const uint8_t *end = memchr(at, '\n', left);
		size_t len = end ? (size_t)(end - at) : left;
		bool full = partial->len + len >= LOG_LINE_MAX;

		if (full)
			len = LOG_LINE_MAX - partial->len;
		if (partial->len == 0)
			log->partial_ms[which] = piece->wall_ms;
		buf_add(partial, at, len);
		if (end || full) {
			keep_line(log, buf_slice(partial), which + 1, log->partial_ms[which]);
			buf_clear(partial);
		}
		len += !full && end;
		at += len;
		left -= len;
	}
}

void log_take(struct app *app, const struct msg_log_data *msg)
{
	struct log_view *log = &app->log;

	if (!log->lines || msg->id != log->request)
		return;
	/* The log has more output before the first piece. */
	if (!log->begun && msg->start > 0)
		log->forgotten++;
	log->begun = true;
	for (size_t i = 0; i < msg->pieces.n; i++)
		take_piece(log, &msg->pieces.at[i]);
	for (size_t i = 0; i < msg->live_tail.n; i++)
		take_piece(log, &msg->live_tail.at[i]);
	log->newest = msg->newest;
	log->asked = false;
	log->ended = msg->end || (msg->pieces.n == 0 && msg->offset <= log->offset);
	log->offset = msg->offset > log->offset ? msg->offset : log->offset;
	log->dropped = msg->dropped;
	if (!log->ended)
		send_log_read(app);
}

bool log_grows(const struct app *app)
{
	const struct tui_graph *graph = &app->model.graph;
	const struct log_view *log = &app->log;

	if (graph->run != log->run || log->index >= graph->count ||
		graph->jobs[log->index].epoch != log->epoch)
		return false;
	return state_table[graph->states[log->index]].kind == KIND_HOLDS;
}

static size_t rows_of(const struct log_view *log)
{
	return log->count + (log->partial[0].len > 0) + (log->partial[1].len > 0);
}

void log_move(struct app *app, enum action action)
{
	struct log_view *log = &app->log;
	size_t rows = rows_of(log), page = log->page > 0 ? (size_t)log->page : 1;
	size_t last = rows > page ? rows - page : 0;

	if (action == ACTION_LEFT || action == ACTION_RIGHT) {
		log->left += action == ACTION_RIGHT ? 8 : -8;
		log->left = log->left < 0 ? 0 : log->left > LOG_LINE_MAX ? LOG_LINE_MAX : log->left;
		return;
	}
	if (log->follow)
		log->top = last;
	switch (action) {
	case ACTION_UP:
		log->top -= log->top > 0;
		break;
	case ACTION_DOWN:
		log->top++;
		break;
	case ACTION_PAGE_UP:
		log->top -= log->top < page ? log->top : page;
		break;
	case ACTION_PAGE_DOWN:
		log->top += page;
		break;
	case ACTION_FIRST:
		log->top = 0;
		break;
	default:
		log->top = last;
		break;
	}
	log->top = log->top > last ? last : log->top;
	log->follow = log->top == last && (last == 0 || (action != ACTION_UP && action != ACTION_PAGE_UP &&
		action != ACTION_FIRST));
}

/* Do the words of the line match the search, ignoring colour sequences? */
static bool line_matches(const struct app *app, const struct log_line *line)
{
	struct buf words = { 0 };
	bool escape = false, found;

	for (uint32_t i = 0; i < line->len; i++) {
		if (line->text[i] == 0x1b)
			escape = true;
		else if (!escape)
			buf_add_byte(&words, (uint8_t)line->text[i]);
		else if (line->text[i] == 'm')
			escape = false;
	}
	found = name_matches(app, buf_slice(&words));
	buf_free(&words);
	return found;
}

bool log_find(struct app *app, int step)
{
	struct log_view *log = &app->log;
	size_t at = log->top;

	for (size_t i = 1; i <= log->count; i++) {
		size_t to = (at + (step > 0 ? i : log->count * 2 - i)) % log->count;
		const struct log_line *line = &log->lines[(log->first + to) % LOG_KEEP_LINES];

		if (!line_matches(app, line))
			continue;
		log->top = to;
		log->follow = false;
		return true;
	}
	return false;
}

/* Apply the numbers of one SGR sequence; 256 colours and true colours are ignored. */
static struct style apply_sgr(struct style style, struct slice parameters)
{
	static const uint8_t colours[] = {COLOUR_DEFAULT, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW,
		COLOUR_BLUE, COLOUR_MAGENTA, COLOUR_CYAN, COLOUR_DEFAULT};
	unsigned number = 0;

	for (size_t i = 0; i <= parameters.len; i++) {
		if (i < parameters.len && parameters.data[i] >= '0' && parameters.data[i] <= '9') {
			number = number * 10 % 1000 + (unsigned)(parameters.data[i] - '0');
			continue;
		}
		if (number == 38 || number == 48)
			return style;
		if (number == 0)
			style = (struct style){ 0 };
		else if (number == 1)
			style.attributes |= STYLE_BOLD;
		else if (number == 2)
			style.attributes |= STYLE_DIM;
		else if (number == 4)
			style.attributes |= STYLE_UNDERLINE;
		else if (number == 7)
			style.attributes |= STYLE_REVERSE;
		else if (number == 22)
			style.attributes &= (uint8_t)~(STYLE_BOLD | STYLE_DIM);
		else if ((number >= 30 && number <= 37) || (number >= 90 && number <= 97))
			style.colour = colours[number % 10];
		else if (number == 39)
			style.colour = COLOUR_DEFAULT;
		number = 0;
	}
	return style;
}

int program_draw(const struct app *app, struct pane pane, int x, int y, struct slice text)
{
	struct style style = { 0 };

	while (text.len > 0) {
		const uint8_t *escape = memchr(text.data, 0x1b, text.len);
		size_t plain = escape ? (size_t)(escape - text.data) : text.len;
		size_t end = plain + 2;

		x = pane_text(pane, x, y, theme_style(&app->theme, style.colour, style.attributes),
			slice_make(text.data, plain));
		if (!escape)
			return x;
		while (end < text.len && text.data[end] != 'm')
			end++;
		if (end >= text.len)
			return x;
		style = apply_sgr(style, slice_make(text.data + plain + 2, end - plain - 2));
		text = slice_make(text.data + end + 1, text.len - end - 1);
	}
	return x;
}

static void line_draw(
	const struct app *app, struct pane pane, int y, unsigned stream, int64_t wall_ms, struct slice text)
{
	struct style dim = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM);
	char clock[CLOCK_TEXT_SIZE];
	int x = pane_str(pane, 0, y, dim, when_format(wall_ms, app->drawn_ms, clock)) + 1;

	if (stream == 2)
		pane_str(pane, x, y, theme_style(&app->theme, COLOUR_RED, 0), "E");
	x += 2;
	program_draw(app, pane_cut(pane, x, y, pane.width - x, 1), -app->log.left, 0, text);
}

static void row_draw(const struct app *app, struct pane pane, int y, size_t row)
{
	const struct log_view *log = &app->log;
	struct buf escaped = { 0 };

	if (row < log->count) {
		const struct log_line *line = &log->lines[(log->first + row) % LOG_KEEP_LINES];

		line_draw(app, pane, y, line->stream, line->wall_ms, slice_make(line->text, line->len));
		return;
	}
	row -= log->count;
	if (row == 1 || log->partial[0].len == 0)
		row = 1;
	text_escape(&escaped, buf_slice(&log->partial[row]), TEXT_KEEP_COLOUR);
	line_draw(app, pane, y, (unsigned)row + 1, log->partial_ms[row], buf_slice(&escaped));
	buf_free(&escaped);
}

static void head_draw(const struct app *app, struct pane pane)
{
	const struct tui_graph *graph = &app->model.graph;
	const struct log_view *log = &app->log;
	struct style bold = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_BOLD), plain = { 0 };
	int x = pane_printf(pane, 0, 0, bold, "LOG %" PRIu64 "/%s", log->run, log->name) + 2;

	if (graph->run == log->run && log->index < graph->count) {
		const struct state_info *look = job_face(graph, log->index);

		x = pane_printf(pane, x, 0, theme_state(&app->theme, look), "%s %s",
			    theme_glyph(&app->theme, look), look->word) +
		    2;
		x = pane_foreign(pane, x, 0, plain, job_worker(&graph->jobs[log->index])) + 2;
	}
	if (log->follow)
		x = pane_str(pane, x, 0, plain, log_grows(app) ? "follows" : "end");
	else
		x = pane_printf(pane, x, 0, bold, "PAUSED at %zu of %zu lines, G goes on", log->top + 1,
			rows_of(log));
	if (log->dropped > 0)
		pane_printf(pane, x + 2, 0, theme_style(&app->theme, COLOUR_YELLOW, 0),
			"%" PRIu64 " bytes were dropped", log->dropped);
	else if (log->forgotten > 0)
		pane_str(pane, x + 2, 0, plain, "(the last 64 KB)");
}

static const char *nothing_yet(const struct app *app)
{
	if (app->link != LINK_LIVE)
		return "not connected";
	if (app->log.asked)
		return "reading";
	return log_grows(app) ? "the job has written nothing yet" : "the job wrote nothing";
}

void log_draw(struct app *app, struct pane pane)
{
	struct log_view *log = &app->log;
	struct pane body = pane_cut(pane, 0, 1, pane.width, pane.height - 1);
	size_t rows = rows_of(log), page = (size_t)body.height;

	if (!log->lines)
		return;
	log->page = body.height;
	if (log->follow || log->top + page > rows)
		log->top = rows > page ? rows - page : 0;
	head_draw(app, pane);
	for (size_t y = 0; y < page && log->top + y < rows; y++)
		row_draw(app, body, (int)y, log->top + y);
	if (rows == 0)
		pane_str(body, 0, 0, theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM),
			nothing_yet(app));
}
