/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A core under test: a virtual clock, a store of plain arrays, and workers that report what the test tells them to
 * report. After every turn the invariants are checked, and a second core loaded from the rows must have the same hash
 * (I17); tests with many jobs set how often that is done.
 */
#ifndef TITAN_TESTS_CORE_RIG_H
#define TITAN_TESTS_CORE_RIG_H

#include <stdio.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/view/view.h"
#include "greatest.h"
#include "proto/limits.h"

struct rig_row {
	struct row row;
	void *bytes[12];                  /* copies of the bytes that the row's slices point to */
	size_t byte_count;
};

struct rig_rows {
	struct rig_row *at;
	size_t count, cap;
};

struct rig_attempt {
	uint64_t job, epoch, conn;
	uint64_t try_no;
};

struct rig {
	struct slice shown;              /* digest sent with a decision on a gate; empty: the gate's present digest */
	const char *target;              /* job that a push back sends the run back to */
	struct slice_list given;         /* values for the fields of a gate, sent with an act */
	struct core_config config;
	struct core *core;
	struct now now;
	struct outbox out;               /* rows and frames of the core's last turn */
	struct rig_rows tables[TABLE_COUNT];
	struct arena arena;
	struct rig_attempt assigned[8192];       /* attempts that the core assigned and the test hasn't looked at yet */
	size_t assigned_first, assigned_count;
	uint64_t conn;                   /* latest given */
	uint64_t request;
	uint64_t keys;
	uint32_t max_jobs;               /* limit of active jobs in the next runs that the test submits */
	const char *tenant;              /* tenant of the next runs that the test submits; NULL: the submitter, ana */
	const char *concurrency;         /* concurrency group of the next runs that the test submits */
	struct slice context;            /* context of the next runs that the test submits, as a run_context record */
	uint64_t contexts;               /* context slots that the next workers offer */
	unsigned reload_every, turns;    /* 0: never */
	struct msg_error error;          /* the last error that the core answered; its text is in the arena */
	size_t errors;
	struct msg_ok ok;
	struct msg_accepted accepted;
};

/* --- the store --- */

static inline struct slice rig_keep(struct rig_row *row, struct slice slice)
{
	void *copy;

	if (slice.len == 0)
		return slice;
	copy = mem_alloc(slice.len);
	memcpy(copy, slice.data, slice.len);
	row->bytes[row->byte_count++] = copy;
	return slice_make(copy, slice.len);
}

static inline void rig_row_drop(struct rig_row *row)
{
	for (size_t i = 0; i < row->byte_count; i++)
		mem_free(row->bytes[i]);
	row->byte_count = 0;
}

static inline bool rig_same_int(int64_t a, int64_t b)
{
	return a == b;
}

static inline bool rig_same_key(const struct row *a, const struct row *b)
{
	bool same = true;

	switch (a->table) {
#define RIG_SAME_INT rig_same_int
#define RIG_SAME_TEXT slice_eq
#define RIG_SAME_BLOB slice_eq
#define TABLE(name, what) case TABLE_##name: { const struct row_##name *x = &a->name, *y = &b->name;
#define KEY(type, name, what) same = same && RIG_SAME_##type(x->name, y->name);
#define COLUMN(type, name, check, what)
#define END(name) break; }
#include "core/rows/rows.def"
#undef TABLE
#undef KEY
#undef COLUMN
#undef END
	case TABLE_COUNT:
		break;
	}
	return same;
}

static inline void rig_row_copy(struct rig_row *kept, const struct row *row)
{
	kept->row = *row;
	kept->byte_count = 0;
	switch (row->table) {
#define RIG_COPY_INT(field) (void)(field)
#define RIG_COPY_TEXT(field) (field) = rig_keep(kept, (field))
#define RIG_COPY_BLOB(field) (field) = rig_keep(kept, (field))
#define TABLE(name, what) case TABLE_##name: { struct row_##name *x = &kept->row.name;
#define KEY(type, name, what) RIG_COPY_##type(x->name);
#define COLUMN(type, name, check, what) RIG_COPY_##type(x->name);
#define END(name) break; }
#include "core/rows/rows.def"
#undef TABLE
#undef KEY
#undef COLUMN
#undef END
	case TABLE_COUNT:
		break;
	}
}

