/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parses the statements of a one-line graph: chains and groups become names and edges. Each brace is one
 * level of recursion; DAG_DEPTH_MAX limits them. The edges of a join of two groups are counted before they
 * are made.
 */
#include "lang/dagline.h"

#include "base/mem.h"
#include "base/text.h"
#include "lang/dagline_internal.h"
#include "proto/limits.h"

struct graph_end {                             /* a job at the beginning or the end of a chain */
	uint32_t name;
	enum trigger trigger;
	bool said;
	size_t at;
};

struct chain_part {                            /* part of a chain: a name or a group */
	struct graph_end *sources, *sinks;
	size_t source_count, sink_count;
};

struct dag_name *dag_name_get(struct dag_reader *reader, struct slice name, struct dag_spot spot)
{
	struct dag_name *found = name_map_get(&reader->names, name);

	if (found != NULL)
		return found;
	found = arena_zalloc(reader->arena, 1, sizeof(*found));
	found->node.name = name;
	found->node.width = 1;
	found->index = (uint32_t)reader->name_count;
	found->spot = spot;
	if (reader->name_count == reader->name_room) {
		size_t room = reader->name_room ? reader->name_room * 2 : 16;
		struct dag_name **list = arena_zalloc(reader->arena, room, sizeof(struct dag_name *));

		if (reader->name_count > 0)
			memcpy(list, reader->list, reader->name_count * sizeof(*list));
		reader->list = list;
		reader->name_room = room;
	}
	reader->list[reader->name_count++] = found;
	name_map_put(&reader->names, name, found);
	return found;
}

bool dag_add_edge(struct dag_reader *reader, const struct dag_edge *edge)
{
	if (reader->edge_count == DAG_EDGES_MAX)
		return false;
	if (reader->edge_count == reader->edge_room) {
		reader->edge_room = reader->edge_room ? reader->edge_room * 2 : 64;
		reader->edges = mem_resize(reader->edges, reader->edge_room, sizeof(*reader->edges));
	}
	reader->edges[reader->edge_count++] = *edge;
	return true;
}

static enum err join(struct dag_reader *reader, const struct chain_part *before, const struct chain_part *behind, size_t at)
{
	size_t room_left = DAG_EDGES_MAX - reader->edge_count;

	if (before->sink_count > room_left / behind->source_count)
		return dag_fail(reader, at, 2, ERR_TOO_LARGE, "the line has more than %d dependencies", DAG_EDGES_MAX);
	for (size_t i = 0; i < before->sink_count; i++) {
		for (size_t k = 0; k < behind->source_count; k++) {
			dag_add_edge(reader, &(struct dag_edge){
				.parent = before->sinks[i].name,
				.child = behind->sources[k].name,
				.trigger = before->sinks[i].trigger,
				.said = before->sinks[i].said,
				.at = behind->sources[k].at,
			});
		}
	}
	return ERR_NONE;
}

static enum err read_items(struct dag_reader *reader, struct slice_list *ret_items)
{
	size_t start = reader->at - 1;
	size_t room = 0;
	struct slice_list items = { 0 };

	for (;;) {
		struct slice item;
		enum err err;

		dag_skip(reader, true);
		err = dag_take_value(reader, ",{};", &item);
		if (err != ERR_NONE)
			return err;
		if (items.n == room) {
			struct slice *at = arena_zalloc(reader->arena, room ? room * 2 : 8, sizeof(*at));

			if (items.n > 0)
				memcpy(at, items.at, items.n * sizeof(*at));
			items.at = at;
			room = room ? room * 2 : 8;
		}
		items.at[items.n++] = item;
		dag_skip(reader, true);
		if (dag_take(reader, "}"))
			break;
		if (!dag_take(reader, ","))
			return dag_fail(reader, start, 1, ERR_SYNTAX, "this list of items isn't closed");
	}
	*ret_items = items;
	return ERR_NONE;
}

