/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A test in a mount space of its own, where it may mount what it likes and nobody else sees it. */
#ifndef TITAN_TESTS_MOUNTS_H
#define TITAN_TESTS_MOUNTS_H

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs it in a child. 0: it was fine, 1: not; -1: this machine lets nobody mount anything. */
static inline int in_own_mounts(bool (*test_cb)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			_exit(2);
		if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
			_exit(2);
		_exit(test_cb() ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status) == 2 ? -1 : WEXITSTATUS(status);
}

#endif
