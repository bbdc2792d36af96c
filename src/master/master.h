/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The master's process: loop, inbox, turns. Returns an exit status of titan(1). */
#ifndef TITAN_MASTER_MASTER_H
#define TITAN_MASTER_MASTER_H

#include <stdint.h>

#include "base/statedir.h"
#include "master/identity.h"
#include "proto/error.h"

/* What is pruned by itself, each + 1; 0: nothing is. */
struct prune_rules {
	uint64_t older_ms, keep, log_bytes, history_ms;
	int64_t every_ms;                /* how often they are looked at */
};

struct master_options {
	struct statedir statedir;
	int ready_fd;                    /* a byte is written when it serves; -1 none */
	int64_t heartbeat_ms, lease_ms, grace_ms;    /* 0: defaults */
	uint64_t seed;                   /* 0: of the system */
	size_t recent_changes, sub_queue;        /* RECENT_CHANGES and SUB_QUEUE_MAX of limits.def; 0: as there */
	uint64_t upload_bytes;           /* for tests: bounds of graphs that are uploaded; 0: as in budget.h */
	int64_t upload_yield_ms;         /* likewise */
	struct prune_rules prune;
	struct people people;            /* beside our own user */
};

int master_run(const struct master_options *options, struct error *error);

#endif
