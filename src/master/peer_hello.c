/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HELLO: establishes who is at the other end of a connection. A client is welcome at once. A worker's HELLO is complete
 * with the last part of its inventory; then the core decides which of its attempts are current. No other frame is
 * accepted before.
 */
#include "master/dispatch.h"

#include <stdio.h>
#include <unistd.h>

#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "master/remote.h"
#include "master/share.h"
#include "proto/version.h"

#define HELD_MAX (1u << 20)              /* most attempts in an inventory */

/* The highest role of the set, for clients that understand only one role. */
static uint64_t highest(role_set roles)
{
	uint64_t role = ROLE_ADMIN;

	while (role > ROLE_NOBODY && !(roles & ROLE_BIT_OF(role)))
		role--;
	return role;
}

/*
 * A job makes requests in the name of the person who submitted its run, never as the user whose worker carries its
 * connection. scope_check restricts them further.
 */
static void become_owner_of_run(struct peer_session *session)
{
	struct master *master = session->master;
	struct rec_run_row row;

	session->principal = (struct principal){ .origin = "job", .roles = ROLE_BIT(SUBMITTER) | ROLE_BIT(VIEWER) };
	if (view_run(master->core, session->own_run, &master->scratch, &row))
		snprintf(session->principal.name, sizeof(session->principal.name), "%.*s", (int)row.owner.len,
			 (const char *)row.owner.data);
	session->principal.id = principal_number(session->principal.name, &master->owner);
}

static void welcome_client(struct peer_session *session)
{
	const struct master *master = session->master;
	struct core_totals totals;
	struct msg_welcome welcome = {
		.version = session->version,
		.cluster = slice_str(master->options.statedir.cluster),
		.turn = master->commits.durable,
		.heartbeat_ms = (uint64_t)master->options.heartbeat_ms,
		.lease_ms = (uint64_t)master->options.lease_ms,
		.role = session->caller.job != 0 ? ROLE_SUBMITTER : highest(session->principal.roles),
		.roles = session->principal.roles,
		.pid = (uint64_t)getpid(),
	};

	if (session->caller.job != 0) {
		become_owner_of_run(session);
		welcome.roles = session->principal.roles;
	}
	view_totals(master->core, &totals);
	welcome.generation = totals.generation;
	welcome.boot = totals.boot;
	session->roles = session->principal.roles;
	session_is_open(session);
	session_send(session, OP_WELCOME, &welcome);
}

/* Add attempts to a worker's inventory; the last ones complete its HELLO. */
static enum err take_held(const struct incoming_frame *in, const struct rec_held *held, size_t count, bool more)
{
	struct peer_session *session = in->session;
	struct input_hello *hello = &session->hello;
	struct core_input *input;

	if (count > HELD_MAX - hello->held_count)
		return error_set(in->error, ERR_TOO_LARGE, "the inventory has more than %u attempts", HELD_MAX);
	if (hello->held_count + count > session->held_cap) {
		session->held_cap = (hello->held_count + count) * 2;
		session->held = mem_resize(session->held, session->held_cap, sizeof(*session->held));
	}
	if (count > 0)
		memcpy(session->held + hello->held_count, held, count * sizeof(*held));
	hello->held_count += count;
	session->stage = SESSION_INVENTORY;
	if (more)
		return ERR_NONE;
	session_is_open(session);
	input = inbox_add(in->master, INPUT_WORKER_HELLO, session, 0, in->body.len);
	input->hello = *hello;
	input->hello.name = keep(in, hello->name);
	input->hello.instance = keep(in, hello->instance);
	input->hello.before = keep(in, hello->before);
	input->hello.labels = slice_list_copy(&in->master->inbox.arena, hello->labels);
	input->hello.offers = slice_list_copy(&in->master->inbox.arena, hello->offers);
	input->hello.pool = keep(in, hello->pool);
	input->hello.machine = keep(in, hello->machine);
	input->hello.held = (const struct rec_held *)(const void *)keep(
		in, slice_make(session->held, hello->held_count * sizeof(*session->held))).data;
	log_info_limited("worker %.*s connected (connection %llu) with %zu attempts", (int)hello->name.len,
		 (const char *)hello->name.data, (unsigned long long)session->id, hello->held_count);
	arena_free(&session->hello_arena);
	mem_free(session->held);
	session->held = NULL;
	session->held_cap = 0;
	return ERR_NONE;
}

