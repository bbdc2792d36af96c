/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Completes a parsed graph: finds the names of assignments, sorts edges, drops duplicates, and refuses graphs that
 * can't be run, with the place of the mistake.
 */
#include "lang/dag_expr.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "proto/form.h"
#include "proto/limits.h"
#include "proto/output_text.h"

#define CYCLE_SHOWN 10

static enum err unknown_name(struct dag_reader *reader, const struct dag_assignment *assignment)
{
	size_t best = text_near(assignment->name.len);
	const struct dag_name *nearest = NULL;
	int len = (int)assignment->name.len;
	const char *text = (const char *)assignment->name.data;

	for (size_t i = 0; i < reader->name_count; i++) {
		size_t distance = text_distance(assignment->name, reader->list[i]->node.name, best);

		if (distance < best) {
			best = distance;
			nearest = reader->list[i];
		}
	}
	if (nearest != NULL)
		return dag_fail(reader, assignment->spot.at, assignment->spot.len, ERR_UNKNOWN_NAME,
				"the graph has no job '%.*s'; did you mean '%.*s'?", len, text,
				(int)nearest->node.name.len, (const char *)nearest->node.name.data);
	return dag_fail(reader, assignment->spot.at, assignment->spot.len, ERR_UNKNOWN_NAME,
			"no job '%.*s' in the graph; to add a job that needs nothing, write its name alone: %.*s; "
			"%.*s='COMMAND'", len,
			text, len, text, len, text);
}

static enum err assign(struct dag_reader *reader, const struct dag_assignment *assignment)
{
	struct dag_name *name = name_map_get(&reader->names, assignment->name);
	struct dag_node node;

	if (name == NULL && reader->chains)
		return unknown_name(reader, assignment);
	if (name == NULL)
		name = dag_name_get(reader, assignment->name, assignment->spot);
	if (name->assigned != NULL)
		return dag_fail(reader, assignment->spot.at, assignment->spot.len, ERR_DUPLICATE,
				"job '%.*s' already has a command", (int)assignment->name.len,
				(const char *)assignment->name.data);
	name->assigned = &assignment->values;
	node = assignment->values;
	node.name = name->node.name;
	node.fan = name->node.fan;
	node.gate = name->node.gate;
	node.width = name->node.width;
	node.items = name->node.items;
	name->node = node;
	return ERR_NONE;
}

static enum err assign_all(struct dag_reader *reader)
{
	enum err first = ERR_NONE;

	for (size_t i = 0; i < reader->assignment_count; i++) {
		enum err err = dag_note(reader, assign(reader, &reader->assignments[i]));

		if (first == ERR_NONE)
			first = err;
	}
	return first;
}

static bool says_work(const struct dag_node *node)
{
	return node->retry_max || node->plain.timeout_ms || node->plain.dispatch_timeout_ms || node->backoff_ms || node->mode ||
	       node->retry_on || node->crash_limit || node->worker_death || node->log_max || node->labels.n ||
	       node->concurrency.n || node->locks.n || demand_any(&node->placing) || node->dir.len || node->env.n ||
	       node->outputs.n || node->artifacts.n || node->in_count || node->plain.interpreter.len || node->plain.stdin_text.len;
}

/* Settings of jobs that are meant to end. */
static bool says_an_end(const struct dag_node *node)
{
	return node->retry_max || node->backoff_ms || node->retry_on || node->plain.timeout_ms || node->plain.dispatch_timeout_ms ||
	       node->crash_limit || node->outputs.n;
}

