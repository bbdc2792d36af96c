/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns libyaml's events into a tree, with a stack of LIMIT_PIPELINE_DEPTH open maps and lists instead of recursion.
 * Each open map has a table of its keys, so that duplicate keys are found at once.
 */
#include "lang/pipeline_tree.h"

#include <yaml.h>

#include "base/text.h"
#include "proto/limits.h"

#define AT_LETTER 'a'
#define AT_MAX    64                     /* most values without quotes that begin with @ */

struct level {                           /* a map or list that is open */
	struct tree_node *node;
	struct name_map keys;            /* from keys of an open map to their nodes */
	struct slice key;                /* the key that was just read and has no value yet */
	struct dag_spot key_spot;
	bool key_read;
	bool key_twin;                   /* the map has this key already: the value that comes next is left out */
};

struct loader {
	struct dag_reader *reader;
	/* libyaml counts characters: the last character that was asked for, and its byte offset */
	size_t index, at;
	struct level levels[LIMIT_PIPELINE_DEPTH];
	size_t depth;
	size_t node_count;
	struct tree_node *root;
	bool document_seen;
};

/*
 * The byte offset of a character. Characters are mostly asked for in ascending order, so that each byte is passed once.
 */
static size_t place_of(struct loader *loader, size_t index)
{
	struct slice text = loader->reader->text;

	if (index < loader->index)
		loader->index = loader->at = 0;
	for (; loader->index < index && loader->at < text.len; loader->index++) {
		loader->at++;
		while (loader->at < text.len && (text.data[loader->at] & 0xc0) == 0x80)
			loader->at++;
	}
	return loader->at;
}

static struct dag_spot spot_of(struct loader *loader, const yaml_event_t *event)
{
	size_t start = place_of(loader, event->start_mark.index);
	size_t index = loader->index;
	size_t end = place_of(loader, event->end_mark.index);

	loader->index = index;
	loader->at = start;
	return (struct dag_spot){ start, end > start && event->type == YAML_SCALAR_EVENT ? end - start : 1 };
}

static enum err add_node(struct loader *loader, struct tree_node *node)
{
	struct level *level = loader->depth > 0 ? &loader->levels[loader->depth - 1] : NULL;

	if (++loader->node_count > LIMIT_PIPELINE_NODES)
		return dag_fail(loader->reader, node->spot.at, 1, ERR_TOO_LARGE, "a file may have at most %d values",
				LIMIT_PIPELINE_NODES);
	if (level == NULL) {
		loader->root = node;
		return ERR_NONE;
	}
	if (level->node->kind == TREE_MAP) {
		node->key = level->key;
		node->key_spot = level->key_spot;
		level->key_read = false;
		if (level->key_twin)
			return ERR_NONE;
		name_map_put(&level->keys, node->key, node);
	}
	if (level->node->last != NULL)
		level->node->last->next = node;
	else
		level->node->first = node;
	level->node->last = node;
	level->node->count++;
	return ERR_NONE;
}

static bool key_expected(const struct loader *loader)
{
	const struct level *level = loader->depth > 0 ? &loader->levels[loader->depth - 1] : NULL;

	return level != NULL && level->node->kind == TREE_MAP && !level->key_read;
}

/* Keep the error, if this reader collects errors: the rest of the file can be read in spite of it. */
static enum err go_on(struct loader *loader, enum err err)
{
	dag_note(loader->reader, err);
	return loader->reader->faults ? ERR_NONE : err;
}

static enum err take_key(struct loader *loader, struct slice text, struct dag_spot spot)
{
	struct level *level = &loader->levels[loader->depth - 1];
	const struct tree_node *twin = name_map_get(&level->keys, text);

	level->key = text;
	level->key_spot = spot;
	level->key_read = true;
	level->key_twin = twin != NULL;
	if (twin != NULL) {
		size_t line = 1;

		for (size_t i = 0; i < twin->key_spot.at; i++)
			line += loader->reader->text.data[i] == '\n';
		return go_on(loader, dag_fail(loader->reader, spot.at, spot.len, ERR_DUPLICATE,
					      "key '%.*s' is given twice; first in line %zu",
					      (int)(text.len < LIMIT_NAME_MAX_LEN ? text.len : LIMIT_NAME_MAX_LEN),
					      (const char *)text.data, line));
	}
	return ERR_NONE;
}

