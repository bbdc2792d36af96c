/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What spawn.c and spawn_pids.c share: the child between its birth and its exec. */
#ifndef TITAN_WORKER_SPAWN_INTERNAL_H
#define TITAN_WORKER_SPAWN_INTERNAL_H

#include <limits.h>
#include <signal.h>

#include "worker/spawn.h"

#define SPAWN_STACK_SIZE 65536

struct child {
	const struct spawn_request *request;
	sigset_t no_signals;
	char (*paths)[PATH_MAX];         /* what to try, in order */
	size_t path_count;
	pid_t parent_pid;                /* as the child sees it */
	int fault;
};

/* Shares its parent's memory: system calls only, and nothing is left changed but child->fault. */
int spawn_child_main(void *child);
/* In a process-number space of its own, below an init of ours. 0 and the init's pid, or an errno. */
int spawn_with_init(struct child *child, pid_t *ret_pid, int *ret_status_fd);

#endif
