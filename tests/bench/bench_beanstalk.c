/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The work of titan's bench on beanstalkd: its log synced at every write, jobs put one by one, two workers that
 * reserve, run "sh -c true" and delete. Prints lines "name value unit" for people.
 *
 * usage: bench_beanstalk DIRECTORY JOBS the directory must be empty and used by nothing else
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define WORKERS 2

static pid_t server;

static void fail(const char *what)
{
	perror(what);
	if (server > 0)
		kill(server, SIGKILL);
	exit(1);
}

static FILE *call_server(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = -1;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	for (int tries = 0; tries < 500; tries++) {
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
			return fdopen(fd, "r+");
		close(fd);
		usleep(10000);
	}
	fail("beanstalkd");
	return NULL;
}

/* Send a line and read the answer. */
static void ask(FILE *peer, const char *request, char *line, size_t size, const char *wanted)
{
	fseek(peer, 0, SEEK_CUR);
	if (fputs(request, peer) < 0 || fflush(peer) != 0)
		fail("write");
	fseek(peer, 0, SEEK_CUR);
	if (!fgets(line, (int)size, peer) || strncmp(line, wanted, strlen(wanted)) != 0)
		fail(request);
}

static void work(const char *path, unsigned jobs)
{
	FILE *peer = call_server(path);
	char line[256], request[64], body[256];
	unsigned long id;

	for (unsigned i = 0; i < jobs; i++) {
		char *argv[] = { "/bin/sh", "-c", body, NULL };
		pid_t pid;

		ask(peer, "reserve\r\n", line, sizeof(line), "RESERVED");
		if (sscanf(line, "RESERVED %lu", &id) != 1 || !fgets(body, sizeof(body), peer))
			fail("reserve");
		body[strcspn(body, "\r\n")] = '\0';
		pid = vfork();
		if (pid == 0) {
			execv(argv[0], argv);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
		snprintf(request, sizeof(request), "delete %lu\r\n", id);
		ask(peer, request, line, sizeof(line), "DELETED");
	}
	fclose(peer);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned jobs = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	char listen_on[200], log[200], line[256];
	int64_t from_ns;
	FILE *peer;

	if (jobs == 0 || strlen(argv[1]) > 80) {
		fprintf(stderr, "usage: bench_beanstalk DIRECTORY JOBS\n");
		return 2;
	}
	snprintf(listen_on, sizeof(listen_on), "unix:%s/socket", argv[1]);
	snprintf(log, sizeof(log), "%s/log", argv[1]);
	mkdir(log, 0700);
	server = fork();
	if (server == 0) {
		execlp("beanstalkd", "beanstalkd", "-l", listen_on, "-b", log, "-f0", (char *)NULL);
		_exit(127);
	}
	peer = call_server(listen_on + strlen("unix:"));
	from_ns = clock_mono_ns();
	for (unsigned i = 0; i < jobs; i++)
		ask(peer, "put 0 0 60 4\r\ntrue\r\n", line, sizeof(line), "INSERTED");
	printf("peer_beanstalkd_put %.0f /s\n", jobs * 1e9 / (double)(clock_mono_ns() - from_ns));
	fflush(stdout);
	from_ns = clock_mono_ns();
	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0)
			work(listen_on + strlen("unix:"), i ? jobs - jobs / WORKERS : jobs / WORKERS);
	for (int i = 0; i < WORKERS; i++)
		wait(NULL);
	printf("peer_beanstalkd %.0f /s\n", jobs * 1e9 / (double)(clock_mono_ns() - from_ns));
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	return 0;
}
