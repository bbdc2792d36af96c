/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dashboard without a terminal: takes messages and time, gives frames. When the connection is lost, the last
 * picture stays, dimmed and with its time.
 */
#include "tui/app.h"

#include <inttypes.h>
#include <strings.h>

#include "base/mem.h"
#include "tui/model_internal.h"
#include "tui/views.h"

#define LOOK_AFTER_MS 150 /* a run selected for this long has its jobs shown beside the list */
#define GATES_AGAIN_MS   10000           /* gates are asked for again after this time, because their votes change, */
#define GATES_CHANGED_MS 500             /* and after this one if gates have come or gone */
#define LETTERS_AGAIN_MS 1000            /* dead letters are asked for at most this often, */
#define LETTERS_MANY_MS 30000            /* and this often if there are many */
#define LETTERS_MANY 1000

struct app *app_new(const struct app_options *options)
{
	struct app *app = mem_zalloc(sizeof *app);

	model_init(&app->model);
	app->theme = (struct theme){ .ascii = options->ascii, .mono = options->mono };
	app->view = options->view == VIEW_ANY || options->view == VIEW_LOG ? VIEW_HOME : options->view;
	app->wanted_run = options->run;
	app->next_id = 1;
	app->dirty = true;
	return app;
}

void app_free(struct app *app)
{
	if (!app)
		return;
	model_free(&app->model);
	dag_forget(&app->dag);
	log_free(&app->log);
	output_free(&app->output);
	arena_free(&app->decode);
	arena_free(&app->request_text);
	arena_free(&app->target.arena);
	line_history_free(&app->finds);
	line_history_free(&app->commands);
	mem_free(app->requests);
	mem_free(app);
}

void app_resize(struct app *app, int width, int height)
{
	app->width = width < 0 ? 0 : width > 1000 ? 1000 : width;
	app->height = height < 0 ? 0 : height > 1000 ? 1000 : height;
	app->dirty = true;
}

/* When to ask for the gates again; INT64_MAX: there are none, or the view doesn't show them. */
static int64_t gates_due_ms(const struct app *app)
{
	bool any = app->model.gates_stale || app->model.gate_count > 0;

	if (app->link != LINK_LIVE || !view_has(app, TRAIT_PEOPLE) || app->frozen || app->gates_id != 0 || !any)
		return INT64_MAX;
	return app->gates_ms + (app->model.gates_stale ? GATES_CHANGED_MS : GATES_AGAIN_MS);
}

/* Ask for gates and dead letters when they are shown and have changed. */
static void follow_needs(struct app *app, int64_t now_ms)
{
	if (now_ms >= gates_due_ms(app)) {
		app->gates_ms = now_ms;
		send_gates(app);
	}
	if (app->link == LINK_LIVE && view_has(app, TRAIT_PEOPLE) && !app->frozen && app->letters_id == 0 && app->model.letters_stale &&
	    now_ms >= app->letters_ms)
		send_letters(app, 0);
}

void app_connected(struct app *app, const struct msg_welcome *welcome, int64_t now_ms)
{
	app->link = LINK_LIVE;
	app->role = welcome->role <= ROLE_WORKER ? (enum role)welcome->role : ROLE_NOBODY;
	model_plain(welcome->cluster, app->cluster, sizeof app->cluster);
	app->runs_id = app->graph_id = app->act_id = app->older_id = app->letters_id = app->gates_id = app->gate.sent = 0;
	app->letters_ms = now_ms;
	app->gates_ms = now_ms - GATES_AGAIN_MS;
	app->model.letters_stale = true;
	app->model.runs_open = app->model.graph_open = false;
	log_forget_requests(&app->log);
	app->dag.reasons_id = app->run_reason.id = 0;
	load_forget(app);
	app->decisions = (struct decisions){ 0 };
	if (app->notice_bad)
		app->notice[0] = '\0';           /* the notice is an error about the lost connection, which is back */
	app->request_first = app->request_count; /* unsent requests were meant for the old connection */
	send_subscribe_runs(app);
	if (app->model.graph.run)
		send_look(app, app->model.graph.run);
	log_ask(app, now_ms);
	follow_needs(app, now_ms);
	model_tick(&app->model, now_ms);
	app->dirty = true;
}

