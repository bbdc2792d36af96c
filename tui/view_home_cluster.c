/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws CLUSTER (how busy it is, now and in the last minute) and EVENTS (what changed, newest first). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/when.h"
#include "tui/views.h"

#define MINUTE_CELLS  12                 /* signs of five seconds */
#define HOUR_CELLS    60                 /* signs of a minute */
#define HOUR_ROWS     5                  /* rows of the last hour, with their title */

/*
 * Draw so many signs of per samples each, the newest on the right. What isn't known of the last hour stays blank; of the
 * last minute it counts as nothing, because nothing was seen yet.
 */
static int spark_draw(const struct app *app, struct pane pane, int x, int y, size_t step, enum series which, size_t per, int count,
		      enum look look)
{
	uint32_t values[HOUR_CELLS] = { 0 }, top = 1;
	size_t known = load_cells(&app->model.load, step, which, per, (size_t)count, values);

	if (step == LOAD_SHORT && known < (size_t)count) {
		memmove(values + count - (int)known, values, known * sizeof values[0]);
		memset(values, 0, ((size_t)count - known) * sizeof values[0]);
		known = (size_t)count;
	}
	for (size_t i = 0; i < known; i++)
		top = values[i] > top ? values[i] : top;
	pane_spark(pane, x + count - (int)known, y, values, known, top, styled(app, look), app->theme.ascii);
	return x + count + 1;
}

static int share_draw(
	const struct app *app, struct pane pane, int x, int y, const char *what, uint64_t permille)
{
	struct style plain = { 0 };
	enum look look = permille >= 900 ? LOOK_BAR_FULL : permille >= 700 ? LOOK_BAR_BUSY : LOOK_BAR_EASY;

	x = pane_str(pane, x, y, plain, what) + 1;
	pane_bar(pane, x, y, 10, (unsigned)permille, styled(app, look), app->theme.ascii);
	return pane_printf(pane, x + 10, y, plain, " %3u%%", (unsigned)(permille / 10)) + 3;
}

/* The load in the last minute, as signs and as numbers. */
static void minute_draw(const struct app *app, struct pane pane, int y)
{
	const struct totals *totals = &app->model.totals;
	struct style plain = { 0 };
	uint32_t ended = 0;
	char text[NUMBER_SIZE];
	int x = pane_str(pane, 0, y, plain, "jobs/s ");

	load_cells(&app->model.load, LOAD_SHORT, SERIES_ENDED, 5, 1, &ended);
	x = spark_draw(app, pane, x, y, LOAD_SHORT, SERIES_ENDED, 5, MINUTE_CELLS, LOOK_LOAD_ENDED);
	if (ended < 500)
		x = pane_printf(pane, x, y, plain, "%-6.1f", (double)ended / 5);
	else
		x = pane_printf(pane, x, y, plain, "%-6s", number_short(ended / 5, 5, text));
	x = pane_str(pane, x + 1, y, plain, "queue ");
	x = spark_draw(app, pane, x, y, LOAD_SHORT, SERIES_QUEUED, 5, MINUTE_CELLS, LOOK_LOAD_QUEUED);
	x = pane_printf(pane, x, y, plain, "%-5s", number_short(totals->queue, 5, text));
	pane_printf(pane, x + 1, y, plain, "slots %" PRIu64 "/%" PRIu64, totals->busy, totals->slots);
}

static void machines_draw(const struct app *app, struct pane pane, int y)
{
	const struct model *model = &app->model;
	const struct totals *totals = &model->totals;
	struct style plain = { 0 };
	uint64_t cpu = 0, memory = 0;
	int x;

	for (size_t i = 0; i < model->worker_count; i++) {
		if (model->workers[i]->state != WORKER_UP)
			continue;
		cpu += model->workers[i]->cpu_permille;
		memory += model->workers[i]->mem_permille;
	}
	cpu = totals->workers_up ? cpu / totals->workers_up : 0;
	memory = totals->workers_up ? memory / totals->workers_up : 0;
	x = share_draw(app, pane, 0, y, "cpu", cpu);
	x = share_draw(app, pane, x, y, "mem", memory);
	x = pane_printf(pane, x, y, plain, "workers %" PRIu64 " up", totals->workers_up);
	if (totals->workers_silent)
		x = pane_printf(pane, x, y, plain, ", %" PRIu64 " unreachable", totals->workers_silent);
	if (totals->workers_lost)
		pane_printf(pane, x, y, plain, ", %" PRIu64 " lost", totals->workers_lost);
}

