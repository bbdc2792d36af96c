/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames from the master: decoded and checked here, then passed on to the keeper as plain structs. A frame
 * that can't be decoded closes the connection. A job specification that can't be run still makes an attempt,
 * which fails.
 */
#include "worker/link.h"

#include "base/log.h"
#include "net/dial.h"
#include "proto/input.h"
#include "proto/limits.h"
#include "proto/resource.h"
#include "proto/spec.h"

static void add_string(struct buf *out, struct slice text)
{
	buf_add_slice(out, text);
	buf_add_byte(out, '\0');
}

static bool has_nul(struct slice text)
{
	return text.len > 0 && memchr(text.data, '\0', text.len);
}

static bool list_ok(const struct slice_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (has_nul(list->at[i]))
			return false;
	return true;
}

void link_forget_contexts(struct link *link)
{
	for (size_t slot = 0; slot < LIMIT_WORKER_CONTEXTS; slot++) {
		arena_free(&link->contexts[slot].arena);
		link->contexts[slot] = (struct shared_context){ 0 };
	}
}

static bool is_below(struct slice path, const char *dir)
{
	size_t len = strlen(dir);

	return len > 0 && path.len >= len && memcmp(path.data, dir, len) == 0 && (path.len == len || path.data[len] == '/');
}

/*
 * Drop the submitter's variables and directory unless they are of this machine: elsewhere they mean nothing, and jobs
 * of another user have the variables of that user. A directory that is mounted from a third machine is kept. Also drop a directory
 * that belongs to an attempt, because that is emptied and used by the next attempt. Note whether the directory must be compared.
 */
static void context_localize(const struct link *link, struct shared_context *context)
{
	struct rec_run_context *said = &context->said;
	bool same = said->machine.len > 0 && slice_eq(said->machine, slice_str(link->machine));

	context->far = !same && said->here_source.len > 0 && said->here_inode > 0;
	if (!same || link->options->job_place)
		said->here_env.n = 0;
	if ((!same && !context->far) || is_below(said->here_dir, link->attempts_path))
		said->here_dir.len = 0;
	/* In another boot the numbers of this machine mean nothing, so the machine alone counts then. */
	context->compares = said->dir.len == 0 && said->here_dir.len > 0 &&
			    (context->far || (said->here_boot != 0 && said->here_boot == link->boot && said->here_view != link->view));
}

/*
 * Keep a context (what the jobs of a submit share) in its slot. If it can't be decoded, attempts that name the slot
 * fail.
 */
static void on_context(struct link *link, const struct msg_context *msg)
{
	struct shared_context *context = msg->slot < LIMIT_WORKER_CONTEXTS ? &link->contexts[msg->slot] : NULL;
	struct error error;
	struct slice bytes;

	if (!context) {
		error_set(&error, ERR_INVALID, "CONTEXT: there is no slot %llu", (unsigned long long)msg->slot);
		conn_fail(link->conn, &error);
		return;
	}
	arena_reset(&context->arena);
	bytes = arena_copy(&context->arena, msg->context);
	context->understood = record_decode(REC_run_context, &bytes, &context->arena, &context->said, &error) == ERR_NONE &&
			      list_ok(&context->said.env) && !has_nul(context->said.dir) &&
			      list_ok(&context->said.here_env) && !has_nul(context->said.here_dir) &&
			      !has_nul(context->said.here_source);
	if (context->understood)
		context_localize(link, context);
}

/* Add the shared context to the specification and what is to be compared to the SPAWN message. number: slot + 1; 0: the job has none. */
static bool complete(struct link *link, uint64_t number, struct rec_job_spec *spec, struct ipc_spawn *spawn,
		     struct slice *ret_source)
{
	const struct shared_context *context = number > 0 && number <= LIMIT_WORKER_CONTEXTS ? &link->contexts[number - 1] : NULL;

	if (number == 0)
		return true;
	if (!context || !context->understood)
		return false;
	if (spec->dir.len == 0 && context->compares) {
		spawn->here_device = context->far ? 0 : context->said.here_device;
		spawn->here_inode = context->said.here_inode;
		*ret_source = context->far ? context->said.here_source : slice_make(NULL, 0);
	}
	spec_complete(spec, &context->said, &link->arena);
	return true;
}

