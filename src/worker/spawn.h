/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process of an attempt, made directly from the keeper: the child shares the keeper's memory until its
 * exec and does nothing but system calls. Sound as long as the keeper is small and blocks every signal.
 */
#ifndef TITAN_WORKER_SPAWN_H
#define TITAN_WORKER_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

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
/*
 * 0 and the pid, in a session of its own; or the errno of what failed, and there was no process. With own_pids
 * that is the init's, and the status of the main process can be read as an int from *ret_status_fd (else -1) when
 * the init has ended.
 */
int spawn_run(const struct spawn_request *request, pid_t *ret_pid, int *ret_status_fd);

/* Can a process be born into this control group? 0, or the errno of why not. */
int spawn_try_cage(int cage_fd);
int spawn_try_own_pids(void);            /* likewise */

#endif