/* The last hour: a sign for each minute, and the sum or the most of them. */
static void hour_draw(const struct app *app, struct pane pane)
{
	static const struct { enum series which; const char *word; enum look look; bool sum; } rows[] = {
		{ SERIES_ENDED, "ended", LOOK_LOAD_ENDED, true },
		{ SERIES_FAILED, "failed", LOOK_LOAD_FAILED, true },
		{ SERIES_RUNNING, "running", LOOK_LOAD_RUNNING, false },
		{ SERIES_QUEUED, "queued", LOOK_LOAD_QUEUED, false },
	};
	const struct load *load = &app->model.load;
	int64_t since_ms = load->since_ms;
	int count = pane.width - 22 < HOUR_CELLS ? pane.width - 22 : HOUR_CELLS;
	char title[80] = "LAST HOUR", when[CLOCK_TEXT_SIZE], number[NUMBER_SIZE];

	if (since_ms > app->drawn_ms - load->ahead_s * 1000 - 3600 * 1000)
		snprintf(title, sizeof title, "LAST HOUR (known since %s)", when_short(since_ms, app->drawn_ms, when));
	pane_title(pane, 0, styled(app, LOOK_PANE_TITLE), app->theme.ascii, title);
	for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
		uint32_t values[HOUR_CELLS];
		size_t known = load_cells(load, LOAD_LONG, rows[i].which, 4, (size_t)count, values);
		uint64_t all = 0;

		for (size_t k = 0; k < known; k++)
			all = rows[i].sum ? all + values[k] : values[k] > all ? values[k] : all;
		pane_str(pane, 0, i + 1, (struct style){ 0 }, rows[i].word);
		spark_draw(app, pane, 8, i + 1, LOAD_LONG, rows[i].which, 4, count, rows[i].look);
		pane_printf(pane, 9 + count, i + 1, (struct style){ 0 }, "%s%s", rows[i].sum ? "" : "most ", number_short(all, 5, number));
	}
}

int cluster_height(int body_height)
{
	return body_height >= 36 ? 3 + HOUR_ROWS : body_height >= 16 ? 3 : 0;
}

void cluster_draw(struct app *app, struct pane pane)
{
	if (pane.height < 3)
		return;
	pane_title(pane, 0, styled(app, LOOK_PANE_TITLE), app->theme.ascii, "CLUSTER");
	minute_draw(app, pane, 1);
	machines_draw(app, pane, 2);
	if (pane.height >= 3 + HOUR_ROWS)
		hour_draw(app, pane_cut(pane, 0, 3, pane.width, HOUR_ROWS));
}

void events_draw(struct app *app, struct pane pane)
{
	struct style plain = { 0 }, dim = styled(app, LOOK_TEXT_WEAK);
	char text[CLOCK_TEXT_SIZE];
	int x = 0, y = 1;

	if (pane.height < 2)
		return;
	pane_title(pane, 0, dim, app->theme.ascii, "EVENTS");
	for (size_t back = 0; y < pane.height; back++) {
		const struct tui_event *event = model_event(&app->model, back);
		int room;

		if (!event)
			break;
		room = 11 + (int)text_width(slice_str(event->text));
		if (x > 0 && x + room > pane.width) {
			x = 0;
			if (++y >= pane.height)
				break;
		}
		x = pane_str(pane, x, y, dim, when_short(event->at_ms, app->drawn_ms, text)) + 1;
		x = pane_str(pane, x, y, theme_state(&app->theme, event->look),
			    theme_glyph(&app->theme, event->look)) +
		    1;
		x = pane_str(pane, x, y, plain, event->text) + 3;
	}
	if (model_event(&app->model, 0) == NULL)
		pane_str(pane, 0, 1, dim, "nothing has changed since this screen was opened");
}
