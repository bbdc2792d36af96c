/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a cluster's directory is, who may enter it, and whose socket is accepted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/statedir.h"
#include "greatest.h"
#include "scratch.h"

static char home[SCRATCH_SIZE];

static void setup_cb(void *data)
{
	(void)data;
	scratch_new("place", home);
	setenv("HOME", home, 1);
	unsetenv("XDG_STATE_HOME");
	unsetenv("TITAN_STATE");
}

static void teardown_cb(void *data)
{
	(void)data;
	if (io_remove_tree(AT_FDCWD, home) != 0)
		abort();
}

/* Does statedir.dir equal this path below the home directory? */
static bool is_at(const struct statedir *statedir, const char *below)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", home, below);
	return strcmp(statedir->dir, path) == 0;
}

TEST the_first_of_three_variables_says_where(void)
{
	struct statedir statedir;
	char path[PATH_MAX];

	ASSERT_EQ_FMT(0, statedir_find(NULL, &statedir), "%d");
	ASSERT(is_at(&statedir, ".local/state/titan/default"));
	ASSERT_STR_EQ("default", statedir.cluster);
	setenv("XDG_STATE_HOME", "not/absolute", 1);
	ASSERT_EQ_FMT(0, statedir_find("", &statedir), "%d");
	ASSERT(is_at(&statedir, ".local/state/titan/default"));
	snprintf(path, sizeof(path), "%s/xdg", home);
	setenv("XDG_STATE_HOME", path, 1);
	ASSERT_EQ_FMT(0, statedir_find("blue", &statedir), "%d");
	ASSERT(is_at(&statedir, "xdg/titan/blue"));
	ASSERT_STR_EQ("blue", statedir.cluster);
	snprintf(path, sizeof(path), "%s/own", home);
	setenv("TITAN_STATE", path, 1);
	ASSERT_EQ_FMT(0, statedir_find("blue", &statedir), "%d");
	ASSERT(is_at(&statedir, "own/blue"));
	PASS();
}

TEST a_relative_state_directory_becomes_absolute(void)
{
	struct statedir statedir;
	char before[PATH_MAX];

	ASSERT(getcwd(before, sizeof(before)));
	ASSERT_EQ_FMT(0, chdir(home), "%d");
	setenv("TITAN_STATE", "here", 1);
	ASSERT_EQ_FMT(0, statedir_find("blue", &statedir), "%d");
	ASSERT_EQ_FMT(0, chdir(before), "%d");
	ASSERT(is_at(&statedir, "here/blue"));
	PASS();
}

TEST bad_names_and_no_home_are_refused(void)
{
	struct statedir statedir = { .cluster = "untouched" };
	char name[200];

	ASSERT_EQ_FMT(-EINVAL, statedir_find("..", &statedir), "%d");
	ASSERT_EQ_FMT(-EINVAL, statedir_find("a/b", &statedir), "%d");
	ASSERT_EQ_FMT(-EINVAL, statedir_find(".hidden", &statedir), "%d");
	memset(name, 'n', sizeof(name));
	name[129] = '\0';
	ASSERT_EQ_FMT(-EINVAL, statedir_find(name, &statedir), "%d");
	name[128] = '\0';
	setenv("TITAN_STATE", "/s", 1);
	ASSERT_EQ_FMT(0, statedir_find(name, &statedir), "%d");
	unsetenv("TITAN_STATE");
	strcpy(statedir.cluster, "untouched");
	unsetenv("HOME");
	ASSERT_EQ_FMT(-ENOENT, statedir_find("default", &statedir), "%d");
	ASSERT_STR_EQ("untouched", statedir.cluster);
	PASS();
}

