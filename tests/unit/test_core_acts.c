/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The record of acts: each verb leaves one act in its turn, with the state before and after; and the chain of hashes
 * (I20).
 */
#include <inttypes.h>

#include "core/acts/chain.h"
#include "proto/rights.h"
#include "tests/unit/core_rig.h"

static size_t act_count(const struct rig *rig)
{
	return rig->tables[TABLE_act].count;
}

static const struct row_act *last_act(const struct rig *rig)
{
	CHECK(act_count(rig) > 0);
	return &rig->tables[TABLE_act].at[act_count(rig) - 1].row.act;
}

/* The latest act as "VERB TARGET: BEFORE -> AFTER". */
static const char *said(struct rig *rig)
{
	const struct row_act *act = last_act(rig);
	struct buf text = { 0 };
	const char *copy;

	buf_add_slice(&text, act->verb);
	buf_add_byte(&text, ' ');
	buf_add_slice(&text, act->target);
	buf_add_str(&text, ": ");
	buf_add_slice(&text, act->before);
	buf_add_str(&text, " -> ");
	buf_add_slice(&text, act->after);
	copy = arena_strdup(&rig->arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

static size_t acts_of_turn(const struct rig *rig)
{
	size_t count = 0;

	for (size_t i = 0; i < rig->out.row_count; i++)
		count += rig->out.rows[i].table == TABLE_act;
	return count;
}

/* Submit a job in the state that the verb needs: waiting, failed, a gate, or unknown. */
static uint64_t run_with(struct rig *rig, const char *name, enum act_verb verb)
{
	struct graph graph = { 0 };
	struct rec_job_spec *spec = graph_job(&graph, "before", "");
	struct rig_attempt attempt;
	uint64_t run;

	(void)spec;
	spec = graph_job(&graph, name, "before");
	if (verb == ACT_APPROVE || verb == ACT_REJECT || verb == ACT_PUSHBACK) {
		spec->gate_count = 1;
		spec->argv.n = 0;
	}
	if (verb == ACT_SETTLE)
		spec->mode = EXEC_ONCE;
	graph_job(&graph, "behind", name);
	run = rig_submit(rig, &graph);
	CHECK(rig_run_one(rig, 0) != 0);
	if (verb == ACT_RETRY || verb == ACT_REQUEUE || verb == ACT_DISCARD || verb == ACT_REINSTATE) {
		CHECK(rig_run_one(rig, 3) != 0);
	} else if (verb == ACT_SETTLE) {
		attempt = rig_must_take(rig);
		rig_started(rig, attempt);
		rig_gone(rig, attempt.conn);
		rig_pass(rig, 10 * LIMIT_GRACE_MS);
		CHECK(strcmp(rig_state_named(rig, run, name), "unknown") == 0);
	}
	return run;
}

static uint64_t value_of(enum act_verb verb)
{
	return verb == ACT_PRIORITY ? 77 : verb == ACT_SETTLE ? SETTLE_DONE : verb == ACT_REINSTATE;
}

static void act_out(struct rig *rig, enum act_verb verb)
{
	uint64_t run;

	rig_hello(rig, "w", 1);
	run = run_with(rig, "qa", verb);
	rig->target = verb == ACT_PUSHBACK ? "before" : NULL;
	if (verb == ACT_RELEASE)
		rig_act(rig, ACT_HOLD, run, "qa", 0);
	if (verb == ACT_REINSTATE)
		rig_act(rig, ACT_DISCARD, run, "qa", 0);
	if (verb == ACT_CANCEL)
		rig_cancel(rig, run, "qa");
	else
		rig_act(rig, verb, run, "qa", value_of(verb));
}

static struct msg_set set_of(uint64_t kind)
{
	static struct slice why = { (const uint8_t *)"by hand", 7 };
	struct msg_set set = { .kind = kind, .verb = SET_PUT, .name = slice_str("x"), .number = 5, .weight = 3 };

	if (kind == OBJECT_WORKER || kind == OBJECT_SCHEDULE)
		set.verb = SET_PAUSE;
	if (kind == OBJECT_POOL)
		set.verb = SET_DRAIN;
	if (kind == OBJECT_LOCK) {
		set.verb = SET_TAKE;
		set.number = 0;
		set.words = (struct slice_list){ .at = &why, .n = 1 };
	}
	if (kind == OBJECT_TOPIC)
		set.text = slice_str("gpu");
	if (kind == OBJECT_ASSET)
		set.text = slice_str("sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	if (kind == OBJECT_TOKEN) {
		set.number = ROLE_BIT(APPROVER);
		set.text = slice_str("bert");
		set.secret = slice_str("sealed");
	}
	return set;
}

static void schedule_add(struct rig *rig)
{
	struct rec_schedule_spec spec = { .cron = slice_str("0 3 * * *") };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };
	struct graph graph = { 0 };
	struct graph_part part = { .count = 1 };
	struct buf bytes = { 0 };

	graph_job(&graph, "a", "");
	part.body = graph_blob(&graph);
	record_encode(&bytes, REC_schedule_spec, &spec);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .name = slice_str("x"),
		.parts = &part, .part_count = 1, .schedule = buf_slice(&bytes) };
	rig_by(&input, "ana", 1);
	memset(input.submit.key, 9, 16);
	rig_step(rig, &input);
	blob_release(part.body);
	graph_free(&graph);
	buf_free(&bytes);
}

