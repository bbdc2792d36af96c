/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Completes keys of values. Before the colon, namespaces are offered; after it, the keys of the namespace. Any job may set any
 * key, and shells insert what is offered as it is, so only keys without characters of a shell are offered.
 */
#include "cli/ask/complete_internal.h"

#include <stdio.h>

#include "base/text.h"
#include "net/client.h"
#include "proto/limits.h"
#include "proto/states.h"

/* Offer run/NUMBER: for live runs. */
static enum err add_runs(struct naming *naming)
{
	struct msg_snapshot answer = { 0 };
	enum err err = naming_ask(naming, (struct msg_query){ .what = QUERY_NAMES, .job = slice_str(naming->completion->begun + 4), .limit = NAMES_MAX }, &answer);

	for (size_t i = 0; err == ERR_NONE && i < answer.runs.n; i++) {
		char number[24], help[128];

		snprintf(number, sizeof(number), "%llu:", (unsigned long long)answer.runs.at[i].run);
		snprintf(help, sizeof(help), "%.*s", (int)answer.runs.at[i].name.len, (const char *)answer.runs.at[i].name.data);
		naming_offer(naming, "run/", slice_str(number), help);
	}
	return err;
}

/* Offer def/NAME: for the names of the newest runs, each once. */
static enum err add_definitions(struct naming *naming)
{
	struct msg_snapshot answer = { 0 };
	enum err err = naming_ask(naming, (struct msg_query){ .what = QUERY_RUNS, .limit = NAMES_MAX }, &answer);

	for (size_t i = 0; err == ERR_NONE && i < answer.runs.n; i++) {
		struct slice name = answer.runs.at[i].name;
		char word[LIMIT_NAME_MAX_LEN + 2];
		bool before = !text_is_name(name);

		for (size_t at = 0; at < i && !before; at++)
			before = slice_eq(name, answer.runs.at[at].name);
		snprintf(word, sizeof(word), "%.*s:", (int)name.len, (const char *)name.data);
		if (!before)
			naming_offer(naming, "def/", slice_str(word), "");
	}
	return err;
}

static enum err add_namespaces(struct naming *naming)
{
	const char *begun = naming->completion->begun;

	if (strncmp(begun, "run/", 4) == 0)
		return add_runs(naming);
	if (strncmp(begun, "def/", 4) == 0)
		return add_definitions(naming);
	naming_offer(naming, "", slice_str("cluster:"), "values of the cluster");
	naming_offer(naming, "", slice_str("def/"), "values of all runs with a name");
	naming_offer(naming, "", slice_str("run/"), "values of a run");
	return ERR_NONE;
}

/* Read what stands before the colon. */
static enum err read_space(struct naming *naming, struct slice space, struct msg_values *msg)
{
	bool slash = space.len > 4 && space.data[3] == '/';
	struct slice word = slice_make(space.data, slash ? 3 : space.len), name = slash ? slice_make(space.data + 4, space.len - 4) : slice_make(NULL, 0);

	msg->space = slice_eq(word, slice_str("cluster")) ? SPACE_CLUSTER : slice_eq(word, slice_str("def")) ? SPACE_DEFINITION :
		     slice_eq(word, slice_str("run")) ? SPACE_RUN : 0;
	if (msg->space == 0)
		return ERR_NOT_FOUND;
	if (msg->space == SPACE_DEFINITION)
		msg->definition = name;
	return msg->space == SPACE_RUN && name.len > 0 ? naming_find_run(naming, name, &msg->run) : ERR_NONE;
}

static bool is_plain(struct slice key)
{
	for (size_t i = 0; i < key.len; i++)
		if (!((key.data[i] | 32) >= 'a' && (key.data[i] | 32) <= 'z') && !(key.data[i] >= '0' && key.data[i] <= '9') &&
		    (key.data[i] == '\0' || !strchr("_-./:@%+,", key.data[i])))
			return false;
	return true;
}

enum err naming_add_keys(struct naming *naming)
{
	const char *begun = naming->completion->begun, *colon = strchr(begun, ':');
	struct rec_value_op list = { .verb = VALUES_LIST, .limit = NAMES_MAX };
	struct msg_values msg = { .ops = { &list, 1 } };
	struct msg_valued valued = { 0 };
	char front[LIMIT_NAME_MAX_LEN + 16];
	enum err err;

	if (!colon)
		return add_namespaces(naming);
	if ((size_t)(colon - begun) >= sizeof(front) - 1)
		return ERR_NONE;
	snprintf(front, sizeof(front), "%.*s", (int)(colon + 1 - begun), begun);
	list.key = slice_str(colon + 1);
	err = read_space(naming, slice_make(begun, (size_t)(colon - begun)), &msg);
	msg.id = client_next_id(naming->source->client);
	if (err == ERR_NONE)
		err = naming_call(naming, OP_VALUES, &msg, msg.id, OP_VALUED, &valued);
	for (size_t i = 0; err == ERR_NONE && i < valued.rows.n; i++)
		if (is_plain(valued.rows.at[i].key))
			naming_offer(naming, front, valued.rows.at[i].key, "");
	return err;
}
