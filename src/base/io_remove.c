/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removing a tree. A job made it, so it may be deeper than the stack or the descriptors go, hold links
 * out of itself, and directories without permissions. Nothing recurses: a directory found inside another
 * one is moved up into the root of the tree, and each is emptied there. Never follows a link.
 */
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A bound, for the case that somebody keeps filling the tree. */
#define REMOVE_PASSES_MAX 1000000u

struct removal {
	int root_fd;
	unsigned moved;          /* for the names of what was moved up */
	unsigned passes;
};

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* By an O_PATH descriptor: neither a link nor missing permissions matter then. */
static void make_accessible(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[64];

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)chmod(path, 0700);
	close(fd);
}

static int open_dir(int dir_fd, const char *name)
{
	int fd;

	make_accessible(dir_fd, name);
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Into the root under a name that is free there. */
static int move_up(struct removal *removal, int dir_fd, const char *name)
{
	char free_name[32];

	for (;;) {
		snprintf(free_name, sizeof(free_name), ".removed-%u", removal->moved++);
		if (renameat(dir_fd, name, removal->root_fd, free_name) == 0)
			return 0;
		if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
			return -errno;
		if (removal->moved == REMOVE_PASSES_MAX)
			return -EEXIST;
	}
}

static int empty_child(struct removal *removal, const char *name);

/* One entry of dir_fd. In the root a directory is emptied; deeper it is moved up. */
static int remove_entry(struct removal *removal, int dir_fd, const char *name)
{
	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	if (dir_fd == removal->root_fd)
		return empty_child(removal, name);
	make_accessible(dir_fd, name);
	return move_up(removal, dir_fd, name);
}

/* Pass after pass until one finds nothing: what is moved up during a pass may be missed by it. */
static int empty_dir(struct removal *removal, DIR *dir)
{
	bool found;

	do {
		struct dirent *entry;

		found = false;
		if (++removal->passes > REMOVE_PASSES_MAX)
			return -ENOTEMPTY;
		rewinddir(dir);
		while ((errno = 0, entry = readdir(dir)) != NULL) {
			int result;

			if (is_dots(entry->d_name))
				continue;
			found = true;
			result = remove_entry(removal, dirfd(dir), entry->d_name);
			if (result < 0)
				return result;
		}
		if (errno)
			return -errno;
	} while (found);
	return 0;
}

static int empty_child(struct removal *removal, const char *name)
{
	int fd = open_dir(removal->root_fd, name), result;
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		result = -errno;
		close(fd);
		return result;
	}
	result = empty_dir(removal, dir);
	closedir(dir);
	if (result == 0 && unlinkat(removal->root_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		result = -errno;
	return result;
}

int io_remove_tree(int dir_fd, const char *name)
{
	struct removal removal = { 0 };
	DIR *dir;
	int fd, result;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	fd = open_dir(dir_fd, name);
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		result = -errno;
		close(fd);
		return result;
	}
	removal.root_fd = fd;
	result = empty_dir(&removal, dir);
	closedir(dir);
	if (result == 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		result = -errno;
	return result;
}
