/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rig for tests of the link: the link runs in a process of its own, and the test plays its keeper and its master. */
#ifndef TITAN_TESTS_LINK_RIG_H
#define TITAN_TESTS_LINK_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "worker/ipc.h"
#include "worker/worker.h"
#include "scratch.h"

#define WAIT_MS  20000
#define LEASE_MS 30000

static struct worker_options options;
static struct ipc_end keeper;
static int listen_fd, master_fd;
static pid_t link_pid;
static bool keeper_silent;               /* true: the link's PINGs stay unanswered unless the test answers them */
static struct buf in, out;
static struct arena arena;
static struct buf body_copy;

static inline const char *below(const char *name)
{
	static char path[PATH_MAX];

	return statedir_path(&options.statedir, name, path);
}

static inline void setup_cb(void *data)
{
	char dir[SCRATCH_SIZE];
	int pair[2];

	(void)data;
	scratch_new("link", dir);
	options = (struct worker_options){ .name = "w1", .slots = 3, .ready_fd = -1 };
	snprintf(options.statedir.dir, sizeof(options.statedir.dir), "%s/state", dir);
	strcpy(options.statedir.cluster, "rig");
	master_fd = -1;
	keeper_silent = false;
	if (statedir_make(&options.statedir) < 0 || io_make_dirs(below("worker/w1/attempts"), 0700) < 0 ||
	    statedir_socket_listen(&options.statedir, &listen_fd) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	fflush(stdout);
	link_pid = fork();
	if (link_pid == 0) {
		struct error error;

		if (!getenv("RIG_LOUD"))
			dup2(open("/dev/null", O_WRONLY), 2);
		dup2(pair[1], 3);
		close_range(4, ~0u, 0);
		setenv("TITAN_LINK_INSTANCE", "000102030405060708090a0b0c0d0e0f", 1);
		setenv("TITAN_LINK_PID", "4711", 1);
		_exit(link_run(&options, &error));
	}
	close(pair[1]);
	keeper.fd = pair[0];
}

static inline void teardown_cb(void *data)
{
	char dir[PATH_MAX];

	(void)data;
	kill(link_pid, SIGKILL);
	waitpid(link_pid, NULL, 0);
	ipc_close(&keeper);
	if (master_fd >= 0)
		close(master_fd);
	close(listen_fd);
	buf_free(&in);
	buf_free(&out);
	buf_free(&body_copy);
	arena_free(&arena);
	snprintf(dir, sizeof(dir), "%s", options.statedir.dir);
	*strrchr(dir, '/') = '\0';
	io_remove_tree(AT_FDCWD, dir);
}

/* --- as master --- */

static inline bool readable(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, WAIT_MS) == 1;
}

static inline bool accept_link(void)
{
	if (master_fd >= 0)
		close(master_fd);
	buf_clear(&in);
	if (!readable(listen_fd))
		return false;
	master_fd = accept(listen_fd, NULL, NULL);
	return master_fd >= 0;
}

static inline void say(enum opcode op, const void *msg)
{
	buf_clear(&out);
	message_encode(&out, op, msg);
	if (io_write_all(master_fd, out.data, out.len) < 0)
		abort();
}

/* Return the opcode of the next frame, or 0 if none came. Heartbeats are skipped unless they are wanted. */
static inline unsigned hear(bool heartbeats, struct slice *ret_body)
{
	struct frame frame;
	struct error error;
	size_t size;

	for (;;) {
		switch (frame_read(buf_slice(&in), LIMIT_FRAME_MAX, &frame, &size, &error)) {
		case FRAME_BAD:
			return 0;
		case FRAME_WHOLE:
			buf_clear(&body_copy);
			buf_add_slice(&body_copy, frame.body);
			buf_drop(&in, size);
			if (frame.opcode == OP_HEARTBEAT && !heartbeats)
				continue;
			*ret_body = buf_slice(&body_copy);
			return frame.opcode;
		case FRAME_PARTIAL:
			if (!readable(master_fd))
				return 0;
			ssize_t got = read(master_fd, buf_reserve(&in, 65536), 65536);

			if (got <= 0)
				return 0;
			in.len += (size_t)got;
		}
	}
}

static inline bool expect(enum opcode op, void *ret_msg)
{
	struct slice body;
	struct error error;
	unsigned heard = hear(op == OP_HEARTBEAT, &body);

	if (heard != op) {
		printf("\nheard message %u instead of %u\n", heard, (unsigned)op);
		return false;
	}
	return message_decode(op, body, &arena, ret_msg, &error) == ERR_NONE;
}

