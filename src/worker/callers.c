/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Connections that a worker's jobs make to the master through the link. A new connection has to send HELLO soon; then
 * it becomes a channel. Limits say how many connections a job may have, how many bytes may be on their way, and how
 * long HELLO may take. No state outlives the link or the master: the command in the job connects again, with the same
 * submit key.
 */
#include "worker/callers.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/channel.h"
#include "net/listen.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "worker/link.h"

struct caller_entry {
	struct caller_entry *prev, *next;
	struct link *link;
	uint64_t job, epoch;             /* the attempt that made the connection; job 0 until its HELLO has come */
	struct ev_io readable;           /* watches the connection's descriptor until HELLO has come */
	struct ev_timer hello_late;
	struct buf in;
	struct channel *channel;         /* owns the connection's descriptor after HELLO; NULL before */
};

static void entry_free(struct caller_entry *entry)
{
	struct link *link = entry->link;

	*(entry->prev ? &entry->prev->next : &link->callers) = entry->next;
	if (entry->next)
		entry->next->prev = entry->prev;
	ev_io_stop(link->loop, &entry->readable);
	ev_timer_stop(link->loop, &entry->hello_late);
	if (entry->channel)
		channel_free(entry->channel);
	else
		close(entry->readable.fd);
	buf_free(&entry->in);
	mem_free(entry);
	link->caller_count--;
}

/*
 * Answer with an error and close. The frame has a few hundred bytes and is the first on this socket, so one send takes
 * all of it.
 */
static void refuse(struct caller_entry *entry, const struct error *error)
{
	struct buf frame = { 0 };
	const struct msg_error msg = {
		.code = error->code, .text = slice_str(error->text), .next = slice_str(error->next),
	};

	message_encode(&frame, OP_ERROR, &msg);
	if (send(entry->readable.fd, frame.data, frame.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_debug("can't send the reason to a job whose connection was refused: %s", strerror(errno));
	buf_free(&frame);
	entry_free(entry);
}

/* ---- channels ---- */

static void send_cb(struct channel *channel, const struct msg_relay *msg, void *owner)
{
	const struct caller_entry *entry = owner;

	(void)channel;
	if (entry->link->welcome)
		conn_send(entry->link->conn, OP_RELAY, msg);
}

static void closed_cb(struct channel *channel, void *owner)
{
	(void)channel;
	entry_free(owner);
}

static const struct channel_ops channel_ops = { .send_cb = send_cb, .closed_cb = closed_cb };

void callers_relay(struct link *link, const struct msg_relay *msg)
{
	for (struct caller_entry *entry = link->callers; entry; entry = entry->next)
		if (entry->channel && channel_number(entry->channel) == msg->channel) {
			channel_deliver(entry->channel, msg);
			return;
		}
}

/* ---- finding the attempt that made the connection ---- */

static enum err may_speak(const struct link *link, struct slice token, uint64_t *ret_job, uint64_t *ret_epoch,
			  struct error *error)
{
	const struct held *held;
	size_t count = 0;

	if (!job_token_read(link->secret, token, ret_job, ret_epoch))
		return error_set(error, ERR_DENIED, "TITAN_TOKEN doesn't belong to a job of this worker; only its "
			"jobs may use this socket");
	held = held_find(link, *ret_job, *ret_epoch);
	if (!held || held->phase == PHASE_ENDED)
		return error_set(error, ERR_STALE, "the attempt in TITAN_TOKEN has ended");
	for (const struct caller_entry *entry = link->callers; entry; entry = entry->next)
		count += entry->job == *ret_job && entry->epoch == *ret_epoch;
	if (count >= LIMIT_RELAY_JOB_MAX)
		return error_set(error, ERR_BUSY, "this job already has %d connections to the master, and no more "
			"are allowed",
				 LIMIT_RELAY_JOB_MAX);
	if (!link->welcome)
		return error_set(error, ERR_UNREACHABLE, "the job's worker isn't connected to the master at the moment");
	return ERR_NONE;
}

static enum err read_hello(struct caller_entry *entry, const struct frame *frame, struct error *error)
{
	struct link *link = entry->link;
	struct msg_hello hello;
	uint64_t job = 0, epoch = 0;
	enum err err;

	if (frame->opcode != OP_HELLO)
		return error_set(error, ERR_NOT_EXPECTED, "a connection must begin with HELLO");
	arena_reset(&link->arena);
	err = message_decode(OP_HELLO, frame->body, &link->arena, &hello, error);
	if (err == ERR_NONE)
		err = may_speak(link, hello.token, &job, &epoch, error);
	if (err != ERR_NONE)
		return err;
	entry->job = job;
	entry->epoch = epoch;
	return ERR_NONE;
}

static void become_channel(struct caller_entry *entry)
{
	struct link *link = entry->link;
	const struct msg_relay first = { .job = entry->job, .epoch = entry->epoch, .data = buf_slice(&entry->in) };

	ev_io_stop(link->loop, &entry->readable);
	ev_timer_stop(link->loop, &entry->hello_late);
	entry->channel = channel_new(link->loop, ++link->last_channel, entry->readable.fd, &channel_ops, entry);
	channel_begin(entry->channel, first);
	buf_free(&entry->in);
}

static void readable_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct caller_entry *entry = io->data;
	const size_t most = LIMIT_FRAME_MAX_UNAUTH + FRAME_HEADER_SIZE;
	ssize_t got = recv(io->fd, buf_reserve(&entry->in, most), most - entry->in.len, MSG_DONTWAIT);
	struct frame frame;
	struct error error;
	size_t size;

	(void)loop;
	(void)events;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		entry_free(entry);
		return;
	}
	entry->in.len += (size_t)got;
	switch (frame_read(buf_slice(&entry->in), LIMIT_FRAME_MAX_UNAUTH, &frame, &size, &error)) {
	case FRAME_PARTIAL:
		return;
	case FRAME_BAD:
		refuse(entry, &error);
		return;
	case FRAME_WHOLE:
		if (read_hello(entry, &frame, &error) != ERR_NONE)
			refuse(entry, &error);
		else
			become_channel(entry);
	}
}

