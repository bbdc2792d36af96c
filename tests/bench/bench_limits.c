/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the machine itself allows, without titan: lines "name value unit". The ideal durable runner is a single process
 * that commits each task's start and end (SQLite, WAL, FULL) around the spawn, with the end of one task and the start
 * of the next in one commit.
 *
 * usage: bench_limits [SECONDS] each number takes that long
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define IN_FLIGHT_MAX 8

static double seconds = 2;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static double since(int64_t from_ns)
{
	return (double)(clock_mono_ns() - from_ns) / 1e9;
}

/* ---- processes ---- */

static pid_t start(char *const argv[], int *ret_fd)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		fail("pipe");
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

static void drain(int fd)
{
	char bytes[64];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
}

static double spawn_rate(char *const argv[], int in_flight)
{
	pid_t pids[IN_FLIGHT_MAX];
	int fds[IN_FLIGHT_MAX];
	int64_t from = clock_mono_ns();
	uint64_t count = 0;

	for (int i = 0; i < in_flight; i++)
		pids[i] = start(argv, &fds[i]);
	while (since(from) < seconds) {
		pid_t gone = wait(NULL);

		for (int i = 0; i < in_flight; i++) {
			if (pids[i] != gone)
				continue;
			drain(fds[i]);
			pids[i] = start(argv, &fds[i]);
		}
		count++;
	}
	for (int i = 0; i < in_flight; i++) {
		waitpid(pids[i], NULL, 0);
		drain(fds[i]);
	}
	return (double)count / since(from);
}

/* ---- disk ---- */

static double sync_rate(const char *dir)
{
	char path[512], page[4096] = "x";
	int64_t from;
	uint64_t count = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/sync", dir);
	fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
	if (fd < 0)
		fail(path);
	from = clock_mono_ns();
	for (; since(from) < seconds; count++)
		if (write(fd, page, sizeof(page)) < 0 || fdatasync(fd) < 0)
			fail("fdatasync");
	close(fd);
	return (double)count / since(from);
}

static sqlite3 *open_db(const char *dir)
{
	char path[512];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/limit.db", dir);
	if (sqlite3_open(path, &db) ||
	    sqlite3_exec(db, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
			 "CREATE TABLE IF NOT EXISTS task (id INTEGER PRIMARY KEY, state INTEGER)", NULL, NULL, NULL)) {
		fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
		exit(1);
	}
	return db;
}

static void put(sqlite3_stmt *statement, uint64_t id, int state)
{
	sqlite3_bind_int64(statement, 1, (sqlite3_int64)id);
	sqlite3_bind_int(statement, 2, state);
	sqlite3_step(statement);
	sqlite3_reset(statement);
}

/*
 * Commits of one row. With argv: the ideal runner's chain, in which a commit has the end of one task and the start of
 * the next, and then spawns.
 */
static double commit_rate(const char *dir, char *const argv[])
{
	sqlite3 *db = open_db(dir);
	sqlite3_stmt *statement;
	int64_t from;
	uint64_t count = 0;
	int fd;

	sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO task VALUES (?, ?)", -1, &statement, NULL);
	from = clock_mono_ns();
	for (; since(from) < seconds; count++) {
		sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
		if (argv)
			put(statement, count, 2);
		put(statement, count + 1, 1);
		if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL))
			fail("commit");
		if (argv) {
			waitpid(start(argv, &fd), NULL, 0);
			drain(fd);
		}
	}
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return (double)count / since(from);
}

/* 200 MB through a pipe into a file: the least that keeping output can cost. */
static double pipe_rate(const char *dir)
{
	const size_t total = 200000000;
	static char bytes[65536];
	char path[512];
	int64_t from = clock_mono_ns();
	int ends[2], fd;
	ssize_t got;
	pid_t child;

	snprintf(path, sizeof(path), "%s/sync", dir);
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (fd < 0 || pipe2(ends, O_CLOEXEC) < 0)
		fail(path);
	child = fork();
	if (child == 0) {
		for (size_t sent = 0; sent < total; sent += (size_t)got)
			if ((got = write(ends[1], bytes, total - sent < sizeof(bytes) ? total - sent : sizeof(bytes))) < 0)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], bytes, sizeof(bytes))) > 0)
		if (write(fd, bytes, (size_t)got) != got)
			fail("write");
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(fd);
	return (double)total / 1e6 / since(from);
}

/* ---- network ---- */

static double loopback_rate(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, fd;
	char bytes[64] = { 0 };
	uint64_t count = 0;
	int64_t from;
	pid_t child;

	if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) < 0)
		fail("listen");
	child = fork();
	fd = child ? socket(AF_INET, SOCK_STREAM, 0) : accept(listener, NULL, NULL);
	if (child && connect(fd, (struct sockaddr *)&address, size) < 0)
		fail("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!child) {
		while (read(fd, bytes, sizeof(bytes)) == sizeof(bytes) && write(fd, bytes, sizeof(bytes)) > 0)
			;
		_exit(0);
	}
	from = clock_mono_ns();
	for (; since(from) < seconds; count++)
		if (write(fd, bytes, sizeof(bytes)) < 0 || read(fd, bytes, sizeof(bytes)) < 0)
			fail("loopback");
	close(fd);
	close(listener);
	waitpid(child, NULL, 0);
	return (double)count / since(from);
}

int main(int argc, char **argv)
{
	char *const through_sh[] = { "/bin/sh", "-c", "true", NULL };
	char *const direct[] = { "/bin/true", NULL };
	char dir[256], path[512];

	if (argc > 1)
		seconds = strtod(argv[1], NULL);
	if (seconds <= 0) {
		fprintf(stderr, "usage: bench_limits [SECONDS]\n");
		return 2;
	}
	snprintf(dir, sizeof(dir), "%s/titan-limits.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(dir))
		fail(dir);
	printf("limit_spawn_sh_2 %.0f /s\n", spawn_rate(through_sh, 2));
	printf("limit_spawn_direct_2 %.0f /s\n", spawn_rate(direct, 2));
	printf("limit_spawn_sh_1 %.0f /s\n", spawn_rate(through_sh, 1));
	printf("limit_fdatasync %.0f /s\n", sync_rate(dir));
	printf("limit_commit %.0f /s\n", commit_rate(dir, NULL));
	printf("limit_runner_hop %.3f ms\n", 1000 / commit_rate(dir, direct));
	printf("limit_pipe_200MB %.0f MB/s\n", pipe_rate(dir));
	printf("limit_loopback %.0f /s\n", loopback_rate());
	for (int i = 0; i < 4; i++) {
		static const char *const files[] = { "sync", "limit.db", "limit.db-wal", "limit.db-shm" };

		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	rmdir(dir);
	return 0;
}
