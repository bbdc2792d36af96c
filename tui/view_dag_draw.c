/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a row of the graph view: lines on the left, then name, state and details. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "tui/views.h"

struct node_columns {
	int name, name_width, word, detail;
};

static void lanes_draw(const struct app *app, struct pane pane, int y, const uint8_t lanes[LANES_MAX])
{
	struct style style = styled(app, LOOK_GRAPH_LINE);

	for (int i = 0; i < app->dag.lanes.width && i < LANES_MAX; i++) {
		unsigned lines = lanes[i] & 15u;

		if (lines == 0 || (lanes[i] & LANE_NODE))
			continue;
		pane_str(pane, 1 + 2 * i, y, style, lane_text(lines, app->theme.ascii));
		if (lines & LANE_RIGHT)
			pane_str(pane, 2 + 2 * i, y, style, lane_text(LANE_LEFT | LANE_RIGHT, app->theme.ascii));
	}
}

static int node_lane(const struct lane_row *row)
{
	int lane = 0;

	while (lane < LANES_MAX - 1 && !(row->lanes[lane] & LANE_NODE))
		lane++;
	return lane;
}

static void count_members(const struct app *app, const struct fold_node *node, uint32_t counts[STATE_COUNT])
{
	const uint32_t *members = app->dag.fold.members + node->member_start;

	for (uint32_t i = 0; i < node->member_count; i++)
		counts[app->model.graph.states[members[i]]]++;
}

/*
 * The state shown for a group: that of running members if there are any, otherwise of queued, waiting or failed ones,
 * in this order.
 */
static unsigned group_state(const struct tally *tally, const uint32_t counts[STATE_COUNT])
{
	if (tally->run > 0)
		return counts[STATE_RUNNING] > 0 ? STATE_RUNNING : STATE_STOPPING;
	if (tally->queue > 0)
		return counts[STATE_READY] > 0 ? STATE_READY : STATE_ASSIGNED;
	if (tally->wait > 0)
		return counts[STATE_DELAYED] > 0 ? STATE_DELAYED : STATE_WAITING;
	if (tally->fail > 0)
		return STATE_FAILED;
	for (unsigned state = 0; state < STATE_COUNT; state++)
		if (state_terminal(state) && state != STATE_SUCCEEDED && counts[state] > 0)
			return state;
	return STATE_SUCCEEDED;
}

static int share_draw(const struct app *app, struct pane pane, int x, int y, unsigned state, uint32_t count)
{
	const struct state_info *look = &state_table[state];

	if (count == 0)
		return x;
	return pane_printf(pane, x, y, theme_state(&app->theme, look), "%s%u", theme_glyph(&app->theme, look),
		       count) +
	       1;
}

static int group_detail(
	const struct app *app, struct pane pane, int x, int y, const struct tally *tally, uint32_t all)
{
	uint32_t ended = tally->ok + tally->fail + tally->other;

	x = share_draw(app, pane, x, y, STATE_SUCCEEDED, tally->ok);
	x = share_draw(app, pane, x, y, STATE_RUNNING, tally->run);
	x = share_draw(app, pane, x, y, STATE_FAILED, tally->fail);
	x = share_draw(app, pane, x, y, STATE_READY, tally->queue);
	x = share_draw(app, pane, x, y, STATE_WAITING, tally->wait);
	x = share_draw(app, pane, x, y, STATE_SKIPPED, tally->other);
	pane_bar(pane, x + 1, y, 10, (unsigned)((uint64_t)ended * 1000 / all),
		styled(app, tally->fail ? LOOK_BAR_FAILED : LOOK_BAR_OK), app->theme.ascii);
	return x + 12;
}

static void parents_draw(
	const struct app *app, struct pane pane, int x, int y, uint32_t number, const char *lead)
{
	const struct fold *fold = &app->dag.fold;
	struct style dim = styled(app, LOOK_TEXT_WEAK);
	struct buf text = { 0 };

	/* A job may have thousands of parents; 400 bytes are enough for any screen. */
	for (uint32_t k = fold->parent_start[number]; k < fold->parent_start[number + 1] && text.len < 400;
		k++) {
		buf_add_str(&text, text.len ? "," : "");
		node_name(app, fold->parents[k], &text);
	}
	if (text.len > 0) {
		x = pane_str(pane, x, y, dim, lead);
		pane_clipped(pane, x, y, pane.width - x, dim, buf_slice(&text), app->theme.ascii);
	}
	buf_free(&text);
}