static inline void rig_delete_range(struct rig_rows *rows, const struct row *row)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		if (row_in_range(row, &rows->at[i].row))
			rig_row_drop(&rows->at[i]);
		else
			rows->at[kept++] = rows->at[i];
	}
	rows->count = kept;
}

static inline void rig_put(struct rig *rig, const struct row *row)
{
	struct rig_rows *rows = &rig->tables[row->table];
	size_t at = rows->count;

	if (row->until != 0) {
		rig_delete_range(rows, row);
		return;
	}
	/*
	 * Search from the end: a turn mostly changes rows that were put recently. Rows of events are never put twice.
	 */
	while (at > 0 && !rig_same_key(&rows->at[at - 1].row, row))
		at--;
	if (row->deleted) {
		/* Some epochs were never a try that is kept, so an attempt's row may be missing. */
		if (at == 0 && row->table == TABLE_attempt)
			return;
		CHECK(at > 0);
		rig_row_drop(&rows->at[at - 1]);
		memmove(&rows->at[at - 1], &rows->at[at], (rows->count - at) * sizeof(*rows->at));
		rows->count--;
		return;
	}
	if (at > 0) {
		CHECK(row->table != TABLE_event && row->table != TABLE_spec);
		rig_row_drop(&rows->at[at - 1]);
		rig_row_copy(&rows->at[at - 1], row);
		return;
	}
	if (rows->count == rows->cap) {
		rows->cap = rows->cap ? 2 * rows->cap : 16;
		rows->at = mem_resize(rows->at, rows->cap, sizeof(*rows->at));
	}
	rig_row_copy(&rows->at[rows->count++], row);
}

static inline const struct row *rig_run_row(const struct rig *rig, int64_t run)
{
	const struct rig_rows *rows = &rig->tables[TABLE_run];

	for (size_t i = 0; i < rows->count; i++)
		if (rows->at[i].row.run.run == run)
			return &rows->at[i].row;
	return NULL;
}

/* A pruned run has no row. */
static inline bool rig_run_live(const struct rig *rig, int64_t run)
{
	const struct row *row = rig_run_row(rig, run);

	return row && row->run.ended_ms == 0;
}

static inline bool rig_row_live(const struct rig *rig, const struct row *row)
{
	if (row->table == TABLE_run)
		return row->run.ended_ms == 0;
	if (row->table == TABLE_spec)
		return rig_run_live(rig, row->spec.run);
	if (row->table == TABLE_job)
		return rig_run_live(rig, row->job.run);
	if (row->table == TABLE_decision)
		return rig_run_live(rig, row->decision.run);
	return row->table != TABLE_event && row->table != TABLE_dead && row->table != TABLE_pruned_run &&
	       row->table != TABLE_attempt;
}

/* Load a fresh core from the rows. *out becomes the outbox of its first turn. */
static inline struct core *rig_load(const struct rig *rig, struct now now, struct outbox *out,
				    struct error *error)
{
	struct core *core = core_new(&rig->config);
	enum err err = ERR_NONE;

	for (int table = 0; table < TABLE_COUNT && err == ERR_NONE; table++)
		for (size_t i = 0; i < rig->tables[table].count && err == ERR_NONE; i++)
			if (rig_row_live(rig, &rig->tables[table].at[i].row))
				err = core_load_row(core, &rig->tables[table].at[i].row, error);
	if (err == ERR_NONE)
		err = core_load_end(core, now, out, error);
	if (err != ERR_NONE) {
		core_free(core);
		return NULL;
	}
	return core;
}

