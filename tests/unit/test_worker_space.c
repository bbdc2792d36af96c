/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spaces of attempts, and jobs that move, replace, mount over or lock what the next job would run in. */
#include "worker/space.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "mounts.h"

#include "greatest.h"
#include "scratch.h"

GREATEST_MAIN_DEFS();

static char dir[SCRATCH_SIZE];
static int dir_fd;
static struct spaces *spaces;

static void open_spaces(void)
{
	struct error error;

	if (spaces_open(dir_fd, NULL, &spaces, &error))
		abort();
}

static void setup_cb(void *data)
{
	(void)data;
	scratch_new("space", dir);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	open_spaces();
}

static void teardown_cb(void *data)
{
	(void)data;
	spaces_close(spaces);
	close(dir_fd);
	io_remove_tree(AT_FDCWD, dir);
}

static bool exists(const char *path)
{
	struct stat st;

	return fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void touch(const char *path)
{
	int fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		abort();
	close(fd);
}

/* Give back the space of an ended job, after the keeper has recorded that. */
static void give_back(struct space *space)
{
	uint64_t sizes[2];

	space_sizes(space, sizes);
	space_release(spaces, space);
	spaces_rested(spaces);
}

/* Do the names lead to the open directories, and is the work directory empty? */
static bool is_sound(const struct space *space)
{
	static const char *const suffixes[] = { "", ".out", ".err" };
	const int fds[] = { space->dir_fd, space->out_fd, space->err_fd };
	struct stat named, opened;
	char name[64];

	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "attempts/%d%s", (int)space->id, suffixes[i]);
		if (fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) < 0 || fstat(fds[i], &opened) < 0 ||
		    named.st_ino != opened.st_ino || named.st_dev != opened.st_dev)
			return false;
	}
	snprintf(name, sizeof(name), "attempts/%d/file", (int)space->id);
	return !exists(name);
}

TEST a_moved_workspace_is_no_later_jobs(void)
{
	struct space *space = space_take(spaces);

	ASSERT_EQ(0, renameat(dir_fd, "attempts/1", dir_fd, "taken"));
	give_back(space);
	space = space_take(spaces);
	ASSERT(space && is_sound(space));
	ASSERT(exists("taken"));
	/* The job put another file in the place of its own. */
	give_back(space);
	for (int round = 0; round < 2; round++) {
		char name[64], other[64];

		space = space_take(spaces);
		snprintf(name, sizeof(name), "attempts/%d", (int)space->id);
		snprintf(other, sizeof(other), "taken.%d", round);
		ASSERT_EQ(0, renameat(dir_fd, name, dir_fd, other));
		ASSERT_EQ(0, round == 0 ? mkdirat(dir_fd, name, 0700) : symlinkat("../taken", dir_fd, name));
		touch(round == 0 ? "taken.0/file" : "taken/file");
		give_back(space);
		space = space_take(spaces);
		ASSERT(space && is_sound(space));
		give_back(space);
	}
	ASSERT(exists("taken/file") && exists("taken.0/file"));
	PASS();
}

TEST a_free_workspace_that_is_moved_is_no_later_jobs(void)
{
	struct space *space = space_take(spaces);

	give_back(space);
	ASSERT_EQ(0, renameat(dir_fd, "attempts/1", dir_fd, "taken"));
	space = space_take(spaces);
	ASSERT(space && is_sound(space));
	space_forget(space);
	PASS();
}

TEST moved_output_is_no_later_jobs(void)
{
	struct space *space = space_take(spaces);

	ASSERT_EQ(0, renameat(dir_fd, "attempts/1.err", dir_fd, "taken"));
	touch("attempts/1.err");
	give_back(space);
	space = space_take(spaces);
	ASSERT(space && is_sound(space));
	ASSERT_FALSE(exists("attempts/1.err"));
	space_forget(space);
	PASS();
}

