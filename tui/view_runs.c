/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of runs, newest first. The selection is a run's number. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tui/list.h"
#include "tui/views.h"

void runs_choose(struct app *app)
{
	const struct model *model = &app->model;
	size_t at = 0;

	/* The run asked for on the command line may be older than the runs in the list. */
	if (app->wanted_run && (model->runs_known || model_run(model, app->wanted_run))) {
		app->run = app->pinned_run = app->wanted_run;
		app->wanted_run = 0;
	}
	if (app->run != 0 && (app->run == app->pinned_run || model_run(model, app->run)))
		return;
	/* A new list of runs is shorter than the one that had been paged on to the selected run. */
	if (app->run != 0 && app->run < model->runs_floor && model->run_count < MODEL_RUNS_MAX && app->link == LINK_LIVE) {
		send_older(app);
		return;
	}
	if (model->run_count == 0)
		return;
	/* The selected run is gone: select the next older one, or the newest if none was selected. */
	while (app->run != 0 && at < model->run_count && model->runs[at]->run < app->run)
		at++;
	app->run = model->runs[at > 0 ? at - 1 : app->run ? 0 : model->run_count - 1]->run;
}

/* How the state of a run is shown: also that it is on hold, or that all it waits for is a person. */
static const struct state_info *run_face(const struct tui_run *run)
{
	struct tally tally = tally_of(run->counts);

	if (run->held && !run_state_terminal(run->state) && tally.run == 0)
		return &flag_table[FLAG_HOLD];
	if (run->counts[STATE_APPROVAL] > 0 && tally.run + tally.queue == 0)
		return &state_table[STATE_APPROVAL];
	return run_state_info(run->state);
}

static uint64_t ended_jobs(const struct tui_run *run)
{
	uint64_t count = 0;

	for (unsigned state = 0; state < STATE_COUNT; state++)
		count += state_terminal((enum job_state)state) ? run->counts[state] : 0;
	return count;
}

/* ---- columns ---- */

static void id_cell(const struct app *app, struct pane cell, const void *row)
{
	(void)app;
	pane_printf(cell, 0, 0, (struct style){ 0 }, "%" PRIu64, ((const struct tui_run *)row)->run);
}

static void name_cell(const struct app *app, struct pane cell, const void *row)
{
	pane_clipped(cell, 0, 0, cell.width, (struct style){ 0 }, ((const struct tui_run *)row)->name, app->theme.ascii);
}

static void state_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct state_info *look = run_face(row);

	pane_printf(cell, 0, 0, theme_state(&app->theme, look), "%s %s", theme_glyph(&app->theme, look), look->word);
}

static void bar_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_run *run = row;
	struct style style = theme_style(&app->theme, run_face(run)->colour, 0);

	if (tally_of(run->counts).fail > 0)
		style = styled(app, LOOK_BAR_FAILED);
	pane_bar(cell, 0, 0, cell.width, run->jobs ? (unsigned)(ended_jobs(run) * 1000 / run->jobs) : 1000, style, app->theme.ascii);
}

static void percent_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_run *run = row;

	(void)app;
	pane_printf(cell, 0, 0, (struct style){ 0 }, "%3u%%", run->jobs ? (unsigned)(ended_jobs(run) * 100 / run->jobs) : 100);
}

static void number_draw(struct pane cell, struct style style, uint64_t value)
{
	char text[NUMBER_SIZE];

	pane_right(cell, 0, 0, cell.width, style, number_short(value, 4, text));
}

static void ok_cell(const struct app *app, struct pane cell, const void *row)
{
	(void)app;
	number_draw(cell, (struct style){ 0 }, tally_of(((const struct tui_run *)row)->counts).ok);
}

static void running_cell(const struct app *app, struct pane cell, const void *row)
{
	(void)app;
	number_draw(cell, (struct style){ 0 }, tally_of(((const struct tui_run *)row)->counts).run);
}

static void waiting_cell(const struct app *app, struct pane cell, const void *row)
{
	struct tally tally = tally_of(((const struct tui_run *)row)->counts);

	(void)app;
	number_draw(cell, (struct style){ 0 }, tally.wait + tally.queue);
}

