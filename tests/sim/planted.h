/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The planted bugs by name. Only titan-sim-planted has a core and a ledger that ask for them (base/planted.h). */
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

/* Switch this bug on, for all schedules. Print why it can't be and return false if it can't. */
bool planted_set(const char *name);

/* The one that is on, or "". */
const char *planted_name(void);

/* Print name, tab and description of each. */
void planted_print(void);

#ifdef TITAN_PLANTED
#define PLANTED(name) (planted_bug == PLANTED_##name)
#endif

#endif