TEST a_name_that_is_taken_costs_no_job(void)
{
	struct space *space;

	ASSERT_EQ(0, mkdirat(dir_fd, "attempts/1.out", 0700));
	touch("attempts/1.out/file");
	touch("attempts/2");
	space = space_take(spaces);
	ASSERT(space && is_sound(space));
	space_forget(space);
	PASS();
}

static bool mounted_cb(void)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct space *space;

	/* Open the directory again: a descriptor from before unshare belongs to the old mount namespace. */
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	open_spaces();
	space = space_take(spaces);

	snprintf(from, sizeof(from), "%s/theirs", dir);
	snprintf(to, sizeof(to), "%s/attempts/1", dir);
	touch("attempts/1/left");
	if (mount(from, to, NULL, MS_BIND, NULL) < 0)
		return false;
	give_back(space);
	space = space_take(spaces);
	if (!space || !is_sound(space) || space->id == 1 || !exists("theirs/file"))
		return false;
	/*
	 * The directory below the mount is clean, but the names must not lead into the mount either. A mount inside a
	 * space is kept, the rest is removed.
	 */
	snprintf(to, sizeof(to), "%s/attempts/%d", dir, (int)space->id);
	if (mount(from, to, NULL, MS_BIND, NULL) < 0)
		return false;
	give_back(space);
	space = space_take(spaces);
	snprintf(to, sizeof(to), "%s/attempts/%d/in", dir, space ? (int)space->id : 0);
	if (!space || !is_sound(space) || mkdir(to, 0700) < 0 || mount(from, to, NULL, MS_BIND, NULL) < 0)
		return false;
	give_back(space);
	space = space_take(spaces);
	if (!space || !is_sound(space))
		return false;
	space_forget(space);
	/* The next keeper's spaces find the same leftovers. */
	spaces_close(spaces);
	open_spaces();
	spaces_sweep(spaces);
	space = space_take(spaces);
	return space && is_sound(space) && exists("theirs/file");
}

TEST what_is_mounted_over_a_workspace_is_kept(void)
{
	int result;

	ASSERT_EQ(0, mkdirat(dir_fd, "theirs", 0700));
	touch("theirs/file");
	result = in_own_mounts(mounted_cb);
	if (result < 0)
		SKIPm("nothing can be mounted here");
	ASSERT_EQ(0, result);
	PASS();
}

static bool make_immutable(const char *path, bool on)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC), flags = 0;
	bool done = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;

	flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
	done = done && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
	if (fd >= 0)
		close(fd);
	return done;
}

TEST a_workspace_that_cant_be_removed_is_put_aside(void)
{
	struct space *space = space_take(spaces), *other = space_take(spaces);
	bool sound[2];

	touch("attempts/1/left");
	if (!make_immutable("attempts/1", true))
		SKIPm("no file can be made immutable here");
	give_back(space);
	space = space_take(spaces);
	sound[0] = space && space->id != 1 && is_sound(space);
	space_forget(space);
	give_back(other);
	spaces_close(spaces);
	open_spaces();
	spaces_sweep(spaces);
	space = space_take(spaces);
	sound[1] = space && space->id != 1 && is_sound(space);
	space_forget(space);
	make_immutable("attempts/1", false);
	ASSERT(sound[0]);
	ASSERT(sound[1]);
	/* The leftover can be removed once it isn't in use any more. */
	spaces_sweep(spaces);
	ASSERT_FALSE(exists("attempts/1"));
	PASS();
}

SUITE(space_suite)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(a_moved_workspace_is_no_later_jobs);
	RUN_TEST(a_free_workspace_that_is_moved_is_no_later_jobs);
	RUN_TEST(moved_output_is_no_later_jobs);
	RUN_TEST(a_name_that_is_taken_costs_no_job);
	RUN_TEST(what_is_mounted_over_a_workspace_is_kept);
	RUN_TEST(a_workspace_that_cant_be_removed_is_put_aside);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(space_suite);
	GREATEST_MAIN_END();
}
