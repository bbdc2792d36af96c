/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of workers: state, load, jobs. The selection is a worker's number. */
#include <inttypes.h>
#include <stdio.h>

#include "base/when.h"
#include "tui/views.h"

static size_t selected_at(const struct app *app)
{
	const struct model *model = &app->model;

	for (size_t i = 0; i < model->worker_count; i++)
		if (app->worker_chosen && model->workers[i]->worker == app->worker)
			return i;
	return 0;
}

void workers_move(struct app *app, enum action action)
{
	const struct model *model = &app->model;

	if (model->worker_count == 0)
		return;
	app->worker = model->workers[move_in(selected_at(app), model->worker_count, (size_t)app->workers_page,
					     action)]
			      ->worker;
	app->worker_chosen = true;
}

bool workers_find(struct app *app, int step)
{
	const struct model *model = &app->model;
	size_t count = model->worker_count;

	for (size_t i = 1; i <= count; i++) {
		size_t at = (selected_at(app) + (step > 0 ? i : count * 2 - i)) % count;

		if (!name_matches(app, model->workers[at]->name))
			continue;
		app->worker = model->workers[at]->worker;
		app->worker_chosen = true;
		return true;
	}
	return false;
}

struct worker_columns {
	int state, slots, cpu, memory, prefetched, done, seen, pid;    /* x of each column; 0: the column is left out */
	int bar_width;
};

static struct worker_columns columns_for(int width)
{
	struct worker_columns at = { 0 };
	int x = width;

	if (width >= 100)
		x = at.pid = x - 9;
	x = at.seen = x - 10;
	if (width >= 90)
		x = at.done = x - 8;
	if (width >= 70)
		x = at.prefetched = x - 9;
	x = at.memory = x - 6;
	x = at.cpu = x - 6;
	at.bar_width = width >= 80 ? 10 : 0;
	x = at.slots = x - at.bar_width - 11;
	at.state = x - 14;
	return at;
}

static void head_draw(const struct app *app, struct pane pane, const struct worker_columns *at)
{
	struct style dim = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM);

	pane_str(pane, 2, 0, dim, "NAME");
	pane_str(pane, at->state, 0, dim, "STATE");
	pane_str(pane, at->slots, 0, dim, "SLOTS");
	pane_right(pane, at->cpu, 0, 5, dim, "CPU");
	pane_right(pane, at->memory, 0, 5, dim, "MEM");
	if (at->prefetched)
		pane_right(pane, at->prefetched, 0, 8, dim, "PREFETCH");
	if (at->done)
		pane_right(pane, at->done, 0, 7, dim, "DONE");
	pane_right(pane, at->seen, 0, 9, dim, "HEARD");
	if (at->pid)
		pane_right(pane, at->pid, 0, 8, dim, "PID");
}

/* A word for a connected worker that gets no jobs; otherwise: for any other one. */
static const char *standing_word(const struct tui_worker *worker, const char *otherwise)
{
	if (worker->state != WORKER_UP)
		return otherwise;
	if (worker->standing == STANDING_DRAINING)
		return "draining";
	if (worker->standing == STANDING_CORDONED)
		return "cordoned";
	return worker->pool_stopped ? "pool drains" : worker->rests ? "rests" : otherwise;
}

static void worker_draw(const struct app *app, struct pane pane, int y, const struct worker_columns *at,
			const struct tui_worker *worker, bool selected)
{
	const struct state_info *look = theme_worker(worker->state);
	bool stopped = standing_word(worker, NULL) != NULL;
	struct style style = stopped ? theme_style(&app->theme, COLOUR_YELLOW, 0) : theme_state(&app->theme, look), plain = { 0 };
	char text[CLOCK_TEXT_SIZE];
	int x;

	if (selected)
		pane_str(pane, 0, y, theme_style(&app->theme, COLOUR_DEFAULT, STYLE_BOLD), ">");
	pane_clipped(pane, 2, y, at->state - 3, plain, worker->name, app->theme.ascii);
	x = pane_str(pane, at->state, y, style, theme_glyph(&app->theme, stopped ? &flag_table[FLAG_HOLD] : look));
	pane_str(pane, x + 1, y, style, standing_word(worker, look->word));
	pane_bar(pane, at->slots, y, at->bar_width,
		worker->slots ? (unsigned)(worker->busy * 1000 / worker->slots) : 0,
		theme_style(&app->theme, COLOUR_BLUE, 0), app->theme.ascii);
	pane_printf(pane, at->slots + at->bar_width + (at->bar_width > 0), y, plain, "%" PRIu64 "/%" PRIu64,
		worker->busy, worker->slots);
	if (worker->state == WORKER_UP) {
		snprintf(text, sizeof text, "%" PRIu64 "%%", worker->cpu_permille / 10 % 10000);
		pane_right(pane, at->cpu, y, 5, plain, text);
		snprintf(text, sizeof text, "%" PRIu64 "%%", worker->mem_permille / 10 % 10000);
		pane_right(pane, at->memory, y, 5, plain, text);
	} else {
		pane_right(pane, at->cpu, y, 5, plain, "?");
		pane_right(pane, at->memory, y, 5, plain, "?");
	}
	if (at->prefetched)
		pane_right(pane, at->prefetched, y, 8, plain, number_short(worker->prefetched, 5, text));
	if (at->done)
		pane_right(pane, at->done, y, 7, plain, number_short(worker->done, 6, text));
	pane_right(pane, at->seen, y, 9, plain,
		worker->seen_ms ? when_short(worker->seen_ms, app->drawn_ms, text) : "-");
	snprintf(text, sizeof text, "%" PRIu64, worker->pid);
	if (at->pid)
		pane_right(pane, at->pid, y, 8, plain, text);
	if (selected)
		pane_restyle(pane, 0, y, pane.width, plain, STYLE_BOLD);
}

void workers_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	const struct model *model = &app->model;
	struct style dim = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM);
	struct worker_columns at = columns_for(pane.width);
	size_t page = pane.height > 2 ? (size_t)pane.height - 2 : 0, selected = selected_at(app);
	char title[64];

	(void)now_ms;
	snprintf(title, sizeof title, "WORKERS (%zu)", model->worker_count);
	pane_title(pane, 0, dim, app->theme.ascii, title);
	head_draw(app, pane_cut(pane, 0, 1, pane.width, 1), &at);
	app->workers_page = (int)page;
	app->workers_top = scroll_to(app->workers_top, selected, page, model->worker_count);
	for (size_t i = 0; i < page && app->workers_top + i < model->worker_count; i++)
		worker_draw(app, pane, (int)i + 2, &at, model->workers[app->workers_top + i],
			app->workers_top + i == selected);
	if (model->worker_count == 0 && page > 0)
		pane_str(pane, 2, 2, dim, model->runs_known ? "no worker is connected; try: titan up" :
			"waiting for the master's answer");
}