static void state_draw(
	const struct app *app, struct pane pane, int y, const struct node_columns *at, const struct state_info *look)
{
	pane_str(pane, at->word, y, theme_state(&app->theme, look), look->word);
}

static void node_draw(const struct app *app, struct pane pane, int y, const struct node_columns *at,
		      const struct dag_row *row, int64_t now_ms)
{
	const struct tui_graph *graph = &app->model.graph;
	const struct fold_node *node = &app->dag.fold.nodes[row->node];
	const struct lane_row *lanes = &app->dag.lanes.rows[row->lane_row];
	struct style plain = { 0 };
	uint32_t counts[STATE_COUNT] = { 0 };
	struct tally tally = { 0 };
	unsigned state = graph->states[row->job];
	const struct state_info *look;
	struct buf name = { 0 };
	char text[160];
	int x = at->detail;

	if (node->folded) {
		count_members(app, node, counts);
		tally = tally_of(counts);
		state = group_state(&tally, counts);
		pane_str(pane, at->name - 2, y, styled(app, LOOK_GRAPH_FOLDED), "+");
	}
	look = node->folded ? &state_table[state] : job_face(graph, row->job);
	pane_str(pane, app->dag.failures_only ? 1 : 1 + 2 * node_lane(lanes), y, theme_state(&app->theme, look),
		theme_glyph(&app->theme, look));
	if (lanes->missing > 0 && !app->dag.failures_only && row->node == app->dag.lane_graph.nodes[app->dag.lane_graph.node_start[lanes->node]])
		pane_printf(pane, 1 + 2 * app->dag.lanes.width, y, styled(app, LOOK_GRAPH_LEFT_OUT),
			"+%u", lanes->missing > 99 ? 99 : lanes->missing);
	node_name(app, row->node, &name);
	pane_clipped(pane, at->name, y, at->name_width, plain, buf_slice(&name), app->theme.ascii);
	buf_free(&name);
	state_draw(app, pane, y, at, look);
	if (node->folded) {
		x = group_detail(app, pane, x, y, &tally, node->member_count);
	} else {
		job_outcome(app, &graph->jobs[row->job], state, now_ms, text, sizeof text);
		x = pane_str(pane, x, y, plain, text);
		x = x == at->detail ? x : x + 2;
	}
	parents_draw(app, pane, x, y, row->node, state == STATE_WAITING && !node->folded ? "needs " :
		theme_pick(&app->theme, "← ", "< "));
}

static void member_draw(const struct app *app, struct pane pane, int y, const struct node_columns *at,
			const struct dag_row *row, int64_t now_ms)
{
	const struct tui_graph *graph = &app->model.graph;
	const struct state_info *look = job_face(graph, row->job);
	struct style plain = { 0 };
	char text[160];
	int x = at->name + 2;

	if (row->kind == ROW_MORE) {
		pane_printf(pane, x, y, styled(app, LOOK_GRAPH_MORE),
			"and %u more failed; f unfolds", row->job);
		return;
	}
	x = pane_str(pane, x, y, theme_state(&app->theme, look), theme_glyph(&app->theme, look)) + 1;
	pane_clipped(pane, x, y, at->name_width - 4, plain, graph->jobs[row->job].name, app->theme.ascii);
	state_draw(app, pane, y, at, look);
	job_outcome(app, &graph->jobs[row->job], graph->states[row->job], now_ms, text, sizeof text);
	pane_str(pane, at->detail, y, plain, text);
}

static void row_draw(const struct app *app, struct pane pane, int y, const struct node_columns *at, size_t index,
		     int64_t now_ms)
{
	const struct dag_view *dag = &app->dag;
	const struct dag_row *row = &dag->rows[index];
	bool beside = row->kind == ROW_MEMBER || row->kind == ROW_MORE;
	uint8_t between[LANES_MAX] = { 0 };

	/* Beside a failed member of a group, continue the lines that lead to the next row. */
	for (size_t i = 0; beside && row->lane_row + 1 < dag->lanes.count && i < LANES_MAX; i++)
		if (dag->lanes.rows[row->lane_row + 1].lanes[i] & LANE_UP)
			between[i] = LANE_UP | LANE_DOWN;
	if (!dag->failures_only)
		lanes_draw(app, pane, y, beside ? between : dag->lanes.rows[row->lane_row].lanes);
	if (row->kind == ROW_NODE)
		node_draw(app, pane, y, at, row, now_ms);
	else if (beside)
		member_draw(app, pane, y, at, row, now_ms);
}