/* Refuse settings of jobs in gates, and settings of gates in jobs. */
static enum err check_gates(struct dag_reader *reader)
{
	for (size_t i = 0; i < reader->name_count; i++) {
		const struct dag_name *name = reader->list[i];
		const struct dag_node *node = &name->node;
		int len = (int)node->name.len;
		const char *text = (const char *)node->name.data;

		if (node->gate && node->fan)
			return dag_fail(reader, name->spot.at, name->spot.len, ERR_INVALID,
					"gate '%.*s' can't be a fan-out", len, text);
		if (node->gate && (says_work(node) || node->kind != KIND_UNSAID))
			return dag_fail(reader, name->spot.at, name->spot.len, ERR_INVALID,
					"gate '%.*s' runs nothing; the only settings of a gate are count, from, "
					"approve_timeout, description, delay and prio",
					len, text);
		if (node->kind == KIND_NOOP && says_work(node))
			return dag_fail(reader, name->spot.at, name->spot.len, ERR_INVALID,
					"job '%.*s' is a noop and runs nothing; its only settings are when, "
					"description, delay, deadline and prio",
					len, text);
		if (node->kind == KIND_SERVICE && says_an_end(node))
			return dag_fail(reader, name->spot.at, name->spot.len, ERR_INVALID,
					"job '%.*s' is a service and meant to stay up, so retry, retry_on, backoff, timeout, dispatch_timeout, "
					"crash_limit and outputs have no effect; a pipeline file has more settings of services", len, text);
		if (node->kind != KIND_SERVICE && (node->service.restart || node->plain.stable_ms))
			return dag_fail(reader, name->spot.at, name->spot.len, ERR_INVALID,
					"job '%.*s' isn't a service, so restart and stable have no effect; add kind=service to make it one", len, text);
		if (node->locks.n > 0 && node->mode == EXEC_RETRY + 1)
			return dag_fail(reader, name->spot.at, name->spot.len, ERR_INVALID,
					"job '%.*s' has locks, so its mode must be exclusive or once: with mode "
					"retry it could run twice at the same time",
					len, text);
		if (!node->gate && (node->gate_count || node->gate_from.n || node->plain.gate_timeout_ms))
			return dag_fail(reader, name->spot.at, name->spot.len, ERR_INVALID,
					"job '%.*s' isn't a gate; write ?%.*s in the graph to make it one", len, text, len, text);
	}
	return ERR_NONE;
}

static enum err check_commands(struct dag_reader *reader)
{
	enum err err = ERR_NONE;

	for (size_t i = 0; i < reader->name_count; i++) {
		struct dag_name *name = reader->list[i];
		int len = (int)name->node.name.len;
		const char *text = (const char *)name->node.name.data;

		if (name->assigned != NULL || name->node.gate || name->node.old || dag_name_is_old(reader, name))
			continue;
		if (dag_ask_failed(reader) != ERR_NONE)
			return reader->error->code;
		if (reader->old != NULL) {
			dag_fail(reader, name->spot.at, name->spot.len, ERR_UNKNOWN_NAME,
				 "job '%.*s' has no command, and run %llu has no job of this name", len, text,
				 (unsigned long long)reader->old->run);
			dag_tell_near(reader, name->node.name);
		} else {
			dag_fail(reader, name->spot.at, name->spot.len, ERR_INVALID, "job '%.*s' has no command", len, text);
			error_next(reader->error, "add %.*s='COMMAND' after a ';'", len, text);
		}
		err = dag_note(reader, reader->error->code);
	}
	return err;
}

static int compare_edges(const void *a, const void *b)
{
	const struct dag_edge *one = a, *other = b;

	if (one->child != other->child)
		return one->child < other->child ? -1 : 1;
	if (one->parent != other->parent)
		return one->parent < other->parent ? -1 : 1;
	return one->at < other->at ? -1 : one->at > other->at;
}

/*
 * Merge two edges between the same jobs. A parent that is both in a condition and in the list of needs must have ended,
 * with any result. False: the edges want two different results.
 */
