/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log view of one job: moving through it, and drawing it. Lines are escaped when they are drawn, except colours. Moving
 * up stops following new output, and the place on the screen stays; End resumes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "base/when.h"
#include "tui/views.h"

static size_t last_top(const struct log_view *log)
{
	size_t page = log->page > 0 ? (size_t)log->page : 1;

	return log->window.line_count > page ? log->window.line_count - page : 0;
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

static void line_draw(const struct app *app, struct pane pane, int y, const struct log_line *line)
{
	struct style dim = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM);
	struct buf escaped = { 0 };
	struct pane body;
	char clock[CLOCK_TEXT_SIZE];
	int x = pane_str(pane, 0, y, dim, when_format(line->wall_ms, app->drawn_ms, clock)) + 1;

	if (line->place.stream == 1)
		pane_str(pane, x, y, theme_style(&app->theme, COLOUR_RED, 0), "E");
	x += 2;
	body = pane_cut(pane, x, y, pane.width - x, 1);
	program_text(line_last_state(window_text(&app->log.window, line)), &escaped);
	program_draw(app, body, -app->log.left, 0, buf_slice(&escaped));
	mark_found(app, body, 0);
	buf_free(&escaped);
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
	struct style bold = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_BOLD);
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
	struct style bold = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_BOLD), plain = { 0 };
	int x = pane_printf(pane, 0, 0, bold, "LOG %" PRIu64 "/%s", log->run, log->name) + 2;

	if (job && log->latest) {
		const struct state_info *look = job_face(&app->model.graph, log->index);

		x = pane_printf(pane, x, 0, theme_state(&app->theme, look), "%s %s", theme_glyph(&app->theme, look), look->word) + 2;
		x = pane_foreign(pane, x, 0, plain, job_worker(job)) + 2;
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
		pane_printf(pane, x, 0, theme_style(&app->theme, COLOUR_YELLOW, 0), "%" PRIu64 " bytes were dropped", log->dropped);
}

static const char *nothing_yet(const struct app *app)
{
	if (app->link != LINK_LIVE)
		return "not connected";
	if (!app->log.begun)
		return "reading";
	return log_grows(app) ? "the job has written nothing yet" : "the job wrote nothing";
}

void log_draw(struct app *app, struct pane pane)
{
	struct log_view *log = &app->log;
	struct pane body = pane_cut(pane, 0, 1, pane.width, pane.height - 1);
	size_t page = (size_t)body.height;

	if (!log->opened)
		return;
	log->page = body.height;
	if (log->follow || log->top > last_top(log))
		log->top = last_top(log);
	head_draw(app, pane);
	for (size_t y = 0; y < page && log->top + y < log->window.line_count; y++)
		line_draw(app, body, (int)y, &log->window.lines[log->top + y]);
	if (log->window.line_count == 0)
		pane_str(body, 0, 0, theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM), nothing_yet(app));
}