static void head_draw(const struct app *app, struct pane pane)
{
	const struct tui_graph *graph = &app->model.graph;
	const struct tui_run *run = model_run(&app->model, graph->run);
	struct style bold = styled(app, LOOK_TEXT_STRONG);
	struct tally tally = tally_of(graph->counts);
	uint32_t ended = tally.ok + tally.fail + tally.other;
	uint64_t all = run && run->jobs > graph->count ? run->jobs : graph->count;
	int x = pane_str(pane, 0, 0, bold, "DAG ");

	if (run)
		x = pane_clipped(pane, x, 0, 30, bold, run->name, app->theme.ascii) + 1;
	x = pane_printf(pane, x, 0, bold, "#%" PRIu64, graph->run) + 2;
	x = pane_printf(pane, x, 0, (struct style){ 0 }, "%u/%" PRIu64 " %u%%", ended, all,
		all ? (unsigned)(ended * UINT64_C(100) / all) : 100) + 2;
	x = share_draw(app, pane, x, 0, STATE_SUCCEEDED, tally.ok);
	x = share_draw(app, pane, x, 0, STATE_RUNNING, tally.run);
	x = share_draw(app, pane, x, 0, STATE_FAILED, tally.fail);
	x = share_draw(app, pane, x, 0, STATE_READY, tally.queue);
	x = share_draw(app, pane, x, 0, STATE_WAITING, tally.wait);
	x = share_draw(app, pane, x, 0, STATE_SKIPPED, tally.other);
	if (app->dag.failures_only)
		pane_str(pane, x + 1, 0, bold, "failures only");
	else if (!graph->complete)
		pane_str(pane, x + 1, 0, styled(app, LOOK_TEXT_WARNING), "loading");
}

static struct node_columns columns_for(const struct app *app, int width)
{
	struct node_columns at;
	int lanes = app->dag.failures_only ? 1 : app->dag.lanes.width;
	int room;

	at.name = 1 + 2 * lanes + 4;
	room = width - at.name - 7;
	at.name_width = room / 3 > DAG_NAME_MOST ? DAG_NAME_MOST : room / 3 < 10 ? 10 : room / 3;
	if (at.name_width > app->dag.name_width)
		at.name_width = app->dag.name_width < 10 ? 10 : app->dag.name_width;
	at.word = at.name + at.name_width + 1;
	at.detail = at.word + 7;
	return at;
}

void dag_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	struct dag_view *dag = &app->dag;
	struct style dim = styled(app, LOOK_TEXT_WEAK);
	struct pane body = pane_cut(pane, 0, 1, pane.width, pane.height - 1);
	struct node_columns at;
	size_t selected;

	if (app->model.graph.run == 0) {
		pane_str(pane, 0, 0, dim, "no run is selected: choose one in Home (1)");
		return;
	}
	if (!dag_is_of_selected_run(app)) {
		pane_printf(pane, 0, 0, dim, "the screen is frozen, and the graph of run %" PRIu64 " hasn't been read: Z goes on", app->run);
		return;
	}
	dag_build(app, pane.width);
	head_draw(app, pane_cut(pane, 0, 0, pane.width, 1));
	selected = dag_selected_at(app);
	dag->page = body.height;
	dag->top = scroll_to(dag->top, selected < dag->count ? selected : 0, (size_t)body.height, dag->count);
	at = columns_for(app, pane.width);
	for (int y = 0; y < body.height && dag->top + (size_t)y < dag->count; y++) {
		row_draw(app, body, y, &at, dag->top + (size_t)y, now_ms);
		if (dag->top + (size_t)y == selected)
			pane_restyle(body, at.name - 2, y, body.width, (struct style){ 0 }, STYLE_REVERSE);
	}
	if (dag->count == 0)
		pane_str(body, 1, 0, dim, dag->failures_only ? "no job has failed: x shows all" : "");
}
