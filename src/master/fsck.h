/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks whether a store is whole: its pages, and what its rows mean to the core. Changes nothing. */
#ifndef TITAN_MASTER_FSCK_H
#define TITAN_MASTER_FSCK_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/error.h"

struct fsck {
	int version;                     /* of its tables */
	bool older;                      /* than ours: only its pages were checked */
	bool sealed;                     /* a backup with a checksum, which is right */
	uint64_t generation, turn, live_runs, live_jobs;
};

/* In use: it must have all that was acknowledged, too. A copy ends where it was made. */
enum err fsck_store(const char *path, bool in_use, struct fsck *ret_fsck, struct error *error);

#endif