static inline void rig_compare(struct rig *rig)
{
	struct outbox out = { 0 };
	struct error error = { 0 };
	struct core *core = rig_load(rig, rig->now, &out, &error);

	if (!core)
		fprintf(stderr, "reload: %s\n", error.text);
	CHECK(core);
	core_check(core);
	CHECK(core_hash(core) == core_hash(rig->core));
	core_free(core);
	outbox_free(&out);
}

/* --- turns --- */

static inline void rig_collect(struct rig *rig)
{
	for (size_t i = 0; i < rig->out.frame_count; i++) {
		const struct outgoing *frame = &rig->out.frames[i];

		if (frame->op == OP_ASSIGN) {
			CHECK(rig->assigned_count < 8192);
			rig->assigned[rig->assigned_count++] = (struct rig_attempt){
				frame->assign.job, frame->assign.epoch, frame->conn, frame->assign.try_no };
		} else if (frame->op == OP_ERROR) {
			rig->error = frame->error;
			rig->error.text = slice_str(arena_strdup(&rig->arena, frame->error.text));
			rig->errors++;
		} else if (frame->op == OP_OK) {
			rig->ok = frame->ok;
		} else if (frame->op == OP_ACCEPTED) {
			rig->accepted = frame->accepted;
		}
	}
}

static inline void rig_turn_begin(struct rig *rig)
{
	outbox_clear(&rig->out);
	core_turn_begin(rig->core, rig->now, &rig->out);
}

static inline void rig_turn_end(struct rig *rig)
{
	core_turn_end(rig->core);
	for (size_t i = 0; i < rig->out.row_count; i++)
		rig_put(rig, &rig->out.rows[i]);
	rig_collect(rig);
	if (rig->reload_every > 0 && ++rig->turns % rig->reload_every == 0) {
		core_shrink(rig->core);          /* changes nothing */
		core_check(rig->core);
		rig_compare(rig);
	}
}

static inline void rig_step(struct rig *rig, const struct core_input *input)
{
	rig_turn_begin(rig);
	core_step(rig->core, input);
	rig_turn_end(rig);
}

/* Advance all clocks without giving the core a turn. */
static inline void rig_wait(struct rig *rig, int64_t ms)
{
	rig->now.mono_ns += ms * NS_PER_MS;
	rig->now.boot_ns += ms * NS_PER_MS;
	rig->now.wall_ms += ms;
}

static inline void rig_pass(struct rig *rig, int64_t ms)
{
	rig_wait(rig, ms);
	rig_turn_begin(rig);
	rig_turn_end(rig);
}

static inline struct rig *rig_new(void)
{
	struct rig *rig = mem_zalloc(sizeof(*rig));
	struct error error;

	rig->config = (struct core_config){ .cluster = slice_str("bench"), .pid = 42, .seed = 7, .boot_id = 5 };
	rig->now = (struct now){ .mono_ns = 5 * NS_PER_S, .boot_ns = 9 * NS_PER_S, .wall_ms = 1000000 };
	rig->reload_every = 1;
	rig->core = core_new(&rig->config);
	CHECK(core_load_end(rig->core, rig->now, &rig->out, &error) == ERR_NONE);
	for (size_t i = 0; i < rig->out.row_count; i++)
		rig_put(rig, &rig->out.rows[i]);
	return rig;
}

/* Kill and restart the master: connections are gone, and messages that the test hasn't taken never arrived. */
static inline void rig_restart(struct rig *rig)
{
	struct error error = { 0 };

	core_free(rig->core);
	outbox_clear(&rig->out);
	rig->core = rig_load(rig, rig->now, &rig->out, &error);
	if (!rig->core)
		fprintf(stderr, "restart: %s\n", error.text);
	CHECK(rig->core);
	for (size_t i = 0; i < rig->out.row_count; i++)
		rig_put(rig, &rig->out.rows[i]);
	rig->assigned_first = rig->assigned_count = 0;
}

