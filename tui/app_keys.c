/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns keys into changes. An open overlay gets keys first; then keys.def says what a key does in this view.
 * Destructive acts ask first (dialog_act.c, dialog_gate.c).
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "tui/model_internal.h"
#include "tui/views.h"

void app_notice(struct app *app, bool bad, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(app->notice, sizeof app->notice, format, args);
	va_end(args);
	app->notice_bad = bad;
	app->dirty = true;
}

void app_go(struct app *app, enum view view)
{
	if (view == app->view)
		return;
	if (app->back_count == sizeof app->back / sizeof app->back[0]) {
		memmove(app->back, app->back + 1, sizeof app->back - sizeof app->back[0]);
		app->back_count--;
	}
	app->back[app->back_count++] = app->view;
	app->view = view;
}

static void go_back(struct app *app)
{
	if (app->find.len > 0) {
		line_clear(&app->find);
		log_search_free(&app->log.search);
		return;
	}
	if (app->view == VIEW_DAG ? app->dag.failures_only : app->runs_failures_only) {
		*(app->view == VIEW_DAG ? &app->dag.failures_only : &app->runs_failures_only) = false;
		return;
	}
	if (app->view == VIEW_DAG && app->above_count > 0) {
		app->above_count--;
		app->return_run = app->run = app->pinned_run = app->above[app->above_count].run;
		app->return_job = app->above[app->above_count].job;
		return;
	}
	if (app->back_count > 0)
		app->view = app->back[--app->back_count];
	else
		app->view = VIEW_HOME;
}

static void find_next(struct app *app, int step)
{
	bool found;

	if (app->find.len == 0) {
		app_notice(app, false, "no search yet; / begins one");
		return;
	}
	found = view_row(app->view)->find(app, step);
	if (!found) {
		char text[160];

		app_notice(app, false, "no match for %s%s",
			model_plain(line_text(&app->find), text, sizeof text),
			view_has(app, TRAIT_PAGES) && app->model.runs_floor ? " in these runs; G reads all of them" : "");
	}
}

/* Up and down show lines that were typed before. */
static void edit_key(struct line_edit *line, struct line_history *history, size_t most, uint32_t key)
{
	if (key == TUI_KEY_UP || key == TUI_KEY_DOWN)
		line_history_move(history, line, key == TUI_KEY_UP ? -1 : 1);
	else
		line_key(line, most, key);
}

static void find_key(struct app *app, uint32_t key)
{
	if (key == TUI_KEY_ESCAPE || key == TUI_CTRL('C')) {
		app->overlay = OVERLAY_NONE;
		line_clear(&app->find);
		log_search_free(&app->log.search);
	} else if (key == TUI_KEY_ENTER) {
		app->overlay = OVERLAY_NONE;
		line_history_keep(&app->finds, line_text(&app->find));
		if (app->find.len > 0)
			find_next(app, 1);
	} else {
		edit_key(&app->find, &app->finds, FIND_MOST, key);
	}
}

static void command_key(struct app *app, uint32_t key)
{
	if (key == TUI_KEY_ESCAPE || key == TUI_CTRL('C') || (key == TUI_KEY_BACKSPACE && app->command.len == 0)) {
		app->overlay = OVERLAY_NONE;
	} else if (key == TUI_KEY_ENTER) {
		app->overlay = OVERLAY_NONE;
		line_history_keep(&app->commands, line_text(&app->command));
		send_text(app, APP_COMMAND, line_text(&app->command));
	} else {
		edit_key(&app->command, &app->commands, LINE_BYTES - 1, key);
	}
}

void app_begin_command(struct app *app)
{
	app->overlay = OVERLAY_COMMAND;
	line_clear(&app->command);
	app->commands.back = 0;
}

static void help_key(struct app *app, uint32_t key)
{
	enum action action = key_action(app->view, key);
	int last = app->help_lines > app->help_page ? app->help_lines - app->help_page : 0;

	if (action == ACTION_UP || action == ACTION_DOWN || action == ACTION_PAGE_UP ||
		action == ACTION_PAGE_DOWN || action == ACTION_FIRST || action == ACTION_LAST)
		app->help_top =
			(int)move_in((size_t)app->help_top, (size_t)last + 1, (size_t)app->help_page, action);
	else if (action == ACTION_QUIT && key != 'q')
		send_want(app, APP_QUIT);
	else
		app->overlay = OVERLAY_NONE;
}

static void freeze(struct app *app, int64_t now_ms)
{
	app->frozen = !app->frozen;
	app->frozen_count = 0;
	app->frozen_ms = now_ms;
	/* While the screen was frozen, messages were dropped. Afterwards subscribe anew for what changed meanwhile. */
	if (app->frozen || app->link != LINK_LIVE)
		return;
	app->model.letters_stale = app->model.gates_stale = true;
	app->load.view = VIEW_ANY;
	send_subscribe_runs(app);
	if (app->model.graph.run)
		send_look(app, app->model.graph.run);
}

void app_copy(struct app *app, struct slice text)
{
	send_text(app, APP_COPY, text);
}

