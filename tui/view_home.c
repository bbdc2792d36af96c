/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Home and the list of runs, newest first. The selection is a run's number, whose row is looked up for each frame.
 * Columns that don't fit are left out by priority; rows never wrap.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tui/views.h"

struct shown_runs {
	struct tui_run **at;
	size_t count;
	size_t selected;                 /* index of the selected run; count if it isn't in the list */
};

static struct shown_runs list_runs(const struct app *app)
{
	const struct model *model = &app->model;
	struct shown_runs list = { .at = mem_array(model->run_count + 1, sizeof *list.at) };

	for (size_t i = model->run_count; i-- > 0;) {
		struct tui_run *run = model->runs[i];

		if (app->runs_failures_only && tally_of(run->counts).fail == 0)
			continue;
		list.at[list.count++] = run;
	}
	list.selected = list.count;
	for (size_t i = 0; i < list.count; i++)
		if (list.at[i]->run == app->run)
			list.selected = i;
	return list;
}

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

void runs_move(struct app *app, enum action action)
{
	struct shown_runs list = list_runs(app);
	size_t at = list.selected < list.count ? list.selected : 0;

	size_t page = app->runs_page > 0 ? (size_t)app->runs_page : 1;

	if (list.count > 0) {
		at = move_in(at, list.count, page, action);
		app->run = list.at[at]->run;
	}
	app->runs_to_end = action == ACTION_LAST;
	if (action != ACTION_UP && action != ACTION_PAGE_UP && action != ACTION_FIRST && at + page >= list.count)
		send_older(app);
	mem_free(list.at);
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
	struct shown_runs list = list_runs(app);
	bool found = false;

	for (size_t i = 1; i <= list.count && !found; i++) {
		size_t at = (list.selected + (step > 0 ? i : list.count * 2 - i)) % list.count;

		found = name_matches(app, list.at[at]->name);
		if (found)
			app->run = list.at[at]->run;
	}
	mem_free(list.at);
	return found;
}

struct run_columns {
	/* x of each column; 0: the column is left out */
	int id, name, state, bar, percent, ok, run, wait, fail, age, eta;
	int name_width, bar_width;
};

/* Place columns of fixed width from the right; name and bar share the rest. */
static struct run_columns columns_for(int width)
{
	struct run_columns at = { .id = 2, .name = 8 };
	int x = width;

	if (width >= 76)
		x = at.eta = x - 6;
	x = at.age = x - 8;
	x = at.fail = x - 5;
	x = at.wait = x - 5;
	x = at.run = x - 5;
	if (width >= 66)
		x = at.ok = x - 6;
	x = at.percent = x - 4;
	at.bar_width = (x - 8) * 2 / 5 - 4;
	if (at.bar_width > 24)
		at.bar_width = 24;
	at.bar = x - at.bar_width - 1;
	at.state = at.bar - 8;
	at.name_width = at.state - at.name - 1;
	return at;
}

static void head_draw(const struct app *app, struct pane pane, const struct run_columns *at)
{
	struct style dim = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM);

	pane_str(pane, at->id, 0, dim, "ID");
	pane_str(pane, at->name, 0, dim, "PIPELINE");
	pane_str(pane, at->state, 0, dim, "STATE");
	pane_str(pane, at->bar, 0, dim, "PROGRESS");
	if (at->ok)
		pane_right(pane, at->ok, 0, 5, dim, "OK");
	pane_right(pane, at->run, 0, 4, dim, "RUN");
	pane_right(pane, at->wait, 0, 4, dim, "WAIT");
	pane_right(pane, at->fail, 0, 4, dim, "FAIL");
	pane_right(pane, at->age, 0, 7, dim, "AGE");
	if (at->eta)
		pane_right(pane, at->eta, 0, 5, dim, "ETA");
}

static void number_draw(struct pane pane, int x, int y, int room, struct style style, uint64_t value)
{
	char text[NUMBER_SIZE];

	pane_right(pane, x, y, room, style, number_short(value, room, text));
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

static void times_draw(const struct app *app, struct pane pane, int y, const struct run_columns *at,
		       const struct tui_run *run, uint64_t ended_jobs, int64_t now_ms)
{
	struct style plain = { 0 };
	bool ended = run_state_terminal(run->state);
	int64_t age = (ended && run->ended_ms ? run->ended_ms : now_ms) - run->submitted_ms;
	char text[CLOCK_TEXT_SIZE], eta[NUMBER_SIZE + 1] = "~";

	pane_right(pane, at->age, y, 7, plain, clock_format_span(age > 0 ? age : 0, text));
	if (!at->eta)
		return;
	if (ended || ended_jobs == 0 || run->state == RUN_WAITING) {
		pane_right(pane, at->eta, y, 5, theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM), "-");
		return;
	}
	if (run_face(run) != run_state_info(run->state)) {
		/* Nobody knows when a person decides. */
		pane_right(pane, at->eta, y, 5, plain, run->counts[STATE_APPROVAL] > 0 ? "gate" : "hold");
		return;
	}
	span_short((int64_t)((double)age * (double)(run->jobs - ended_jobs) / (double)ended_jobs), eta + 1);
	/* A gate that waits besides makes it later. */
	snprintf(text, sizeof text, "%s%s", eta, run->counts[STATE_APPROVAL] > 0 && strlen(eta) < 5 ? "+" : "");
	pane_right(pane, at->eta, y, 5, plain, text);
}

