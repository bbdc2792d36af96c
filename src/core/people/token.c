/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tokens: the keys with which people, programs and workers of other machines connect. A token stands for a principal by
 * its name; several tokens may have the same name. The core keeps the secret as the master sealed it, and never reads
 * it. The master checks whether a token has expired when a peer connects with it.
 */
#include "core/people/people.h"

#include <stdio.h>

#include "base/text.h"
#include "core/rows/durable.h"
#include "core/view/view.h"
#include "proto/rights.h"

struct token {
	char *id, *name, *made_by, *pool;
	role_set roles;
	uint64_t uses;                   /* with the role JOINER: how many more workers may join */
	uint8_t secret[TOKEN_SECRET_MAX];
	size_t secret_len;
	int64_t made_ms, expires_ms, used_ms;
};

static void token_free(struct token *token)
{
	mem_free(token->id);
	mem_free(token->name);
	mem_free(token->made_by);
	mem_free(token->pool);
	mem_free(token);
}

void tokens_free(struct core *core)
{
	size_t cursor = 0;
	struct slice id;
	void *value;

	while (name_map_next(&core->tokens, &cursor, &id, &value))
		token_free(value);
	name_map_free(&core->tokens);
}

static void token_row_put(struct core *core, const struct token *token, bool deleted)
{
	struct row *row = outbox_row(core->outbox, TABLE_token);
	struct arena *arena = &core->outbox->arena;

	row->deleted = deleted;
	row->token = (struct row_token){
		.id = arena_copy(arena, slice_str(token->id)), .name = arena_copy(arena, slice_str(token->name)),
		.roles = (int64_t)token->roles, .secret = arena_copy(arena, slice_make(token->secret, token->secret_len)),
		.made_ms = token->made_ms, .expires_ms = token->expires_ms, .used_ms = token->used_ms,
		.made_by = arena_copy(arena, slice_str(token->made_by)), .uses = (int64_t)token->uses,
		.pool = arena_copy(arena, slice_str(token->pool)),
	};
}

static struct token *token_add(struct core *core, struct slice id, struct slice name, struct slice made_by, struct slice pool)
{
	struct token *token = mem_zalloc(sizeof(*token));

	token->id = mem_text(id);
	token->name = mem_text(name);
	token->made_by = mem_text(made_by);
	token->pool = mem_text(pool);
	name_map_put(&core->tokens, slice_str(token->id), token);
	return token;
}

/* Are these roles allowed for one token? WORKER or JOINER alone, or any of the others: a worker's key isn't a person's. */
static bool roles_fit(uint64_t roles)
{
	return roles == ROLES_WORKER || roles == ROLES_JOINER || (roles != 0 && (roles & ~(uint64_t)ROLES_PERSON) == 0);
}

static bool no_more(const struct core *core, struct error *error)
{
	if (core->tokens.count < LIMIT_TOKENS_MAX)
		return false;
	error_set(error, ERR_FULL, "there are %d tokens, and no more are allowed", LIMIT_TOKENS_MAX);
	error_next(error, "titan token ls, then titan token rm for those that nobody uses");
	return true;
}

static enum err token_put(struct core *core, const struct input_set *input, struct error *error)
{
	const struct msg_set *set = &input->set;
	struct token *token = name_map_get(&core->tokens, set->name);

	if (set->secret.len == 0 || set->secret.len > TOKEN_SECRET_MAX)
		return error_set(error, ERR_INVALID, "token %.*s: a token needs a secret of 32 bytes", (int)set->name.len,
				 (const char *)set->name.data);
	if (!token && set->text.len == 0) {
		error_set(error, ERR_NOT_FOUND, "there is no token %.*s", (int)set->name.len, (const char *)set->name.data);
		return error_next(error, "titan token ls");
	}
	if (token && set->text.len > 0)
		return error_set(error, ERR_DUPLICATE, "a token with the id %.*s exists already", (int)set->name.len,
				 (const char *)set->name.data);
	if (!token && !text_is_name(set->text))
		return error_set(error, ERR_INVALID, "the name of a token's holder may have letters, digits, _ . -, at most %d",
				 LIMIT_NAME_MAX_LEN);
	if (!token && !roles_fit(set->number))
		return error_set(error, ERR_INVALID, "token %.*s: a token has one or more roles; the role worker stands alone",
				 (int)set->name.len, (const char *)set->name.data);
	if (!token && set->number == ROLES_JOINER && (set->uses == 0 || set->uses > LIMIT_JOINS_MAX))
		return error_set(error, ERR_INVALID, "token %.*s: from 1 to %d workers may join with a token", (int)set->name.len,
				 (const char *)set->name.data, LIMIT_JOINS_MAX);
	if (!token && set->pool.len > 0 && (set->number != ROLES_JOINER || !text_is_name(set->pool)))
		return error_set(error, ERR_INVALID, "token %.*s: only a token for joining has a pool, whose name may have letters, digits, _ . -",
				 (int)set->name.len, (const char *)set->name.data);
	if (!token && no_more(core, error))
		return error->code;
	if (!token) {
		token = token_add(core, set->name, set->text, input->person, set->pool);
		token->roles = (role_set)set->number;
		token->uses = set->number == ROLES_JOINER ? set->uses : 0;
	}
	memcpy(token->secret, set->secret.data, set->secret.len);
	token->secret_len = set->secret.len;
	token->made_ms = core->now.wall_ms;
	token->expires_ms = set->span_ms > 0 ? core->now.wall_ms + (int64_t)set->span_ms : 0;
	token_row_put(core, token, false);
	return ERR_NONE;
}

