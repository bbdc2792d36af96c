/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why the visible jobs of a graph wait, in the words of titan explain. The master is asked for them a page at a time, when
 * a job on the screen begins to wait, and again every few seconds, because the reason also depends on other jobs.
 */
#include <stdio.h>

#include "base/mem.h"
#include "tui/model_internal.h"
#include "tui/views.h"

#define SPAN_MAX    200                  /* most jobs about which one question is */
#define KEPT_MAX    2000                 /* with this many reasons, all are forgotten */
#define AGAIN_MS    3000
#define NOT_YET_MS  200                  /* a job may be started at once, so its reason isn't asked for before */

struct reason {
	uint8_t state;
	int64_t asked_ms;
	char text[160];                  /* escaped; empty: the master hasn't answered, or says nothing */
};

void reasons_forget(struct map *reasons)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	while (map_next(reasons, &cursor, &key, &value))
		mem_free(value);
	map_free(reasons);
}

/* Other jobs say themselves what they wait for. */
static bool has_reason(const struct tui_graph *graph, uint32_t job)
{
	return graph->states[job] == STATE_READY || (graph->states[job] == STATE_WAITING && graph->jobs[job].need_count == 0);
}

const char *reason_of(const struct app *app, uint32_t job)
{
	const struct reason *reason = map_get(&app->dag.reasons, job);

	return reason && reason->state == app->model.graph.states[job] ? reason->text : "";
}

/* Is the job of this row one whose reason must be asked for now? Later: *ret_wait_ms gets how much later, if that is less. */
static bool wants_reason(const struct app *app, const struct dag_row *row, int64_t now_ms, int64_t *ret_wait_ms)
{
	const struct tui_graph *graph = &app->model.graph;
	const struct reason *reason;
	int64_t due;

	if ((row->kind != ROW_NODE && row->kind != ROW_MEMBER) || row->job >= graph->count || !has_reason(graph, row->job) ||
	    (row->kind == ROW_NODE && app->dag.fold.nodes[row->node].folded))
		return false;
	reason = map_get(&app->dag.reasons, row->job);
	due = !reason ? now_ms : reason->asked_ms + (reason->state == graph->states[row->job] ? AGAIN_MS : NOT_YET_MS);
	if (due > now_ms && due - now_ms < *ret_wait_ms)
		*ret_wait_ms = due - now_ms;
	return due <= now_ms;
}

static void note_asked(struct app *app, uint32_t job, int64_t now_ms)
{
	struct map *reasons = &app->dag.reasons;
	struct reason *reason = map_get(reasons, job);

	if (reasons->count > KEPT_MAX)
		reasons_forget(reasons);
	if (!reason || reasons->count == 0) {
		reason = mem_zalloc(sizeof *reason);
		map_put(reasons, job, reason);
	}
	if (reason->state != app->model.graph.states[job])
		reason->text[0] = '\0';
	reason->state = app->model.graph.states[job];
	reason->asked_ms = now_ms;
}

static bool asks_nothing(const struct app *app)
{
	bool shown = app->view == VIEW_DAG || (app->width >= WIDE_WIDTH && view_has(app, TRAIT_BESIDE));

	return !shown || app->link != LINK_LIVE || app->frozen || app->dag.reasons_id != 0 || !app->dag.built || !app->model.graph.complete;
}

void reasons_ask(struct app *app, int64_t now_ms)
{
	struct dag_view *dag = &app->dag;
	size_t end = dag->top + (dag->page > 0 ? (size_t)dag->page : 0);
	uint32_t first = UINT32_MAX, last = 0;
	int64_t wait_ms = INT64_MAX;

	if (asks_nothing(app))
		return;
	for (size_t i = dag->top; i < end && i < dag->count; i++)
		if (wants_reason(app, &dag->rows[i], now_ms, &wait_ms) && dag->rows[i].job < first)
			first = dag->rows[i].job;
	for (size_t i = dag->top; i < end && i < dag->count; i++) {
		uint32_t job = dag->rows[i].job;

		if (!wants_reason(app, &dag->rows[i], now_ms, &wait_ms) || job - first >= SPAN_MAX)
			continue;
		last = job > last ? job : last;
		note_asked(app, job, now_ms);
	}
	if (first != UINT32_MAX)
		dag->reasons_id = send_query_reasons(app, app->model.graph.run, first, last - first + 1);
}

int64_t reasons_wait_ms(const struct app *app, int64_t now_ms)
{
	const struct dag_view *dag = &app->dag;
	size_t end = dag->top + (dag->page > 0 ? (size_t)dag->page : 0);
	int64_t wait_ms = INT64_MAX;

	if (asks_nothing(app))
		return INT64_MAX;
	for (size_t i = dag->top; i < end && i < dag->count; i++)
		if (wants_reason(app, &dag->rows[i], now_ms, &wait_ms))
			return 0;
	return wait_ms;
}

void reasons_take(struct app *app, const struct msg_snapshot *msg)
{
	app->dag.reasons_id = 0;
	for (size_t i = 0; i < msg->jobs.n; i++) {
		const struct rec_job_row *row = &msg->jobs.at[i];
		struct reason *reason = map_get(&app->dag.reasons, row->index);

		if (row->run == app->model.graph.run && reason && reason->state == row->state)
			model_plain(row->why, reason->text, sizeof reason->text);
	}
}