static void hello_late_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct error error;

	(void)loop;
	(void)events;
	error_set(&error, ERR_TIMEOUT, "no complete HELLO arrived within %d ms", LIMIT_CONN_HELLO_MS);
	refuse(timer->data, &error);
}

/*
 * The oldest connection that hasn't sent HELLO, or NULL. It is closed to make room, so that silent connections can't
 * take all places.
 */
static struct caller_entry *silent_one(struct link *link)
{
	struct caller_entry *oldest = NULL;

	for (struct caller_entry *entry = link->callers; entry; entry = entry->next)
		if (!entry->channel)
			oldest = entry;
	return oldest;
}

static void accept_cb(int fd, void *owner)
{
	struct link *link = owner;
	struct caller_entry *entry = mem_zalloc(sizeof(*entry)), *silent;
	struct error error;

	error_set(&error, ERR_BUSY, "the jobs of this worker already have the highest number of connections; try again");
	entry->link = link;
	ev_io_init(&entry->readable, readable_cb, fd, EV_READ);
	ev_timer_init(&entry->hello_late, hello_late_cb, LIMIT_CONN_HELLO_MS / 1e3, 0.);
	entry->readable.data = entry->hello_late.data = entry;
	if (link->caller_count >= LIMIT_RELAY_WORKER_MAX && (silent = silent_one(link)))
		refuse(silent, &error);
	entry->next = link->callers;
	if (entry->next)
		entry->next->prev = entry;
	link->callers = entry;
	if (++link->caller_count > LIMIT_RELAY_WORKER_MAX) {
		refuse(entry, &error);
		return;
	}
	ev_io_start(link->loop, &entry->readable);
	ev_timer_start(link->loop, &entry->hello_late);
}

/* ---- opening and closing ---- */

/*
 * Listen where the jobs of another user can connect: in a directory of that user, as a client expects. While the socket is made
 * the directory belongs to root, so that no job can put something else in its place.
 */
static int listen_for_user(const struct worker_options *options, char ret_dir[PATH_MAX], int *ret_fd)
{
	int dir_fd, result = 0;

	snprintf(ret_dir, PATH_MAX, "%s/link", options->job_place);
	dir_fd = open(ret_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir_fd < 0)
		return -errno;
	if (fchown(dir_fd, 0, 0) < 0 || fchmod(dir_fd, 0700) < 0 ||
	    (unlinkat(dir_fd, JOB_TOKEN_SOCKET, 0) < 0 && errno != ENOENT))
		result = -errno;
	if (result == 0)
		result = statedir_listen_in(ret_dir, JOB_TOKEN_SOCKET, ret_fd);
	if (result == 0 && (fchownat(dir_fd, JOB_TOKEN_SOCKET, options->job_uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW) < 0 ||
			    fchown(dir_fd, options->job_uid, (gid_t)-1) < 0)) {
		result = -errno;
		close(*ret_fd);
	}
	close(dir_fd);
	return result;
}

bool callers_open(struct link *link, struct error *error)
{
	char below[256], path[PATH_MAX];
	int fd, dir_fd, result;

	snprintf(below, sizeof(below), "worker/%s", link->options->name);
	statedir_path(&link->options->statedir, below, path);
	dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	result = dir_fd >= 0 ? job_token_secret(dir_fd, link->secret) : -errno;
	if (dir_fd >= 0)
		close(dir_fd);
	if (result == 0)
		result = link->options->job_place ? listen_for_user(link->options, path, &fd) :
						    statedir_listen_in(path, JOB_TOKEN_SOCKET, &fd);
	if (result < 0) {
		error_system(error, -result, "can't make the socket for jobs in %s", path);
		return false;
	}
	link->caller_listener = listener_new(link->loop, fd, link, accept_cb);
	return true;
}

void callers_drop(struct link *link)
{
	struct caller_entry *next;

	for (struct caller_entry *entry = link->callers; entry; entry = next) {
		next = entry->next;
		if (entry->channel)
			entry_free(entry);
	}
}

void callers_end(struct link *link, uint64_t job, uint64_t epoch)
{
	struct caller_entry *next;

	for (struct caller_entry *entry = link->callers; entry; entry = next) {
		struct msg_relay msg = { .end = true };

		next = entry->next;
		if (!entry->channel || entry->job != job || entry->epoch != epoch)
			continue;
		msg.channel = channel_number(entry->channel);
		send_cb(entry->channel, &msg, entry);
		entry_free(entry);
	}
}

void callers_close(struct link *link)
{
	listener_free(link->caller_listener);
	while (link->callers)
		entry_free(link->callers);
}
