/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A rig for tests of the master: the master runs in a child process and a directory of its own, and peers exchange
 * frames with it. A peer that waits in vain gives up, and the test fails. Include once per program.
 */
#ifndef TITAN_MASTER_BOX_H
#define TITAN_MASTER_BOX_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "master/master.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/message.h"
#include "proto/states.h"
#include "scratch.h"

#define BOX_WAIT_MS 30000                /* longer than any step takes; only a failing test waits this long */

static struct statedir box_place;
static pid_t box_pid;
static int box_log_fd = -1;              /* file with the masters' log output, printed when a test fails */
static unsigned box_fd_limit;             /* limit of file descriptors for the next master; 0: the default */
static size_t box_recent, box_sub_queue; /* likewise */
static uint64_t box_upload_bytes;        /* likewise */
static int64_t box_upload_yield_ms;      /* likewise */
static struct people box_people;         /* likewise */
static bool box_privacy_open;            /* likewise */
static unsigned box_request_burst;       /* likewise */

/* ---- the master ---- */

static inline int box_run(int ready_fd)
{
	struct master_options options = { .statedir = box_place, .ready_fd = ready_fd, .seed = 7,
					  .recent_changes = box_recent, .sub_queue = box_sub_queue,
					  .upload_bytes = box_upload_bytes, .upload_yield_ms = box_upload_yield_ms, .people = box_people,
					  .privacy_open = box_privacy_open, .trust_submitters = true, .request_burst = box_request_burst };
	struct error error = { .code = ERR_NONE };
	int status;

	if (box_fd_limit) {
		struct rlimit limit = { box_fd_limit, box_fd_limit };

		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (dup2(box_log_fd, STDERR_FILENO) < 0)
		abort();
	status = master_run(&options, &error);
	if (status != 0)
		fprintf(stderr, "master: %s\n", error.text);
	return status;
}

/* Start a master. True: it serves. False: it ended, with its exit status in *ret_status. */
static inline bool box_try(pid_t *ret_pid, int *ret_status)
{
	int fds[2], status;
	char byte;
	pid_t pid;
	ssize_t got;

	if (pipe2(fds, O_CLOEXEC) < 0)
		abort();
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		exit(box_run(fds[1]));
	}
	close(fds[1]);
	while ((got = read(fds[0], &byte, 1)) < 0 && errno == EINTR)
		;
	close(fds[0]);
	*ret_pid = pid;
	if (got == 1)
		return true;
	if (waitpid(pid, &status, 0) != pid)
		abort();
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return false;
}

static inline bool box_start(void)
{
	int status;

	if (box_try(&box_pid, &status))
		return true;
	box_pid = 0;
	return false;
}

