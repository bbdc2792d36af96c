/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starting and ending a worker that ssh put here. It must outlive the ssh connection, so it leaves the session by a
 * double fork and keeps none of the connection's descriptors. Its environment is fixed: that of an ssh command depends
 * on shells and sshd settings, and jobs would inherit it.
 */
#include "worker/far.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"

#define READY_NS    (30 * NS_PER_S)
#define STOP_NS     (60 * NS_PER_S)
#define LOOK_MS     20
#define READY_FD    3
#define LOG_END_MAX 65536

static void worker_path(const char *dir, const struct far_config *config, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/worker/%s", dir, config->name);
}

static void log_path(const char *dir, const struct far_config *config, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/worker-%s.log", dir, config->name);
}

bool far_is_served(const char *dir, const struct far_config *config)
{
	char path[PATH_MAX];

	worker_path(dir, config, path);
	return worker_is_served(path);
}

static void fixed_environment(char *env[8])
{
	static char texts[5][PATH_MAX];
	const struct passwd *user = getpwuid(getuid());
	const char *home = getenv("HOME"), *name = user ? user->pw_name : getenv("USER");
	size_t count = 0;

	snprintf(texts[count++], PATH_MAX, "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin");
	snprintf(texts[count++], PATH_MAX, "LANG=C.UTF-8");
	snprintf(texts[count++], PATH_MAX, "HOME=%s", home ? home : "/");
	if (name) {
		snprintf(texts[count++], PATH_MAX, "USER=%s", name);
		snprintf(texts[count++], PATH_MAX, "LOGNAME=%s", name);
	}
	for (size_t i = 0; i < count; i++)
		env[i] = texts[i];
	env[count] = NULL;
}

/* In the first child: fork once more, so that init becomes the worker's parent, and exec the worker. */
_Noreturn static void become_worker(const char *dir, int log_fd, int ready_fd)
{
	const char *const argv[] = { "titan", FAR_WORD, "run", dir, NULL };
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	char *env[8];
	sigset_t none;
	int null_fd;

	fixed_environment(env);
	if (setsid() < 0 || fork() != 0)
		_exit(0);
	log_fd = fcntl(log_fd, F_DUPFD_CLOEXEC, READY_FD + 1);
	ready_fd = fcntl(ready_fd, F_DUPFD_CLOEXEC, READY_FD + 1);
	null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null_fd < 0)                         /* a machine without /dev has no null device */
		null_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	sigaction(SIGHUP, &by_default, NULL);
	sigaction(SIGPIPE, &by_default, NULL);
	if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(log_fd, STDOUT_FILENO) < 0 ||
	    dup2(log_fd, STDERR_FILENO) < 0 || dup2(ready_fd, READY_FD) < 0 || chdir("/") != 0)
		_exit(127);
	close_range(READY_FD + 1, ~0u, 0);
	execve("/proc/self/exe", (char *const *)argv, env);
	_exit(127);
}

/* Does the worker answer on its socket for bridges? */
static bool bridge_answers(const char *dir, const struct far_config *config)
{
	char path[PATH_MAX];
	int fd;

	worker_path(dir, config, path);
	if (statedir_connect_in(path, FAR_BRIDGE, &fd) != 0)
		return false;
	close(fd);
	return true;
}

/*
 * Wait until the worker is connected, or is waiting for its bridge. 1: so it is; 0: the worker ended; -1: neither in
 * time.
 */
static int await_ready(const char *dir, const struct far_config *config, int ready_fd)
{
	bool bridged = strcmp(config->address, BRIDGE_ADDRESS) == 0;
	int64_t until_ns = clock_mono_ns() + READY_NS;

	while (clock_mono_ns() < until_ns) {
		struct pollfd ready = { .fd = ready_fd, .events = POLLIN };
		char byte;

		if (bridged && bridge_answers(dir, config))
			return 1;
		if (poll(&ready, 1, LOOK_MS) > 0)
			return read(ready_fd, &byte, 1) == 1;
	}
	return -1;
}

/* The error of a worker that didn't start: the last line of its log. */
static enum err tell_failure(const char *path, off_t from, bool ended, struct error *error)
{
	struct buf text = { 0 };
	const char *line = NULL;

	if (io_read_file(AT_FDCWD, path, (size_t)from + LOG_END_MAX, &text) == 0 && text.len > (size_t)from) {
		while (text.len > (size_t)from && text.data[text.len - 1] == '\n')
			buf_cut(&text, text.len - 1);
		line = strrchr(buf_cstr(&text) + from, '\n');
		line = line ? line + 1 : buf_cstr(&text) + from;
	}
	if (ended)
		error_set(error, ERR_SYSTEM, "the worker didn't start: %.300s", line ? line : "it ended without a message");
	else
		error_set(error, ERR_TIMEOUT, "the worker runs, but it isn't connected to the master after %d s: %.300s",
			  (int)(READY_NS / NS_PER_S), line ? line : "it said nothing");
	buf_free(&text);
	return error->code;
}

enum err far_launch(const char *dir, const struct far_config *config, struct error *error)
{
	char path[PATH_MAX];
	int log_fd, ready[2], state;
	off_t from;
	pid_t pid;

	log_path(dir, config, path);
	log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (log_fd < 0)
		return error_system(error, errno, "can't open %s", path);
	from = lseek(log_fd, 0, SEEK_END);
	if (pipe2(ready, O_CLOEXEC) != 0) {
		close(log_fd);
		return error_system(error, errno, "can't make a pipe");
	}
	pid = fork();
	if (pid == 0)
		become_worker(dir, log_fd, ready[1]);
	close(ready[1]);
	close(log_fd);
	if (pid < 0) {
		close(ready[0]);
		return error_system(error, errno, "can't fork");
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	state = await_ready(dir, config, ready[0]);
	close(ready[0]);
	return state == 1 ? ERR_NONE : tell_failure(path, from > 0 ? from : 0, state == 0, error);
}

enum err far_wake(const char *dir, struct error *error)
{
	struct far_config config;
	enum err err = far_config_read(dir, &config, error);

	if (err == ERR_NONE && config.stopped[0])
		err = error_set(error, ERR_UNREACHABLE, "worker %s was stopped", config.name);
	if (err == ERR_NONE && !far_is_served(dir, &config))
		err = far_launch(dir, &config, error);
	return err;
}

enum err far_stop(const char *dir, const struct far_config *config, bool now, struct error *error)
{
	const struct timespec wait = { .tv_nsec = LOOK_MS * NS_PER_MS };
	int64_t until_ns = clock_mono_ns() + STOP_NS;
	char path[PATH_MAX];

	worker_path(dir, config, path);
	worker_signal(path, now ? SIGINT : SIGTERM);
	while (worker_is_served(path)) {
		if (clock_mono_ns() >= until_ns)
			return error_set(error, ERR_TIMEOUT, "the worker was told to end and still runs after %d s",
					 (int)(STOP_NS / NS_PER_S));
		nanosleep(&wait, NULL);
	}
	return ERR_NONE;
}
