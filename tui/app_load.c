/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asks for the samples of the load, when a view shows them and something has happened since they were asked for. In between
 * the model goes on by itself (model_load.c).
 */
#include "tui/views.h"

#define AGAIN_MS  15000                  /* the length of a long sample */

/* When to ask; INT64_MAX: not at all. */
static int64_t due_ms(const struct app *app)
{
	const struct load_request *request = &app->load;

	if (app->link != LINK_LIVE || app->frozen || request->id != 0 || request->refused || !app->model.runs_known ||
	    !view_has(app, TRAIT_LOAD | TRAIT_WORKER_LOAD))
		return INT64_MAX;
	if (request->view != app->view)
		return 0;
	return request->turn != app->model.turn ? request->asked_ms + AGAIN_MS : INT64_MAX;
}

void load_ask(struct app *app, int64_t now_ms)
{
	if (due_ms(app) > now_ms)
		return;
	app->load.view = app->view;
	app->load.turn = app->model.turn;
	app->load.asked_ms = now_ms;
	app->load.of_workers = view_has(app, TRAIT_WORKER_LOAD);
	app->load.since_ms = app->model.load.workers_ms;
	app->load.id = send_query_series(app, app->load.of_workers, 0);
}

int64_t load_wait_ms(const struct app *app, int64_t now_ms)
{
	int64_t due = due_ms(app);

	return due == INT64_MAX ? due : due > now_ms ? due - now_ms : 0;
}

void load_take(struct app *app, const struct msg_snapshot *msg, int64_t now_ms)
{
	app->load.id = 0;
	if (app->frozen)
		return;
	model_apply_series(&app->model, msg, now_ms);
	if (msg->cursor != 0 && app->load.of_workers)
		app->load.id = send_query_series(app, true, msg->cursor);
}

void load_refused(struct app *app)
{
	app->load.id = 0;
	app->load.refused = true;
}

void load_forget(struct app *app)
{
	app->load = (struct load_request){ .view = VIEW_ANY };
}
