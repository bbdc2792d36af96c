/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects the jobs of a graph, folds similar ones, and writes the graph for Graphviz. */
#include "cli/graph/picture.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/query.h"
#include "cli/show/row_words.h"

static void make_room(struct picture *picture, size_t count)
{
	struct tui_graph *graph = &picture->graph;
	size_t room = graph->cap ? graph->cap : 64;

	if (count <= graph->cap)
		return;
	while (room < count)
		room *= 2;
	graph->jobs = mem_resize(graph->jobs, room, sizeof(*graph->jobs));
	graph->states = mem_resize(graph->states, room, sizeof(*graph->states));
	picture->triggers = mem_resize(picture->triggers, room, sizeof(*picture->triggers));
	memset(graph->jobs + graph->cap, 0, (room - graph->cap) * sizeof(*graph->jobs));
	memset(graph->states + graph->cap, 0, (room - graph->cap) * sizeof(*graph->states));
	memset(picture->triggers + graph->cap, 0, (room - graph->cap) * sizeof(*picture->triggers));
	graph->cap = room;
}

static void set_needs(struct picture *picture, size_t at, const struct u64_list *needs, const struct u64_list *triggers)
{
	struct tui_job *job = &picture->graph.jobs[at];

	job->needs = arena_alloc(&picture->graph.arena, (needs->n + 1) * sizeof(*job->needs));
	picture->triggers[at] = arena_alloc(&picture->graph.arena, needs->n + 1);
	job->need_count = 0;
	for (size_t i = 0; i < needs->n; i++) {
		uint64_t trigger = i < triggers->n ? triggers->at[i] : TRIGGER_OK;

		if (needs->at[i] >= UINT32_MAX)
			continue;
		picture->triggers[at][job->need_count] = (uint8_t)(trigger <= UINT8_MAX ? trigger : TRIGGER_OK);
		job->needs[job->need_count++] = (uint32_t)needs->at[i];
	}
}

static void take_row(struct picture *picture, const struct rec_job_row *row)
{
	struct arena *arena = &picture->graph.arena;
	struct tui_job *job;

	make_room(picture, (size_t)row->index + 1);
	if (row->index >= picture->graph.count)
		picture->graph.count = (size_t)row->index + 1;
	job = &picture->graph.jobs[row->index];
	*job = (struct tui_job){
		.job = row->job, .epoch = row->epoch, .name = arena_copy(arena, row->name), .started_ms = row->started_ms,
		.ended_ms = row->ended_ms, .code = (uint32_t)row->code, .outcome = (uint8_t)row->outcome,
		.tries = (uint16_t)row->tries, .dead = row->dead, .forgiven = row->forgiven,
	};
	picture->graph.states[row->index] = (uint8_t)job_state_checked(row->state);
	set_needs(picture, (size_t)row->index, &row->needs, &row->triggers);
}

void picture_of_rows(const struct rec_job_row *rows, size_t count, struct picture *ret)
{
	*ret = (struct picture){ .run = count > 0 ? rows[0].run : 0 };
	for (size_t i = 0; i < count; i++)
		take_row(ret, &rows[i]);
	fold_build(&ret->fold, &ret->graph, NULL);
}

void picture_unfold(struct picture *picture)
{
	struct map groups = { 0 };

	for (size_t i = 0; i < picture->fold.count; i++)
		if (picture->fold.nodes[i].folded)
			map_put(&groups, picture->fold.nodes[i].group, picture);
	fold_free(&picture->fold);
	picture->fold = (struct fold){ 0 };
	fold_build(&picture->fold, &picture->graph, &groups);
	map_free(&groups);
}

enum err picture_of_run(struct cli *cli, uint64_t run, struct picture *ret)
{
	struct msg_query query = { .what = QUERY_JOBS, .run = run };
	struct arena arena = { 0 };
	struct rec_run_row row;
	enum err err;

	*ret = (struct picture){ .run = run };
	err = cli_query_run(cli, run, &arena, &row);
	if (err == ERR_NONE)
		ret->name = arena_copy(&ret->graph.arena, row.name);
	while (err == ERR_NONE) {
		struct msg_snapshot page;

		arena_reset(&arena);
		err = cli_query(cli, query, &arena, &page);
		for (size_t i = 0; err == ERR_NONE && i < page.jobs.n; i++)
			if (page.jobs.at[i].index < LIMIT_RUN_JOBS_MAX)
				take_row(ret, &page.jobs.at[i]);
		if (err != ERR_NONE || page.cursor == 0)
			break;
		query.cursor = page.cursor;
	}
	arena_free(&arena);
	if (err == ERR_NONE)
		fold_build(&ret->fold, &ret->graph, NULL);
	return err;
}

/* Fill in a job of a pipeline, which isn't in a run yet. */
static void take_spec(struct picture *picture, size_t at, const struct rec_job_spec *spec)
{
	picture->graph.jobs[at].job = at + 1;
	picture->graph.jobs[at].name = arena_copy(&picture->graph.arena, spec->name);
	picture->graph.states[at] = STATE_WAITING;
	set_needs(picture, at, &spec->needs, &spec->triggers);
}

