/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts a process by clone(CLONE_VM | CLONE_VFORK) on a stack of its own: as fast as vfork, without a
 * function that returns twice, which could surprise the compiler. The calling thread sleeps until the exec
 * (see spawner.c).
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

/* The limit on open files before the first keeper raised its own: jobs get the limit that the user chose. */
static struct rlimit jobs_files;

int spawn_prepare(void)
{
	const struct rlimit no_core = { 0, 0 };

	umask(077);
	if ((jobs_files.rlim_max == 0 && getrlimit(RLIMIT_NOFILE, &jobs_files) < 0) || setrlimit(RLIMIT_CORE, &no_core) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

/* Exec as a shell would: run a script without interpreter line by sh; of several errors return the most telling. */
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

	/* The parent may have died before the death signal was set. */
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
	else {
		child->tried = true;
		child->fault = try_exec(child);
	}
	return 127;
}

/* List the files to try: the name itself if it has a slash, else one in each directory of the search path. */
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
 * Call clone3 directly: the C library has no function for it that gives the child its own stack. The child
 * runs below, on the new stack, and never returns.
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

static pid_t clone_into(int cage_fd, char *stack, int (*run)(void *), void *data, pid_t *pid_at)
{
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP | CLONE_PARENT_SETTID, .exit_signal = SIGCHLD,
		.stack = (uintptr_t)stack, .stack_size = SPAWN_STACK_SIZE, .cgroup = (uint64_t)cage_fd,
		.parent_tid = (uintptr_t)pid_at,
	};

	return (pid_t)clone3_run(&args, run, data);
}
#else
/*
 * Without clone3: fail. Moving a process into a group after its birth costs milliseconds, which is worse than
 * no control group.
 */
static pid_t clone_into(int cage_fd, char *stack, int (*run)(void *), void *data, pid_t *pid_at)
{
	(void)pid_at;
	(void)cage_fd;
	(void)stack;
	(void)run;
	(void)data;
	errno = ENOSYS;
	return -1;
}
#endif

static int end_at_once(void *data)
{
	(void)data;
	return 0;
}

int spawn_try_cage(int cage_fd)
{
	static _Alignas(64) char stack[SPAWN_STACK_SIZE];
	pid_t made, pid = clone_into(cage_fd, stack, end_at_once, NULL, &made);

	if (pid < 0)
		return errno;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

void spawn_work(struct spawn_work *work, const struct spawn_request *request, struct spawn_result *ret_result)
{
	struct child child = { .request = request, .paths = work->paths, .parent_pid = getpid() };
	char *stack = work->stacks + (64 - (uintptr_t)work->stacks % 64) % 64;
	pid_t *pid_at = (pid_t *)&ret_result->pid, pid;

	sigemptyset(&child.no_signals);
	child.path_count = candidates(request->argv[0], request->path, work->paths, SPAWN_PATHS);
	if (request->own_pids) {
		spawn_with_init(&child, stack, ret_result);
		return;
	}
	if (request->cage_fd >= 0)
		pid = clone_into(request->cage_fd, stack, spawn_child_main, &child, pid_at);
	else
		pid = clone(spawn_child_main, stack + SPAWN_STACK_SIZE,
			    CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID | SIGCHLD, &child, pid_at);
	ret_result->fault = pid < 0 ? errno : child.fault;
	ret_result->tried = child.tried;
}
