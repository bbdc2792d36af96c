/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The context of a run, its directory and environment: stored once, sent to a worker once, the same for every attempt.
 */
#include "tests/unit/core_grow.h"
#include "tests/unit/core_schedule.h"
#include "tests/unit/core_sub.h"

static struct slice context_make(struct rig *rig, const char *dir, const char *variable)
{
	struct slice env[] = { slice_str(variable) };
	struct rec_run_context context = { .dir = slice_str(dir), .env = { env, variable[0] ? 1 : 0 } };
	struct buf bytes = { 0 };
	struct slice copy;

	record_encode(&bytes, REC_run_context, &context);
	copy = arena_copy(&rig->arena, buf_slice(&bytes));
	buf_free(&bytes);
	return copy;
}

static struct rec_job_spec spec_of(struct rig *rig, struct slice bytes)
{
	struct rec_job_spec spec;

	CHECK(record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL) == ERR_NONE);
	return spec;
}

static uint64_t submit_jobs(struct rig *rig, unsigned count)
{
	struct graph graph = { 0 };
	char name[16];

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "j%u", i);
		graph_job(&graph, name, "");
	}
	return rig_submit(rig, &graph);
}

TEST a_worker_is_told_once(void)
{
	struct rig *rig = rig_new();
	struct outgoing told, assign;

	rig->contexts = 2;
	rig->context = context_make(rig, "/srv", "A=1");
	rig_hello(rig, "w1", 3);
	submit_jobs(rig, 7);
	ASSERT_EQ(1, rig_frames(rig, OP_CONTEXT, &told));
	ASSERT_EQ(3, rig_frames(rig, OP_ASSIGN, &assign));
	ASSERT_EQ(0, told.context.slot);
	ASSERT(slice_eq(rig->context, told.context.context));
	ASSERT_EQ(1, assign.assign.context);
	ASSERT_EQ(0, spec_of(rig, assign.assign.spec).env.n);
	rig_run_one(rig, 0);
	ASSERT_EQ(0, rig_frames(rig, OP_CONTEXT, NULL));
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &assign));
	ASSERT_EQ(1, assign.assign.context);
	rig_free(rig);
	PASS();
}

TEST a_new_connection_is_told_again(void)
{
	struct rig *rig = rig_new();
	uint64_t conn;

	rig->contexts = 2;
	rig->context = context_make(rig, "/srv", "A=1");
	conn = rig_hello(rig, "w1", 1);
	submit_jobs(rig, 2);
	ASSERT_EQ(1, rig_frames(rig, OP_CONTEXT, NULL));
	rig_gone(rig, conn);
	/* A worker that reconnects has lost the context, so the master sends it again. */
	rig_hello(rig, "w1", 1);
	ASSERT_EQ(1, rig_frames(rig, OP_CONTEXT, NULL));
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, NULL));
	rig_free(rig);
	PASS();
}

TEST slots_go_round(void)
{
	struct rig *rig = rig_new();
	struct outgoing told, assign;
	uint64_t slots[] = { 0, 1, 0 };

	rig->contexts = 2;
	rig_hello(rig, "w1", 9);
	for (size_t i = 0; i < 3; i++) {
		rig->context = context_make(rig, "/srv", i == 0 ? "A=1" : i == 1 ? "A=2" : "A=3");
		submit_jobs(rig, 1);
		ASSERT_EQ(1, rig_frames(rig, OP_CONTEXT, &told));
		ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &assign));
		ASSERT_EQ_FMT((size_t)slots[i], (size_t)told.context.slot, "%zu");
		ASSERT_EQ(told.context.slot + 1, assign.assign.context);
	}
	rig_free(rig);
	PASS();
}

TEST a_worker_without_slots_gets_whole_specifications(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice own[] = { slice_str("A=own") };
	struct outgoing assign;
	struct rec_job_spec spec;

	rig->context = context_make(rig, "/srv", "B=shared");
	rig_hello(rig, "w1", 1);
	graph_job(&graph, "a", "")->env = (struct slice_list){ own, 1 };
	rig_submit(rig, &graph);
	ASSERT_EQ(0, rig_frames(rig, OP_CONTEXT, NULL));
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &assign));
	ASSERT_EQ(0, assign.assign.context);
	spec = spec_of(rig, assign.assign.spec);
	ASSERT(slice_eq(spec.dir, slice_str("/srv")));
	ASSERT(spec.env.n == 2 && slice_eq(spec.env.at[0], own[0]) && slice_eq(spec.env.at[1], slice_str("B=shared")));
	rig_free(rig);
	PASS();
}

/* If a graph came in several parts, the context is in the first part's row alone. */
TEST the_store_has_it_once(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = 1 };
	struct graph graph[2] = { 0 };
	struct graph_part parts[2];

	for (size_t i = 0; i < 2; i++) {
		graph_job(&graph[i], i == 0 ? "a" : "b", "");
		parts[i] = (struct graph_part){ .body = graph_blob(&graph[i]), .count = 1 };
	}
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .name = slice_str("two"),
		.parts = parts, .part_count = 2, .context = context_make(rig, "/srv", "A=1"), .key = { 9 } };
	rig_step(rig, &input);
	ASSERT_EQ(2, rig->tables[TABLE_spec].count);
	ASSERT(slice_eq(input.submit.context, rig->tables[TABLE_spec].at[0].row.spec.context));
	ASSERT_EQ(0, rig->tables[TABLE_spec].at[1].row.spec.context.len);
	rig_restart(rig);
	rig->contexts = 1;
	rig_hello(rig, "w1", 2);
	ASSERT_EQ(1, rig_frames(rig, OP_CONTEXT, NULL));
	ASSERT_EQ(2, rig_frames(rig, OP_ASSIGN, NULL));
	for (size_t i = 0; i < 2; i++) {
		blob_release(parts[i].body);
		graph_free(&graph[i]);
	}
	rig_free(rig);
	PASS();
}