/* Read the count or items of a fan-out, after the '*'. */
static enum err read_fan(struct dag_reader *reader, struct dag_name *name)
{
	size_t start = reader->at - 1;
	struct slice_list items = { 0 };
	uint64_t width = 0;

	if (name->node.fan)
		return dag_fail(reader, start, 1, ERR_DUPLICATE, "job '%.*s' already has a fan-out",
				(int)name->node.name.len, (const char *)name->node.name.data);
	if (dag_take(reader, "{")) {
		enum err err = read_items(reader, &items);

		if (err != ERR_NONE)
			return err;
		width = items.n;
	} else {
		while (dag_peek(reader) >= '0' && dag_peek(reader) <= '9' && width <= LIMIT_RUN_JOBS_MAX)
			width = width * 10 + (uint64_t)(reader->text.data[reader->at++] - '0');
		if (reader->at == start + 1)
			return dag_fail(reader, start, 1, ERR_SYNTAX,
					"write a fan-out as name*8 or name*{x,y}");
	}
	if (width == 0 || width > LIMIT_RUN_JOBS_MAX)
		return dag_fail(reader, start, reader->at - start, ERR_TOO_LARGE,
				"a fan-out must have 1 to %d jobs", LIMIT_RUN_JOBS_MAX);
	name->node.fan = true;
	name->node.width = (uint32_t)width;
	name->node.items = items;
	return ERR_NONE;
}

static enum err read_trigger(struct dag_reader *reader, struct graph_end *end)
{
	static const char *const words[] = { "ok", "failed", "done" };
	static const enum trigger triggers[] = { TRIGGER_OK, TRIGGER_FAILED, TRIGGER_DONE };
	size_t start = reader->at;
	struct slice word;
	enum err err = dag_take_name(reader, "'ok', 'failed' or 'done'", &word);

	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < 3; i++) {
		if (slice_eq(word, slice_str(words[i]))) {
			end->trigger = triggers[i];
			end->said = true;
			return ERR_NONE;
		}
	}
	return dag_fail(reader, start, word.len, ERR_UNKNOWN_NAME, "unknown result '%.*s'; it must be 'ok', 'failed' "
		"or 'done'",
			(int)word.len, (const char *)word.data);
}

static enum err read_name(struct dag_reader *reader, struct chain_part *ret)
{
	struct graph_end *end = arena_zalloc(reader->arena, 1, sizeof(*end));
	size_t start = reader->at;
	bool gate = dag_take(reader, "?");
	struct slice text;
	struct dag_name *name;
	enum err err = dag_take_name(reader, "a job's name", &text);

	if (err != ERR_NONE)
		return err;
	name = dag_name_get(reader, text, (struct dag_spot){ start + gate, text.len });
	name->node.gate = name->node.gate || gate;
	*end = (struct graph_end){ .name = name->index, .trigger = TRIGGER_OK, .at = start };
	for (;;) {
		size_t at = reader->at;

		if (dag_take(reader, "*")) {
			err = read_fan(reader, name);
		} else if (dag_take(reader, "!")) {
			name->always = true;
		} else if (dag_take(reader, ":")) {
			err = read_trigger(reader, end);
		} else if (dag_peek(reader) == '[') {
			return dag_fail(reader, at, 1, ERR_SYNTAX,
					"the graph must name the whole fan-out, not one of its jobs");
		} else {
			break;
		}
		if (err != ERR_NONE)
			return err;
	}
	*ret = (struct chain_part){ .sources = end, .sinks = end, .source_count = 1, .sink_count = 1 };
	return ERR_NONE;
}

static enum err read_chain(struct dag_reader *reader, struct chain_part *ret);

