/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file in which guardians record how a dead keeper's jobs ended. A guardian writes and syncs a record before it
 * reaps the process, so once a process is gone its record either exists or will never exist. A keeper reads the file,
 * and empties it when it needs none of the records any more.
 */
#ifndef TITAN_WORKER_ENDS_H
#define TITAN_WORKER_ENDS_H

#include <stdbool.h>
#include <stdint.h>

struct process_end {
	/* The machine's boot: process numbers and start times are valid in that boot only. */
	uint8_t boot_id[16];
	int64_t pid;
	int64_t begun_ns;                /* when the process started, as tree_stat returns it */
	int64_t run_ns;                  /* time that the process ran */
	uint64_t cpu_us, rss_kib;
	uint64_t status;                 /* the process's wait status, as wait4 returns it */
};

/* Add a record. 0: it is on disk. -errno: it may not be; adding it again does no harm. */
int ends_add(int dir_fd, const struct process_end *end);
/* Find the record of a process that started between from_ns and to_ns, within TREE_TICK_NS. False: there is none. */
bool ends_find(int dir_fd, const uint8_t boot_id[16], int64_t pid, int64_t from_ns, int64_t to_ns, struct process_end *ret_end);
int ends_clear(int dir_fd);

#endif
