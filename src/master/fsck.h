/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks whether a store is intact: its pages, and whether the core accepts its rows. Changes nothing. */
#ifndef TITAN_MASTER_FSCK_H
#define TITAN_MASTER_FSCK_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/error.h"

struct fsck {
	int version;                     /* version of the store's tables */
	bool older; /* the store's version is older than this program's, so only its pages were checked */
	bool has_checksum;               /* the store is a backup with a checksum, and the checksum is right */
	uint64_t generation, turn, live_runs, live_jobs;
};

/*
 * Check the store at path. in_use: it must also have every acknowledged turn; a copy ends at the turn in which it was
 * made.
 */
enum err fsck_store(const char *path, bool in_use, struct fsck *ret_fsck, struct error *error);

#endif
