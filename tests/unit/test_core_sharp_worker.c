/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers, to the slot and to the millisecond: who rests, who is full, what comes back, who is forgotten. */
#include "tests/unit/core_place.h"

#include "proto/reasons.h"

TEST one_that_flapped_rests_for_as_long_as_that(void)
{
	struct rig *rig = rig_new();
	uint64_t flaps, steady;

	for (int i = 0; i < LIMIT_FLAP_DROPS + 1; i++)
		rig_gone(rig, join(rig, "flaps", 2, "", "", ""));
	flaps = join(rig, "flaps", 2, "", "", "");
	steady = join(rig, "steady", 4, "", "", "");
	rig_wait(rig, LIMIT_FLAP_REST_MS - 1);
	load(rig, flaps, 0, 0);
	load(rig, steady, 500, 0);
	ASSERT_STR_EQ("steady", given(rig, (struct rec_job_spec){ 0 }));
	rig_wait(rig, 1);
	ASSERT_STR_EQ("flaps", given(rig, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(0, worker(rig, "flaps").rest_ms);
	rig_free(rig);
	PASS();
}

/* A slot that is free is better than a place behind others, however busy its machine is otherwise. */
TEST a_free_slot_comes_before_all_else(void)
{
	struct rig *rig = rig_new();

	join(rig, "full", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT_STR_EQ("full", given(rig, (struct rec_job_spec){ 0 }));
	load(rig, join(rig, "loaded", 1, "", "", ""), 1000, 1000);
	ASSERT_STR_EQ("loaded", given(rig, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(0, worker(rig, "full").ahead);
	rig_free(rig);
	PASS();
}

/* Not before one of the slots is free is there anything to keep. */
TEST nothing_is_kept_where_nobody_has_a_slot(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "w", 2, "", "tape=2", "");
	for (int i = 0; i < 2; i++)
		given(rig, (struct rec_job_spec){ .asks = words(rig, "tape=1") });
	graph_job(&graph, "large", "")->asks = words(rig, "tape=2");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(0, worker(rig, "w").reserved);
	rig_run_one(rig, 0);
	ASSERT_EQ(rig_named(rig, run, "large"), worker(rig, "w").reserved);
	rig_free(rig);
	PASS();
}

/* What was asked back has its tape by now, and leaves it to those behind it. */
TEST no_more_comes_back_than_is_behind(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };
	struct rig_attempt out[4];

	join(rig, "w", 4, "", "tape=2", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(4, (int)out_of(rig, 4, tape));
	for (int i = 0; i < 4; i++)
		out[i] = rig_must_take(rig);
	join(rig, "v", 1, "", "tape=1", "");
	ASSERT_EQ(2, (int)rig_frames(rig, OP_RECALL, NULL));
	ASSERT_STR_EQ("v", given(rig, tape));
	done_after(rig, out[0], 2);
	done_after(rig, out[1], 2);
	ASSERT_EQ(0, (int)worker(rig, "w").ahead);
	ASSERT_STR_EQ("w", given(rig, tape));
	ASSERT_EQ(1, (int)worker(rig, "w").ahead);
	join(rig, "u", 4, "", "tape=1", "");
	ASSERT_EQ(0, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

static void set_step(struct rig *rig, enum set_verb verb, const char *name)
{
	struct core_input input = { .kind = INPUT_SET, .conn = 1000000, .request = ++rig->request };

	input.set = (struct input_set){ .set = { .kind = OBJECT_WORKER, .verb = verb, .name = slice_str(name) },
					.principal = 1, .person = slice_str("ana") };
	core_step(rig->core, &input);
}

/* Whoever watches is told of each that changed, and of one that was forgotten once. */
TEST who_is_forgotten_takes_nobody_along(void)
{
	static const char *const names[] = { "a", "b", "c" };
	unsigned told[4] = { 0 };
	struct rig *rig = rig_new();

	for (size_t i = 0; i < 3; i++)
		rig_gone(rig, rig_hello(rig, names[i], 1));
	rig_turn_begin(rig);
	for (size_t i = 0; i < 3; i++)
		set_step(rig, SET_PAUSE, names[i]);
	set_step(rig, SET_REMOVE, "b");
	rig_turn_end(rig);
	ASSERT_EQ(0, rig->errors);
	for (size_t i = 0; i < rig->out.change_count; i++)
		if (rig->out.changes[i].kind == CHANGED_WORKER && rig->out.changes[i].id < 4)
			told[rig->out.changes[i].id]++;
	ASSERT(told[1] == 1 && told[2] == 1 && told[3] == 1);
	rig_free(rig);
	PASS();
}

static enum reason why(struct rig *rig, uint64_t job)
{
	struct rec_job_row row = { 0 };

	CHECK(view_explain(rig->core, job, &rig->arena, &row));
	return (enum reason)row.why_code;
}

/* Of two jobs of a worker the one whose processes can't be ended, and not the other. */
TEST what_cannot_be_ended_is_told_of_no_other(void)
{
	struct core_input input = { .kind = INPUT_HEARTBEAT };
	struct rig *rig = rig_new();
	uint64_t jobs[2];

	input.conn = rig_hello(rig, "w", 2);
	ASSERT_EQ(2, (int)out_of(rig, 2, (struct rec_job_spec){ 0 }));
	for (int i = 0; i < 2; i++) {
		struct rig_attempt attempt = rig_must_take(rig);

		rig_started(rig, attempt);
		jobs[i] = attempt.job;
	}
	for (int i = 0; i < 2; i++) {
		input.heartbeat.stuck = (struct u64_list){ &jobs[i], 1 };
		rig_step(rig, &input);
		ASSERT_EQ(REASON_STUCK, why(rig, jobs[i]));
		ASSERT_EQ(REASON_RUNNING, why(rig, jobs[1 - i]));
	}
	rig_free(rig);
	PASS();
}

/* It may hear still: who can't be reached is told as well. */
TEST who_is_silent_is_told_to_quit(void)
{
	struct rig *rig = rig_new();
	struct core_input quit = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };

	rig_hello(rig, "w", 1);
	rig_pass(rig, LIMIT_LEASE_MS);
	rig_step(rig, &quit);
	ASSERT_EQ(1, (int)rig_frames(rig, OP_QUIT, NULL));
	rig_free(rig);
	PASS();
}

/* Nobody was heard for a while, and that was the master's fault: who couldn't be reached has all its grace again. */
TEST who_is_silent_while_the_master_is_deaf_has_its_grace_again(bool connected)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	if (!connected)
		rig_gone(rig, rig->conn);
	rig_pass(rig, LIMIT_LEASE_MS);
	rig_wait(rig, LIMIT_GRACE_MS);
	rig_turn_begin(rig);
	core_was_deaf(rig->core);
	rig_turn_end(rig);
	rig_pass(rig, LIMIT_GRACE_MS - 1);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "a"));
	rig_pass(rig, 1);
	ASSERT(strcmp("running", rig_state_named(rig, run, "a")) != 0);
	rig_free(rig);
	PASS();
}

/* It was told to quit, and is connected until it has. */
TEST who_quits_is_not_forgotten_before_it_is_gone(void)
{
	struct rig *rig = rig_new();
	struct core_input quit = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };

	rig_hello(rig, "w", 1);
	rig_step(rig, &quit);
	set(rig, OBJECT_WORKER, SET_REMOVE, "w");
	ASSERT(rig_error_says(rig, ERR_BUSY, "is connected"));
	rig_gone(rig, rig->conn);
	set(rig, OBJECT_WORKER, SET_REMOVE, "w");
	ASSERT_EQ(0, (int)rig->error.code);
	rig_free(rig);
	PASS();
}

/* Nor does what was silent while the master was deaf count when it can't be reached later. */
TEST who_was_heard_before_the_master_was_deaf_has_lease_and_grace(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_wait(rig, 2 * LIMIT_GRACE_MS);
	rig_turn_begin(rig);
	core_was_deaf(rig->core);
	rig_turn_end(rig);
	rig_pass(rig, LIMIT_LEASE_MS);
	rig_pass(rig, LIMIT_GRACE_MS - LIMIT_LEASE_MS - 1);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

/* It rests from its latest loss on. */
TEST who_flaps_while_it_rests_rests_longer(void)
{
	struct rig *rig = rig_new();

	for (int i = 0; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, rig_hello(rig, "w", 1));
	rig_hello(rig, "w", 1);
	ASSERT_EQ(LIMIT_FLAP_REST_MS, (int)worker(rig, "w").rest_ms);
	rig_pass(rig, LIMIT_FLAP_REST_MS / 2);
	rig_gone(rig, rig->conn);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(LIMIT_FLAP_REST_MS, (int)worker(rig, "w").rest_ms);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(one_that_flapped_rests_for_as_long_as_that);
	RUN_TEST(a_free_slot_comes_before_all_else);
	RUN_TEST(nothing_is_kept_where_nobody_has_a_slot);
	RUN_TEST(no_more_comes_back_than_is_behind);
	RUN_TEST(who_is_forgotten_takes_nobody_along);
	RUN_TEST(what_cannot_be_ended_is_told_of_no_other);
	RUN_TEST(who_is_silent_is_told_to_quit);
	RUN_TESTp(who_is_silent_while_the_master_is_deaf_has_its_grace_again, true);
	RUN_TESTp(who_is_silent_while_the_master_is_deaf_has_its_grace_again, false);
	RUN_TEST(who_quits_is_not_forgotten_before_it_is_gone);
	RUN_TEST(who_was_heard_before_the_master_was_deaf_has_lease_and_grace);
	RUN_TEST(who_flaps_while_it_rests_rests_longer);
	GREATEST_MAIN_END();
}
