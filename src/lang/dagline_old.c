/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of existing jobs of the run to which a graph is added. A name that the graph doesn't define is looked up in
 * that run once. Such a job has no command and no needs here; it is only mentioned in needs and conditions.
 */
#include "lang/dag_expr.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

#define NAME(slice) (int)((slice).len < LIMIT_NAME_MAX_LEN ? (slice).len : LIMIT_NAME_MAX_LEN), (const char *)(slice).data

static bool ask(struct dag_reader *reader, struct slice name, struct dag_found *ret_found)
{
	struct error error = { 0 };
	enum err err;

	if (reader->old == NULL || reader->old_failed.code != ERR_NONE || !text_is_job_name(name))
		return false;
	err = reader->old->find_cb(reader->old->arg, name, ret_found, &error);
	if (err != ERR_NONE && err != ERR_NOT_FOUND)
		reader->old_failed = error;
	return err == ERR_NONE;
}

struct dag_name *dag_name_find(struct dag_reader *reader, struct slice text)
{
	struct dag_name *name = name_map_get(&reader->names, text);
	struct dag_found found;

	if (name != NULL || !ask(reader, text, &found))
		return name;
	name = dag_name_get(reader, arena_copy(reader->arena, text), (struct dag_spot){ 0, 1 });
	name->node.old = true;
	name->node.fan = found.fan;
	name->node.width = (uint32_t)found.width;
	return name;
}

bool dag_name_is_old(struct dag_reader *reader, struct dag_name *name)
{
	struct dag_found found;

	if (name->always || name->node.fan || !ask(reader, name->node.name, &found))
		return false;
	name->node.old = true;
	name->node.fan = found.fan;
	name->node.width = (uint32_t)found.width;
	return true;
}

enum err dag_check_old(struct dag_reader *reader)
{
	bool any = false;

	for (size_t i = 0; i < reader->edge_count; i++) {
		const struct dag_name *child = reader->list[reader->edges[i].child];

		if (child->node.old)
			return dag_fail(reader, reader->edges[i].at, child->node.name.len, ERR_INVALID,
					"job '%.*s' is already in run %" PRIu64 ": an existing job can't need added ones",
					NAME(child->node.name), reader->old->run);
	}
	for (size_t i = 0; i < reader->name_count; i++)
		any = any || !reader->list[i]->node.old;
	if (reader->old != NULL && reader->name_count > 0 && !any)
		return dag_fail(reader, 0, 1, ERR_INVALID, "the graph adds nothing: all its jobs are already in run %" PRIu64,
				reader->old->run);
	return ERR_NONE;
}

enum err dag_ask_failed(struct dag_reader *reader)
{
	if (reader->old_failed.code != ERR_NONE) {
		*reader->error = reader->old_failed;
		reader->spot = (struct dag_spot){ 0, 0 };
		reader->noted = false;
	}
	return reader->old_failed.code;
}

void dag_tell_near(struct dag_reader *reader, struct slice text)
{
	struct slice near = reader->old != NULL ? reader->old->near_cb(reader->old->arg, text) : slice_make(NULL, 0);

	if (near.len > 0)
		error_next(reader->error, "run %" PRIu64 " has '%.*s'", reader->old->run, NAME(near));
}

/* List the names of these jobs in the form in which the core looks them up. */
void dag_list_old(struct dag_reader *reader, struct dagline *dag)
{
	size_t count = 0;

	for (size_t i = 0; i < reader->name_count; i++)
		if (reader->list[i]->node.old)
			count += reader->list[i]->node.width;
	dag->parents.at = arena_zalloc(reader->arena, count + 1, sizeof(struct slice));
	for (size_t i = 0; i < reader->name_count; i++) {
		struct dag_node *node = &reader->list[i]->node;

		if (!node->old)
			continue;
		node->old_first = dag->parents.n;
		for (uint32_t k = 0; k < node->width; k++) {
			char name[LIMIT_NAME_MAX_LEN + 24];

			snprintf(name, sizeof(name), node->fan ? "%.*s[%u]" : "%.*s", NAME(node->name), k);
			dag->parents.at[dag->parents.n++] = arena_copy(reader->arena, slice_str(name));
		}
	}
}
