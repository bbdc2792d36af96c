/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file in which guardians record how the processes ended that their keepers' deaths left to them. A guardian adds
 * a record, synced, before it reaps the process: once a process is gone, its record is there or never will be. A
 * keeper reads the file, and empties it when it owes nothing to it any more.
 */
#ifndef TITAN_WORKER_ENDS_H
#define TITAN_WORKER_ENDS_H

#include <stdbool.h>
#include <stdint.h>

struct process_end {
	uint8_t boot_id[16];             /* which boot of the machine: process numbers and start times are of it */
	int64_t pid;
	int64_t begun_ns;                /* when the process began, as tree_stat says it */
	int64_t run_ns;                  /* how long it ran */
	uint64_t cpu_us, rss_kib;
	uint64_t status;                 /* as of wait4 */
};

/* On the disk when it returns 0. -errno: perhaps it isn't; adding it again does no harm. */
int ends_add(int dir_fd, const struct process_end *end);
/* The end of the process that began in that time, within TREE_TICK_NS. False: no record. */
bool ends_find(int dir_fd, const uint8_t boot_id[16], int64_t pid, int64_t from_ns, int64_t to_ns, struct process_end *ret_end);
int ends_clear(int dir_fd);

#endif
