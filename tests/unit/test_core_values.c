/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values: operations, limits, repeated requests, rights of jobs, ends, watches. The rig reloads the core from its rows after each turn. */
#include "tests/unit/core_rig.h"

#include "base/rand.h"

#define CLUSTER .space = SPACE_CLUSTER

static struct msg_valued answer;         /* the last one; its rows are in the outbox of the rig */

static bool ask_as(struct rig *rig, struct caller caller, struct msg_values msg)
{
	struct core_input input = { .kind = INPUT_VALUES, .conn = 1000000, .request = ++rig->request };
	struct outgoing out;

	rig_by(&input, "ana", 1);
	input.by.caller = caller;
	input.values.msg = msg;
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	if (rig_frames(rig, OP_VALUED, &out) != 1)
		return false;
	answer = out.valued;
	return true;
}

static bool ask(struct rig *rig, struct rec_value_op *ops, size_t count)
{
	return ask_as(rig, (struct caller){ 0 }, (struct msg_values){ CLUSTER, .ops = { ops, count } });
}

static bool one(struct rig *rig, enum value_verb verb, const char *key, const char *value, uint64_t version)
{
	struct rec_value_op op = { .verb = verb, .key = slice_str(key), .value = slice_str(value), .version = version, .by = (int64_t)version };

	return ask(rig, &op, 1);
}

static bool has(struct rig *rig, const char *key, const char *value)
{
	if (!one(rig, VALUES_GET, key, NULL, 0))
		return false;
	return value ? slice_eq(answer.rows.at[0].value, slice_str(value)) : answer.rows.at[0].kind == VALUE_NONE;
}

TEST values_are_set_read_and_deleted(void)
{
	struct rig *rig = rig_new();
	uint64_t first;

	ASSERT(one(rig, VALUES_SET, "a", "1", 0));
	first = answer.rows.at[0].version;
	ASSERT(has(rig, "a", "1"));
	ASSERT(one(rig, VALUES_CAS, "a", "2", first));
	ASSERT(answer.rows.at[0].version > first);
	ASSERT_FALSE(one(rig, VALUES_CAS, "a", "3", first));
	ASSERT(rig_error_says(rig, ERR_CHANGED, "not 1"));
	ASSERT_FALSE(one(rig, VALUES_ADD, "a", "3", 0));
	ASSERT(rig_error_says(rig, ERR_CHANGED, "exists already"));
	ASSERT(one(rig, VALUES_DEL, "a", NULL, 0));
	ASSERT_EQ(1, answer.rows.at[0].number);
	ASSERT(one(rig, VALUES_DEL, "a", NULL, 0));
	ASSERT_EQ(0, answer.rows.at[0].number);
	ASSERT(has(rig, "a", NULL));
	ASSERT(one(rig, VALUES_ADD, "a", "4", 0));
	ASSERT(answer.rows.at[0].version > first + 2);
	ASSERT(one(rig, VALUES_SET, "empty", "", 0));
	ASSERT(one(rig, VALUES_GET, "empty", NULL, 0));
	ASSERT_EQ(VALUE_BYTES, answer.rows.at[0].kind);
	ASSERT_FALSE(one(rig, VALUES_SET, "", "x", 0));
	ASSERT_FALSE(one(rig, (enum value_verb)99, "a", "x", 0));
	ASSERT(rig_error_says(rig, ERR_INVALID, "unknown"));
	rig_free(rig);
	PASS();
}

TEST integers_count_and_refuse_the_rest(void)
{
	static const char *const wrong[] = { "", "x", "1x", "+1", "01", "-", "-0", " 1", "9223372036854775808", "-9223372036854775809",
					     "99999999999999999999" };
	struct rig *rig = rig_new();

	ASSERT(one(rig, VALUES_INCR, "n", NULL, 5));
	ASSERT_EQ(5, answer.rows.at[0].number);
	ASSERT(one(rig, VALUES_INCR, "n", NULL, (uint64_t)-7));
	ASSERT_EQ(-2, answer.rows.at[0].number);
	ASSERT(has(rig, "n", "-2"));
	ASSERT(one(rig, VALUES_SET, "n", "9223372036854775807", 0));
	ASSERT_FALSE(one(rig, VALUES_INCR, "n", NULL, 1));
	ASSERT(rig_error_says(rig, ERR_INVALID, "range"));
	ASSERT(one(rig, VALUES_SET, "n", "-9223372036854775808", 0));
	ASSERT_FALSE(one(rig, VALUES_INCR, "n", NULL, (uint64_t)-1));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ASSERT(one(rig, VALUES_SET, "n", wrong[i], 0));
		ASSERT_FALSE(one(rig, VALUES_INCR, "n", NULL, 1));
		ASSERT(rig_error_says(rig, ERR_INVALID, "isn't an integer"));
		ASSERT(has(rig, "n", wrong[i]));
	}
	rig_free(rig);
	PASS();
}