static enum err refuse_extras(struct loader *loader, struct dag_spot spot, const yaml_char_t *anchor,
			      const yaml_char_t *tag)
{
	if (anchor != NULL)
		return go_on(loader, dag_fail(loader->reader, spot.at, 1, ERR_INVALID, "anchors (&name) aren't supported"));
	if (tag != NULL)
		return go_on(loader, dag_fail(loader->reader, spot.at, 1, ERR_INVALID, "tags (!name) aren't supported"));
	return ERR_NONE;
}

static enum err take_scalar(struct loader *loader, const yaml_event_t *event)
{
	struct dag_spot spot = spot_of(loader, event);
	struct slice text = slice_make(event->data.scalar.value, event->data.scalar.length);
	struct tree_node *node;
	enum err err = refuse_extras(loader, spot, event->data.scalar.anchor, event->data.scalar.tag);

	if (err != ERR_NONE)
		return err;
	if (text.len > 0 && memchr(text.data, 0, text.len) != NULL)
		return dag_fail(loader->reader, spot.at, spot.len, ERR_INVALID, "a NUL character isn't allowed");
	text = arena_copy(loader->reader->arena, text);
	if (text.len > 0 && loader->reader->text.data[spot.at] == '@')
		((uint8_t *)(uintptr_t)text.data)[0] = '@';
	if (key_expected(loader))
		return take_key(loader, text, spot);
	node = arena_zalloc(loader->reader->arena, 1, sizeof(*node));
	*node = (struct tree_node){ .kind = TREE_TEXT, .spot = spot, .text = text,
				    .plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE };
	return add_node(loader, node);
}

static enum err open_level(struct loader *loader, const yaml_event_t *event, enum tree_kind kind,
			   const yaml_char_t *anchor, const yaml_char_t *tag)
{
	struct dag_spot spot = spot_of(loader, event);
	struct tree_node *node;
	enum err err = refuse_extras(loader, spot, anchor, tag);

	if (err != ERR_NONE)
		return err;
	if (key_expected(loader))
		return dag_fail(loader->reader, spot.at, 1, ERR_INVALID, "a key must be a word, not a list or a map");
	if (loader->depth == LIMIT_PIPELINE_DEPTH)
		return dag_fail(loader->reader, spot.at, 1, ERR_TOO_LARGE, "values are nested more than %d levels "
			"deep",
				LIMIT_PIPELINE_DEPTH);
	node = arena_zalloc(loader->reader->arena, 1, sizeof(*node));
	*node = (struct tree_node){ .kind = kind, .spot = spot };
	err = add_node(loader, node);
	if (err == ERR_NONE)
		loader->levels[loader->depth++] = (struct level){ .node = node };
	return err;
}

static enum err take_event(struct loader *loader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return take_scalar(loader, event);
	case YAML_SEQUENCE_START_EVENT:
		return open_level(loader, event, TREE_LIST, event->data.sequence_start.anchor,
				  event->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return open_level(loader, event, TREE_MAP, event->data.mapping_start.anchor,
				  event->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		name_map_free(&loader->levels[--loader->depth].keys);
		return ERR_NONE;
	case YAML_ALIAS_EVENT:
		return dag_fail(loader->reader, spot_of(loader, event).at, 1, ERR_INVALID,
				"aliases (*name) aren't supported; put a text that begins with * in quotes");
	case YAML_DOCUMENT_START_EVENT:
		if (loader->document_seen)
			return dag_fail(loader->reader, spot_of(loader, event).at, 3, ERR_INVALID,
					"the file has a second document; only one is allowed");
		loader->document_seen = true;
		return ERR_NONE;
	default:
		return ERR_NONE;
	}
}

static enum err syntax_error(struct loader *loader, const yaml_parser_t *parser)
{
	size_t at = parser->error == YAML_READER_ERROR ? parser->problem_offset
						       : place_of(loader, parser->problem_mark.index);
	const char *problem = parser->problem ? parser->problem : "it can't be read";

	/* For an unclosed quote, list or map, report its beginning. */
	if (parser->context != NULL && strstr(problem, "end of stream") != NULL)
		at = place_of(loader, parser->context_mark.index);
	if (at > loader->reader->text.len)
		at = loader->reader->text.len;
	if (memchr(loader->reader->text.data, '\t', loader->reader->text.len) != NULL &&
	    parser->error == YAML_SCANNER_ERROR && strstr(problem, "cannot start any token") != NULL)
		problem = "a value can't begin with a tab or this character; indent YAML with blanks";
	if (at > 0 && at < loader->reader->text.len && memcmp(loader->reader->text.data + at - 1, "${", 2) == 0)
		return dag_fail(loader->reader, at - 1, 2, ERR_SYNTAX,
				"this isn't valid YAML: inside braces or brackets, put a text with ${..} in quotes");
	return dag_fail(loader->reader, at, 1, ERR_SYNTAX, "this isn't valid YAML: %s%s%s",
			parser->context ? parser->context : "", parser->context ? ": " : "", problem);
}

static bool parser_open(yaml_parser_t *parser, struct slice text)
{
	if (!yaml_parser_initialize(parser))
		return false;
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
	/* libyaml aborts on a NULL address, even for an empty text. */
	yaml_parser_set_input_string(parser, text.len > 0 ? text.data : (const uint8_t *)"", text.len);
	return true;
}

/* Find an @ at which libyaml stops because a value begins with it; false: there is none. */
static bool find_at(struct loader *loader, struct slice text, size_t *ret_at)
{
	yaml_parser_t parser;
	bool over = false;

	if (!parser_open(&parser, text))
		return false;
	while (!over) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event))
			break;
		over = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	over = over || parser.error != YAML_SCANNER_ERROR;
	*ret_at = over ? 0 : place_of(loader, parser.problem_mark.index);
	yaml_parser_delete(&parser);
	return !over && *ret_at < text.len && text.data[*ret_at] == '@';
}

