/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who watches is told of each thing that changed, in the turn in which it does; and times are told by the wall clock. */
#include "proto/reasons.h"
#include "tests/unit/core_grow.h"

static size_t told(const struct rig *rig, enum changed_kind kind, uint64_t id)
{
	size_t count = 0;

	for (size_t i = 0; i < rig->out.change_count; i++)
		count += rig->out.changes[i].kind == kind && rig->out.changes[i].id == id;
	return count;
}

/* What follows from others' rows has none of its own, and is told all the same. */
TEST of_a_job_that_queues_because_another_ended(void)
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

TEST of_a_run_s_end_as_such(void)
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

TEST of_each_vote_and_why(void)
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

TEST of_a_slot_that_is_free_and_of_load(void)
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

TEST of_what_is_added(void)
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

/* Its connection is of no use to anybody: it must not go on as if nothing were. */
TEST one_that_was_silent_for_too_long(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 1);
	struct outgoing frame;

	rig_pass(rig, LIMIT_LEASE_MS);
	ASSERT_EQ(0, rig_frames(rig, OP_ERROR, NULL));
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(1, rig_frames(rig, OP_ERROR, &frame));
	ASSERT(frame.conn == conn && frame.close && frame.error.code == ERR_TIMEOUT);
	rig_free(rig);
	PASS();
}

/* The wall clock is set: intervals end when they would have, and what is shown is that time on the clock as it is now. */
TEST times_on_a_clock_that_was_set(int64_t by_ms)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_lock_row lock = { 0 };
	struct rec_job_row row;

	graph_job(&graph, "a", "")->deadline_ms = 60000;
	graph_job(&graph, "b", "")->delay_ms = 60000;
	rig_submit(rig, &graph);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_LOCK, .verb = SET_TAKE, .name = slice_str("db"), .span_ms = 60000 });
	rig->now.wall_ms += by_ms;
	rig_pass(rig, 1000);
	row = rig_job(rig, 1);
	ASSERT_EQ_FMT((long long)rig->now.wall_ms + 59000, (long long)row.deadline_ms, "%lld");
	row = rig_job(rig, 2);
	ASSERT_EQ_FMT((long long)rig->now.wall_ms + 59000, (long long)row.due_ms, "%lld");
	ASSERT(view_lock(rig->core, 0, &rig->arena, &lock) != 0);
	ASSERT_EQ_FMT((long long)rig->now.wall_ms + 59000, (long long)lock.until_ms, "%lld");
	rig_set(rig, (struct msg_set){ .kind = OBJECT_LOCK, .verb = SET_TAKE, .name = slice_str("db"), .text = slice_str("bob") });
	ASSERT(rig_error_says(rig, ERR_BUSY, "for another 59"));
	rig_free(rig);
	PASS();
}

/* One that goes a little more slowly than others isn't set, and a date has come when it says so. */
TEST a_date_comes_by_its_own_clock(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->not_before_ms = rig->now.wall_ms + 1000;
	rig_submit(rig, &graph);
	rig->now.wall_ms -= 50;
	rig_pass(rig, 1000);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 50);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/* Up again with a clock that is behind, it waits for as long as was asked for, and no longer: a queue, and a gate. */
TEST another_boot_makes_no_wait_longer(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate = graph_job(&graph, "gate", "");

	gate->gate_count = 1;
	gate->gate_timeout_ms = 60000;
	gate->argv.n = 0;
	graph_job(&graph, "queued", "")->dispatch_timeout_ms = 60000;
	rig_submit(rig, &graph);
	rig->now.mono_ns = rig->now.boot_ns = NS_PER_S;
	rig->now.wall_ms -= 500000;
	rig->config.boot_id++;
	rig_restart(rig);
	rig_pass(rig, 59999);
	ASSERT(rig_state(rig, 1) == STATE_APPROVAL && rig_state(rig, 2) == STATE_READY);
	rig_pass(rig, 1);
	ASSERT(rig_state(rig, 1) == STATE_DENIED && rig_state(rig, 2) == STATE_TIMED_OUT);
	rig_free(rig);
	PASS();
}

TEST a_deadline_comes_also_to_what_is_held_back(bool all)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->deadline_ms = 1000;
	graph_job(&graph, "b", "a");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, all ? "" : "a", 0);
	rig_pass(rig, 1000);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "a"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "b"));
	rig_free(rig);
	PASS();
}

SUITE(who_watches)
{
	RUN_TEST(of_a_job_that_queues_because_another_ended);
	RUN_TEST(of_a_run_s_end_as_such);
	RUN_TEST(of_each_vote_and_why);
	RUN_TEST(of_a_slot_that_is_free_and_of_load);
	RUN_TEST(of_what_is_added);
	RUN_TEST(one_that_was_silent_for_too_long);
	RUN_TESTp(times_on_a_clock_that_was_set, 3600000);
	RUN_TESTp(times_on_a_clock_that_was_set, -500000);
	RUN_TEST(a_date_comes_by_its_own_clock);
	RUN_TEST(another_boot_makes_no_wait_longer);
	RUN_TESTp(a_deadline_comes_also_to_what_is_held_back, false);
	RUN_TESTp(a_deadline_comes_also_to_what_is_held_back, true);
}