static void set_out(struct rig *rig, uint64_t kind)
{
	struct core_input hello = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	hello.hello = (struct input_hello){ .name = slice_str("x"), .instance = slice_str("0123456789abcdef"), .slots = 1,
		.pool = slice_str("x") };
	rig_step(rig, &hello);
	if (kind == OBJECT_SCHEDULE)
		schedule_add(rig);
	rig_set(rig, set_of(kind));
}

/* Every verb in rights.def is something that people do: a new verb fails here until it leaves an act. */
static void values_out(struct rig *rig, uint64_t space)
{
	struct core_input input = { .kind = INPUT_VALUES, .conn = 1000000, .request = ++rig->request };
	struct rec_value_op op = { .verb = VALUES_SET, .key = slice_str("k"), .value = slice_str("v") };

	input.values.msg = (struct msg_values){ .space = space, .definition = slice_str("x"), .ops = { &op, 1 } };
	rig_by(&input, "ana", 1);
	rig_step(rig, &input);
}

TEST every_verb_of_the_rights_is_an_act(void)
{
	static const struct {
		enum opcode op;
		uint64_t subject;
		const char *said;
	} expected[] = {
		{ OP_ACT, ACT_CANCEL, "cancel job 1/qa: assigned -> stopping" },
		{ OP_ACT, ACT_RETRY, "retry job 1/qa: failed, 1 dead letter -> ready, scope failed" },
		{ OP_ACT, ACT_HOLD, "hold job 1/qa: free -> held" },
		{ OP_ACT, ACT_RELEASE, "release job 1/qa: held -> free" },
		{ OP_ACT, ACT_PRIORITY, "priority job 1/qa: 50 -> 77" },
		{ OP_ACT, ACT_APPROVE, "approve job 1/qa: approval -> succeeded" },
		{ OP_ACT, ACT_REJECT, "reject job 1/qa: approval -> denied" },
		{ OP_ACT, ACT_PUSHBACK, "pushback job 1/qa: approval -> waiting, back to before" },
		{ OP_ACT, ACT_SETTLE, "settle job 1/qa: unknown -> succeeded" },
		{ OP_ACT, ACT_REQUEUE, "requeue job 1/qa: failed, 1 dead letter -> ready" },
		{ OP_ACT, ACT_DISCARD, "discard job 1/qa: failed, 1 dead letter -> failed" },
		{ OP_ACT, ACT_REINSTATE, "reinstate job 1/qa: failed -> failed, 1 dead letter" },
		{ OP_SET, OBJECT_WORKER, "pause worker x: active -> cordoned" },
		{ OP_SET, OBJECT_POOL, "drain pool x: active -> draining" },
		{ OP_SET, OBJECT_TENANT, "put tenant x:  -> weight 3, jobs 4, queued 0" },
		{ OP_SET, OBJECT_GROUP, "put group x:  -> limit 5" },
		{ OP_SET, OBJECT_LOCK, "take lock x:  -> held by ana" },
		{ OP_SET, OBJECT_SCHEDULE, "pause schedule x: active, 0 3 * * *, of ana -> paused, 0 3 * * *, of ana" },
		{ OP_SET, OBJECT_TOKEN, "put token x:  -> bert, approver" },
		{ OP_SET, OBJECT_TOPIC, "put topic x:  -> pool gpu" },
		{ OP_SET, OBJECT_ASSET, "put asset x:  -> version 1, 5 bytes, of ana" },
		{ OP_VALUES, SPACE_RUN, NULL },  /* jobs and people change too many of these: decision 0064 */
		{ OP_VALUES, SPACE_DEFINITION, "set value def/x:k:  -> revision 1, 1 bytes" },
		{ OP_VALUES, SPACE_CLUSTER, "set value cluster:k:  -> revision 1, 1 bytes" },
	};

	ASSERT_EQ(right_count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < right_count; i++) {
		struct rig *rig;

		if (!expected[i].said)
			continue;
		rig = rig_new();

		ASSERT_EQ(right_table[i].op, expected[i].op);
		ASSERT_EQm(right_table[i].subject, right_table[i].number, expected[i].subject);
		if (expected[i].op == OP_ACT)
			act_out(rig, (enum act_verb)expected[i].subject);
		else if (expected[i].op == OP_VALUES)
			values_out(rig, expected[i].subject);
		else
			set_out(rig, expected[i].subject);
		ASSERT_EQm(right_table[i].subject, 0, rig->errors);
		ASSERT_EQm(right_table[i].subject, 1, acts_of_turn(rig));
		ASSERT_STR_EQ(expected[i].said, said(rig));
		ASSERT_EQ((int64_t)rig->out.turn, last_act(rig)->turn);
		ASSERT(slice_eq(last_act(rig)->name, slice_str("ana")));
		rig_free(rig);
	}
	PASS();
}

