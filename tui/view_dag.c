/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graph view of a run: its rows and the selection. Rows are rebuilt when the graph's shape changes (jobs, folding,
 * failures in a folded group), not when only states change. The selection is a job's index; a group is selected by its
 * first member.
 */
#include "base/mem.h"
#include "base/text.h"
#include "tui/views.h"

/* Most failed members of a folded group that get a row; the others are only counted. */
#define MEMBERS_SHOWN 8

void dag_forget(struct dag_view *dag)
{
	bool failures_only = dag->failures_only;
	int page = dag->page, width = dag->width;

	fold_free(&dag->fold);
	lane_graph_free(&dag->lane_graph);
	lanes_free(&dag->lanes);
	mem_free(dag->rows);
	map_free(&dag->unfolded);
	reasons_forget(&dag->reasons);
	*dag = (struct dag_view){ .failures_only = failures_only, .page = page, .width = width };
}

bool dag_is_of_selected_run(const struct app *app)
{
	return !app->frozen || app->view != VIEW_DAG || app->model.graph.run == app->run;
}

static void add_row(struct dag_view *dag, struct dag_row row)
{
	if (dag->count == dag->cap) {
		dag->cap = dag->cap ? dag->cap * 2 : 64;
		dag->rows = mem_resize(dag->rows, dag->cap, sizeof *dag->rows);
	}
	dag->rows[dag->count++] = row;
}

static bool failed(const struct app *app, uint32_t job)
{
	return state_needs_eyes(app->model.graph.states[job]);
}

/* Add rows for failed members of a folded group, below the group. */
static void add_members(struct app *app, uint32_t lane_row, uint32_t number)
{
	struct dag_view *dag = &app->dag;
	const struct fold_node *node = &dag->fold.nodes[number];
	uint32_t shown = 0, more = 0;

	for (uint32_t i = 0; i < node->member_count; i++) {
		uint32_t job = dag->fold.members[node->member_start + i];

		if (!failed(app, job))
			continue;
		if (shown < MEMBERS_SHOWN || (dag->member && job == dag->job))
			add_row(dag, (struct dag_row){ ROW_MEMBER, lane_row, number, job });
		else
			more++;
		shown++;
	}
	if (more > 0)
		add_row(dag, (struct dag_row){ ROW_MORE, lane_row, number, more });
}

static void add_node(struct app *app, uint32_t lane_row, uint32_t number)
{
	struct dag_view *dag = &app->dag;
	const struct fold_node *node = &dag->fold.nodes[number];
	bool any = false;

	for (uint32_t i = 0; dag->failures_only && i < node->member_count && !any; i++)
		any = failed(app, dag->fold.members[node->member_start + i]);
	if (dag->failures_only && !any)
		return;
	add_row(dag, (struct dag_row){ ROW_NODE, lane_row, number, dag->fold.members[node->member_start] });
	if (node->folded)
		add_members(app, lane_row, number);
}

static void build_rows(struct app *app)
{
	struct dag_view *dag = &app->dag;

	dag->count = 0;
	for (size_t i = 0; i < dag->lanes.count; i++) {
		const uint32_t *start = dag->lane_graph.node_start;
		uint32_t lane_node = dag->lanes.rows[i].node;

		if (lane_node == LANE_LINK && !dag->failures_only)
			add_row(dag, (struct dag_row){ ROW_LINK, (uint32_t)i, LANE_LINK, 0 });
		for (uint32_t k = lane_node == LANE_LINK ? 0 : start[lane_node]; lane_node != LANE_LINK && k < start[lane_node + 1]; k++)
			add_node(app, (uint32_t)i, dag->lane_graph.nodes[k]);
	}
}

static size_t shown_width(struct slice name)
{
	struct buf text = { 0 };
	size_t width;

	text_escape(&text, name, TEXT_KEEP_NONE);
	width = text_width(buf_slice(&text));
	buf_free(&text);
	return width;
}

/* The width that names need, so that states stand directly beside them. */
static int names_width(const struct app *app)
{
	const struct fold *fold = &app->dag.fold;
	struct buf name = { 0 };
	size_t widest = 0;

	for (uint32_t i = 0; i < fold->count && widest < DAG_NAME_MOST; i++) {
		const struct fold_node *node = &fold->nodes[i];
		uint32_t last = fold->members[node->member_start + node->member_count - 1];
		size_t width;

		buf_clear(&name);
		node_name(app, i, &name);
		width = shown_width(buf_slice(&name));
		widest = width > widest ? width : widest;
		/* Failed members of a group are indented by two cells and have a glyph. */
		width = node->folded ? shown_width(app->model.graph.jobs[last].name) + 4 : 0;
		widest = width > widest ? width : widest;
	}
	buf_free(&name);
	return widest < DAG_NAME_MOST ? (int)widest : DAG_NAME_MOST;
}

