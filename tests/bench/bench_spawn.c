/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The limit that the machine sets: how many processes a second with stdout piped, N in flight, started by
 * vfork and exec and awaited, with nothing kept. Two lines: through sh -c, and executed directly.
 *
 * usage: bench_spawn [SECONDS [IN_FLIGHT]]
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define IN_FLIGHT_MAX 64

static pid_t start(char *const argv[], int *ret_fd)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		exit(1);
	pid = vfork();
	if (pid == 0) {
		dup2(ends[1], 1);
		execv(argv[0], argv);
		_exit(127);
	}
	close(ends[1]);
	*ret_fd = ends[0];
	return pid;
}

static double rate(char *const argv[], double seconds, int in_flight)
{
	pid_t pids[IN_FLIGHT_MAX];
	int fds[IN_FLIGHT_MAX];
	int64_t from = clock_mono_ns(), until = from + (int64_t)(seconds * 1e9);
	uint64_t count = 0;
	char byte;

	for (int i = 0; i < in_flight; i++)
		pids[i] = start(argv, &fds[i]);
	while (clock_mono_ns() < until) {
		pid_t gone = wait(NULL);

		for (int i = 0; i < in_flight; i++) {
			if (pids[i] != gone)
				continue;
			while (read(fds[i], &byte, 1) > 0)
				;
			close(fds[i]);
			pids[i] = start(argv, &fds[i]);
		}
		count++;
	}
	for (int i = 0; i < in_flight; i++) {
		waitpid(pids[i], NULL, 0);
		close(fds[i]);
	}
	return (double)count * 1e9 / (double)(clock_mono_ns() - from);
}

int main(int argc, char **argv)
{
	char *const through_sh[] = { "/bin/sh", "-c", "true", NULL };
	char *const direct[] = { "/bin/true", NULL };
	double seconds = argc > 1 ? atof(argv[1]) : 2;
	int in_flight = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 2;

	if (seconds <= 0 || in_flight < 1 || in_flight > IN_FLIGHT_MAX) {
		fprintf(stderr, "usage: bench_spawn [SECONDS [IN_FLIGHT]]\n");
		return 2;
	}
	printf("spawn_sh       %8.0f /s  (sh -c true, stdout piped, %d in flight)\n", rate(through_sh, seconds, in_flight),
	       in_flight);
	printf("spawn_direct   %8.0f /s  (true, stdout piped, %d in flight)\n", rate(direct, seconds, in_flight), in_flight);
	return 0;
}
