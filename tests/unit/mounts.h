/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests that mount file systems: they run in a mount namespace of their own, where nobody else sees the mounts. */
#ifndef TITAN_TESTS_MOUNTS_H
#define TITAN_TESTS_MOUNTS_H

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

/* Run a test in a child with its own mount namespace. 0: passed, 1: failed, -1: this machine doesn't allow mounts. */
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