TEST submits_are_acts_with_their_key(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct blob *body;
	uint64_t key = 7;

	graph_job(&graph, "a", "");
	body = graph_blob(&graph);
	ASSERT_EQ(1, rig_submit_bytes(rig, body, 1, key, 1));
	ASSERT_STR_EQ("submit run 1:  -> deploy, 1 job", said(rig));
	ASSERT_EQ(16, last_act(rig)->key_id.len);
	ASSERT_EQ(0, memcmp(last_act(rig)->key_id.data, &key, sizeof(key)));
	ASSERT_EQ(1, last_act(rig)->run);
	/* A repeated submit changes nothing and leaves no act. */
	ASSERT_EQ(1, rig_submit_bytes(rig, body, 1, key, 1));
	ASSERT_EQ(1, act_count(rig));
	schedule_add(rig);
	ASSERT_STR_EQ("put schedule x:  -> active, 0 3 * * *, of ana", said(rig));
	schedule_add(rig);
	ASSERT_EQ(2, act_count(rig));
	blob_release(body);
	graph_free(&graph);
	rig_free(rig);
	PASS();
}

TEST a_refused_request_is_no_act(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_PRIORITY, run, "a", 1000);
	rig_act(rig, ACT_HOLD, run, "nobody", 0);
	rig_cancel(rig, 99, "");
	rig_set(rig, (struct msg_set){ .kind = OBJECT_WORKER, .verb = SET_PAUSE, .name = slice_str("nobody") });
	ASSERT_EQ(4, rig->errors);
	/* A request that changes nothing leaves no act. */
	rig_act(rig, ACT_RELEASE, run, "a", 0);
	ASSERT_EQ(1, act_count(rig));
	rig_free(rig);
	PASS();
}

TEST priorities_before_are_told_in_the_order_of_the_jobs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "e[0]", "")->priority = 4;
	graph_job(&graph, "e[1]", "")->priority = 4;
	graph_job(&graph, "e[2]", "");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_PRIORITY, run, "", 60);
	ASSERT_STR_EQ("priority run 1: 3*2 50 -> 60", said(rig));
	rig_act(rig, ACT_HOLD, run, "e[1]", 0);
	rig_act(rig, ACT_HOLD, run, "e[*]", 0);
	ASSERT_STR_EQ("hold job 1/e[*]: free held free -> held", said(rig));
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_STR_EQ("hold run 1: free -> held", said(rig));
	rig_cancel(rig, run, "");
	ASSERT_STR_EQ("cancel run 1: 3 ready -> 3 cancelled, told to end", said(rig));
	rig_free(rig);
	PASS();
}

TEST a_reason_is_kept_and_secrets_are_not(void)
{
	struct rig *rig = rig_new();
	const struct row_act *act;

	act_out(rig, ACT_REJECT);
	act = last_act(rig);
	ASSERT(slice_eq(act->reason, slice_str("because")));
	ASSERT(slice_eq(act->origin, slice_str("bench")));
	ASSERT_EQ(0, act->by_job);
	for (size_t i = 0; i < act_count(rig); i++)
		ASSERT_EQ(NULL, memmem(rig->tables[TABLE_act].at[i].row.act.after.data,
				       rig->tables[TABLE_act].at[i].row.act.after.len, "true", 4));
	rig_free(rig);
	PASS();
}