/* Of two deadlines the first is what it has, in a row and in words. */
TEST of_two_deadlines_the_first_is_told(int64_t span_ms, int64_t date_ms)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	struct rec_job_row row;

	job->deadline_ms = (uint64_t)span_ms;
	job->deadline_at_ms = rig->now.wall_ms + date_ms;
	row = rig_job(rig, rig_named(rig, rig_submit(rig, &graph), "a"));
	ASSERT_EQ(rig->now.wall_ms + 5000, row.deadline_ms);
	ASSERT(view_explain(rig->core, row.job, &rig->arena, &row));
	ASSERT(memmem(row.why.data, row.why.len, "; its deadline is in 5", 22));
	rig_free(rig);
	PASS();
}

/* Run again after its date it has none; the wall clock is set back, and the next round has it again. */
TEST a_date_that_is_ahead_again_is_told_again(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	int64_t date_ms = rig->now.wall_ms + 5000;
	uint64_t run;

	graph_job(&graph, "a", "")->deadline_at_ms = date_ms;
	graph_job(&graph, "open", "");
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "a");
	rig_wait(rig, 6000);
	rig_act(rig, ACT_RETRY, run, "a", 0);
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "a")).deadline_ms);
	rig_cancel(rig, run, "a");
	rig->now.wall_ms -= 5000;
	rig_act(rig, ACT_RETRY, run, "a", 0);
	ASSERT_EQ(date_ms, rig_job(rig, rig_named(rig, run, "a")).deadline_ms);
	rig_free(rig);
	PASS();
}

/* A job that waits for a date and for a delay is due at the later of them. */
TEST what_waits_twice_is_due_at_the_later(uint64_t delay_ms, int64_t date_ms)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	struct rec_job_row row;

	job->delay_ms = delay_ms;
	job->not_before_ms = rig->now.wall_ms + date_ms;
	row = rig_job(rig, rig_named(rig, rig_submit(rig, &graph), "a"));
	ASSERT_EQ(rig->now.wall_ms + 60000, row.due_ms);
	rig_free(rig);
	PASS();
}

/* A worker that was told to quit is none that a job could wait for. */
TEST who_waits_for_a_worker_that_quits_is_told_that_there_is_none(void)
{
	struct rig *rig = rig_new();
	struct core_input quit = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };

	rig_hello(rig, "w", 1);
	rig_step(rig, &quit);
	graph_job(&graph, "a", "");
	rig_submit(rig, &graph);
	ASSERT(view_explain(rig->core, 1, &rig->arena, &row));
	ASSERT_EQ(REASON_NO_WORKER_UP, (int)row.why_code);
	rig_free(rig);
	PASS();
}

/* Who holds back what is delayed as well is the reason: when it is due, it doesn't begin. */
TEST what_is_delayed_and_held_back_is_held_back(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->delay_ms = 60000;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT(view_explain(rig->core, rig_named(rig, run, "a"), &rig->arena, &row));
	ASSERT_EQ(REASON_HELD, (int)row.why_code);
	rig_free(rig);
	PASS();
}

/* Of the runs of a group those that go are named, not those that wait. */
TEST who_waits_for_a_group_of_runs_is_told_which_go(void)
{
	struct rig *rig = rig_new();
	struct rec_job_row row = { 0 };
	uint64_t run = 0;

	rig_hello(rig, "w", 3);
	rig->concurrency = "g";
	for (int i = 0; i < 3; i++) {
		struct graph graph = { 0 };

		graph_job(&graph, "a", "");
		run = rig_submit(rig, &graph);
	}
	ASSERT(view_explain(rig->core, rig_named(rig, run, "a"), &rig->arena, &row));
	ASSERT_EQ(REASON_CONCURRENCY_RUNS, (int)row.why_code);
	ASSERT(row.why.len > 9 && memcmp(row.why.data + row.why.len - 7, ": run 1", 7) == 0);
	rig_free(rig);
	PASS();
}

/* What was set is gone, also while a run of it is there. */
TEST a_tenant_that_nobody_sets_any_more_queues_what_it_likes(void)
{
	struct rig *rig = rig_new();

	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("ana"), .most = 2 });
	for (int i = 0; i < 3; i++) {
		struct graph graph = { 0 };

		graph_job(&graph, "a", "");
		ASSERT_EQ(i == 1, rig_submit(rig, &graph) == 0);
		if (i == 1)
			rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_REMOVE, .name = slice_str("ana") });
	}
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(who_watches);
	RUN_TESTp(of_two_deadlines_the_first_is_told, 5000, 60000);
	RUN_TESTp(of_two_deadlines_the_first_is_told, 60000, 5000);
	RUN_TEST(a_date_that_is_ahead_again_is_told_again);
	RUN_TESTp(what_waits_twice_is_due_at_the_later, 60000, 5000);
	RUN_TESTp(what_waits_twice_is_due_at_the_later, 5000, 60000);
	RUN_TEST(who_waits_for_a_worker_that_quits_is_told_that_there_is_none);
	RUN_TEST(what_is_delayed_and_held_back_is_held_back);
	RUN_TEST(who_waits_for_a_group_of_runs_is_told_which_go);
	RUN_TEST(a_tenant_that_nobody_sets_any_more_queues_what_it_likes);
	GREATEST_MAIN_END();
}
