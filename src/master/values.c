/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests about values, and watches. A watch keeps only the revision up to which it was told everything. What is
 * told next is computed from the values as they are, as fast as the client reads, so a slow client costs nothing and
 * gets the latest value of a key that changed several times meanwhile.
 */
#include "base/mem.h"
#include "master/dispatch.h"
#include "master/sight.h"

#define WATCH_ROWS  1024                 /* most keys in one frame */
#define WATCH_QUEUE (LIMIT_SUB_QUEUE_MAX / 2)    /* with more bytes than this waiting for it, a watcher is sent nothing */

struct watch {
	uint64_t conn, id;
	uint64_t run;
	char *definition;
	struct blob *prefix;             /* NULL: all keys */
	uint64_t told;                   /* the client was sent all changes up to this revision; 0: nothing yet */
	uint64_t began;                  /* deletions up to this revision don't matter */
	bool due;                        /* send a frame even if nothing changed: the client waits for the first one */
	struct watch *next;
};

/* ---- what a person may see ---- */

/* A job's rights are checked by core. */
static bool reads_refused(const struct peer_session *session, uint64_t space, uint64_t run, struct error *error)
{
	struct sight sight = sight_of(session);
	struct slice owner = { 0 };

	if (session->caller.job != 0 || sight.all)
		return false;
	if (space == SPACE_RUN) {
		if (sight_run(&sight, run) || (view_values_owner(session->master->core, run, &owner) && sight_own(&sight, owner)))
			return false;
		error_set(error, ERR_NOT_FOUND, "there is no run %llu", (unsigned long long)run);
		error_next(error, "titan ls");
		return true;
	}
	error_set(error, ERR_DENIED, "%s may not read the values of definitions and of the cluster: that takes the role viewer or operator",
		  session->principal.name);
	error_next(error, "man titan-kv");
	return true;
}

static bool is_then(const struct master *master, struct error *error)
{
	if (master->options.as_of_ms == 0)
		return false;
	error_set(error, ERR_INVALID, "values of an earlier time aren't kept");
	error_next(error, "titan kv without --at");
	return true;
}

/* ---- requests ---- */

static void ops_keep(const struct incoming_frame *in, struct msg_values *msg)
{
	struct rec_value_op *ops = arena_alloc(&in->master->inbox.arena, (msg->ops.n + 1) * sizeof(*ops));

	for (size_t i = 0; i < msg->ops.n; i++) {
		ops[i] = msg->ops.at[i];
		ops[i].key = keep(in, ops[i].key);
		ops[i].value = keep(in, ops[i].value);
	}
	msg->ops.at = ops;
	msg->definition = keep(in, msg->definition);
	msg->request = keep(in, msg->request);
}

enum err on_values(struct incoming_frame *in)
{
	struct slice own_only = { 0 };
	struct core_input *input;
	struct msg_values msg;
	struct error error;
	enum err err = decode(in, OP_VALUES, &msg);
	bool writes;

	if (err != ERR_NONE)
		return err;
	writes = values_change(&msg);
	if (writes && in->session->caller.job == 0 && right_refuse(in, msg.id, OP_VALUES, msg.space, &own_only))
		return ERR_NONE;
	/* To change the values of a run one must see it: a hidden run is no run. */
	if (is_then(in->master, &error) ||
	    ((!writes || msg.space == SPACE_RUN) && reads_refused(in->session, msg.space, msg.run, &error))) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if (room_refuse(in, msg.id, writes ? ROOM_FOR_ACT : ROOM_FOR_ANSWER))
		return ERR_NONE;
	ops_keep(in, &msg);
	input = inbox_add(in->master, INPUT_VALUES, in->session, msg.id, in->body.len);
	input->values = (struct input_values){ .msg = msg, .own_only = own_only };
	return ERR_NONE;
}

/* ---- watches ---- */

static void watch_free(struct watch *watch)
{
	mem_free(watch->definition);
	blob_release(watch->prefix);
	mem_free(watch);
}

