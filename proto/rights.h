/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who may what: sets of roles, and the one check of them. */
#ifndef TITAN_PROTO_RIGHTS_H
#define TITAN_PROTO_RIGHTS_H

#include "proto/message.h"

struct right {
	enum opcode op;
	const char *subject;             /* "ACT_CANCEL" */
	uint64_t number;                 /* of the verb, or of the kind of object */
	role_set any, own;               /* without ADMIN */
};

extern const struct right right_table[];
extern const size_t right_count;

enum allowance {
	ALLOWED_NOT,
	ALLOWED_OWN,                     /* to what they submitted themselves */
	ALLOWED,
};

/* May a connection with these roles send this message at all? What it is about is asked for next. */
bool message_allowed(enum opcode op, enum peer_kind sender, role_set roles);
/* subject: of ACT the verb, of SET the kind of object. What has no row is refused, but for an administrator. */
enum allowance right_to(enum opcode op, uint64_t subject, role_set roles);
/* "operator, admin"; "nobody" for an empty set, "anybody" for everyone. */
void role_words(role_set roles, struct buf *out);

#endif