static inline void rig_free(struct rig *rig)
{
	core_free(rig->core);
	outbox_free(&rig->out);
	arena_free(&rig->arena);
	for (int table = 0; table < TABLE_COUNT; table++) {
		for (size_t i = 0; i < rig->tables[table].count; i++)
			rig_row_drop(&rig->tables[table].at[i]);
		mem_free(rig->tables[table].at);
	}
	mem_free(rig);
}

/* --- graphs --- */

struct graph {
	struct arena arena;
	struct rec_job_spec *jobs;
	size_t count, cap;
};

static inline size_t graph_index(const struct graph *graph, struct slice name)
{
	for (size_t i = 0; i < graph->count; i++)
		if (slice_eq(graph->jobs[i].name, name))
			return i;
	CHECK(!"a parent that was added before");
	return 0;
}

/*
 * Add a job. needs is such as "a b- c*": a must succeed, b must fail, c must be done. Dependencies are added in this
 * order.
 */
static inline struct rec_job_spec *graph_job(struct graph *graph, const char *name, const char *needs)
{
	uint64_t *at = arena_alloc(&graph->arena, 64 * sizeof(*at));
	uint64_t *triggers = arena_alloc(&graph->arena, 64 * sizeof(*triggers));
	struct slice *argv = arena_alloc(&graph->arena, sizeof(*argv));
	struct rec_job_spec spec = { .name = slice_str(arena_strdup(&graph->arena, slice_str(name))) };
	size_t n = 0;

	while (*needs) {
		size_t len = strcspn(needs, " ");
		char last = needs[len - 1];

		triggers[n] = last == '-' ? TRIGGER_FAILED : last == '*' ? TRIGGER_DONE : TRIGGER_OK;
		at[n] = graph_index(graph, slice_make(needs, triggers[n] == TRIGGER_OK ? len : len - 1));
		n++;
		needs += len;
		needs += strspn(needs, " ");
	}
	argv[0] = slice_str("true");
	spec.argv = (struct slice_list){ .at = argv, .n = 1 };
	spec.needs = (struct u64_list){ .at = at, .n = n };
	spec.triggers = (struct u64_list){ .at = triggers, .n = n };
	if (graph->count == graph->cap) {
		graph->cap = graph->cap ? 2 * graph->cap : 16;
		graph->jobs = mem_resize(graph->jobs, graph->cap, sizeof(*graph->jobs));
	}
	graph->jobs[graph->count] = spec;
	return &graph->jobs[graph->count++];
}

static inline void graph_free(struct graph *graph)
{
	arena_free(&graph->arena);
	mem_free(graph->jobs);
	*graph = (struct graph){ 0 };
}

static inline struct blob *graph_blob(const struct graph *graph)
{
	struct buf buf = { 0 };
	struct blob *blob;

	for (size_t i = 0; i < graph->count; i++)
		record_encode(&buf, REC_job_spec, &graph->jobs[i]);
	blob = blob_make(buf_slice(&buf));
	buf_free(&buf);
	return blob;
}

static inline void rig_by(struct core_input *input, const char *name, uint64_t principal)
{
	input->by = (struct actor){ .principal = principal, .name = slice_str(name), .origin = slice_str("bench") };
}

/*
 * Submit a graph and return the run's number, or 0 with rig->error set. key is the submit key; digest is the second
 * half of the content's digest.
 */
static inline uint64_t rig_submit_bytes(struct rig *rig, struct blob *body, uint32_t count, uint64_t key,
					uint64_t digest)
{
	struct graph_part part = { .body = body, .count = count };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };

	input.submit = (struct input_submit){
		.principal = 1, .owner = slice_str("ana"), .name = slice_str("deploy"),
		.parts = &part, .part_count = 1, .max_jobs = rig->max_jobs,
		.tenant = slice_str(rig->tenant), .concurrency = slice_str(rig->concurrency), .context = rig->context };
	rig_by(&input, "ana", 1);
	memcpy(input.submit.key, &key, sizeof(key));
	memcpy(input.submit.digest, &digest, sizeof(digest));
	rig->accepted = (struct msg_accepted){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	return rig->accepted.run;
}