void app_disconnected(struct app *app, const char *why, int64_t retry_at_ms, int64_t now_ms)
{
	if (app->link == LINK_LIVE)
		app->stale_ms = now_ms;
	if (app->link == LINK_LIVE || app->link == LINK_STALE)
		app->link = LINK_STALE;
	if (why)
		app_notice(app, true, "%s", why);
	app->retry_at_ms = retry_at_ms;
	app->log_wanted.run = 0;
	app->runs_id = app->graph_id = app->act_id = app->older_id = app->letters_id = app->gates_id = app->load.id = app->decisions.id = 0;
	if (app->overlay == OVERLAY_CONFIRM || app->overlay == OVERLAY_GATE)
		app->overlay = OVERLAY_NONE;
	app->dirty = true;
}

/* The run whose jobs are to be shown. In a view with a list, it is the run that has been selected for a while. */
static uint64_t wanted_graph(const struct app *app)
{
	if (app->log_wanted.run != 0)
		return app->log_wanted.run;
	if (app->view == VIEW_LOG)
		return app->log.run;
	if (app->view == VIEW_DAG)
		return app->run;
	if (app->width >= WIDE_WIDTH && view_has(app, TRAIT_BESIDE))
		return app->run;
	return app->model.graph.run;
}

static void follow_selection(struct app *app, int64_t now_ms)
{
	uint64_t run = wanted_graph(app);
	bool at_once = view_has(app, TRAIT_GRAPH) || app->log_wanted.run != 0 || app->model.graph.run == 0;

	if (run == app->model.graph.run) {
		app->look_run = run;
		return;
	}
	if (app->look_run != run) {
		app->look_run = run;
		app->look_ms = now_ms + LOOK_AFTER_MS;
	}
	if (app->frozen || (!at_once && now_ms < app->look_ms))
		return;
	send_look(app, run);
	app->dirty = true;
}

static enum query_what answers(const struct app *app, uint64_t id)
{
	if (id != 0 && id == app->runs_id)
		return QUERY_RUNS;
	if (id != 0 && id == app->graph_id)
		return QUERY_JOBS;
	return 0;                        /* the frame is for a subscription that has ended */
}

static void take_error(struct app *app, const struct msg_error *msg, int64_t now_ms)
{
	char text[200], next[100];

	model_plain(msg->text, text, sizeof text);
	next[0] = '\0';
	if (msg->next.len < sizeof next)  /* leave out a command that doesn't fit: a part of it would be useless */
		model_plain(msg->next, next, sizeof next);
	if (msg->id != 0 && msg->id == app->log.request && app->log.reading != LOG_READ_NONE)
		log_refused(app, msg->code, now_ms);
	if (msg->id != 0 && msg->id == app->log.tries_id)
		app->log.tries_id = 0;
	if (msg->id != 0 && (msg->id == app->dag.reasons_id || msg->id == app->run_reason.id)) {
		app->dag.reasons_id = app->run_reason.id = 0;    /* the run has just been pruned; nothing that a person asked for failed */
		return;
	}
	if (msg->id != 0 && msg->id == app->load.id) {
		load_refused(app);
		return;
	}
	if (msg->id != 0 && msg->id == app->decisions.id) {
		app->decisions.id = 0;   /* the run has just been pruned */
		return;
	}
	if (msg->id != 0 && msg->id == app->gate.request && app->overlay == OVERLAY_GATE)
		app->overlay = OVERLAY_NONE;
	if (msg->id != 0 && msg->id == app->gate.sent)
		gate_dialog_refused(app, text);
	if (msg->id != 0 && msg->id == app->graph_id)
		app->model.graph.complete = true;
	if (msg->id != 0 && msg->id == app->older_id)
		app->older_id = 0, app->runs_to_end = false;
	if (msg->id != 0 && msg->id == app->letters_id)
		app->letters_id = 0;
	if (msg->id != 0 && msg->id == app->gates_id)
		app->gates_id = 0;
	app_notice(app, true, next[0] ? "%s; try: %s" : "%s", text, next);
}

/* Take an answer to an act: what is done to a group is done job by job, with an answer for each. */
static void take_ok(struct app *app, const struct msg_ok *msg)
{
	if (msg->id != 0 && msg->id == app->gate.sent) {
		gate_dialog_done(app, msg->count);
		return;
	}
	if (app->act_id == 0 || msg->id < app->act_first || msg->id > app->act_id)
		return;
	act_dialog_done(app, msg->count);
}

