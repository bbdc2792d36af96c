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
	int fault;
	bool tried;                      /* the exec may have happened, in case the process was killed */
};

/*
 * The memory that a start needs as long as it lasts. In its own pid namespace, the child is a copy of this one
 * in a process that isn't ours, and report_fd says what became of it.
 */
struct spawn_work {
	struct child child;
	/* 1 while the child uses this memory: the kernel sets it to 0 when the child's exec succeeds or the child ends. */
	uint32_t busy;
	int report_fd;                   /* pipe from the init; -1: the child shares our memory */
	char paths[SPAWN_PATHS][PATH_MAX];
	char stacks[2 * SPAWN_STACK_SIZE + 64];
};

/* Make the process and let it run. Returns its pid, or -1: spawn_result says why. */
pid_t spawn_begin(struct spawn_work *work, const struct spawn_request *request);
/*
 * Wait up to wait_ms (-1: for ever) until the program runs, can't run, or the process is gone. False: the start
 * goes on.
 */
bool spawn_ended(struct spawn_work *work, int wait_ms);
/* The result of a start that has ended: 0, or the errno why the program doesn't run. */
int spawn_result(struct spawn_work *work, int *ret_status_fd);

/*
 * The child's main function. It shares its parent's memory while the parent runs on, so it calls nothing of the
 * C library, whose errno is the parent's, and changes nothing but child->fault and child->tried.
 */
int spawn_child_main(void *child);
/* spawn_begin for a child in its own pid namespace, below an init of ours; the pid returned is the init's. */
pid_t spawn_with_init(struct spawn_work *work, char *stacks);
/* Read the result from the init, which has sent it or ended. */
void spawn_read_report(struct spawn_work *work);

#endif
