/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The planted bugs by name. Only the core and the ledger of titan-sim-planted contain them (base/planted.h). */
#ifndef TITAN_SIM_PLANTED_H
#define TITAN_SIM_PLANTED_H

#include <stdbool.h>

enum planted_bug {
	PLANTED_NONE,
#define BUG(name, what) PLANTED_##name,
#include "planted.def"
#undef BUG
	PLANTED_COUNT
};

extern enum planted_bug planted_bug;

/* Switch a bug on for all schedules. On an unknown name, or in titan-sim, print why not and return false. */
bool planted_set(const char *name);

/* Return the name of the bug that is switched on; "": none. */
const char *planted_name(void);

/* Print each bug's name, a tab, and its description. */
void planted_print(void);

#ifdef TITAN_PLANTED
#define PLANTED(name) (planted_bug == PLANTED_##name)
#endif

#endif