TEST only_a_private_directory_will_do(void)
{
	struct statedir statedir;
	struct stat info;
	int fd = -7;

	ASSERT_EQ_FMT(0, statedir_find("default", &statedir), "%d");
	ASSERT_EQ_FMT(-ENOENT, statedir_socket_connect(&statedir, &fd), "%d");
	ASSERT_EQ_FMT(0, statedir_make(&statedir), "%d");
	ASSERT_EQ_FMT(0, statedir_make(&statedir), "%d");
	ASSERT_EQ_FMT(0, stat(statedir.dir, &info), "%d");
	ASSERT_EQ_FMT(0700u, info.st_mode & 07777u, "%o");
	ASSERT_EQ_FMT(0, chmod(statedir.dir, 0750), "%d");
	ASSERT_EQ_FMT(-EPERM, statedir_make(&statedir), "%d");
	ASSERT_EQ_FMT(-EPERM, statedir_socket_listen(&statedir, &fd), "%d");
	ASSERT_EQ_FMT(-EPERM, statedir_socket_connect(&statedir, &fd), "%d");
	ASSERT_EQ_FMT(-7, fd, "%d");
	PASS();
}

TEST a_symbolic_link_is_no_directory(void)
{
	struct statedir real, alias;
	int fd = -7;

	ASSERT_EQ_FMT(0, statedir_find("default", &real), "%d");
	ASSERT_EQ_FMT(0, statedir_find("alias", &alias), "%d");
	ASSERT_EQ_FMT(0, statedir_make(&real), "%d");
	ASSERT_EQ_FMT(0, symlink(real.dir, alias.dir), "%d");
	ASSERT_EQ_FMT(-ELOOP, statedir_make(&alias), "%d");
	ASSERT_EQ_FMT(-ELOOP, statedir_socket_listen(&alias, &fd), "%d");
	ASSERT_EQ_FMT(-ELOOP, statedir_socket_connect(&alias, &fd), "%d");
	ASSERT_EQ_FMT(-7, fd, "%d");
	PASS();
}

TEST the_nearest_exposed_directory_is_found(void)
{
	struct statedir statedir;
	char above[PATH_MAX], path[PATH_MAX];

	ASSERT_EQ_FMT(0, statedir_find("default", &statedir), "%d");
	ASSERT_FALSE(statedir_is_exposed(&statedir, above));
	ASSERT_EQ_FMT(0, statedir_make(&statedir), "%d");
	ASSERT_FALSE(statedir_is_exposed(&statedir, above));
	snprintf(path, sizeof(path), "%s/.local", home);
	ASSERT_EQ_FMT(0, chmod(path, 0777), "%d");
	ASSERT(statedir_is_exposed(&statedir, above));
	ASSERT_STR_EQ(path, above);
	ASSERT_EQ_FMT(0, chmod(path, 01777), "%d");
	ASSERT_FALSE(statedir_is_exposed(&statedir, above));
	PASS();
}

/* Listen, connect, and send a byte through the socket. */
static enum greatest_test_res talk(const struct statedir *statedir)
{
	int listening, out, in;
	char byte = 0;
	struct stat info;
	char path[PATH_MAX];

	ASSERT_EQ_FMT(-ENOENT, statedir_socket_connect(statedir, &out), "%d");
	ASSERT_EQ_FMT(0, statedir_socket_listen(statedir, &listening), "%d");
	ASSERT_EQ_FMT(0, lstat(statedir_path(statedir, "titan.sock", path), &info), "%d");
	ASSERT_EQ_FMT(0600u, info.st_mode & 07777u, "%o");
	ASSERT_EQ_FMT(0, statedir_socket_connect(statedir, &out), "%d");
	in = accept(listening, NULL, NULL);
	ASSERT(in >= 0);
	ASSERT((fcntl(out, F_GETFD) & FD_CLOEXEC) != 0);
	ASSERT((fcntl(listening, F_GETFD) & FD_CLOEXEC) != 0);
	ASSERT_EQ_FMT(1, (int)send(out, "x", 1, MSG_NOSIGNAL), "%d");
	ASSERT_EQ_FMT(1, (int)recv(in, &byte, 1, 0), "%d");
	ASSERT_EQ_FMT('x', byte, "%c");
	close(in);
	close(out);
	close(listening);
	PASS();
}

