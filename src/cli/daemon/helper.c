/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input and outputs are files in memory, so neither side ever waits for the other. */
#include "cli/daemon/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"

extern char **environ;

static const char **environment(void)
{
	size_t count = 0, used = 0;
	const char **list;

	while (environ[count])
		count++;
	list = mem_array(count + 2, sizeof(*list));
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], "LC_ALL=", 7) != 0)
			list[used++] = environ[i];
	list[used++] = "LC_ALL=C";
	list[used] = NULL;
	return list;
}

static int spawn(const char *const *argv, const int fds[3], pid_t *ret_pid)
{
	const char **env = environment();
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	int fault;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGINT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&files, fds[i], i);
	posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	fault = posix_spawnp(ret_pid, argv[0], &files, &attributes, (char *const *)argv, (char *const *)env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	mem_free(env);
	return -fault;
}

static void add_all(int fd, struct buf *out)
{
	uint8_t bytes[4096];
	ssize_t count;

	lseek(fd, 0, SEEK_SET);
	while ((count = read(fd, bytes, sizeof(bytes))) > 0)
		buf_add(out, bytes, (size_t)count);
}

int helper_run(const char *const *argv, struct slice input, struct buf *out, struct buf *err)
{
	int fds[3], status = 0, result = 0;
	pid_t pid;

	for (int i = 0; i < 3; i++) {
		fds[i] = memfd_create("titan", MFD_CLOEXEC);
		/* The descriptors of a process without standard streams could be 0 to 2, which dup2 would overwrite. */
		if (fds[i] >= 0 && fds[i] <= STDERR_FILENO) {
			int low = fds[i];

			fds[i] = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
			close(low);
		}
		if (fds[i] < 0)
			result = -errno;
	}
	if (result == 0)
		result = io_write_all(fds[0], input.data, input.len);
	if (result == 0 && lseek(fds[0], 0, SEEK_SET) < 0)
		result = -errno;
	if (result == 0)
		result = spawn(argv, fds, &pid);
	if (result == 0) {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		add_all(fds[1], out);
		add_all(fds[2], err);
		result = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
	}
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return result;
}
