/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts titan as a daemon in a session of its own. Its only descriptors from here are its log and READY_FD, on which
 * it reports that it is ready. If it fails, the error shows the end of its log.
 */
#include "cli/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#define READY_MS 30000
#define ARGS_MAX 64
#define LOG_READ_MAX 65536
#define EXIT_NO_EXEC 127
#define TRY "   try: "                   /* begins the line with the next command; written by cli_fail */
#define READY_FD 3
#define READY_FD_TEXT "3"

extern char **environ;

/* Give the daemon an absolute path to its state directory, because it changes its working directory. */
static void set_state_dir(const struct statedir *statedir)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", statedir->dir);
	slash = strrchr(dir, '/');
	if (slash != NULL && slash != dir)
		*slash = '\0';
	setenv("TITAN_STATE", dir, 1);
}

_Noreturn static void child(const struct statedir *statedir, int program_fd, int log_fd, int ready_fd, char *const *argv)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t none;
	int null_fd;

	/*
	 * Move the descriptors to higher numbers: if a standard stream was closed they may have its number, which dup2
	 * below would overwrite.
	 */
	log_fd = fcntl(log_fd, F_DUPFD_CLOEXEC, READY_FD + 1);
	ready_fd = fcntl(ready_fd, F_DUPFD_CLOEXEC, READY_FD + 1);
	if (program_fd >= 0)
		program_fd = fcntl(program_fd, F_DUPFD_CLOEXEC, READY_FD + 1);
	null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	sigaction(SIGINT, &by_default, NULL);
	sigaction(SIGPIPE, &by_default, NULL);
	set_state_dir(statedir);
	if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(log_fd, STDOUT_FILENO) < 0 ||
	    dup2(log_fd, STDERR_FILENO) < 0 || dup2(ready_fd, READY_FD) < 0 || chdir("/") != 0)
		_exit(EXIT_NO_EXEC);
	/* A program that was opened before the change of descriptors is found by its descriptor, even if its file is gone. */
	if (program_fd >= 0) {
		close_range(READY_FD + 1, ~0u, CLOSE_RANGE_CLOEXEC);
		execveat(program_fd, "", argv, environ, AT_EMPTY_PATH);
		_exit(EXIT_NO_EXEC);
	}
	close_range(READY_FD + 1, ~0u, 0);
	execv("/proc/self/exe", argv);
	_exit(EXIT_NO_EXEC);
}

/* Wait for the daemon. Return 1: it is ready; 0: it closed the descriptor without reporting; -1: timeout. */
static int wait_ready(int fd)
{
	int64_t until = clock_mono_ns() + READY_MS * NS_PER_MS;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char byte;

	for (;;) {
		int64_t left_ms = (until - clock_mono_ns()) / NS_PER_MS;
		ssize_t got;

		if (left_ms <= 0)
			return -1;
		if (poll(&poll_fd, 1, (int)left_ms) <= 0)
			continue;
		got = read(fd, &byte, 1);
		if (got < 0 && errno == EINTR)
			continue;
		return got == 1;
	}
}

/* Turn the daemon's exit status back into the error that caused it. */
static enum err error_of(int code)
{
	static const enum err known[] = { ERR_BUSY, ERR_STORE, ERR_SYSTEM, ERR_DENIED, ERR_USAGE };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (code == err_exit_status(known[i]))
			return known[i];
	return ERR_INTERNAL;
}

/* Cut the last line off the text and return it; NULL: there is none. */
static const char *take_last_line(struct buf *text)
{
	const char *start;

	while (text->len > 0 && text->data[text->len - 1] == '\n')
		buf_cut(text, text->len - 1);
	if (text->len == 0)
		return NULL;
	buf_cstr(text);
	start = memrchr(text->data, '\n', text->len);
	start = start ? start + 1 : (const char *)text->data;
	buf_cut(text, (size_t)(start - (const char *)text->data));
	return start;
}

