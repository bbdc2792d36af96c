/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts about runs and jobs: how they ended, why they wait, and which command would change that. */
#include "cli/show/row_words.h"

#include <errno.h>

#include "cli/show/next_step.h"
#include "greatest.h"
#include "proto/reasons.h"

#define ASSERT_TEXT(wanted, got) ASSERT_STR_EQ(wanted, text_of(got))

static struct arena arena;
static struct rec_job_row jobs[6];
static uint64_t counts[STATE_COUNT];

static const char *text_of(struct slice slice)
{
	static char text[512];

	snprintf(text, sizeof(text), "%.*s", (int)slice.len, (const char *)slice.data);
	return text;
}

/* Make the jobs of run 4; their serial numbers start at 40. */
static void setup_cb(void *data)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };

	(void)data;
	arena_free(&arena);
	memset(counts, 0, sizeof(counts));
	for (size_t i = 0; i < 6; i++)
		jobs[i] = (struct rec_job_row){ .run = 4, .job = 40 + i, .index = i, .name = slice_str(names[i]), .state = STATE_WAITING };
}

static const char *cause_of(size_t at)
{
	return text_of(job_cause_text(&jobs[at], jobs, 6, &arena));
}

static const char *outcome_of(enum outcome outcome, uint64_t code)
{
	jobs[0].state = STATE_FAILED;
	jobs[0].outcome = outcome;
	jobs[0].code = code;
	return text_of(job_outcome_text(&jobs[0], &arena));
}

static const char *next_of(size_t at)
{
	return text_of(explain_next(&jobs[at], jobs, 6, &arena));
}

/* ---- outcomes ---- */

TEST outcome_says_how_the_latest_attempt_ended(void)
{
	ASSERT_STR_EQ("", outcome_of(OUTCOME_NONE, 0));
	ASSERT_STR_EQ("exit 0", outcome_of(OUTCOME_EXIT, 0));
	ASSERT_STR_EQ("exit 75", outcome_of(OUTCOME_EXIT, 75));
	ASSERT_STR_EQ("SIGKILL", outcome_of(OUTCOME_SIGNAL, 9));
	ASSERT_STR_EQ("signal 64", outcome_of(OUTCOME_SIGNAL, 64));
	ASSERT_STR_EQ("signal 99", outcome_of(OUTCOME_SIGNAL, 99));
	ASSERT_STR_EQ("lost", outcome_of(OUTCOME_LOST, 0));
	ASSERT_STR_EQ("", outcome_of(OUTCOME_COUNT, 0));
	PASS();
}

TEST outcome_of_a_start_that_failed_names_the_program(void)
{
	ASSERT_STR_EQ("not started: No such file or directory", outcome_of(OUTCOME_SPAWN, ENOENT));
	jobs[0].command = slice_str("make -j all");
	ASSERT_STR_EQ("not started: Permission denied: make", outcome_of(OUTCOME_SPAWN, EACCES));
	PASS();
}

TEST outcome_names_the_directory_if_the_job_does(void)
{
	ASSERT_STR_EQ("not started: the working directory isn't there", outcome_of(OUTCOME_NO_DIR, ENOENT));
	jobs[0].dir = slice_str("/srv/away");
	ASSERT_STR_EQ("not started: the working directory /srv/away can't be entered: Not a directory", outcome_of(OUTCOME_NO_DIR, ENOTDIR));
	PASS();
}

TEST outcome_of_a_sub_run_is_that_of_its_run(void)
{
	jobs[0].child = 9;
	ASSERT_STR_EQ("run 9 succeeded", outcome_of(OUTCOME_EXIT, 0));
	ASSERT_STR_EQ("run 9 failed", outcome_of(OUTCOME_EXIT, 1));
	ASSERT_STR_EQ("run 9 was cancelled", outcome_of(OUTCOME_EXIT, 2));
	PASS();
}

TEST outcome_of_an_attempt_before_isnt_told_while_a_job_runs(void)
{
	outcome_of(OUTCOME_EXIT, 75);
	jobs[0].state = STATE_RUNNING;
	ASSERT_TEXT("", job_outcome_text(&jobs[0], &arena));
	jobs[0].state = STATE_DELAYED;
	ASSERT_TEXT("exit 75", job_outcome_text(&jobs[0], &arena));
	PASS();
}

/* ---- causes ---- */

