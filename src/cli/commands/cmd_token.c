/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan token: keys for people, programs and workers of other machines. The secret is made by this command, and printed
 * once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/object.h"
#include "cli/commands/share.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "net/keyfile.h"
#include "proto/limits.h"
#include "proto/rights.h"

static const struct column token_columns[] = {
	{ "token", "TOKEN", false },
	{ "name", "NAME", false },
	{ "roles", "ROLES", false },
	{ "made", "MADE", false },
	{ "expires", "EXPIRES", false },
	{ "used", "LAST USED", false },
	{ "made_by", "BY", false },
	{ "uses", "USES", true },
	{ "pool", "POOL", false },
};
const struct table token_table = TABLE_OF(token_columns);

static const struct column token_made_columns[] = {
	{ "token", "token", false },
	{ "key", "key", false },
};
const struct table token_made_table = TABLE_OF(token_made_columns);

static void time_cell(struct records *records, int64_t wall_ms)
{
	if (wall_ms > 0)
		records_time(records, wall_ms);
	else
		records_none(records);
}

static size_t add_tokens(struct records *records, const struct msg_snapshot *page)
{
	for (size_t i = 0; i < page->tokens.n; i++) {
		const struct rec_token_row *row = &page->tokens.at[i];
		struct slice *roles = arena_alloc(records->arena, (ROLE_JOINER + 1) * sizeof(*roles));
		struct slice_list list = { .at = roles };
		struct buf shown = { 0 };

		for (unsigned role = ROLE_VIEWER; role <= ROLE_JOINER; role++)
			if (row->roles & ROLE_BIT_OF(role))
				roles[list.n++] = slice_str(role_name((enum role)role));
		role_words((role_set)row->roles, &shown);
		records_text(records, row->id);
		records_text(records, row->name);
		records_texts_as(records, list, arena_copy(records->arena, buf_slice(&shown)));
		time_cell(records, row->made_ms);
		time_cell(records, row->expires_ms);
		time_cell(records, row->used_ms);
		records_text(records, row->made_by);
		if (row->roles == ROLES_JOINER)
			records_number(records, row->uses);
		else
			records_none(records);
		records_text(records, row->pool);
		buf_free(&shown);
	}
	return page->tokens.n;
}

/* Parse words such as "approver,viewer". */
static enum err read_roles(const char *text, role_set *ret, struct error *error)
{
	*ret = 0;
	while (text[0]) {
		size_t len = strcspn(text, ",");
		role_set role = role_named(slice_make(text, len));

		if (role == 0) {
			error_set(error, ERR_USAGE, "--role: '%.*s' isn't a role; the roles are: viewer, submitter, approver, operator, admin, worker",
				  (int)len, text);
			return error_next(error, "titan token --help");
		}
		*ret |= role;
		text += len + (text[len] == ',');
	}
	return *ret ? ERR_NONE : error_set(error, ERR_USAGE, "--role: name at least one role");
}

/* Print the key, or write it to the file given by --key-file. */
static int give_key(struct cli *cli, const struct key *key)
{
	const char *file = option_value(cli->invocation, OPT_token_output);
	struct buf text = { 0 };

	if (file) {
		if (keyfile_write(file, key, &cli->error) != ERR_NONE)
			return cli_fail(cli);
		if (cli_chatty(cli)) {
			text_escape(&text, slice_str(file), TEXT_KEEP_NONE);
			cli_note(cli, "token %s is stored in %s", key_id(key), buf_cstr(&text));
		}
	} else if (cli->out.style == STYLE_JSON) {
		buf_addf(&text, "{\"token\":\"%s\",\"key\":\"", key_id(key));
		key_write(key, &text);
		buf_cut(&text, text.len - 1);
		buf_add_str(&text, "\"}\n");
		cli_print(cli, &text);
	} else {
		key_write(key, &text);
		cli_print(cli, &text);
		if (cli_chatty(cli))
			cli_note(cli, "titan doesn't show this token again: keep it in a file with mode 600, for titan -H ADDRESS --key FILE");
	}
	if (text.data)
		explicit_bzero(text.data, text.len);
	buf_free(&text);
	return 0;
}