/* Take an answer to a question; false: it is of a subscription. While frozen, pages of runs and letters are dropped. */
static bool take_page(struct app *app, const struct msg_snapshot *msg, int64_t now_ms)
{
	struct model *model = &app->model;

	if (msg->id != 0 && msg->id == app->log.tries_id) {
		log_take_tries(app, msg);
		return true;
	}
	if (msg->id != 0 && msg->id == app->run_reason.id) {
		run_reason_take(app, msg);
		return true;
	}
	if (msg->id != 0 && msg->id == app->dag.reasons_id) {
		reasons_take(app, msg);
		return true;
	}
	if (msg->id != 0 && msg->id == app->decisions.id) {
		decisions_take(app, msg);
		return true;
	}
	if (msg->id != 0 && msg->id == app->load.id) {
		load_take(app, msg, now_ms);
		return true;
	}
	if (msg->id != 0 && msg->id == app->gates_id) {
		app->gates_id = 0;
		if (!app->frozen)
			model_apply_gates(model, msg);
		model->gates_stale |= app->frozen;
		return true;
	}
	if (msg->id == 0 || (msg->id != app->older_id && msg->id != app->letters_id))
		return false;
	if (msg->id == app->older_id) {
		app->older_id = 0;
		if (app->frozen)
			return true;
		model_apply_older(model, msg, now_ms);
		runs_took_older(app);
		return true;
	}
	app->letters_id = 0;
	model->letters_stale |= app->frozen;
	if (!app->frozen && !model_apply_letters(model, msg))
		send_letters(app, msg->cursor);
	app->letters_ms = now_ms + (model->letters.all > LETTERS_MANY ? LETTERS_MANY_MS : LETTERS_AGAIN_MS);
	return true;
}

static void take_message(struct app *app, enum opcode op, const void *msg, int64_t now_ms)
{
	enum query_what what;

	if (op == OP_SNAPSHOT && app->gate.request != 0 && ((const struct msg_snapshot *)msg)->id == app->gate.request) {
		gate_dialog_take(app, msg);
		return;
	}
	if (op == OP_SNAPSHOT && take_page(app, msg, now_ms))
		return;
	if (app->frozen && (op == OP_SNAPSHOT || op == OP_DELTA)) {
		/* the screen is frozen: drop the message; its data is asked for again afterwards */
		app->frozen_count++;
		return;
	}
	switch (op) {
	case OP_SNAPSHOT:
		what = answers(app, ((const struct msg_snapshot *)msg)->id);
		if (what != 0)
			model_apply_snapshot(&app->model, what, msg, now_ms);
		break;
	case OP_DELTA:
		what = answers(app, ((const struct msg_delta *)msg)->id);
		if (what != 0)
			model_apply_delta(&app->model, what, msg, now_ms);
		break;
	case OP_LOG_DATA:
		log_take(app, msg);
		break;
	case OP_OK:
		take_ok(app, msg);
		break;
	case OP_ERROR:
		take_error(app, msg, now_ms);
		break;
	default:
		break;
	}
}

enum err app_message(struct app *app, enum opcode op, struct slice body, int64_t now_ms, struct error *error)
{
	union {
		struct msg_snapshot snapshot;
		struct msg_delta delta;
		struct msg_log_data log_data;
		struct msg_ok ok;
		struct msg_error error;
	} msg;
	enum err err;

	if (op != OP_SNAPSHOT && op != OP_DELTA && op != OP_LOG_DATA && op != OP_OK && op != OP_ERROR)
		return ERR_NONE;
	arena_reset(&app->decode);
	err = message_decode(op, body, &app->decode, &msg, error);
	if (err != ERR_NONE)
		return err;
	take_message(app, op, &msg, now_ms);
	runs_choose(app);
	home_choose(app);
	log_open_wanted(app);
	follow_selection(app, now_ms);
	follow_needs(app, now_ms);
	log_ask(app, now_ms);
	reasons_ask(app, now_ms);
	run_reason_ask(app, now_ms);
	load_ask(app, now_ms);
	decisions_ask(app);
	app->dirty = true;
	return ERR_NONE;
}

