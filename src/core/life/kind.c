/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One row for each kind of job: what core does with jobs of that kind. Kinds that begin without a worker also have a
 * row in hooks.def.
 */
#include "core/life/life.h"

const struct kind_ops kind_table[KIND_COUNT] = {
	/* A class of jobs that any worker runs has kind UNSAID, so this row counts for the class. */
	[KIND_UNSAID] = { .worker = true, .in_bounds = true, .in_share = true },
	[KIND_COMMAND] = { .worker = true, .in_bounds = true, .in_share = true },
	[KIND_SCRIPT] = { .worker = true, .in_bounds = true, .in_share = true },
	[KIND_GATE] = { .worker = true, .in_bounds = true, .in_share = true },          /* gates are never queued */
	/* Not in the tenant's share: otherwise its jobs could wait for the room that the sub-run itself takes. */
	[KIND_SUBRUN] = { .in_bounds = true },
	[KIND_NOOP] = { 0 },
	/* Not in the bounds of its run: otherwise the jobs that use the service could wait for the room that it takes. */
	[KIND_SERVICE] = { .worker = true, .in_share = true },
};
