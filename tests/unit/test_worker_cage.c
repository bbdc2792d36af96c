/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control groups of attempts: which processes get a signal, and that no group is left behind. Skipped where none can be
 * made.
 */
#include "worker/cage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct cages *cages;
static unsigned busy;                    /* number of the next removals of a group that fail as busy */
static pid_t leaves;                     /* the process leaves its group at the moment when its descriptor is opened */

static void move_to(int dir_fd, pid_t pid)
{
	int fd = openat(dir_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

	if (dprintf(fd, "%d", (int)pid) < 0)
		abort();
	close(fd);
}

/* unlinkat and pidfd_open replace the C library's functions of these names. */
int unlinkat(int dir_fd, const char *name, int flags)
{
	if (busy > 0 && flags & AT_REMOVEDIR) {
		busy--;
		errno = EBUSY;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, dir_fd, name, flags);
}

int pidfd_open(pid_t pid, unsigned flags)
{
	if (pid == leaves) {
		int fd = open(cages_path(cages), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		move_to(fd, pid);
		close(fd);
	}
	return (int)syscall(SYS_pidfd_open, pid, flags);
}

static void setup_cb(void *data)
{
	char mark[32];

	(void)data;
	busy = 0;
	leaves = 0;
	snprintf(mark, sizeof(mark), "test-%d", (int)getpid());
	if (cages_open(mark, &cages) < 0)
		cages = NULL;
}

static void teardown_cb(void *data)
{
	(void)data;
	cages_close(cages);
}

struct child {
	pid_t pid;
	int ask, answer;
};

/* Fork a child in the cage that echoes each byte that it is sent. */
static struct child child_in(struct cage *cage)
{
	struct child child;
	int ask[2], answer[2];

	if (pipe2(ask, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0)
		abort();
	fflush(stdout);
	child.pid = fork();
	if (child.pid == 0) {
		char byte;

		close(ask[1]);
		close(answer[0]);
		while (read(ask[0], &byte, 1) == 1 && write(answer[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(ask[0]);
	close(answer[1]);
	child.ask = ask[1];
	child.answer = answer[0];
	move_to(cage_fd(cage), child.pid);
	return child;
}

static bool lives(const struct child *child)
{
	char byte = 'x';

	return write(child->ask, &byte, 1) == 1 && read(child->answer, &byte, 1) == 1;
}

static int status_of(const struct child *child)
{
	int status = -1;

	waitpid(child->pid, &status, 0);
	close(child->ask);
	close(child->answer);
	return status;
}

static bool group_exists(unsigned number)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%u", cages_path(cages), number);
	return access(path, F_OK) == 0;
}

TEST a_process_that_is_no_longer_inside_gets_no_signal(void)
{
	struct child inside, outside;
	struct cage *cage;

	if (!cages)
		SKIPm("no control groups");
	cage = cage_take(cages);
	outside = child_in(cage);
	inside = child_in(cage);
	leaves = outside.pid;
	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(1, cage_signal(cage, SIGTERM));
	ASSERT_EQ(SIGTERM, WTERMSIG(status_of(&inside)));
	ASSERT(lives(&outside));
	kill(outside.pid, SIGKILL);
	status_of(&outside);
	cage_release(cages, cage, false);
	PASS();
}

TEST a_group_that_was_killed_goes_when_its_processes_have_ended(void)
{
	struct cage *empty, *cage;
	struct child child;

	if (!cages)
		SKIPm("no control groups");
	empty = cage_take(cages);
	cage = cage_take(cages);
	child = child_in(cage);
	cage_leave(empty);
	cage_leave(cage);
	ASSERT(group_exists(2));
	busy = 3;
	ASSERT_EQ(1, cages_sweep(cages));
	ASSERT_EQ(SIGKILL, WTERMSIG(status_of(&child)));
	ASSERT_EQ_FMT(0u, busy, "%u");
	ASSERT_FALSE(group_exists(1));
	ASSERT_FALSE(group_exists(2));
	PASS();
}

TEST a_group_that_is_busy_goes_later(void)
{
	struct cage *cage, *next;

	if (!cages)
		SKIPm("no control groups");
	cage = cage_take(cages);
	busy = 1;
	cage_release(cages, cage, false);
	ASSERT(group_exists(1));
	next = cage_take(cages);
	ASSERT_FALSE(group_exists(1));
	ASSERT(group_exists(2));
	cage_release(cages, next, true);
	PASS();
}

SUITE(worker_cage)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(a_process_that_is_no_longer_inside_gets_no_signal);
	RUN_TEST(a_group_that_was_killed_goes_when_its_processes_have_ended);
	RUN_TEST(a_group_that_is_busy_goes_later);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(worker_cage);
	GREATEST_MAIN_END();
}
