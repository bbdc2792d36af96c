/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by spawn.c, spawn_pids.c and spawner.c: the child between its birth and its exec. */
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
	char (*paths)[PATH_MAX];         /* files to exec, tried in order */
	size_t path_count;
	pid_t parent_pid;                /* the parent's pid, as the child sees it */
	int fault;
	bool tried;                      /* only the exec is left to do for the child */
};

struct spawn_result {
	/* Pid of the process, set when it is made and before it runs; 0: not made yet. */
	_Atomic pid_t pid;
	int fault;
	int status_fd;
	bool tried;                      /* the exec may have happened, in case the process was killed */
};

struct spawn_work {                      /* the memory that a start needs as long as it lasts */
	char paths[SPAWN_PATHS][PATH_MAX];
	char stacks[2 * SPAWN_STACK_SIZE + 64];
};

/*
 * Do the whole start on the calling thread: returns when the program runs, can't run, or the process was
 * killed before.
 */
void spawn_work(struct spawn_work *work, const struct spawn_request *request, struct spawn_result *ret_result);
/*
 * The child's main function. It shares its parent's memory, so it only makes system calls, and changes
 * nothing but child->fault and child->tried.
 */
int spawn_child_main(void *child);
/* Start the child in its own pid namespace, below an init of ours; the pid returned is the init's. */
void spawn_with_init(struct child *child, char *stacks, struct spawn_result *ret_result);

#endif
