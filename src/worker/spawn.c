/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clone(CLONE_VM | CLONE_VFORK) on a stack of its own: as fast as vfork, and the compiler can't be
 * surprised by a function that returns twice. The keeper's thread sleeps until the exec.
 */
#include "worker/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE 65536

/* Of before the keeper raised its own: a soft limit that others chose is the jobs' too. */
static struct rlimit jobs_files;

struct child {
	const struct spawn_request *request;
	sigset_t no_signals;
	char (*paths)[PATH_MAX];         /* what to try, in order */
	size_t path_count;
	pid_t keeper_pid;
	int fault;
};

int spawn_prepare(void)
{
	const struct rlimit no_core = { 0, 0 };

	umask(077);
	if (getrlimit(RLIMIT_NOFILE, &jobs_files) < 0 || setrlimit(RLIMIT_CORE, &no_core) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

/* As a shell would: a script without an interpreter line is sh's; the best reason of several is kept. */
__attribute__((no_sanitize("address", "undefined")))
static int try_exec(const struct child *child)
{
	const struct spawn_request *request = child->request;
	int fault = ENOENT;

	for (size_t i = 0; i < child->path_count; i++) {
		execve(child->paths[i], request->argv, request->envp);
		if (errno == ENOEXEC) {
			char *name = request->argv[0];

			request->argv[-1] = (char *)"/bin/sh";
			request->argv[0] = child->paths[i];
			execve("/bin/sh", request->argv - 1, request->envp);
			request->argv[0] = name;
			return errno;
		}
		if (errno == EACCES || (errno != ENOENT && errno != ENOTDIR && fault == ENOENT))
			fault = errno;
	}
	return fault;
}

/* Runs in the keeper's memory: system calls only, and nothing is left changed but child->fault. */
__attribute__((no_sanitize("address", "undefined")))
static int child_main(void *data)
{
	struct child *child = data;
	const struct spawn_request *request = child->request;

	/* The keeper may have died before it was asked for. */
	if (request->die_with_us &&
	    (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != child->keeper_pid)) {
		child->fault = ESRCH;
		return 127;
	}
	if (setsid() < 0 || dup2(request->in_fd, 0) < 0 || dup2(request->out_fd, 1) < 0 ||
	    dup2(request->err_fd, 2) < 0 ||
	    (request->dir ? chdir(request->dir) : fchdir(request->dir_fd)) < 0 ||
	    close_range(3, ~0u, 0) < 0 || setrlimit(RLIMIT_NOFILE, &jobs_files) < 0 || sigprocmask(SIG_SETMASK, &child->no_signals, NULL) < 0)
		child->fault = errno;
	else
		child->fault = try_exec(child);
	return 127;
}

/* The files to try: one if the name has a slash, else one in each directory of the search path. */
static size_t candidates(const char *name, const char *path, char (*out)[PATH_MAX], size_t max)
{
	size_t count = 0;

	if (strchr(name, '/')) {
		if (strlen(name) >= PATH_MAX)
			return 0;
		memcpy(out[0], name, strlen(name) + 1);
		return 1;
	}
	while (path && count < max && name[0]) {
		size_t len = strcspn(path, ":");
		int size = snprintf(out[count], PATH_MAX, "%.*s/%s", len ? (int)len : 1, len ? path : ".", name);

		count += size > 0 && size < PATH_MAX;
		path = path[len] ? path + len + 1 : NULL;
	}
	return count;
}

int spawn_run(const struct spawn_request *request, pid_t *ret_pid)
{
	static _Alignas(64) char stack[STACK_SIZE];
	static char paths[32][PATH_MAX];
	struct child child = { .request = request, .paths = paths, .keeper_pid = getpid() };
	pid_t pid;

	sigemptyset(&child.no_signals);
	child.path_count = candidates(request->argv[0], request->path, paths, sizeof(paths) / sizeof(paths[0]));
	pid = clone(child_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
	if (pid < 0)
		return errno;
	if (child.fault) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return child.fault;
	}
	*ret_pid = pid;
	return 0;
}