static bool merge_triggers(struct dag_edge *last, const struct dag_edge *edge)
{
	if (last->trigger == edge->trigger && last->said == edge->said)
		return true;
	if (last->trigger != TRIGGER_EXPR && edge->trigger != TRIGGER_EXPR)
		return last->trigger == edge->trigger;
	if (last->trigger == TRIGGER_EXPR)
		last->trigger = edge->said ? edge->trigger : TRIGGER_DONE;
	else if (!last->said)
		last->trigger = TRIGGER_DONE;
	last->said = true;
	return true;
}

static enum err sort_edges(struct dag_reader *reader)
{
	size_t kept = 0;

	for (size_t i = 0; i < reader->name_count; i++)
		reader->list[i]->node.always = reader->list[i]->always;
	for (size_t i = 0; i < reader->edge_count; i++)
		if (!reader->edges[i].said && reader->list[reader->edges[i].child]->always)
			reader->edges[i].trigger = TRIGGER_DONE;
	if (reader->edge_count > 0)
		qsort(reader->edges, reader->edge_count, sizeof(*reader->edges), compare_edges);
	for (size_t i = 0; i < reader->edge_count; i++) {
		const struct dag_edge *edge = &reader->edges[i];
		const struct dag_edge *last = kept > 0 ? &reader->edges[kept - 1] : NULL;

		if (last == NULL || last->child != edge->child || last->parent != edge->parent) {
			reader->edges[kept++] = *edge;
			continue;
		}
		if (!merge_triggers(&reader->edges[kept - 1], edge)) {
			struct slice child = reader->list[edge->child]->node.name;
			struct slice parent = reader->list[edge->parent]->node.name;

			return dag_fail(reader, edge->at, child.len, ERR_INVALID,
					"job '%.*s' requires two different results of '%.*s'", (int)child.len,
					(const char *)child.data, (int)parent.len, (const char *)parent.data);
		}
	}
	reader->edge_count = kept;
	return ERR_NONE;
}

static void give_needs(struct dag_reader *reader)
{
	struct dag_need *needs = arena_zalloc(reader->arena, reader->edge_count + 1, sizeof(*needs));

	for (size_t i = 0; i < reader->edge_count; i++) {
		struct dag_node *node = &reader->list[reader->edges[i].child]->node;

		needs[i] = (struct dag_need){ reader->edges[i].parent, reader->edges[i].trigger };
		if (node->needs == NULL)
			node->needs = &needs[i];
		node->need_count++;
	}
}

static uint32_t parent_left(const struct dag_reader *reader, const uint32_t *left, uint32_t at)
{
	const struct dag_need *need = reader->list[at]->node.needs;

	while (left[need->parent] == 0)
		need++;
	return need->parent;
}

/*
 * Report a cycle. Every remaining name has a remaining parent, so going from parent to parent must return to a name
 * seen before.
 */
static enum err name_cycle(struct dag_reader *reader, const uint32_t *left, uint32_t at)
{
	bool *seen = arena_zalloc(reader->arena, reader->name_count, sizeof(*seen));
	const struct dag_name *shown[CYCLE_SHOWN];
	const struct dag_name *first;
	struct buf text = { 0 };
	size_t count = 0;
	uint32_t parent;
	enum err err;

	for (; !seen[at]; at = parent_left(reader, left, at))
		seen[at] = true;
	first = reader->list[at];
	for (parent = parent_left(reader, left, at); parent != at; parent = parent_left(reader, left, parent))
		if (count < CYCLE_SHOWN)
			shown[count++] = reader->list[parent];
	buf_add_slice(&text, first->node.name);
	buf_add_str(&text, count == CYCLE_SHOWN ? " -> .. -> " : " -> ");
	while (count-- > 0) {
		buf_add_slice(&text, shown[count]->node.name);
		buf_add_str(&text, " -> ");
	}
	buf_add_slice(&text, first->node.name);
	err = dag_fail(reader, first->spot.at, first->spot.len, ERR_CYCLE, "the graph has a cycle: %s", buf_cstr(&text));
	buf_free(&text);
	return err;
}

