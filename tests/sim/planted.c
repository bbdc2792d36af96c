/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which planted bug is switched on. This file is compiled twice: for titan-sim, whose core has no bugs planted, and for
 * titan-sim-planted.
 */
#include "tests/sim/planted.h"

#include <stdio.h>
#include <string.h>

enum planted_bug planted_bug = PLANTED_NONE;

static const struct {
	const char *name, *what;
} bugs[] = {
	[PLANTED_NONE] = { "", "" },
#define BUG(name, what) [PLANTED_##name] = { #name, what },
#include "planted.def"
#undef BUG
};

#ifdef TITAN_PLANTED
bool planted_set(const char *name)
{
	for (size_t i = PLANTED_NONE + 1; i < PLANTED_COUNT; i++) {
		if (strcmp(bugs[i].name, name) == 0) {
			planted_bug = (enum planted_bug)i;
			return true;
		}
	}
	fprintf(stderr, "titan-sim-planted: there is no bug '%s': --bugs lists all\n", name);
	return false;
}
#else
bool planted_set(const char *name)
{
	fprintf(stderr, "titan-sim: the core of this program is the product's own: titan-sim-planted --bug %s\n", name);
	return false;
}
#endif

const char *planted_name(void)
{
	return bugs[planted_bug].name;
}

void planted_print(void)
{
	for (size_t i = PLANTED_NONE + 1; i < PLANTED_COUNT; i++)
		printf("%s\t%s\n", bugs[i].name, bugs[i].what);
}
