/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clone(CLONE_VM | CLONE_VFORK) on a stack of its own: as fast as vfork, and the compiler can't be
 * surprised by a function that returns twice. The keeper's thread sleeps until the exec.
 */
#include "worker/spawn_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of before the keeper raised its own: a soft limit that others chose is the jobs' too. */
static struct rlimit jobs_files;

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

__attribute__((no_sanitize("address", "undefined")))
int spawn_child_main(void *data)
{
	struct child *child = data;
	const struct spawn_request *request = child->request;

	/* Its parent may have died before it was asked for. */
	if (request->die_with_us &&
	    (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != child->parent_pid)) {
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

#if defined(__x86_64__)
/*
 * The C library has no clone3 that gives the child a stack of its own, so it is called as it is: the child
 * goes on below, on the new stack, and never returns.
 */
__attribute__((no_sanitize("address", "undefined")))
static long clone3_run(struct clone_args *args, int (*run)(void *), void *data)
{
	long result = SYS_clone3;

	__asm__ volatile(
		"syscall\n\t"
		"test %%rax, %%rax\n\t"
		"jnz 1f\n\t"
		"xor %%ebp, %%ebp\n\t"
		"mov %[data], %%rdi\n\t"
		"call *%[run]\n\t"
		"mov %%eax, %%edi\n\t"
		"mov %[exit], %%eax\n\t"
		"syscall\n"
		"1:"
		: "+a"(result)
		: "D"(args), "S"(sizeof(*args)), [run] "r"(run), [data] "r"(data), [exit] "i"(SYS_exit)
		: "rcx", "r11", "memory", "cc");
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

static pid_t clone_into(int cage_fd, char *stack, int (*run)(void *), void *data)
{
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP, .exit_signal = SIGCHLD,
		.stack = (uintptr_t)stack, .stack_size = SPAWN_STACK_SIZE, .cgroup = (uint64_t)cage_fd,
	};

	return (pid_t)clone3_run(&args, run, data);
}
#else
/* Being moved after birth costs milliseconds: worse than no control group. */
static pid_t clone_into(int cage_fd, char *stack, int (*run)(void *), void *data)
{
	(void)cage_fd;
	(void)stack;
	(void)run;
	(void)data;
	errno = ENOSYS;
	return -1;
}
#endif

static _Alignas(64) char child_stack[SPAWN_STACK_SIZE];

static int end_at_once(void *data)
{
	(void)data;
	return 0;
}

int spawn_try_cage(int cage_fd)
{
	pid_t pid = clone_into(cage_fd, child_stack, end_at_once, NULL);

	if (pid < 0)
		return errno;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int spawn_run(const struct spawn_request *request, pid_t *ret_pid, int *ret_status_fd)
{
	static char paths[32][PATH_MAX];
	struct child child = { .request = request, .paths = paths, .parent_pid = getpid() };
	pid_t pid;

	sigemptyset(&child.no_signals);
	child.path_count = candidates(request->argv[0], request->path, paths, sizeof(paths) / sizeof(paths[0]));
	if (request->own_pids)
		return spawn_with_init(&child, ret_pid, ret_status_fd);
	if (request->cage_fd >= 0)
		pid = clone_into(request->cage_fd, child_stack, spawn_child_main, &child);
	else
		pid = clone(spawn_child_main, child_stack + sizeof(child_stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
	if (pid < 0)
		return errno;
	if (child.fault) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return child.fault;
	}
	*ret_pid = pid;
	*ret_status_fd = -1;
	return 0;
}