static void choose(struct dag_view *dag, size_t at)
{
	dag->job = dag->rows[at].job;
	dag->chosen = true;
	dag->member = dag->rows[at].kind == ROW_MEMBER;
}

/*
 * A graph opens at the first job that failed, or else at the first gate that waits for people; after a return from a
 * sub-run at the job to which that belongs.
 */
static void choose_urgent(struct app *app)
{
	struct dag_view *dag = &app->dag;
	const struct tui_graph *graph = &app->model.graph;
	size_t gate = dag->count;

	dag->chosen = true;
	if (app->return_run == graph->run && app->return_job < dag->fold.job_count) {
		dag->job = app->return_job;
		for (size_t i = 0; i < dag->count; i++)
			if (dag->rows[i].kind == ROW_MEMBER && dag->rows[i].job == app->return_job)
				choose(dag, i);
		app->return_run = 0;
		return;
	}
	for (size_t i = 0; i < dag->count; i++) {
		const struct dag_row *row = &dag->rows[i];
		bool group = row->kind == ROW_NODE && dag->fold.nodes[row->node].folded;

		if ((row->kind != ROW_NODE && row->kind != ROW_MEMBER) || group)
			continue;
		if (failed(app, row->job) && !graph->jobs[row->job].forgiven) {
			choose(dag, i);
			return;
		}
		if (graph->states[row->job] == STATE_APPROVAL && gate == dag->count)
			gate = i;
	}
	if (gate < dag->count)
		choose(dag, gate);
}

/* Build the rows anew if the shape of the graph or what fails in it has changed. */
static void rebuild(struct app *app, int cap)
{
	struct dag_view *dag = &app->dag;
	const struct tui_graph *graph = &app->model.graph;
	/* While a large graph arrives, rows are rebuilt only when it has doubled, and at its end. */
	bool early = !graph->complete && dag->built && graph->count < 2 * dag->fold.job_count;
	bool shape = !dag->built || (dag->built_structure != graph->structure && !early) ||
		     dag->built_unfold != dag->unfold_changes || dag->built_cap != cap;

	if (!shape && dag->built_failures == graph->failures &&
		dag->built_failures_only == dag->failures_only)
		return;
	if (shape) {
		fold_build(&dag->fold, graph, &dag->unfolded);
		dag->name_width = names_width(app);
		lane_graph_build(&dag->lane_graph, &dag->fold);
		lanes_build(&dag->lanes, dag->lane_graph.count, dag->lane_graph.child_start, dag->lane_graph.children, cap);
	}
	build_rows(app);
	dag->built = true;
	if (shape)
		dag->built_structure = graph->structure;
	dag->built_unfold = dag->unfold_changes;
	dag->built_cap = cap;
	dag->built_failures = graph->failures;
	dag->built_failures_only = dag->failures_only;
}

void dag_build(struct app *app, int width)
{
	int cap = width * 3 / 20;

	app->dag.width = width;
	rebuild(app, cap < 4 ? 4 : cap > 24 ? 24 : cap);
	if (!app->dag.chosen && app->model.graph.complete)
		choose_urgent(app);
}

static bool row_selectable(const struct dag_row *row)
{
	return row->kind == ROW_NODE || row->kind == ROW_MEMBER;
}

static bool row_is_selected(const struct dag_view *dag, const struct dag_row *row)
{
	if (row->kind == ROW_MEMBER)
		return dag->member && row->job == dag->job;
	if (row->kind != ROW_NODE || dag->job >= dag->fold.job_count)
		return false;
	return !dag->member && dag->fold.node_of[dag->job] == row->node;
}

/* The row of the selection. If it is a failed member that no longer has a row, the row of its group. */
size_t dag_selected_at(const struct app *app)
{
	const struct dag_view *dag = &app->dag;
	size_t group = dag->count;

	for (size_t i = 0; i < dag->count; i++) {
		if (row_is_selected(dag, &dag->rows[i]))
			return i;
		if (dag->rows[i].kind == ROW_NODE && dag->job < dag->fold.job_count &&
		    dag->fold.node_of[dag->job] == dag->rows[i].node)
			group = i;
	}
	return group;
}