void picture_of_dag(const struct dagline *dag, struct slice name, struct picture *ret)
{
	const struct job_defaults defaults = { 0 };
	struct arena scratch = { 0 };

	*ret = (struct picture){ 0 };
	ret->name = arena_copy(&ret->graph.arena, name);
	make_room(ret, (size_t)dag->job_count);
	ret->graph.count = (size_t)dag->job_count;
	for (size_t i = 0; i < ret->graph.count; i++) {
		struct rec_job_spec spec;

		arena_reset(&scratch);
		dagline_job(dag, i, &defaults, &scratch, &spec);
		take_spec(ret, i, &spec);
	}
	arena_free(&scratch);
	fold_build(&ret->fold, &ret->graph, NULL);
}

void picture_of_source(const struct graph_source *source, struct picture *ret)
{
	struct arena scratch = { 0 };

	*ret = (struct picture){ 0 };
	make_room(ret, (size_t)source->count);
	ret->graph.count = (size_t)source->count;
	for (size_t i = 0; i < ret->graph.count; i++) {
		struct rec_job_spec spec;

		arena_reset(&scratch);
		source->job_cb(source->arg, i, &scratch, &spec);
		take_spec(ret, i, &spec);
	}
	arena_free(&scratch);
	fold_build(&ret->fold, &ret->graph, NULL);
}

void picture_free(struct picture *picture)
{
	fold_free(&picture->fold);
	mem_free(picture->graph.jobs);
	mem_free(picture->graph.states);
	mem_free(picture->triggers);
	arena_free(&picture->graph.arena);
}

void picture_name(const struct picture *picture, uint32_t number, struct buf *out)
{
	const struct fold_node *node = &picture->fold.nodes[number];
	struct slice name = picture->graph.jobs[picture->fold.members[node->member_start]].name;

	if (!node->folded) {
		text_escape(out, name, TEXT_KEEP_NONE);
		return;
	}
	/* Names that consist of digits (1, 2, 3) have no stem to be folded by. */
	if (fold_stem(name) > 0)
		text_escape(out, slice_make(name.data, fold_stem(name)), TEXT_KEEP_NONE);
	else
		buf_add_str(out, "jobs");
	buf_addf(out, "[%" PRIu32 "]", node->member_count);
}

/* ---- Graphviz ---- */

/* Add a text in quotes, in which only quote and backslash must be escaped. */
static void add_quoted(struct slice text, struct buf *out)
{
	buf_add_byte(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '"' || text.data[i] == '\\')
			buf_add_byte(out, '\\');
		buf_add_byte(out, text.data[i]);
	}
	buf_add_byte(out, '"');
}

static const char *dot_colour(enum job_state state)
{
	switch (state_table[state].colour) {
	case COLOUR_RED:
		return "red";
	case COLOUR_GREEN:
		return "darkgreen";
	case COLOUR_BLUE:
		return "blue";
	case COLOUR_YELLOW:
		return "darkorange";
	case COLOUR_MAGENTA:
		return "purple";
	case COLOUR_CYAN:
		return "darkcyan";
	default:
		return "gray30";
	}
}

/* The trigger between two nodes: that of the first pair of their jobs with an edge. */
static enum trigger edge_trigger(const struct picture *picture, uint32_t parent, uint32_t child)
{
	const struct fold_node *node = &picture->fold.nodes[child];
	uint32_t job = picture->fold.members[node->member_start];

	for (uint32_t i = 0; i < picture->graph.jobs[job].need_count; i++) {
		uint32_t need = picture->graph.jobs[job].needs[i];

		if (need < picture->graph.count && picture->fold.node_of[need] == parent)
			return (enum trigger)picture->triggers[job][i];
	}
	return TRIGGER_OK;
}

void picture_dot(const struct picture *picture, struct buf *out)
{
	const struct fold *fold = &picture->fold;
	struct buf text = { 0 };

	text_escape(&text, picture->name, TEXT_KEEP_NONE);
	buf_add_str(out, "digraph ");
	add_quoted(buf_slice(&text), out);
	buf_add_str(out, " {\n\trankdir=TB;\n\tnode [shape=box];\n");
	for (uint32_t i = 0; i < fold->count; i++) {
		enum job_state state = (enum job_state)picture->graph.states[fold->members[fold->nodes[i].member_start]];

		buf_clear(&text);
		picture_name(picture, i, &text);
		buf_addf(out, "\tn%" PRIu32 " [label=", i);
		add_quoted(buf_slice(&text), out);
		if (fold->nodes[i].folded)
			buf_add_str(out, ", peripheries=2");
		else if (picture->run != 0)
			buf_addf(out, ", color=%s", dot_colour(state));
		buf_add_str(out, "];\n");
	}
	for (uint32_t i = 0; i < fold->count; i++) {
		for (uint32_t k = fold->parent_start[i]; k < fold->parent_start[i + 1]; k++) {
			enum trigger trigger = edge_trigger(picture, fold->parents[k], i);

			buf_addf(out, "\tn%" PRIu32 " -> n%" PRIu32 "%s;\n", fold->parents[k], i,
				 trigger == TRIGGER_FAILED ? " [color=red, label=failed]" :
				 trigger == TRIGGER_DONE ? " [style=dashed, label=done]" : "");
		}
	}
	buf_add_str(out, "}\n");
	buf_free(&text);
}
