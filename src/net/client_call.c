/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening a command's connection, and requests with their answers. Answers are matched by id, so a late answer to a
 * request that timed out isn't taken for the next one's.
 */
#include "net/client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/client_internal.h"
#include "net/dial.h"
#include "net/keyfile.h"

#define OPEN_MS    5000
#define BACKLOG_MS 20                    /* time between two tries while the master's backlog is full */
#define CALL_MS    60000

static enum err unreachable(const struct client *client, const struct statedir *statedir, int result,
			    struct error *error)
{
	if (result == -EPERM || result == -ELOOP) {
		error_state_dir(error, -result, statedir->dir);
		if (error)
			error->code = ERR_DENIED;
		return ERR_DENIED;
	}
	if (result == -EAGAIN) {
		error_set(error, ERR_BUSY, "the master at %s doesn't accept connections; is it stopped?",
			  client->path);
		return error_next(error, "titan up");
	}
	if (result != -ENOENT && result != -ECONNREFUSED)
		return error_system(error, -result, "can't connect to %s", client->path);
	error_set(error, ERR_UNREACHABLE, "no master is running at %s", client->path);
	if (strcmp(statedir->cluster, "default") != 0)
		return error_next(error, "titan -C %s up", statedir->cluster);
	return error_next(error, "titan up");
}

static enum err connect_until(struct client *client, const struct statedir *statedir, int64_t until_ns,
			      struct error *error)
{
	for (;;) {
		int fd;
		int result = statedir_socket_connect(statedir, &fd);

		if (result == 0) {
			client->transport = transport_unix(fd);
			return ERR_NONE;
		}
		if (result != -EAGAIN || clock_mono_ns() >= until_ns)
			return unreachable(client, statedir, result, error);
		if (poll(NULL, 0, BACKLOG_MS) < 0)
			return error_set(error, ERR_INTERRUPTED, "interrupted while connecting to %s",
					 client->path);
	}
}

/* Turn an ERROR frame into an error. */
static enum err told(const struct incoming *frame, struct error *error)
{
	struct arena arena = { 0 };
	struct msg_error message;
	enum err err = message_decode(OP_ERROR, frame->body, &arena, &message, error);

	if (err == ERR_NONE) {
		err = message.code != ERR_NONE && err_known((unsigned)message.code) ? (enum err)message.code
										 : ERR_INTERNAL;
		error_set(error, err, "%.*s", (int)message.text.len, (const char *)message.text.data);
		if (message.next.len > 0)
			error_next(error, "%.*s", (int)message.next.len, (const char *)message.next.data);
	}
	arena_free(&arena);
	return err;
}

static enum err greet(struct client *client, const char *token, int64_t until_ns, struct error *error)
{
	struct msg_hello hello = {
		.version = PROTOCOL_BEFORE,
		.newest = PROTOCOL_VERSION,
		.kind = PEER_CLIENT,
		.pid = (uint64_t)getpid(),
		.token = slice_str(token),
	};
	struct incoming frame;
	int64_t left_ms;
	enum err err = client_send(client, OP_HELLO, &hello, error);

	if (err != ERR_NONE)
		return err;
	left_ms = (until_ns - clock_mono_ns()) / NS_PER_MS;
	err = client_receive(client, left_ms > 1 ? (int)left_ms : 1, &frame, error);
	if (err != ERR_NONE)
		return err;
	if (frame.op == OP_ERROR)
		return told(&frame, error);
	if (frame.op != OP_WELCOME)
		return error_set(error, ERR_NOT_EXPECTED, "the master at %s answered HELLO with the unexpected message 0x%02x",
				 client->path, (unsigned)frame.op);
	err = message_decode(OP_WELCOME, frame.body, &client->arena, &client->welcome, error);
	if (err != ERR_NONE)
		return err;
	client->welcome.cluster = arena_copy(&client->arena, client->welcome.cluster);
	if (client->welcome.version != PROTOCOL_VERSION && client->welcome.version != PROTOCOL_BEFORE)
		return error_set(error, ERR_VERSION,
				 "the master at %s wants to speak version %llu of the protocol; this titan speaks versions %d and %d", client->path,
				 (unsigned long long)client->welcome.version, PROTOCOL_BEFORE, PROTOCOL_VERSION);
	client->narrow = client->welcome.version != PROTOCOL_VERSION;
	return ERR_NONE;
}

static enum err opened(struct client *client, enum err err, struct client **ret_client)
{
	if (err != ERR_NONE)
		client_close(client);
	else
		*ret_client = client;
	return err;
}

enum err client_open(const struct statedir *statedir, struct client **ret_client, struct error *error)
{
	struct client *client = mem_zalloc(sizeof(*client));
	int64_t until_ns = clock_mono_ns() + OPEN_MS * NS_PER_MS;
	enum err err;

	statedir_path(statedir, "titan.sock", client->path);
	err = connect_until(client, statedir, until_ns, error);
	if (err == ERR_NONE)
		err = greet(client, NULL, until_ns, error);
	return opened(client, err, ret_client);
}

static enum err connect_shared(struct client *client, const char *path, struct error *error)
{
	int fd, result = statedir_connect_shared(path, &fd);
	int dir = (int)(strrchr(path, '/') - path);

