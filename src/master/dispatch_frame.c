/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns frames into an input for the core, a query, a piece of output, or an error. It only checks whether a frame is
 * well formed and allowed. An error closes the connection; a request that is merely invalid gets an answer, and the
 * connection goes on. The core's state isn't touched here.
 */
#include "master/internal.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "master/dispatch.h"
#include "master/logs.h"
#include "master/moments.h"
#include "master/remote.h"
#include "master/sight.h"

#define SAID_MAX 256                     /* most bytes of a peer's error text in the log */

/* ---- requests: acts and queries ---- */

/* Refuse a job name that is longer than any job can have: cut short, it could match another job. */
static bool name_too_long(struct slice job, struct error *error)
{
	if (job.len <= TARGET_MAX_LEN)
		return false;
	error_set(error, ERR_TOO_LARGE, "the name of the job has %zu bytes; at most %d are allowed", job.len, LIMIT_NAME_MAX_LEN);
	return true;
}

bool right_refuse(const struct incoming_frame *in, uint64_t id, enum opcode op, uint64_t subject, struct slice *ret_own_only)
{
	const struct peer_session *session = in->session;
	enum allowance allowance = right_to(op, subject, session->roles);
	struct buf has = { 0 };
	struct error error;

	*ret_own_only = allowance == ALLOWED_OWN ? keep(in, slice_str(session->principal.name)) : (struct slice){ 0 };
	if (allowance != ALLOWED_NOT)
		return false;
	role_words(session->roles, &has);
	error_set(&error, ERR_DENIED, "%s may not send this request with the role %s", session->principal.name, buf_cstr(&has));
	error_next(&error, "man titan-protocol");
	session_refuse(in->session, id, &error);
	buf_free(&has);
	return true;
}

/* Does the act lead to new attempts of jobs? */
static bool makes_work(uint64_t verb)
{
	return verb == ACT_RETRY || verb == ACT_REQUEUE;
}

static struct u64_list keep_numbers(const struct incoming_frame *in, struct u64_list list)
{
	struct u64_list copy = { .n = list.n };

	if (list.n == 0)
		return copy;
	copy.at = arena_alloc(&in->master->inbox.arena, list.n * sizeof(*copy.at));
	memcpy(copy.at, list.at, list.n * sizeof(*copy.at));
	return copy;
}

static struct slice_list keep_texts(const struct incoming_frame *in, struct slice_list list)
{
	struct slice *copy;

	if (list.n == 0)
		return list;
	copy = arena_alloc(&in->master->inbox.arena, list.n * sizeof(*copy));
	for (size_t i = 0; i < list.n; i++)
		copy[i] = keep(in, list.at[i]);
	return (struct slice_list){ copy, list.n };
}

static enum err on_act(struct incoming_frame *in)
{
	struct msg_act msg;
	struct core_input *input;
	struct slice own_only;
	struct error error;
	enum err err = decode(in, OP_ACT, &msg);

	if (err != ERR_NONE)
		return err;
	if (name_too_long(msg.job, &error)) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if (right_refuse(in, msg.id, OP_ACT, msg.verb, &own_only))
		return ERR_NONE;
	if ((msg.verb >= ACT_RETRY && msg.verb <= ACT_SETTLE) || msg.verb == ACT_REQUEUE || msg.verb == ACT_DISCARD ||
	    msg.verb == ACT_REINSTATE) {
		if (room_refuse(in, msg.id, makes_work(msg.verb) ? ROOM_FOR_NEW : ROOM_FOR_ACT))
			return ERR_NONE;
		input = inbox_add(in->master, INPUT_ACT, in->session, msg.id, in->body.len);
		input->act = (struct input_act){
			.verb = (enum act_verb)msg.verb, .run = msg.run, .job = keep(in, msg.job),
			.value = msg.value, .text = keep(in, msg.text), .principal = in->session->principal.id,
			.person = keep(in, slice_str(in->session->principal.name)), .own_only = own_only, .digest = keep(in, msg.digest),
			.target = keep(in, msg.target), .expect = keep(in, msg.expect), .each = keep_numbers(in, msg.each), .given = keep_texts(in, msg.given),
		};
		return ERR_NONE;
	}
	if (msg.verb != ACT_CANCEL) {
		error_set(&error, ERR_INVALID, "unknown act number %llu", (unsigned long long)msg.verb);
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if (room_refuse(in, msg.id, ROOM_FOR_CANCEL))
		return ERR_NONE;
	input = inbox_add(in->master, INPUT_CANCEL, in->session, msg.id, in->body.len);
	input->cancel.run = msg.run;
	input->cancel.job = keep(in, msg.job);
	input->cancel.scope = msg.value;
	input->cancel.own_only = own_only;
	return ERR_NONE;
}

/* Replace a token's secret by its sealed form: core and store never see the plain secret. */
static enum err seal_secret(const struct incoming_frame *in, const struct msg_set *msg, struct slice *ret_sealed, struct error *error)
{
	uint8_t bytes[TOKEN_SECRET_MAX];
	size_t len = 0;
	enum err err = remote_seal(in->master, msg->name, msg->secret, bytes, &len, error);

