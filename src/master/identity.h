/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who is at the other end: what a transport knows of a peer becomes a principal, with a name and roles. Nothing else looks
 * at a uid.
 */
#ifndef TITAN_MASTER_IDENTITY_H
#define TITAN_MASTER_IDENTITY_H

#include "net/transport.h"
#include "proto/limits.h"
#include "proto/rights.h"

struct person {                          /* as the configuration names them */
	unsigned uid;
	const char *name;
	role_set roles;
};

struct people {                          /* beside the master's own user, who may everything */
	const struct person *at;
	size_t count;
};

struct principal {
	uint64_t id;                     /* durable: votes, submit keys and schedules are by it */
	char name[LIMIT_NAME_MAX_LEN + 1];
	role_set roles;
};

/* ERR_DENIED: nobody that this master knows. */
enum err principal_of(const struct identity *identity, const struct people *people, struct principal *ret, struct error *error);
/* Of the user that the master runs as. */
void principal_own(struct principal *ret);

#endif
