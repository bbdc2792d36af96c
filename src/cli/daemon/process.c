/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watches whether a daemon is gone. The daemon isn't a child of this process, so the kernel sends no notification. */
#include "cli/daemon/process.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "cli/ask/ask.h"

#define PAUSE_MS 10

/* Is the process gone, or a zombie that its parent hasn't collected yet? */
static bool process_gone(uint64_t pid)
{
	char path[64], text[512];
	const char *end;
	size_t len;
	FILE *file;

	if (pid == 0 || pid > INT32_MAX)
		return true;
	/* In titan demo the process is a child of this one, so it must be reaped. */
	waitpid((pid_t)pid, NULL, WNOHANG);
	if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
		return true;
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return errno == ENOENT;
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	/* The text is "pid (name) S"; the name may have any characters, even ')'. */
	end = strrchr(text, ')');
	return end == NULL || end[1] == '\0' || end[2] == 'Z' || end[2] == 'X';
}

enum err process_wait_gone(struct cli *cli, uint64_t pid, int64_t for_ms)
{
	int64_t until = clock_mono_ns() + for_ms * NS_PER_MS;

	while (!process_gone(pid)) {
		enum err err;

		if (clock_mono_ns() >= until)
			return error_set(&cli->error, ERR_TIMEOUT, "process %" PRIu64 " is still there", pid);
		err = cli_pause(cli, PAUSE_MS);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}