	*ret_sealed = keep(in, slice_make(bytes, len));
	return err;
}

static enum err on_set(struct incoming_frame *in)
{
	struct slice sealed = { 0 };
	struct error error;
	struct msg_set msg;
	struct core_input *input;
	struct slice own_only;
	enum err err = decode(in, OP_SET, &msg);

	if (err != ERR_NONE || right_refuse(in, msg.id, OP_SET, msg.kind, &own_only) || room_refuse(in, msg.id, ROOM_FOR_ACT))
		return err;
	if (msg.kind == OBJECT_TOKEN && msg.verb == SET_JOIN) {
		error_set(&error, ERR_INVALID, "SET can't join: a worker sends JOIN");
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if (msg.kind == OBJECT_TOKEN && msg.verb == SET_PUT && seal_secret(in, &msg, &sealed, &error) != ERR_NONE) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if (msg.kind == OBJECT_ASSET && msg.verb == SET_PUT) {
		assets_put(in, &msg, own_only.len > 0);
		return ERR_NONE;
	}
	input = inbox_add(in->master, INPUT_SET, in->session, msg.id, in->body.len);
	msg.words = keep_texts(in, msg.words);
	msg.name = keep(in, msg.name);
	msg.text = keep(in, msg.text);
	msg.expect = keep(in, msg.expect);
	msg.pool = keep(in, msg.pool);
	msg.secret = sealed;
	input->set = (struct input_set){
		.set = msg, .principal = in->session->principal.id,
		.person = keep(in, slice_str(in->session->principal.name)), .own_only = own_only,
	};
	return ERR_NONE;
}

static enum err on_join(struct incoming_frame *in)
{
	struct slice sealed = { 0 };
	struct error error;
	struct msg_join msg;
	enum err err = decode(in, OP_JOIN, &msg);
	struct core_input *input;
	struct msg_set set;

	if (err != ERR_NONE || room_refuse(in, msg.id, ROOM_FOR_ACT))
		return err;
	set = (struct msg_set){ .kind = OBJECT_TOKEN, .verb = SET_JOIN, .name = msg.key, .text = msg.name, .secret = msg.secret };
	if (seal_secret(in, &set, &sealed, &error) != ERR_NONE) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	input = inbox_add(in->master, INPUT_SET, in->session, msg.id, in->body.len);
	set.name = keep(in, set.name);
	set.text = keep(in, set.text);
	set.secret = sealed;
	input->set = (struct input_set){
		.set = set, .principal = in->session->principal.id, .person = keep(in, slice_str(in->session->principal.name)),
		.token = keep(in, slice_str(in->session->token)),
	};
	return ERR_NONE;
}

/* Make the filter of a query about history: the rows that it wants; NULL: all. */
static struct query_filter *filter_of(const struct peer_session *session, const struct msg_query *msg)
{
	struct query_filter *filter;

