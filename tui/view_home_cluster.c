/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws CLUSTER (how busy it is, now and in the last minute) and EVENTS (what changed, newest first). */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/when.h"
#include "tui/views.h"

#define SPARK_WIDTH 12

static int spark_draw(
	const struct app *app, struct pane pane, int x, int y, const uint32_t *history, enum colour colour)
{
	const uint32_t *from = history + MODEL_HISTORY - SPARK_WIDTH;
	uint32_t top = 1;

	for (size_t i = 0; i < SPARK_WIDTH; i++)
		top = from[i] > top ? from[i] : top;
	pane_spark(pane, x, y, from, SPARK_WIDTH, top, theme_style(&app->theme, colour, 0), app->theme.ascii);
	return x + SPARK_WIDTH + 1;
}

static int share_draw(
	const struct app *app, struct pane pane, int x, int y, const char *what, uint64_t permille)
{
	struct style plain = { 0 };
	enum colour colour = permille >= 900 ? COLOUR_RED : permille >= 700 ? COLOUR_YELLOW : COLOUR_GREEN;

	x = pane_str(pane, x, y, plain, what) + 1;
	pane_bar(pane, x, y, 10, (unsigned)permille, theme_style(&app->theme, colour, 0), app->theme.ascii);
	return pane_printf(pane, x + 10, y, plain, " %3u%%", (unsigned)(permille / 10)) + 3;
}

void cluster_draw(struct app *app, struct pane pane)
{
	const struct model *model = &app->model;
	const struct totals *totals = &model->totals;
	struct style plain = { 0 };
	uint64_t cpu = 0, memory = 0, ended = 0;
	char text[NUMBER_SIZE];
	int x;

	if (pane.height < 3)
		return;
	for (size_t i = 0; i < model->worker_count; i++) {
		if (model->workers[i]->state != WORKER_UP)
			continue;
		cpu += model->workers[i]->cpu_permille;
		memory += model->workers[i]->mem_permille;
	}
	cpu = totals->workers_up ? cpu / totals->workers_up : 0;
	memory = totals->workers_up ? memory / totals->workers_up : 0;
	for (size_t i = 0; i < 5; i++)
		ended += model->rate[MODEL_HISTORY - 1 - i];
	pane_title(pane, 0, theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM), app->theme.ascii, "CLUSTER");
	x = pane_str(pane, 0, 1, plain, "jobs/s ");
	x = spark_draw(app, pane, x, 1, model->rate, COLOUR_GREEN);
	if (ended < 500)
		x = pane_printf(pane, x, 1, plain, "%-6.1f", (double)ended / 5);
	else
		x = pane_printf(pane, x, 1, plain, "%-6s", number_short(ended / 5, 5, text));
	x = pane_str(pane, x + 1, 1, plain, "queue ");
	x = spark_draw(app, pane, x, 1, model->queue, COLOUR_CYAN);
	x = pane_printf(pane, x, 1, plain, "%-5s", number_short(totals->queue, 5, text));
	pane_printf(pane, x + 1, 1, plain, "slots %" PRIu64 "/%" PRIu64, totals->busy, totals->slots);
	x = share_draw(app, pane, 0, 2, "cpu", cpu);
	x = share_draw(app, pane, x, 2, "mem", memory);
	x = pane_printf(pane, x, 2, plain, "workers %" PRIu64 " up", totals->workers_up);
	if (totals->workers_silent)
		x = pane_printf(pane, x, 2, plain, ", %" PRIu64 " unreachable", totals->workers_silent);
	if (totals->workers_lost)
		pane_printf(pane, x, 2, plain, ", %" PRIu64 " lost", totals->workers_lost);
}

void events_draw(struct app *app, struct pane pane)
{
	struct style plain = { 0 }, dim = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM);
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
