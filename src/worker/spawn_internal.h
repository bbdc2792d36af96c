/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What spawn.c, spawn_pids.c and spawner.c share: the child between its birth and its exec. */
#ifndef TITAN_WORKER_SPAWN_INTERNAL_H
#define TITAN_WORKER_SPAWN_INTERNAL_H

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>

#include "worker/spawn.h"

#define SPAWN_STACK_SIZE 65536

#define SPAWN_PATHS 32

struct child {
	const struct spawn_request *request;
	sigset_t no_signals;
	char (*paths)[PATH_MAX];         /* what to try, in order */
	size_t path_count;
	pid_t parent_pid;                /* as the child sees it */
	int fault;
	bool tried;                      /* nothing is left to do but the exec */
};

struct spawn_result {
	_Atomic pid_t pid;               /* set when the process is made, before it does anything; 0: it isn't */
	int fault;
	int status_fd;
	bool tried;                      /* it may have become the program, if it was killed */
};

struct spawn_work {                      /* what a start needs, for as long as it lasts */
	char paths[SPAWN_PATHS][PATH_MAX];
	char stacks[2 * SPAWN_STACK_SIZE + 64];
};

/* All of a start: returns when the program runs, or can't, or the process was killed before. On a thread of its own. */
void spawn_work(struct spawn_work *work, const struct spawn_request *request, struct spawn_result *ret_result);
/* Shares its parent's memory: system calls only, and nothing is left changed but child->fault and child->tried. */
int spawn_child_main(void *child);
/* In a process-number space of its own, below an init of ours, whose pid it is. */
void spawn_with_init(struct child *child, char *stacks, struct spawn_result *ret_result);

#endif