static const char *without(const char *prefix, const char *line)
{
	return strncmp(line, prefix, strlen(prefix)) == 0 ? line + strlen(prefix) : line;
}

/* Make an error from the last lines of the daemon's log: the error text, and the next command if there is one. */
static enum err tell_failure(const char *verb, const char *log_path, off_t log_from, int status, struct error *error)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	enum err err = error_of(code);
	struct buf text = { 0 };
	const char *line, *next = NULL;

	if (io_read_file(AT_FDCWD, log_path, (size_t)log_from + LOG_READ_MAX, &text) != 0 || text.len < (size_t)log_from)
		buf_clear(&text);
	else
		buf_drop(&text, (size_t)log_from);
	line = take_last_line(&text);
	if (line != NULL && strncmp(line, TRY, strlen(TRY)) == 0) {
		next = line + strlen(TRY);
		line = take_last_line(&text);
	}
	if (line != NULL)
		error_set(error, err, "the %s didn't start: %s", verb, without("titan: ", line));
	else if (WIFSIGNALED(status))
		error_set(error, err, "the %s didn't start: signal %d ended it", verb, WTERMSIG(status));
	else
		error_set(error, err, "the %s didn't start: it ended with exit status %d", verb, code);
	if (next != NULL)
		error_next(error, "%s", next);
	else
		error_next(error, "tail %s", log_path);
	buf_free(&text);
	return err;
}

static enum err finish_start(const char *verb, const char *log_path, off_t log_from, int ready_fd, pid_t pid,
			     struct error *error)
{
	int ready = wait_ready(ready_fd);
	int status = 0;

	if (ready == 1)
		return ERR_NONE;
	if (ready == 0) {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		return tell_failure(verb, log_path, log_from, status, error);
	}
	kill(pid, SIGTERM);
	error_set(error, ERR_TIMEOUT, "the %s wasn't ready after %d s, so titan told it to end", verb, READY_MS / 1000);
	error_next(error, "tail %s", log_path);
	return ERR_TIMEOUT;
}

enum err daemon_start(const struct statedir *statedir, const char *verb, const char *log_name, const char *const *more,
		      pid_t *ret_pid, struct error *error)
{
	return daemon_start_program(statedir, -1, verb, log_name, more, ret_pid, error);
}

enum err daemon_start_program(const struct statedir *statedir, int program_fd, const char *verb, const char *log_name,
			      const char *const *more, pid_t *ret_pid, struct error *error)
{
	const char *const begin[] = { "titan", "-C", statedir->cluster, verb, "--ready-fd", READY_FD_TEXT };
	char *argv[ARGS_MAX + 1] = { 0 };
	int argc = 0;
	char log_path[PATH_MAX];
	struct stat log_stat;
	int ready[2], log_fd;
	pid_t pid;
	enum err err;

	/* execv's parameter isn't const, but it doesn't change the texts. */
	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		argv[argc++] = (char *)(uintptr_t)begin[i];
	for (; *more != NULL && argc < ARGS_MAX; more++)
		argv[argc++] = (char *)(uintptr_t)*more;
	statedir_path(statedir, log_name, log_path);
	log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (log_fd < 0 || fstat(log_fd, &log_stat) != 0) {
		error_system(error, errno, "can't open %s", log_path);
		return error_next(error, "mv %s elsewhere, then titan up", log_path);
	}
	if (pipe2(ready, O_CLOEXEC) != 0) {
		error_system(error, errno, "can't make a pipe");
		close(log_fd);
		return ERR_SYSTEM;
	}
	pid = fork();
	if (pid == 0)
		child(statedir, program_fd, log_fd, ready[1], argv);
	close(ready[1]);
	close(log_fd);
	err = pid < 0 ? error_system(error, errno, "can't fork")
		      : finish_start(verb, log_path, log_stat.st_size, ready[0], pid, error);
	close(ready[0]);
	if (err == ERR_NONE && ret_pid != NULL)
		*ret_pid = pid;
	return err;
}
