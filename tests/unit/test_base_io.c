/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files, and directory trees that are hard to remove. Each test has a directory of its own. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "greatest.h"
#include "mounts.h"
#include "scratch.h"

static char home[SCRATCH_SIZE];
static int home_fd = -1;

static void setup_cb(void *data)
{
	(void)data;
	scratch_new("io", home);
	home_fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void teardown_cb(void *data)
{
	(void)data;
	close(home_fd);
	if (io_remove_tree(AT_FDCWD, home) != 0)
		abort();
}

static void touch(const char *path)
{
	int fd = openat(home_fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		abort();
	close(fd);
}

static bool exists(const char *path)
{
	struct stat st;

	return fstatat(home_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

TEST files_are_written_and_read(void)
{
	struct buf data = { 0 };
	struct stat st;

	buf_add_str(&data, "before");
	ASSERT_EQ_FMT(-ENOENT, io_read_file(home_fd, "none", 100, &data), "%d");
	ASSERT_STR_EQ("before", buf_cstr(&data));
	ASSERT_EQ_FMT(0, io_write_file(home_fd, "file", "hello", 5, 0640), "%d");
	ASSERT_EQ_FMT(0, io_read_file(home_fd, "file", 5, &data), "%d");
	ASSERT_STR_EQ("hello", buf_cstr(&data));
	ASSERT_EQ_FMT(-EFBIG, io_read_file(home_fd, "file", 4, &data), "%d");
	ASSERT_EQ(0, fstatat(home_fd, "file", &st, 0));
	ASSERT_EQ_FMT(0640u, st.st_mode & 07777, "%o");
	ASSERT_EQ_FMT(0, io_write_file(home_fd, "file", "", 0, 0600), "%d");
	ASSERT_EQ_FMT(0, io_read_file(home_fd, "file", 0, &data), "%d");
	ASSERT_EQ_FMT((size_t)0, data.len, "%zu");
	ASSERT_EQ_FMT(-ENOENT, io_write_file(home_fd, "no/file", "x", 1, 0600), "%d");
	ASSERT_EQ_FMT(-EISDIR, io_read_file(home_fd, ".", 100, &data), "%d");
	buf_free(&data);
	PASS();
}

/* The reader of the pipe starts late, so io_write_all has to wait until the pipe has room for the rest. */
TEST write_all_waits_for_a_full_pipe(void)
{
	static char bytes[300000];
	size_t total = 0;
	int fds[2], status;
	pid_t pid;

	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ_FMT(0, io_set_nonblock(fds[1]), "%d");
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		_exit(io_write_all(fds[1], bytes, sizeof(bytes)) == 0 ? 0 : 1);
	}
	close(fds[1]);
	for (ssize_t got; (got = read(fds[0], bytes, sizeof(bytes))) > 0;)
		total += (size_t)got;
	close(fds[0]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ_FMT(sizeof(bytes), total, "%zu");
	ASSERT_EQ_FMT(-EBADF, io_write_all(-1, "x", 1), "%d");
	PASS();
}

TEST descriptor_flags(void)
{
	int fd = dup(home_fd);

	ASSERT_EQ(0, io_set_cloexec(fd, true));
	ASSERT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	ASSERT_EQ(0, io_set_cloexec(fd, false));
	ASSERT_EQ(0, fcntl(fd, F_GETFD));
	close(fd);
	ASSERT_EQ_FMT(-EBADF, io_set_cloexec(fd, true), "%d");
	ASSERT_EQ_FMT(-EBADF, io_set_nonblock(fd), "%d");
	ASSERT_GT(io_fd_count_limit(), 2);
	PASS();
}

TEST directories_are_made(void)
{
	char path[SCRATCH_SIZE + 64];

	snprintf(path, sizeof(path), "%s/a//b/c/", home);
	ASSERT_EQ_FMT(0, io_make_dirs(path, 0700), "%d");
	ASSERT(exists("a/b/c"));
	ASSERT_EQ_FMT(0, io_make_dirs(path, 0700), "%d");
	touch("file");
	snprintf(path, sizeof(path), "%s/file", home);
	ASSERT_EQ_FMT(-ENOTDIR, io_make_dirs(path, 0700), "%d");
	snprintf(path, sizeof(path), "%s/file/below", home);
	ASSERT_EQ_FMT(-ENOTDIR, io_make_dirs(path, 0700), "%d");
	ASSERT_EQ_FMT(0, io_make_dirs("/", 0700), "%d");
	ASSERT_EQ_FMT(-ENOENT, io_make_dirs("", 0700), "%d");
	PASS();
}

TEST private_directories(void)
{
	char path[SCRATCH_SIZE + 64];

	ASSERT_EQ_FMT(0, io_check_private_dir(home), "%d");
	ASSERT_EQ(0, mkdirat(home_fd, "open", 0700));
	ASSERT_EQ(0, fchmodat(home_fd, "open", 0710, 0));
	snprintf(path, sizeof(path), "%s/open", home);
	ASSERT_EQ_FMT(-EPERM, io_check_private_dir(path), "%d");
	ASSERT_EQ(0, symlinkat(home, home_fd, "link"));
	snprintf(path, sizeof(path), "%s/link", home);
	ASSERT(io_check_private_dir(path) < 0);
	snprintf(path, sizeof(path), "%s/none", home);
	ASSERT_EQ_FMT(-ENOENT, io_check_private_dir(path), "%d");
	PASS();
}

TEST trees_are_removed_and_links_kept_out_of(void)
{
	touch("safe");
	ASSERT_EQ(0, mkdirat(home_fd, "kept", 0700));
	touch("kept/file");
	ASSERT_EQ(0, mkdirat(home_fd, "tree", 0700));
	ASSERT_EQ(0, mkdirat(home_fd, "tree/a", 0700));
	ASSERT_EQ(0, mkdirat(home_fd, "tree/a/b", 0700));
	touch("tree/a/b/file");
	touch("tree/.removed-0");
	ASSERT_EQ(0, mkdirat(home_fd, "tree/.removed-1", 0700));
	touch("tree/.removed-1/file");
	ASSERT_EQ(0, symlinkat("../../kept", home_fd, "tree/a/link"));
	ASSERT_EQ(0, symlinkat("../safe", home_fd, "tree/link"));
	ASSERT_EQ(0, fchmodat(home_fd, "tree/a/b", 0000, 0));
	ASSERT_EQ(0, fchmodat(home_fd, "tree/a", 0500, 0));
	ASSERT_EQ_FMT(0, io_remove_tree(home_fd, "tree"), "%d");
	ASSERT_FALSE(exists("tree"));
	ASSERT(exists("safe"));
	ASSERT(exists("kept/file"));
	ASSERT_EQ_FMT(0, io_remove_tree(home_fd, "tree"), "%d");
	ASSERT_EQ(0, symlinkat("kept", home_fd, "link"));
	ASSERT_EQ_FMT(0, io_remove_tree(home_fd, "link"), "%d");
	ASSERT(exists("kept/file"));
	ASSERT_FALSE(exists("link"));
	PASS();
}

static bool mounted_cb(void)
{
	char from[PATH_MAX], to[PATH_MAX];

	snprintf(from, sizeof(from), "%s/theirs", home);
	snprintf(to, sizeof(to), "%s/tree/a/mounted", home);
	/* Open the directory again: a descriptor from before unshare belongs to the old mount namespace. */
	home_fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount(from, to, NULL, MS_BIND, NULL) < 0 || io_remove_tree(home_fd, "tree") != -EBUSY)
		return false;
	/*
	 * The files beside the mount are removed and those below it stay; if the tree's root is itself a mount, nothing
	 * is removed.
	 */
	if (!exists("theirs/file") || exists("tree/a/before") || exists("tree/z"))
		return false;
	if (mkdirat(home_fd, "root", 0700) < 0)
		return false;
	snprintf(to, sizeof(to), "%s/root", home);
	return mount(from, to, NULL, MS_BIND, NULL) == 0 && io_remove_tree(home_fd, "root") == -EXDEV &&
	       exists("theirs/file");
}

TEST what_is_mounted_in_a_tree_stays(void)
{
	int result;

	for (const char **dir = (const char *[]){ "theirs", "tree", "tree/a", "tree/a/mounted", "tree/z", NULL }; *dir; dir++)
		ASSERT_EQ(0, mkdirat(home_fd, *dir, 0700));
	touch("theirs/file");
	touch("tree/a/before");
	touch("tree/z/after");
	result = in_own_mounts(mounted_cb);
	if (result < 0)
		SKIPm("nothing can be mounted here");
	ASSERT_EQ(0, result);
	ASSERT_EQ(0, io_remove_tree(home_fd, "tree"));
	PASS();
}

/* The tree is deeper than the number of descriptors allows, and its path is longer than PATH_MAX. */
TEST deep_trees_are_removed(void)
{
	int fd = dup(home_fd);

	for (int depth = 0; depth < 3000; depth++) {
		int next;

		ASSERT_EQ(0, mkdirat(fd, "deeper", 0700));
		next = openat(fd, "deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ASSERT_GTE(next, 0);
		close(fd);
		fd = next;
	}
	close(fd);
	ASSERT_EQ_FMT(0, io_remove_tree(home_fd, "deeper"), "%d");
	ASSERT_FALSE(exists("deeper"));
	PASS();
}

/* The log goes to stderr, so the test replaces stderr by a pipe. */
TEST log_lines_are_escaped(void)
{
	int fds[2], saved = dup(STDERR_FILENO);
	char text[512] = "";
	ssize_t got;

	ASSERT_EQ(0, pipe(fds));
	log_init("master", LOG_LEVEL_INFO);
	dup2(fds[1], STDERR_FILENO);
	log_warn("job %s\x1b[2J", "a\nb");
	log_debug("not shown");
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fds[1]);
	got = read(fds[0], text, sizeof(text) - 1);
	close(fds[0]);
	ASSERT_GT(got, 25);
	ASSERT_EQ('Z', text[23]);
	ASSERT_STR_EQ(" master warn  job a\\nb\\x1b[2J\n", text + 24);
	PASS();
}

SUITE(base_io)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(files_are_written_and_read);
	RUN_TEST(write_all_waits_for_a_full_pipe);
	RUN_TEST(descriptor_flags);
	RUN_TEST(directories_are_made);
	RUN_TEST(private_directories);
	RUN_TEST(trees_are_removed_and_links_kept_out_of);
	RUN_TEST(what_is_mounted_in_a_tree_stays);
	RUN_TEST(deep_trees_are_removed);
	RUN_TEST(log_lines_are_escaped);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(base_io);
	GREATEST_MAIN_END();
}