static enum err check_cycles(struct dag_reader *reader)
{
	size_t count = reader->name_count;
	/* For each name, the number of its parents that aren't sorted yet. */
	uint32_t *left = arena_zalloc(reader->arena, count + 1, sizeof(*left));
	/* For each name, the start of its children in the list. */
	uint32_t *begin = arena_zalloc(reader->arena, count + 2, sizeof(*begin));
	uint32_t *children = arena_zalloc(reader->arena, reader->edge_count + 1, sizeof(*children));
	uint32_t *queue = arena_zalloc(reader->arena, count + 1, sizeof(*queue));
	size_t head = 0, tail = 0;

	for (size_t i = 0; i < reader->edge_count; i++) {
		begin[reader->edges[i].parent + 2]++;
		left[reader->edges[i].child]++;
	}
	for (size_t i = 2; i < count + 2; i++)
		begin[i] += begin[i - 1];
	for (size_t i = 0; i < reader->edge_count; i++)
		children[begin[reader->edges[i].parent + 1]++] = reader->edges[i].child;
	for (size_t i = 0; i < count; i++)
		if (left[i] == 0)
			queue[tail++] = (uint32_t)i;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (uint32_t i = begin[at]; i < begin[at + 1]; i++)
			if (--left[children[i]] == 0)
				queue[tail++] = children[i];
	}
	if (tail == count)
		return ERR_NONE;
	for (size_t i = 0; i < count; i++)
		if (left[i] > 0)
			return name_cycle(reader, left, (uint32_t)i);
	return ERR_NONE;
}

/* Is one of the nodes that this one needs, directly or through others, the parent? */
static bool needs_it(const struct dag_reader *reader, const struct dag_node *node, uint32_t parent)
{
	bool *seen = arena_zalloc(reader->arena, reader->name_count, sizeof(*seen));
	uint32_t *queue = arena_zalloc(reader->arena, reader->name_count + 1, sizeof(*queue));
	size_t head = 0, tail = 0;

	for (;;) {
		for (size_t i = 0; i < node->need_count; i++) {
			if (!seen[node->needs[i].parent])
				queue[tail++] = node->needs[i].parent;
			seen[node->needs[i].parent] = true;
		}
		if (seen[parent] || head == tail)
			return seen[parent];
		node = &reader->list[queue[head++]]->node;
	}
}

void dag_take_add(struct dag_reader *reader, struct dag_node *node, const struct dag_take *take)
{
	struct dag_take *grown = arena_zalloc(reader->arena, node->take_count + 1, sizeof(*grown));

	if (node->take_count > 0)
		memcpy(grown, node->takes, node->take_count * sizeof(*grown));
	grown[node->take_count++] = *take;
	node->takes = grown;
}

/* Look for an output in the graph around this one, when that graph is checked. */
static enum err look_around(struct dag_reader *reader, struct dag_take *take)
{
	const struct dag_take outer = { .job = take->job, .output = take->output, .spot = take->spot, .inside = take };

	for (struct dag_take *at = take; at != NULL; at = at->inside)
		at->up++;
	dag_take_add(reader, reader->around, &outer);
	return ERR_NONE;
}

static bool computes(struct slice_list entries, struct slice output)
{
	struct slice name, text;

	for (size_t i = 0; i < entries.n; i++)
		if (computed_read(entries.at[i], &name, &text) && slice_eq(name, output))
			return true;
	return false;
}

bool dag_declares(const struct dag_node *node, struct slice output)
{
	for (size_t i = 0; i < node->outputs.n; i++)
		if (slice_eq(node->outputs.at[i], output))
			return true;
	if (node->sub_path.len > 0)
		return node->subs == NULL || computes(node->subs[0].outputs, output);
	return computes(node->computes, output) || form_find(node->gate_fields, output) != NULL;
}