/* Wait for the master to end. Return its exit status, or -1 if a signal ended it. */
static inline int box_wait(void)
{
	int status;

	if (waitpid(box_pid, &status, 0) != box_pid)
		abort();
	box_pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int box_stop(int signal_number)
{
	kill(box_pid, signal_number);
	return box_wait();
}

static inline void box_setup_cb(void *data)
{
	(void)data;
	box_fd_limit = 0;
	box_recent = box_sub_queue = 0;
	box_upload_bytes = 0;
	box_upload_yield_ms = 0;
	box_privacy_open = false;
	box_request_burst = 0;
	memset(&box_place, 0, sizeof(box_place));
	scratch_new("master", box_place.dir);
	strcpy(box_place.cluster, "test");
	box_log_fd = memfd_create("master.log", MFD_CLOEXEC);
	if (box_log_fd < 0)
		abort();
}

static inline void box_show_log(void)
{
	char text[4096];
	ssize_t got;

	for (off_t at = 0; (got = pread(box_log_fd, text, sizeof(text), at)) > 0; at += got)
		fwrite(text, 1, (size_t)got, stderr);
}

static inline void box_teardown_cb(void *data)
{
	(void)data;
	/* With a sanitizer, the exit status also says whether the master leaked memory. */
	if (box_pid > 0 && box_stop(SIGTERM) != 0) {
		box_show_log();
		fprintf(stderr, "the master didn't end in order\n");
		abort();
	}
	close(box_log_fd);
	if (io_remove_tree(AT_FDCWD, box_place.dir) != 0)
		abort();
}

/* ---- peers ---- */

struct peer {
	int fd;
	struct buf in;
	size_t taken;                    /* bytes of the input that belong to the frame received last */
	struct arena arena;              /* memory of the latest message that the peer received */
	uint64_t last_id;
};

static inline void peer_close(struct peer *peer)
{
	if (peer->fd >= 0)
		close(peer->fd);
	buf_free(&peer->in);
	arena_free(&peer->arena);
	*peer = (struct peer){ .fd = -1 };
}

static inline bool peer_connect(struct peer *peer)
{
	*peer = (struct peer){ .fd = -1 };
	return statedir_socket_connect(&box_place, &peer->fd) == 0;
}

static inline bool peer_write(struct peer *peer, const void *data, size_t len)
{
	const uint8_t *at = data;

	while (len > 0) {
		struct pollfd out = { .fd = peer->fd, .events = POLLOUT };
		ssize_t sent = send(peer->fd, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (sent < 0 && poll(&out, 1, BOX_WAIT_MS) <= 0)
			return false;
		if (sent > 0) {
			at += sent;
			len -= (size_t)sent;
		}
	}
	return true;
}

static inline bool peer_send(struct peer *peer, enum opcode op, const void *msg)
{
	struct buf frame = { 0 };
	bool sent;

	message_encode(&frame, op, msg);
	sent = peer_write(peer, frame.data, frame.len);
	buf_free(&frame);
	return sent;
}

/* Receive the next frame. False: the connection ended, or no frame came in time. */
static inline bool peer_frame(struct peer *peer, struct frame *ret_frame)
{
	struct error error;
	size_t size;

	buf_drop(&peer->in, peer->taken);
	peer->taken = 0;
	while (frame_read(buf_slice(&peer->in), LIMIT_FRAME_MAX, ret_frame, &size, &error) != FRAME_WHOLE) {
		struct pollfd in = { .fd = peer->fd, .events = POLLIN };
		ssize_t got;

		if (poll(&in, 1, BOX_WAIT_MS) <= 0)
			return false;
		got = recv(peer->fd, buf_reserve(&peer->in, 65536), 65536, 0);
		if (got <= 0)
			return false;
		peer->in.len += (size_t)got;
	}
	peer->taken = size;
	return true;
}

/* Receive the next frame, which must have this opcode. */
static inline bool peer_expect(struct peer *peer, enum opcode op, void *ret_msg)
{
	struct frame frame;
	struct error error;

	if (!peer_frame(peer, &frame))
		return false;
	if (frame.opcode != op) {
		struct buf text = { 0 };

		message_print(&text, (enum opcode)frame.opcode, frame.body);
		fprintf(stderr, "wanted opcode 0x%02x, got %s\n", op, buf_cstr(&text));
		buf_free(&text);
		return false;
	}
	arena_reset(&peer->arena);
	return message_decode(op, frame.body, &peer->arena, ret_msg, &error) == ERR_NONE;
}

/* Skip frames up to the next ERROR and return its code; ERR_NONE: the connection ended before one came. */
static inline enum err peer_error(struct peer *peer)
{
	struct frame frame;
	struct msg_error msg;

	while (peer_frame(peer, &frame)) {
		if (frame.opcode != OP_ERROR)
			continue;
		arena_reset(&peer->arena);
		if (message_decode(OP_ERROR, frame.body, &peer->arena, &msg, NULL) == ERR_NONE)
			return (enum err)msg.code;
	}
	return ERR_NONE;
}

static inline bool peer_ended(struct peer *peer)
{
	struct frame frame;

	while (peer_frame(peer, &frame))
		;
	return peer->in.len == 0;
}

static inline bool peer_hello(struct peer *peer)
{
	struct msg_hello hello = { .version = PROTOCOL_VERSION, .kind = PEER_CLIENT };
	struct msg_welcome welcome;

	return peer_connect(peer) && peer_send(peer, OP_HELLO, &hello) && peer_expect(peer, OP_WELCOME, &welcome) &&
	       welcome.role == ROLE_ADMIN && welcome.turn > 0;
}

static inline bool peer_worker(struct peer *peer, const char *name, uint64_t slots, const struct rec_held *held,
			       size_t held_count)
{
	struct msg_hello hello = {
		.version = PROTOCOL_VERSION, .kind = PEER_WORKER, .name = slice_str(name),
		.instance = slice_make("0123456789abcdef", 16), .slots = slots, .pid = 4242,
		.held = { .at = (struct rec_held *)(uintptr_t)held, .n = held_count },
	};
	struct msg_welcome welcome;

	return peer_connect(peer) && peer_send(peer, OP_HELLO, &hello) && peer_expect(peer, OP_WELCOME, &welcome) &&
	       welcome.role == ROLE_WORKER;
}

/* ---- requests ---- */

/* Encode a graph. With chain set, each job needs the one before it. */
static inline void graph_encode(struct buf *out, size_t from, size_t count, bool chain)
{
	for (size_t i = from; i < from + count; i++) {
		uint64_t parent = i - 1;
		struct slice argv[] = { slice_str("true") };
		char name[24];
		struct rec_job_spec spec = { .argv = { .at = argv, .n = 1 } };

		snprintf(name, sizeof(name), "job%zu", i);
		spec.name = slice_str(name);
		if (chain && i > 0) {
			spec.needs.at = &parent;
			spec.needs.n = 1;
		}
		record_encode(out, REC_job_spec, &spec);
	}
}

static inline bool peer_submit(struct peer *peer, const char *key, const char *name, size_t count, bool chain)
{
	struct buf jobs = { 0 };
	struct msg_submit submit = {
		.id = ++peer->last_id, .key = slice_str(key), .name = slice_str(name), .count = count,
	};
	bool sent;

	graph_encode(&jobs, 0, count, chain);
	submit.jobs = buf_slice(&jobs);
	sent = peer_send(peer, OP_SUBMIT, &submit);
	buf_free(&jobs);
	return sent;
}

static inline bool peer_query(struct peer *peer, enum query_what what, uint64_t run, const char *job,
			      uint64_t cursor, uint64_t limit, struct msg_snapshot *ret_snapshot)
{
	struct msg_query query = {
		.id = ++peer->last_id, .what = what, .run = run, .job = slice_str(job), .cursor = cursor,
		.limit = limit,
	};

	return peer_send(peer, OP_QUERY, &query) && peer_expect(peer, OP_SNAPSHOT, ret_snapshot) &&
	       ret_snapshot->id == query.id;
}

static inline bool peer_done(struct peer *worker, uint64_t job, uint64_t epoch, uint64_t code)
{
	struct rec_started started = { .job = job, .epoch = epoch, .wall_ms = clock_wall_ms(), .pid = 1 };
	struct rec_done done = {
		.job = job, .epoch = epoch, .outcome = OUTCOME_EXIT, .code = code, .started_ms = clock_wall_ms(),
		.ended_ms = clock_wall_ms(), .run_ns = 1000,
	};
	struct msg_started starts = { .items = { .at = &started, .n = 1 } };
	struct msg_done ends = { .items = { .at = &done, .n = 1 } };

	return peer_send(worker, OP_STARTED, &starts) && peer_send(worker, OP_DONE, &ends);
}

/* Play a worker: run every assigned attempt until this many have ended. */
static inline bool worker_serve(struct peer *worker, size_t ends)
{
	struct frame frame;

	while (ends > 0 && peer_frame(worker, &frame)) {
		struct msg_assign assign;

		if (frame.opcode != OP_ASSIGN)
			continue;
		arena_reset(&worker->arena);
		if (message_decode(OP_ASSIGN, frame.body, &worker->arena, &assign, NULL) != ERR_NONE)
			return false;
		for (size_t i = 0; i < assign.items.n && ends > 0; i++, ends--)
			if (!peer_done(worker, assign.items.at[i].job, assign.items.at[i].epoch, 0))
				return false;
	}
	return ends == 0;
}

#endif
