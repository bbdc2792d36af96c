/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What keys do in the graph of a run: open a log or a sub-run, fold, move. */
#include <inttypes.h>

#include "tui/views.h"

/* Show the graph of a job's sub-run; Esc goes back to the job. */
static void open_sub_run(struct app *app, uint32_t job)
{
	size_t most = sizeof app->above / sizeof app->above[0];

	if (app->above_count == most)
		memmove(app->above, app->above + 1, --app->above_count * sizeof app->above[0]);
	app->above[app->above_count].run = app->model.graph.run;
	app->above[app->above_count++].job = job;
	app->run = app->pinned_run = app->model.graph.jobs[job].more->child;
}

static void open_selected(struct app *app, bool log)
{
	const struct dag_row *row = dag_selected(app);
	const struct tui_job *job;

	if (!row)
		return;
	if (row->kind == ROW_NODE && app->dag.fold.nodes[row->node].folded) {
		if (log)
			app_notice(app, false, "a group of jobs has no log; f unfolds the group");
		else
			dag_fold(app);
		return;
	}
	job = &app->model.graph.jobs[row->job];
	if (!job->more || job->more->child == 0)
		log_open(app, row->job);
	else if (log)
		app_notice(app, false, "the output is that of the jobs in sub-run #%" PRIu64 ": Enter opens it", job->more->child);
	else
		open_sub_run(app, row->job);
}

void dag_act(struct app *app, enum action action)
{
	switch (action) {
	case ACTION_OPEN:
	case ACTION_LOG:
		open_selected(app, action == ACTION_LOG);
		break;
	case ACTION_FAILURES:
		app->dag.failures_only = !app->dag.failures_only;
		break;
	case ACTION_FOLD:
		dag_fold(app);
		break;
	case ACTION_APPROVE:
	case ACTION_REJECT:
	case ACTION_PUSHBACK:
		gate_dialog_open(app, action);
		break;
	default:
		dag_move(app, action);
		break;
	}
}

void dag_open_at(struct app *app, uint64_t run, uint32_t job)
{
	app->run = app->pinned_run = app->return_run = run;
	app->return_job = job;
	app->dag.chosen &= app->model.graph.run != run;
}

bool dag_offers(const struct app *app, enum action action)
{
	const struct dag_row *row = dag_selected(app);
	unsigned state = row ? app->model.graph.states[row->job] : STATE_WAITING;

	if (action == ACTION_APPROVE || action == ACTION_REJECT || action == ACTION_PUSHBACK)
		return row && state == STATE_APPROVAL;
	/* Of a group some jobs may be live, and others may have failed. */
	if (!row || (row->kind == ROW_NODE && app->dag.fold.nodes[row->node].folded))
		return true;
	if (action == ACTION_RETRY)
		return state_needs_eyes(state);
	return action != ACTION_CANCEL || !state_terminal((enum job_state)state);
}

void dag_name(const struct app *app, struct buf *out)
{
	const struct dag_row *row = dag_selected(app);

	if (app->run == 0)
		return;
	buf_addf(out, "%" PRIu64, app->run);
	if (row) {
		buf_add_str(out, "/");
		buf_add_slice(out, app->model.graph.jobs[row->job].name);
	}
}