static void run_draw(const struct app *app, struct pane pane, int y, const struct run_columns *at,
		     const struct tui_run *run, int64_t now_ms)
{
	const struct state_info *look = run_face(run);
	struct style style = theme_state(&app->theme, look), plain = { 0 };
	struct tally tally = tally_of(run->counts);
	uint64_t ended_jobs = 0;
	int x;

	for (unsigned state = 0; state < STATE_COUNT; state++)
		ended_jobs += state_terminal(state) ? run->counts[state] : 0;
	if (run->run == app->run)
		pane_str(pane, 0, y, theme_style(&app->theme, COLOUR_DEFAULT, STYLE_BOLD), ">");
	x = pane_printf(pane, at->id, y, plain, "%" PRIu64, run->run) + 1;
	if (x < at->name)
		x = at->name;
	pane_clipped(pane, x, y, at->name_width - (x - at->name), plain, run->name, app->theme.ascii);
	x = pane_str(pane, at->state, y, style, theme_glyph(&app->theme, look));
	pane_str(pane, x + 1, y, style, look->word);
	pane_bar(pane, at->bar, y, at->bar_width, run->jobs ? (unsigned)(ended_jobs * 1000 / run->jobs) : 1000,
		theme_style(&app->theme, tally.fail ? COLOUR_RED : look->colour, 0), app->theme.ascii);
	pane_printf(pane, at->percent, y, plain, "%3u%%",
		run->jobs ? (unsigned)(ended_jobs * 100 / run->jobs) : 100);
	if (at->ok)
		number_draw(pane, at->ok + 1, y, 4, plain, tally.ok);
	number_draw(pane, at->run, y, 4, plain, tally.run);
	number_draw(pane, at->wait, y, 4, plain, tally.wait + tally.queue);
	number_draw(pane, at->fail, y, 4,
		tally.fail ? theme_state(&app->theme, &state_table[STATE_FAILED]) : plain, tally.fail);
	times_draw(app, pane, y, at, run, ended_jobs, now_ms);
	if (run->run == app->run)
		pane_restyle(pane, 0, y, pane.width, plain, STYLE_BOLD);
}

void runs_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	struct shown_runs list = list_runs(app);
	struct run_columns at = columns_for(pane.width);
	struct style dim = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM);
	char title[128], some[NUMBER_FULL_SIZE], all[NUMBER_FULL_SIZE];
	size_t page = pane.height > 2 ? (size_t)pane.height - 2 : 0;

	if (app->runs_failures_only)
		snprintf(title, sizeof title, "RUNS (%zu of %s%s: with failures, x shows all)", list.count,
			app->model.runs_floor ? "the newest " : "", number_full(app->model.run_count, some));
	else if (app->model.totals.runs > list.count)
		snprintf(title, sizeof title, "RUNS (newest %s of %s%s)", number_full(list.count, some),
			number_full(app->model.totals.runs, all), app->older_id ? ", reading on" : "");
	else
		snprintf(title, sizeof title, "RUNS (%s)", number_full(list.count, some));
	pane_title(pane, 0, dim, app->theme.ascii, title);
	head_draw(app, pane_cut(pane, 0, 1, pane.width, 1), &at);
	app->runs_page = (int)page;
	app->runs_top =
		scroll_to(app->runs_top, list.selected < list.count ? list.selected : 0, page, list.count);
	for (size_t i = 0; i < page && app->runs_top + i < list.count; i++)
		run_draw(app, pane, (int)i + 2, &at, list.at[app->runs_top + i], now_ms);
	if (list.count == 0 && page > 0) {
		if (!app->model.runs_known)
			pane_str(pane, 2, 2, dim, "waiting for the master's answer");
		else if (app->runs_failures_only)
			pane_printf(pane, 2, 2, dim, app->model.runs_floor ? "none of these runs has a failed job; PgDn reads older runs"
				: "no run has a failed job");
		else
			pane_str(pane, 2, 2, dim, "no runs yet; try: titan run -e 'a -> {b, c} -> d'");
	}
	mem_free(list.at);
}

void home_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	int height = pane.height, y = 0;
	int cluster = height >= 16 ? 3 : 0;
	int events = height >= 14 ? 2 : 0;
	int most = height >= 40 ? 8 : height >= 18 ? 4 : height >= 14 ? 2 : 1;
	int needs;

	if (height >= 32)
		events = 3 + (height - 32) / 4;
	needs = (int)needs_count(app) < most ? (int)needs_count(app) : most;
	needs_draw(app, pane_cut(pane, 0, 0, pane.width, needs + 1), (size_t)needs, now_ms);
	y = needs + 1;
	runs_draw(app, pane_cut(pane, 0, y, pane.width, height - y - cluster - events), now_ms);
	cluster_draw(app, pane_cut(pane, 0, height - cluster - events, pane.width, cluster));
	events_draw(app, pane_cut(pane, 0, height - events, pane.width, events));
}
