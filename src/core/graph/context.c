/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The context of a run: directory and environment that jobs of one submit share, kept once beside their
 * specifications. Core sends each context to a worker once per connection, into numbered slots that are reused in
 * turn. A worker without context slots gets whole specifications. A job's own directory and variables come first
 * (spec_complete).
 */
#include "core/graph/graph.h"

#include "base/planted.h"

static bool has_nul(struct slice text)
{
	return text.len > 0 && memchr(text.data, 0, text.len) != NULL;
}

const char *env_fault(const struct slice_list *env)
{
	for (size_t i = 0; i < env->n; i++) {
		struct slice entry = env->at[i];
		const uint8_t *equals = entry.len ? memchr(entry.data, '=', entry.len) : NULL;

		if (!equals || equals == entry.data)
			return "an entry must have the form NAME=value";
		if (has_nul(entry))
			return "an entry contains a zero byte";
	}
	return NULL;
}

enum err context_check(struct slice bytes, struct error *error)
{
	struct rec_run_context context;
	struct arena arena = { 0 };
	const char *fault = NULL;
	struct error why;
	enum err err;

	error_clear(&why);
	if (bytes.len == 0)
		return ERR_NONE;
	if (bytes.len > LIMIT_CONTEXT_MAX)
		return error_set(error, ERR_TOO_LARGE, "the directory and the environment of all jobs take %zu bytes; at most %d are"
				 " allowed", bytes.len, LIMIT_CONTEXT_MAX);
	err = record_decode(REC_run_context, &bytes, &arena, &context, &why);
	if (err == ERR_NONE && bytes.len > 0)
		fault = "bytes follow it";
	else if (err == ERR_NONE)
		fault = has_nul(context.dir) || has_nul(context.here_dir) || has_nul(context.here_source) ? "the directory has a zero byte" :
									   env_fault(&context.env);
	if (err == ERR_NONE && !fault)
		fault = env_fault(&context.here_env);
	arena_free(&arena);
	if (err != ERR_NONE)
		return error_set(error, err, "context: %.300s", why.text);
	return fault ? error_set(error, ERR_INVALID, "context: %s", fault) : ERR_NONE;
}

void context_complete(struct slice bytes, enum job_kind kind, struct arena *arena, struct rec_job_spec *spec)
{
	struct rec_run_context context;

	/* Only jobs that run a process on a worker have a directory and an environment. */
	if (bytes.len == 0 || !(KIND_BIT(kind) & FOR_WORK))
		return;
	CHECK(record_decode(REC_run_context, &bytes, arena, &context, NULL) == ERR_NONE);
	spec_complete(spec, &context, arena);
}

void context_here(struct slice bytes, struct buf *out)
{
	struct rec_run_context context;
	struct arena arena = { 0 };

	if (bytes.len == 0)
		return;
	CHECK(record_decode(REC_run_context, &bytes, &arena, &context, NULL) == ERR_NONE);
	if (context.dir.len == 0 && context.here_dir.len > 0 && context.machine.len > 0) {
		context.env.n = context.here_env.n = 0;
		record_encode(out, REC_run_context, &context);
	}
	arena_free(&arena);
}

void contexts_begin(struct worker *worker, uint64_t slots)
{
	if (!PLANTED(context_not_told_again))
		memset(worker->contexts, 0, sizeof(worker->contexts));
	worker->context_slots = slots < LIMIT_WORKER_CONTEXTS ? (uint32_t)slots : LIMIT_WORKER_CONTEXTS;
	worker->context_at = 0;
}

uint64_t context_tell(struct outbox *outbox, struct worker *worker, uint64_t first, struct blob *context)
{
	uint32_t slot;

	if (!context || worker->context_slots == 0)
		return 0;
	for (slot = 0; slot < worker->context_slots; slot++)
		if (worker->contexts[slot] == first)
			return slot + 1;
	slot = worker->context_at;
	worker->context_at = (slot + 1) % worker->context_slots;
	if (!PLANTED(context_slot_kept) || worker->contexts[slot] == 0)
		worker->contexts[slot] = first;
	outbox_frame(outbox, worker->conn, OP_CONTEXT)->context =
		(struct msg_context){ .slot = slot, .context = outbox_hold(outbox, context) };
	return slot + 1;
}
