/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of titan.conf that name people. */
#include "base/text.h"
#include "lang/conf.h"
#include "lang/pipeline_tree.h"
#include "proto/limits.h"
#include "proto/rights.h"

#define WORD_SHOWN 60
#define USERS_MAX  255                   /* most users with whom a cluster is shared */
#define SOCKET_MAX 107                   /* longest path of a socket */

static int shown(struct slice text)
{
	return (int)text_clip(text, WORD_SHOWN, &(size_t){ 0 });
}

/* ---- teams ---- */

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

/* ---- share ---- */

static enum err read_role(struct dag_reader *reader, const struct tree_node *item, struct conf_user *user)
{
	role_set role = item->kind == TREE_TEXT ? role_named(item->text) & ROLES_PERSON : 0;

	if (role == 0)
		return dag_fail(reader, item->spot.at, item->spot.len, ERR_INVALID,
				"a user has roles: admin, operator, submitter, approver or viewer");
	user->roles |= role;
	return ERR_NONE;
}

static enum err read_user(struct dag_reader *reader, const struct tree_node *node, struct conf_user *user)
{
	const struct tree_node *item = node->kind == TREE_LIST ? node->first : node;
	enum err err = ERR_NONE;

	if (!text_is_name(node->key))
		return dag_fail(reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
				"a user must be a name of letters, digits and _ . -, or a number");
	*user = (struct conf_user){ node->key, 0 };
	for (; item != NULL && err == ERR_NONE; item = node->kind == TREE_LIST ? item->next : NULL)
		err = read_role(reader, item, user);
	if (err == ERR_NONE && user->roles == 0)
		return dag_fail(reader, node->spot.at, node->spot.len, ERR_INVALID,
				"%.*s has no role; give one of admin, operator, submitter, approver and viewer, or remove the user", shown(node->key),
				(const char *)node->key.data);
	return err;
}

static enum err read_users(struct dag_reader *reader, const struct tree_node *node, struct conf_share *share)
{
	enum err err = ERR_NONE;

	if (node->kind != TREE_MAP)
		return dag_fail(reader, node->spot.at, node->spot.len, ERR_INVALID,
				"users must be a map from users to roles, such as users: {anna: [submitter, viewer]}");
	if (node->count > USERS_MAX)
		return dag_fail(reader, node->spot.at, 1, ERR_TOO_LARGE, "at most %d users are allowed", USERS_MAX);
	share->users = arena_zalloc(reader->arena, node->count + 1, sizeof(*share->users));
	for (const struct tree_node *item = node->first; item != NULL && err == ERR_NONE; item = item->next)
		err = read_user(reader, item, &share->users[share->user_count++]);
	return err;
}

static bool is_socket_path(const struct tree_node *node)
{
	struct slice text = node->text;

	if (node->kind != TREE_TEXT || text.len < 4 || text.len > SOCKET_MAX || text.data[0] != '/' || text.data[text.len - 1] == '/')
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] <= ' ' || text.data[i] >= 0x7f)
			return false;
	return true;
}

static enum err read_share_key(struct dag_reader *reader, const struct tree_node *node, struct conf_share *share)
{
	if (slice_eq(node->key, slice_str("users")))
		return read_users(reader, node, share);
	if (slice_eq(node->key, slice_str("socket"))) {
		share->socket = node->text;
		return is_socket_path(node) ? ERR_NONE : dag_fail(reader, node->spot.at, node->spot.len, ERR_INVALID,
			"socket must be a path from the root, such as /run/titan/prod.sock, with at most %d letters and no blanks", SOCKET_MAX);
	}
	if (slice_eq(node->key, slice_str("group"))) {
		share->group = node->text;
		return node->kind == TREE_TEXT && text_is_name(node->text) ? ERR_NONE :
			dag_fail(reader, node->spot.at, node->spot.len, ERR_INVALID, "group must be the name or number of a group of this machine");
	}
	return dag_fail(reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
			"unknown key '%.*s'; share has socket, group and users", shown(node->key), (const char *)node->key.data);
}

enum err conf_read_share(struct dag_reader *reader, const struct tree_node *node, struct conf *conf, const char **ret_shown)
{
	struct conf_share *share = &conf->share;
	struct buf text = { 0 };
	enum err err = ERR_NONE;

	if (node->kind == TREE_MAP)
		for (const struct tree_node *item = node->first; item != NULL && err == ERR_NONE; item = item->next)
			err = read_share_key(reader, item, share);
	if (err == ERR_NONE && (node->kind != TREE_MAP || (node->count > 0 && (share->socket.len == 0 || share->group.len == 0 || !share->users))))
		return dag_fail(reader, node->spot.at, node->spot.len, ERR_INVALID,
				"key share must have socket, group and users, such as "
				"share: {socket: /run/titan/prod.sock, group: ops, users: {anna: [approver, viewer]}}");
	if (err != ERR_NONE)
		return err;
	buf_add_slice(&text, share->socket);
	if (node->count > 0)
		buf_addf(&text, ", group %.*s", (int)share->group.len, (const char *)share->group.data);
	for (size_t i = 0; i < share->user_count; i++) {
		buf_addf(&text, "; %.*s: ", (int)share->users[i].name.len, (const char *)share->users[i].name.data);
		role_words(share->users[i].roles, &text);
	}
	*ret_shown = arena_strdup(reader->arena, buf_slice(&text));
	buf_free(&text);
	return ERR_NONE;
}