/*
 * Could a job of this worker use the rights of the owner, or of a user with whom the cluster is shared? It could if its jobs run
 * as such a user on the master's machine. The worker says as which user its jobs run, and over TLS on which machine: it has
 * the rights of its user anyway, and the user of its jobs may be another one.
 */
static bool takes_owners_only(const struct peer_session *session, const struct msg_hello *msg)
{
	char machine[HOST_ID_SIZE];

	if (session->master->options.trust_submitters)
		return false;
	host_id(machine);
	if (session->remote && !slice_eq(msg->machine, slice_str(machine)))
		return false;
	return msg->uid == 0 ? !session->remote : share_has_rights(session->master, msg->uid - 1);
}

/* No version is common: say which side is too old, and how to upgrade it. Older workers log the text alone. */
static enum err version_refuse(const struct msg_hello *msg, struct error *error)
{
	const char *kind = msg->kind == PEER_WORKER ? "worker" : "client";
	uint64_t highest = version_highest(msg);

	if (msg->version > PROTOCOL_VERSION) {
		error_set(error, ERR_VERSION, "the %s speaks version %llu of the protocol, and this master only up to %d: the master is too old; "
			  "put the newer titan in its place", kind, (unsigned long long)msg->version, PROTOCOL_VERSION);
		return error_next(error, "titan up --upgrade");
	}
	error_set(error, ERR_VERSION, "the %s speaks version %llu of the protocol, and this master versions %d and %d: the %s is too old; "
		  "upgrade it", kind, (unsigned long long)highest, PROTOCOL_BEFORE, PROTOCOL_VERSION, kind);
	if (msg->kind != PEER_WORKER)
		return error_next(error, "titan version");
	if (!text_is_name(msg->name))
		return error_next(error, "titan worker upgrade");
	return error_next(error, "titan worker upgrade %.*s", (int)msg->name.len, (const char *)msg->name.data);
}

/* Only the master's own user reaches a master that shows an earlier time, and may say for whom it asks. */
static bool tells_person(const struct peer_session *session, const struct msg_hello *msg)
{
	return session->master->options.as_of_ms != 0 && msg->person.len > 0;
}

static enum err client_begin(struct incoming_frame *in, const struct msg_hello *msg)
{
	if (tells_person(in->session, msg) && then_asks_for(in->session, msg, in->error) != ERR_NONE)
		return in->error->code;
	line_open(in->session);
	welcome_client(in->session);
	return ERR_NONE;
}

/* The pool of a worker: that of the token by which it joined, else what the worker says. */
static struct slice pool_of(struct peer_session *session, struct slice said)
{
	struct token_view token;

	if (session->token[0] != '\0' && view_token_find(session->master->core, slice_str(session->token), &token) && token.pool[0] != '\0')
		said = slice_str(token.pool);
	return arena_copy(&session->hello_arena, said);
}

enum err on_hello(struct incoming_frame *in)
{
	struct peer_session *session = in->session;
	struct msg_hello msg;
	enum err err = decode(in, OP_HELLO, &msg);

