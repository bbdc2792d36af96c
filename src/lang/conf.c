/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a titan.conf by the table conf.def: each key must be known and allowed in this file, and each value must be one
 * that the corresponding option accepts.
 */
#include "lang/conf.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "lang/pipeline_tree.h"
#include "proto/label.h"
#include "proto/limits.h"
#include "proto/resource.h"

#define WORD_SHOWN 60

const struct conf_info conf_table[CONF_COUNT] = {
#define CONF(ident, word, SHAPE, argument, least, most, places, variable, options, text) \
	[CONF_##ident] = { word, CONF_IS_##SHAPE, argument, least, most, places, variable, options, text },
#include "lang/conf.def"
#undef CONF
};

static const struct {
	enum conf_place place;
	const char *whose;
} owners[] = {
	{ FROM_CLUSTER, "a cluster's" }, { FROM_PROJECT, "a project's" }, { FROM_USER, "a user's" },
	{ FROM_SYSTEM, "the system's" },
};

#define OWNERS (sizeof(owners) / sizeof(owners[0]))

void conf_places(unsigned places, struct buf *out)
{
	size_t left = 0;

	for (size_t i = 0; i < OWNERS; i++)
		left += (places & owners[i].place) != 0;
	for (size_t i = 0; i < OWNERS; i++) {
		if (!(places & owners[i].place))
			continue;
		buf_add_str(out, owners[i].whose);
		left--;
		buf_add_str(out, left > 1 ? ", " : left == 1 ? " and " : "");
	}
}

const struct conf *conf_setting(const struct conf_files *files, enum conf_key key)
{
	for (size_t i = 0; files != NULL && i < files->count; i++)
		if (files->files[i].conf.values[key] != NULL)
			return &files->files[i].conf;
	return NULL;
}

const char *conf_value(const struct conf_files *files, enum conf_key key)
{
	const struct conf *conf = conf_setting(files, key);

	return conf != NULL ? conf->values[key] : NULL;
}

static int shown(struct slice text)
{
	return (int)text_clip(text, WORD_SHOWN, &(size_t){ 0 });
}

static enum err fail_at(struct dag_reader *reader, const struct tree_node *node, const struct conf_info *info,
			const char *expected)
{
	if (node->kind != TREE_TEXT)
		return dag_fail(reader, node->spot.at, node->spot.len, ERR_INVALID, "key %s must be %s, not a %s", info->word, expected,
				node->kind == TREE_LIST ? "list" : "map");
	if (node->text.len == 0)
		return dag_fail(reader, node->spot.at, node->spot.len, ERR_INVALID, "key %s has no value; it must be "
			"%s",
				info->word, expected);
	return dag_fail(reader, node->spot.at, node->spot.len, ERR_INVALID, "key %s must be %s, not '%.*s'", info->word, expected,
			shown(node->text), (const char *)node->text.data);
}

/* ---- values ---- */

static bool is_span(struct slice text, bool zero_too)
{
	char copy[64];
	int64_t ms;

	if (text.len == 0 || text.len >= sizeof(copy))
		return false;
	memcpy(copy, text.data, text.len);
	copy[text.len] = '\0';
	if (strcmp(copy, "0") == 0)
		return zero_too;
	return clock_parse_span(copy, &ms) == 0 && (zero_too || ms > 0);
}

static bool is_size(struct slice text)
{
	uint64_t bytes;

	return slice_eq(text, slice_str("0")) || resource_parse_size(text, &bytes);
}

static bool is_choice(struct slice text, const char *words)
{
	for (const char *at = words;; at++) {
		size_t len = strcspn(at, "|");

		if (slice_eq(text, slice_make(at, len)))
			return true;
		at += len;
		if (*at == '\0')
			return false;
	}
}

static bool is_number(struct slice text, uint64_t least, uint64_t most)
{
	uint64_t value;

	return text_parse_u64(text, &value) && value >= least && value <= most;
}

/* Check the characters of an address; only the master knows whether it is usable. */
static bool is_address(struct slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!isalnum(text.data[i]) && !strchr(".-_:[]%", text.data[i]))
			return false;
	return text.len > 0 && text.len < 300 && text.data[0] != '-';
}

static enum err check_text(struct dag_reader *reader, const struct conf_info *info, const struct tree_node *node)
{
	/* A list or a map has no text of its own; the empty text fails every check. */
	struct slice text = node->text.len > 0 ? node->text : slice_str("");
	char expected[160];
	struct error why;
	bool fits;

	switch (info->shape) {
	case CONF_IS_NUMBER:
		fits = is_number(text, info->least, info->most);
		snprintf(expected, sizeof(expected), "a number from %" PRIu64 " to %" PRIu64, info->least, info->most);
		break;
	case CONF_IS_SPAN:
	case CONF_IS_INTERVAL:
		fits = is_span(text, info->shape == CONF_IS_SPAN);
		snprintf(expected, sizeof(expected), "a time span%s such as 500ms, 30s, 5m, 2h or 1d",
			 info->shape == CONF_IS_SPAN ? "" : " above 0");
		break;
	case CONF_IS_SIZE:
		fits = is_size(text);
		snprintf(expected, sizeof(expected), "a number of bytes such as 500M or 20G");
		break;
	case CONF_IS_CHOICE:
		fits = is_choice(text, info->argument);
		snprintf(expected, sizeof(expected), "one of %s", info->argument);
		break;
	case CONF_IS_ADDRESSES:
		fits = is_address(text);
		snprintf(expected, sizeof(expected), "one address or a list of addresses such as 10.0.0.1:%d", LIMIT_TCP_PORT);
		break;
	case CONF_IS_LABELS:
		fits = labels_check((struct slice_list){ &text, 1 }, &why) == ERR_NONE;
		snprintf(expected, sizeof(expected), "one label or a list of labels, KEY or KEY=VALUE");
		break;
	default:
		fits = text_is_name(text);
		snprintf(expected, sizeof(expected), "a name of letters, digits and _ . -");
	}
	return fits ? ERR_NONE : fail_at(reader, node, info, expected);
}

