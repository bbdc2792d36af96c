/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the key include: the maps params, env, defaults and templates of other files lie under those of the pipeline. Their texts
 * follow the pipeline's own text, so that a place tells the file, too.
 */
#include "lang/pipeline_internal.h"

#include <stdio.h>
#include <string.h>

#include "proto/limits.h"

#define INCLUDES_MAX 64

static const char *const shared_keys[] = { "params", "env", "defaults", "templates" };

/* By the end of the file everything was included. */
enum err pipe_read_include(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)pipe;
	(void)job;
	(void)value;
	return ERR_NONE;
}

static void shift(struct tree_node *node, size_t by)
{
	node->spot.at += by;
	node->key_spot.at += by;
	for (struct tree_node *child = node->first; child != NULL; child = child->next)
		shift(child, by);
}

/* Put the text behind the pipeline's; *ret_begin is where it begins. */
static void append(struct pipe *pipe, struct slice path, struct slice text, size_t *ret_begin)
{
	struct pipeline_texts *texts = &pipe->texts;
	struct buf all = { 0 };

	buf_add_slice(&all, texts->all);
	buf_add_byte(&all, '\n');
	*ret_begin = all.len;
	texts->parts[texts->count++] = (struct pipeline_part){ .path = path, .begin = all.len, .len = text.len };
	buf_add_slice(&all, text);
	texts->all = pipe->reader.text = arena_copy(pipe->reader.arena, buf_slice(&all));
	buf_free(&all);
}

static enum err check_keys(struct pipe *pipe, const struct tree_node *root)
{
	enum err err = pipe_expect(pipe, root, TREE_MAP, "an included file");

	for (const struct tree_node *node = root->first; err == ERR_NONE && node != NULL; node = node->next) {
		bool known = node->key.len > 2 && memcmp(node->key.data, "x-", 2) == 0;

		for (size_t i = 0; i < sizeof(shared_keys) / sizeof(shared_keys[0]); i++)
			known = known || slice_eq(node->key, slice_str(shared_keys[i]));
		if (!known)
			err = dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
				       "an included file may only have params, env, defaults and templates");
	}
	return err;
}

/* Read the text as a tree whose places are those of the whole text. */
static enum err read_tree(struct pipe *pipe, struct slice text, size_t begin, struct tree_node **ret_root)
{
	struct dag_faults faults = { 0 };
	struct error latest = { 0 };
	struct dag_reader reader = { .text = text, .arena = pipe->reader.arena, .error = &latest, .faults = &faults };
	enum err err = tree_read(&reader, ret_root);

	dag_note(&reader, err);
	for (size_t i = 0; i < faults.count; i++) {
		faults.at[i].spot.at += begin;
		faults_add(pipe->reader.faults, faults.at[i].spot, &faults.at[i].error);
		err = faults.at[i].error.code;
		pipe->reader.noted = true;
	}
	if (*ret_root != NULL)
		shift(*ret_root, begin);
	return err;
}

/* Lay the map with this key under the one of the pipeline. */
static enum err lay_under(struct pipe *pipe, struct tree_node *root, const struct tree_node *below)
{
	char key[16];
	const struct tree_node *own;
	struct tree_node both = *below;
	enum err err;

	snprintf(key, sizeof(key), "%.*s", (int)below->key.len, (const char *)below->key.data);
	own = tree_find(root, key);
	if (own == NULL) {
		tree_add(pipe->reader.arena, root, below);
		return ERR_NONE;
	}
	if ((err = pipe_expect(pipe, below, TREE_MAP, key)) != ERR_NONE || (err = pipe_expect(pipe, own, TREE_MAP, key)) != ERR_NONE)
		return err;
	both = *own;
	both.first = both.last = NULL;
	both.count = 0;
	tree_lay(pipe->reader.arena, &both, below, own);
	tree_drop(root, key);
	tree_add(pipe->reader.arena, root, &both);
	return ERR_NONE;
}

static enum err include_one(struct pipe *pipe, struct tree_node *root, const struct tree_node *item)
{
	struct tree_node *included = NULL;
	struct error why = { 0 };
	struct slice text;
	size_t begin;
	enum err err = pipe_expect(pipe, item, TREE_TEXT, "include");

	if (err != ERR_NONE)
		return err;
	if (item->text.len == 0 || memchr(item->text.data, '$', item->text.len) != NULL)
		return pipe_fail(pipe, item, ERR_INVALID, "include needs the name of a file, without values of parameters");
	if (pipe->include_cb == NULL)
		return pipe_fail(pipe, item, ERR_INVALID, "nothing can be included here");
	if (pipe->include_cb(pipe->include_arg, item->text, &text, &why) != ERR_NONE) {
		pipe_fail(pipe, item, why.code, "%s", why.text);
		return error_next(pipe->reader.error, "%s", why.next);
	}
	if (text.len + pipe->texts.all.len > LIMIT_PIPELINE_MAX)
		return pipe_fail(pipe, item, ERR_TOO_LARGE, "a pipeline and what it includes may have at most %d bytes", LIMIT_PIPELINE_MAX);
	append(pipe, item->text, text, &begin);
	err = read_tree(pipe, text, begin, &included);
	if (err != ERR_NONE || included == NULL)
		return err;
	err = check_keys(pipe, included);
	for (const struct tree_node *node = included->first; err == ERR_NONE && node != NULL; node = node->next)
		err = lay_under(pipe, root, node);
	return err;
}

enum err pipe_include(struct pipe *pipe, struct tree_node *root)
{
	const struct tree_node *include = root && root->kind == TREE_MAP ? tree_find(root, "include") : NULL;
	const struct tree_node *items[INCLUDES_MAX];
	size_t count = 0;
	enum err err = ERR_NONE;

	if (include == NULL)
		return ERR_NONE;
	if (include->kind == TREE_LIST && include->count > INCLUDES_MAX)
		return pipe_fail(pipe, include, ERR_TOO_LARGE, "a pipeline may include at most %d files", INCLUDES_MAX);
	if (include->kind == TREE_LIST)
		for (const struct tree_node *node = include->first; node != NULL; node = node->next)
			items[count++] = node;
	else
		items[count++] = include;
	pipe->texts.parts = arena_zalloc(pipe->reader.arena, count + 1, sizeof(*pipe->texts.parts));
	/* What a later file says counts more: it is laid under the pipeline first. */
	while (count-- > 0)
		pipe_note(pipe, include_one(pipe, root, items[count]), &err);
	return err;
}

void pipeline_place(const struct pipeline_texts *texts, size_t at, struct slice *ret_path, struct slice *ret_text, size_t *ret_begin)
{
	*ret_path = slice_make(NULL, 0);
	*ret_text = texts->count > 0 ? slice_make(texts->all.data, texts->own_len) : texts->all;
	*ret_begin = 0;
	for (size_t i = 0; i < texts->count; i++) {
		const struct pipeline_part *part = &texts->parts[i];

		if (at < part->begin || at > part->begin + part->len)
			continue;
		*ret_path = part->path;
		*ret_text = slice_make(texts->all.data + part->begin, part->len);
		*ret_begin = part->begin;
	}
}