/* Has a worker or a token this name? Then a new worker mustn't get it, and with it the jobs of the other. */
static bool name_is_taken(const struct core *core, struct slice name)
{
	size_t cursor = 0;
	struct slice id;
	void *value;

	if (name_map_get(&core->worker_names, name))
		return true;
	while (name_map_next(&core->tokens, &cursor, &id, &value))
		if (slice_eq(name, slice_str(((const struct token *)value)->name)))
			return true;
	return false;
}

/* Check a request to join. *ret_again: the same key was made before, and its answer was lost. */
static enum err join_check(const struct core *core, const struct input_set *input, const struct token *join, bool *ret_again, struct error *error)
{
	const struct msg_set *set = &input->set;
	const struct token *same = name_map_get(&core->tokens, set->name);

	*ret_again = false;
	if (!join || join->roles != ROLES_JOINER)
		return error_set(error, ERR_DENIED, "the token for joining was removed");
	if (join->expires_ms != 0 && join->expires_ms <= core->now.wall_ms)
		return error_set(error, ERR_DENIED, "token %s for joining has expired", join->id);
	if (!text_is_name(set->text))
		return error_set(error, ERR_INVALID, "the name of a worker may have letters, digits, _ . -, at most %d", LIMIT_NAME_MAX_LEN);
	if (same) {
		*ret_again = same->roles == ROLES_WORKER && strcmp(same->made_by, join->id) == 0 && slice_eq(set->text, slice_str(same->name));
		return *ret_again ? ERR_NONE : error_set(error, ERR_DUPLICATE, "a token with the id %.*s exists already", (int)set->name.len,
							 (const char *)set->name.data);
	}
	if (set->secret.len == 0 || set->secret.len > TOKEN_SECRET_MAX)
		return error_set(error, ERR_INVALID, "token %.*s: a token needs a secret of 32 bytes", (int)set->name.len,
				 (const char *)set->name.data);
	if (name_is_taken(core, set->text)) {
		error_set(error, ERR_DUPLICATE, "the name %.*s is taken: a worker or a token has it", (int)set->text.len, (const char *)set->text.data);
		return error_next(error, "titan worker start --join FILE --name OTHER");
	}
	if (join->uses == 0) {
		error_set(error, ERR_DENIED, "token %s for joining is used up", join->id);
		return error_next(error, "titan token add NAME --join --uses N, on the master's machine, makes another");
	}
	return no_more(core, error) ? error->code : ERR_NONE;
}

/* Make the key of a new worker, and count it. */
static enum err token_join(struct core *core, const struct input_set *input, struct error *error)
{
	const struct msg_set *set = &input->set;
	struct token *join = input->token.len > 0 ? name_map_get(&core->tokens, input->token) : NULL, *token;
	bool again;
	enum err err = join_check(core, input, join, &again, error);

	if (err != ERR_NONE || again)
		return err;
	token = token_add(core, set->name, set->text, slice_str(join->id), slice_str(join->pool));
	token->roles = ROLES_WORKER;
	memcpy(token->secret, set->secret.data, set->secret.len);
	token->secret_len = set->secret.len;
	token->made_ms = core->now.wall_ms;
	token_row_put(core, token, false);
	join->uses--;
	token_row_put(core, join, false);
	return ERR_NONE;
}

static enum err token_remove(struct core *core, struct slice id, struct error *error)
{
	struct token *token = name_map_get(&core->tokens, id);

	if (!token) {
		error_set(error, ERR_NOT_FOUND, "there is no token %.*s", (int)id.len, (const char *)id.data);
		return error_next(error, "titan token ls");
	}
	token_row_put(core, token, true);
	name_map_remove(&core->tokens, slice_str(token->id));
	token_free(token);
	return ERR_NONE;
}

enum err token_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error)
{
	enum err err;

	if (!text_is_name(input->set.name) || input->set.name.len > LIMIT_TOKEN_ID_MAX)
		return error_set(error, ERR_INVALID, "the id of a token may have letters, digits, _ . -, at most %d",
				 LIMIT_TOKEN_ID_MAX);
	if (input->set.span_ms / 1000 > LIMIT_SPAN_MAX_S)
		return error_set(error, ERR_TOO_LARGE, "token %.*s: it would expire too far in the future", (int)input->set.name.len,
				 (const char *)input->set.name.data);
	switch (input->set.verb) {
	case SET_PUT:
		err = token_put(core, input, error);
		break;
	case SET_JOIN:
		err = token_join(core, input, error);
		break;
	case SET_REMOVE:
		err = token_remove(core, input->set.name, error);
		break;
	default:
		return error_set(error, ERR_INVALID, "unknown change of a token: %llu", (unsigned long long)input->set.verb);
	}
	if (err != ERR_NONE)
		return err;
	core->tokens_changed++;
	*ret_changed = 1;
	return ERR_NONE;
}