static void failed_cell(const struct app *app, struct pane cell, const void *row)
{
	uint32_t fail = tally_of(((const struct tui_run *)row)->counts).fail;

	number_draw(cell, fail ? theme_state(&app->theme, &state_table[STATE_FAILED]) : (struct style){ 0 }, fail);
}

static int64_t age_of(const struct app *app, const struct tui_run *run)
{
	bool ended = run_state_terminal(run->state);
	int64_t age_ms = (ended && run->ended_ms ? run->ended_ms : app->drawn_ms) - run->submitted_ms;

	return age_ms > 0 ? age_ms : 0;
}

static void age_cell(const struct app *app, struct pane cell, const void *row)
{
	char text[CLOCK_TEXT_SIZE];

	pane_right(cell, 0, 0, cell.width, (struct style){ 0 }, clock_format_span(age_of(app, row), text));
}

static void eta_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_run *run = row;
	uint64_t ended = ended_jobs(run);
	char text[CLOCK_TEXT_SIZE], eta[NUMBER_SIZE + 1] = "~";

	if (run_state_terminal(run->state) || ended == 0 || run->state == RUN_WAITING) {
		pane_right(cell, 0, 0, cell.width, styled(app, LOOK_TEXT_WEAK), "-");
		return;
	}
	if (run_face(run) != run_state_info(run->state)) {
		/* Nobody knows when a person decides. */
		pane_right(cell, 0, 0, cell.width, (struct style){ 0 }, run->counts[STATE_APPROVAL] > 0 ? "gate" : "hold");
		return;
	}
	span_short((int64_t)((double)age_of(app, run) * (double)(run->jobs - ended) / (double)ended), eta + 1);
	/* A gate that waits besides makes it later. */
	snprintf(text, sizeof text, "%s%s", eta, run->counts[STATE_APPROVAL] > 0 && strlen(eta) < 5 ? "+" : "");
	pane_right(cell, 0, 0, cell.width, (struct style){ 0 }, text);
}

static const struct list_column columns[] = {
	{ .head = "ID", .width = 5, .gap = 1, .draw = id_cell },
	{ .head = "PIPELINE", .width = 9, .grow = 3, .gap = 1, .draw = name_cell },
	{ .head = "STATE", .width = 7, .gap = 1, .draw = state_cell },
	{ .head = "PROGRESS", .width = 6, .grow = 2, .most = 24, .gap = 1, .draw = bar_cell },
	{ .head = "", .width = 4, .draw = percent_cell },
	{ .head = "OK", .width = 5, .priority = 1, .gap = 1, .right = true, .draw = ok_cell },
	{ .head = "RUN", .width = 4, .gap = 1, .right = true, .draw = running_cell },
	{ .head = "WAIT", .width = 4, .gap = 1, .right = true, .draw = waiting_cell },
	{ .head = "FAIL", .width = 4, .gap = 1, .right = true, .draw = failed_cell },
	{ .head = "AGE", .width = 7, .gap = 1, .right = true, .draw = age_cell },
	{ .head = "ETA", .width = 5, .priority = 2, .gap = 1, .right = true, .draw = eta_cell },
};

static uint64_t run_id(const void *row)
{
	return ((const struct tui_run *)row)->run;
}

static struct slice run_name(const void *row)
{
	return ((const struct tui_run *)row)->name;
}

/* ---- the list ---- */

static const struct list_table runs_table = {
	.columns = columns, .count = sizeof columns / sizeof columns[0], .id = run_id, .name = run_name,
};

static struct list_rows list_runs(const struct app *app)
{
	const struct model *model = &app->model;
	struct list_rows rows = { .at = mem_array(model->run_count + 1, sizeof *rows.at) };

	for (size_t i = model->run_count; i-- > 0;)
		if (!app->runs_failures_only || tally_of(model->runs[i]->counts).fail > 0)
			rows.at[rows.count++] = model->runs[i];
	return rows;
}

