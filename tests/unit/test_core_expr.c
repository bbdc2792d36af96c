/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Needs and conditions that are expressions: decided early and once, again in a new round, and after a restart. */
#include "proto/expr.h"
#include "tests/unit/core_rig.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

/* Set the triggers that say that the parents count only in the job's expression. */
static void only_asked(struct graph *graph, struct rec_job_spec *spec)
{
	uint64_t *triggers = arena_alloc(&graph->arena, 64 * sizeof(*triggers));

	for (size_t i = 0; i < spec->needs.n; i++)
		triggers[i] = TRIGGER_EXPR;
	spec->triggers.at = triggers;
}

static struct slice code_of(struct graph *graph, const struct expr_step *steps, size_t count)
{
	struct buf buf = { 0 };
	struct slice code;

	for (size_t i = 0; i < count; i++)
		expr_put(&buf, steps[i]);
	code = arena_copy(&graph->arena, buf_slice(&buf));
	buf_free(&buf);
	return code;
}

#define CODE(graph, ...) \
	code_of(graph, (const struct expr_step[]){ __VA_ARGS__ }, \
		sizeof((const struct expr_step[]){ __VA_ARGS__ }) / sizeof(struct expr_step))
#define OK_OF(first, count) { EXPR_STATE, first, count, 1u << STATE_SUCCEEDED }
#define GATE(least, of) { EXPR_GATE, least, of, 0 }

static uint64_t submit_join(struct rig *rig, uint64_t least)
{
	struct graph graph = { 0 };
	struct rec_job_spec *join;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "");
	join = graph_job(&graph, "join", "a b c");
	only_asked(&graph, join);
	join->needs_code = CODE(&graph, OK_OF(0, 3), GATE(least, 3));
	graph_job(&graph, "behind", "join");
	return rig_submit(rig, &graph);
}

/* An expression may name jobs that come later in the graph, and all other jobs. */
TEST needs_may_name_later_jobs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *join;
	uint64_t run;

	join = graph_job(&graph, "join", "");
	join->needs = (struct u64_list){ .at = join->needs.at, .n = 2 };
	join->needs.at[0] = 1;
	join->needs.at[1] = 2;
	join->triggers.n = 2;
	only_asked(&graph, join);
	join->needs_code = CODE(&graph, OK_OF(0, 2), GATE(1, 2));
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "join"));
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "join"));
	rig_free(rig);
	PASS();
}

TEST join_begins_with_two_of_three(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_join(rig, 2);

	rig_hello(rig, "w", 2);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "join"));
	rig_run_one(rig, 0);
	ASSERT(strcmp("waiting", rig_state_named(rig, run, "join")) != 0);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "c"));
	rig_restart(rig);
	ASSERT(strcmp("waiting", rig_state_named(rig, run, "join")) != 0);
	rig_hello(rig, "w", 2);
	rig_pass(rig, 1);
	rig_run_all(rig);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "behind"));
	rig_free(rig);
	PASS();
}

TEST join_is_skipped_after_two_of_three_failed(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_join(rig, 2);

	rig_hello(rig, "w", 1);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "join"));
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "join"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "behind"));
	ASSERT_EQ(rig_named(rig, run, "b") + 1, rig_job(rig, rig_named(rig, run, "join")).cause);
	ASSERT(!rig_job(rig, rig_named(rig, run, "join")).condition_false);
	rig_run_all(rig);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "join"));
	rig_free(rig);
	PASS();
}

/* Submit check.code == 3 -> three, check.code == 4 -> four, and the jobs behind both. */
static uint64_t submit_switch(struct rig *rig)
{
	struct graph graph = { 0 };

	graph_job(&graph, "check", "");
	graph_job(&graph, "three", "check*")->when_code = CODE(&graph, { EXPR_CODE, 0, EXPR_EQ, 3 });
	graph_job(&graph, "four", "check*")->when_code = CODE(&graph, { EXPR_CODE, 0, EXPR_EQ, 4 });
	graph_job(&graph, "behind", "four");
	graph_job(&graph, "last", "three* four*");
	return rig_submit(rig, &graph);
}

TEST condition_takes_one_branch(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_switch(rig);

	rig_hello(rig, "w", 1);
	rig_run_one(rig, 3);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "three"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "four"));
	ASSERT(rig_job(rig, rig_named(rig, run, "four")).condition_false);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "behind"));
	ASSERT(!rig_job(rig, rig_named(rig, run, "behind")).condition_false);
	rig_restart(rig);
	ASSERT(rig_job(rig, rig_named(rig, run, "four")).condition_false);
	rig_hello(rig, "w", 1);
	rig_pass(rig, 1);
	rig_run_all(rig);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "last"));
	rig_free(rig);
	PASS();
}