/* Read one text, or a list of texts. An empty list means "none" and overrides files of lower precedence. */
static enum err read_value(struct dag_reader *reader, const struct conf_info *info, const struct tree_node *node,
			   const char **ret)
{
	struct buf joined = { 0 };
	enum err err = ERR_NONE;

	if ((info->shape != CONF_IS_LABELS && info->shape != CONF_IS_ADDRESSES) || node->kind != TREE_LIST) {
		err = check_text(reader, info, node);
		if (err == ERR_NONE)
			*ret = arena_strdup(reader->arena, node->text);
		return err;
	}
	for (const struct tree_node *item = node->first; item != NULL && err == ERR_NONE; item = item->next) {
		err = check_text(reader, info, item);
		buf_add_str(&joined, joined.len > 0 ? "," : "");
		if (err == ERR_NONE)
			buf_add_slice(&joined, item->text);
	}
	if (err == ERR_NONE)
		*ret = arena_strdup(reader->arena, buf_slice(&joined));
	buf_free(&joined);
	return err;
}

/* ---- keys ---- */

static enum err unknown_key(struct dag_reader *reader, enum conf_place place, const struct tree_node *node)
{
	const char *words[CONF_COUNT], *nearest;
	char copy[WORD_SHOWN + 1];
	struct buf known = { 0 };
	size_t count = 0;
	enum err err;

	for (size_t i = 0; i < CONF_COUNT; i++) {
		if (!(conf_table[i].places & place) || conf_table[i].shape == CONF_IS_LATER)
			continue;
		buf_addf(&known, "%s%s", count > 0 ? ", " : "", conf_table[i].word);
		words[count++] = conf_table[i].word;
	}
	snprintf(copy, sizeof(copy), "%.*s", shown(node->key), (const char *)node->key.data);
	nearest = text_nearest(copy, words, count);
	err = dag_fail(reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
		       nearest ? "unknown key '%s'" : "unknown key '%s'; known here: %s", copy, buf_cstr(&known));
	if (nearest != NULL)
		error_next(reader->error, "did you mean '%s'?", nearest);
	buf_free(&known);
	return err;
}

static enum err wrong_place(struct dag_reader *reader, enum conf_place place, const struct tree_node *node,
			    const struct conf_info *info)
{
	struct buf here = { 0 }, right = { 0 };
	enum err err;

	conf_places(place, &here);
	conf_places(info->places, &right);
	err = dag_fail(reader, node->key_spot.at, node->key_spot.len, ERR_DENIED, "key '%s' isn't allowed in %s "
		"titan.conf", info->word,
		       buf_cstr(&here));
	error_next(reader->error, "it is allowed in %s", buf_cstr(&right));
	buf_free(&right);
	buf_free(&here);
	return err;
}

static enum err read_key(struct dag_reader *reader, enum conf_place place, const struct tree_node *node, struct conf *conf)
{
	size_t key = 0;

	while (key < CONF_COUNT && !slice_eq(node->key, slice_str(conf_table[key].word)))
		key++;
	if (key == CONF_COUNT)
		return unknown_key(reader, place, node);
	if (!(conf_table[key].places & place))
		return wrong_place(reader, place, node, &conf_table[key]);
	if (conf_table[key].shape == CONF_IS_LATER)
		return dag_fail(reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
				"key '%s' is reserved for a later version; remove it", conf_table[key].word);
	if (conf_table[key].shape == CONF_IS_SHARE)
		return conf_read_share(reader, node, conf, &conf->values[key]);
	if (conf_table[key].shape == CONF_IS_TEAMS)
		return conf_read_teams(reader, node, conf, &conf->values[key]);
	return read_value(reader, &conf_table[key], node, &conf->values[key]);
}

static enum err read_file(struct dag_reader *reader, enum conf_place place, struct conf *conf)
{
	struct tree_node *root = NULL;
	enum err err;

	if (reader->text.len > CONF_MAX)
		return dag_fail(reader, 0, 1, ERR_TOO_LARGE, "titan.conf is too large: at most %d bytes", CONF_MAX);
	err = tree_read(reader, &root);
	if (err != ERR_NONE || root == NULL || (root->kind == TREE_TEXT && root->text.len == 0))
		return err;
	if (root->kind != TREE_MAP)
		return dag_fail(reader, root->spot.at, root->spot.len, ERR_INVALID,
				"titan.conf must have one setting on each line, such as color: never");
	for (const struct tree_node *node = root->first; node != NULL && err == ERR_NONE; node = node->next)
		err = read_key(reader, place, node, conf);
	return err;
}

enum err conf_parse(struct slice text, enum conf_place place, struct arena *arena, struct conf *ret,
		    struct dag_spot *ret_spot, struct error *error)
{
	struct dag_reader reader = { .text = text, .arena = arena, .error = error };
	struct conf conf = { 0 };
	enum err err = read_file(&reader, place, &conf);

	if (err == ERR_NONE)
		*ret = conf;
	else
		*ret_spot = reader.spot;
	return err;
}