TEST cause_of_a_skipped_job_is_its_need_and_where_that_began(void)
{
	jobs[0].state = STATE_FAILED;
	jobs[1].state = jobs[2].state = STATE_SKIPPED;
	jobs[1].cause = 41;
	jobs[2].cause = 42;
	ASSERT_STR_EQ("", cause_of(0));
	ASSERT_STR_EQ("because a failed", cause_of(1));
	ASSERT_STR_EQ("because b was skipped, as a failed", cause_of(2));
	jobs[0].state = STATE_DENIED;
	ASSERT_STR_EQ("because b was skipped, as a was denied", cause_of(2));
	PASS();
}

TEST cause_is_found_where_serial_numbers_are_no_neighbours(void)
{
	jobs[5].job = 900;
	jobs[5].state = STATE_FAILED;
	jobs[1].state = STATE_SKIPPED;
	jobs[1].cause = 901;
	ASSERT_STR_EQ("because f failed", cause_of(1));
	jobs[1].cause = 1000;
	ASSERT_STR_EQ("", cause_of(1));
	/* One serial number is missing, so the job at the cause's position isn't the cause. */
	for (size_t i = 3; i < 6; i++)
		jobs[i].job = 41 + i;
	jobs[3].state = STATE_FAILED;
	jobs[1].cause = 45;
	ASSERT_STR_EQ("because d failed", cause_of(1));
	PASS();
}

TEST cause_that_isnt_known_begins_no_chain(void)
{
	jobs[0].state = jobs[1].state = jobs[2].state = STATE_SKIPPED;
	jobs[2].cause = 42;
	jobs[1].cause = 41;
	jobs[0].cause = 1000;
	ASSERT_STR_EQ("because b was skipped", cause_of(2));
	PASS();
}

TEST cause_names_a_condition_that_was_false(void)
{
	jobs[0].state = jobs[1].state = jobs[2].state = STATE_SKIPPED;
	jobs[0].condition_false = true;
	jobs[0].when = slice_str("day == 'sunday'");
	jobs[1].cause = 41;
	jobs[2].cause = 42;
	ASSERT_STR_EQ("the job's condition was false: day == 'sunday'", cause_of(0));
	ASSERT_STR_EQ("because a was skipped: its condition was false", cause_of(1));
	ASSERT_STR_EQ("because b was skipped, as the condition of a was false", cause_of(2));
	PASS();
}

TEST cause_of_a_circle_ends(void)
{
	jobs[0].state = jobs[1].state = STATE_SKIPPED;
	jobs[0].cause = 42;
	jobs[1].cause = 41;
	ASSERT_STR_EQ("because b was skipped", cause_of(0));
	jobs[0].cause = 41;
	ASSERT_STR_EQ("because a was skipped", cause_of(0));
	PASS();
}

TEST cause_says_what_a_person_has_to_do(void)
{
	jobs[0].held = true;
	ASSERT_STR_EQ("held back", cause_of(0));
	jobs[0].state = STATE_SUCCEEDED;
	ASSERT_STR_EQ("", cause_of(0));
	jobs[1].state = STATE_APPROVAL;
	ASSERT_STR_EQ("waits for a person", cause_of(1));
	jobs[1].gate_count = 3;
	jobs[1].gate_have = 2;
	ASSERT_STR_EQ("2 of 3 approved", cause_of(1));
	jobs[1].state = STATE_DENIED;
	ASSERT_STR_EQ("refused", cause_of(1));
	jobs[1].ended_by = EVENT_EXPIRED;
	ASSERT_STR_EQ(event_texts[EVENT_EXPIRED], cause_of(1));
	jobs[2].state = STATE_UNKNOWN;
	ASSERT_STR_EQ("a person has to settle the job", cause_of(2));
	jobs[3].state = STATE_FAILED;
	jobs[3].forgiven = true;
	ASSERT_STR_EQ("counts as a good end (continue_on)", cause_of(3));
	PASS();
}

TEST cause_of_a_loop_and_a_sub_run_is_where_they_are(void)
{
	jobs[0].state = STATE_DELAYED;
	jobs[0].loop_max = 5;
	jobs[0].pass = 2;
	ASSERT_STR_EQ("pass 2/5", cause_of(0));
	jobs[0].pass = 1;
	ASSERT_STR_EQ("", cause_of(0));
	jobs[1].state = STATE_RUNNING;
	jobs[1].child = 9;
	ASSERT_STR_EQ("sub-run 9", cause_of(1));
	jobs[1].state = STATE_SUCCEEDED;
	ASSERT_STR_EQ("", cause_of(1));
	PASS();
}

/* ---- runs ---- */

