/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rights.def and sight.def as tables, and the check of rights. */
#include "proto/rights.h"

static const char *const names[] = {
	[ROLE_NOBODY] = "nobody", [ROLE_VIEWER] = "viewer", [ROLE_SUBMITTER] = "submitter",
	[ROLE_APPROVER] = "approver", [ROLE_OPERATOR] = "operator", [ROLE_ADMIN] = "admin", [ROLE_WORKER] = "worker",
	[ROLE_JOINER] = "joiner",
};

const struct right right_table[] = {
#define RIGHT(MESSAGE, SUBJECT, ANY_RUN, OWN_RUN) \
	{ OP_##MESSAGE, #SUBJECT, SUBJECT, ROLE_BIT(ANY_RUN), ROLE_BIT(OWN_RUN) },
#include "proto/rights.def"
#undef RIGHT
};

const size_t right_count = sizeof(right_table) / sizeof(right_table[0]);

const struct sight_row sight_table[] = {
#define SIGHT_IS_MESSAGE(NAME) false, OP_##NAME
#define SIGHT_IS_QUERY(NAME) true, QUERY_##NAME
#define SIGHT(KIND, NAME, RULE) { SIGHT_IS_##KIND(NAME), #NAME, SIGHT_##RULE },
#include "proto/sight.def"
#undef SIGHT
};

const size_t sight_count = sizeof(sight_table) / sizeof(sight_table[0]);

static enum sight_rule sight_find(bool query, uint64_t number)
{
	for (size_t i = 0; i < sight_count; i++)
		if (sight_table[i].query == query && sight_table[i].number == number)
			return sight_table[i].rule;
	return SIGHT_ALL;
}

enum sight_rule sight_of_message(enum opcode op)
{
	return sight_find(false, op);
}

enum sight_rule sight_of_query(uint64_t what)
{
	return sight_find(true, what);
}

bool roles_see_all(role_set roles)
{
	return roles & (ROLE_BIT(VIEWER) | ROLE_BIT(OPERATOR) | ROLES_ADMIN);
}

void role_words(role_set roles, struct buf *out)
{
	bool first = true;

	if (roles == 0 || roles == ROLES_ANYBODY)
		buf_add_str(out, roles ? "anybody" : "nobody");
	for (unsigned role = ROLE_VIEWER; role <= ROLE_JOINER && roles != ROLES_ANYBODY; role++) {
		if (!(roles & ROLE_BIT_OF(role)))
			continue;
		buf_addf(out, "%s%s", first ? "" : ", ", names[role]);
		first = false;
	}
}

const char *role_name(enum role role)
{
	return names[role];
}

role_set role_named(struct slice name)
{
	for (unsigned role = ROLE_VIEWER; role <= ROLE_JOINER; role++)
		if (slice_eq(name, slice_str(names[role])))
			return ROLE_BIT_OF(role);
	return 0;
}

bool message_allowed(enum opcode op, enum peer_kind sender, role_set roles)
{
	const struct shape *shape = message_shape(op);

	if (!shape || (sender != PEER_CLIENT && sender != PEER_WORKER))
		return false;
	if (((unsigned)shape->from & (unsigned)sender) == 0)
		return false;
	if (shape->roles == ROLES_ANYBODY)
		return true;
	/* Messages of workers are never allowed to people, whatever their roles. */
	if (shape->roles == ROLES_WORKER && sender != PEER_WORKER)
		return false;
	return (shape->roles & roles) != 0;
}

enum allowance right_to(enum opcode op, uint64_t subject, role_set roles)
{
	if (roles & ROLE_BIT(ADMIN))
		return ALLOWED;
	for (size_t i = 0; i < right_count; i++) {
		if (right_table[i].op != op || right_table[i].number != subject)
			continue;
		if (right_table[i].any & roles)
			return ALLOWED;
		return right_table[i].own & roles ? ALLOWED_OWN : ALLOWED_NOT;
	}
	return ALLOWED_NOT;
}
