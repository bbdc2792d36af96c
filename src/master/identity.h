/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who is at the other end of a connection: turns what the transport knows of the peer into a principal, with a name and
 * roles. No other file looks at a uid.
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
	/* Number of the principal, to which votes, submit keys and schedules in the store refer. */
	uint64_t id;
	char name[LIMIT_NAME_MAX_LEN + 1];
	const char *origin;              /* the transport over which the principal came, as a word; a constant */
	role_set roles;
};

/* Find the principal of an identity. ERR_DENIED: this master doesn't know the user. */
enum err principal_of(const struct identity *identity, const struct people *people, struct principal *ret, struct error *error);
/*
 * Number of the principal with this name: the owner's for their name, otherwise one that follows from the name alone.
 */
uint64_t principal_number(const char *name, const struct principal *owner);
/* Return the principal of the user who runs the master. */
void principal_own(struct principal *ret);

#endif