void app_tick(struct app *app, int64_t now_ms)
{
	if (app->frozen)
		return;
	model_tick(&app->model, now_ms);
	follow_selection(app, now_ms);
	follow_needs(app, now_ms);
	log_ask(app, now_ms);
	reasons_ask(app, now_ms);
	run_reason_ask(app, now_ms);
	load_ask(app, now_ms);
	decisions_ask(app);
	/* A log that is read again and again changes the picture only when output comes. */
	app->dirty |= now_ms / 1000 != app->ticked_ms / 1000;
	app->ticked_ms = now_ms;
}

bool app_dirty(const struct app *app)
{
	return app->dirty;
}

bool app_loaded(const struct app *app)
{
	const struct model *model = &app->model;

	if (app->link != LINK_LIVE || !model->runs_known || model->runs_open ||
		app->request_first != app->request_count)
		return false;
	if (wanted_graph(app) != 0 && (wanted_graph(app) != model->graph.run || !model->graph.complete))
		return false;
	if (app->older_id != 0 || app->letters_id != 0 || app->gates_id != 0 || (model->gates_stale && gates_due_ms(app) <= app->ticked_ms))
		return false;
	if (app->load.id != 0 || app->decisions.id != 0 || load_wait_ms(app, app->ticked_ms) == 0)
		return false;
	return log_is_loaded(app) && app->dag.reasons_id == 0 && app->run_reason.id == 0 && reasons_wait_ms(app, app->ticked_ms) > 0;
}

int64_t app_wait_ms(const struct app *app, int64_t now_ms)
{
	int64_t second = 1000 - now_ms % 1000, wait = 60000 - now_ms % 60000;
	bool moves = app->link == LINK_STALE || app->model.totals.live_runs > 0 ||
		     model_history_moves(&app->model);

	if (app->frozen)
		return -1;
	if (moves)
		wait = second;
	if (log_wait_ms(app, now_ms) >= 0 && log_wait_ms(app, now_ms) < wait)
		wait = log_wait_ms(app, now_ms);
	if (gates_due_ms(app) - now_ms < wait)
		wait = gates_due_ms(app) > now_ms ? gates_due_ms(app) - now_ms : 0;
	if (run_reason_wait_ms(app, now_ms) < wait)
		wait = run_reason_wait_ms(app, now_ms);
	if (load_wait_ms(app, now_ms) < wait)
		wait = load_wait_ms(app, now_ms);
	if (reasons_wait_ms(app, now_ms) < wait)
		wait = reasons_wait_ms(app, now_ms);
	if (app->look_run != app->model.graph.run && app->look_ms > now_ms && app->look_ms - now_ms < wait)
		wait = app->look_ms - now_ms;
	if (app->model.letters_stale && view_has(app, TRAIT_PEOPLE) && app->letters_ms > now_ms && app->letters_ms - now_ms < wait)
		wait = app->letters_ms - now_ms;
	return wait;
}

size_t scroll_to(size_t top, size_t at, size_t page, size_t count)
{
	if (page == 0 || count <= page)
		return 0;
	if (at < top)
		top = at;
	if (at >= top + page)
		top = at - page + 1;
	return top > count - page ? count - page : top;
}

size_t move_in(size_t at, size_t count, size_t page, enum action action)
{
	if (page == 0)
		page = 1;
	switch (action) {
	case ACTION_UP:
		return at > 0 ? at - 1 : 0;
	case ACTION_DOWN:
		return at + 1 < count ? at + 1 : at;
	case ACTION_PAGE_UP:
		return at > page ? at - page : 0;
	case ACTION_PAGE_DOWN:
		return at + page < count ? at + page : count - 1;
	case ACTION_FIRST:
		return 0;
	case ACTION_LAST:
		return count - 1;
	default:
		return at;
	}
}

bool text_has(struct slice text, struct slice part)
{
	for (size_t i = 0; part.len > 0 && i + part.len <= text.len; i++)
		if (strncasecmp((const char *)text.data + i, (const char *)part.data, part.len) == 0)
			return true;
	return false;
}

bool name_matches(const struct app *app, struct slice name)
{
	return text_has(name, line_text(&app->find));
}
