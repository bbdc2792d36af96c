/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Connections of jobs, relayed over their worker's connection. Each becomes a session like any other, over a socket
 * pair, and knows its attempt. So the same rules apply to jobs as to clients, and scope.c restricts them further. A
 * worker may open such a connection only for an attempt that it has.
 */
#include "master/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "master/dispatch.h"
#include "net/channel.h"

struct relay {
	struct relay *prev, *next;
	struct master *master;
	uint64_t conn;                   /* number of the worker's connection */
	struct caller caller;
	struct channel *channel;
};

static void relay_free(struct relay *relay)
{
	*(relay->prev ? &relay->prev->next : &relay->master->relays) = relay->next;
	if (relay->next)
		relay->next->prev = relay->prev;
	channel_free(relay->channel);
	mem_free(relay);
}

static void send_cb(struct channel *channel, const struct msg_relay *msg, void *owner)
{
	const struct relay *relay = owner;
	struct peer_session *worker = session_find(relay->master, relay->conn);

	(void)channel;
	if (worker)
		session_send(worker, OP_RELAY, msg);
}

static void closed_cb(struct channel *channel, void *owner)
{
	(void)channel;
	relay_free(owner);
}

static const struct channel_ops channel_ops = { .send_cb = send_cb, .closed_cb = closed_cb };

static struct relay *find(const struct peer_session *session, uint64_t channel)
{
	struct relay *relay = session->master->relays;

	while (relay && (relay->conn != session->id || channel_number(relay->channel) != channel))
		relay = relay->next;
	return relay;
}

/* Answer a channel that was never opened with an error, and close it. */
static void refuse(struct peer_session *session, uint64_t channel, const struct error *error)
{
	struct buf frame = { 0 };
	struct msg_error told = {
		.code = error->code, .text = slice_str(error->text), .next = slice_str(error->next),
	};
	struct msg_relay msg = { .channel = channel, .end = true };

	message_encode(&frame, OP_ERROR, &told);
	msg.data = buf_slice(&frame);
	session_send(session, OP_RELAY, &msg);
	buf_free(&frame);
	session->master->stats.refused_connections++;
}

static enum err may_open(const struct peer_session *session, const struct caller *caller, struct error *error)
{
	const struct master *master = session->master;
	size_t of_worker = 0, of_job = 0;
	uint64_t run, worker = view_worker_on(master->core, session->id);

	for (const struct relay *relay = master->relays; relay; relay = relay->next) {
		of_worker += relay->conn == session->id;
		of_job += relay->caller.job == caller->job;
	}
	if (of_worker >= LIMIT_RELAY_WORKER_MAX || of_job >= LIMIT_RELAY_JOB_MAX)
		return error_set(error, ERR_BUSY, "the jobs of this worker already have the highest number of connections; try again");
	if (worker == 0 || !view_may_report(master->core, worker, 0, caller->job, caller->epoch))
		return error_set(error, ERR_STALE, "the worker that sent this message no longer has the attempt");
	return view_caller(master->core, caller, &run, error);
}

static enum err relay_open(struct peer_session *session, const struct msg_relay *msg, struct error *error)
{
	struct master *master = session->master;
	const struct caller caller = { msg->job, msg->epoch };
	struct relay *relay;
	int pair[2];
	enum err err = may_open(session, &caller, error);

	if (err != ERR_NONE)
		return err;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(error, ERR_BUSY, "no file descriptors left for a job's connection: %s", strerror(errno));
	session_accept(master, pair[0], &caller);
	relay = mem_zalloc(sizeof(*relay));
	relay->master = master;
	relay->conn = session->id;
	relay->caller = caller;
	relay->next = master->relays;
	if (relay->next)
		relay->next->prev = relay;
	master->relays = relay;
	relay->channel = channel_new(master->loop, msg->channel, pair[1], &channel_ops, relay);
	channel_deliver(relay->channel, msg);
	return ERR_NONE;
}

enum err on_relay(struct incoming_frame *in)
{
	struct msg_relay msg;
	struct relay *relay;
	struct error error;
	enum err err = decode(in, OP_RELAY, &msg);

	if (err != ERR_NONE)
		return err;
	relay = find(in->session, msg.channel);
	if (relay)
		channel_deliver(relay->channel, &msg);
	else if (msg.job != 0 && !in->master->ending && relay_open(in->session, &msg, &error) != ERR_NONE)
		refuse(in->session, msg.channel, &error);
	/* Other frames come too late: this channel was closed, and the worker was told. */
	return ERR_NONE;
}

void relay_forget(struct master *master, uint64_t conn)
{
	struct relay *next;

	for (struct relay *relay = master->relays; relay; relay = next) {
		next = relay->next;
		if (relay->conn == conn)
			relay_free(relay);
	}
}

void relay_free_all(struct master *master)
{
	while (master->relays)
		relay_free(master->relays);
}
