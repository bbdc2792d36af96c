/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maps identities to principals. A principal's number is its uid, because the rows of old stores contain uids. */
#include "master/identity.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

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
	if (identity->kind != IDENTITY_USER)
		return error_set(error, ERR_DENIED, "this master knows no key '%s'", identity->key);
	for (size_t i = 0; i < people->count; i++) {
		const struct person *person = &people->at[i];

		if (person->uid != identity->uid)
			continue;
		*ret = (struct principal){ .id = person->uid, .origin = "unix", .roles = person->roles };
		snprintf(ret->name, sizeof(ret->name), "%s", person->name);
		return ERR_NONE;
	}
	principal_own(ret);
	if (ret->id == identity->uid)
		return ERR_NONE;
	return error_set(error, ERR_DENIED, "this master serves only user %s", ret->name);
}
