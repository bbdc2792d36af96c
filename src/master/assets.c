/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests about the contents of assets and artifacts: passed to the thread of the goods, and its answers to the clients. A connection
 * with many unanswered requests isn't read; so clients send as fast as the disk writes.
 */
#include "base/log.h"
#include "core/view/view.h"
#include "master/dispatch.h"
#include "master/goods.h"
#include "master/sight.h"
#include "proto/input.h"

#define PENDING_MAX 8                            /* with so many unanswered requests a connection isn't read */
#define STAGE_MAX 16                             /* most unanswered requests of a worker, whose heartbeats must be read in any case */
#define QUEUE_MAX ((size_t)64 << 20)             /* with more bytes than this waiting, no connection that sends contents is read */

void assets_pace(struct peer_session *session)
{
	if (session->kind == PEER_WORKER)
		return;
	session_pause(session, PAUSE_GOODS, session->goods_pending > 0 && (session->goods_pending >= PENDING_MAX ||
		      session_queued(session) > QUERY_QUEUE_MAX || goods_queued(session->master->goods) > QUEUE_MAX));
}

static bool has_none(const struct incoming_frame *in, uint64_t id)
{
	struct error error = in->master->no_goods;

	if (in->master->goods)
		return false;
	if (error.code != ERR_NONE) {
		session_refuse(in->session, id, &error);
		return true;
	}
	error_set(&error, ERR_INVALID, "the contents of assets can't be read or changed at an earlier time");
	error_next(&error, "titan asset without --at");
	session_refuse(in->session, id, &error);
	return true;
}

static struct goods_sender sender_of(const struct peer_session *session)
{
	return (struct goods_sender){ session->id, slice_str(session->principal.name), sight_of(session).all };
}

static enum err on_goods(struct incoming_frame *in, enum opcode op)
{
	const struct goods_sender sender = sender_of(in->session);
	enum err err;

	if (!in->master->goods) {
		struct msg_unsubscribe request;  /* every request has its id in the same place as UNSUBSCRIBE */

		err = decode(in, OP_UNSUBSCRIBE, &request);
		if (err == ERR_NONE)
			has_none(in, request.id);
		return err;
	}
	err = goods_frame(in->master->goods, &sender, op, in->body, in->error);
	if (err != ERR_NONE)
		return err;
	in->session->goods_pending++;
	assets_pace(in->session);
	return ERR_NONE;
}

enum err on_goods_have(struct incoming_frame *in)
{
	return on_goods(in, OP_GOODS_HAVE);
}

enum err on_goods_put(struct incoming_frame *in)
{
	return on_goods(in, OP_GOODS_PUT);
}

enum err on_goods_pack(struct incoming_frame *in)
{
	return on_goods(in, OP_GOODS_PACK);
}

enum err on_goods_read(struct incoming_frame *in)
{
	return on_goods(in, OP_GOODS_READ);
}

void assets_put(const struct incoming_frame *in, const struct msg_set *set, bool own_only)
{
	const struct goods_sender sender = sender_of(in->session);

	if (has_none(in, set->id))
		return;
	goods_check(in->master->goods, &sender, set, own_only);
	in->session->goods_pending++;
	assets_pace(in->session);
}

bool assets_check_graph(const struct incoming_frame *in, uint64_t id, struct slice contents, struct error *error)
{
	const struct goods_sender sender = sender_of(in->session);

	if (!in->master->goods) {
		*error = in->master->no_goods;
		if (error->code == ERR_NONE)
			error_set(error, ERR_INVALID, "nothing can be submitted at an earlier time");
		return false;
	}
	goods_check_graph(in->master->goods, &sender, id, contents);
	in->session->goods_pending++;
	assets_pace(in->session);
	return true;
}

/* Find the attempt's input to which the asked contents belong. */
static bool find_input(const struct incoming_frame *in, const struct msg_stage_read *msg, struct rec_input *ret)
{
	uint64_t worker = view_worker_on(in->master->core, in->session->id);
	struct slice inputs;

	if (!view_attempt_inputs(in->master->core, worker, msg->job, msg->epoch, &in->master->inbox.arena, &inputs))
		return false;
	while (input_next(&inputs, &in->master->inbox.arena, ret))
		if (slice_eq(ret->hash, msg->input))
			return true;
	return false;
}

enum err on_stage_read(struct incoming_frame *in)
{
	const struct goods_sender sender = sender_of(in->session);
	struct msg_stage_read msg;
	struct rec_input input;
	struct error error;
	enum err err = decode(in, OP_STAGE_READ, &msg);