static enum err watch_count(const struct peer_session *session, uint64_t id, struct error *error)
{
	size_t own = 0, all = 0;

	for (const struct watch *watch = session->master->watches; watch; watch = watch->next) {
		if (watch->conn == session->id && watch->id == id)
			return error_set(error, ERR_DUPLICATE, "there already is a watch %llu on this connection", (unsigned long long)id);
		own += watch->conn == session->id;
		all++;
	}
	if (own >= SUBS_MAX)
		return error_set(error, ERR_FULL, "a connection may have at most %d watches", SUBS_MAX);
	return all < LIMIT_VALUE_WATCHES_MAX ? ERR_NONE :
		error_set(error, ERR_FULL, "there are already %d watches of values", LIMIT_VALUE_WATCHES_MAX);
}

enum err on_values_watch(struct incoming_frame *in)
{
	struct master *master = in->master;
	struct msg_values_watch msg;
	struct slice definition;
	struct watch *watch;
	struct error error;
	uint64_t run;
	enum err err = decode(in, OP_VALUES_WATCH, &msg);

	if (err != ERR_NONE)
		return err;
	if (is_then(master, &error) || reads_refused(in->session, msg.space, msg.run, &error) ||
	    watch_count(in->session, msg.id, &error) != ERR_NONE ||
	    view_values_watched(master->core, &in->session->caller, &msg, &run, &definition, &error) != ERR_NONE) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	watch = mem_zalloc(sizeof(*watch));
	*watch = (struct watch){
		.conn = in->session->id, .id = msg.id, .run = run, .definition = mem_text(definition), .prefix = blob_make(msg.prefix),
		.told = msg.since > 0 ? msg.since - 1 : view_revision(master->core), .due = true, .next = master->watches,
	};
	watch->began = watch->told > 0 ? watch->told : view_revision(master->core);
	master->watches = watch;
	master_stay_awake(master);
	return ERR_NONE;
}

/* Send the watch what changed; false: it has ended. */
static bool watch_tell(struct master *master, struct master_turn *turn, struct watch *watch)
{
	struct msg_values_changed msg = { .id = watch->id };
	bool news = view_values_after(master->core, watch->run, slice_str(watch->definition), blob_slice(watch->prefix), watch->told,
				      watch->began, WATCH_ROWS, &master->scratch, &msg);

	watch->told = msg.revision;
	if (msg.more)
		master_stay_awake(master);
	if (news || watch->due)
		reveal_add(master, turn, watch->conn, OP_VALUES_CHANGED, &msg);
	watch->due = false;
	return !msg.compacted;
}

void watches_flush(struct master *master, struct master_turn *turn)
{
	struct watch **at = &master->watches;

	while (*at) {
		struct watch *watch = *at;
		const struct peer_session *session = session_find(master, watch->conn);

		if (session && (watch->due || watch->told < view_revision(master->core)) && session_queued(session) <= WATCH_QUEUE &&
		    !watch_tell(master, turn, watch)) {
			*at = watch->next;
			watch_free(watch);
			continue;
		}
		at = &watch->next;
	}
}

static bool watches_drop(struct master *master, uint64_t conn, uint64_t id, bool all)
{
	struct watch **at = &master->watches;
	bool any = false;

	while (*at) {
		struct watch *watch = *at;

		if (watch->conn != conn || (!all && watch->id != id)) {
			at = &watch->next;
			continue;
		}
		*at = watch->next;
		watch_free(watch);
		any = true;
	}
	return any;
}

bool watches_end(struct peer_session *session, uint64_t id)
{
	return watches_drop(session->master, session->id, id, false);
}

void watches_forget(struct master *master, uint64_t conn)
{
	watches_drop(master, conn, 0, true);
}

void watches_free(struct master *master)
{
	while (master->watches) {
		struct watch *next = master->watches->next;

		watch_free(master->watches);
		master->watches = next;
	}
}
