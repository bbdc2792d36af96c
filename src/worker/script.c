/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scripts with an interpreter of their own: each is a file .titan-script in the attempt's own directory, whose name the interpreter
 * gets as an argument. The directory is new or empty at that time, so nothing of the job can be in the way. And the text that a
 * job finds on its standard input.
 */
#include "worker/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"

#define SCRIPT_FILE ".titan-script"

/* Write the file for the user of the job. Returns 0 or -errno. */
static int write_file(int dir_fd, const struct job_user *user, const char *text)
{
	int fd = openat(dir_fd, SCRIPT_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int fault = fd < 0 ? -errno : io_write_all(fd, text, strlen(text));

	if (fault == 0 && user && fchown(fd, user->uid, user->gid) < 0)
		fault = -errno;
	if (fd >= 0 && close(fd) < 0 && fault == 0)
		fault = -errno;
	return fault;
}

int script_put(struct attempt *attempt, const struct job_user *user, const char *dir, char **argv)
{
	char **last = &argv[attempt->argc - attempt->has_input - 1];
	size_t size = strlen(dir) + sizeof("/" SCRIPT_FILE);
	int fault = write_file(attempt->space->dir_fd, user, *last);

	attempt->script = mem_alloc(size);
	snprintf(attempt->script, size, "%s/" SCRIPT_FILE, dir);
	*last = attempt->script;
	return fault;
}

int script_input(const char *text)
{
	int fd = memfd_create("titan-stdin", MFD_CLOEXEC);
	int fault = fd < 0 ? -errno : io_write_all(fd, text, strlen(text));

	if (fault == 0 && lseek(fd, 0, SEEK_SET) < 0)
		fault = -errno;
	if (fault < 0 && fd >= 0)
		close(fd);
	return fault < 0 ? fault : fd;
}
