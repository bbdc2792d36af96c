/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Maps identities to principals. The owner's number is their uid, because rows of old stores contain it. All others
 * have a number that is computed from their name, so that a person is the same principal, with one vote, over every
 * transport.
 */
#include "master/identity.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"

#define NAMED ((uint64_t)1 << 62)        /* above all uids; rows have signed numbers */

uint64_t principal_number(const char *name, const struct principal *owner)
{
	uint8_t hash[SHA256_SIZE];
	struct sha256 sum;
	uint64_t number = 0;

	if (strcmp(name, owner->name) == 0)
		return owner->id;
	sha256_init(&sum);
	sha256_add(&sum, slice_str(name));
	sha256_end(&sum, hash);
	for (int i = 0; i < 8; i++)
		number = number << 8 | hash[i];
	return NAMED | (number & (NAMED - 1));
}

void principal_own(struct principal *ret)
{
	const struct passwd *user = getpwuid(getuid());

	*ret = (struct principal){ .id = getuid(), .origin = "unix", .roles = ROLES_PERSON };
	if (user)
		snprintf(ret->name, sizeof(ret->name), "%s", user->pw_name);
	else
		snprintf(ret->name, sizeof(ret->name), "%u", (unsigned)getuid());
}

enum err principal_of(const struct identity *identity, const struct people *people, struct principal *ret, struct error *error)
{
	struct principal owner;

	if (identity->kind != IDENTITY_USER)
		return error_set(error, ERR_DENIED, "this master has no token '%s'", identity->key);
	for (size_t i = 0; i < people->count; i++) {
		const struct person *person = &people->at[i];

		if (person->uid != identity->uid)
			continue;
		principal_own(&owner);
		*ret = (struct principal){ .id = person->uid == owner.id ? owner.id : principal_number(person->name, &owner),
					  .origin = "unix", .roles = person->roles };
		snprintf(ret->name, sizeof(ret->name), "%s", person->name);
		return ERR_NONE;
	}
	principal_own(ret);
	if (ret->id == identity->uid)
		return ERR_NONE;
	if (people->count == 0)
		return error_set(error, ERR_DENIED, "this master serves only user %s", ret->name);
	error_set(error, ERR_DENIED, "user %u isn't among the users with whom %s shares this cluster", (unsigned)identity->uid, ret->name);
	return error_next(error, "ask %s to list you under share in titan.conf of the cluster", ret->name);
}
