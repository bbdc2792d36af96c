/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rights: which roles may do what, and the one check of them. */
#ifndef TITAN_PROTO_RIGHTS_H
#define TITAN_PROTO_RIGHTS_H

#include "proto/message.h"

struct right {
	enum opcode op;
	const char *subject;             /* name of the verb or kind, such as "ACT_CANCEL" */
	uint64_t number;                 /* number of the act's verb, or of the kind of object */
	role_set any, own;               /* roles that may do it to any run, or to their own runs; ADMIN always may */
};

extern const struct right right_table[];
extern const size_t right_count;

enum allowance {
	ALLOWED_NOT,
	ALLOWED_OWN,                     /* ALLOWED_OWN: allowed for what they submitted themselves */
	ALLOWED,
};

enum sight_rule { SIGHT_NOTHING, SIGHT_RUN, SIGHT_ROWS, SIGHT_ALL, SIGHT_QUERY };

struct sight_row {                       /* a rule of sight.def */
	bool query;                      /* the number is of enum query_what, else of enum opcode */
	unsigned number;
	const char *name;
	enum sight_rule rule;
};

extern const struct sight_row sight_table[];
extern const size_t sight_count;

/* Find the rule of a message or a question; what has no row is for those who see everything. */
enum sight_rule sight_of_message(enum opcode op);
enum sight_rule sight_of_query(uint64_t what);
/* Do these roles see all runs? */
bool roles_see_all(role_set roles);

/* May a connection with these roles send this message at all? right_to then checks what the message is about. */
bool message_allowed(enum opcode op, enum peer_kind sender, role_set roles);
/*
 * Check a right. subject: the verb of ACT, the kind of object of SET. What has no row is allowed to
 * administrators only.
 */
enum allowance right_to(enum opcode op, uint64_t subject, role_set roles);
/* Write a set of roles: "operator, admin"; "nobody" if it is empty, "anybody" for all. */
void role_words(role_set roles, struct buf *out);
const char *role_name(enum role role);                   /* "operator" */
role_set role_named(struct slice name);                  /* the set with this role; 0: there is no such role */

#endif
