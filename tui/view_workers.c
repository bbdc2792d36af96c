/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of workers: state, load now and before, jobs. The selection is a worker's number. */
#include <inttypes.h>
#include <stdio.h>

#include "base/when.h"
#include "tui/list.h"
#include "tui/views.h"

#define LOAD_CELLS_MAX 60

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

static void name_cell(const struct app *app, struct pane cell, const void *row)
{
	pane_clipped(cell, 0, 0, cell.width, (struct style){ 0 }, ((const struct tui_worker *)row)->name, app->theme.ascii);
}

static void state_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_worker *worker = row;
	const struct state_info *look = theme_worker(worker->state);
	bool stopped = standing_word(worker, NULL) != NULL;
	struct style style = stopped ? styled(app, LOOK_TEXT_WARNING) : theme_state(&app->theme, look);

	pane_printf(cell, 0, 0, style, "%s %s", theme_glyph(&app->theme, stopped ? &flag_table[FLAG_HOLD] : look),
		standing_word(worker, look->word));
}

static void bar_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_worker *worker = row;

	pane_bar(cell, 0, 0, cell.width, worker->slots ? (unsigned)(worker->busy * 1000 / worker->slots) : 0, styled(app, LOOK_BAR_SLOTS),
		app->theme.ascii);
}

static void slots_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_worker *worker = row;

	(void)app;
	pane_printf(cell, 0, 0, (struct style){ 0 }, "%" PRIu64 "/%" PRIu64, worker->busy, worker->slots);
}

/* The CPU use in the last quarters of a minute, the newest on the right; blank while the worker wasn't connected. */
static void load_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_worker *worker = row;
	int count = cell.width < LOAD_CELLS_MAX ? cell.width : LOAD_CELLS_MAX;

	for (int i = 0; worker->load && i < count; i++) {
		uint8_t sample = worker->load->cpu[MODEL_SAMPLES - count + i];
		uint32_t percent = sample > 101 ? 100 : sample > 0 ? sample - 1u : 0;
		enum look look = percent >= 90 ? LOOK_BAR_FULL : percent >= 70 ? LOOK_BAR_BUSY : LOOK_BAR_EASY;

		if (sample > 0)
			pane_spark(cell, i, 0, &percent, 1, 100, styled(app, look), app->theme.ascii);
	}
}

static void share_draw(struct pane cell, const struct tui_worker *worker, uint64_t permille)
{
	char text[NUMBER_SIZE] = "?";

	if (worker->state == WORKER_UP)
		snprintf(text, sizeof text, "%" PRIu64 "%%", permille / 10 % 10000);
	pane_right(cell, 0, 0, cell.width, (struct style){ 0 }, text);
}

static void cpu_cell(const struct app *app, struct pane cell, const void *row)
{
	(void)app;
	share_draw(cell, row, ((const struct tui_worker *)row)->cpu_permille);
}

static void memory_cell(const struct app *app, struct pane cell, const void *row)
{
	(void)app;
	share_draw(cell, row, ((const struct tui_worker *)row)->mem_permille);
}

static void number_draw(struct pane cell, uint64_t value)
{
	char text[NUMBER_SIZE];

	pane_right(cell, 0, 0, cell.width, (struct style){ 0 }, number_short(value, cell.width, text));
}

static void prefetched_cell(const struct app *app, struct pane cell, const void *row)
{
	(void)app;
	number_draw(cell, ((const struct tui_worker *)row)->prefetched);
}

static void done_cell(const struct app *app, struct pane cell, const void *row)
{
	(void)app;
	number_draw(cell, ((const struct tui_worker *)row)->done);
}

static void heard_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_worker *worker = row;
	char text[CLOCK_TEXT_SIZE];

	pane_right(cell, 0, 0, cell.width, (struct style){ 0 }, worker->seen_ms ? when_short(worker->seen_ms, app->drawn_ms, text) : "-");
}

static void pid_cell(const struct app *app, struct pane cell, const void *row)
{
	char text[NUMBER_FULL_SIZE];

	(void)app;
	snprintf(text, sizeof text, "%" PRIu64, ((const struct tui_worker *)row)->pid);
	pane_right(cell, 0, 0, cell.width, (struct style){ 0 }, text);
}

static const struct list_column columns[] = {
	{ .head = "NAME", .width = 8, .grow = 2, .gap = 1, .draw = name_cell },
	{ .head = "STATE", .width = 13, .gap = 1, .draw = state_cell },
	{ .head = "", .width = 10, .priority = 1, .gap = 1, .draw = bar_cell },
	{ .head = "SLOTS", .width = 10, .gap = 1, .draw = slots_cell },
	{ .head = "LOAD", .width = 8, .grow = 3, .most = 40, .priority = 2, .gap = 1, .draw = load_cell },
	{ .head = "CPU", .width = 5, .gap = 1, .right = true, .draw = cpu_cell },
	{ .head = "MEM", .width = 5, .gap = 1, .right = true, .draw = memory_cell },
	{ .head = "PREFETCH", .width = 8, .priority = 3, .gap = 1, .right = true, .draw = prefetched_cell },
	{ .head = "DONE", .width = 7, .priority = 4, .gap = 1, .right = true, .draw = done_cell },
	{ .head = "HEARD", .width = 9, .gap = 1, .right = true, .draw = heard_cell },
	{ .head = "PID", .width = 8, .priority = 5, .gap = 1, .right = true, .draw = pid_cell },
};

static uint64_t worker_id(const void *row)
{
	return ((const struct tui_worker *)row)->worker;
}

static struct slice worker_name(const void *row)
{
	return ((const struct tui_worker *)row)->name;
}

static const struct list_table workers_table = {
	.columns = columns, .count = sizeof columns / sizeof columns[0], .id = worker_id, .name = worker_name,
};

static struct list_rows list_workers(const struct app *app)
{
	return (struct list_rows){ .at = (void **)app->model.workers, .count = app->model.worker_count };
}

void workers_act(struct app *app, enum action action)
{
	list_move(&workers_table, &app->workers, list_workers(app), action);
}

const struct tui_worker *workers_selected(const struct app *app)
{
	const struct list_rows rows = list_workers(app);
	size_t at = list_selected(&workers_table, &app->workers, rows);

	return at < rows.count ? rows.at[at] : NULL;
}

bool workers_offers(const struct app *app, enum action action)
{
	return act_makes_sense(app, action);
}

bool workers_find(struct app *app, int step)
{
	return list_find(app, &workers_table, &app->workers, list_workers(app), step);
}

void workers_name(const struct app *app, struct buf *out)
{
	const struct tui_worker *worker = workers_selected(app);

	if (worker)
		buf_add_slice(out, worker->name);
}

void workers_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	struct list_table table = workers_table;
	char title[64];

	(void)now_ms;
	table.none = app->model.runs_known ? "no worker is connected; try: titan up" : "waiting for the master's answer";
	snprintf(title, sizeof title, "WORKERS (%zu)", app->model.worker_count);
	pane_title(pane, 0, styled(app, LOOK_PANE_TITLE), app->theme.ascii, title);
	list_draw(app, &table, &app->workers, list_workers(app), pane_cut(pane, 0, 1, pane.width, pane.height - 1));
}
