/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A rig for tests of the keeper: the keeper runs in a process and a directory of its own, and the test plays its link.
 * The program that the keeper starts as its link is this test program again (rig_stub), which passes its socket to the
 * test.
 */
#ifndef TITAN_TESTS_KEEPER_RIG_H
#define TITAN_TESTS_KEEPER_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "worker/cage.h"
#include "worker/ipc.h"
#include "worker/spawn.h"
#include "worker/tree.h"
#include "worker/worker.h"
#include "scratch.h"

#define RIG_WAIT_MS 20000
#define RIG_QUEUE   4096

struct rig_message {
	unsigned type;
	struct buf body;
};

struct rig {
	struct worker_options options;
	char socket[128];
	const char *link_argv[4];
	int listen_fd, stub_fd;
	pid_t keeper;                    /* the keeper's pid, or with guarded set the guardian's */
	bool guarded;
	uint32_t spawn_flags;            /* flags of the next attempt that is spawned */
	uint64_t here_device, here_inode;        /* what the directories of the next jobs must be */
	uint64_t log_max;                /* likewise */
	struct ipc_end ipc;
	struct rig_message queue[RIG_QUEUE];
	size_t queued;
};

static inline int rig_address(const char *path, struct sockaddr_un *ret_address)
{
	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret_address->sun_path))
		return -1;
	strcpy(ret_address->sun_path, path);
	ret_address->sun_path[0] = '\0';
	return 0;
}

/* Call first in main: if the keeper started this process as its link, play the link and never return. */
static inline void rig_stub(int argc, char **argv)
{
	struct sockaddr_un address;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte = 'x';
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	int fd, passed = 3;

	if (argc < 3 || strcmp(argv[1], "--stub-link") != 0)
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (rig_address(argv[2], &address) < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		_exit(3);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &passed, sizeof(passed));
	if (sendmsg(fd, &message, 0) != 1)
		_exit(4);
	while (read(fd, &byte, 1) > 0)
		;
	_exit(0);
}

/* Containment of every keeper that the rig starts. A suite runs once with each containment that this machine has. */
static enum containment rig_containment = CONTAIN_SUBREAPER;

static inline bool rig_can_contain(enum containment containment)
{
	struct cages *cages = NULL;
	char mark[32];

	if (containment == CONTAIN_PIDS)
		return spawn_try_own_pids() == 0;
	if (containment == CONTAIN_SUBREAPER)
		return true;
	snprintf(mark, sizeof(mark), "test-%d", (int)getpid());
	if (cages_open(mark, &cages) < 0)
		return false;
	cages_close(cages);
	return true;
}

static inline struct rig *rig_new(uint32_t slots)
{
	struct rig *rig = mem_zalloc(sizeof(*rig));
	char dir[SCRATCH_SIZE];
	struct sockaddr_un address;

	scratch_new("keeper", dir);
	snprintf(rig->options.statedir.dir, sizeof(rig->options.statedir.dir), "%s/state", dir);
	strcpy(rig->options.statedir.cluster, "rig");
	/*
	 * An abstract socket address (the @ stands for a NUL byte), because the path may be too long for a socket
	 * address.
	 */
	snprintf(rig->socket, sizeof(rig->socket), "@%.100s", strrchr(dir, '/') + 1);
	rig->options.name = "w1";
	rig->options.slots = slots;
	rig->options.ready_fd = -1;
	rig->options.containment = rig_containment;
	rig->link_argv[0] = "/proc/self/exe";
	rig->link_argv[1] = "--stub-link";
	rig->link_argv[2] = rig->socket;
	rig->options.link_argv = rig->link_argv;
	rig->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	rig->stub_fd = rig->ipc.fd = -1;
	rig_address(rig->socket, &address);
	if (bind(rig->listen_fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(rig->listen_fd, 8) < 0)
		abort();
	return rig;
}

static inline bool rig_readable(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, RIG_WAIT_MS) == 1;
}

/* Take over the socket of the link that the keeper has just started. */
static inline bool rig_accept(struct rig *rig)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };

	if (rig->stub_fd >= 0)
		close(rig->stub_fd);
	ipc_close(&rig->ipc);
	for (size_t i = 0; i < rig->queued; i++)
		buf_free(&rig->queue[i].body);
	rig->queued = 0;
	if (!rig_readable(rig->listen_fd))
		return false;
	rig->stub_fd = accept4(rig->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (!rig_readable(rig->stub_fd) || recvmsg(rig->stub_fd, &message, MSG_CMSG_CLOEXEC) != 1 ||
	    control.header.cmsg_len != CMSG_LEN(sizeof(int)))
		return false;
	memcpy(&rig->ipc.fd, CMSG_DATA(&control.header), sizeof(int));
	return true;
}

