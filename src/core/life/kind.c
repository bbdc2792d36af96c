/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the core does with a job, by its kind: a row each. What begins without a worker has a row in hooks.def, too. */
#include "core/life/life.h"

const struct kind_ops kind_table[KIND_COUNT] = {
	[KIND_UNSAID] = { .worker = true, .in_bounds = true, .in_share = true },        /* of a class: any with a worker */
	[KIND_COMMAND] = { .worker = true, .in_bounds = true, .in_share = true },
	[KIND_SCRIPT] = { .worker = true, .in_bounds = true, .in_share = true },
	[KIND_GATE] = { .worker = true, .in_bounds = true, .in_share = true },          /* never in a queue */
	/* Not in its tenant's share: its jobs could wait for room that it takes. */
	[KIND_SUBRUN] = { .in_bounds = true },
	[KIND_NOOP] = { 0 },
};