TEST counts_of_a_run_are_complete_and_disjoint(void)
{
	struct rec_run_row run = { .jobs = 16, .counts = { counts, STATE_COUNT } };
	struct run_counts sum;

	for (size_t i = 0; i < STATE_COUNT; i++)
		counts[i] = 1;
	sum = run_counts(&run);
	ASSERT_EQ(16, STATE_COUNT);
	ASSERT_EQ(16, sum.ok + sum.running + sum.waiting + sum.failed + sum.skipped + sum.cancelled);
	ASSERT_EQ(7, sum.ended);
	ASSERT_EQ(4, sum.failed);
	ASSERT_EQ(3, sum.running);
	ASSERT_EQ(1, sum.ok);
	ASSERT_EQ(1, sum.cancelled);
	PASS();
}

TEST run_says_what_is_left_to_do(void)
{
	struct rec_run_row run = { .run = 4, .state = RUN_RUNNING, .counts = { counts, STATE_COUNT } };

	ASSERT_TEXT("", run_why_text(&run, &arena));
	run.parent_run = 7;
	run.parent_job = slice_str("build");
	ASSERT_TEXT("sub-run of 7/build", run_why_text(&run, &arena));
	counts[STATE_APPROVAL] = 1;
	ASSERT_TEXT("1 approval", run_why_text(&run, &arena));
	counts[STATE_APPROVAL] = 2;
	ASSERT_TEXT("2 approvals", run_why_text(&run, &arena));
	run.held = true;
	ASSERT_TEXT("held back", run_why_text(&run, &arena));
	run.state = RUN_FAILED;
	ASSERT_TEXT("sub-run of 7/build", run_why_text(&run, &arena));
	run.forgiven = 2;
	ASSERT_TEXT("2 forgiven", run_why_text(&run, &arena));
	run.dead = 1;
	ASSERT_TEXT("1 dead letter", run_why_text(&run, &arena));
	PASS();
}

/* ---- durations and states of jobs ---- */

TEST span_is_that_of_the_latest_attempt(void)
{
	jobs[0].state = STATE_RUNNING;
	ASSERT_EQ(-1, job_span_ms(&jobs[0], 9000));
	jobs[0].started_ms = 4000;
	ASSERT_EQ(5000, job_span_ms(&jobs[0], 9000));
	/* The clock was set back between start and end. */
	ASSERT_EQ(0, job_span_ms(&jobs[0], 3000));
	jobs[0].state = STATE_SUCCEEDED;
	ASSERT_EQ(-1, job_span_ms(&jobs[0], 9000));
	jobs[0].ended_ms = 6000;
	ASSERT_EQ(2000, job_span_ms(&jobs[0], 9000));
	PASS();
}

TEST look_of_a_job_tells_a_hold_a_first_delay_and_a_dead_letter(void)
{
	jobs[0].state = STATE_DELAYED;
	ASSERT_STR_EQ("LATER", job_look(&jobs[0])->word);
	jobs[0].held = true;
	ASSERT_STR_EQ("HOLD", job_look(&jobs[0])->word);
	jobs[0].held = false;
	jobs[0].tries = 1;
	ASSERT_STR_EQ("RETRY", job_look(&jobs[0])->word);
	jobs[0].dead = true;
	ASSERT_STR_EQ("RETRY", job_look(&jobs[0])->word);
	jobs[0].state = STATE_FAILED;
	ASSERT_EQ(&flag_table[FLAG_DEAD], job_look(&jobs[0]));
	jobs[0].state = 99;
	ASSERT_STR_EQ("WAIT", job_look(&jobs[0])->word);
	PASS();
}

/* ---- the command suggested as next step ---- */

TEST next_step_of_a_decision_is_the_command_for_it(void)
{
	jobs[0].state = STATE_APPROVAL;
	jobs[0].why_code = REASON_APPROVAL;
	ASSERT_STR_EQ("titan approve 4/a", next_of(0));
	jobs[1].state = STATE_UNKNOWN;
	ASSERT_STR_EQ("titan settle 4/b done|failed|retry -m 'HOW YOU KNOW'", next_of(1));
	jobs[2].why_code = REASON_HELD;
	jobs[2].held = true;
	ASSERT_STR_EQ("titan release 4/c", next_of(2));
	jobs[2].held = false;
	ASSERT_STR_EQ("titan release 4", next_of(2));
	PASS();
}

TEST next_step_of_a_waiting_job_is_about_what_it_waits_for(void)
{
	uint64_t needs[] = { 1, 0 };

	jobs[2].why_code = REASON_WAITS_FOR_DEPENDENCY;
	jobs[2].needs = (struct u64_list){ needs, 2 };
	ASSERT_STR_EQ("titan show 4", next_of(2));
	jobs[0].state = STATE_APPROVAL;
	ASSERT_STR_EQ("titan approve 4/a", next_of(2));
	jobs[1].held = true;
	ASSERT_STR_EQ("titan release 4/b", next_of(2));
	jobs[1].held = false;
	jobs[1].state = STATE_UNKNOWN;
	ASSERT_STR_EQ("titan settle 4/b done|failed|retry -m 'HOW YOU KNOW'", next_of(2));
	/* A dependency with an index that no job has is left out of the text. */
	needs[0] = needs[1] = 5;
	jobs[5].held = true;
	ASSERT_TEXT("titan show 4", explain_next(&jobs[2], jobs, 5, &arena));
	PASS();
}