/* The selected run is also that of other views. */
static struct list_view *view_of(struct app *app)
{
	app->runs.id = app->run;
	app->runs.chosen = true;
	return &app->runs;
}

static void runs_move(struct app *app, enum action action)
{
	struct list_rows rows = list_runs(app);
	struct list_view *view = view_of(app);
	size_t page = view->page > 0 ? (size_t)view->page : 1;

	list_move(&runs_table, view, rows, action);
	app->run = view->id;
	app->runs_to_end = action == ACTION_LAST;
	if (action != ACTION_UP && action != ACTION_PAGE_UP && action != ACTION_FIRST &&
	    list_selected(&runs_table, view, rows) + page >= rows.count)
		send_older(app);
	mem_free(rows.at);
}

void runs_act(struct app *app, enum action action)
{
	if (action == ACTION_FAILURES)
		app->runs_failures_only = !app->runs_failures_only;
	else
		runs_move(app, action);
}

bool runs_is_first(const struct app *app)
{
	struct list_rows rows = list_runs(app);
	bool first = rows.count == 0 || run_id(rows.at[0]) == app->run;

	mem_free(rows.at);
	return first;
}

bool runs_offers(const struct app *app, enum action action)
{
	if (action == ACTION_BACK)
		return app->back_count > 0 || app->runs_failures_only || app->find.len > 0;
	return act_makes_sense(app, action);
}

void runs_name(const struct app *app, struct buf *out)
{
	if (app->run != 0)
		buf_addf(out, "%" PRIu64, app->run);
}

void runs_took_older(struct app *app)
{
	if (app->runs_to_end && app->model.runs_floor != 0 && app->model.run_count < MODEL_RUNS_MAX)
		send_older(app);
	else if (app->runs_to_end)
		runs_move(app, ACTION_LAST);
}

bool runs_find(struct app *app, int step)
{
	struct list_rows rows = list_runs(app);
	struct list_view *view = view_of(app);
	bool found = list_find(app, &runs_table, view, rows, step);

	app->run = view->id;
	mem_free(rows.at);
	return found;
}

static void title_draw(const struct app *app, struct pane pane, size_t count)
{
	char title[128], some[NUMBER_FULL_SIZE], all[NUMBER_FULL_SIZE];

	if (app->runs_failures_only)
		snprintf(title, sizeof title, "RUNS (%zu of %s%s: with failures, x shows all)", count,
			app->model.runs_floor ? "the newest " : "", number_full(app->model.run_count, some));
	else if (app->model.totals.runs > count)
		snprintf(title, sizeof title, "RUNS (newest %s of %s%s)", number_full(count, some),
			number_full(app->model.totals.runs, all), app->older_id ? ", reading on" : "");
	else
		snprintf(title, sizeof title, "RUNS (%s)", number_full(count, some));
	pane_title(pane, 0, styled(app, LOOK_PANE_TITLE), app->theme.ascii, title);
}

/* Why there are no rows. */
static const char *no_runs(const struct app *app)
{
	if (!app->model.runs_known)
		return "waiting for the master's answer";
	if (app->runs_failures_only)
		return app->model.runs_floor ? "none of these runs has a failed job; PgDn reads older runs" : "no run has a failed job";
	return "no runs yet; try: titan run -e 'a -> {b, c} -> d'";
}

void runs_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	struct list_column fitted[sizeof columns / sizeof columns[0]];
	struct list_table table = runs_table;
	struct list_rows rows = list_runs(app);
	char id[NUMBER_FULL_SIZE];

	(void)now_ms;
	memcpy(fitted, columns, sizeof columns);
	if (rows.count > 0 && snprintf(id, sizeof id, "%" PRIu64, run_id(rows.at[0])) > fitted[0].width)
		fitted[0].width = (int)strlen(id);
	table.columns = fitted;
	table.none = no_runs(app);
	title_draw(app, pane, rows.count);
	list_draw(app, &table, view_of(app), rows, pane_cut(pane, 0, 1, pane.width, pane.height - 1));
	mem_free(rows.at);
}
