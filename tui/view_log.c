/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log view of one job: moving through it, and drawing it. Lines are escaped when they are drawn, except colours. Moving
 * up stops following new output, and the place on the screen stays; End resumes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/when.h"
#include "tui/views.h"

/* The words of a line as a terminal would show them, with colours. */
static void shown_text(const struct log_view *log, const struct log_line *line, struct buf *out)
{
	program_text(line_last_state(window_text(&log->window, line)), out);
}

/* How many rows of the screen the line takes. */
static size_t rows_of(const struct log_view *log, size_t index)
{
	struct buf text = { 0 }, words = { 0 };
	size_t width, room = log->width > 0 ? (size_t)log->width : 1;

	if (!log->wraps)
		return 1;
	shown_text(log, &log->window.lines[index], &text);
	program_words(buf_slice(&text), &words);
	width = text_width(buf_slice(&words));
	buf_free(&text);
	buf_free(&words);
	return width > room ? (width + room - 1) / room : 1;
}

/* The top line with which the last line is at the bottom. */
static size_t last_top(const struct log_view *log)
{
	size_t page = log->page > 0 ? (size_t)log->page : 1, top = log->window.line_count, rows = 0;

	while (top > 0 && (rows += rows_of(log, top - 1)) <= page)
		top--;
	return top == log->window.line_count && top > 0 ? top - 1 : top;
}

/* Go to the first line of all, reading it if it isn't in memory. */
static void go_first(struct app *app)
{
	struct log_view *log = &app->log;

	log->top = 0;
	if (window_from(&log->window) == 0)
		return;
	log->wanted = (struct log_place){ 0 };
	log->wanted_from = 0;
	log->wants = true;
}

static void go_last(struct log_view *log)
{
	log->follow = true;
	log->skip = !log->ended;
	log->new_lines = 0;
	log->wants = false;
}

void log_move(struct app *app, enum action action)
{
	struct log_view *log = &app->log;
	size_t page = log->page > 0 ? (size_t)log->page : 1, last = last_top(log);
	bool up = action == ACTION_UP || action == ACTION_PAGE_UP || action == ACTION_FIRST;

	if (action == ACTION_LEFT || action == ACTION_RIGHT) {
		log->left += action == ACTION_RIGHT ? 8 : -8;
		log->left = log->left < 0 ? 0 : log->left > LOG_LINE_MAX ? LOG_LINE_MAX : log->left;
		return;
	}
	if (log->follow)
		log->top = last;
	if (up && log->follow && (last > 0 || window_from(&log->window) > 0)) {
		log->follow = false;
		log->new_lines = 0;
	}
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
		go_first(app);
		break;
	default:
		go_last(log);
		break;
	}
	log->top = log->top > last ? last : log->top;
	if (!up && log->top == last && log->ended)
		go_last(log);
}

/* Show where the line has the text that is searched for. */
static void mark_found(const struct app *app, struct pane pane, int y)
{
	const struct log_search *search = &app->log.search;
	struct buf text = { 0 };
	int at[1024];

	for (int x = 0; x < pane.width && search->len > 0; x++) {
		const struct cell *cell = grid_at(pane.grid, pane.x + x, pane.y + y);

		for (size_t i = 0; i < cell->len && text.len < sizeof at / sizeof at[0]; i++) {
			at[text.len] = x;
			buf_add_byte(&text, (uint8_t)cell->text[i]);
		}
	}
	for (size_t i = 0; search->len > 0 && i + search->len <= text.len; i++) {
		if (!text_has(slice_make(text.data + i, search->len), slice_make(search->text, search->len)))
			continue;
		pane_restyle(pane, at[i], y, at[i + search->len - 1] - at[i] + 1, (struct style){ 0 }, STYLE_REVERSE);
		i += search->len - 1;
	}
	buf_free(&text);
}