	if (!msg->mine && msg->by.len == 0 && msg->verb.len == 0 &&
	    msg->kinds == 0 && msg->skip == 0 && !msg->wait)
		return NULL;
	filter = mem_zalloc(sizeof(*filter));
	*filter = (struct query_filter){
		.mine = msg->mine, .principal = session->principal.id,
		.by_len = msg->by.len, .verb_len = msg->verb.len, .kinds = msg->kinds, .skip = msg->skip, .wait = msg->wait,
	};
	if (msg->by.len > 0)
		memcpy(filter->by, msg->by.data, msg->by.len);
	if (msg->verb.len > 0)
		memcpy(filter->verb, msg->verb.data, msg->verb.len);
	return filter;
}

static enum err on_query(struct incoming_frame *in)
{
	struct msg_query msg;
	struct query *query;
	struct error error;
	enum err err = decode(in, OP_QUERY, &msg);

	if (err != ERR_NONE)
		return err;
	error.code = ERR_NONE;
	/* The numbers from QUERY_IS_ACT on are used inside the master only. */
	if (msg.what >= QUERY_IS_ACT)
		error_set(&error, ERR_INVALID, "unknown question number %llu", (unsigned long long)msg.what);
	if (msg.what == QUERY_RUNS)
		msg.job = msg.name;
	if (msg.by.len > LIMIT_NAME_MAX_LEN || msg.verb.len > LIMIT_NAME_MAX_LEN)
		error_set(&error, ERR_INVALID, "by and verb may have at most %d bytes", LIMIT_NAME_MAX_LEN);
	if (error.code != ERR_NONE || name_too_long(msg.job, &error) || sight_refuses(in->session, &msg, &error)) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if (!query_may_hurry(msg.what) && room_refuse(in, msg.id, ROOM_FOR_ANSWER))
		return ERR_NONE;
	query = query_new(in->session, msg.id, msg.what);
	query->run = msg.run;
	query->cursor = msg.cursor;
	query->limit = msg.limit;
	query->scoped = in->session->caller.job != 0;
	query->reasons = msg.reasons;
	query->since_ms = msg.since_ms;
	query->until_ms = msg.until_ms;
	query->filter = filter_of(in->session, &msg);
	query->job_len = msg.job.len;
	if (msg.job.len > 0)
		memcpy(query->job, msg.job.data, msg.job.len);
	return ERR_NONE;
}

static enum err on_subscribe(struct incoming_frame *in)
{
	struct msg_subscribe msg;
	struct error error;
	enum err err = decode(in, OP_SUBSCRIBE, &msg);

	if (err != ERR_NONE)
		return err;
	if (publish_subscribe(in->session, &msg, &error) != ERR_NONE)
		session_refuse(in->session, msg.id, &error);
	return ERR_NONE;
}

static enum err on_unsubscribe(struct incoming_frame *in)
{
	struct msg_unsubscribe msg;
	struct msg_ok ok;
	struct error error;
	enum err err = decode(in, OP_UNSUBSCRIBE, &msg);

	if (err != ERR_NONE)
		return err;
	ok = (struct msg_ok){ .id = msg.id };
	if (publish_unsubscribe(in->session, msg.id) || watches_end(in->session, msg.id)) {
		session_send(in->session, OP_OK, &ok);
	} else {
		error_set(&error, ERR_NOT_FOUND, "there is no subscription %llu on this connection", (unsigned long long)msg.id);
		session_refuse(in->session, msg.id, &error);
	}
	return ERR_NONE;
}

static enum err on_log_read(struct incoming_frame *in)
{
	struct msg_log_read msg;
	enum err err = decode(in, OP_LOG_READ, &msg);

	if (err != ERR_NONE)
		return err;
	in->session->log_reads++;
	line_log_read(in->session, &msg);
	session_log_reads(in->session);
	return ERR_NONE;
}

/*
 * End a master whose store has no room. No turn can be committed, so workers can't be told to quit, and unacknowledged
 * requests may be lost.
 */
static void end_without_room(const struct incoming_frame *in, const struct msg_shutdown *msg)
{
	const struct msg_ok ok = { .id = msg->id };
	struct error error;

	if (msg->workers) {
		error_set(&error, ERR_FULL, "the disk of %s is full: workers can't be told to end",
			  in->master->options.statedir.dir);
		error_next(&error, "titan down --keep-workers ends only the master");
		session_refuse(in->session, msg->id, &error);
		return;
	}
	session_send(in->session, OP_OK, &ok);
	master_end(in->master, "a client told the master to end while the disk of the store was full");
}

static enum err on_progress(struct incoming_frame *in)
{
	struct msg_progress msg;
	struct core_input *input;
	struct error error;
	enum err err = decode(in, OP_PROGRESS, &msg);