static void add_ends(struct arena *arena, struct graph_end **ends, size_t *count, size_t *room, const struct graph_end *more,
		     size_t more_count)
{
	if (*count + more_count > *room) {
		size_t bigger = (*count + more_count) * 2;
		struct graph_end *copy = arena_zalloc(arena, bigger, sizeof(*copy));

		if (*count > 0)
			memcpy(copy, *ends, *count * sizeof(*copy));
		*ends = copy;
		*room = bigger;
	}
	memcpy(*ends + *count, more, more_count * sizeof(*more));
	*count += more_count;
}

/* Read a group, after the opening brace. */
static enum err read_group(struct dag_reader *reader, struct chain_part *ret)
{
	size_t start = reader->at - 1;
	size_t source_room = 0, sink_room = 0;
	struct chain_part group = { 0 };

	if (++reader->depth > DAG_DEPTH_MAX)
		return dag_fail(reader, start, 1, ERR_TOO_LARGE, "braces are nested more than %d levels deep", DAG_DEPTH_MAX);
	for (;;) {
		struct chain_part chain;
		enum err err;

		dag_skip(reader, true);
		err = read_chain(reader, &chain);
		if (err != ERR_NONE)
			return err;
		add_ends(reader->arena, &group.sources, &group.source_count, &source_room, chain.sources,
			 chain.source_count);
		add_ends(reader->arena, &group.sinks, &group.sink_count, &sink_room, chain.sinks, chain.sink_count);
		dag_skip(reader, true);
		if (dag_take(reader, "}"))
			break;
		if (dag_take(reader, ","))
			continue;
		if (dag_peek(reader) == -1 || dag_peek(reader) == ';')
			return dag_fail(reader, start, 1, ERR_SYNTAX, "this brace isn't closed");
		return dag_fail(reader, reader->at, 1, ERR_SYNTAX, "',', '->' or '}' is expected here");
	}
	reader->depth--;
	*ret = group;
	return ERR_NONE;
}

static enum err read_part(struct dag_reader *reader, struct chain_part *ret)
{
	return dag_take(reader, "{") ? read_group(reader, ret) : read_name(reader, ret);
}

/*
 * Take an arrow if one follows. A chain continues in the next line if this line ends with an arrow or the next one
 * begins with one.
 */
static bool take_arrow(struct dag_reader *reader)
{
	size_t back;

	dag_skip(reader, reader->depth > 0);
	back = reader->at;
	dag_skip(reader, true);
	if (dag_take(reader, "->")) {
		dag_skip(reader, true);
		return true;
	}
	reader->at = back;
	return false;
}

static enum err read_chain(struct dag_reader *reader, struct chain_part *ret)
{
	struct chain_part chain, next;
	enum err err = read_part(reader, &chain);

	while (err == ERR_NONE && take_arrow(reader)) {
		size_t arrow = reader->at;

		err = read_part(reader, &next);
		if (err == ERR_NONE)
			err = join(reader, &chain, &next, arrow);
		if (err == ERR_NONE) {
			chain.sinks = next.sinks;
			chain.sink_count = next.sink_count;
		}
	}
	if (err == ERR_NONE)
		*ret = chain;
	return err;
}

/* Refuse a result such as a:failed that no job needs: probably something was left out. */
static enum err check_ends(struct dag_reader *reader, const struct chain_part *chain)
{
	for (size_t i = 0; i < chain->sink_count; i++)
		if (chain->sinks[i].said)
			return dag_fail(reader, chain->sinks[i].at, 1, ERR_SYNTAX,
					"a job must follow a result: a:failed -> b");
	return ERR_NONE;
}

static enum err read_statement(struct dag_reader *reader)
{
	size_t start = reader->at;
	struct slice name;
	struct chain_part chain;
	enum err err;

	if (dag_peek(reader) != '{' && dag_peek(reader) != '?') {
		err = dag_take_name(reader, "a job's name", &name);
		if (err != ERR_NONE)
			return err;
		dag_skip(reader, false);
		if (dag_take(reader, "="))
			return dag_read_assignment(reader, name, (struct dag_spot){ start, name.len });
		reader->at = start;
	}
	reader->chains = true;
	err = read_chain(reader, &chain);
	return err != ERR_NONE ? err : check_ends(reader, &chain);
}

