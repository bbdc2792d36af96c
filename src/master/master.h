/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The master's process: loop, inbox, turns. master_run returns an exit status of titan(1). */
#ifndef TITAN_MASTER_MASTER_H
#define TITAN_MASTER_MASTER_H

#include <stdint.h>

#include "base/statedir.h"
#include "core/core.h"
#include "master/identity.h"
#include "proto/error.h"

/* The rules of automatic pruning. Each value is stored plus 1; 0: there is no such rule. */
struct prune_rules {
	uint64_t older_ms, keep, log_bytes, history_ms, past_ms, past_bytes, acts_ms;
	int64_t every_ms;                /* time between two checks of the rules */
};

struct master_options {
	struct statedir statedir;
	int ready_fd;                    /* descriptor that gets one byte when the master serves; -1: none */
	int64_t heartbeat_ms, lease_ms, grace_ms;    /* time limits of workers; 0: the defaults */
	uint64_t seed;                   /* seed of random numbers; 0: a random seed from the system */
	/* Sizes for tests; 0: RECENT_CHANGES and SUB_QUEUE_MAX of limits.def. */
	size_t recent_changes, sub_queue;
	unsigned request_burst;          /* for tests: requests that may come at once; 0: LIMIT_REQUEST_BURST */
	uint64_t upload_bytes;           /* for tests: upload limits; 0: those of budget.h */
	int64_t upload_yield_ms;         /* for tests: UPLOAD_YIELD_NS in ms; 0: that of budget.h */
	struct prune_rules prune;
	int64_t as_of_ms; /* show the store as it was at this time, and change nothing; 0: an ordinary master */
	bool trust_submitters;           /* workers that run as the owner's user take everybody's jobs */
	bool privacy_open;               /* every person with a role sees all runs */
	struct people people;            /* users who may connect, besides the master's own */
	/* path and group of the socket for these users; NULL: none */
	const char *share_socket, *share_group;
	const struct core_team *teams;   /* groups of people that gates may name */
	size_t team_count;
	const char *listen;              /* TCP addresses to listen on, separated by commas; NULL or empty: none */
};

int master_run(const struct master_options *options, struct error *error);

#endif