	if (err != ERR_NONE)
		return err;
	error.code = ERR_NONE;
	if (in->session->caller.job == 0)
		error_set(&error, ERR_DENIED, "only a job can report its progress");
	else if (msg.done > (msg.total > 0 ? msg.total : LIMIT_PROGRESS_WHOLE) || msg.total >= INT64_MAX)
		error_set(&error, ERR_INVALID, "the progress is larger than its total");
	else if (msg.text.len > LIMIT_PROGRESS_MAX)
		error_set(&error, ERR_TOO_LARGE, "the text of a progress may have at most %d bytes", LIMIT_PROGRESS_MAX);
	if (error.code != ERR_NONE) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	input = inbox_add(in->master, INPUT_PROGRESS, in->session, msg.id, in->body.len);
	input->progress = (struct input_progress){
		.caller = in->session->caller, .done = msg.done, .total = msg.total, .text = keep(in, msg.text),
	};
	return ERR_NONE;
}

static enum err on_shutdown(struct incoming_frame *in)
{
	struct master *master = in->master;
	struct msg_shutdown msg;
	struct error error;
	enum err err = decode(in, OP_SHUTDOWN, &msg);

	if (err != ERR_NONE)
		return err;
	if (master->end_wanted) {
		error_set(&error, ERR_BUSY, "the master is already ending");
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if (store_is_stuck(master->store)) {
		end_without_room(in, &msg);
		return ERR_NONE;
	}
	log_info("told to end%s", msg.workers ? " with its workers" : "");
	master->end_wanted = true;
	master->end_workers = msg.workers;
	master->end_conn = in->session->id;
	master->end_request = msg.id;
	inbox_add(master, INPUT_SHUTDOWN, in->session, 0, 0)->shutdown.workers = msg.workers;
	if (msg.workers) {
		/* The reply is sent when the workers are gone, or after this many seconds. */
		ev_timer_set(&master->end_timer, 10., 0.);
		ev_timer_start(master->loop, &master->end_timer);
	}
	master_stay_awake(master);
	return ERR_NONE;
}

/* ---- workers ---- */

static enum err on_heartbeat(struct incoming_frame *in)
{
	struct msg_heartbeat msg;
	enum err err = decode(in, OP_HEARTBEAT, &msg);

	if (err == ERR_NONE)
		inbox_add(in->master, INPUT_HEARTBEAT, in->session, 0, in->body.len)->heartbeat = msg;
	return err;
}

static enum err on_started(struct incoming_frame *in)
{
	struct msg_started msg;
	struct core_input *input;
	enum err err = decode(in, OP_STARTED, &msg);

	if (err != ERR_NONE)
		return err;
	input = inbox_add(in->master, INPUT_STARTED, in->session, 0, in->body.len);
	input->started.at = msg.items.at;
	input->started.n = msg.items.n;
	return ERR_NONE;
}

/*
 * Tell the logs which attempts have ended. Only attempts of this worker count, because the logs may then record their
 * missing output as lost.
 */
static void tell_logs(const struct incoming_frame *in, const struct rec_done *items, size_t count)
{
	struct master *master = in->master;
	uint64_t worker = view_worker_on(master->core, in->session->id);
	struct rec_done *own = arena_alloc(&master->inbox.arena, (count + 1) * sizeof(*own));
	size_t kept = 0;

	for (size_t i = 0; worker != 0 && i < count; i++)
		if (items[i].out_bytes > 0 && view_may_report(master->core, worker, 0, items[i].job, items[i].epoch))
			own[kept++] = items[i];
	if (kept > 0)
		logs_ended(master->logs, own, kept);
}

static enum err on_done(struct incoming_frame *in)
{
	struct msg_done msg;
	struct core_input *input;
	enum err err = decode(in, OP_DONE, &msg);