static enum err end_statement(struct dag_reader *reader)
{
	struct slice none;

	dag_skip(reader, false);
	if (dag_peek(reader) == -1 || dag_peek(reader) == ';' || dag_peek(reader) == '\n')
		return ERR_NONE;
	if (dag_peek(reader) == '=')
		return dag_fail(reader, reader->at, 1, ERR_SYNTAX,
				"put the command in a statement of its own, after the graph: a*8 -> b; a='COMMAND'");
	/* Anything but a name is reported by dag_take_name as a wrong character. */
	if (dag_take_name(reader, "'->' or ';'", &none) != ERR_NONE)
		return reader->error->code;
	return dag_fail(reader, reader->at - none.len, none.len, ERR_SYNTAX,
			"'->' or ';' is missing before '%.*s' (give a command as name='COMMAND')", (int)none.len,
			(const char *)none.data);
}

/* After an error, go on with the next statement. */
static void skip_statement(struct dag_reader *reader)
{
	reader->depth = 0;
	while (dag_peek(reader) != -1 && dag_peek(reader) != ';' && dag_peek(reader) != '\n')
		reader->at++;
}

static enum err read_statements(struct dag_reader *reader)
{
	const uint8_t *zero = memchr(reader->text.data, 0, reader->text.len);
	enum err err = ERR_NONE, first = ERR_NONE;

	if (zero != NULL)
		return dag_fail(reader, (size_t)(zero - reader->text.data), 1, ERR_SYNTAX, "a NUL byte");
	for (;;) {
		do
			dag_skip(reader, true);
		while (dag_take(reader, ";"));
		if (dag_peek(reader) == -1)
			return first;
		err = read_statement(reader);
		if (err == ERR_NONE)
			err = end_statement(reader);
		if (err == ERR_NONE)
			continue;
		dag_note(reader, err);
		first = first == ERR_NONE ? err : first;
		skip_statement(reader);
	}
}

enum err dagline_read(struct slice text, const struct dag_old *old, struct arena *arena, struct dagline *ret,
		      struct dag_faults *faults)
{
	struct error latest = { 0 };
	struct dag_reader reader = { .text = text, .arena = arena, .old = old, .error = &latest, .faults = faults };
	enum err err;

	*faults = (struct dag_faults){ 0 };
	if (text.len > LIMIT_DAG_LINE_MAX)
		err = dag_fail(&reader, 0, 1, ERR_TOO_LARGE, "the graph has %zu bytes; at most %d are allowed", text.len,
			       LIMIT_DAG_LINE_MAX);
	else if (text.len == 0)
		err = dag_fail(&reader, 0, 1, ERR_INVALID, "the graph is empty");
	else
		err = read_statements(&reader);
	if (err == ERR_NONE)
		err = dag_finish(&reader, ret);
	dag_note(&reader, err);
	name_map_free(&reader.names);
	mem_free(reader.edges);
	return faults->count > 0 ? faults->at[0].error.code : ERR_NONE;
}

enum err dagline_parse(struct slice text, struct arena *arena, struct dagline *ret, struct dag_spot *ret_spot,
		       struct error *error)
{
	return dagline_parse_into(text, NULL, arena, ret, ret_spot, error);
}

enum err dagline_parse_into(struct slice text, const struct dag_old *old, struct arena *arena, struct dagline *ret,
			    struct dag_spot *ret_spot, struct error *error)
{
	struct dag_faults faults;
	enum err err = dagline_read(text, old, arena, ret, &faults);

	if (err != ERR_NONE && ret_spot != NULL)
		*ret_spot = faults.at[0].spot;
	if (err != ERR_NONE && error != NULL)
		*error = faults.at[0].error;
	return err;
}