TEST sets_have_each_member_once(void)
{
	struct rec_value_op list = { .verb = VALUES_MEMBERS, .key = slice_str("s") };
	struct rig *rig = rig_new();

	ASSERT(one(rig, VALUES_SADD, "s", "b", 0) && answer.rows.at[0].number == 1);
	ASSERT(one(rig, VALUES_SADD, "s", "b", 0) && answer.rows.at[0].number == 0);
	ASSERT(one(rig, VALUES_SADD, "s", "a", 0) && answer.rows.at[0].number == 1);
	ASSERT(one(rig, VALUES_SADD, "s", "ab", 0) && answer.rows.at[0].number == 1);
	ASSERT(ask(rig, &list, 1));
	ASSERT_EQ(3, answer.rows.n);
	ASSERT(slice_eq(answer.rows.at[0].key, slice_str("a")) && slice_eq(answer.rows.at[1].key, slice_str("ab")));
	list.value = slice_str("a");
	list.limit = 1;
	ASSERT(ask(rig, &list, 1));
	ASSERT(answer.rows.n == 1 && slice_eq(answer.rows.at[0].key, slice_str("ab")) && answer.more);
	ASSERT(one(rig, VALUES_SREM, "s", "x", 0) && answer.rows.at[0].number == 0);
	ASSERT(one(rig, VALUES_SREM, "s", "ab", 0) && answer.rows.at[0].number == 1);
	ASSERT(one(rig, VALUES_SREM, "s", "a", 0) && one(rig, VALUES_SREM, "s", "b", 0));
	ASSERT(has(rig, "s", NULL));
	ASSERT(one(rig, VALUES_SET, "s", "text", 0));
	ASSERT_FALSE(one(rig, VALUES_SADD, "s", "a", 0));
	ASSERT(rig_error_says(rig, ERR_INVALID, "isn't a set"));
	rig_free(rig);
	PASS();
}

TEST request_is_done_whole_or_not_at_all(void)
{
	struct rec_value_op ops[] = {
		{ .verb = VALUES_SET, .key = slice_str("a"), .value = slice_str("new") },
		{ .verb = VALUES_DEL, .key = slice_str("b") },
		{ .verb = VALUES_INCR, .key = slice_str("n"), .by = 3 },
		{ .verb = VALUES_INCR, .key = slice_str("n"), .by = 4 },
		{ .verb = VALUES_CHECK, .key = slice_str("b"), .version = 77 },
	};
	struct rig *rig = rig_new();
	uint64_t before;

	ASSERT(one(rig, VALUES_SET, "a", "old", 0) && one(rig, VALUES_SET, "b", "old", 0));
	before = answer.revision;
	ASSERT_FALSE(ask(rig, ops, 5));
	ASSERT(rig_error_says(rig, ERR_CHANGED, "operation 5 of 5"));
	ASSERT(has(rig, "a", "old") && has(rig, "b", "old") && has(rig, "n", NULL));
	ops[4].version = 0;              /* deleted by the second operation */
	ASSERT(ask(rig, ops, 5));
	ASSERT_EQ(7, answer.rows.at[3].number);
	ASSERT_EQ(before + 1, answer.revision);
	ASSERT(has(rig, "a", "new") && has(rig, "b", NULL) && has(rig, "n", "7"));
	rig_free(rig);
	PASS();
}