TEST new_round_takes_another_branch(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_switch(rig);

	rig_hello(rig, "w", 1);
	rig_run_one(rig, 3);
	rig_act(rig, ACT_RETRY, run, "check", RETRY_FROM);
	ASSERT_EQ(0, rig->errors);
	/* The branch taken before the retry has an attempt, which goes on; its result no longer counts. */
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "four"));
	ASSERT(!rig_job(rig, rig_named(rig, run, "four")).condition_false);
	rig_run_one(rig, 0);
	rig_run_one(rig, 4);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "four"));
	rig_run_all(rig);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "behind"));
	rig_free(rig);
	PASS();
}

TEST join_waits_for_retried_parent(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_join(rig, 2);

	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_RETRY, run, "a", RETRY_ONLY);
	ASSERT_EQ(0, rig->errors);
	rig_run_one(rig, 0);             /* b */
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "join"));
	rig_run_all(rig);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "join"));
	rig_free(rig);
	PASS();
}

/*
 * The gate opened because of d alone. Its other parent, c, hadn't started and now waits for a again; the gate stays
 * open.
 */
TEST gate_opened_without_a_parent_stays_open(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "d", "");
	graph_job(&graph, "c", "a");
	gate = graph_job(&graph, "gate", "d c");
	gate->gate_count = 1;
	gate->needs = (struct u64_list){ .at = (uint64_t[]){ 1, 2 }, .n = 2 };
	only_asked(&graph, gate);
	gate->needs_code = CODE(&graph, OK_OF(0, 2), GATE(1, 2));
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_HOLD, run, "c", 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "gate"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "c"));
	rig_act(rig, ACT_RETRY, run, "a", RETRY_ONLY);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "c"));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "gate"));
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		ASSERT(!(rig->tables[TABLE_job].at[i].row.job.flags & ROW_JOB_LOOSE));
	rig_free(rig);
	PASS();
}

/* A vote given while a parent still ran is void when the parent ends, with and without a restart in between. */
TEST parent_that_ends_later_voids_votes(void)
{
	for (int restarts = 0; restarts < 2; restarts++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *gate;
		uint64_t run;

		graph_job(&graph, "a", "");
		graph_job(&graph, "b", "");
		gate = graph_job(&graph, "gate", "a b");
		gate->argv.n = 0;
		gate->gate_count = 2;
		only_asked(&graph, gate);
		gate->needs_code = CODE(&graph, OK_OF(0, 2), GATE(1, 2));
		run = rig_submit(rig, &graph);
		rig_hello(rig, "w", 1);
		rig_run_one(rig, 0);
		rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "gate", 0);
		ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "gate")).gate_have);
		rig_run_one(rig, 3);     /* b */
		if (restarts)
			rig_restart(rig);
		ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "gate")).gate_have);
		rig_act_as(rig, "cleo", 3, ACT_APPROVE, run, "gate", 0);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "gate"));
		rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "gate", 0);
		ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "gate"));
		rig_free(rig);
	}
	PASS();
}

/* A parent that starts changes nothing that the gate shows, so votes stay. */
TEST parent_that_starts_keeps_votes(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	gate = graph_job(&graph, "gate", "a b");
	gate->gate_count = 2;
	only_asked(&graph, gate);
	gate->needs_code = CODE(&graph, OK_OF(0, 2), GATE(1, 2));
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "gate", 0);
	rig_started(rig, rig_must_take(rig));
	rig_restart(rig);
	ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "gate")).gate_have);
	rig_free(rig);
	PASS();
}

TEST constant_condition_is_decided_at_submit(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "never", "a")->when_code = CODE(&graph, { .op = EXPR_FALSE });
	graph_job(&graph, "alone", "")->when_code = CODE(&graph, { .op = EXPR_FALSE }, { .op = EXPR_NOT });
	graph_job(&graph, "behind", "never");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "never"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "behind"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "alone"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST join_of_2000_begins_with_1990(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *join;
	char name[32];
	uint64_t run, all[2000], triggers[2000];

	rig->reload_every = 331;
	rig_hello(rig, "w", 16);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "leaf-%d", i);
		graph_job(&graph, name, "");
		all[i] = (uint64_t)i;
		triggers[i] = TRIGGER_EXPR;
	}
	join = graph_job(&graph, "join", "");
	join->needs = (struct u64_list){ .at = all, .n = 2000 };
	join->triggers = (struct u64_list){ .at = triggers, .n = 2000 };
	join->needs_code = CODE(&graph, OK_OF(0, 2000), GATE(1990, 2000));
	run = rig_submit(rig, &graph);
	for (int i = 0; i < 1989; i++)
		rig_run_one(rig, i < 10);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "join"));
	ASSERT_EQ(12, rig_run_all(rig));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "join"));
	rig_free(rig);
	PASS();
}