enum err dag_undeclared(const struct dag_node *node, struct slice output, struct error *error)
{
	int len = (int)node->name.len, output_len = (int)output.len;
	const char *name = (const char *)node->name.data, *text = (const char *)output.data;

	if (node->gate) {
		error_set(error, ERR_UNKNOWN_NAME, "gate '%.*s' has no field '%.*s'", len, name, output_len, text);
		return error_next(error, "add it under approval: {fields: ...}");
	}
	if (node->sub_path.len > 0) {
		error_set(error, ERR_UNKNOWN_NAME, "the pipeline of job '%.*s' has no output '%.*s'", len, name, output_len, text);
		return error_next(error, "add it under outputs: at the top of that pipeline");
	}
	error_set(error, ERR_UNKNOWN_NAME, "job '%.*s' declares no output '%.*s'", len, name, output_len, text);
	return error_next(error, "add it to the outputs of that job");
}

static enum err undeclared(struct dag_reader *reader, const struct dag_node *node, const struct dag_take *take)
{
	struct error why = { 0 };

	dag_undeclared(node, take->output, &why);
	dag_fail(reader, take->spot.at, take->spot.len, why.code, "%s", why.text);
	return error_next(reader->error, "%s", why.next);
}

/* Find the job whose output is used, which must be of this graph. */
static enum err find_taken(struct dag_reader *reader, const struct dag_take *take, const struct dag_name **ret)
{
	*ret = name_map_get(&reader->names, take->job);
	if (*ret == NULL || (*ret)->node.old) {
		dag_fail(reader, take->spot.at, take->spot.len, ERR_UNKNOWN_NAME, "no job '%.*s' in the graph", (int)take->job.len,
			 (const char *)take->job.data);
		dag_tell_near(reader, take->job);
		return ERR_UNKNOWN_NAME;
	}
	return dag_declares(&(*ret)->node, take->output) ? ERR_NONE : undeclared(reader, &(*ret)->node, take);
}

enum err dag_check_results(struct dag_reader *reader, const struct dag_node *results)
{
	const struct dag_name *name;
	enum err first = ERR_NONE;

	for (size_t i = 0; i < results->take_count; i++) {
		enum err err = results->takes[i].found ? ERR_NONE : dag_note(reader, find_taken(reader, &results->takes[i], &name));

		if (first == ERR_NONE)
			first = err;
	}
	return first;
}

/* Check an output that a job uses: another job, which it needs, must declare it. */
static enum err check_take(struct dag_reader *reader, const struct dag_name *name, struct dag_take *take)
{
	const struct dag_name *parent = name_map_get(&reader->names, take->job);
	int len = (int)take->job.len;
	const char *text = (const char *)take->job.data;
	enum err err;

	if (take->found)
		return ERR_NONE;
	if (parent == NULL && reader->around != NULL)
		return look_around(reader, take);
	if ((err = find_taken(reader, take, &parent)) != ERR_NONE)
		return err;
	if (parent->node.fan && parent->node.width > LIMIT_TAKE_JOBS_MAX) {
		dag_fail(reader, take->spot.at, take->spot.len, ERR_TOO_LARGE, "'%.*s' has more than %d jobs, so their outputs can't be used together",
			 len, text, LIMIT_TAKE_JOBS_MAX);
		return error_next(reader->error, "let each job write a file into a directory that the other jobs read");
	}
	if (needs_it(reader, &name->node, parent->index))
		return ERR_NONE;
	dag_fail(reader, take->spot.at, take->spot.len, ERR_INVALID, "job '%.*s' doesn't need '%.*s', so it may run before that job",
		 (int)name->node.name.len, (const char *)name->node.name.data, len, text);
	return error_next(reader->error, "add needs: [%.*s]", len, text);
}

static enum err check_takes(struct dag_reader *reader)
{
	enum err first = ERR_NONE;

