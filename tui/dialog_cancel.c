/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question before a cancel: of a run, a job, or the jobs of a group. The target is fixed when the question appears, the
 * default is no, and only y confirms.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tui/model_internal.h"
#include "tui/views.h"

#define CANCEL_MOST 1000                 /* most jobs of a group that can be cancelled one by one */

static void add_target_job(struct app *app, uint32_t job, size_t cap)
{
	const struct tui_graph *graph = &app->model.graph;
	struct view_target *target = &app->target;
	char name[64];
	size_t used = strlen(target->examples);

	if (state_terminal(graph->states[job]) || target->count >= cap)
		return;
	target->jobs[target->count++] = arena_copy(&target->arena, graph->jobs[job].name);
	if (target->count <= 5)
		snprintf(target->examples + used, sizeof target->examples - used, "%s%s", used ? ", " : "",
			model_plain(graph->jobs[job].name, name, sizeof name));
}

static void ask_about_jobs(struct app *app)
{
	const struct dag_row *row = dag_selected(app);
	const struct tui_graph *graph = &app->model.graph;
	struct view_target *target = &app->target;
	char name[64];

	if (!row)
		return;
	target->run = graph->run;
	if (row->kind == ROW_NODE && app->dag.fold.nodes[row->node].folded) {
		const struct fold_node *node = &app->dag.fold.nodes[row->node];

		target->jobs = arena_alloc(&target->arena, CANCEL_MOST * sizeof *target->jobs);
		for (uint32_t i = 0; i < node->member_count; i++)
			add_target_job(app, app->dag.fold.members[node->member_start + i], CANCEL_MOST);
	} else {
		target->jobs = arena_alloc(&target->arena, sizeof *target->jobs);
		add_target_job(app, row->job, 1);
	}
	if (target->count == 0) {
		app_notice(app, false, "nothing to cancel: %s has ended",
			model_plain(graph->jobs[row->job].name, name, sizeof name));
		return;
	}
	snprintf(target->title, sizeof target->title, "Cancel %zu %s of run %" PRIu64 "?%s", target->count,
		target->count == 1 ? "job" : "jobs", target->run,
		target->count == CANCEL_MOST ? " (at most this many can be cancelled at once)" : "");
	app->overlay = OVERLAY_CONFIRM;
}

static void ask_about_run(struct app *app)
{
	const struct tui_run *run = model_run(&app->model, app->run);
	struct view_target *target = &app->target;
	struct tally tally;
	char name[100];

	if (!run)
		return;
	tally = tally_of(run->counts);
	target->run = run->run;
	target->live = (uint64_t)tally.wait + tally.queue + tally.run;
	if (run_state_terminal(run->state)) {
		app_notice(app, false, "nothing to cancel: run %" PRIu64 " has ended", run->run);
		return;
	}
	snprintf(target->title, sizeof target->title,
		"Cancel run %" PRIu64 " %s: %" PRIu64 " jobs that haven't ended?", run->run,
		model_plain(run->name, name, sizeof name), target->live);
	snprintf(target->examples, sizeof target->examples, "%u of these jobs are running now", tally.run);
	app->overlay = OVERLAY_CONFIRM;
}

void cancel_dialog_open(struct app *app)
{
	struct arena arena = app->target.arena;

	arena_reset(&arena);
	app->target = (struct view_target){ .arena = arena };
	if (app->link != LINK_LIVE)
		app_notice(app, true, "not connected to the master: nothing can be changed now");
	else if (app->role < ROLE_OPERATOR || app->role == ROLE_WORKER)
		app_notice(
			app, true, "you have no right to cancel; the role operator is needed");
	else if (app->view == VIEW_HOME && !home_offers(app, ACTION_CANCEL))
		app_notice(app, false, "a worker is selected, which can't be cancelled");
	else if (app->view == VIEW_DAG)
		ask_about_jobs(app);
	else
		ask_about_run(app);
}

void cancel_dialog_key(struct app *app, uint32_t key)
{
	const struct view_target *target = &app->target;

	app->overlay = OVERLAY_NONE;
	if (key != 'y' || app->link != LINK_LIVE) {
		app_notice(app, false, "nothing was cancelled");
		return;
	}
	app->act_first = app->next_id;
	app->act_sum = 0;
	app->act_word = "jobs were cancelled or told to end";
	if (target->jobs == NULL)
		send_cancel(app, target->run, slice_make(NULL, 0));
	for (size_t i = 0; i < target->count; i++)
		send_cancel(app, target->run, target->jobs[i]);
	app_notice(app, false, "cancel was sent");
}

void cancel_dialog_draw(struct app *app, struct pane pane)
{
	const struct view_target *target = &app->target;
	struct style red = styled(app, LOOK_DIALOG_DANGER), plain = { 0 };
	int width = pane.width < 66 ? pane.width - 4 : 64;
	struct pane box = pane_cut(pane, (pane.width - width) / 2, pane.height / 2 - 4, width, 8);
	struct pane inner = pane_cut(box, 2, 0, width - 4, 8);

	pane_clear(box, plain);
	pane_title(box, 0, red, app->theme.ascii, "CANCEL");
	pane_clipped(inner, 0, 2, inner.width, plain, slice_str(target->title), app->theme.ascii);
	pane_clipped(inner, 0, 3, inner.width, styled(app, LOOK_TEXT_WEAK),
		slice_str(target->examples), app->theme.ascii);
	pane_str(inner, 0, 4, plain, "It can't be undone.");
	pane_str(inner, 0, 6, styled(app, LOOK_HINT_KEY),
		"y  cancel        any other key  do nothing (default)");
	pane_title(pane_cut(box, 0, 7, width, 1), 0, red, app->theme.ascii, "");
}