	if (err != ERR_NONE)
		return err;
	input = inbox_add(in->master, INPUT_DONE, in->session, 0, in->body.len);
	input->done.at = msg.items.at;
	input->done.n = msg.items.n;
	for (size_t i = 0; i < msg.outputs.n; i++)
		msg.outputs.at[i].outputs = keep(in, msg.outputs.at[i].outputs);
	input->done.outputs = msg.outputs.at;
	input->done.output_count = msg.outputs.n;
	tell_logs(in, msg.items.at, msg.items.n);
	metrics_results(in->master, msg.items.at, msg.items.n);
	return ERR_NONE;
}

struct output_check {
	const struct core *core;
	uint64_t worker;
	struct buf refused;              /* credits for refused output: array of struct rec_credit */
};

static bool wanted_cb(const struct rec_output *item, void *arg)
{
	struct output_check *check = arg;
	const struct rec_credit credit = {
		.job = item->job, .epoch = item->epoch, .stream = item->stream,
		.offset = item->offset + item->data.len, .synced = true,
	};

	if (view_may_report(check->core, check->worker, item->run, item->job, item->epoch) &&
	    !view_pruned(check->core, item->run, NULL))
		return true;
	buf_add(&check->refused, &credit, sizeof(credit));
	return false;
}

/*
 * Refuse output of attempts that aren't the worker's own: acknowledge it, so that it isn't sent for ever, but
 * don't store it.
 */
static void refuse_output(struct peer_session *session, const struct buf *refused)
{
	struct msg_credit msg = {
		.items = { (struct rec_credit *)(void *)refused->data, refused->len / sizeof(struct rec_credit) },
	};

	log_warn_limited("refused output of worker %llu for %zu attempts that this worker doesn't have",
		 (unsigned long long)view_worker_on(session->master->core, session->id), msg.items.n);
	session->master->stats.refused_frames++;
	session_send(session, OP_CREDIT, &msg);
}

static enum err on_output(struct incoming_frame *in)
{
	struct output_check check = {
		.core = in->master->core, .worker = view_worker_on(in->master->core, in->session->id),
	};
	enum err err;

	/*
	 * No worker has this connection any more: a newer one replaced it, or its worker was lost for its silence. The
	 * worker will send the output again.
	 */
	if (check.worker == 0)
		return ERR_NONE;
	err = logs_append(in->master->logs, in->session->id, in->body, wanted_cb, &check, in->error);
	if (err == ERR_NONE && check.refused.len > 0)
		refuse_output(in->session, &check.refused);
	buf_free(&check.refused);
	if (err == ERR_NONE && (logs_queued_by(in->master->logs, in->session->id) > LOG_SESSION_MAX ||
				logs_queued(in->master->logs) > LOG_QUEUE_MAX)) {
		session_pause(in->session, PAUSE_LOG, true);
		in->master->log_paused++;
	}
	return err;
}

/* The peer reported an error: log the beginning of its text and close the connection. */
static enum err on_error(struct incoming_frame *in)
{
	struct msg_error msg;
	enum err err = decode(in, OP_ERROR, &msg);