const struct dag_row *dag_selected(const struct app *app)
{
	size_t at = dag_is_of_selected_run(app) ? dag_selected_at(app) : app->dag.count;

	return at < app->dag.count ? &app->dag.rows[at] : NULL;
}

/* Select the next selectable row, starting with at; row at may have lines only. */
static bool choose_near(struct dag_view *dag, size_t at, int step)
{
	for (size_t i = at; i < dag->count; i += (size_t)step) {
		if (row_selectable(&dag->rows[i])) {
			choose(dag, i);
			return true;
		}
	}
	return false;
}

static void choose_relative(
	struct dag_view *dag, const struct dag_row *row, const uint32_t *start, const uint32_t *to)
{
	uint32_t node = row->node;

	if (start[node] == start[node + 1])
		return;
	dag->job = dag->fold.members[dag->fold.nodes[to[start[node]]].member_start];
	dag->member = false;
}

void dag_move(struct app *app, enum action action)
{
	struct dag_view *dag = &app->dag;
	size_t at = dag_selected_at(app), to;
	bool down = action == ACTION_DOWN || action == ACTION_PAGE_DOWN || action == ACTION_FIRST;

	if (dag->count == 0)
		return;
	if (at == dag->count) {
		choose_near(dag, 0, 1);
		return;
	}
	if (action == ACTION_PARENT) {
		choose_relative(dag, &dag->rows[at], dag->fold.parent_start, dag->fold.parents);
		return;
	}
	if (action == ACTION_CHILD) {
		choose_relative(dag, &dag->rows[at], dag->fold.child_start, dag->fold.children);
		return;
	}
	to = move_in(at, dag->count, (size_t)dag->page, action);
	if (!choose_near(dag, to, down ? 1 : -1))
		choose_near(dag, to, down ? -1 : 1);
}

/* Search in a folded group: the first member that matches becomes the selection when the group is unfolded. */
static bool find_member(struct app *app, const struct dag_row *row)
{
	struct dag_view *dag = &app->dag;
	const struct fold_node *node = &dag->fold.nodes[row->node];

	for (uint32_t i = 0; node->folded && i < node->member_count; i++) {
		uint32_t job = dag->fold.members[node->member_start + i];

		if (!name_matches(app, app->model.graph.jobs[job].name))
			continue;
		dag->job = job;
		dag->member = false;
		return true;
	}
	return false;
}

bool dag_find(struct app *app, int step)
{
	struct dag_view *dag = &app->dag;
	size_t at = dag_selected_at(app);
	struct buf name = { 0 };
	bool found = false;

	for (size_t i = 1; i <= dag->count && !found; i++) {
		size_t to = (at + (step > 0 ? i : dag->count * 2 - i)) % dag->count;
		const struct dag_row *row = &dag->rows[to];

		if (!row_selectable(row))
			continue;
		buf_clear(&name);
		if (row->kind == ROW_NODE)
			node_name(app, row->node, &name);
		else
			buf_add_slice(&name, app->model.graph.jobs[row->job].name);
		found = name_matches(app, buf_slice(&name));
		if (found)
			choose(dag, to);
		else if (row->kind == ROW_NODE)
			found = find_member(app, row);
	}
	buf_free(&name);
	return found;
}

void dag_fold(struct app *app)
{
	struct dag_view *dag = &app->dag;
	const struct dag_row *row = dag_selected(app);
	const struct fold_node *node;

	if (!row)
		return;
	node = &dag->fold.nodes[row->node];
	if (node->group == 0) {
		app_notice(app, false, "nothing to fold: fewer than %d jobs are similar", FOLD_MIN + 1);
		return;
	}
	if (node->folded)
		map_put(&dag->unfolded, node->group, dag);
	else
		map_remove(&dag->unfolded, node->group);
	dag->member = false;
	dag->unfold_changes++;
}

void node_name(const struct app *app, uint32_t number, struct buf *out)
{
	const struct fold_node *node = &app->dag.fold.nodes[number];
	struct slice name = app->model.graph.jobs[app->dag.fold.members[node->member_start]].name;

	if (!node->folded) {
		buf_add_slice(out, name);
		return;
	}
	/* Names that consist of digits (1, 2, 3) have no stem to be folded by. */
	if (fold_stem(name) > 0)
		buf_add(out, name.data, fold_stem(name));
	else
		buf_add_str(out, "jobs");
	buf_addf(out, "[%u]", node->member_count);
}
