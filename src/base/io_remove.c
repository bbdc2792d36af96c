/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removes a directory tree that a job made: it may be deeper than the stack or the limit on descriptors allows, have
 * links out of the tree, and directories without permissions. Nothing recurses: a directory found inside another is
 * moved up into the root of the tree and emptied there. Links are never followed. File systems mounted in the tree are
 * never entered: they aren't the job's, and stay, like everything else that can't be removed.
 */
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* limit on passes, because a process may keep filling the tree */
#define REMOVE_PASSES_MAX 1000000u

struct tree_removal {
	int root_fd;
	unsigned moved;          /* number for the names of directories that were moved up */
	unsigned passes;
	uint64_t mount;          /* mount number of the tree */
};

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/*
 * Open a directory by O_PATH, which needs no permissions, and give it mode 0700. A link isn't followed.
 * -EXDEV: it belongs to another mount.
 */
static int make_accessible(const struct tree_removal *removal, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result;
	struct io_identity identity;
	char path[64];

	if (fd < 0)
		return -errno;
	result = io_identify(fd, "", &identity);
	if (result == 0 && identity.mount != removal->mount)
		result = -EXDEV;
	if (result < 0) {
		close(fd);
		return result;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)chmod(path, 0700);
	return fd;
}

static int open_dir(const struct tree_removal *removal, int dir_fd, const char *name)
{
	int path_fd = make_accessible(removal, dir_fd, name), fd;

	if (path_fd < 0)
		return path_fd;
	fd = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(path_fd);
	return fd;
}

/* Move a directory into the root, under a name that is free there. */
static int move_up(struct tree_removal *removal, int dir_fd, const char *name)
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

static int empty_child(struct tree_removal *removal, const char *name);

/* Remove one entry of dir_fd. A directory in the root is emptied; a deeper one is moved up. */
static int remove_entry(struct tree_removal *removal, int dir_fd, const char *name)
{
	int fd;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno == ENOTDIR)
		return -EPERM;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	if (dir_fd == removal->root_fd)
		return empty_child(removal, name);
	fd = make_accessible(removal, dir_fd, name);
	if (fd < 0)
		return fd;
	close(fd);
	return move_up(removal, dir_fd, name);
}

/*
 * Empty a directory in passes until one removes nothing: a pass may miss directories that are moved up while it runs.
 */
static int empty_dir(struct tree_removal *removal, DIR *dir)
{
	bool progress;
	int failure;

	do {
		struct dirent *entry;

		progress = false;
		failure = 0;
		if (++removal->passes > REMOVE_PASSES_MAX)
			return -ENOTEMPTY;
		rewinddir(dir);
		while ((errno = 0, entry = readdir(dir)) != NULL) {
			int result;

			if (is_dots(entry->d_name))
				continue;
			result = remove_entry(removal, dirfd(dir), entry->d_name);
			progress |= result == 0;
			failure = failure ? failure : result;
		}
		if (errno)
			return -errno;
	} while (progress);
	return failure;
}

/* Remove the directory and its content, and close the descriptor. */
static int remove_dir(struct tree_removal *removal, int dir_fd, const char *name, DIR *dir)
{
	int result = empty_dir(removal, dir);

	closedir(dir);
	if (result == 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		result = -errno;
	return result;
}

static int open_list(const struct tree_removal *removal, int dir_fd, const char *name, DIR **ret_dir)
{
	int fd = open_dir(removal, dir_fd, name), result;

	if (fd < 0)
		return fd;
	*ret_dir = fdopendir(fd);
	if (*ret_dir)
		return 0;
	result = -errno;
	close(fd);
	return result;
}

static int empty_child(struct tree_removal *removal, const char *name)
{
	DIR *dir;
	int result = open_list(removal, removal->root_fd, name, &dir);

	return result < 0 ? result : remove_dir(removal, removal->root_fd, name, dir);
}

int io_remove_tree(int dir_fd, const char *name)
{
	struct tree_removal removal = { 0 };
	struct io_identity identity;
	DIR *dir;
	int result;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	/* A path may lead through mounts, but a plain name should be in its parent's mount. */
	result = strchr(name, '/') ? io_identify(dir_fd, name, &identity) :
	         dir_fd == AT_FDCWD ? io_identify(dir_fd, ".", &identity) : io_identify(dir_fd, "", &identity);
	if (result < 0)
		return result;
	removal.mount = identity.mount;
	result = open_list(&removal, dir_fd, name, &dir);
	if (result == -ENOTDIR)
		result = -EPERM;         /* a file that can't be removed */
	if (result < 0)
		return result;
	removal.root_fd = dirfd(dir);
	return remove_dir(&removal, dir_fd, name, dir);
}
