/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of titan.conf that name people. */
#include "base/text.h"
#include "lang/conf.h"
#include "lang/pipeline_tree.h"
#include "proto/limits.h"

#define WORD_SHOWN 60

static int shown(struct slice text)
{
	return (int)text_clip(text, WORD_SHOWN, &(size_t){ 0 });
}

static enum err read_member(struct dag_reader *reader, const struct tree_node *item, struct slice_list *members)
{
	if (item->kind == TREE_TEXT && text_is_team(item->text))
		return dag_fail(reader, item->spot.at, item->spot.len, ERR_INVALID,
				"a team has people as members, not teams; name the members of %.*s here", shown(item->text),
				(const char *)item->text.data);
	if (item->kind != TREE_TEXT || !text_is_name(item->text))
		return dag_fail(reader, item->spot.at, item->spot.len, ERR_INVALID,
				"a member of a team must be a name of letters, digits and _ . -");
	for (size_t i = 0; i < members->n; i++)
		if (slice_eq(members->at[i], item->text))
			return dag_fail(reader, item->spot.at, item->spot.len, ERR_DUPLICATE, "'%.*s' is named twice", shown(item->text),
					(const char *)item->text.data);
	members->at[members->n++] = item->text;
	return ERR_NONE;
}

static enum err read_team(struct dag_reader *reader, const struct tree_node *node, struct conf_team *ret)
{
	const struct tree_node *item = node->kind == TREE_LIST ? node->first : node;
	enum err err = ERR_NONE;

	if (!text_is_name(node->key))
		return dag_fail(reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
				"the name of a team may have letters, digits and _ . - and has no @ here");
	if (node->kind == TREE_LIST && node->count > LIMIT_TEAMS_MAX)
		return dag_fail(reader, node->spot.at, 1, ERR_TOO_LARGE, "a team may have at most %d people", LIMIT_TEAMS_MAX);
	*ret = (struct conf_team){ node->key, { arena_alloc(reader->arena, (node->count + 1) * sizeof(struct slice)), 0 } };
	for (; item != NULL && err == ERR_NONE; item = node->kind == TREE_LIST ? item->next : NULL)
		err = read_member(reader, item, &ret->members);
	return err;
}

enum err conf_read_teams(struct dag_reader *reader, const struct tree_node *node, struct conf *conf, const char **ret_shown)
{
	struct buf text = { 0 };
	enum err err = ERR_NONE;

	if (node->kind != TREE_MAP)
		return dag_fail(reader, node->spot.at, node->spot.len, ERR_INVALID,
				"key teams must be a map of teams, such as teams: {release: [anna, bert]}");
	if (node->count > LIMIT_TEAMS_MAX)
		return dag_fail(reader, node->spot.at, 1, ERR_TOO_LARGE, "at most %d teams are allowed", LIMIT_TEAMS_MAX);
	conf->teams = arena_alloc(reader->arena, (node->count + 1) * sizeof(*conf->teams));
	for (const struct tree_node *item = node->first; item != NULL && err == ERR_NONE; item = item->next) {
		struct conf_team *team = &conf->teams[conf->team_count];

		err = read_team(reader, item, team);
		if (err != ERR_NONE)
			break;
		buf_add_str(&text, conf->team_count++ > 0 ? "; " : "");
		buf_add_slice(&text, team->name);
		for (size_t i = 0; i < team->members.n; i++) {
			buf_add_str(&text, i > 0 ? ", " : ": ");
			buf_add_slice(&text, team->members.at[i]);
		}
		buf_add_str(&text, team->members.n == 0 ? ": nobody" : "");
	}
	if (err == ERR_NONE)
		*ret_shown = arena_strdup(reader->arena, buf_slice(&text));
	buf_free(&text);
	return err;
}
