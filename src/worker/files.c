/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of jobs, on the keeper's side: the link has put them in place in a directory of the attempt, and at its start their first
 * names are moved into the attempt's own directory. Nothing is copied, and nothing is read but names.
 */
#include "worker/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* Move all that is in one directory into another. Returns 0 or -errno. */
static int move_all(DIR *from, int to_fd)
{
	const struct dirent *entry;

	for (errno = 0; (entry = readdir(from)); errno = 0)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    renameat(dirfd(from), entry->d_name, to_fd, entry->d_name) < 0)
			return -errno;
	return -errno;
}

int files_claim(const struct keeper *keeper, const struct attempt *attempt)
{
	const struct job_user *user = keeper->options->user;
	char path[PATH_MAX + 80];
	int fd, result;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/" STAGED_DIR "/%" PRIu64 ".%" PRIu64, user ? user->place : keeper->path, attempt->job, attempt->epoch);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		result = -errno;
		if (fd >= 0)
			close(fd);
		return result;
	}
	result = move_all(dir, attempt->space->dir_fd);
	closedir(dir);
	if (result == 0)
		rmdir(path);
	return result;
}