TEST dry_run_is_answered_and_changes_nothing(void)
{
	struct rec_value_op ops[LIMIT_VALUE_OPS_MAX + 1] = {
		{ .verb = VALUES_SET, .key = slice_str("a"), .value = slice_str("new") },
		{ .verb = VALUES_INCR, .key = slice_str("n"), .by = 3 },
		{ .verb = VALUES_DRY_RUN },
	};
	struct rig *rig = rig_new();
	uint64_t before;

	ASSERT(one(rig, VALUES_SET, "a", "old", 0) && one(rig, VALUES_INCR, "n", NULL, 4));
	before = answer.revision;
	ASSERT(ask(rig, ops, 3));
	ASSERT(answer.rows.n == 2 && answer.rows.at[1].number == 7);
	ASSERT_EQ(before, answer.revision);
	ASSERT(has(rig, "a", "old") && has(rig, "n", "4"));
	/* What would be refused is. */
	ops[0].verb = VALUES_ADD;
	ASSERT_FALSE(ask(rig, ops, 3));
	ASSERT(rig_error_says(rig, ERR_CHANGED, "operation 1 of 2"));
	/* It stands behind other operations, and doesn't count among the most. */
	ASSERT_FALSE(ask(rig, &ops[2], 1));
	ops[1] = ops[2];
	ops[2] = ops[0];
	ASSERT_FALSE(ask(rig, ops, 3));
	for (size_t i = 0; i < LIMIT_VALUE_OPS_MAX; i++)
		ops[i] = (struct rec_value_op){ .verb = VALUES_SET, .key = slice_make(&"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"[i], 1) };
	ops[LIMIT_VALUE_OPS_MAX] = (struct rec_value_op){ .verb = VALUES_DRY_RUN };
	ASSERT(ask(rig, ops, LIMIT_VALUE_OPS_MAX + 1));
	ASSERT_EQ(LIMIT_VALUE_OPS_MAX, answer.rows.n);
	ASSERT(has(rig, "a", "old") && has(rig, "0", NULL));
	ops[LIMIT_VALUE_OPS_MAX].verb = VALUES_GET;
	ASSERT_FALSE(ask(rig, ops, LIMIT_VALUE_OPS_MAX + 1));
	rig_free(rig);
	PASS();
}

TEST repeated_request_is_done_once(void)
{
	struct rec_value_op op = { .verb = VALUES_INCR, .key = slice_str("n"), .by = 1 };
	struct msg_values msg = { CLUSTER, .ops = { &op, 1 }, .request = slice_str("0123456789abcdef") };
	struct rig *rig = rig_new();

	ASSERT(ask_as(rig, (struct caller){ 0 }, msg) && answer.rows.at[0].number == 1);
	ASSERT(one(rig, VALUES_INCR, "n", NULL, 10));
	ASSERT(ask_as(rig, (struct caller){ 0 }, msg) && answer.rows.at[0].number == 1);
	rig_restart(rig);
	ASSERT(ask_as(rig, (struct caller){ 0 }, msg) && answer.rows.at[0].number == 1);
	ASSERT(has(rig, "n", "11"));
	op.by = 2;
	ASSERT_FALSE(ask_as(rig, (struct caller){ 0 }, msg));
	ASSERT(rig_error_says(rig, ERR_KEY_REUSED, "before"));
	msg.request = slice_str("short");
	ASSERT_FALSE(ask_as(rig, (struct caller){ 0 }, msg));
	rig_free(rig);
	PASS();
}

TEST value_ends_over_a_restart(void)
{
	struct rec_value_op op = { .verb = VALUES_SET, .key = slice_str("a"), .value = slice_str("x"), .ttl_ms = 60000 };
	struct rig *rig = rig_new();

	ASSERT(ask(rig, &op, 1) && answer.rows.at[0].until_ms > 0);
	op.key = slice_str("kept");
	ASSERT(ask(rig, &op, 1));
	rig_pass(rig, 30000);
	rig_restart(rig);
	ASSERT(has(rig, "a", "x"));
	ASSERT(one(rig, VALUES_TOUCH, "kept", NULL, 0));
	rig_pass(rig, 31000);
	ASSERT(has(rig, "a", NULL));
	ASSERT(has(rig, "kept", "x"));
	ASSERT_FALSE(one(rig, VALUES_TOUCH, "a", NULL, 0));
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "doesn't exist"));
	rig_free(rig);
	PASS();
}