	if (err != ERR_NONE || has_none(in, msg.id))
		return err;
	error_clear(&error);
	if (msg.hashes.len == 0 || msg.hashes.len % INPUT_HASH_SIZE != 0 || msg.hashes.len > LIMIT_STAGE_HASHES_MAX * INPUT_HASH_SIZE)
		error_set(&error, ERR_INVALID, "hashes: there must be 1 to %d, with %d bytes each", LIMIT_STAGE_HASHES_MAX, INPUT_HASH_SIZE);
	else if (in->session->goods_pending >= STAGE_MAX)
		error_set(&error, ERR_BUSY, "a worker may have at most %d unanswered requests for contents", STAGE_MAX);
	else if (!find_input(in, &msg, &input))
		error_set(&error, ERR_NOT_FOUND, "the worker has no attempt with this input");
	if (error.code != ERR_NONE) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	goods_stage(in->master->goods, &sender, &msg, input.kind == ASSET_DIR);
	in->session->goods_pending++;
	return ERR_NONE;
}

/* ---- artifacts of jobs ---- */

static void name_artifacts(struct peer_session *session, uint64_t request, const struct input_artifacts *said)
{
	struct core_input *input = inbox_add(session->master, INPUT_ARTIFACTS, session, request, 256 + said->fault.len);

	input->artifacts = *said;
	input->artifacts.caller = session->caller;
}

enum err on_artifacts(struct incoming_frame *in)
{
	const struct goods_sender sender = sender_of(in->session);
	struct msg_artifacts msg;
	struct error error;
	enum err err = decode(in, OP_ARTIFACTS, &msg);

	if (err != ERR_NONE || (msg.hash.len > 0 && has_none(in, msg.id)))
		return err;
	if (in->session->caller.job == 0) {
		error_set(&error, ERR_DENIED, "only a job can name the files that it leaves");
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if (msg.hash.len == 0) {
		if (msg.fault.len > LIMIT_ARTIFACT_FAULT_MAX)
			msg.fault.len = LIMIT_ARTIFACT_FAULT_MAX;
		name_artifacts(in->session, msg.id, &(struct input_artifacts){ .fault = keep(in, msg.fault) });
		return ERR_NONE;
	}
	goods_check_artifacts(in->master->goods, &sender, msg.id, msg.hash);
	in->session->goods_pending++;
	assets_pace(in->session);
	return ERR_NONE;
}

static void artifacts_checked(struct peer_session *session, const struct goods_answer *answer)
{
	name_artifacts(session, answer->request, &(struct input_artifacts){
		.hash = arena_copy(&session->master->inbox.arena, answer->hash), .size = answer->size, .files = answer->files,
		.manifest_size = answer->manifest_size,
	});
	master_stay_awake(session->master);
}

/* ---- answers ---- */

/* All contents of the new version are there: let the core put it. */
static void put_checked(struct peer_session *session, const struct goods_answer *answer)
{
	struct master *master = session->master;
	struct arena *arena = &master->inbox.arena;
	struct slice person = arena_copy(arena, slice_str(session->principal.name));
	struct core_input *input = inbox_add(master, INPUT_SET, session, answer->set.id, 256);
	struct msg_set set = answer->set;

	set.name = arena_copy(arena, set.name);
	set.text = arena_copy(arena, set.text);
	set.expect = arena_copy(arena, set.expect);
	input->set = (struct input_set){
		.set = set, .principal = session->principal.id, .person = person,
		.own_only = answer->own_only ? person : (struct slice){ 0 },
	};
	master_stay_awake(master);
}

void assets_answer(struct master *master)
{
	struct goods_answer *answer;
	size_t cursor = 0;
	uint64_t id;
	void *value;

	while ((answer = goods_take(master->goods))) {
		struct peer_session *session = session_find(master, answer->conn);

		if (session) {
			session->goods_pending--;
			if (answer->of_graph && !master->ending)
				graphs_checked(session, answer->id, &answer->fault);
			else if (answer->frames.len > 0)
				conn_send_frames(session->conn, buf_slice(&answer->frames));
			else if (answer->checked && !master->ending)
				put_checked(session, answer);
			else if (answer->named && !master->ending)
				artifacts_checked(session, answer);
		}
		goods_answer_free(answer);
	}
	while (map_next(&master->sessions, &cursor, &id, &value)) {
		struct peer_session *session = value;

		if (session->paused & PAUSE_GOODS)
			assets_pace(session);
	}
}

void assets_durable(struct master *master, const struct outbox *outbox)
{
	for (size_t i = 0; master->goods && i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_asset || outbox->rows[i].table == TABLE_job)
			goods_row(master->goods, &outbox->rows[i]);
}
