/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queues the dashboard's requests until the owner takes them. Names are copied when they are queued. */
#include "base/mem.h"
#include "tui/views.h"

static struct app_request *add(struct app *app, enum app_want want)
{
	if (app->request_first == app->request_count) {
		app->request_first = app->request_count = 0;
		arena_reset(&app->request_text);
	}
	if (app->request_count == app->request_cap) {
		app->request_cap = app->request_cap ? app->request_cap * 2 : 16;
		app->requests = mem_resize(app->requests, app->request_cap, sizeof *app->requests);
	}
	app->requests[app->request_count] = (struct app_request){ .want = want };
	return &app->requests[app->request_count++];
}

bool app_take(struct app *app, struct app_request *ret_request)
{
	if (app->request_first == app->request_count)
		return false;
	*ret_request = app->requests[app->request_first++];
	return true;
}

void send_want(struct app *app, enum app_want want)
{
	add(app, want);
}

void send_text(struct app *app, enum app_want want, struct slice text)
{
	struct app_request *request = add(app, want);

	request->text = arena_copy(&app->request_text, text);
}

static void send_unsubscribe(struct app *app, uint64_t id)
{
	struct app_request *request;

	if (id == 0 || app->link != LINK_LIVE)
		return;
	request = add(app, APP_SEND);
	request->op = OP_UNSUBSCRIBE;
	request->msg.unsubscribe = (struct msg_unsubscribe){ .id = id };
}

void send_subscribe_runs(struct app *app)
{
	struct app_request *request;

	send_unsubscribe(app, app->runs_id);
	request = add(app, APP_SEND);
	app->runs_id = app->next_id++;
	app->model.runs_open = false;
	request->op = OP_SUBSCRIBE;
	request->msg.subscribe = (struct msg_subscribe){ .id = app->runs_id, .what = QUERY_RUNS,
		.since = app->model.runs_mark };
}

void send_look(struct app *app, uint64_t run)
{
	struct app_request *request;

	send_unsubscribe(app, app->graph_id);
	app->graph_id = 0;
	if (run != app->model.graph.run) {
		model_look_at(&app->model, run);
		dag_forget(&app->dag);
	}
	app->look_run = run;
	if (run == 0 || app->link != LINK_LIVE)
		return;
	app->graph_id = app->next_id++;
	app->model.graph_open = false;
	request = add(app, APP_SEND);
	request->op = OP_SUBSCRIBE;
	request->msg.subscribe = (struct msg_subscribe){ .id = app->graph_id, .what = QUERY_JOBS,
		.run = run, .since = app->model.graph.mark };
}

void send_act(struct app *app, const struct msg_act *act)
{
	struct app_request *request = add(app, APP_SEND);

	app->act_id = app->next_id++;
	request->op = OP_ACT;
	request->msg.act = *act;
	request->msg.act.id = app->act_id;
	request->msg.act.job = arena_copy(&app->request_text, act->job);
	request->msg.act.text = arena_copy(&app->request_text, act->text);
	request->msg.act.target = arena_copy(&app->request_text, act->target);
	request->msg.act.digest = arena_copy(&app->request_text, act->digest);
}

static uint64_t send_query(struct app *app, enum query_what what, uint64_t cursor)
{
	struct app_request *request = add(app, APP_SEND);

	request->op = OP_QUERY;
	request->msg.query = (struct msg_query){ .id = app->next_id++, .what = what, .cursor = cursor };
	return request->msg.query.id;
}

void send_older(struct app *app)
{
	if (app->older_id == 0 && app->link == LINK_LIVE && !app->frozen && app->model.runs_floor != 0 &&
	    app->model.run_count < MODEL_RUNS_MAX)
		app->older_id = send_query(app, QUERY_RUNS, app->model.runs_floor);
}

void send_letters(struct app *app, uint64_t cursor)
{
	if (cursor == 0)
		model_begin_letters(&app->model);
	app->letters_id = send_query(app, QUERY_DEAD, cursor);
}

uint64_t send_query_decisions(struct app *app, uint64_t run)
{
	struct app_request *request = add(app, APP_SEND);

	request->op = OP_QUERY;
	request->msg.query = (struct msg_query){ .id = app->next_id++, .what = QUERY_DECISIONS, .run = run };
	return request->msg.query.id;
}

uint64_t send_query_series(struct app *app, bool workers, uint64_t cursor)
{
	struct app_request *request = add(app, APP_SEND);
	uint64_t of_cluster = (UINT64_C(1) << SERIES_CPU) - 1, of_workers = UINT64_C(1) << SERIES_CPU | UINT64_C(1) << SERIES_MEMORY;

	/* Samples of workers that are known aren't sent again: there may be many workers. */
	request->op = OP_QUERY;
	request->msg.query = (struct msg_query){ .id = app->next_id++, .what = QUERY_SERIES, .cursor = cursor,
		.kinds = workers ? of_workers : of_cluster, .since_ms = workers ? app->load.since_ms : 0 };
	return request->msg.query.id;
}

void send_gates(struct app *app)
{
	app->model.gates_stale = false;
	app->gates_id = send_query(app, QUERY_GATES, 0);
}

void send_set_worker(struct app *app, enum set_verb verb, struct slice name)
{
	struct app_request *request = add(app, APP_SEND);

	app->act_id = app->next_id++;
	request->op = OP_SET;
	request->msg.set = (struct msg_set){ .id = app->act_id, .kind = OBJECT_WORKER, .verb = verb,
		.name = arena_copy(&app->request_text, name) };
}

uint64_t send_query_job(struct app *app, uint64_t run, struct slice job)
{
	struct app_request *request = add(app, APP_SEND);
	uint64_t id = app->next_id++;

	request->op = OP_QUERY;
	request->msg.query = (struct msg_query){ .id = id, .what = QUERY_JOB, .run = run,
		.job = arena_copy(&app->request_text, job) };
	return id;
}

uint64_t send_query_run(struct app *app, uint64_t run)
{
	struct app_request *request = add(app, APP_SEND);

	request->op = OP_QUERY;
	request->msg.query = (struct msg_query){ .id = app->next_id++, .what = QUERY_RUNS, .run = run, .cursor = run + 1, .limit = 1,
		.reasons = true };
	return request->msg.query.id;
}

uint64_t send_query_reasons(struct app *app, uint64_t run, uint32_t first, uint32_t count)
{
	struct app_request *request = add(app, APP_SEND);

	request->op = OP_QUERY;
	request->msg.query = (struct msg_query){ .id = app->next_id++, .what = QUERY_JOBS, .run = run, .cursor = first, .limit = count,
		.reasons = true };
	return request->msg.query.id;
}

uint64_t send_query_tries(struct app *app, uint64_t run, uint64_t job)
{
	struct app_request *request = add(app, APP_SEND);

	request->op = OP_QUERY;
	request->msg.query = (struct msg_query){ .id = app->next_id++, .what = QUERY_TRIES, .run = run, .cursor = job };
	return request->msg.query.id;
}

void send_log_read(struct app *app, uint64_t offset, uint64_t back)
{
	struct app_request *request = add(app, APP_SEND);
	struct log_view *log = &app->log;

	log->request = app->next_id++;
	request->op = OP_LOG_READ;
	request->msg.log_read = (struct msg_log_read){ .id = log->request, .run = log->run, .job = log->job,
		.epoch = log->epoch, .offset = offset, .back = back, .newest = log->newest };
}