/* Add the interpreter, its options and the script; return the number of these strings. */
static uint32_t add_interpreter(struct link *link, const struct rec_job_spec *spec)
{
	struct slice words[SHELL_WORDS_MAX];
	size_t count = shell_words(spec->interpreter, words);

	for (size_t i = 0; i < count; i++)
		add_string(&link->strings, words[i]);
	add_string(&link->strings, spec->script);
	return (uint32_t)count + 1;
}

/* Gather the files of the job and those of this attempt. False: they aren't right. */
static bool gather_inputs(struct link *link, const struct rec_job_spec *spec, const struct rec_assign *assign)
{
	struct slice path;

	buf_clear(&link->inputs);
	buf_add_slice(&link->inputs, spec->inputs);
	buf_add_slice(&link->inputs, assign->inputs);
	return !inputs_fault(buf_slice(&link->inputs), &path);
}

/* Add this program and its arguments in front of the command of a job that leaves files; return the number of these strings. */
static uint32_t add_collect(struct link *link, const struct rec_job_spec *spec)
{
	if (spec->artifacts.n == 0)
		return 0;
	add_string(&link->strings, slice_str(link->program));
	add_string(&link->strings, slice_str(COLLECT_WORD));
	for (size_t i = 0; i < spec->artifacts.n; i++)
		add_string(&link->strings, spec->artifacts.at[i]);
	add_string(&link->strings, slice_str("--"));
	return (uint32_t)spec->artifacts.n + 3;
}

/* Build the strings of a SPAWN message. A faulty specification gives no argv, so the attempt fails to start. */
static void flatten(struct link *link, const struct rec_assign *assign, struct ipc_spawn *spawn)
{
	struct slice bytes = assign->spec;
	struct rec_job_spec spec = { 0 };
	struct slice source = { 0 };
	struct resource_list asks;
	struct error error;

	buf_clear(&link->strings);
	if (record_decode(REC_job_spec, &bytes, &link->arena, &spec, &error) || !list_ok(&spec.argv) ||
	    !list_ok(&spec.env) || resources_read(spec.asks, &asks, &error) || !list_ok(&spec.artifacts) || has_nul(spec.script) || has_nul(spec.stdin_text) || has_nul(spec.dir) ||
	    (spec.argv.n == 0) == (spec.script.len == 0) ||
	    (spec.interpreter.len > 0 && (spec.argv.n > 0 || !shell_is_good(spec.interpreter))) || !gather_inputs(link, &spec, assign) ||
	    !complete(link, assign->context, &spec, spawn, &source)) {
		log_warn_limited("job %llu can't be run: this worker doesn't understand its specification",
			 (unsigned long long)assign->job);
		buf_add_byte(&link->strings, '\0');
		buf_clear(&link->inputs);
		return;
	}
	if (link->inputs.len > 0)
		spawn->flags |= SPAWN_FILES;
	spawn->argc = add_collect(link, &spec);
	if (spec.interpreter.len > 0) {
		spawn->argc += add_interpreter(link, &spec);
		spawn->flags |= SPAWN_SCRIPT;
	} else if (spec.argv.n == 0) {
		add_string(&link->strings, slice_str("/bin/sh"));
		add_string(&link->strings, slice_str("-c"));
		add_string(&link->strings, spec.script);
		spawn->argc += 3;
	}
	for (size_t i = 0; i < spec.argv.n; i++)
		add_string(&link->strings, spec.argv.at[i]);
	spawn->argc += (uint32_t)spec.argv.n;
	if (spec.stdin_text.len > 0) {
		add_string(&link->strings, spec.stdin_text);
		spawn->argc++;
		spawn->flags |= SPAWN_STDIN;
	}
	for (size_t i = 0; i < spec.env.n; i++)
		add_string(&link->strings, spec.env.at[i]);
	spawn->envc = (uint32_t)spec.env.n;
	spawn->log_max = spec.log_max;
	/* An exclusive job must not run without being watched, so it dies with its keeper. */
	if (spec.mode == EXEC_EXCLUSIVE)
		spawn->flags |= SPAWN_EXCLUSIVE | SPAWN_DIES;
	if (spec.worker_death == DEATH_KILL)
		spawn->flags |= SPAWN_DIES;
	if (spec.outputs.n > 0)
		spawn->flags |= SPAWN_OUTPUTS;
	add_string(&link->strings, slice_eq(spec.dir, slice_str(DIR_PRIVATE)) ? slice_make(NULL, 0) : spec.dir);
	for (size_t i = 0; i < spec.asks.n; i++)
		add_string(&link->strings, spec.asks.at[i]);
	spawn->ask_count = (uint32_t)spec.asks.n;
	if (source.len > 0) {
		spawn->flags |= SPAWN_SOURCE;
		add_string(&link->strings, source);
	}
}