/* The width of the column with times and streams. */
static int margin_of(const struct app *app)
{
	const struct log_view *log = &app->log;
	char clock[CLOCK_TEXT_SIZE];

	if (log->no_time || log->window.line_count == 0)
		return 2;
	return (int)strlen(when_format(log->window.lines[log->top].wall_ms, app->drawn_ms, clock)) + 3;
}

/* Draw the line from this row on; return the row behind it. */
static int line_draw(const struct app *app, struct pane pane, int y, int margin, size_t index)
{
	const struct log_view *log = &app->log;
	const struct log_line *line = &log->window.lines[index];
	size_t rows = rows_of(log, index);
	struct buf text = { 0 };
	char clock[CLOCK_TEXT_SIZE];

	if (!log->no_time)
		pane_str(pane_cut(pane, 0, y, margin - 3, 1), 0, 0, styled(app, LOOK_LOG_TIME),
			when_format(line->wall_ms, app->drawn_ms, clock));
	if (line->place.stream == 1)
		pane_str(pane, margin - 2, y, styled(app, LOOK_LOG_ERROR), "E");
	shown_text(log, line, &text);
	for (size_t row = 0; row < rows && y < pane.height; row++, y++) {
		struct pane body = pane_cut(pane, margin, y, pane.width - margin, 1);

		program_draw(app, body, log->wraps ? -(int)row * body.width : -log->left, 0, buf_slice(&text));
		mark_found(app, body, 0);
	}
	buf_free(&text);
	return y;
}

static void log_page(struct app *app)
{
	const struct log_view *log = &app->log;
	struct buf command = { 0 };

	/* The name becomes a quoted word of a command. No job that a master accepts has such a name. */
	if (strpbrk(log->name, "'\\") != NULL) {
		app_notice(app, true, "the name of this job can't be typed, so the pager can't show its log");
		return;
	}
	buf_addf(&command, "logs '%" PRIu64 "/%s'", log->run, log->name);
	if (log->try_no > 0 && !log->latest)
		buf_addf(&command, " --try %" PRIu64, log->try_no);
	send_text(app, APP_PAGER, buf_slice(&command));
	buf_free(&command);
}

void log_copy(struct app *app)
{
	struct log_view *log = &app->log;
	struct buf all = { 0 };
	size_t count = 0, rows = 0;

	for (size_t i = log->top; i < log->window.line_count && (rows += rows_of(log, i)) <= (size_t)log->page; i++, count++) {
		struct buf text = { 0 };

		shown_text(log, &log->window.lines[i], &text);
		program_words(buf_slice(&text), &all);
		buf_add_byte(&all, '\n');
		buf_free(&text);
	}
	if (count > 0)
		app_copy(app, buf_slice(&all));
	app_notice(app, false, "%zu lines were copied", count);
	buf_free(&all);
}

void log_act(struct app *app, enum action action)
{
	switch (action) {
	case ACTION_TRY_BEFORE:
	case ACTION_TRY_AFTER:
		log_move_try(app, action == ACTION_TRY_AFTER ? 1 : -1);
		break;
	case ACTION_WRAP:
		app->log.wraps = !app->log.wraps;
		app->log.left = 0;
		break;
	case ACTION_TIME:
		app->log.no_time = !app->log.no_time;
		break;
	case ACTION_PAGER:
		log_page(app);
		break;
	default:
		log_move(app, action);
		break;
	}
}

bool log_offers(const struct app *app, enum action action)
{
	return app->log.opened || action == ACTION_BACK;
}

void log_name(const struct app *app, struct buf *out)
{
	buf_addf(out, "%" PRIu64 "/%s", app->log.run, app->log.name);
}

/* How far the top of the screen is in the log. */
static unsigned percent_of(const struct log_view *log)
{
	const struct log_window *window = &log->window;
	uint64_t from = window_from(window), span = window_to(window) - from;
	double share = window->line_count > 0 ? (double)log->top / (double)window->line_count : 0;

	return log->size > 0 ? (unsigned)(100 * ((double)from + share * (double)span) / (double)log->size) : 0;
}