	switch (result) {
	case 0:
		client->transport = transport_unix(fd);
		return ERR_NONE;
	case -EAGAIN:
		return error_set(error, ERR_BUSY, "the master at %s doesn't accept connections at the moment", path);
	case -ECONNREFUSED:
		error_set(error, ERR_UNREACHABLE, "no master listens on %s", path);
		return error_next(error, "ls -l %s shows its owner, who can start it with titan up", path);
	case -ENOENT:
		error_set(error, ERR_UNREACHABLE, "there is no socket %s", path);
		return error_next(error, "ask the owner of the cluster; share in titan.conf of the cluster names the socket");
	case -EACCES:
		error_set(error, ERR_DENIED, "you may not use the socket %s, because you aren't in its group", path);
		return error_next(error, "compare: ls -l %s; id", path);
	case -EPERM:
		error_set(error, ERR_DENIED, "other users may write to %.*s or to a directory above it, so the socket there could be anybody's", dir, path);
		return error_next(error, "ask the owner of the cluster to share it in a directory such as /run/titan");
	default:
		return error_system(error, -result, "can't connect to %s", path);
	}
}

enum err client_open_remote(const char *address, const struct key *key, struct client **ret_client, struct error *error)
{
	struct client *client = mem_zalloc(sizeof(*client));
	int64_t until_ns = clock_mono_ns() + OPEN_MS * NS_PER_MS;
	enum err err;
	int fd;

	snprintf(client->path, sizeof(client->path), "%s", address);
	if (address[0] == '/') {
		err = connect_shared(client, address, error);
		if (err == ERR_NONE)
			err = greet(client, NULL, until_ns, error);
		return opened(client, err, ret_client);
	}
	err = dial(address, until_ns, &fd, error);
	if (err == ERR_NONE)
		err = transport_tls_connect(fd, key->identity, key->secret, &client->transport, error);
	if (err == ERR_NONE)
		err = greet(client, NULL, until_ns, error);
	if (err == ERR_NONE && client->welcome.lease_ms > 0)
		tcp_watch_silence(client_fd(client), client->welcome.lease_ms < INT32_MAX ? (int64_t)client->welcome.lease_ms : INT32_MAX);
	return opened(client, err, ret_client);
}

enum err client_open_over(struct transport *transport, const char *name, struct client **ret_client, struct error *error)
{
	struct client *client = mem_zalloc(sizeof(*client));

	client->transport = transport;
	snprintf(client->path, sizeof(client->path), "%s", name);
	return opened(client, greet(client, NULL, clock_mono_ns() + OPEN_MS * NS_PER_MS, error), ret_client);
}

/*
 * Connect to a job's worker. The link has a place for each connection of its jobs, so its backlog is never full for
 * long.
 */
static enum err connect_job(struct client *client, const char *socket, struct error *error)
{
	const char *slash = strrchr(socket, '/');
	char dir[PATH_MAX];
	int fd, result = -ENOENT;

	snprintf(client->path, sizeof(client->path), "%s", socket);
	if (slash && slash > socket && (size_t)(slash - socket) < sizeof(dir)) {
		memcpy(dir, socket, (size_t)(slash - socket));
		dir[slash - socket] = '\0';
		result = statedir_connect_in(dir, slash + 1, &fd);
	}
	if (result == 0) {
		client->transport = transport_unix(fd);
		return ERR_NONE;
	}
	if (result == -EAGAIN)
		return error_set(error, ERR_BUSY, "the worker of this job doesn't accept connections at %s", socket);
	return error_set(error, ERR_UNREACHABLE, "the worker of this job doesn't respond at TITAN_SOCKET, %s: %s", socket,
			 strerror(-result));
}

enum err client_open_job(const char *socket, const char *token, struct client **ret_client, struct error *error)
{
	struct client *client = mem_zalloc(sizeof(*client));
	enum err err;

	err = connect_job(client, socket, error);
	if (err == ERR_NONE)
		err = greet(client, token, clock_mono_ns() + OPEN_MS * NS_PER_MS, error);
	return opened(client, err, ret_client);
}

/* The id of a message, which is the first field of every request and answer; 0: it has none. */
static uint64_t id_of(enum opcode op, const void *msg)
{
	const struct shape *shape = message_shape(op);
	uint64_t id;

	if (!shape || shape->field_count == 0 || strcmp(shape->fields[0].name, "id") != 0)
		return 0;
	memcpy(&id, (const char *)msg + shape->fields[0].offset, sizeof(id));
	return id;
}

/* Does this frame end the call? Then *ret_err is the call's result. */
static bool is_answer(const struct incoming *frame, enum opcode answer_op, uint64_t id, struct arena *arena,
		      void *ret_answer, struct error *error, enum err *ret_err)
{
	struct msg_error failed;

	if (frame->op == OP_ERROR) {
		*ret_err = message_decode(OP_ERROR, frame->body, arena, &failed, error);
		if (*ret_err == ERR_NONE && failed.id != id && failed.id != 0)
			return false;
		if (*ret_err == ERR_NONE)
			*ret_err = told(frame, error);
		return true;
	}
	if (frame->op != answer_op)
		return false;
	*ret_err = message_decode(answer_op, frame->body, arena, ret_answer, error);
	return *ret_err != ERR_NONE || id_of(answer_op, ret_answer) == id;
}

enum err client_call(struct client *client, enum opcode op, const void *msg, enum opcode answer_op,
		     struct arena *arena, void *ret_answer, struct error *error)
{
	int64_t until_ns = clock_mono_ns() + CALL_MS * NS_PER_MS;
	uint64_t id = id_of(op, msg);
	struct incoming frame;
	enum err err = client_send(client, op, msg, error);

	while (err == ERR_NONE) {
		int64_t left_ms = (until_ns - clock_mono_ns()) / NS_PER_MS;

		err = client_receive(client, left_ms > 1 ? (int)left_ms : 1, &frame, error);
		if (err == ERR_NONE && is_answer(&frame, answer_op, id, arena, ret_answer, error, &err))
			return err;
	}
	return err;
}
