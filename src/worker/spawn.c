/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts a process by clone(CLONE_VM) on a stack of its own: as fast as vfork, but without a function that returns
 * twice. The caller may wait for the exec, and may stop waiting (see spawner.c): at the exec, the kernel clears a word
 * in the caller's memory and wakes it (CLONE_CHILD_CLEARTID).
 */
#include "worker/spawn_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
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
#include <time.h>
#include <unistd.h>

#define START_FLAGS (CLONE_VM | CLONE_CHILD_CLEARTID)

/* The limit on open files before the first keeper raised it: jobs get the user's limit. */
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

/* Make a system call in the child. Returns -errno on failure and doesn't touch errno, which parent and child share. */
__attribute__((no_sanitize("address", "undefined")))
static inline long call(long number, long one, long two, long three, long four)
{
#if defined(__x86_64__)
	register long fourth __asm__("r10") = four;

	__asm__ volatile("syscall" : "+a"(number) : "D"(one), "S"(two), "d"(three), "r"(fourth) : "rcx", "r11", "memory");
	return number;
#elif defined(__aarch64__)
	register long which __asm__("x8") = number;
	register long first __asm__("x0") = one, second __asm__("x1") = two, third __asm__("x2") = three, fourth __asm__("x3") = four;

	__asm__ volatile("svc 0" : "+r"(first) : "r"(which), "r"(second), "r"(third), "r"(fourth) : "memory");
	return first;
#else
	/* A start that hangs could still change errno here once, while the keeper runs. */
	return syscall(number, one, two, three, four) < 0 ? -errno : 0;
#endif
}

__attribute__((no_sanitize("address", "undefined")))
static int exec(const char *path, char **argv, char **envp)
{
	return (int)-call(SYS_execve, (long)path, (long)argv, (long)envp, 0);
}

/* Exec like a shell: run a script without interpreter line by sh; of several errors return the most telling. */
__attribute__((no_sanitize("address", "undefined")))
static int try_exec(const struct child *child)
{
	const struct spawn_request *request = child->request;
	int fault = ENOENT;

	for (size_t i = 0; i < child->path_count; i++) {
		int refused = exec(child->paths[i], request->argv, request->envp);

		if (refused == ENOEXEC) {
			char *name = request->argv[0];

			request->argv[-1] = (char *)"/bin/sh";
			request->argv[0] = child->paths[i];
			refused = exec("/bin/sh", request->argv - 1, request->envp);
			request->argv[0] = name;
			return refused;
		}
		if (refused == EACCES || (refused != ENOENT && refused != ENOTDIR && fault == ENOENT))
			fault = refused;
	}
	return fault;
}

/* Make fd the child's descriptor `as`. Returns -errno on failure. */
__attribute__((no_sanitize("address", "undefined")))
static long take_fd(int fd, int as)
{
	return fd == as ? 0 : call(SYS_dup3, fd, as, 0, 0);
}

__attribute__((no_sanitize("address", "undefined")))
static bool parent_has_died(const struct child *child)
{
	return child->request->die_with_us && (call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0) < 0 ||
					       call(SYS_getppid, 0, 0, 0, 0) != child->parent_pid);
}

/*
 * Give up the rights of root for good. By system calls, which change this process alone; those of the C library would
 * change all threads of the keeper, whose memory this is.
 */
__attribute__((no_sanitize("address", "undefined")))
static long become_user(const struct child *child)
{
	const struct job_user *user = child->request->user;
	long result;

	if (!user)
		return 0;
	result = call(SYS_setgroups, user->group_count, (long)user->groups, 0, 0);
	if (result >= 0)
		result = call(SYS_setresgid, user->gid, user->gid, user->gid, 0);
	if (result >= 0)
		result = call(SYS_setresuid, user->uid, user->uid, user->uid, 0);
	/* A change of the user clears the signal that is sent at the parent's death. */
	return result >= 0 && parent_has_died(child) ? -ESRCH : result;
}

/* Change to the working directory. A fault of the one that the request names is marked. */
__attribute__((no_sanitize("address", "undefined")))
static long enter_dir(const struct spawn_request *request)
{
	struct stat info;
	long result;

	if (!request->dir)
		return call(SYS_fchdir, request->dir_fd, 0, 0, 0);
	result = call(SYS_chdir, (long)request->dir, 0, 0, 0);
	if (result >= 0 && request->dir_inode) {
		result = call(SYS_newfstatat, AT_FDCWD, (long)".", (long)&info, 0);
		if (result >= 0 && (info.st_ino != request->dir_inode || info.st_dev != request->dir_device))
			result = -ESTALE;
	}
	return result < 0 ? -(-result | FAULT_DIR) : 0;
}

