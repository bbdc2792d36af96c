/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker of this machine as other processes see it: by the lock in its directory, and by the mark in the
 * environment of its jobs.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "worker/home.h"
#include "worker/tree.h"

#define LOOKS         3
#define LOOK_AGAIN_NS (5 * NS_PER_MS)

static void lock_path(const char *path, char out[PATH_MAX + 16])
{
	snprintf(out, PATH_MAX + 16, "%s/" HOME_GUARDIAN, path);
}

bool worker_is_served(const char *path)
{
	char lock[PATH_MAX + 16];
	bool held;
	int fd;

	lock_path(path, lock);
	fd = open(lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	held = flock(fd, LOCK_SH | LOCK_NB) < 0;
	close(fd);
	return held;
}

bool worker_signal(const char *path, int number)
{
	char lock[PATH_MAX + 16];
	struct buf text = { 0 };
	struct tree_stat stat;
	int64_t begun_ns;
	bool sent = false;
	int pid, pidfd;

	lock_path(path, lock);
	if (worker_is_served(path) && io_read_file(AT_FDCWD, lock, 64, &text) == 0 &&
	    sscanf(buf_cstr(&text), "%d %" SCNd64, &pid, &begun_ns) == 2 && (pidfd = pidfd_open(pid, 0)) >= 0) {
		/* Open the pidfd first, then check that it is still the process that signed the lock. */
		sent = tree_stat(pid, &stat) && stat.begun_ns == begun_ns && pidfd_send_signal(pidfd, number, NULL, 0) == 0;
		close(pidfd);
	}
	buf_free(&text);
	return sent;
}

size_t worker_left_processes(const char *path)
{
	const struct timespec wait = { .tv_nsec = LOOK_AGAIN_NS };
	struct pid_list list = { 0 };
	uint64_t job, epoch;
	size_t found = 0;
	char mark[HOME_MARK_SIZE];
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	/*
	 * A process in the middle of an exec shows no mark, so search several times before concluding that there is
	 * none.
	 */
	for (int look = 0; look < LOOKS && found == 0 && home_mark(fd, mark) == 0; look++) {
		if (look > 0)
			nanosleep(&wait, NULL);
		tree_processes(&list);
		for (size_t i = 0; i < list.n; i++)
			found += tree_mark(list.at[i], mark, &job, &epoch);
	}
	pid_list_free(&list);
	close(fd);
	return found;
}
