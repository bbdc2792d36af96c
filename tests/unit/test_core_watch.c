/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watchers are told of each change in the turn in which it happens. */
#include "proto/expr.h"
#include "proto/reasons.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

static size_t told(const struct rig *rig, enum changed_kind kind, uint64_t id)
{
	size_t count = 0;

	for (size_t i = 0; i < rig->out.change_count; i++)
		count += rig->out.changes[i].kind == kind && rig->out.changes[i].id == id;
	return count;
}

/* A job that becomes ready because of other jobs gets no row of its own, but watchers are told. */
TEST watchers_see_job_become_ready(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, job;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a")->only_worker = slice_str("other");
	run = rig_submit(rig, &graph);
	job = rig_named(rig, run, "b");
	rig_run_one(rig, 0);
	ASSERT_EQ(STATE_READY, rig_state(rig, job));
	ASSERT_EQ(1, told(rig, CHANGED_JOB, job));
	rig_free(rig);
	PASS();
}

TEST watchers_see_end_of_run_as_such(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	ASSERT(told(rig, CHANGED_RUN, run) == 1 && told(rig, CHANGED_RUN_ENDED, run) == 0);
	rig_run_one(rig, 0);
	ASSERT(told(rig, CHANGED_RUN, run) == 0 && told(rig, CHANGED_RUN_ENDED, run) == 1);
	rig_free(rig);
	PASS();
}

TEST watchers_see_each_vote(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate = graph_job(&graph, "gate", "");
	uint64_t run;

	gate->gate_count = 2;
	gate->argv.n = 0;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_APPROVE, run, "gate", 0);
	ASSERT_EQ(STATE_APPROVAL, rig_state(rig, 1));
	ASSERT_EQ(1, told(rig, CHANGED_JOB, 1));
	ASSERT_EQ(1, rig->tables[TABLE_decision].count);
	ASSERT(slice_eq(slice_str("because"), rig->tables[TABLE_decision].at[0].row.decision.reason));
	rig_free(rig);
	PASS();
}

TEST watchers_see_slots_and_load_of_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t conn = rig_hello(rig, "w", 1);

	graph_job(&graph, "a", "");
	rig_submit(rig, &graph);
	ASSERT_EQ(1, told(rig, CHANGED_WORKER, 1));
	rig_run_one(rig, 0);
	ASSERT_EQ(1, told(rig, CHANGED_WORKER, 1));
	rig_heartbeat(rig, conn);
	ASSERT_EQ(1, told(rig, CHANGED_WORKER, 1));
	rig_free(rig);
	PASS();
}

TEST watchers_see_added_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, first;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	added(&graph, "b", 0, TRIGGER_OK);
	first = grow(rig, run, &graph, "a");
	ASSERT_EQ(STATE_WAITING, rig_state(rig, first));
	ASSERT_EQ(1, told(rig, CHANGED_JOB, first));
	rig_free(rig);
	PASS();
}

static struct rec_job_spec *gate_job(struct graph *graph, const char *name, const char *needs, uint64_t count)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = count;
	job->argv.n = 0;
	return job;
}

static size_t told_of_job(const struct rig *rig, uint64_t job)
{
	size_t count = 0;

	for (size_t i = 0; i < rig->out.change_count; i++)
		count += rig->out.changes[i].kind == CHANGED_JOB && rig->out.changes[i].id == job;
	return count;
}

/* Watchers of a gate see that its votes became void when a job was added. */
TEST watchers_see_gate_lose_votes_to_added_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *more;
	uint64_t run, gate;

	gate_job(&graph, "ok", "", 2);
	graph_job(&graph, "b", "ok");
	run = rig_submit(rig, &graph);
	gate = rig_named(rig, run, "ok");
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	ASSERT_EQ(1, rig_job(rig, gate).gate_have);
	graph_job(&graph, "apart", "");
	ASSERT(grow(rig, run, &graph, "") != 0);
	ASSERT_EQ(0, told_of_job(rig, gate));
	ASSERT_EQ(1, rig_job(rig, gate).gate_have);
	more = added(&graph, "more", 0, TRIGGER_OK);
	need_old(more, 1, TRIGGER_OK);
	ASSERT(grow(rig, run, &graph, "ok b") != 0);
	ASSERT_EQ(0, rig_job(rig, gate).gate_have);
	ASSERT_EQ(1, told_of_job(rig, gate));
	rig_free(rig);
	PASS();
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

TEST watchers_see_gate_when_parent_ends(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	job = gate_job(&graph, "ok", "a b", 1);
	job->triggers.at[0] = job->triggers.at[1] = TRIGGER_EXPR;
	job->needs_code = CODE(&graph, OK_OF(0, 2), { EXPR_GATE, 1, 2, 0 });
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	rig_run_one(rig, 0);
	ASSERT_EQ(1, told_of_job(rig, rig_named(rig, run, "ok")));
	rig_free(rig);
	PASS();
}

static uint64_t submit_one(struct rig *rig, enum exec_mode mode)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->mode = mode;
	return rig_submit(rig, &graph);
}

static size_t told_of_worker(const struct rig *rig, uint64_t number)
{
	size_t count = 0;

	for (size_t i = 0; i < rig->out.change_count; i++)
		count += rig->out.changes[i].kind == CHANGED_WORKER && rig->out.changes[i].id == number;
	return count;
}

TEST watchers_see_worker_once_a_turn(void)
{
	struct rig *rig = rig_new();
	uint64_t conn;

	rig_hello(rig, "first", 1);
	ASSERT_EQ(1, told_of_worker(rig, 1));
	conn = rig_hello(rig, "second", 1);
	ASSERT_EQ(0, told_of_worker(rig, 1));
	ASSERT_EQ(1, told_of_worker(rig, 2));
	rig_gone(rig, conn);
	ASSERT_EQ(1, told_of_worker(rig, 2));
	submit_one(rig, EXEC_RETRY);
	ASSERT_EQ(1, told_of_worker(rig, 1));
	rig_heartbeat(rig, rig->conn);
	ASSERT_EQ(0, told_of_worker(rig, 1));
	rig_free(rig);
	PASS();
}

SUITE(watch)
{
	RUN_TEST(watchers_see_job_become_ready);
	RUN_TEST(watchers_see_end_of_run_as_such);
	RUN_TEST(watchers_see_each_vote);
	RUN_TEST(watchers_see_slots_and_load_of_worker);
	RUN_TEST(watchers_see_added_job);
	RUN_TEST(watchers_see_gate_lose_votes_to_added_job);
	RUN_TEST(watchers_see_gate_when_parent_ends);
	RUN_TEST(watchers_see_worker_once_a_turn);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(watch);
	GREATEST_MAIN_END();
}