static int make(struct cli *cli, struct key *key, struct msg_set *set)
{
	const char *file = option_value(cli->invocation, OPT_token_output);
	int64_t expires_ms = 0;
	struct msg_ok ok;

	if (option_span(cli->invocation, OPT_token_expires, &expires_ms, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	if (option_given(cli->invocation, OPT_token_expires) && expires_ms == 0) {
		error_set(&cli->error, ERR_USAGE, "--expires must be more than 0");
		return cli_fail(cli);
	}
	/* Check the file before the token is made, so that a mistyped path doesn't leave a token whose key is lost. */
	if (file && access(file, F_OK) == 0) {
		error_set(&cli->error, ERR_USAGE, "--output: %s exists already, and titan never replaces a file by a token", file);
		return cli_fail(cli);
	}
	set->kind = OBJECT_TOKEN;
	set->verb = SET_PUT;
	set->name = slice_str(key_id(key));
	set->span_ms = (uint64_t)expires_ms;
	set->secret = slice_make(key->secret, sizeof(key->secret));
	if (cli_connect(cli) != ERR_NONE || cli_call(cli, OP_SET, set, OP_OK, &cli->arena, &ok) != ERR_NONE)
		return cli_fail(cli);
	return give_key(cli, key);
}

/* Read --join and the options that go with it. */
static enum err read_join(struct cli *cli, role_set *roles, struct msg_set *set)
{
	const struct invocation *invocation = cli->invocation;
	const char *pool = option_value(invocation, OPT_token_pool);
	bool join = option_given(invocation, OPT_token_join);

	if (!join && (pool || option_given(invocation, OPT_token_uses) || *roles & ROLES_JOINER))
		return error_set(&cli->error, ERR_USAGE, "--uses, --pool and the role joiner need --join");
	if (!join)
		return ERR_NONE;
	if (option_given(invocation, OPT_token_role) || option_given(invocation, OPT_token_worker))
		return error_set(&cli->error, ERR_USAGE, "--join makes a token of its own kind: leave out --role and --worker");
	if (pool && !text_is_name(slice_str(pool)))
		return error_set(&cli->error, ERR_USAGE, "--pool: '%s' isn't a valid name for a pool; use only letters, digits and _ . -", pool);
	*roles = ROLES_JOINER;
	set->uses = 1;
	set->pool = slice_str(pool);
	return option_number(invocation, OPT_token_uses, 1, LIMIT_JOINS_MAX, &set->uses, &cli->error);
}

static int add(struct cli *cli, const char *name)
{
	const char *said = option_value(cli->invocation, OPT_token_role);
	bool worker = option_given(cli->invocation, OPT_token_worker);
	role_set roles = worker ? ROLES_WORKER : ROLE_BIT(SUBMITTER) | ROLE_BIT(VIEWER);
	struct key key;
	struct msg_set set = { 0 };
	int status;

	if (!text_is_name(slice_str(name)) || strlen(name) > LIMIT_TOKEN_ID_MAX - 7) {
		error_set(&cli->error, ERR_USAGE, "'%s' isn't a valid name for a token; use at most %d letters, digits and _ . -", name,
			  LIMIT_TOKEN_ID_MAX - 7);
		return cli_fail(cli);
	}
	if (said && read_roles(said, &roles, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	if ((worker || roles & ROLES_WORKER) && roles != ROLES_WORKER) {
		error_set(&cli->error, ERR_USAGE, "the role worker can't be combined with other roles");
		return cli_fail(cli);
	}
	if (read_join(cli, &roles, &set) != ERR_NONE)
		return cli_fail(cli);
	key_make(&key, roles == ROLES_WORKER ? KEY_WORKER : roles == ROLES_JOINER ? KEY_JOIN : KEY_PERSON, name);
	set.text = slice_str(name);
	set.number = roles;
	status = make(cli, &key, &set);
	explicit_bzero(&key, sizeof(key));
	return status;
}

/*
 * Find the tokens that a word means: one by id, or all with this name. Add their ids, and say of which kind they are.
 */
static enum err find(struct cli *cli, const char *word, struct buf *ret_ids, enum key_kind *ret_kind)
{
	struct msg_query query = { .what = QUERY_TOKENS };

	if (cli_connect(cli) != ERR_NONE)
		return cli->error.code;
	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.tokens.n; i++) {
			const struct rec_token_row *row = &page.tokens.at[i];
			const char *id;

			if (!slice_eq(row->id, slice_str(word)) && !slice_eq(row->name, slice_str(word)))
				continue;
			id = arena_strdup(&cli->arena, row->id);
			buf_add(ret_ids, &id, sizeof(id));
			*ret_kind = row->roles == ROLES_WORKER ? KEY_WORKER : row->roles == ROLES_JOINER ? KEY_JOIN : KEY_PERSON;
		}
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	if (ret_ids->len > 0)
		return ERR_NONE;
	error_set(&cli->error, ERR_NOT_FOUND, "there is no token '%s'", word);
	return error_next(&cli->error, "titan token ls");
}

static int rotate(struct cli *cli, const char *word)
{
	struct buf ids = { 0 };
	struct msg_set set = { 0 };
	enum key_kind kind = KEY_PERSON;
	struct key key;
	const char *id;
	size_t count;
	int status;

	if (find(cli, word, &ids, &kind) != ERR_NONE) {
		buf_free(&ids);
		return cli_fail(cli);
	}
	count = ids.len / sizeof(id);
	memcpy(&id, ids.data, sizeof(id));
	buf_free(&ids);
	if (count > 1) {
		error_set(&cli->error, ERR_USAGE, "'%s' has %zu tokens: name one of them", word, count);
		error_next(&cli->error, "titan token ls");
		return cli_fail(cli);
	}
	key_make(&key, kind, "x");
	snprintf(key.identity, sizeof(key.identity), "%c1:%s", (char)kind, id);
	status = make(cli, &key, &set);
	explicit_bzero(&key, sizeof(key));
	return status;
}

static int remove_all(struct cli *cli)
{
	struct records records;
	struct buf ids = { 0 };
	enum key_kind kind;
	enum err err = share_changed_begin(cli, &records);

	for (size_t i = 1; i < cli->invocation->arg_count && err == ERR_NONE; i++)
		err = find(cli, cli->invocation->args[i], &ids, &kind);
	for (size_t at = 0; at < ids.len && err == ERR_NONE; at += sizeof(char *)) {
		struct msg_set set = { .kind = OBJECT_TOKEN, .verb = SET_REMOVE };
		struct msg_ok ok;
		const char *id;

		memcpy(&id, ids.data + at, sizeof(id));
		set.name = slice_str(id);
		err = cli_call(cli, OP_SET, &set, OP_OK, &cli->arena, &ok);
		if (err == ERR_NONE)
			share_changed(cli, &records, set.name, ok.count);
		if (err == ERR_NONE && cli_chatty(cli))
			cli_note(cli, "token %s was removed; its connections are closed", id);
	}
	buf_free(&ids);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}

static int token_ls(struct cli *cli)
{
	return share_list(cli, QUERY_TOKENS, token_columns, token_table.count, add_tokens,
			  "there are no tokens, so no other machine can connect");
}

static int token_add(struct cli *cli)
{
	return add(cli, cli->invocation->args[1]);
}

static int token_rotate(struct cli *cli)
{
	return rotate(cli, cli->invocation->args[1]);
}

int cmd_token(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 0, "", token_ls }, { "add", 1, 1, "NAME", token_add }, { "rm", 1, -1, "TOKEN", remove_all },
		{ "rotate", 1, 1, "TOKEN", token_rotate },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