static inline void rig_fork(struct rig *rig)
{
	fflush(stdout);
	rig->keeper = fork();
	if (rig->keeper == 0) {
		struct error error = { 0 };
		int quiet = open("/dev/null", O_WRONLY);

		if (!getenv("RIG_LOUD"))
			dup2(quiet, 2);
		_exit(rig->guarded ? guardian_run(&rig->options, &error) : keeper_run(&rig->options, &error));
	}
}

static inline bool rig_start(struct rig *rig)
{
	rig_fork(rig);
	return rig_accept(rig);
}

static inline int rig_wait_keeper(struct rig *rig)
{
	int status = -1;

	waitpid(rig->keeper, &status, 0);
	rig->keeper = 0;
	return status;
}

/* The pid of the keeper below the guardian, or 0. Only the keeper has the link as its child. */
static inline pid_t rig_guarded_keeper(struct rig *rig)
{
	struct pid_list list = { 0 };
	struct tree_stat stat, above;
	pid_t found = 0;

	tree_processes(&list);
	for (size_t i = 0; i < list.n; i++)
		if (tree_stat(list.at[i], &stat) && stat.parent == rig->keeper && stat.state != 'Z' &&
		    tree_stat(rig->keeper, &above) && stat.session == above.session)
			found = list.at[i];
	pid_list_free(&list);
	return found;
}

/*
 * Kill guardian and keeper. The guardian is stopped first, so that it starts no other keeper; the keeper is killed
 * first, so that it can't become a guardian.
 */
static inline void rig_kill_guarded(struct rig *rig)
{
	pid_t keeper;

	kill(rig->keeper, SIGSTOP);
	keeper = rig_guarded_keeper(rig);
	if (keeper > 0)
		kill(keeper, SIGKILL);
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
}

static inline void rig_send(struct rig *rig, enum ipc_type type, const void *body, size_t size)
{
	ipc_put(&rig->ipc, type, body, size);
	while (ipc_flush(&rig->ipc) > 0)
		;
}

/* Say that the master gives this keeper no more attempts, as the link does when the keeper was told to end. */
static inline void rig_left(struct rig *rig)
{
	rig_send(rig, IPC_LEFT, NULL, 0);
}

static inline void rig_lease(struct rig *rig)
{
	struct ipc_lease lease = { clock_mono_ns() + 3600 * NS_PER_S };

	rig_send(rig, IPC_LEASE, &lease, sizeof(lease));
}

static inline void rig_name(struct rig *rig, enum ipc_type type, uint64_t job, uint64_t epoch)
{
	const struct ipc_attempt attempt = { job, epoch };

	rig_send(rig, type, &attempt, sizeof(attempt));
}

static inline void rig_stop(struct rig *rig, uint64_t job, uint64_t epoch, int64_t grace_ms)
{
	const struct ipc_stop stop = { job, epoch, grace_ms };

	rig_send(rig, IPC_STOP, &stop, sizeof(stop));
}

/* Start an attempt: the arguments are words up to NULL, then environment entries up to NULL. dir may be "". */
static inline void rig_spawn_in(struct rig *rig, uint64_t job, uint64_t epoch, const char *const *argv,
				const char *const *env, const char *dir)
{
	struct ipc_spawn spawn = { .job = job, .epoch = epoch, .run = 77, .flags = rig->spawn_flags,
				   .log_max = rig->log_max, .here_device = rig->here_device, .here_inode = rig->here_inode };
	struct buf strings = { 0 };

	for (; argv[spawn.argc]; spawn.argc++)
		buf_add(&strings, argv[spawn.argc], strlen(argv[spawn.argc]) + 1);
	for (; env && env[spawn.envc]; spawn.envc++)
		buf_add(&strings, env[spawn.envc], strlen(env[spawn.envc]) + 1);
	buf_add(&strings, dir, strlen(dir) + 1);
	spawn.strings_size = (uint32_t)strings.len;
	ipc_put_tail(&rig->ipc, IPC_SPAWN, &spawn, sizeof(spawn), strings.data, strings.len);
	buf_free(&strings);
	while (ipc_flush(&rig->ipc) > 0)
		;
}

static inline void rig_sh(struct rig *rig, uint64_t job, uint64_t epoch, const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };

	rig_spawn_in(rig, job, epoch, argv, NULL, "");
}

/* Wait for the first message of this type, about this job unless job is 0. Other messages stay in the queue. */
static inline bool rig_wait(struct rig *rig, enum ipc_type type, uint64_t job, void *ret_body, size_t size)
{
	int64_t end_ns = clock_mono_ns() + RIG_WAIT_MS * NS_PER_MS;
	size_t seen = 0;

	for (;;) {
		struct ipc_header header;
		struct slice body;

		for (; seen < rig->queued; seen++) {
			struct rig_message *message = &rig->queue[seen];
			const size_t at = type == IPC_EXITED ? offsetof(struct ipc_exited, done) : 0;
			uint64_t its_job = 0;

			if (message->type != type)
				continue;
			memcpy(&its_job, message->body.data + at, type == IPC_NUMBERS ? 0 : sizeof(its_job));
			if (job != 0 && its_job != job)
				continue;
			memcpy(ret_body, message->body.data, size);
			buf_free(&message->body);
			rig->queued--;
			memmove(message, message + 1, (rig->queued - seen) * sizeof(*message));
			return true;
		}
		if (clock_mono_ns() > end_ns || !rig_readable(rig->ipc.fd) || ipc_fill(&rig->ipc) < 0)
			return false;
		while (rig->queued < RIG_QUEUE && ipc_next(&rig->ipc, &header, &body)) {
			if (header.type == IPC_PONG && type != IPC_PONG)
				continue;
			rig->queue[rig->queued] = (struct rig_message){ .type = header.type };
			buf_add_slice(&rig->queue[rig->queued++].body, body);
		}
	}
}

