/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The connection of a command: moves frames with poll, and owns the transport and both buffers. While it waits to write
 * it also reads, so that command and master never wait for each other. The last frame returned stays in place until the
 * next receive.
 */
#include "net/client.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/client_internal.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/version.h"

#define READ_SIZE   65536
#define QUEUE_LARGE (1 << 20)

void client_close(struct client *client)
{
	if (!client)
		return;
	transport_close(client->transport);
	buf_free(&client->in);
	buf_free(&client->read_ahead);
	buf_free(&client->out);
	arena_free(&client->arena);
	mem_free(client);
}

int client_fd(const struct client *client)
{
	return client->transport->fd;
}

static short poll_events(unsigned wants)
{
	return (short)((wants & TRANSPORT_READ ? POLLIN : 0) | (wants & TRANSPORT_WRITE ? POLLOUT : 0));
}

short client_events(const struct client *client)
{
	return poll_events(client->transport->read_want);
}

const struct msg_welcome *client_welcome(const struct client *client)
{
	return &client->welcome;
}

void client_looks_at(struct client *client, uint64_t turn)
{
	client->welcome.turn = turn;
}

uint64_t client_next_id(struct client *client)
{
	return ++client->last_id;
}

static enum err gone(const struct client *client, struct error *error)
{
	error_set(error, ERR_UNREACHABLE, "the master at %s closed the connection", client->path);
	return error_next(error, "titan status");
}

/* The transport failed with -errno: use the transport's own error text if it has one. */
static enum err transport_failed(const struct client *client, ssize_t result, const char *what, struct error *error)
{
	const struct transport_fault *fault = client->transport->fault;

	if (!fault)
		return error_system(error, (int)-result, "can't %s the master at %s", what, client->path);
	return error_set(error, fault->code, "%s: %s", client->path, fault->text);
}

/* Read what has arrived into buf; set ended at the end of the stream. */
static enum err read_some(struct client *client, struct buf *buf, struct error *error)
{
	uint8_t *place = buf_reserve(buf, READ_SIZE);
	ssize_t got = transport_read(client->transport, place, READ_SIZE);

	if (got > 0)
		buf->len += (size_t)got;
	else if (got == 0 || got == -ECONNRESET)
		client->ended = true;
	else if (got != -EAGAIN)
		return transport_failed(client, got, "read from", error);
	return ERR_NONE;
}

/* Wait until the descriptor is ready (bits of enum transport_want). ERR_TIMEOUT if until_ns passes first. */
static enum err wait_for(struct client *client, unsigned wants, int64_t until_ns, unsigned *ret_ready,
			 struct error *error)
{
	struct pollfd poll_fd = { .fd = client->transport->fd, .events = poll_events(wants) };
	int timeout_ms = -1;
	int count;

	if (until_ns != TIME_NEVER) {
		int64_t left_ns = until_ns - clock_mono_ns();

		timeout_ms = left_ns <= 0 ? 0 : (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS);
	}
	count = poll(&poll_fd, 1, timeout_ms);
	if (count < 0 && errno == EINTR)
		return error_set(error, ERR_INTERRUPTED, "interrupted while waiting for the master");
	if (count < 0)
		return error_system(error, errno, "can't wait for the master at %s", client->path);
	if (count == 0) {
		error_set(error, ERR_TIMEOUT,
			  "the master at %s doesn't respond; is it stopped, or its disk full?", client->path);
		return error_next(error, "titan status");
	}
	*ret_ready = (poll_fd.revents & POLLIN ? TRANSPORT_READ : 0) | (poll_fd.revents & POLLOUT ? TRANSPORT_WRITE : 0);
	return ERR_NONE;
}

/*
 * Read although poll reports nothing: the transport holds bytes, or reading waits for room to write, an event that
 * writing may have used up. True: something was read, which writing may have waited for.
 */
static bool reads_unasked(struct client *client, enum err *ret_err, struct error *error)
{
	size_t had = client->read_ahead.len;

	if (client->ended || !(client->transport->holds || client->transport->read_want == TRANSPORT_WRITE))
		return false;
	*ret_err = read_some(client, &client->read_ahead, error);
	return client->read_ahead.len > had || client->ended;
}

