/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PLANTED(name): a point in the core or the ledger at which the simulator can plant the bug of that name
 * (tests/sim/planted.def). In the product it is the constant false, so it costs nothing. In titan-sim-planted
 * it is true if --bug names it.
 */
#ifndef TITAN_BASE_PLANTED_H
#define TITAN_BASE_PLANTED_H

#include <stdbool.h>

#ifdef TITAN_PLANTED
#include TITAN_PLANTED
#else
#define PLANTED(name) false
#endif

#endif