TEST limits_hold(void)
{
	struct rec_value_op ops[LIMIT_VALUE_OPS_MAX + 1];
	char *big = mem_zalloc(LIMIT_VALUE_MAX + 1);
	struct rig *rig = rig_new();

	rig->reload_every = 0;
	memset(ops, 0, sizeof(ops));
	for (size_t i = 0; i <= LIMIT_VALUE_OPS_MAX; i++)
		ops[i] = (struct rec_value_op){ .verb = VALUES_SET, .key = slice_make(&"abcdefghijklmnopqrstuvwxyz"[i % 26], 1), .value = slice_str("x") };
	ASSERT_FALSE(ask(rig, ops, LIMIT_VALUE_OPS_MAX + 1));
	ASSERT(ask(rig, ops, LIMIT_VALUE_OPS_MAX));
	ASSERT_FALSE(ask(rig, ops, 0));
	ops[0].value = slice_make(big, LIMIT_VALUE_MAX + 1);
	ASSERT_FALSE(ask(rig, ops, 1));
	ops[0].value.len = LIMIT_VALUE_MAX;
	ASSERT(ask(rig, ops, 1));
	for (size_t i = 0; i < 9; i++)
		ops[i].value = ops[0].value;
	ASSERT_FALSE(ask(rig, ops, 9));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "512 KiB"));
	/* A namespace has room for 64 MiB; each key counts a little more than its bytes. */
	for (int i = 0; i < 1025; i++) {
		char key[16];
		int len = snprintf(key, sizeof(key), "key%d", i);

		ops[0].key = slice_make(key, (size_t)len);
		if (!ask(rig, ops, 1))
			break;
		rig->now.mono_ns++;
	}
	ASSERT(rig_error_says(rig, ERR_FULL, "64 MiB"));
	ASSERT(one(rig, VALUES_DEL, "key1", NULL, 0));
	core_check(rig->core);
	mem_free(big);
	rig_free(rig);
	PASS();
}

TEST watch_is_told_the_latest_of_each_key(void)
{
	struct msg_values_changed changed = { 0 };
	struct rig *rig = rig_new();
	const struct slice none = { 0 };

	ASSERT(one(rig, VALUES_SET, "x/1", "a", 0) && one(rig, VALUES_SET, "y", "b", 0) && one(rig, VALUES_SET, "x/2", "c", 0));
	ASSERT(one(rig, VALUES_SET, "x/1", "d", 0));
	rig_restart(rig);
	ASSERT(view_values_after(rig->core, 0, none, slice_str("x/"), 0, view_revision(rig->core), 1024, &rig->arena, &changed));
	ASSERT_EQ(2, changed.rows.n);
	ASSERT(slice_eq(changed.rows.at[0].key, slice_str("x/2")) && slice_eq(changed.rows.at[1].value, slice_str("d")));
	ASSERT(one(rig, VALUES_DEL, "x/2", NULL, 0));
	rig_restart(rig);
	changed = (struct msg_values_changed){ .revision = changed.revision };
	ASSERT(view_values_after(rig->core, 0, none, slice_str("x/"), changed.revision, 1, 1024, &rig->arena, &changed));
	ASSERT(changed.rows.n == 1 && changed.rows.at[0].kind == VALUE_NONE);
	for (int i = 0; i <= LIMIT_VALUE_DELETED_MAX; i++) {
		char key[16];

		snprintf(key, sizeof(key), "d%d", i);
		rig->reload_every = 0;
		ASSERT(one(rig, VALUES_SET, key, "x", 0) && one(rig, VALUES_DEL, key, NULL, 0));
	}
	core_check(rig->core);
	rig_restart(rig);
	changed = (struct msg_values_changed){ 0 };
	ASSERT(view_values_after(rig->core, 0, none, none, 2, 2, 1024, &rig->arena, &changed));
	ASSERT(changed.compacted);
	rig_free(rig);
	PASS();
}

/* Take all pages of a watch that begins with all keys; returns how many keys it is told, or 0 if it must begin anew. */
static size_t told_from_the_begin(struct rig *rig)
{
	struct msg_values_changed changed = { .more = true };
	uint64_t began = view_revision(rig->core);
	const struct slice none = { 0 };
	size_t count = 0;

	while (changed.more) {
		uint64_t told = changed.revision;

		changed = (struct msg_values_changed){ 0 };
		view_values_after(rig->core, 0, none, none, told, began, 2 * LIMIT_VALUE_OPS_MAX, &rig->arena, &changed);
		count += changed.rows.n;
		if (changed.compacted)
			return 0;
	}
	return count;
}

TEST watch_with_several_pages_outlives_what_was_forgotten(void)
{
	struct row generation = { .table = TABLE_meta, .meta = { .name = slice_str("generation"), .value = 2 } };
	struct rig *rig = rig_new();
	char key[16];

	rig->reload_every = 0;
	for (int i = 0; i < 300; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		ASSERT(one(rig, VALUES_SET, key, "x", 0));
	}
	ASSERT_EQ(300, told_from_the_begin(rig));
	for (int i = 0; i <= LIMIT_VALUE_DELETED_MAX; i++) {
		snprintf(key, sizeof(key), "d%d", i);
		ASSERT(one(rig, VALUES_SET, key, "x", 0) && one(rig, VALUES_DEL, key, NULL, 0));
	}
	ASSERT_EQ(300, told_from_the_begin(rig));
	/* A restore: the keys have revisions of the generation before. */
	rig_put(rig, &generation);
	rig_restart(rig);
	ASSERT(view_revision(rig->core) >> 40 == 1);
	ASSERT_EQ(300, told_from_the_begin(rig));
	rig_free(rig);
	PASS();
}