	for (size_t i = 0; i < reader->name_count; i++)
		for (size_t k = 0; k < reader->list[i]->node.take_count; k++) {
			enum err err = dag_note(reader, check_take(reader, reader->list[i], &reader->list[i]->node.takes[k]));

			if (first == ERR_NONE)
				first = err;
		}
	return first;
}

/* Check a job whose files another one gets: it must leave some, and the other one must need it. */
static enum err check_in(struct dag_reader *reader, const struct dag_name *name, const struct dag_in *in)
{
	const struct dag_name *parent = name_map_get(&reader->names, in->job);
	int len = (int)in->job.len;
	const char *text = (const char *)in->job.data;

	if (parent == NULL || parent->node.old) {
		dag_fail(reader, in->spot.at, in->spot.len, ERR_UNKNOWN_NAME, "no job '%.*s' in the graph", len, text);
		dag_tell_near(reader, in->job);
		return ERR_UNKNOWN_NAME;
	}
	if (parent->node.artifacts.n == 0) {
		dag_fail(reader, in->spot.at, in->spot.len, ERR_INVALID, "job '%.*s' leaves no artifacts", len, text);
		return error_next(reader->error, "add artifacts: {out: [PATTERN]} to that job");
	}
	if (parent->node.width + name->node.file_count + name->node.in_count > LIMIT_INPUTS_MAX) {
		dag_fail(reader, in->spot.at, in->spot.len, ERR_TOO_LARGE, "'%.*s' has %llu jobs, and a job can get at most %d files and directories",
			 len, text, (unsigned long long)parent->node.width, LIMIT_INPUTS_MAX);
		return error_next(reader->error, "gather the files in several jobs, each for some of them");
	}
	if (needs_it(reader, &name->node, parent->index))
		return ERR_NONE;
	dag_fail(reader, in->spot.at, in->spot.len, ERR_INVALID, "job '%.*s' doesn't need '%.*s', so it may run before that job",
		 (int)name->node.name.len, (const char *)name->node.name.data, len, text);
	return error_next(reader->error, "add needs: [%.*s]", len, text);
}

static enum err check_ins(struct dag_reader *reader)
{
	enum err first = ERR_NONE;

	for (size_t i = 0; i < reader->name_count; i++)
		for (size_t k = 0; k < reader->list[i]->node.in_count; k++) {
			enum err err = dag_note(reader, check_in(reader, reader->list[i], &reader->list[i]->node.ins[k]));

			if (first == ERR_NONE)
				first = err;
		}
	return first;
}

static enum err count_jobs(struct dag_reader *reader, uint64_t *ret_jobs)
{
	uint64_t jobs = 0, edges = 0;

	for (size_t i = 0; i < reader->name_count; i++) {
		struct dag_node *node = &reader->list[i]->node;

		node->first = jobs;
		jobs += node->old ? 0 : node->width;
	}
	if (jobs == 0)
		return dag_fail(reader, 0, 1, ERR_INVALID, "the graph is empty");
	if (jobs > LIMIT_RUN_JOBS_MAX)
		return dag_fail(reader, 0, 1, ERR_TOO_LARGE, "the graph has more than %d jobs", LIMIT_RUN_JOBS_MAX);
	for (size_t i = 0; i < reader->name_count; i++) {
		const struct dag_name *name = reader->list[i];
		uint64_t parents = 0;

		for (size_t k = 0; k < name->node.need_count; k++)
			parents += reader->list[name->node.needs[k].parent]->node.width;
		edges += parents * name->node.width;
		if (parents > LIMIT_JOB_PARENTS_MAX)
			return dag_fail(reader, name->spot.at, name->spot.len, ERR_TOO_LARGE,
					"job '%.*s' needs more than %d jobs", (int)name->node.name.len,
					(const char *)name->node.name.data, LIMIT_JOB_PARENTS_MAX);
		if (edges > DAG_JOB_EDGES_MAX)
			return dag_fail(reader, name->spot.at, name->spot.len, ERR_TOO_LARGE,
					"the graph has more than %llu dependencies",
					(unsigned long long)DAG_JOB_EDGES_MAX);
	}
	*ret_jobs = jobs;
	return ERR_NONE;
}