static bool refused(const struct expr_step *steps, size_t count, const char *words)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	bool is;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a")->when_code = code_of(&graph, steps, count);
	is = rig_submit(rig, &graph) == 0 && rig_error_says(rig, ERR_INVALID, words);
	rig_free(rig);
	return is;
}

#define REFUSED(words, ...) \
	ASSERT(refused((const struct expr_step[]){ __VA_ARGS__ }, \
		       sizeof((const struct expr_step[]){ __VA_ARGS__ }) / sizeof(struct expr_step), words))

TEST wrong_code_is_refused(void)
{
	struct expr_step deep[LIMIT_EXPR_DEPTH + 2] = { OK_OF(0, 1) };

	REFUSED("it uses a need that doesn't exist", OK_OF(1, 1));
	REFUSED("it uses a need that doesn't exist", OK_OF(0, 2));
	REFUSED("it uses a need that doesn't exist", OK_OF(0, 0));
	REFUSED("it tests for a state that isn't terminal", { EXPR_STATE, 0, 1, 1u << STATE_READY });
	REFUSED("it uses an unknown comparison", { EXPR_CODE, 0, EXPR_COMPARE_COUNT, 0 });
	REFUSED("a value is missing", { .op = EXPR_NOT });
	REFUSED("a value is missing", OK_OF(0, 1), GATE(1, 2));
	REFUSED("it requires more values than there are, or none", OK_OF(0, 1), GATE(0, 1));
	REFUSED("it requires more values than there are, or none", OK_OF(0, 1), GATE(2, 1));
	REFUSED("it doesn't leave exactly one value", OK_OF(0, 1), OK_OF(0, 1));
	for (size_t i = 1; i < LIMIT_EXPR_DEPTH + 2; i++)
		deep[i].op = EXPR_NOT;
	ASSERT(refused(deep, LIMIT_EXPR_DEPTH + 2, "nested too deep"));
	PASS();
}

SUITE(expressions)
{
	RUN_TEST(needs_may_name_later_jobs);
	RUN_TEST(join_begins_with_two_of_three);
	RUN_TEST(join_is_skipped_after_two_of_three_failed);
	RUN_TEST(condition_takes_one_branch);
	RUN_TEST(new_round_takes_another_branch);
	RUN_TEST(join_waits_for_retried_parent);
	RUN_TEST(gate_opened_without_a_parent_stays_open);
	RUN_TEST(parent_that_ends_later_voids_votes);
	RUN_TEST(parent_that_starts_keeps_votes);
	RUN_TEST(constant_condition_is_decided_at_submit);
	RUN_TEST(join_of_2000_begins_with_1990);
	RUN_TEST(wrong_code_is_refused);
}

/* An added job that is skipped names the first cause in the order of its needs, whichever ended first. */
TEST skipped_added_job_names_its_cause(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "z", "a* b*")->delay_ms = 60000;
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	rig_run_one(rig, 1);
	job = added(&graph, "c", 0, TRIGGER_EXPR);
	need_old(job, 1, TRIGGER_EXPR);
	job->needs_code = CODE(&graph, OK_OF(0, 2), { EXPR_GATE, 2, 2, 0 });
	ASSERT(grow(rig, run, &graph, "b a") != 0);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "c"));
	ASSERT_EQ(rig_named(rig, run, "b") + 1, rig_job(rig, rig_named(rig, run, "c")).cause);
	rig_free(rig);
	PASS();
}

/* If a job's needs can't be met, its condition isn't blamed, in any round. */
TEST job_skipped_by_its_needs_has_no_false_condition(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "check", "");
	job = graph_job(&graph, "fix", "check");
	job->when_code = CODE(&graph, { EXPR_CODE, 0, EXPR_EQ, 3 });
	job->when = slice_str("check.code == 3");
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 4);
	for (int round = 0; round < 2; round++) {
		ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "fix"));
		ASSERT_FALSE(rig_job(rig, rig_named(rig, run, "fix")).condition_false);
		rig_act(rig, ACT_RETRY, run, "fix", RETRY_FROM);
	}
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(expressions);
	RUN_TEST(skipped_added_job_names_its_cause);
	RUN_TEST(job_skipped_by_its_needs_has_no_false_condition);
	GREATEST_MAIN_END();
}