__attribute__((no_sanitize("address", "undefined")))
static long prepare(const struct child *child)
{
	const struct spawn_request *request = child->request;
	long result = call(SYS_setsid, 0, 0, 0, 0);

	if (result >= 0)
		result = take_fd(request->in_fd, 0);
	if (result >= 0)
		result = take_fd(request->out_fd, 1);
	if (result >= 0)
		result = take_fd(request->err_fd, 2);
	if (result >= 0)
		result = call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&jobs_files, 0);
	if (result >= 0)
		result = become_user(child);
	if (result >= 0)
		result = enter_dir(request);
	if (result >= 0)
		result = call(SYS_close_range, 3, ~0u, 0, 0);
	if (result >= 0)
		result = call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&child->no_signals, 0, _NSIG / 8);
	return result;
}

__attribute__((no_sanitize("address", "undefined")))
int spawn_child_main(void *data)
{
	struct child *child = data;
	long result;

	/* The parent may have died before the death signal was set. */
	if (parent_has_died(child)) {
		child->fault = ESRCH;
		return 127;
	}
	result = prepare(child);
	if (result < 0)
		child->fault = (int)-result;
	else {
		child->tried = true;
		child->fault = try_exec(child);
	}
	return 127;
}

/* List the files to try: the name itself if it has a slash, otherwise one in each directory of the search path. */
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
 * Call clone3 directly, because the C library has no function for it that gives the child its own stack. The child runs
 * below, on the new stack, and never returns.
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

static pid_t clone_into(int cage_fd, char *stack, int (*run)(void *), void *data, uint32_t *busy)
{
	struct clone_args args = {
		.flags = START_FLAGS | CLONE_INTO_CGROUP, .exit_signal = SIGCHLD,
		.stack = (uintptr_t)stack, .stack_size = SPAWN_STACK_SIZE, .cgroup = (uint64_t)cage_fd,
		.child_tid = (uintptr_t)busy,
	};

	return (pid_t)clone3_run(&args, run, data);
}
#else
/*
 * Without clone3, fail: moving a process into a group after its start costs milliseconds, which is worse than no
 * control group.
 */
static pid_t clone_into(int cage_fd, char *stack, int (*run)(void *), void *data, uint32_t *busy)
{
	(void)busy;
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
	static uint32_t busy;
	pid_t pid = clone_into(cage_fd, stack, end_at_once, NULL, &busy);

	if (pid < 0)
		return errno;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/*
 * Under qemu-user no process shares its memory with another. Start a copy of this one: whatever keeps the program from
 * running isn't told here, but ends the job with exit code 127.
 */
static pid_t begin_apart(struct spawn_work *work, char *stack)
{
	work->busy = 0;
	work->child.tried = true;
	return clone(spawn_child_main, stack + SPAWN_STACK_SIZE, SIGCHLD, &work->child);
}

pid_t spawn_begin(struct spawn_work *work, const struct spawn_request *request)
{
	char *stack = work->stacks + (64 - (uintptr_t)work->stacks % 64) % 64;
	struct child *child = &work->child;
	pid_t pid;

	*child = (struct child){ .request = request, .paths = work->paths, .parent_pid = getpid() };
	sigemptyset(&child->no_signals);
	child->path_count = candidates(request->argv[0], request->path, work->paths, SPAWN_PATHS);
	work->report_fd = -1;
	if (request->own_pids)
		return spawn_with_init(work, stack);
	work->busy = 1;
	if (request->cage_fd >= 0)
		pid = clone_into(request->cage_fd, stack, spawn_child_main, child, &work->busy);
	else
		pid = clone(spawn_child_main, stack + SPAWN_STACK_SIZE, START_FLAGS | SIGCHLD, child, NULL, NULL, &work->busy);
	if (pid < 0 && errno == EINVAL && request->cage_fd < 0)
		pid = begin_apart(work, stack);
	if (pid < 0) {
		child->fault = errno;
		work->busy = 0;
	}
	return pid;
}

bool spawn_ended(struct spawn_work *work, int wait_ms)
{
	const struct timespec wait = { .tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L };
	struct pollfd report = { .fd = work->report_fd, .events = POLLIN };

	if (work->report_fd >= 0)
		return poll(&report, 1, wait_ms) > 0;
	while (__atomic_load_n(&work->busy, __ATOMIC_ACQUIRE) != 0)
		if (wait_ms == 0 || (syscall(SYS_futex, &work->busy, FUTEX_WAIT, 1, wait_ms < 0 ? NULL : &wait) < 0 && errno == ETIMEDOUT))
			return __atomic_load_n(&work->busy, __ATOMIC_ACQUIRE) == 0;
	return true;
}

int spawn_result(struct spawn_work *work, int *ret_status_fd)
{
	if (work->report_fd >= 0)
		spawn_read_report(work);
	*ret_status_fd = work->report_fd;
	return work->child.fault;
}
