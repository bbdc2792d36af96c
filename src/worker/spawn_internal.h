/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by spawn.c, spawn_pids.c and spawner.c: the child between its birth and its exec. */
#ifndef TITAN_WORKER_SPAWN_INTERNAL_H
#define TITAN_WORKER_SPAWN_INTERNAL_H

#include <limits.h>
#include <signal.h>
#include <stdint.h>

#include "worker/spawn.h"

#define SPAWN_STACK_SIZE 65536

#define SPAWN_PATHS 32

struct child {
	const struct spawn_request *request;
	sigset_t no_signals;
	char (*paths)[PATH_MAX];         /* files to exec, tried in order */
	size_t path_count;
	pid_t parent_pid;                /* the parent's pid, as the child sees it */
	int fault;                       /* an errno; with FAULT_DIR: of the working directory */
	bool tried;                      /* the exec may have happened, if the process was killed */
};

/*
 * The memory that a start needs as long as it lasts. With a pid namespace of its own, the child runs on a copy of it in
 * another process, and report_fd tells the result.
 */
struct spawn_work {
	struct child child;
	/*
	 * 1 while the child uses this memory; the kernel sets it to 0 when the child's exec succeeds or the child ends
	 */
	uint32_t busy;
	int report_fd;                   /* pipe from the init; -1: the child shares this process's memory */
	char paths[SPAWN_PATHS][PATH_MAX];
	char stacks[2 * SPAWN_STACK_SIZE + 64];
};

/* Make the process and let it run. Return its pid, or -1 with the reason in spawn_result. */
pid_t spawn_begin(struct spawn_work *work, const struct spawn_request *request);
/*
 * Wait up to wait_ms (-1: for ever) until the program runs, can't run, or the process is gone. False: the start
 * goes on.
 */
bool spawn_ended(struct spawn_work *work, int wait_ms);
/* The result of a start that has ended: 0, or the errno of the reason why the program doesn't run. */
int spawn_result(struct spawn_work *work, int *ret_status_fd);

/*
 * The child's main function. It shares its parent's memory while the parent runs on, so it calls nothing of the C
 * library, whose errno is the parent's, and changes only child->fault and child->tried.
 */
int spawn_child_main(void *child);
/* spawn_begin for a child in its own pid namespace, below an init; the returned pid is the init's. */
pid_t spawn_with_init(struct spawn_work *work, char *stacks);
/* Read the result that the init has sent, or the end of its pipe. */
void spawn_read_report(struct spawn_work *work);

#endif