TEST next_step_after_a_bad_end_is_a_retry_that_would_change_something(void)
{
	jobs[0].state = STATE_FAILED;
	ASSERT_STR_EQ("titan retry 4/a", next_of(0));
	jobs[1].state = STATE_SKIPPED;
	jobs[1].cause = 41;
	ASSERT_STR_EQ("titan retry 4", next_of(1));
	/*
	 * The job was skipped by a condition though nothing failed; a retry would skip it again, so none is proposed.
	 */
	jobs[0].state = STATE_SUCCEEDED;
	ASSERT_STR_EQ("", next_of(1));
	ASSERT_STR_EQ("", next_of(0));
	PASS();
}

TEST next_step_of_a_sub_run_is_to_look_there(void)
{
	jobs[0].child = 9;
	jobs[0].state = STATE_FAILED;
	ASSERT_STR_EQ("titan show 9", next_of(0));
	jobs[0].state = STATE_RUNNING;
	ASSERT_STR_EQ("titan show 9", next_of(0));
	jobs[0].state = STATE_CANCELLED;
	ASSERT_STR_EQ("titan retry 4/a", next_of(0));
	PASS();
}

TEST next_step_names_the_list_of_what_is_short(void)
{
	static const struct { enum reason reason; const char *next; } rows[] = {
		{ REASON_NO_WORKER_UP, "titan up" }, { REASON_NO_WORKER_LABELS, "titan worker ls" },
		{ REASON_WORKER_CORDONED, "titan worker ls" }, { REASON_AFFINITY_BUSY, "titan worker ls" },
		{ REASON_POOL_DRAINING, "titan pool ls" }, { REASON_POOL_INACTIVE, "titan pool ls" },
		{ REASON_LOCKED, "titan lock ls" }, { REASON_CONCURRENCY_RUNS, "titan group ls" },
		{ REASON_CONCURRENCY_JOBS, "titan group ls" }, { REASON_TENANT_LIMIT, "titan tenant ls" }, { REASON_RUNNING, "" },
		{ REASON_QUEUED, "" }, { REASON_DUE, "" },
	};

	jobs[0].state = STATE_READY;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		jobs[0].why_code = rows[i].reason;
		ASSERT_STR_EQ(rows[i].next, next_of(0));
	}
	PASS();
}

SUITE(cli_words)
{
	SET_SETUP(setup_cb, NULL);
	RUN_TEST(outcome_says_how_the_latest_attempt_ended);
	RUN_TEST(outcome_of_a_start_that_failed_names_the_program);
	RUN_TEST(outcome_names_the_directory_if_the_job_does);
	RUN_TEST(outcome_of_a_sub_run_is_that_of_its_run);
	RUN_TEST(outcome_of_an_attempt_before_isnt_told_while_a_job_runs);
	RUN_TEST(cause_of_a_skipped_job_is_its_need_and_where_that_began);
	RUN_TEST(cause_is_found_where_serial_numbers_are_no_neighbours);
	RUN_TEST(cause_that_isnt_known_begins_no_chain);
	RUN_TEST(cause_names_a_condition_that_was_false);
	RUN_TEST(cause_of_a_circle_ends);
	RUN_TEST(cause_says_what_a_person_has_to_do);
	RUN_TEST(cause_of_a_loop_and_a_sub_run_is_where_they_are);
	RUN_TEST(counts_of_a_run_are_complete_and_disjoint);
	RUN_TEST(run_says_what_is_left_to_do);
	RUN_TEST(span_is_that_of_the_latest_attempt);
	RUN_TEST(look_of_a_job_tells_a_hold_a_first_delay_and_a_dead_letter);
	RUN_TEST(next_step_of_a_decision_is_the_command_for_it);
	RUN_TEST(next_step_of_a_waiting_job_is_about_what_it_waits_for);
	RUN_TEST(next_step_after_a_bad_end_is_a_retry_that_would_change_something);
	RUN_TEST(next_step_of_a_sub_run_is_to_look_there);
	RUN_TEST(next_step_names_the_list_of_what_is_short);
	arena_free(&arena);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_words);
	GREATEST_MAIN_END();
}