/* Random requests against a model of a few keys, with a reload after each turn. */
TEST random_requests_fit_a_model(void)
{
	static const char *const keys[] = { "a", "b", "c", "d" };
	struct rig *rig = rig_new();
	struct rand_state rand;
	int64_t model[4] = { 0 };
	bool there[4] = { false };

	rand_seed(&rand, 19);
	for (int i = 0; i < 400; i++) {
		size_t at = rand_next(&rand) % 4;
		uint64_t by = rand_next(&rand) % 9;

		switch (rand_next(&rand) % 5) {
		case 0:
		case 1:
			ASSERT(one(rig, VALUES_INCR, keys[at], NULL, by));
			model[at] = (there[at] ? model[at] : 0) + (int64_t)by;
			there[at] = true;
			ASSERT_EQ(model[at], answer.rows.at[0].number);
			break;
		case 2:
			ASSERT(one(rig, VALUES_DEL, keys[at], NULL, 0));
			ASSERT_EQ(there[at], answer.rows.at[0].number == 1);
			there[at] = false;
			break;
		case 3:
			ASSERT_EQ(!there[at], one(rig, VALUES_ADD, keys[at], "7", 0));
			model[at] = there[at] ? model[at] : 7;
			there[at] = true;
			break;
		default:
			rig_restart(rig);
		}
	}
	rig_free(rig);
	PASS();
}

TEST job_has_its_run_and_what_it_was_granted(void)
{
	struct graph graph = { 0 };
	struct slice grants[] = { slice_str("cluster:b/") };
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct caller caller;
	struct rec_value_op op = { .verb = VALUES_SET, .key = slice_str("b/1"), .value = slice_str("x") };
	struct msg_values run = { .space = SPACE_RUN, .ops = { &op, 1 } }, cluster = { CLUSTER, .ops = { &op, 1 } };
	uint64_t number;

	graph_job(&graph, "j", "")->kv_write = (struct slice_list){ grants, 1 };
	number = rig_submit(rig, &graph);

	rig_hello(rig, "w", 1);
	ASSERT(rig_take(rig, &attempt));
	caller = (struct caller){ attempt.job, attempt.epoch };
	run.request = slice_str("0123456789abcdef");
	ASSERT(ask_as(rig, caller, run));
	run.request.len = 0;
	ASSERT(ask_as(rig, caller, cluster));
	op.key = slice_str("c");
	ASSERT_FALSE(ask_as(rig, caller, cluster));
	ASSERT(rig_error_says(rig, ERR_DENIED, "may not change 'cluster:c'"));
	run.run = number + 1;
	ASSERT_FALSE(ask_as(rig, caller, run));
	run.run = number;
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_FALSE(ask_as(rig, caller, run));
	ASSERT_FALSE(ask_as(rig, (struct caller){ 0 }, run));
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "has ended"));
	/* What was done before the end is answered again. */
	op.key = slice_str("b/1");
	run.run = 0;
	run.request = slice_str("0123456789abcdef");
	ASSERT(ask_as(rig, caller, run));
	run.run = number;
	run.request.len = 0;
	op = (struct rec_value_op){ .verb = VALUES_GET, .key = slice_str("b/1") };
	ASSERT(ask_as(rig, (struct caller){ 0 }, run));
	ASSERT_EQ(VALUE_BYTES, answer.rows.at[0].kind);
	rig_free(rig);
	PASS();
}

SUITE(values)
{
	RUN_TEST(values_are_set_read_and_deleted);
	RUN_TEST(integers_count_and_refuse_the_rest);
	RUN_TEST(sets_have_each_member_once);
	RUN_TEST(request_is_done_whole_or_not_at_all);
	RUN_TEST(dry_run_is_answered_and_changes_nothing);
	RUN_TEST(repeated_request_is_done_once);
	RUN_TEST(value_ends_over_a_restart);
	RUN_TEST(limits_hold);
	RUN_TEST(watch_is_told_the_latest_of_each_key);
	RUN_TEST(watch_with_several_pages_outlives_what_was_forgotten);
	RUN_TEST(random_requests_fit_a_model);
	RUN_TEST(job_has_its_run_and_what_it_was_granted);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(values);
	GREATEST_MAIN_END();
}
