/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns needs and conditions into edges and code, once all jobs are known. Needs that a plain list can express stay a
 * list, for which the core only counts results.
 */
#include "lang/dag_expr.h"
#include "lang/pipeline_internal.h"

#include "base/text.h"
#include "proto/limits.h"

struct condition_list {                            /* conditions that must all be true */
	struct dag_expr **at;
	size_t count;
	bool plain;
};

static enum err expand(void *arg, struct slice word, struct dag_spot spot, struct slice *ret)
{
	const struct tree_node node = { .kind = TREE_TEXT, .text = word, .spot = spot };

	return pipe_text(arg, &node, "a condition", ret);
}

/* Return the place of the text within its quotes, if it is written there as it is read; else of all of it. */
static struct dag_spot text_spot(const struct pipe *pipe, const struct tree_node *node)
{
	const uint8_t *file = pipe->reader.text.data + node->spot.at;

	if (!node->plain && node->text.len > 0 && node->spot.len == node->text.len + 2 &&
	    memcmp(file + 1, node->text.data, node->text.len) == 0)
		return (struct dag_spot){ node->spot.at + 1, node->text.len };
	return node->spot;
}

enum err pipe_read_expr(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *node, const char *what, bool own,
			struct dag_expr **ret)
{
	struct expr_source source = {
		.reader = &pipe->reader, .text = node->text, .spot = text_spot(pipe, node), .child = job->name, .expand_cb = expand,
		.arg = pipe, .own = own,
	};
	enum err err = pipe_expect(pipe, node, TREE_TEXT, what);

	if (err != ERR_NONE)
		return err;
	if (node->text.len > LIMIT_COMMAND_MAX)
		return pipe_fail(pipe, node, ERR_TOO_LARGE, "a condition may have at most %d bytes", LIMIT_COMMAND_MAX);
	return dag_expr_read(&source, ret);
}

static enum err read_expr(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *node, const char *what,
			  struct dag_expr **ret)
{
	return pipe_read_expr(pipe, job, node, what, false, ret);
}

static enum err too_many(struct pipe *pipe, const struct tree_node *node)
{
	return pipe_fail(pipe, node, ERR_TOO_LARGE, "a pipeline may have at most %d dependencies", DAG_EDGES_MAX);
}

static void list_begin(struct pipe *pipe, struct condition_list *list, size_t room)
{
	*list = (struct condition_list){ .at = arena_zalloc(pipe->reader.arena, room + 1, sizeof(struct dag_expr *)), .plain = true };
}

static void list_add(struct condition_list *list, struct dag_expr *expr)
{
	list->plain = list->plain && dag_expr_plain(expr);
	list->at[list->count++] = expr;
}

/* ---- needs ---- */

/* Read {a: ok, b: failed}. */
static enum err read_results(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *map, struct condition_list *list)
{
	list_begin(pipe, list, map->count);
	for (const struct tree_node *node = map->first; node != NULL; node = node->next) {
		const struct dag_name *parent = dag_name_find(&pipe->reader, node->key);
		struct tree_node both = *node;
		struct dag_expr *expr;
		struct slice word;
		struct buf text = { 0 };
		enum err err;

		if (parent == NULL)
			return dag_unknown_need(&pipe->reader, job->name, node->key, node->key_spot);
		err = pipe_text(pipe, node, "a result", &word);
		if (err != ERR_NONE)
			return err;
		buf_add_slice(&text, node->key);
		buf_add_byte(&text, ':');
		buf_add_slice(&text, word);
		both.text = arena_copy(pipe->reader.arena, buf_slice(&text));
		buf_free(&text);
		err = read_expr(pipe, job, &both, "a result", &expr);
		if (err != ERR_NONE)
			return err;
		list_add(list, expr);
	}
	return ERR_NONE;
}

static uint64_t gate_width(const struct pipe *pipe, const struct condition_list *list)
{
	uint64_t width = 0;

	for (size_t i = 0; i < list->count; i++)
		width += list->at[i]->each ? dag_need_width(&pipe->reader.list[list->at[i]->parent]->node) : 1;
	return width;
}

/* Read {any: 2, of: [a, b, c]} or {all: [a, b]}. Each job of a fan-out counts separately here. */
static enum err read_join(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *map,
			  const struct tree_node *any, const struct tree_node *of, struct condition_list *list)
{
	struct condition_list parts;
	uint64_t least = 0;
	struct slice word;
	enum err err = pipe_expect(pipe, of, TREE_LIST, "the key of");

	for (const struct tree_node *node = map->first; node != NULL && err == ERR_NONE; node = node->next)
		if (node != any && node != of)
			err = dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
				       "beside the key of, only any is allowed: {any: 2, of: [a, b, c]}");
	if (err == ERR_NONE && of->count == 0)
		err = pipe_fail(pipe, of, ERR_INVALID, "the list under of is empty");
	list_begin(pipe, &parts, of->count);
	for (const struct tree_node *item = of->first; item != NULL && err == ERR_NONE; item = item->next) {
		struct dag_expr *expr = NULL;

		err = read_expr(pipe, job, item, "an entry of needs", &expr);
		if (err == ERR_NONE && expr->kind == DAG_STATE)
			expr->each = true;
		if (err == ERR_NONE)
			list_add(&parts, expr);
	}
	if (err == ERR_NONE && any != NULL && (err = pipe_text(pipe, any, "any", &word)) == ERR_NONE &&
	    !slice_eq(word, slice_str("all")))
		err = pipe_number(pipe, any, 1, gate_width(pipe, &parts), &least);
	if (err != ERR_NONE)
		return err;
	list_begin(pipe, list, 1);
	list_add(list, dag_expr_gate(pipe->reader.arena, least, parts.at, parts.count));
	return ERR_NONE;
}