size_t token_live_after(const struct core *core, size_t cursor, struct slice *ret_name, role_set *ret_roles)
{
	struct slice id;
	void *value;

	while (name_map_next(&core->tokens, &cursor, &id, &value)) {
		const struct token *token = value;

		if (token->expires_ms != 0 && token->expires_ms <= core->now.wall_ms)
			continue;
		*ret_name = slice_str(token->name);
		*ret_roles = token->roles;
		return cursor;
	}
	return 0;
}

void token_used(struct core *core, struct slice id)
{
	struct token *token = name_map_get(&core->tokens, id);

	if (!token || (token->used_ms != 0 && core->now.wall_ms - token->used_ms < TOKEN_USE_MS && core->now.wall_ms >= token->used_ms))
		return;
	token->used_ms = core->now.wall_ms;
	token_row_put(core, token, false);
}

void token_words(const struct core *core, struct slice id, struct buf *out)
{
	const struct token *token = name_map_get(&core->tokens, id);

	if (!token)
		return;
	buf_addf(out, "%s, ", token->name);
	role_words(token->roles, out);
	if (token->expires_ms > 0)
		buf_add_str(out, ", expires");
}

enum err load_token(struct core *core, const struct row_token *row, struct error *error)
{
	struct token *token;

	if (!text_is_name(row->id) || !text_is_name(row->name) || !roles_fit((uint64_t)row->roles) || row->secret.len == 0 ||
	    row->secret.len > TOKEN_SECRET_MAX || row->uses < 0 || row->uses > LIMIT_JOINS_MAX ||
	    (row->pool.len > 0 && !text_is_name(row->pool)) || name_map_get(&core->tokens, row->id))
		return error_set(error, ERR_STORE_TRUST, "a token has a bad id, name, roles, secret, uses or pool, or is stored twice");
	token = token_add(core, row->id, row->name, row->made_by, row->pool);
	token->uses = (uint64_t)row->uses;
	token->roles = (role_set)row->roles;
	memcpy(token->secret, row->secret.data, row->secret.len);
	token->secret_len = row->secret.len;
	token->made_ms = row->made_ms;
	token->expires_ms = row->expires_ms;
	token->used_ms = row->used_ms;
	return ERR_NONE;
}

uint64_t tokens_hash(const struct core *core)
{
	uint64_t sum = 0;
	size_t cursor = 0;
	struct slice id;
	void *value;

	while (name_map_next(&core->tokens, &cursor, &id, &value)) {
		const struct token *token = value;
		uint64_t hash = hash_bytes(token->name, strlen(token->name), hash_bytes(token->id, strlen(token->id), 9));

		hash = hash_bytes(token->secret, token->secret_len, hash ^ token->roles);
		hash = hash_bytes(token->made_by, strlen(token->made_by), hash);
		hash = hash_bytes(token->pool, strlen(token->pool), hash ^ token->uses << 32);
		sum += hash_u64(hash ^ hash_u64((uint64_t)token->made_ms) ^ hash_u64((uint64_t)token->expires_ms + 1) ^
				hash_u64((uint64_t)token->used_ms + 2));
	}
	return sum;
}

/* --- for the master --- */

uint64_t view_tokens_changed(const struct core *core)
{
	return core->tokens_changed;
}

bool view_token_find(const struct core *core, struct slice id, struct token_view *ret_token)
{
	const struct token *token = name_map_get(&core->tokens, id);

	if (!token)
		return false;
	*ret_token = (struct token_view){ .roles = token->roles, .made_ms = token->made_ms, .expires_ms = token->expires_ms,
					  .used_ms = token->used_ms, .secret_len = token->secret_len };
	snprintf(ret_token->name, sizeof(ret_token->name), "%s", token->name);
	snprintf(ret_token->pool, sizeof(ret_token->pool), "%s", token->pool);
	memcpy(ret_token->secret, token->secret, token->secret_len);
	return true;
}

uint64_t view_token(const struct core *core, uint64_t cursor, struct rec_token_row *ret_row)
{
	size_t next = (size_t)cursor;
	struct slice id;
	void *value;
	const struct token *token;

	if (!name_map_next(&core->tokens, &next, &id, &value))
		return 0;
	token = value;
	*ret_row = (struct rec_token_row){
		.id = slice_str(token->id), .name = slice_str(token->name), .roles = token->roles, .made_ms = token->made_ms,
		.expires_ms = token->expires_ms, .used_ms = token->used_ms, .made_by = slice_str(token->made_by),
		.uses = token->uses, .pool = slice_str(token->pool),
	};
	return next;
}