/* Parse the conditions (when='..') of a one-line graph; those of a pipeline file have already been parsed. */
static enum err read_conditions(struct dag_reader *reader)
{
	for (size_t i = 0; i < reader->name_count; i++) {
		struct dag_name *name = reader->list[i];
		struct expr_source source = { .reader = reader, .text = name->node.when, .child = name };
		struct dag_expr *expr;
		enum err err;

		if (name->node.when.len == 0 || name->node.when_expr != NULL)
			continue;
		source.spot = (struct dag_spot){ (size_t)(name->node.when.data - reader->text.data), name->node.when.len };
		if (name->node.when.data < reader->text.data || source.spot.at + source.spot.len > reader->text.len)
			source.spot = (struct dag_spot){ name->spot.at, name->node.when.len + 1 };
		err = dag_expr_read(&source, &expr);
		if (err != ERR_NONE)
			return err;
		if (!dag_expr_edges(reader, expr, name, false))
			return dag_fail(reader, name->spot.at, name->spot.len, ERR_TOO_LARGE,
					"the line has more than %d dependencies", DAG_EDGES_MAX);
		name->node.when_expr = expr;
	}
	return ERR_NONE;
}

static void tell_conditions(struct dag_reader *reader)
{
	for (size_t i = 0; i < reader->name_count; i++) {
		struct dag_node *node = &reader->list[i]->node;

		if (node->needs_expr != NULL)
			node->needs_text = dag_expr_text(reader, node->needs_expr);
		if (node->when_expr != NULL)
			node->when = dag_expr_text(reader, node->when_expr);
	}
}

/* Refuse a job whose deadline is before its earliest start. */
static enum err check_times(struct dag_reader *reader)
{
	for (size_t i = 0; i < reader->name_count; i++) {
		const struct dag_name *name = reader->list[i];
		const struct dag_node *node = &name->node;
		bool never = node->plain.not_before_ms != 0 && node->deadline_at_ms != 0 && node->plain.not_before_ms >= node->deadline_at_ms;

		if (!never && (node->deadline_ms == 0 || node->plain.delay_ms < node->deadline_ms))
			continue;
		return dag_fail(reader, name->spot.at, name->spot.len, ERR_INVALID,
				"job '%.*s' can't begin before its deadline: its %s lasts until the deadline or longer",
				(int)node->name.len, (const char *)node->name.data, never ? "not_before" : "delay");
	}
	return ERR_NONE;
}

enum err dag_finish(struct dag_reader *reader, struct dagline *ret)
{
	struct dagline dag = { 0 };
	enum err err;

	if ((err = assign_all(reader)) != ERR_NONE || (err = check_commands(reader)) != ERR_NONE ||
	    (err = check_gates(reader)) != ERR_NONE || (err = check_times(reader)) != ERR_NONE || (err = read_conditions(reader)) != ERR_NONE ||
	    (err = dag_check_old(reader)) != ERR_NONE || (err = sort_edges(reader)) != ERR_NONE)
		return err;
	tell_conditions(reader);
	give_needs(reader);
	if ((err = check_cycles(reader)) != ERR_NONE || (err = check_takes(reader)) != ERR_NONE ||
	    (err = check_ins(reader)) != ERR_NONE || (err = count_jobs(reader, &dag.job_count)) != ERR_NONE)
		return err;
	dag_list_old(reader, &dag);
	dag.node_count = reader->name_count;
	dag.nodes = arena_zalloc(reader->arena, dag.node_count, sizeof(struct dag_node *));
	for (size_t i = 0; i < dag.node_count; i++)
		dag.nodes[i] = &reader->list[i]->node;
	*ret = dag;
	return ERR_NONE;
}