static enum err read_needs(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *needs, struct condition_list *list)
{
	const struct tree_node *of = needs->kind == TREE_MAP ? tree_find(needs, "of") : NULL;
	const struct tree_node *all = needs->kind == TREE_MAP && needs->count == 1 ? tree_find(needs, "all") : NULL;
	const struct tree_node *item = needs->kind == TREE_LIST ? needs->first : needs;
	enum err err = ERR_NONE;

	if (of != NULL && of->kind == TREE_LIST) {
		const struct tree_node *any = tree_find(needs, "any");

		if (any == NULL)
			return pipe_fail(pipe, needs, ERR_INVALID, "any must be a number: {any: 2, of: [a, b, c]}");
		return read_join(pipe, job, needs, any, of, list);
	}
	if (all != NULL && all->kind == TREE_LIST)
		return read_join(pipe, job, needs, NULL, all, list);
	if (needs->kind == TREE_MAP)
		return read_results(pipe, job, needs, list);
	list_begin(pipe, list, needs->kind == TREE_LIST ? needs->count : 1);
	for (; item != NULL; item = needs->kind == TREE_LIST ? item->next : NULL) {
		struct dag_expr *expr;
		enum err wrong = ERR_NONE;

		pipe_note(pipe, read_expr(pipe, job, item, "an entry of needs", &expr), &wrong);
		if (wrong == ERR_NONE)
			list_add(list, expr);
		else if (err == ERR_NONE)
			err = wrong;
	}
	return err;
}

/* Mark the jobs that this job needs. Names and jobs have the same order. */
static enum err mark_wanted(struct pipe *pipe, const struct pipe_job *job, size_t from_edge, const struct tree_node *where)
{
	for (size_t i = from_edge; i < pipe->reader.edge_count; i++) {
		struct pipe_job *parent = pipe->reader.edges[i].parent < pipe->job_count ?
						  &pipe->jobs[pipe->reader.edges[i].parent] : NULL;

		if (parent == NULL)
			continue;
		/*
		 * The parent is a final job, which waits for this one. Report that; otherwise the error would be about
		 * a cycle that the author didn't write.
		 */
		if (parent->final && !job->final)
			return pipe_fail(pipe, where, ERR_CYCLE, "job '%.*s' can't need '%.*s', a final job: final "
				"jobs run after all others", (int)job->name->node.name.len,
					 (const char *)job->name->node.name.data, (int)parent->name->node.name.len,
					 (const char *)parent->name->node.name.data);
		if (parent->node->kind == KIND_SERVICE && !job->final)
			return pipe_fail(pipe, where, ERR_CYCLE, "job '%.*s' can't need '%.*s', a service: it ends only when the other "
				"jobs of the run have ended", (int)job->name->node.name.len, (const char *)job->name->node.name.data,
					 (int)parent->name->node.name.len, (const char *)parent->name->node.name.data);
		parent->wanted_by = job->name->index + 1;
	}
	return ERR_NONE;
}

static enum err join_needs(struct pipe *pipe, const struct pipe_job *job)
{
	size_t from = pipe->reader.edge_count;
	struct dag_expr *expr;
	struct condition_list list;
	enum err err = read_needs(pipe, job, job->needs, &list);

	if (err != ERR_NONE || list.count == 0)
		return err;
	expr = list.count == 1 ? list.at[0] : dag_expr_gate(pipe->reader.arena, list.count, list.at, list.count);
	if (!dag_expr_edges(&pipe->reader, expr, job->name, list.plain))
		return too_many(pipe, job->needs);
	if (!list.plain)
		job->node->needs_expr = expr;
	return mark_wanted(pipe, job, from, job->needs);
}

static enum err join_when(struct pipe *pipe, const struct pipe_job *job)
{
	struct dag_expr *expr;
	enum err err = read_expr(pipe, job, job->when, "when", &expr);

	if (err != ERR_NONE)
		return err;
	if (!dag_expr_edges(&pipe->reader, expr, job->name, false))
		return too_many(pipe, job->when);
	job->node->when_expr = expr;
	return ERR_NONE;
}

/*
 * Let a final job wait for all other jobs, except those that it already asks about itself. Every job gets an edge,
 * because a job that was skipped early says nothing about others.
 */
static enum err join_final(struct pipe *pipe, const struct pipe_job *job)
{
	for (size_t i = 0; i < pipe->job_count; i++) {
		const struct dag_edge edge = { pipe->jobs[i].name->index, job->name->index, TRIGGER_DONE, true,
					       job->name->spot.at };

		if (!pipe->jobs[i].final && pipe->jobs[i].wanted_by != job->name->index + 1 &&
		    !dag_add_edge(&pipe->reader, &edge))
			return dag_fail(&pipe->reader, job->name->spot.at, job->name->spot.len, ERR_TOO_LARGE,
					"a pipeline may have at most %d dependencies", DAG_EDGES_MAX);
	}
	return ERR_NONE;
}

enum err pipe_join(struct pipe *pipe)
{
	const struct dag_matrix outer = pipe->words;
	enum err err = ERR_NONE;

	for (size_t i = 0; i < pipe->job_count; i++) {
		const struct pipe_job *job = &pipe->jobs[i];

		pipe->words.params = job->params;
		pipe->words.param_count = job->param_count;
		if (job->needs != NULL)
			pipe_note(pipe, join_needs(pipe, job), &err);
		if (job->when != NULL)
			pipe_note(pipe, join_when(pipe, job), &err);
		if (job->final && err == ERR_NONE)
			pipe_note(pipe, join_final(pipe, job), &err);
	}
	pipe->words = outer;
	return err;
}