TEST a_socket_is_found_behind_any_path(void)
{
	struct statedir statedir;
	char path[PATH_MAX];

	ASSERT_EQ_FMT(0, statedir_find("default", &statedir), "%d");
	ASSERT_EQ_FMT(0, statedir_make(&statedir), "%d");
	CHECK_CALL(talk(&statedir));
	snprintf(path, sizeof(path), "%s/%0100d/%0100d", home, 1, 2);
	setenv("TITAN_STATE", path, 1);
	ASSERT_EQ_FMT(0, statedir_find("default", &statedir), "%d");
	ASSERT_EQ_FMT(0, statedir_make(&statedir), "%d");
	CHECK_CALL(talk(&statedir));
	PASS();
}

TEST a_stale_socket_is_replaced_and_a_live_one_is_not(void)
{
	struct statedir statedir;
	int first, second, out;

	ASSERT_EQ_FMT(0, statedir_find("default", &statedir), "%d");
	ASSERT_EQ_FMT(0, statedir_make(&statedir), "%d");
	ASSERT_EQ_FMT(0, statedir_socket_listen(&statedir, &first), "%d");
	ASSERT_EQ_FMT(-EADDRINUSE, statedir_socket_listen(&statedir, &second), "%d");
	close(first);
	ASSERT_EQ_FMT(-ECONNREFUSED, statedir_socket_connect(&statedir, &out), "%d");
	ASSERT_EQ_FMT(0, statedir_socket_listen(&statedir, &second), "%d");
	ASSERT_EQ_FMT(0, statedir_socket_connect(&statedir, &out), "%d");
	close(out);
	close(second);
	PASS();
}

TEST a_file_in_its_place_is_left_alone(void)
{
	struct statedir statedir;
	struct stat info;
	char path[PATH_MAX];
	int fd;

	ASSERT_EQ_FMT(0, statedir_find("default", &statedir), "%d");
	ASSERT_EQ_FMT(0, statedir_make(&statedir), "%d");
	fd = open(statedir_path(&statedir, "titan.sock", path), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ASSERT(fd >= 0);
	close(fd);
	ASSERT_EQ_FMT(-ENOTSOCK, statedir_socket_listen(&statedir, &fd), "%d");
	ASSERT_EQ_FMT(0, lstat(path, &info), "%d");
	ASSERT(S_ISREG(info.st_mode));
	PASS();
}

TEST a_full_backlog_is_a_master_that_is_busy(void)
{
	struct statedir statedir;
	int listening, fds[2000];
	int count = 0, result = 0, other;

	ASSERT_EQ_FMT(0, statedir_find("default", &statedir), "%d");
	ASSERT_EQ_FMT(0, statedir_make(&statedir), "%d");
	ASSERT_EQ_FMT(0, statedir_socket_listen(&statedir, &listening), "%d");
	while (count < 2000 && (result = statedir_socket_connect(&statedir, &fds[count])) == 0)
		count++;
	ASSERT_EQ_FMT(-EAGAIN, result, "%d");
	ASSERT_EQ_FMT(-EADDRINUSE, statedir_socket_listen(&statedir, &other), "%d");
	while (count > 0)
		close(fds[--count]);
	close(listening);
	PASS();
}

SUITE(statedir)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	io_fd_count_limit();
	RUN_TEST(the_first_of_three_variables_says_where);
	RUN_TEST(a_relative_state_directory_becomes_absolute);
	RUN_TEST(bad_names_and_no_home_are_refused);
	RUN_TEST(only_a_private_directory_will_do);
	RUN_TEST(a_symbolic_link_is_no_directory);
	RUN_TEST(the_nearest_exposed_directory_is_found);
	RUN_TEST(a_socket_is_found_behind_any_path);
	RUN_TEST(a_stale_socket_is_replaced_and_a_live_one_is_not);
	RUN_TEST(a_file_in_its_place_is_left_alone);
	RUN_TEST(a_full_backlog_is_a_master_that_is_busy);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(statedir);
	GREATEST_MAIN_END();
}