TEST a_job_is_named_where_it_speaks(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_CANCEL, .conn = 1000000 };
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	input.cancel = (struct input_cancel){ .run = run, .job = slice_str("b") };
	rig_by(&input, "ana", 1);
	input.by.caller = (struct caller){ attempt.job, attempt.epoch };
	rig_step(rig, &input);
	ASSERT(slice_eq(last_act(rig)->origin, slice_str("job 1/a")));
	ASSERT_EQ((int64_t)attempt.job, last_act(rig)->by_job);
	rig_free(rig);
	PASS();
}

static enum err reload(const struct rig *rig, struct error *error)
{
	struct outbox out = { 0 };
	struct core *core = rig_load(rig, rig->now, &out, error);

	core_free(core);
	outbox_free(&out);
	return core ? ERR_NONE : error->code;
}

/* I20: a changed or missing row of an act is found when the core loads. */
TEST a_broken_chain_is_refused(void)
{
	struct rig *rig = rig_new();
	struct rig_rows *acts = &rig->tables[TABLE_act];
	struct error error = { 0 };
	struct rig_row kept;
	struct row_act was;

	for (int i = 0; i < 4; i++) {
		struct msg_set set = set_of(OBJECT_GROUP);

		set.number = (uint64_t)i + 1;
		rig_set(rig, set);
	}
	ASSERT_EQ(4, acts->count);
	rig_restart(rig);
	was = acts->at[2].row.act;
	acts->at[2].row.act.principal = 2;
	ASSERT_EQ(ERR_STORE_TRUST, reload(rig, &error));
	ASSERT_STR_EQ("act 3: its row was changed, because it doesn't have the hash in the row", error.text);
	/* If the changed row also gets a matching hash, the next act's hash tells. */
	act_hash(&acts->at[2].row.act, (uint8_t *)(uintptr_t)was.hash.data);
	ASSERT_EQ(ERR_STORE_TRUST, reload(rig, &error));
	ASSERT_STR_EQ("act 4: the row before it was changed, because it doesn't have the hash that this row names", error.text);
	acts->at[2].row.act = was;
	act_hash(&acts->at[2].row.act, (uint8_t *)(uintptr_t)was.hash.data);
	ASSERT_EQ(ERR_NONE, reload(rig, &error));
	kept = acts->at[1];
	memmove(&acts->at[1], &acts->at[2], 2 * sizeof(kept));
	acts->count = 3;
	ASSERT_EQ(ERR_STORE_TRUST, reload(rig, &error));
	ASSERT_STR_EQ("act 2 is missing: act 3 follows act 1", error.text);
	memmove(&acts->at[2], &acts->at[1], 2 * sizeof(kept));
	acts->at[1] = kept;
	ASSERT_EQ(ERR_STORE_TRUST, reload(rig, &error));
	ASSERT_STR_EQ("act 4 is missing: the latest act in the store is act 3", error.text);
	acts->count = 4;
	ASSERT_EQ(ERR_NONE, reload(rig, &error));
	rig_free(rig);
	PASS();
}

TEST old_acts_go_and_the_latest_stays(void)
{
	struct rig *rig = rig_new();
	struct core_input prune = { .kind = INPUT_PRUNE };
	struct rig_rows *acts = &rig->tables[TABLE_act];

	for (int i = 0; i < 4; i++) {
		struct msg_set set = set_of(OBJECT_GROUP);

		set.number = (uint64_t)i + 1;
		rig_set(rig, set);
	}
	prune.prune.acts_from = 1;
	prune.prune.acts_until = 3;
	rig_step(rig, &prune);
	ASSERT_EQ(2, acts->count);
	ASSERT_EQ(3, acts->at[0].row.act.act);
	ASSERT_EQ(SHA256_SIZE, acts->at[0].row.act.previous.len);
	prune.prune.acts_until = 99;
	rig_step(rig, &prune);
	ASSERT_EQ(1, acts->count);
	ASSERT_EQ(4, acts->at[0].row.act.act);
	rig_restart(rig);
	rig_set(rig, set_of(OBJECT_LOCK));
	ASSERT_EQ(5, last_act(rig)->act);
	rig_free(rig);
	PASS();
}

SUITE(core_acts)
{
	RUN_TEST(every_verb_of_the_rights_is_an_act);
	RUN_TEST(submits_are_acts_with_their_key);
	RUN_TEST(a_refused_request_is_no_act);
	RUN_TEST(priorities_before_are_told_in_the_order_of_the_jobs);
	RUN_TEST(a_reason_is_kept_and_secrets_are_not);
	RUN_TEST(a_job_is_named_where_it_speaks);
	RUN_TEST(a_broken_chain_is_refused);
	RUN_TEST(old_acts_go_and_the_latest_stays);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_acts);
	GREATEST_MAIN_END();
}
