/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of values only. */
#ifndef TITAN_CORE_VALUES_INTERNAL_H
#define TITAN_CORE_VALUES_INTERNAL_H

#include "base/blob.h"
#include "base/mem.h"
#include "core/values/values.h"
#include "proto/limits.h"

#define VALUE_LEVELS 12                  /* most levels of a key in the sorted list: enough for 4 to the 12th keys */

struct value {                           /* a key with its value, or a deleted key that is still remembered */
	struct value_space *space;
	struct value *older, *newer;     /* neighbours in the order of versions */
	uint64_t version;
	union {
		struct {
			struct blob *body;       /* NULL: no bytes */
			int64_t due_ms, ttl_ms;  /* when the value ends, by the steady clock, and how long it was set for; 0: never */
			uint64_t stamp;          /* stamp of its timer; 0: none */
		};
		struct {
			struct value *deleted_older, *deleted_newer;     /* neighbours among the deleted keys */
		};
	};
	uint16_t key_len;
	uint8_t kind;                    /* enum value_kind; NONE: deleted */
	uint8_t levels;
	struct value *next[];            /* the next key in each level of the sorted list; the key's bytes follow */
};

struct value_space {
	uint64_t run;
	char *definition, *owner;
	uint8_t *id;                     /* name in core->value_spaces */
	struct value *first[VALUE_LEVELS];
	struct value *oldest, *newest;
	struct value *deleted_oldest, *deleted_newest;
	uint64_t count, deleted, bytes;  /* keys that exist; remembered deleted keys; what all of them count for */
	uint64_t compacted;
};

static inline struct slice value_key(const struct value *value)
{
	return slice_make(&value->next[value->levels], value->key_len);
}

static inline struct slice value_body(const struct value *value)
{
	return value->kind == VALUE_NONE ? slice_make(NULL, 0) : blob_slice(value->body);
}

static inline uint64_t value_cost(size_t key_len, size_t body_len)
{
	return key_len + body_len + LIMIT_VALUE_COST;
}

/* space.c: namespaces, and their keys in order */
struct value_space *space_find(const struct core *core, uint64_t run, struct slice definition);
struct value_space *space_make(struct core *core, uint64_t run, struct slice definition, struct slice owner);
/* Remove a namespace that has neither keys nor anything to remember. */
void space_tidy(struct core *core, struct value_space *space);
void space_row_put(struct core *core, const struct value_space *space, bool deleted);
/* While loading: put the key at the end of the lists by version. */
void space_link(struct value *value);
struct value *value_find(const struct value_space *space, struct slice key);
/* The first key at or after this one, deleted ones included; NULL: none. */
struct value *value_from(const struct value_space *space, struct slice key);
/* Add a key as deleted; it counts in the namespace from now on. */
struct value *value_new(struct core *core, struct value_space *space, struct slice key);
/*
 * Give the key a value, which takes over the body, or with kind NONE delete it. It becomes the newest of its namespace.
 * The caller puts the row. A NONE may make the namespace forget its oldest deleted key.
 */
void value_write(struct core *core, struct value *value, uint8_t kind, struct blob *body, uint64_t version);
void value_row_put(struct core *core, const struct value *value, bool deleted);
void deleted_trim(struct core *core, struct value_space *space);

/* end.c */
void value_arm(struct core *core, struct value *value);
void value_disarm(struct core *core, struct value *value);
uint64_t revision_next(struct core *core);

/* members.c: sets as bytes */
#define MEMBER_HEAD 2                    /* bytes before a member: its length, little-endian */
bool members_next(struct slice *body, struct slice *ret_member);       /* false: no more, or damaged */
bool members_sane(struct slice body);
uint64_t members_count(struct slice body);
/* Find the place of a member; returns whether it is in the set. */
bool members_find(struct slice body, struct slice member, size_t *ret_at);
struct blob *members_with(struct slice body, size_t at, struct slice member);
struct blob *members_without(struct slice body, size_t at);

/* grant.c: which values a request may read and change */
/* Find out whose values the request means, and whether its sender may do that. */
enum err values_allowed(struct core *core, const struct core_input *input, bool writes, struct slice *ret_definition,
			uint64_t *ret_run, struct slice *ret_owner, struct error *error);

/* change.c: the operations of a request, all or none */
struct value_stage {                     /* a key as the operations of the request so far leave it */
	struct slice key;
	struct value *value;             /* the key as it was; NULL: not known */
	uint8_t kind;
	bool changed;
	struct blob *body;               /* with a reference of its own */
	uint64_t version;
	int64_t due_ms, ttl_ms;
};

struct value_change {
	struct core *core;
	struct value_space *space;       /* NULL: has no keys yet */
	struct value_stage stages[LIMIT_VALUE_OPS_MAX];
	size_t stage_count;
	uint64_t revision;               /* what the change gets if it is done */
	uint64_t changed;                /* number of operations that change something */
	size_t at;                       /* index of the operation that is being done */
	size_t op_count;
};

enum err change_do(struct value_change *change, const struct rec_value_op *op, struct rec_value_row *row, struct error *error);
/* Check the limits of namespace and master. */
enum err change_fits(const struct value_change *change, struct error *error);
/* Write all changes to the space, which now exists. */
void change_write(struct value_change *change);
void change_free(struct value_change *change);
void value_row_fill(struct core *core, const struct value_stage *stage, struct rec_value_row *row);

/* repeated.c */
struct value_request;
const struct value_request *repeated_find(const struct core *core, const struct core_input *input);
/* Answer a repeated request as before, or refuse it if it is another one with the same key. */
enum err repeated_answer(struct core *core, const struct value_request *known, const struct core_input *input,
			 struct msg_valued *ret, struct error *error);
void repeated_keep(struct core *core, const struct core_input *input, const struct msg_valued *answer);

#endif