	if (err != ERR_NONE)
		return err;
	if (session->stage != SESSION_NEW)
		return error_set(in->error, ERR_NOT_EXPECTED, "HELLO was sent twice on this connection");
	session->version = version_choose(msg.version, version_highest(&msg));
	if (session->version == 0)
		return version_refuse(&msg, in->error);
	conn_set_version(session->conn, session->version);
	if (msg.kind != PEER_CLIENT && msg.kind != PEER_WORKER)
		return error_set(in->error, ERR_INVALID, "HELLO names an unknown kind of peer: %llu",
				 (unsigned long long)msg.kind);
	if (session->caller.job != 0 && msg.kind != PEER_CLIENT)
		return error_set(in->error, ERR_DENIED, "a job can't connect as a worker through its own worker");
	if (session->remote && remote_know(session, in->error) != ERR_NONE)
		return in->error->code;
	/* A token has one use: a worker's token opens no client, and a person's makes no worker. */
	if (session->remote && (msg.kind == PEER_WORKER) != (session->principal.roles == ROLES_WORKER))
		return error_set(in->error, ERR_DENIED, "token %s is %s", session->token,
				 msg.kind == PEER_WORKER ? "a person's, so a worker can't connect with it" : "a worker's, so a client can't connect with it");
	session->kind = (enum peer_kind)msg.kind;
	conn_set_max_body(session->conn, LIMIT_FRAME_MAX);
	if (session->kind == PEER_CLIENT)
		return client_begin(in, &msg);
	if (!text_is_name(msg.name))
		return error_set(in->error, ERR_INVALID, "the name of a worker may have letters, digits, '_', '.' "
			"and '-', at most %d",
				 LIMIT_NAME_MAX_LEN);
	if (msg.instance.len != 16)
		return error_set(in->error, ERR_INVALID, "the instance of a worker must have 16 bytes, not %zu", msg.instance.len);
	if (msg.slots == 0 || msg.slots > LIMIT_SLOTS_MAX)
		return error_set(in->error, ERR_INVALID, "a worker must have 1 to %d slots, not %llu", LIMIT_SLOTS_MAX,
				 (unsigned long long)msg.slots);
	if (msg.labels.n > LIMIT_LABELS_MAX)
		return error_set(in->error, ERR_TOO_LARGE, "a worker may have at most %d labels, not %zu", LIMIT_LABELS_MAX,
				 msg.labels.n);
	/*
	 * A worker runs the jobs of all users under its own user, so that user must be the master's own or have the
	 * role worker.
	 */
	if (session->principal.id != session->master->owner.id && !(session->principal.roles & ROLES_WORKER))
		return error_set(in->error, ERR_DENIED, "%s may not be a worker of this cluster", session->principal.name);
	if (session->remote && !slice_eq(msg.name, slice_str(session->principal.name)))
		return error_set(in->error, ERR_DENIED, "token %s is for worker %s, not %.*s", session->token,
				 session->principal.name, (int)msg.name.len, (const char *)msg.name.data);
	session->roles = ROLES_WORKER;
	/* In one turn a worker with many slots or long commands gets more bytes than a client ever does. */
	conn_set_max_queue(session->conn, LIMIT_WORKER_QUEUE_MAX);
	session->hello = (struct input_hello){
		.name = arena_copy(&session->hello_arena, msg.name),
		.instance = arena_copy(&session->hello_arena, msg.instance),
		.before = arena_copy(&session->hello_arena, msg.before),
		.slots = msg.slots,
		.pid = msg.pid,
		.labels = slice_list_copy(&session->hello_arena, msg.labels),
		.offers = slice_list_copy(&session->hello_arena, msg.offers),
		.pool = pool_of(session, msg.pool),
		.machine = arena_copy(&session->hello_arena, msg.machine),
		.contexts = msg.contexts,
		.version = session->version,
		.owners_only = takes_owners_only(session, &msg),
	};
	return take_held(in, msg.held.at, msg.held.n, msg.more);
}

enum err on_inventory(struct incoming_frame *in)
{
	struct msg_inventory msg;
	enum err err = decode(in, OP_INVENTORY, &msg);

	if (err != ERR_NONE)
		return err;
	if (in->session->stage != SESSION_INVENTORY)
		return error_set(in->error, ERR_NOT_EXPECTED, "INVENTORY was sent after the inventory was complete");
	return take_held(in, msg.held.at, msg.held.n, msg.more);
}