static inline bool rig_exited(struct rig *rig, uint64_t job, struct ipc_exited *ret_exited)
{
	return rig_wait(rig, IPC_EXITED, job, ret_exited, sizeof(*ret_exited));
}

static inline bool rig_started(struct rig *rig, uint64_t job, struct ipc_started *ret_started)
{
	return rig_wait(rig, IPC_STARTED, job, ret_started, sizeof(*ret_started));
}

/* What an attempt has written, as text; the buffer belongs to the rig. stream: "out" or "err". */
static inline const char *rig_output(struct rig *rig, uint64_t space, const char *stream, struct buf *text)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/worker/w1/attempts/%llu.%s", rig->options.statedir.dir,
		 (unsigned long long)space, stream);
	buf_clear(text);
	if (io_read_file(AT_FDCWD, path, 1 << 20, text) < 0)
		return "(can't be read)";
	return buf_cstr(text);
}

/* Wait until a file exists. */
static inline bool rig_file_appears(const char *path)
{
	for (int i = 0; i < RIG_WAIT_MS / 5; i++) {
		if (access(path, F_OK) == 0)
			return true;
		usleep(5000);
	}
	return false;
}

static inline bool rig_same_link(const char *left, const char *right)
{
	char a[PATH_MAX], b[PATH_MAX];
	ssize_t a_len = readlink(left, a, sizeof(a)), b_len = readlink(right, b, sizeof(b));

	return a_len > 0 && a_len == b_len && memcmp(a, b, (size_t)a_len) == 0;
}

/*
 * Is the process the init of a pid namespace? Such an init is a copy of the keeper, so it runs this program; killing it
 * kills all processes of the namespace.
 */
static inline bool rig_is_init(pid_t pid)
{
	char exe[64], space[64];

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	snprintf(space, sizeof(space), "/proc/%d/ns/pid", (int)pid);
	return rig_same_link(exe, "/proc/self/exe") && !rig_same_link(space, "/proc/self/ns/pid");
}

/* Kill the processes that a killed keeper left behind, so that no test leaves a process. */
static inline void rig_kill_orphans(struct rig *rig)
{
	struct pid_list list = { 0 };
	struct cages *cages;
	char path[PATH_MAX + 16], mark[48];
	struct stat st;
	uint64_t job, epoch;
	size_t found;
	int clean = 0;

	snprintf(path, sizeof(path), "%s/worker/w1", rig->options.statedir.dir);
	if (stat(path, &st) < 0)
		return;
	snprintf(mark, sizeof(mark), "%llx-%llx", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	/* A process in the middle of an exec shows no mark, so two searches in a row must find nothing. */
	do {
		usleep(2000);
		found = 0;
		tree_processes(&list);
		for (size_t i = 0; i < list.n; i++)
			if (rig_is_init(list.at[i]) || tree_mark(list.at[i], mark, &job, &epoch))
				found += kill(list.at[i], SIGKILL) == 0;
		clean = found > 0 ? 0 : clean + 1;
	} while (clean < 2);
	pid_list_free(&list);
	/* Remove the killed keeper's control groups: a keeper removes them only if it ends by itself. */
	if (rig->options.containment == CONTAIN_CGROUP && cages_open(mark, &cages) == 0) {
		cages_sweep(cages);
		cages_close(cages);
	}
}

static inline void rig_free(struct rig *rig)
{
	char dir[PATH_MAX];

	if (rig->keeper > 0 && rig->guarded) {
		rig_kill_guarded(rig);
	} else if (rig->keeper > 0) {
		kill(rig->keeper, SIGKILL);
		waitpid(rig->keeper, NULL, 0);
	}
	rig_kill_orphans(rig);
	if (rig->stub_fd >= 0)
		close(rig->stub_fd);
	close(rig->listen_fd);
	ipc_close(&rig->ipc);
	for (size_t i = 0; i < rig->queued; i++)
		buf_free(&rig->queue[i].body);
	snprintf(dir, sizeof(dir), "%s", rig->options.statedir.dir);
	*strrchr(dir, '/') = '\0';
	io_remove_tree(AT_FDCWD, dir);
	mem_free(rig);
}

#endif