static void on_assign(struct link *link, const struct msg_assign *msg)
{
	for (size_t i = 0; i < msg->items.n; i++) {
		const struct rec_assign *assign = &msg->items.at[i];
		struct ipc_spawn spawn = { .job = assign->job, .epoch = assign->epoch, .run = assign->run };
		bool known;

		/* Job 0 marks the end of the inventory, so no job may have that number. */
		if (assign->job == 0)
			continue;
		flatten(link, assign, &spawn);
		spawn.strings_size = (uint32_t)link->strings.len;
		known = held_find(link, assign->job, assign->epoch) != NULL;
		link_take(link, assign->job, assign->epoch, assign->run);
		ipc_put_tail(&link->keeper, IPC_SPAWN, &spawn, sizeof(spawn), link->strings.data,
			     link->strings.len);
		if (known || !(spawn.flags & SPAWN_FILES))
			continue;
		held_find(link, assign->job, assign->epoch)->has_files = true;
		link_stage_take(link, assign->job, assign->epoch, buf_slice(&link->inputs));
	}
}

static void on_stop(struct link *link, const struct msg_stop *msg)
{
	for (size_t i = 0; i < msg->items.n; i++) {
		const struct rec_stop *stop = &msg->items.at[i];
		const struct ipc_stop out = { stop->job, stop->epoch,
					      stop->grace_ms < INT32_MAX ? (int64_t)stop->grace_ms : INT32_MAX };

		ipc_put(&link->keeper, IPC_STOP, &out, sizeof(out));
	}
}

static void on_recall(struct link *link, const struct msg_recall *msg)
{
	for (size_t i = 0; i < msg->items.n; i++) {
		const struct ipc_attempt out = { msg->items.at[i].job, msg->items.at[i].epoch };

		ipc_put(&link->keeper, IPC_RECALL, &out, sizeof(out));
	}
}

static void on_ack(struct link *link, const struct msg_ack *msg)
{
	for (size_t i = 0; i < msg->items.n; i++) {
		const struct ipc_attempt out = { msg->items.at[i].job, msg->items.at[i].epoch };
		struct held *held = held_find(link, out.job, out.epoch);

		if (!held || held->phase != PHASE_ENDED || held->acked)
			continue;
		ipc_put(&link->keeper, IPC_SPOOL_ACK, &out, sizeof(out));
		held->acked = true;
		held_forget_if_done(link, held);
	}
}

static void on_credit(struct link *link, const struct msg_credit *msg)
{
	for (size_t i = 0; i < msg->items.n; i++)
		ship_credit(link, &msg->items.at[i]);
	for (size_t i = 0; i < msg->again.n; i++)
		ship_again(link, &msg->again.at[i]);
}

