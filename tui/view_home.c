/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Home: what needs a person, runs, the cluster, events, one below the other. Keys move through the first two as if they were
 * one list. What needs a person leads to its job, log or worker, and a gate can be decided from here.
 */
#include "tui/views.h"

/* The selected thing that needs a person. False: a run is selected, or it needs nobody any more. */
static bool selected_need(const struct app *app, struct need *ret_need)
{
	return app->on_needs && need_find(app, app->needs.id, ret_need);
}

/* The run of the selected thing is also the selected run, for the pane beside it and for other views. */
static void follow_need(struct app *app)
{
	struct need need;

	if (selected_need(app, &need) && need.run != 0)
		app->run = app->pinned_run = need.run;
}

void home_choose(struct app *app)
{
	struct need need;
	struct needs needs;

	/* What was selected is dealt with: go on with the first of the others, or with the runs. */
	if (!app->on_needs || selected_need(app, &need))
		return;
	needs = needs_list(app);
	app->on_needs = needs.rows.count > 0;
	if (app->on_needs)
		list_select(&needs_table, &app->needs, needs.rows.at[0]);
	needs_free(&needs);
	follow_need(app);
}

static void move_in_needs(struct app *app, enum action action)
{
	struct needs needs = needs_list(app);
	size_t at = list_selected(&needs_table, &app->needs, needs.rows);

	if (action == ACTION_LAST || ((action == ACTION_DOWN || action == ACTION_PAGE_DOWN) && at + 1 >= needs.rows.count)) {
		app->on_needs = false;
		runs_act(app, action == ACTION_LAST ? ACTION_LAST : ACTION_FIRST);
	} else {
		list_move(&needs_table, &app->needs, needs.rows, action);
	}
	needs_free(&needs);
	follow_need(app);
}

/* Go from the first run to the last thing that needs a person; with ACTION_FIRST, to the first one. */
static void go_to_needs(struct app *app, enum action action)
{
	struct needs needs = needs_list(app);

	if (needs.rows.count > 0) {
		app->on_needs = true;
		list_select(&needs_table, &app->needs, needs.rows.at[action == ACTION_FIRST ? 0 : needs.rows.count - 1]);
	}
	needs_free(&needs);
	follow_need(app);
}

static void move(struct app *app, enum action action)
{
	bool up = action == ACTION_UP || action == ACTION_PAGE_UP || action == ACTION_FIRST;

	if (app->on_needs)
		move_in_needs(app, action);
	else if (up && runs_is_first(app))
		go_to_needs(app, action);
	else
		runs_act(app, action);
}

static void open_need(struct app *app, const struct need *need)
{
	if (need->kind == NEED_WORKER) {
		app->workers.id = need->worker->worker;
		app->workers.chosen = true;
		app_go(app, VIEW_WORKERS);
		return;
	}
	app->above_count = 0;
	if (need->job != NEED_ANY_JOB)
		dag_open_at(app, need->run, need->job);
	app_go(app, VIEW_DAG);
}

static void need_act(struct app *app, const struct need *need, enum action action)
{
	switch (action) {
	case ACTION_OPEN:
		open_need(app, need);
		break;
	case ACTION_LOG:
		if (need->kind != NEED_FAILURE)
			app_notice(app, false, "only a job that failed has a log here; Enter shows more");
		else
			log_open_when_known(app, need->run, need->job);
		break;
	case ACTION_APPROVE:
	case ACTION_REJECT:
	case ACTION_PUSHBACK:
		if (need->gate)
			gate_dialog_ask(app, action, need->run, need->gate->name);
		else
			app_notice(app, false, "this is no gate that waits for people");
		break;
	case ACTION_PANE:
		app->on_needs = false;
		if (!model_run(&app->model, app->run))
			runs_act(app, ACTION_FIRST);
		break;
	default:
		move(app, action);
		break;
	}
}

void home_act(struct app *app, enum action action)
{
	struct need need;

	if (selected_need(app, &need)) {
		need_act(app, &need, action);
		return;
	}
	switch (action) {
	case ACTION_OPEN:
		app->above_count = 0;
		app_go(app, VIEW_DAG);
		break;
	case ACTION_LOG:
		log_open_when_known(app, app->run, NEED_ANY_JOB);
		break;
	case ACTION_APPROVE:
	case ACTION_REJECT:
	case ACTION_PUSHBACK:
		app_notice(app, false, "a gate is decided in NEEDS YOU or in the graph; Tab goes to NEEDS YOU");
		break;
	case ACTION_PANE:
		go_to_needs(app, ACTION_FIRST);
		break;
	default:
		move(app, action);
		break;
	}
}

bool home_offers(const struct app *app, enum action action)
{
	struct need need;
	bool of_need = selected_need(app, &need);

	if (action == ACTION_APPROVE || action == ACTION_REJECT || action == ACTION_PUSHBACK)
		return of_need && need.gate;
	if (action == ACTION_LOG)
		return of_need && need.kind == NEED_FAILURE;
	if (action == ACTION_FAILURES)
		return !of_need;
	if (of_need && need.kind == NEED_WORKER)
		return action != ACTION_CANCEL && action != ACTION_RETRY;
	return runs_offers(app, action);
}

bool home_is_on_worker(const struct app *app)
{
	struct need need;

	return selected_need(app, &need) && need.kind == NEED_WORKER;
}

bool home_find(struct app *app, int step)
{
	struct needs needs;
	bool found;

	if (!app->on_needs)
		return runs_find(app, step);
	needs = needs_list(app);
	found = list_find(app, &needs_table, &app->needs, needs.rows, step);
	needs_free(&needs);
	follow_need(app);
	return found;
}

void home_name(const struct app *app, struct buf *out)
{
	struct need need;

	if (selected_need(app, &need) && need.worker)
		buf_add_slice(out, need.worker->name);
	else
		runs_name(app, out);
}

void home_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	int height = pane.height, y = 0;
	int cluster = cluster_height(height);
	int events = height >= 14 ? 2 : 0;
	int most = height >= 40 ? 8 : height >= 18 ? 4 : height >= 14 ? 2 : 1;
	int needs;

	if (height >= 32)
		events = 3 + (height - 32) / 4;
	needs = (int)needs_count(app) < most ? (int)needs_count(app) : most;
	app->needs.away = !app->on_needs;
	app->runs.away = app->on_needs;
	needs_draw(app, pane_cut(pane, 0, 0, pane.width, needs + 1));
	y = needs + 1;
	runs_draw(app, pane_cut(pane, 0, y, pane.width, height - y - cluster - events), now_ms);
	cluster_draw(app, pane_cut(pane, 0, height - cluster - events, pane.width, cluster));
	events_draw(app, pane_cut(pane, 0, height - events, pane.width, events));
}