static inline uint64_t rig_submit(struct rig *rig, struct graph *graph)
{
	struct blob *body = graph_blob(graph);
	uint64_t run = rig_submit_bytes(rig, body, (uint32_t)graph->count, ++rig->keys, 0);

	blob_release(body);
	graph_free(graph);
	return run;
}

/* --- workers --- */

static inline uint64_t rig_hello_held(struct rig *rig, const char *name, uint64_t slots,
				      const struct rec_held *held, size_t held_count)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){
		.name = slice_str(name), .instance = slice_str("0123456789abcdef"), .slots = slots, .pid = 9,
		.held = held, .held_count = held_count, .contexts = rig->contexts };
	rig_step(rig, &input);
	return input.conn;
}

static inline uint64_t rig_hello_labels(struct rig *rig, const char *name, uint64_t slots, struct slice *labels, size_t n)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){
		.name = slice_str(name), .instance = slice_str("0123456789abcdef"), .slots = slots, .pid = 9,
		.labels = { .at = labels, .n = n } };
	rig_step(rig, &input);
	return input.conn;
}

static inline uint64_t rig_hello(struct rig *rig, const char *name, uint64_t slots)
{
	return rig_hello_held(rig, name, slots, NULL, 0);
}

static inline void rig_gone(struct rig *rig, uint64_t conn)
{
	struct core_input input = { .kind = INPUT_WORKER_GONE, .conn = conn };

	rig_step(rig, &input);
}

static inline void rig_heartbeat(struct rig *rig, uint64_t conn)
{
	struct core_input input = { .kind = INPUT_HEARTBEAT, .conn = conn };

	input.heartbeat.sent_ns = 77;
	rig_step(rig, &input);
}

static inline bool rig_take(struct rig *rig, struct rig_attempt *ret_attempt)
{
	if (rig->assigned_first == rig->assigned_count) {
		rig->assigned_first = rig->assigned_count = 0;
		return false;
	}
	*ret_attempt = rig->assigned[rig->assigned_first++];
	return true;
}

static inline struct rig_attempt rig_must_take(struct rig *rig)
{
	struct rig_attempt attempt = { 0 };

	CHECK(rig_take(rig, &attempt));
	return attempt;
}

static inline void rig_started(struct rig *rig, struct rig_attempt attempt)
{
	struct rec_started started = { .job = attempt.job, .epoch = attempt.epoch,
		.wall_ms = rig->now.wall_ms, .pid = 5 };
	struct core_input input = { .kind = INPUT_STARTED, .conn = attempt.conn };

	input.started.at = &started;
	input.started.n = 1;
	rig_step(rig, &input);
}

static inline void rig_done(struct rig *rig, struct rig_attempt attempt, enum outcome outcome, uint64_t code)
{
	struct rec_done done = { .job = attempt.job, .epoch = attempt.epoch, .outcome = outcome, .code = code,
		.started_ms = outcome == OUTCOME_RECALLED ? 0 : rig->now.wall_ms,
		.ended_ms = rig->now.wall_ms + 3,
		.run_ns = 2 * NS_PER_MS, .cpu_us = 11, .rss_kib = 22, .out_bytes = 33 };
	struct core_input input = { .kind = INPUT_DONE, .conn = attempt.conn };

	input.done.at = &done;
	input.done.n = 1;
	rig_step(rig, &input);
}

/* Start the next assigned attempt and let it exit. Return the job's serial number, or 0 if nothing was assigned. */
static inline uint64_t rig_run_one(struct rig *rig, uint64_t code)
{
	struct rig_attempt attempt;

	if (!rig_take(rig, &attempt))
		return 0;
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, code);
	return attempt.job;
}

static inline size_t rig_run_all(struct rig *rig)
{
	size_t ran = 0;

	while (rig_run_one(rig, 0))
		ran++;
	return ran;
}

