/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who the peer of a connection is: turns what the transport knows of the peer into a principal, with a name
 * and roles. No other file looks at a uid.
 */
#ifndef TITAN_MASTER_IDENTITY_H
#define TITAN_MASTER_IDENTITY_H

#include "net/transport.h"
#include "proto/limits.h"
#include "proto/rights.h"

struct person {                          /* a user named in the configuration */
	unsigned uid;
	const char *name;
	role_set roles;
};

/* All users of the configuration, besides the master's own user, who may do everything. */
struct people {
	const struct person *at;
	size_t count;
};

struct principal {
	/* Number of the principal; votes, submit keys and schedules in the store refer to it. */
	uint64_t id;
	char name[LIMIT_NAME_MAX_LEN + 1];
	const char *origin;              /* transport over which the principal came, in a word; static */
	role_set roles;
};

/* Find the principal of an identity. ERR_DENIED: this master knows no such user. */
enum err principal_of(const struct identity *identity, const struct people *people, struct principal *ret, struct error *error);
/* Number of the principal with this name: the owner's if it is theirs, else one that only the name decides. */
uint64_t principal_number(const char *name, const struct principal *owner);
/* Return the principal of the user that runs the master. */
void principal_own(struct principal *ret);

#endif