/* Send the queue. If the peer takes no more bytes, mark it deaf; what it sent before can still be read. */
static enum err send_queue(struct client *client, int64_t until_ns, struct error *error)
{
	while (client->out.len > 0 && !client->deaf) {
		const struct buf *out = &client->out;
		ssize_t sent = transport_write(client->transport, out->data, out->len);
		unsigned wants, ready = 0;
		enum err err = ERR_NONE;

		if (sent >= 0) {
			buf_drop(&client->out, (size_t)sent);
			continue;
		}
		if (sent == -EPIPE || sent == -ECONNRESET) {
			client->deaf = true;
			buf_clear(&client->out);
			break;
		}
		if (sent != -EAGAIN)
			return transport_failed(client, sent, "send to", error);
		if (reads_unasked(client, &err, error))
			continue;
		if (err != ERR_NONE)
			return err;
		wants = client->ended ? 0 : client->transport->read_want;
		err = wait_for(client, wants | client->transport->write_want, until_ns, &ready, error);
		if (err == ERR_NONE && ready & wants)
			err = read_some(client, &client->read_ahead, error);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

enum err client_flush(struct client *client, struct error *error)
{
	enum err err = send_queue(client, TIME_NEVER, error);

	if (err == ERR_NONE && client->deaf)
		return gone(client, error);
	return err;
}

enum err client_send(struct client *client, enum opcode op, const void *msg, struct error *error)
{
	size_t old_len = client->out.len;

	message_encode(&client->out, op, msg);
	/* Without the part that the master doesn't know, the request could mean something else. */
	if (client->narrow && version_narrow(&client->out, old_len)) {
		buf_cut(&client->out, old_len);
		error_set(error, ERR_VERSION, "the master at %s is of an older titan, which doesn't know all of this request: put this titan in its place",
			  client->path);
		return error_next(error, "titan up --upgrade");
	}
	/* If the master takes no more bytes, client_receive still reads its last frames. */
	return client->out.len > QUEUE_LARGE ? send_queue(client, TIME_NEVER, error) : ERR_NONE;
}

/* Drop the last frame returned, and append what was read while writing. */
static void move_on(struct client *client)
{
	buf_drop(&client->in, client->handed_out);
	client->handed_out = 0;
	if (client->read_ahead.len == 0)
		return;
	buf_add_slice(&client->in, buf_slice(&client->read_ahead));
	buf_clear(&client->read_ahead);
}

/* The next whole frame; ERR_PENDING: there is none, and error is unchanged. */
static enum err next_frame(struct client *client, struct incoming *ret_frame, struct error *error)
{
	struct error bad;
	struct frame frame;
	size_t size;

	switch (frame_read(buf_slice(&client->in), LIMIT_FRAME_MAX, &frame, &size, &bad)) {
	case FRAME_WHOLE:
		client->handed_out = size;
		*ret_frame = (struct incoming){ .op = frame.opcode, .body = frame.body };
		return ERR_NONE;
	case FRAME_PARTIAL:
		return ERR_PENDING;
	case FRAME_BAD:
		break;
	}
	return error_set(error, bad.code, "can't understand the answer of %s: %s", client->path, bad.text);
}

enum err client_receive(struct client *client, int timeout_ms, struct incoming *ret_frame,
			struct error *error)
{
	int64_t until_ns = timeout_ms < 0 ? TIME_NEVER : clock_mono_ns() + timeout_ms * NS_PER_MS;
	enum err err;

	move_on(client);
	err = send_queue(client, timeout_ms == 0 ? TIME_NEVER : until_ns, error);
	move_on(client);
	while (err == ERR_NONE) {
		size_t had = client->in.len;
		unsigned ready;

		err = next_frame(client, ret_frame, error);
		if (err != ERR_PENDING)
			return err;
		if (client->ended)
			return gone(client, error);
		err = read_some(client, &client->in, error);
		if (err != ERR_NONE || client->in.len > had || client->ended)
			continue;
		if (timeout_ms == 0)
			return error_set(error, ERR_PENDING, "no message came from the master at %s",
					 client->path);
		err = wait_for(client, client->transport->read_want, until_ns, &ready, error);
	}
	return err;
}