/* Count the frames of this kind that the last turn sent, and return the last of them. */
static inline size_t rig_frames(const struct rig *rig, enum opcode op, struct outgoing *ret_last)
{
	size_t count = 0;

	for (size_t i = 0; i < rig->out.frame_count; i++) {
		if (rig->out.frames[i].op != op)
			continue;
		if (ret_last)
			*ret_last = rig->out.frames[i];
		count++;
	}
	return count;
}

static inline struct rec_job_row rig_job(struct rig *rig, uint64_t job)
{
	struct rec_job_row row = { 0 };

	CHECK(view_job(rig->core, job, VIEW_BRIEF, &rig->arena, &row));
	return row;
}

static inline enum job_state rig_state(struct rig *rig, uint64_t job)
{
	return (enum job_state)rig_job(rig, job).state;
}

static inline uint64_t rig_named(struct rig *rig, uint64_t run, const char *name)
{
	uint64_t job = view_job_named(rig->core, run, slice_str(name));

	CHECK(job != 0);
	return job;
}

static inline const char *rig_state_named(struct rig *rig, uint64_t run, const char *name)
{
	return state_table[rig_state(rig, rig_named(rig, run, name))].name;
}

static inline enum run_state rig_run_state(struct rig *rig, uint64_t run)
{
	struct rec_run_row row = { 0 };

	CHECK(view_run(rig->core, run, &rig->arena, &row));
	return (enum run_state)row.state;
}

static inline void rig_cancel_scope(struct rig *rig, uint64_t run, const char *job, enum cancel_scope scope)
{
	struct core_input input = { .kind = INPUT_CANCEL, .conn = 1000000, .request = ++rig->request };

	input.cancel = (struct input_cancel){ .run = run, .job = slice_str(job), .scope = scope };
	rig_by(&input, "ana", 1);
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

static inline void rig_cancel(struct rig *rig, uint64_t run, const char *job)
{
	rig_cancel_scope(rig, run, job, CANCEL_FIRST);
}

/* The digest of what the gate shows to a person who decides now. */
static inline struct slice rig_digest(struct rig *rig, uint64_t run, const char *job)
{
	uint64_t gate = job[0] ? view_job_named(rig->core, run, slice_str(job)) : view_gate_after(rig->core, 0);

	return gate ? rig_job(rig, gate).digest : slice_make(NULL, 0);
}

static inline void rig_act_as(struct rig *rig, const char *person, uint64_t principal, enum act_verb verb, uint64_t run,
			      const char *job, uint64_t value)
{
	struct core_input input = { .kind = INPUT_ACT, .conn = 1000000, .request = ++rig->request };

	input.act = (struct input_act){ .verb = verb, .run = run, .job = slice_str(job), .value = value,
		.text = slice_str("because"), .principal = principal, .person = slice_str(person),
		.digest = rig->shown.len > 0 ? rig->shown : rig_digest(rig, run, job),
		.target = slice_str(rig->target ? rig->target : ""), .given = rig->given };
	rig_by(&input, person, principal);
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

static inline void rig_act(struct rig *rig, enum act_verb verb, uint64_t run, const char *job, uint64_t value)
{
	rig_act_as(rig, "ana", 1, verb, run, job, value);
}

static inline void rig_set(struct rig *rig, struct msg_set set)
{
	struct core_input input = { .kind = INPUT_SET, .conn = 1000000, .request = ++rig->request };

	input.set = (struct input_set){ .set = set, .principal = 1, .person = slice_str("ana") };
	rig_by(&input, "ana", 1);
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

static inline bool rig_error_says(const struct rig *rig, enum err code, const char *words)
{
	bool says = rig->error.code == code &&
		    memmem(rig->error.text.data, rig->error.text.len, words, strlen(words)) != NULL;

	if (!says)
		fprintf(stderr, "error %s: %.*s\n", err_name((enum err)rig->error.code),
			(int)rig->error.text.len,
			rig->error.text.data ? (const char *)rig->error.text.data : "");
	return says;
}

#endif
