/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process of an attempt, made directly from the keeper: the child shares the keeper's memory until its
 * exec and does nothing but system calls. Sound as long as the keeper is small and blocks every signal.
 * Its directory and program may lie on a file system that doesn't answer: such a start goes on without the keeper.
 */
#ifndef TITAN_WORKER_SPAWN_H
#define TITAN_WORKER_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

struct spawn_request {
	char **argv;                     /* with a place free in front of argv[0], for the shell of a bare script */
	char **envp;
	const char *path;                /* where argv[0] is looked for if it has no slash */
	int in_fd, out_fd, err_fd;
	int dir_fd;                      /* the working directory, unless dir says another */
	const char *dir;
	bool die_with_us;                /* killed when the keeper dies */
	int cage_fd;                     /* directory of the control group that it is born into; -1: ours */
	bool own_pids;                   /* a process-number space of its own, below an init of ours */
};

/*
 * Once, early: what every child inherits (umask, core limit, no new privileges, being their subreaper); how many
 * files it may open is what the limit is now. -errno or 0.
 */
int spawn_prepare(void);
struct spawner;                          /* a start that hangs */

struct spawn_texts {                     /* the memory that a request points to */
	struct buf pointers, facts;
	char **list;
	char *strings;
};

/*
 * 0 and the pid, in a session of its own; or the errno of what failed, and there was no process. With own_pids
 * that is the init's, and the status of the main process can be read as an int from *ret_status_fd (else -1) when
 * the init has ended. *ret_late isn't NULL when the start hangs: the process is there and no more is known of it; all that
 * the request points to must stay. SIGCHLD comes when that has changed.
 */
int spawn_run(const struct spawn_request *request, pid_t *ret_pid, int *ret_status_fd, struct spawner **ret_late);

/* Of one that hangs. */
void spawner_keep(struct spawner *spawner, struct spawn_texts texts);    /* until it is settled */
bool spawner_ended(const struct spawner *spawner);               /* settling it won't wait */
/*
 * 0: the program ran, or the process was killed; or the errno of why it couldn't. Waits for that: only when the process
 * is gone, or spawner_ended. *ret_tried is false if it was killed before it could become the program.
 */
int spawner_settle(struct spawner *spawner, int *ret_status_fd, bool *ret_tried);

/* Of a process that starts nothing more: its threads are no business of those that it forks. */
void spawn_forget(void);

/* Can a process be born into this control group? 0, or the errno of why not. */
int spawn_try_cage(int cage_fd);
int spawn_try_own_pids(void);            /* likewise */

#endif
