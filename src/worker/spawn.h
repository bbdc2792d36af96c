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
};

/*
 * Once, early: what every child inherits (umask, core limit, no new privileges, being their subreaper); how many
 * files it may open is what the limit is now. -errno or 0.
 */
int spawn_prepare(void);
/* 0 and the pid, in a session of its own; or the errno of what failed, and there was no process. */
int spawn_run(const struct spawn_request *request, pid_t *ret_pid);

#endif