/* Copy what commands call the selected object. */
static void copy_selected(struct app *app)
{
	struct buf name = { 0 };
	char plain[160];

	if (app->view == VIEW_LOG) {
		log_copy(app);
		return;
	}
	view_row(app->view)->name(app, &name);
	if (name.len > 0) {
		/* The name is escaped: a terminal must not get control characters when it pastes. */
		model_plain(buf_slice(&name), plain, sizeof plain);
		app_copy(app, slice_str(plain));
		app_notice(app, false, "%s was copied", plain);
	}
	buf_free(&name);
}

/* Run a command about what is selected, whose output a pane shows. */
static void run_about_selected(struct app *app, const char *command)
{
	const struct view_row *view = view_row(app->view);
	struct buf name = { 0 }, text = { 0 };
	char plain[200];

	view->name(app, &name);
	model_plain(buf_slice(&name), plain, sizeof plain);
	/* The name becomes a quoted word of a command. No run, job or worker that a master accepts has such a name. */
	if (name.len == 0)
		app_notice(app, false, "nothing is selected");
	else if (strpbrk(plain, "'\\") != NULL)
		app_notice(app, true, "the name of what is selected can't be typed");
	else if (view->traits & TRAIT_WORKER_LOAD)
		buf_addf(&text, "worker show '%s'", plain);
	else
		buf_addf(&text, "%s '%s'", command, plain);
	if (text.len > 0)
		send_text(app, APP_COMMAND, buf_slice(&text));
	buf_free(&name);
	buf_free(&text);
}

static void act(struct app *app, enum action action, int64_t now_ms)
{
	/* The rows of the graph may have changed since the last picture. */
	if (app->view == VIEW_DAG && app->model.graph.run != 0)
		dag_build(app, app->dag.width > 0 ? app->dag.width : app->width);
	if (action != ACTION_NONE)
		app->log_wanted.run = 0;
	if (action > ACTION_NONE && action < (enum action)VIEW_COUNT) {
		if (app->view != VIEW_DAG)
			app->above_count = 0;
		app_go(app, (enum view)action);
		return;
	}
	switch (action) {
	case ACTION_NONE:
		break;
	case ACTION_BACK:
		go_back(app);
		break;
	case ACTION_FIND:
		app->overlay = OVERLAY_FIND;
		line_clear(&app->find);
		app->finds.back = 0;
		break;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		find_next(app, action == ACTION_NEXT ? 1 : -1);
		break;
	case ACTION_FREEZE:
		freeze(app, now_ms);
		break;
	case ACTION_CANCEL:
	case ACTION_RETRY:
	case ACTION_HOLD:
	case ACTION_DISCARD:
	case ACTION_CORDON:
	case ACTION_DRAIN:
		act_dialog_open(app, action);
		break;
	case ACTION_WHY:
	case ACTION_INFO:
		run_about_selected(app, action == ACTION_WHY ? "explain" : "show");
		break;
	case ACTION_UNDO:
		send_text(app, APP_COMMAND, slice_str("undo"));
		break;
	case ACTION_HELP:
		app->overlay = OVERLAY_HELP;
		app->help_top = 0;
		break;
	case ACTION_COMMAND:
		app_begin_command(app);
		break;
	case ACTION_REDRAW:
	case ACTION_SUSPEND:
	case ACTION_QUIT:
		send_want(app, action == ACTION_QUIT ? APP_QUIT : action == ACTION_SUSPEND ? APP_SUSPEND : APP_REDRAW);
		break;
	case ACTION_COPY:
		copy_selected(app);
		break;
	default:
		view_row(app->view)->act(app, action);
		break;
	}
}

void app_key(struct app *app, uint32_t key, int64_t now_ms)
{
	bool pasted = (key & TUI_KEY_PASTED) != 0;

	if (pasted && app->overlay != OVERLAY_FIND && app->overlay != OVERLAY_COMMAND && !gate_dialog_edits(app) &&
	    !output_edits(app))
		return;
	if (app->width < APP_MIN_WIDTH || app->height < APP_MIN_HEIGHT) {
		/* In a window that is too small to show anything, no key may change anything. */
		enum action action = key_action(app->view, key);

		if (app->overlay != OVERLAY_OUTPUT)
			app->overlay = OVERLAY_NONE;
		if (action == ACTION_QUIT || action == ACTION_SUSPEND || action == ACTION_REDRAW)
			act(app, action, now_ms);
		return;
	}
	app->notice[0] = '\0';
	app->dirty = true;
	if (app->overlay == OVERLAY_FIND)
		find_key(app, key);
	else if (app->overlay == OVERLAY_COMMAND)
		command_key(app, key);
	else if (app->overlay == OVERLAY_CONFIRM)
		act_dialog_key(app, key);
	else if (app->overlay == OVERLAY_GATE)
		gate_dialog_key(app, key);
	else if (app->overlay == OVERLAY_OUTPUT)
		output_key(app, key);
	else if (app->overlay == OVERLAY_HELP)
		help_key(app, key);
	else
		act(app, key_action(app->view, key), now_ms);
	/* The new view may need data that wasn't asked for yet. */
	if (!app->frozen)
		app_tick(app, now_ms);
}