static int search_draw(const struct app *app, struct pane pane, int x)
{
	const struct log_search *search = &app->log.search;
	struct style bold = styled(app, LOOK_TEXT_STRONG);
	bool more = log_search_wants(&app->log) || search->count == LOG_MATCHES_MAX;

	if (search->len == 0)
		return x;
	x = pane_str(pane, x, 0, bold, "/");
	x = pane_clipped(pane, x, 0, 20, bold, slice_make(search->text, search->len), app->theme.ascii) + 1;
	if (search->at > 0)
		x = pane_printf(pane, x, 0, bold, "%zu of ", search->at);
	x = pane_printf(pane, x, 0, bold, "%zu%s", search->count, more ? "+" : search->at > 0 ? "" : " lines");
	if (log_search_wants(&app->log) && app->log.size > 0)
		x = pane_printf(pane, x, 0, (struct style){ 0 }, ", searched %u%%", (unsigned)(search->offset * 100 / app->log.size));
	return x + 2;
}

static void head_draw(const struct app *app, struct pane pane)
{
	const struct log_view *log = &app->log;
	const struct tui_job *job = log_job(app);
	struct style bold = styled(app, LOOK_TEXT_STRONG), plain = { 0 };
	int x = pane_printf(pane, 0, 0, bold, "LOG %" PRIu64 "/%s", log->run, log->name) + 2;

	if (job && log->latest) {
		const struct state_info *look = job_face(&app->model.graph, log->index);

		x = pane_printf(pane, x, 0, theme_state(&app->theme, look), "%s %s", theme_glyph(&app->theme, look), look->word) + 2;
		x = pane_foreign(pane, x, 0, plain, job_worker(job)) + 2;
		if (job->tries > 1)
			x = pane_printf(pane, x, 0, plain, "try %u", job->tries) + 2;
	} else if (log->try_no > 0) {
		x = pane_printf(pane, x, 0, bold, "an earlier try: %" PRIu64 ", } shows the next", log->try_no) + 2;
	} else {
		x = pane_str(pane, x, 0, bold, "an earlier try, } shows the next") + 2;
	}
	if (log->follow)
		x = pane_str(pane, x, 0, plain, log_grows(app) ? "follows" : "end") + 2;
	else
		x = pane_printf(pane, x, 0, bold, "PAUSED %u%%", percent_of(log)) + 2;
	if (!log->follow && log->new_lines > 0)
		x = pane_printf(pane, x - 1, 0, bold, "+%" PRIu64 "%s", log->new_lines,
			window_bytes(&log->window) < LOG_KEEP_BYTES ? "" : " and more") + 2;
	x = search_draw(app, pane, x);
	if (log->dropped > 0)
		pane_printf(pane, x, 0, styled(app, LOOK_TEXT_WARNING), "%" PRIu64 " bytes were dropped", log->dropped);
}

static const char *nothing_yet(const struct app *app)
{
	if (app->link != LINK_LIVE)
		return "not connected";
	if (!app->log.begun)
		return "reading";
	return log_grows(app) ? "the job has written nothing yet" : "the job wrote nothing";
}

void log_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	struct log_view *log = &app->log;
	struct pane body = pane_cut(pane, 0, 1, pane.width, pane.height - 1);
	int margin, y = 0;

	(void)now_ms;
	if (!log->opened)
		return;
	log->page = body.height;
	margin = margin_of(app);
	log->width = body.width - margin;
	if (log->follow || log->top > last_top(log))
		log->top = last_top(log);
	head_draw(app, pane);
	for (size_t i = log->top; y < body.height && i < log->window.line_count; i++)
		y = line_draw(app, body, y, margin, i);
	if (log->window.line_count == 0)
		pane_str(body, 0, 0, styled(app, LOOK_TEXT_WEAK), nothing_yet(app));
}
