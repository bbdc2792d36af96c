/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question before an act of acts.def on a run, a job, the jobs of a group, or a worker. The target is fixed when the
 * question appears, the default is no, and only y confirms.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "tui/model_internal.h"
#include "tui/views.h"

#define JOBS_MOST 1000                   /* most jobs of a group that an act can be done to one by one */
#define EXAMPLES  5

static const struct act_row acts[] = {
#define OF_JOBS false
#define OF_WORKER true
#define ACT_ROW(ACTION, OF, verb, of_run, of_job, title, word, one, more, done, after) \
	{ ACTION_##ACTION, OF_##OF, verb, of_run, of_job, title, word, one, more, done, after },
#include "tui/acts.def"
#undef ACT_ROW
};

static const struct act_row *act_row(enum action action)
{
	for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
		if (acts[i].action == action)
			return &acts[i];
	return NULL;
}

/* The word of the command, such as "cancel". */
static const char *small_word(const struct act_row *row, char out[32])
{
	size_t len = 0;

	for (; row->title[len] && len < 31; len++)
		out[len] = (char)tolower((unsigned char)row->title[len]);
	out[len] = '\0';
	return out;
}

/* ---- jobs ---- */

static bool job_is_held(const struct tui_graph *graph, uint32_t job)
{
	return graph->jobs[job].more && graph->jobs[job].more->held;
}

static bool job_fits(const struct tui_graph *graph, uint32_t job, enum action action, bool alone)
{
	unsigned state = graph->states[job];

	switch (action) {
	case ACTION_CANCEL:
		return !state_terminal((enum job_state)state);
	case ACTION_RETRY:               /* of a group only what failed; one job as it was chosen */
		return state_terminal((enum job_state)state) && (alone || state_needs_eyes(state));
	case ACTION_HOLD:
		return state_table[state].kind == KIND_WAITS && !job_is_held(graph, job);
	case ACTION_RELEASE:
		return job_is_held(graph, job);
	default:
		return graph->jobs[job].dead;
	}
}

static void add_job(struct app *app, uint32_t job, bool alone)
{
	const struct tui_graph *graph = &app->model.graph;
	struct view_target *target = &app->target;
	char name[64];
	size_t used = strlen(target->examples);

	if (!job_fits(graph, job, target->act->action, alone) || target->count >= JOBS_MOST)
		return;
	target->jobs[target->count++] = arena_copy(&target->arena, graph->jobs[job].name);
	if (target->count <= EXAMPLES)
		snprintf(target->examples + used, sizeof target->examples - used, "%s%s", used ? ", " : "",
			model_plain(graph->jobs[job].name, name, sizeof name));
}

static void ask_about_jobs(struct app *app, const struct dag_row *row)
{
	const struct tui_graph *graph = &app->model.graph;
	struct view_target *target = &app->target;
	char name[64], word[32];

	target->run = graph->run;
	target->jobs = arena_alloc(&target->arena, JOBS_MOST * sizeof *target->jobs);
	if (row->kind == ROW_NODE && app->dag.fold.nodes[row->node].folded) {
		const struct fold_node *node = &app->dag.fold.nodes[row->node];

		for (uint32_t i = 0; i < node->member_count; i++)
			add_job(app, app->dag.fold.members[node->member_start + i], false);
	} else {
		add_job(app, row->job, true);
	}
	if (target->count == 0) {
		app_notice(app, false, "nothing to %s: %s %s", small_word(target->act, word), model_plain(graph->jobs[row->job].name, name, sizeof name),
			state_terminal((enum job_state)graph->states[row->job]) ? "has ended" : "is in another state");
		return;
	}
	snprintf(target->title, sizeof target->title, "%s %zu %s of run %" PRIu64 "?%s", target->act->word, target->count,
		target->count == 1 ? "job" : "jobs", target->run, target->count == JOBS_MOST ? " (at most this many at once)" : "");
	app->overlay = OVERLAY_CONFIRM;
}

/* ---- runs ---- */

/* How many jobs of the run the act is about. */
static uint64_t run_fits(const struct tui_run *run, enum action action)
{
	struct tally tally = tally_of(run->counts);
	bool ended = run_state_terminal(run->state);

	switch (action) {
	case ACTION_CANCEL:
		return ended ? 0 : (uint64_t)tally.wait + tally.queue + tally.run;
	case ACTION_RETRY:
		return tally.fail;
	case ACTION_HOLD:
		return ended || run->held ? 0 : (uint64_t)tally.wait + tally.queue;
	case ACTION_RELEASE:
		return run->held ? (uint64_t)tally.wait + tally.queue : 0;
	default:
		return run->dead;
	}
}

static void ask_about_run(struct app *app)
{
	const struct tui_run *run = model_run(&app->model, app->run);
	const struct tui_letter *letter = model_letter(&app->model, app->run);
	struct view_target *target = &app->target;
	enum action action = target->act->action;
	bool of_letter = action == ACTION_RETRY || action == ACTION_DISCARD;
	uint64_t count = run ? run_fits(run, action) : letter && of_letter ? letter->count : 0;
	char name[100], word[32];

	target->run = app->run;
	if (!run && !letter)
		return;
	if (count == 0) {
		app_notice(app, false, "nothing to %s: run %" PRIu64 " %s", small_word(target->act, word), app->run,
			run && run_state_terminal(run->state) && !of_letter ? "has ended" : "has no such jobs");
		return;
	}
	snprintf(target->title, sizeof target->title, "%s run %" PRIu64 " %s: %" PRIu64 " %s?", target->act->word, app->run,
		model_plain(run ? run->name : letter->name, name, sizeof name), count, count == 1 ? target->act->one : target->act->more);
	if (run && action == ACTION_CANCEL)
		snprintf(target->examples, sizeof target->examples, "%u of these jobs are running now", tally_of(run->counts).run);
	app->overlay = OVERLAY_CONFIRM;
}

/* ---- workers ---- */

static void ask_about_worker(struct app *app)
{
	const struct tui_worker *worker = workers_selected(app);
	struct view_target *target = &app->target;
	char name[100];

	if (!worker)
		return;
	target->worker = arena_copy(&target->arena, worker->name);
	model_plain(worker->name, name, sizeof name);
	snprintf(target->title, sizeof target->title, "%s worker %s?", target->act->word, name);
	snprintf(target->examples, sizeof target->examples, "%" PRIu64 " jobs run on it, %" PRIu64 " are prefetched", worker->busy, worker->prefetched);
	app->overlay = OVERLAY_CONFIRM;
}

/* ---- the dialog ---- */

/* Keys that do and undo: hold what isn't held, and release it otherwise. */
static enum action meant(const struct app *app, enum action action)
{
	const struct tui_run *run = model_run(&app->model, app->run);
	const struct dag_row *row = app->view == VIEW_DAG ? dag_selected(app) : NULL;
	const struct tui_worker *worker = action == ACTION_CORDON ? workers_selected(app) : NULL;

	if (action == ACTION_HOLD && row)
		return job_is_held(&app->model.graph, row->job) ? ACTION_RELEASE : ACTION_HOLD;
	if (action == ACTION_HOLD)
		return run && run->held ? ACTION_RELEASE : ACTION_HOLD;
	return worker && worker->standing != STANDING_NONE ? ACTION_UNCORDON : action;
}

bool act_makes_sense(const struct app *app, enum action action)
{
	const struct tui_run *run = model_run(&app->model, app->run);
	const struct tui_letter *letter = model_letter(&app->model, app->run);
	const struct act_row *row = act_row(meant(app, action));

	if (!row || row->of_worker)
		return !row || workers_selected(app) != NULL;
	if (!run)
		return letter && (action == ACTION_RETRY || action == ACTION_DISCARD);
	return run_fits(run, row->action) > 0;
}

void act_dialog_open(struct app *app, enum action action)
{
	const struct act_row *row = act_row(meant(app, action));
	const struct dag_row *selected = app->view == VIEW_DAG ? dag_selected(app) : NULL;
	struct arena arena = app->target.arena;
	char word[32];

	arena_reset(&arena);
	app->target = (struct view_target){ .arena = arena, .act = row };
	if (app->link != LINK_LIVE)
		app_notice(app, true, "not connected to the master: nothing can be changed now");
	else if (app->role < ROLE_OPERATOR || app->role == ROLE_WORKER)
		app_notice(app, true, "you have no right to %s; the role operator is needed", small_word(row, word));
	else if (row->of_worker)
		ask_about_worker(app);
	else if (app->view == VIEW_HOME && home_is_on_worker(app))
		app_notice(app, false, "a worker is selected, not a run");
	else if (selected)
		ask_about_jobs(app, selected);
	else if (app->view != VIEW_DAG)
		ask_about_run(app);
}

static void send(struct app *app)
{
	const struct view_target *target = &app->target;
	const struct act_row *row = target->act;
	struct msg_act act = { .verb = row->verb, .run = target->run, .value = row->of_run };

	app->act_first = app->next_id;
	app->act_sum = 0;
	app->act_row = row;
	if (row->of_worker)
		send_set_worker(app, (enum set_verb)row->verb, target->worker);
	else if (target->jobs == NULL)
		send_act(app, &act);
	act.value = row->of_job;
	for (size_t i = 0; i < target->count; i++) {
		act.job = target->jobs[i];
		send_act(app, &act);
	}
}

void act_dialog_key(struct app *app, uint32_t key)
{
	const struct act_row *row = app->target.act;
	char word[32];

	app->overlay = OVERLAY_NONE;
	if (key != 'y' || app->link != LINK_LIVE) {
		app_notice(app, false, row->action == ACTION_CANCEL ? "nothing was cancelled" : "nothing was done");
		return;
	}
	send(app);
	app_notice(app, false, "%s was sent", small_word(row, word));
}

void act_dialog_done(struct app *app, uint64_t changed)
{
	const struct act_row *row = app->act_row;
	char name[100];

	app->act_sum += changed;
	if (row->of_worker)
		app_notice(app, false, "done: %s %s", model_plain(app->target.worker, name, sizeof name), row->done);
	else
		app_notice(app, false, "done: %" PRIu64 " %s %s", app->act_sum, app->act_sum == 1 ? "job" : "jobs", row->done);
}

void act_dialog_draw(struct app *app, struct pane pane)
{
	const struct view_target *target = &app->target;
	struct style edge = styled(app, LOOK_DIALOG_DANGER), plain = { 0 };
	int width = pane.width < 66 ? pane.width - 4 : 64;
	struct pane box = pane_cut(pane, (pane.width - width) / 2, pane.height / 2 - 4, width, 8);
	struct pane inner = pane_cut(box, 2, 0, width - 4, 8);
	char word[32], keys[100];

	pane_clear(box, plain);
	pane_title(box, 0, edge, app->theme.ascii, target->act->title);
	pane_clipped(inner, 0, 2, inner.width, plain, slice_str(target->title), app->theme.ascii);
	pane_clipped(inner, 0, 3, inner.width, styled(app, LOOK_TEXT_WEAK), slice_str(target->examples), app->theme.ascii);
	pane_clipped(inner, 0, 4, inner.width, plain, slice_str(target->act->after), app->theme.ascii);
	snprintf(keys, sizeof keys, "y  %s        any other key  do nothing (default)", small_word(target->act, word));
	pane_str(inner, 0, 6, styled(app, LOOK_HINT_KEY), keys);
	pane_title(pane_cut(box, 0, 7, width, 1), 0, edge, app->theme.ascii, "");
}
