/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a guardian becomes a newer version of itself: by exec. It keeps its pid, so its children and zombies stay its
 * own. Its state is passed in one environment variable; the orphans are found again as the children that lead sessions.
 * The new program is tried with --version first; if that fails, the old one continues.
 */
#include "worker/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "worker/home.h"

#define VARIABLE  "TITAN_GUARDIAN"
#define DELETED   " (deleted)"           /* the kernel appends this to the path of an executable that was replaced */
#define TRY_MS    5000
#define ARGS_MAX  256
#define ARGS_SIZE ((size_t)1 << 20)

extern char **environ;

void renew_open(struct guardian *guardian)
{
	ssize_t len = readlink("/proc/self/exe", guardian->program, sizeof(guardian->program) - 1);
	size_t tail = strlen(DELETED);

	guardian->program[len > 0 ? len : 0] = '\0';
	if (len > (ssize_t)tail && strcmp(guardian->program + len - tail, DELETED) == 0)
		guardian->program[(size_t)len - tail] = '\0';
}

bool renew_resume(struct guardian *guardian)
{
	const char *text = getenv(VARIABLE);
	struct stat held, named;
	siginfo_t info;
	int keeper, lock_fd, passed;
	bool resumed;

	resumed = text && sscanf(text, "%d %d %d", &keeper, &lock_fd, &passed) == 3 && fstat(lock_fd, &held) == 0 &&
		  fstatat(guardian->dir_fd, HOME_GUARDIAN, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		  held.st_dev == named.st_dev && held.st_ino == named.st_ino &&
		  waitid(P_PID, (id_t)keeper, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
	unsetenv(VARIABLE);
	if (!resumed)
		return false;
	io_set_cloexec(lock_fd, true);
	guardian->lock_fd = lock_fd;
	guardian->keeper = keeper;
	guardian->passed = passed;
	guardian->again = true;
	/* The descriptor belonged to the old version; its number may be another file by now. */
	guardian->options.ready_fd = -1;
	log_info("the guardian runs the newly installed version of titan; its keeper is process %d", keeper);
	return true;
}

/* Does the new program start and answer --version? */
static bool works(const char *program)
{
	char *const argv[] = { (char *)"titan", (char *)"--version", NULL };
	struct pollfd gone = { .events = POLLIN };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int status = -1, fault;
	pid_t pid;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	fault = posix_spawn(&pid, program, &files, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	if (fault) {
		log_error("can't start %s: %s", program, strerror(fault));
		return false;
	}
	gone.fd = pidfd_open(pid, 0);
	if (gone.fd < 0 || poll(&gone, 1, TRY_MS) <= 0)
		kill(pid, SIGKILL);
	if (gone.fd >= 0)
		close(gone.fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		log_error("%s --version failed", program);
	return status == 0;
}

/* Read the arguments with which this process was started. */
static bool read_argv(struct buf *text, char *argv[ARGS_MAX + 1])
{
	size_t count = 0;

	if (io_read_file(AT_FDCWD, "/proc/self/cmdline", ARGS_SIZE, text) != 0 || text->len == 0)
		return false;
	for (char *at = (char *)text->data, *end = at + text->len; at < end && count < ARGS_MAX; at += strlen(at) + 1)
		argv[count++] = at;
	argv[count] = NULL;
	return count < ARGS_MAX;
}

void renew_exec(struct guardian *guardian)
{
	char *argv[ARGS_MAX + 1], value[64];
	struct buf text = { 0 };

	guardian->renewing = false;
	if (!works(guardian->program) || !read_argv(&text, argv)) {
		log_error("the guardian isn't replaced");
		buf_free(&text);
		return;
	}
	snprintf(value, sizeof(value), "%d %d %d", (int)guardian->keeper, guardian->lock_fd, guardian->passed);
	setenv(VARIABLE, value, 1);
	io_set_cloexec(guardian->lock_fd, false);
	execv(guardian->program, argv);
	log_error("%s can't replace the guardian: %s", guardian->program, strerror(errno));
	io_set_cloexec(guardian->lock_fd, true);
	unsetenv(VARIABLE);
	buf_free(&text);
}