/*
 * Teams are written @NAME, but YAML reserves the @ at the beginning of a value, and libyaml refuses it. So libyaml gets
 * a text that has another letter there, and take_scalar puts the @ back.
 */
static struct slice without_at(struct loader *loader)
{
	struct slice text = loader->reader->text;
	size_t at;

	if (text.len == 0 || memchr(text.data, '@', text.len) == NULL)
		return text;
	for (unsigned i = 0; i < AT_MAX && find_at(loader, text, &at); i++) {
		if (text.data == loader->reader->text.data)
			text = arena_copy(loader->reader->arena, text);
		((uint8_t *)(uintptr_t)text.data)[at] = AT_LETTER;
	}
	return text;
}

enum err tree_read(struct dag_reader *reader, struct tree_node **ret_root)
{
	struct loader loader = { .reader = reader };
	yaml_parser_t parser;
	enum err err = ERR_NONE;
	bool over = false;

	if (!parser_open(&parser, without_at(&loader)))
		return error_set(reader->error, ERR_FULL, "out of memory while reading YAML");
	while (err == ERR_NONE && !over) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			err = syntax_error(&loader, &parser);
			break;
		}
		over = event.type == YAML_STREAM_END_EVENT;
		err = take_event(&loader, &event);
		yaml_event_delete(&event);
	}
	while (loader.depth > 0)
		name_map_free(&loader.levels[--loader.depth].keys);
	yaml_parser_delete(&parser);
	if (err == ERR_NONE)
		*ret_root = loader.root;
	return err;
}

const struct tree_node *tree_find(const struct tree_node *map, const char *key)
{
	for (const struct tree_node *node = map->first; node != NULL; node = node->next)
		if (slice_eq(node->key, slice_str(key)))
			return node;
	return NULL;
}

void tree_add(struct arena *arena, struct tree_node *map, const struct tree_node *node)
{
	struct tree_node *copy = arena_zalloc(arena, 1, sizeof(*copy));

	*copy = *node;
	copy->next = NULL;
	if (map->last != NULL)
		map->last->next = copy;
	else
		map->first = copy;
	map->last = copy;
	map->count++;
}

void tree_lay(struct arena *arena, struct tree_node *map, const struct tree_node *below, const struct tree_node *over)
{
	for (const struct tree_node *node = below->first; node != NULL; node = node->next) {
		const struct tree_node *other = over->first;

		while (other != NULL && !slice_eq(other->key, node->key))
			other = other->next;
		if (other == NULL)
			tree_add(arena, map, node);
	}
	for (const struct tree_node *node = over->first; node != NULL; node = node->next)
		tree_add(arena, map, node);
}

void tree_drop(struct tree_node *map, const char *key)
{
	struct tree_node *last = NULL;

	for (struct tree_node **at = &map->first; *at != NULL;) {
		if (slice_eq((*at)->key, slice_str(key))) {
			*at = (*at)->next;
			map->count--;
			continue;
		}
		last = *at;
		at = &(*at)->next;
	}
	map->last = last;
}