TEST what_is_added_has_its_own(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct outgoing told;
	uint64_t run;

	rig->contexts = 4;
	rig->context = context_make(rig, "/first", "");
	rig_hello(rig, "w1", 4);
	run = submit_jobs(rig, 1);
	rig->context = context_make(rig, "/second", "");
	graph_job(&graph, "x", "");
	ASSERT(grow(rig, run, &graph, "") > 0);
	ASSERT_EQ(1, rig_frames(rig, OP_CONTEXT, &told));
	ASSERT(slice_eq(rig->context, told.context.context));
	rig_restart(rig);
	rig_free(rig);
	PASS();
}

/* Return the context that the jobs of a sub-run get: the sub-run's own, if it has one. */
static struct slice told_below(const char *own)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct outgoing told = { 0 };
	struct rec_job_spec *job = sub_plain(&graph, "s", "");
	static uint8_t kept[64];
	struct slice bytes;

	rig->contexts = 4;
	rig->context = context_make(rig, "/up", "");
	if (own)
		job->sub_context = context_make(rig, own, "");
	rig_hello(rig, "w1", 4);
	rig_submit(rig, &graph);
	CHECK(rig_frames(rig, OP_CONTEXT, &told) == 1);
	bytes = told.context.context;
	CHECK(bytes.len <= sizeof(kept));
	memcpy(kept, bytes.data, bytes.len);
	rig_restart(rig);
	rig_free(rig);
	return slice_make(kept, bytes.len);
}

TEST a_sub_run_has_that_of_its_job_or_its_own(void)
{
	struct rig *rig = rig_new();

	ASSERT(slice_eq(context_make(rig, "/up", ""), told_below(NULL)));
	ASSERT(slice_eq(context_make(rig, "/below", ""), told_below("/below")));
	rig_free(rig);
	PASS();
}

TEST runs_of_a_schedule_have_that_of_the_schedule(void)
{
	struct rig *rig = rig_new();
	struct outgoing told;

	rig->contexts = 4;
	rig->context = context_make(rig, "/night", "A=1");
	add(rig, "0 0 * * *", OVERLAP_SKIP, CATCHUP_ONE, 0);
	ASSERT_EQ(0, rig->errors);
	rig_restart(rig);
	rig_hello(rig, "w1", 4);
	set(rig, SET_FIRE);
	ASSERT_EQ(1, rig_frames(rig, OP_CONTEXT, &told));
	ASSERT(slice_eq(rig->context, told.context.context));
	rig_free(rig);
	PASS();
}

/* A dead letter outlives its run. */
TEST a_dead_letter_says_all(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec spec;

	rig->contexts = 4;
	rig->context = context_make(rig, "/srv", "A=1");
	rig_hello(rig, "w1", 4);
	submit_jobs(rig, 1);
	rig_run_one(rig, 3);
	ASSERT_EQ(1, rig->tables[TABLE_dead].count);
	spec = spec_of(rig, rig->tables[TABLE_dead].at[0].row.dead.spec);
	ASSERT(slice_eq(spec.dir, slice_str("/srv")));
	ASSERT(spec.env.n == 1 && slice_eq(spec.env.at[0], slice_str("A=1")));
	rig_free(rig);
	PASS();
}

TEST what_cannot_be_one_is_refused(void)
{
	struct rig *rig = rig_new();
	char *long_dir = mem_zalloc(LIMIT_CONTEXT_MAX + 1);
	struct { struct slice bytes; const char *says; } wrong[] = {
		{ slice_str("nonsense"), "context" },
		{ context_make(rig, "/", "NOTHING"), "NAME=value" },
		{ context_make(rig, "/", "=x"), "NAME=value" },
		{ slice_make("\x80\x80", 2), "bytes follow" },
		{ slice_make("\x81\x01\xa1\0", 4), "zero byte" },
		{ { 0 }, "at most" },
	};

	memset(long_dir, 'd', LIMIT_CONTEXT_MAX);
	wrong[5].bytes = context_make(rig, long_dir, "");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		rig->context = wrong[i].bytes;
		ASSERT_EQ_FMT((size_t)0, (size_t)submit_jobs(rig, 1), "%zu");
		ASSERT(memmem(rig->error.text.data, rig->error.text.len, wrong[i].says, strlen(wrong[i].says)));
	}
	rig->context = (struct slice){ 0 };
	ASSERT(submit_jobs(rig, 1) > 0);
	mem_free(long_dir);
	rig_free(rig);
	PASS();
}

SUITE(core_context)
{
	RUN_TEST(a_worker_is_told_once);
	RUN_TEST(a_new_connection_is_told_again);
	RUN_TEST(slots_go_round);
	RUN_TEST(a_worker_without_slots_gets_whole_specifications);
	RUN_TEST(the_store_has_it_once);
	RUN_TEST(what_is_added_has_its_own);
	RUN_TEST(a_sub_run_has_that_of_its_job_or_its_own);
	RUN_TEST(runs_of_a_schedule_have_that_of_the_schedule);
	RUN_TEST(a_dead_letter_says_all);
	RUN_TEST(what_cannot_be_one_is_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_context);
	GREATEST_MAIN_END();
}