	if (err != ERR_NONE)
		return err;
	log_warn_limited("the other side of connection %llu reported an error: %.*s", (unsigned long long)in->session->id,
			 (int)(msg.text.len < SAID_MAX ? msg.text.len : SAID_MAX), (const char *)msg.text.data);
	in->session->closing = true;
	conn_close(in->session->conn);
	return ERR_NONE;
}

static frame_handler *const handlers[OP_LIMIT] = {
	[OP_HELLO] = on_hello,
	[OP_INVENTORY] = on_inventory,
	[OP_ERROR] = on_error,
	[OP_SUBMIT] = on_submit,
	[OP_GRAPH_BEGIN] = on_graph_begin,
	[OP_GRAPH_CHUNK] = on_graph_chunk,
	[OP_GRAPH_COMMIT] = on_graph_commit,
	[OP_ACT] = on_act,
	[OP_SET] = on_set, [OP_JOIN] = on_join,
	[OP_QUERY] = on_query,
	[OP_SUBSCRIBE] = on_subscribe,
	[OP_UNSUBSCRIBE] = on_unsubscribe,
	[OP_LOG_READ] = on_log_read,
	[OP_PROGRESS] = on_progress,
	[OP_VALUES] = on_values,
	[OP_VALUES_WATCH] = on_values_watch,
	[OP_GOODS_HAVE] = on_goods_have,
	[OP_GOODS_PUT] = on_goods_put,
	[OP_GOODS_PACK] = on_goods_pack,
	[OP_GOODS_READ] = on_goods_read,
	[OP_STAGE_READ] = on_stage_read,
	[OP_ARTIFACTS] = on_artifacts,
	[OP_SHUTDOWN] = on_shutdown,
	[OP_BACKUP] = on_backup,
	[OP_MOMENT] = on_moment,
	[OP_PRUNE] = on_prune,
	[OP_HEARTBEAT] = on_heartbeat,
	[OP_STARTED] = on_started,
	[OP_DONE] = on_done,
	[OP_OUTPUT] = on_output,
	[OP_RELAY] = on_relay,
};

/*
 * Refuse a request that changes something if its sender sends them too fast. The owner and the owner's jobs have no
 * limit.
 */
static bool rate_refuses(const struct incoming_frame *in, enum opcode op)
{
	const struct peer_session *session = in->session;
	const char *who = session->token[0] ? session->token : session->principal.name;
	struct msg_unsubscribe request;          /* every request has its id in the same place as UNSUBSCRIBE */
	struct buf wait = { 0 };
	struct error error;
	int64_t wait_ns;

	if ((op != OP_SUBMIT && op != OP_GRAPH_BEGIN && op != OP_ACT && op != OP_SET) ||
	    (session->token[0] == '\0' && strcmp(session->principal.name, in->master->owner.name) == 0))
		return false;
	wait_ns = rate_take(&in->master->rates, slice_str(who), clock_mono_ns());
	if (wait_ns == 0 || decode(in, OP_UNSUBSCRIBE, &request) != ERR_NONE)
		return false;
	text_add_span(&wait, (wait_ns + NS_PER_MS - 1) / NS_PER_MS);
	error_set(&error, ERR_BUSY, "%s sends requests faster than is allowed, %d a second after %d at once: try again in %s", who,
		  LIMIT_REQUEST_RATE, LIMIT_REQUEST_BURST, buf_cstr(&wait));
	session_refuse(in->session, request.id, &error);
	buf_free(&wait);
	return true;
}

enum err dispatch_frame(struct peer_session *session, const struct frame *frame, struct error *error)
{
	struct incoming_frame in = {
		.master = session->master,
		.session = session,
		.body = frame->body,
		.error = error,
	};
	const struct shape *shape = message_shape(frame->opcode);
	enum opcode op = (enum opcode)frame->opcode;
	bool refused = false;
	enum err err;

	if (!shape)
		return error_set(error, ERR_UNKNOWN_OP, "unknown message number 0x%02x", frame->opcode);
	if (session->stage == SESSION_NEW && op != OP_HELLO)
		return error_set(error, ERR_NOT_EXPECTED, "%s was sent before HELLO", shape->name);
	if (session->stage == SESSION_INVENTORY && op != OP_INVENTORY)
		return error_set(error, ERR_NOT_EXPECTED, "%s was sent before the inventory was complete", shape->name);
	/*
	 * Before HELLO, check against the rights of clients: the rights to send HELLO are the same for clients and
	 * workers.
	 */
	if (!message_allowed(op, session->stage == SESSION_NEW ? PEER_CLIENT : session->kind, session->roles))
		return error_set(error, ERR_DENIED, "%s may not be sent on this connection", shape->name);
	if (session->caller.job != 0 && shape->roles == ROLES_WORKER)
		return error_set(error, ERR_DENIED, "%s may not be sent by a job", shape->name);
	if (!handlers[op])
		return error_set(error, ERR_NOT_EXPECTED, "%s may not be sent to a master", shape->name);
	err = session->caller.job != 0 ? scope_check(&in, op, &refused) : ERR_NONE;
	if (err == ERR_NONE && !refused && session->past)
		return moments_pass_on(&in, frame);
	if (err == ERR_NONE && !refused && !rate_refuses(&in, op))
		err = handlers[op](&in);
	if (err == ERR_NONE && in.master->inbox.bytes > INBOX_BYTES_MAX) {
		session_pause(session, PAUSE_INBOX, true);
		in.master->inbox_was_full = true;
	}
	return err;
}