static inline void welcome_with(uint64_t version, uint64_t heartbeat_ms)
{
	const struct msg_welcome msg = { .version = version, .cluster = slice_str("rig"), .generation = 1, .boot = 1,
					 .heartbeat_ms = heartbeat_ms, .lease_ms = LEASE_MS, .role = ROLE_WORKER };

	say(OP_WELCOME, &msg);
}

static inline void welcome(uint64_t heartbeat_ms)
{
	welcome_with(PROTOCOL_VERSION, heartbeat_ms);
}

static inline void credit(uint64_t job, uint64_t stream, uint64_t offset, bool synced)
{
	struct rec_credit item = { .job = job, .epoch = 1, .stream = stream, .offset = offset, .synced = synced };
	const struct msg_credit msg = { .items = { &item, 1 } };

	say(OP_CREDIT, &msg);
}

static inline void ack(uint64_t job)
{
	struct rec_attempt item = { job, 1 };
	const struct msg_ack msg = { .items = { &item, 1 } };

	say(OP_ACK, &msg);
}

/* --- as keeper --- */

static inline void tell(enum ipc_type type, const void *body, size_t size)
{
	ipc_put(&keeper, type, body, size);
	while (ipc_flush(&keeper) > 0)
		;
}

static inline void tell_held(uint64_t job, enum attempt_phase phase)
{
	const struct ipc_inventory item = { .job = job, .epoch = job ? 1 : 0, .run = 7, .phase = phase };

	tell(IPC_INVENTORY, &item, sizeof(item));
	/* Answer all PINGs in advance, because most tests are about something else. */
	for (int i = 0; job == 0 && !keeper_silent && i < 1000; i++)
		tell(IPC_PONG, NULL, 0);
}

static inline void tell_started(uint64_t job, uint64_t space)
{
	const struct ipc_started item = { .job = job, .epoch = 1, .run = 7, .wall_ms = 5, .pid = 99, .space = space };

	tell(IPC_STARTED, &item, sizeof(item));
}

static inline void tell_exited(uint64_t job, uint64_t space, uint64_t out_size, uint64_t err_size)
{
	const struct ipc_exited item = {
		.run = 7, .space = space, .sizes = { out_size, err_size },
		.done = { .job = job, .epoch = 1, .outcome = OUTCOME_EXIT, .code = 3, .out_bytes = out_size + err_size },
	};

	tell(IPC_EXITED, &item, sizeof(item));
}

static inline bool told(enum ipc_type type, struct slice *ret_body)
{
	struct ipc_header header;

	while (!ipc_next(&keeper, &header, ret_body))
		if (!readable(keeper.fd) || ipc_fill(&keeper) < 0)
			return false;
	if ((header.type == IPC_LEASE || header.type == IPC_PING) && type != header.type)
		return told(type, ret_body);
	return header.type == type;
}

/* Connect the link to a keeper that holds no attempts. */
static inline bool connected(void)
{
	struct msg_hello hello;

	tell_held(0, 0);
	if (!accept_link() || !expect(OP_HELLO, &hello))
		return false;
	welcome(600000);
	return true;
}

static inline void assign_sharing(uint64_t job, const struct rec_job_spec *spec, struct slice raw, uint64_t context)
{
	struct buf bytes = { 0 };
	struct rec_assign item = { .job = job, .epoch = 1, .run = 7, .try_no = 1, .context = context };
	const struct msg_assign msg = { .items = { &item, 1 } };

	if (spec)
		record_encode(&bytes, REC_job_spec, spec);
	item.spec = spec ? buf_slice(&bytes) : raw;
	say(OP_ASSIGN, &msg);
	buf_free(&bytes);
}

static inline bool told_spawn(uint64_t job, uint32_t argc, uint32_t envc, const char *strings, size_t size)
{
	struct ipc_spawn spawn;
	struct slice body;

	if (!told(IPC_SPAWN, &body))
		return false;
	memcpy(&spawn, body.data, sizeof(spawn));
	return spawn.job == job && spawn.epoch == 1 && spawn.run == 7 && spawn.argc == argc && spawn.envc == envc &&
	       spawn.strings_size == size && memcmp(body.data + sizeof(spawn), strings, size) == 0;
}

static inline void write_stream(const char *name, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "worker/w1/attempts/%s", name);
	fd = open(below(path), O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd < 0 || io_write_all(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

#endif