static void on_welcome(struct link *link, const struct msg_welcome *msg)
{
	struct error error;

	if (link->welcome)
		return;
	if (msg->version != PROTOCOL_VERSION && msg->version != PROTOCOL_BEFORE) {
		error_set(&error, ERR_VERSION, "the master wants to speak version %llu of the protocol; this worker speaks versions %d and %d",
			  (unsigned long long)msg->version, PROTOCOL_BEFORE, PROTOCOL_VERSION);
		conn_fail(link->conn, &error);
		return;
	}
	link->older_master = msg->version < PROTOCOL_VERSION;
	conn_set_version(link->conn, msg->version);
	link->welcome = true;
	link->lease_ns = (int64_t)(msg->lease_ms < INT32_MAX ? msg->lease_ms : INT32_MAX) * NS_PER_MS;
	link->retry_s = 0;
	link->slow_welcomes = 0;
	/* From now on heartbeats show within the lease whether the master is there. A busy master may take bytes late. */
	tcp_limit_unanswered(conn_fd(link->conn), 0);
	log_info("connected to the master of cluster %.*s, process %llu", (int)msg->cluster.len,
		 (const char *)msg->cluster.data, (unsigned long long)msg->pid);
	link_welcomed(link, msg->heartbeat_ms > 0 && msg->heartbeat_ms < INT32_MAX ? msg->heartbeat_ms :
							  LIMIT_HEARTBEAT_MS);
}

static void on_quit(struct link *link, const struct msg_quit *msg)
{
	const struct ipc_quit out = { msg->grace_ms < INT32_MAX ? (int64_t)msg->grace_ms : INT32_MAX };

	log_info("the master tells this worker to end");
	ipc_put(&link->keeper, IPC_QUIT, &out, sizeof(out));
}

static void on_error(struct link *link, const struct msg_error *msg)
{
	/* Only requests for contents have an id. */
	if (msg->id != 0)
		link_stage_refused(link, msg);
	log_warn_limited("the master reported an error: %.*s%s%.*s", (int)msg->text.len, (const char *)msg->text.data,
			 msg->next.len > 0 ? "; next: " : "", (int)msg->next.len, (const char *)msg->next.data);
}

static void on_heartbeat(struct link *link, const struct msg_heartbeat *msg)
{
	if (msg->leaving)
		ipc_put(&link->keeper, IPC_LEFT, NULL, 0);
	if (msg->ending)
		link_end(link);
	link_lease(link, msg->sent_ns);
}

void link_frame(struct link *link, const struct frame *frame)
{
	union {
		struct msg_welcome welcome;
		struct msg_assign assign;
		struct msg_context context;
		struct msg_stop stop;
		struct msg_recall recall;
		struct msg_ack ack;
		struct msg_credit credit;
		struct msg_heartbeat heartbeat;
		struct msg_quit quit;
		struct msg_relay relay;
		struct msg_goods_data goods;
		struct msg_error error;
	} msg;
	static const uint8_t known[] = { OP_WELCOME, OP_ASSIGN, OP_CONTEXT, OP_STOP, OP_RECALL, OP_ACK, OP_CREDIT,
					 OP_HEARTBEAT, OP_QUIT, OP_RELAY, OP_GOODS_DATA, OP_ERROR };
	struct error error;

	arena_reset(&link->arena);
	if (!memchr(known, frame->opcode, sizeof(known))) {
		error_set(&error, ERR_NOT_EXPECTED, "the master sent message %u, which a worker doesn't expect", frame->opcode);
		conn_fail(link->conn, &error);
		return;
	}
	if (message_decode((enum opcode)frame->opcode, frame->body, &link->arena, &msg, &error)) {
		log_error("the master sent a frame that can't be read: %s", error.text);
		conn_fail(link->conn, &error);
		return;
	}
	switch (frame->opcode) {
	case OP_WELCOME:
		on_welcome(link, &msg.welcome);
		break;
	case OP_ASSIGN:
		on_assign(link, &msg.assign);
		break;
	case OP_CONTEXT:
		on_context(link, &msg.context);
		break;
	case OP_STOP:
		on_stop(link, &msg.stop);
		break;
	case OP_RECALL:
		on_recall(link, &msg.recall);
		break;
	case OP_ACK:
		on_ack(link, &msg.ack);
		break;
	case OP_CREDIT:
		on_credit(link, &msg.credit);
		break;
	case OP_HEARTBEAT:
		on_heartbeat(link, &msg.heartbeat);
		break;
	case OP_RELAY:
		callers_relay(link, &msg.relay);
		break;
	case OP_GOODS_DATA:
		link_stage_data(link, &msg.goods);
		break;
	case OP_QUIT:
		on_quit(link, &msg.quit);
		break;
	default:
		on_error(link, &msg.error);
	}
}
