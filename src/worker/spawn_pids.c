/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pid namespace for one attempt, with its own /proc. Its first process, the init, is a copy of the keeper that only
 * waits and passes SIGTERM on to all. When the init ends, the kernel kills everything in the namespace, and no process
 * can leave it. A pipe tells how the job's main process ended, because an init can't die of the same signal as its job.
 */
#include "worker/spawn_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct init {
	struct child *child;
	/* Pipe for ints: first the errno of the start, 0 for none; then the wait status of the main process. */
	int report_fd;
	char *stack_top;
};

static void say(int fd, int number)
{
	while (write(fd, &number, sizeof(number)) < 0 && errno == EINTR)
		;
}

/* Close all descriptors from 3 on except the report pipe and those that the job gets as 0 to 2 or as its directory. */
static int close_others(const struct spawn_request *request, int report_fd)
{
	int keep[] = { request->in_fd, request->out_fd, request->err_fd, request->dir_fd, report_fd };
	unsigned from = 3;

	for (size_t done = 0; done < sizeof(keep) / sizeof(keep[0]); done++) {
		int least = INT_MAX;

		for (size_t i = 0; i < sizeof(keep) / sizeof(keep[0]); i++)
			if (keep[i] >= (int)from && keep[i] < least)
				least = keep[i];
		if (least == INT_MAX)
			break;
		if (least > (int)from && close_range(from, (unsigned)least - 1, 0) < 0)
			return errno;
		from = (unsigned)least + 1;
	}
	return close_range(from, ~0u, 0) < 0 ? errno : 0;
}

/* Mount a /proc that shows this namespace's processes. Later mounts stay inside the namespace. */
static int mount_own_proc(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return errno;
	return 0;
}

/*
 * Wait until the main process has ended; after a SIGTERM, until no process is left. The keeper enforces the stop grace.
 * Returns the main process's exit status as a shell reports it, because a guardian sees nothing else.
 */
static int wait_for_end(pid_t pid, int report_fd)
{
	bool asked = false, ended = false;
	int result = 127;
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGCHLD);
	for (;;) {
		int status, number;
		pid_t gone;

		while ((gone = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
			if (gone == pid) {
				say(report_fd, status);
				ended = true;
				result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
			}
		if ((ended && !asked) || gone < 0)
			return result;
		number = sigwaitinfo(&wanted, NULL);
		if (number != SIGTERM)
			continue;
		asked = true;
		kill(-1, SIGTERM);       /* signals all processes in the namespace except the init itself */
		kill(-1, SIGCONT);
	}
}

static int init_main(void *data)
{
	struct init *init = data;
	struct child *child = init->child;
	const struct spawn_request *request = child->request;
	struct pollfd reader = { .fd = init->report_fd };
	int fault = mount_own_proc();
	pid_t pid;

	if (!fault && ((request->die_with_us && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) || setsid() < 0))
		fault = errno;
	if (!fault)
		fault = close_others(request, init->report_fd);
	/*
	 * The keeper may have died before the death signal was set. Its pid isn't visible in this namespace, so look
	 * whether the pipe still has a reader.
	 */
	if (request->die_with_us && poll(&reader, 1, 0) != 0)
		return 127;
	child->parent_pid = getpid();
	pid = fault ? -1 : clone(spawn_child_main, init->stack_top, CLONE_VM | CLONE_VFORK | SIGCHLD, child);
	if (!fault && pid < 0)
		fault = errno;
	say(init->report_fd, fault ? fault : child->fault);
	return fault || child->fault ? 0 : wait_for_end(pid, init->report_fd);
}

static int try_init(void *data)
{
	(void)data;
	return mount_own_proc();
}

int spawn_try_own_pids(void)
{
	static _Alignas(64) char stack[SPAWN_STACK_SIZE];
	pid_t pid = clone(try_init, stack + sizeof(stack), CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL);
	int status = 0;

	if (pid < 0)
		return errno;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

pid_t spawn_with_init(struct spawn_work *work, char *stacks)
{
	struct init init = { .child = &work->child, .stack_top = stacks + SPAWN_STACK_SIZE };
	int pipe_fds[2];
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
		work->child.fault = errno;
		return -1;
	}
	init.report_fd = pipe_fds[1];
	pid = clone(init_main, stacks + 2 * SPAWN_STACK_SIZE, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, &init);
	if (pid < 0)
		work->child.fault = errno;
	/* From outside the namespace one can't see whether the exec happened. */
	work->child.tried = true;
	close(pipe_fds[1]);
	if (pid < 0)
		close(pipe_fds[0]);
	else
		work->report_fd = pipe_fds[0];
	return pid;
}

void spawn_read_report(struct spawn_work *work)
{
	int fault;
	ssize_t got;

	do
		got = read(work->report_fd, &fault, sizeof(fault));
	while (got < 0 && errno == EINTR);
	work->child.fault = got == sizeof(fault) ? fault : ECHILD;
	if (work->child.fault) {
		close(work->report_fd);
		work->report_fd = -1;
	}
}
