/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Failures: which ones are retried and after how long, crash limits, exit codes that count as success, dead letters. */
#include "proto/dead.h"
#include "tests/unit/core_rig.h"
#include "proto/expr.h"
#include "tests/unit/core_grow.h"

static struct rig *rig;
static struct graph graph;
static uint64_t conn, run;

static struct rec_job_spec *begin(const char *name)
{
	rig = rig_new();
	conn = rig_hello(rig, "w", 1);
	graph = (struct graph){ 0 };
	return graph_job(&graph, name, "");
}

static void submit(void)
{
	run = rig_submit(rig, &graph);
	CHECK(run != 0);
}

static const struct row_dead *letter_of(const char *name)
{
	const struct rig_rows *rows = &rig->tables[TABLE_dead];

	for (size_t i = 0; i < rows->count; i++)
		if (slice_eq(rows->at[i].row.dead.name, slice_str(name)))
			return &rows->at[i].row.dead;
	return NULL;
}

/* Run the next attempt to this end, and let the backoff pass. */
static void fail_once(enum outcome outcome, uint64_t code)
{
	struct rig_attempt attempt = rig_must_take(rig);

	rig_started(rig, attempt);
	rig_done(rig, attempt, outcome, code);
}

static int64_t waits(const char *name)
{
	struct rec_job_row row = rig_job(rig, rig_named(rig, run, name));

	return row.state == STATE_DELAYED ? row.due_ms - rig->now.wall_ms : -1;
}

/* ---- retries ---- */

TEST waits_double_up_to_the_longest_and_never_fall_short(void)
{
	static const int64_t exact[] = { 100, 200, 400, 450, 450 };

	for (int jitter = 0; jitter < 2; jitter++) {
		struct rec_job_spec *job = begin("j");

		job->retry_max = 5;
		job->backoff_ms = 100;
		job->backoff_max_ms = 450;
		job->backoff_exact = jitter == 0;
		submit();
		for (size_t i = 0; i < 5; i++) {
			fail_once(OUTCOME_EXIT, 3);
			ASSERT(waits("j") >= exact[i] && waits("j") <= exact[i] + (jitter ? exact[i] / 4 : 0));
			rig_pass(rig, waits("j") - 1);
			ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "j"));
			rig_pass(rig, 1);
		}
		fail_once(OUTCOME_EXIT, 3);
		ASSERT_STR_EQ("failed", rig_state_named(rig, run, "j"));
		ASSERT_EQ(DEAD_MAX_RETRIES_EXCEEDED, letter_of("j")->reason);
		rig_free(rig);
	}
	PASS();
}

TEST a_clock_set_back_makes_no_wait_longer_than_configured(void)
{
	struct rec_job_spec *job = begin("j");

	job->retry_max = 1;
	job->backoff_ms = 100000;
	job->backoff_max_ms = 100000;
	job->backoff_exact = true;
	submit();
	fail_once(OUTCOME_EXIT, 3);
	rig->now.wall_ms -= 900000;
	rig_restart(rig);
	rig_pass(rig, 100000);
	rig_hello(rig, "w", 1);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "j"));
	rig_free(rig);
	PASS();
}

TEST only_listed_ends_are_retried(void)
{
	static const struct {
		uint64_t on;
		enum outcome outcome;
		uint64_t code;
		bool again;
	} cases[] = {
		{ 0, OUTCOME_EXIT, 1, true }, { 0, OUTCOME_SIGNAL, 9, true }, { 0, OUTCOME_SPAWN, 2, true },
		{ RETRY_ON_SIGNAL, OUTCOME_EXIT, 1, false }, { RETRY_ON_SIGNAL, OUTCOME_SIGNAL, 9, true },
		{ 0, OUTCOME_NO_DIR, 2, true }, { RETRY_ON_EXIT, OUTCOME_NO_DIR, 2, false }, { RETRY_ON_EXIT, OUTCOME_SPAWN, 2, false }, { RETRY_ON_TIMEOUT, OUTCOME_EXIT, 1, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rec_job_spec *job = begin("j");

		job->retry_max = 1;
		job->retry_on = cases[i].on;
		submit();
		fail_once(cases[i].outcome, cases[i].code);
		ASSERT_EQ(cases[i].again, waits("j") >= 0);
		if (!cases[i].again)
			ASSERT_EQ(outcome_is_no_start(cases[i].outcome) ? DEAD_SPAWN_FAILED : DEAD_NOT_RETRIED,
				  letter_of("j")->reason);
		rig_free(rig);
	}
	PASS();
}

TEST only_listed_codes_are_retried(void)
{
	static uint64_t codes[] = { 1, 75 };
	struct rec_job_spec *job = begin("j");

	job->retry_max = 3;
	job->retry_codes = (struct u64_list){ codes, 2 };
	submit();
	fail_once(OUTCOME_EXIT, 75);
	ASSERT(waits("j") > 0);
	rig_pass(rig, 2000);
	fail_once(OUTCOME_EXIT, 2);
	ASSERT_STR_EQ("failed", rig_state_named(rig, run, "j"));
	ASSERT_EQ(DEAD_NOT_RETRIED, letter_of("j")->reason);
	rig_free(rig);
	PASS();
}

static void time_out(bool lost)
{
	struct rig_attempt attempt = rig_must_take(rig);

	rig_started(rig, attempt);
	rig_pass(rig, 50);
	CHECK(rig_state(rig, attempt.job) == STATE_STOPPING);
	if (!lost) {
		rig_done(rig, attempt, OUTCOME_STOPPED, 143);
		return;
	}
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
}

TEST time_outs_are_retried_where_the_policy_says_so(void)
{
	for (int lost = 0; lost < 2; lost++) {
		struct rec_job_spec *job = begin("j");

		job->retry_max = 1;
		job->timeout_ms = 50;
		job->retry_on = RETRY_ON_TIMEOUT;
		submit();
		time_out(lost);
		ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "j"));
		ASSERT(waits("j") >= LIMIT_RETRY_BACKOFF_MS);
		ASSERT_EQ(0, letter_of("j") != NULL);
		conn = rig_hello(rig, "w", 1);
		rig_pass(rig, 2000);
		time_out(false);
		ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "j"));
		ASSERT_EQ(DEAD_TIMED_OUT, letter_of("j")->reason);
		ASSERT_EQ(2, letter_of("j")->tries);
		rig_free(rig);
	}
	PASS();
}

TEST a_cancel_of_one_that_timed_out_is_no_retry(void)
{
	struct rec_job_spec *job = begin("j");
	struct rig_attempt attempt;

	job->retry_max = 5;
	job->timeout_ms = 50;
	job->retry_on = RETRY_ON_ALL;
	submit();
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 50);
	rig_cancel(rig, run, "j");
	rig_done(rig, attempt, OUTCOME_STOPPED, 143);
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "j"));
	ASSERT_EQ(0, letter_of("j") != NULL);
	rig_free(rig);
	PASS();
}

TEST lost_attempts_count_apart_from_retries(void)
{
	for (uint64_t limit = 0; limit < 3; limit++) {
		struct rec_job_spec *job = begin("j");
		int64_t lost = 0;

		job->retry_max = 50;
		job->crash_limit = limit;
		submit();
		fail_once(OUTCOME_EXIT, 3);
		while (rig_state(rig, rig_named(rig, run, "j")) == STATE_DELAYED) {
			rig_pass(rig, 60000);
			conn = rig_hello(rig, "w", 1);
			rig_started(rig, rig_must_take(rig));
			rig_gone(rig, conn);
			rig_pass(rig, LIMIT_GRACE_MS);
			lost++;
		}
		ASSERT_EQ((int64_t)(limit ? limit : LIMIT_CRASH_LIMIT), lost);
		ASSERT_STR_EQ("failed", rig_state_named(rig, run, "j"));
		ASSERT_EQ(DEAD_CRASH_LIMIT, letter_of("j")->reason);
		ASSERT_EQ(lost, letter_of("j")->crashes);
		ASSERT_EQ(lost + 1, letter_of("j")->tries);
		rig_free(rig);
	}
	PASS();
}

static bool refused(const char *words)
{
	bool said = rig_submit(rig, &graph) == 0 && rig_error_says(rig, ERR_INVALID, words);

	rig_free(rig);
	return said;
}

TEST policies_that_contradict_themselves_are_refused(void)
{
	static uint64_t codes[] = { 7, 7 }, zero[] = { 0 };

	begin("j")->backoff_max_ms = 1;
	ASSERT(refused("shorter than the first"));
	begin("j")->retry_on = 16;
	ASSERT(refused("there is no such kind of failure"));
	begin("j")->retry_codes = (struct u64_list){ codes, 2 };
	ASSERT(refused("ascending"));
	begin("j")->retry_codes = (struct u64_list){ zero, 1 };
	ASSERT(refused("from 1 to 255"));
	*begin("j") = (struct rec_job_spec){ .name = slice_str("j"), .script = slice_str("x"),
		.retry_on = RETRY_ON_SIGNAL, .retry_codes = { codes, 1 } };
	ASSERT(refused("retry_on doesn't include exits"));
	begin("j")->continue_on = 8;
	ASSERT(refused("continue_on"));
	begin("j")->worker_death = 2;
	ASSERT(refused("worker_death"));
	begin("j")->log_max = 4095;
	ASSERT(refused("log_max"));
	begin("j")->log_max = UINT64_C(1025) << 30;
	ASSERT(refused("log_max"));
	PASS();
}

SUITE(retries)
{
	RUN_TEST(waits_double_up_to_the_longest_and_never_fall_short);
	RUN_TEST(a_clock_set_back_makes_no_wait_longer_than_configured);
	RUN_TEST(only_listed_ends_are_retried);
	RUN_TEST(only_listed_codes_are_retried);
	RUN_TEST(time_outs_are_retried_where_the_policy_says_so);
	RUN_TEST(a_cancel_of_one_that_timed_out_is_no_retry);
	RUN_TEST(lost_attempts_count_apart_from_retries);
	RUN_TEST(policies_that_contradict_themselves_are_refused);
}

/* ---- continue_on ---- */

TEST a_forgiven_failure_counts_as_a_success(void)
{
	begin("a")->continue_on = CONTINUE_FAILED;
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "a-");
	submit();
	fail_once(OUTCOME_EXIT, 3);
	ASSERT_STR_EQ("failed", rig_state_named(rig, run, "a"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "b"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "c"));
	ASSERT(rig_job(rig, rig_named(rig, run, "a")).forgiven);
	ASSERT_EQ(0, letter_of("a") != NULL);
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	rig_run_all(rig);
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	ASSERT_EQ(1, rig_run_row(rig, (int64_t)run)->run.forgiven);
	/*
	 * A forgiven failure isn't repaired by a retry of failed jobs; a retry by name runs it again with its
	 * descendants.
	 */
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(0, rig->ok.count);
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_EQ(3, rig->ok.count);
	rig_run_all(rig);
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	ASSERT_EQ(0, rig_run_row(rig, (int64_t)run)->run.forgiven);
	rig_free(rig);
	PASS();
}

TEST other_ends_are_not_forgiven(void)
{
	struct rec_job_spec *job = begin("a");

	job->continue_on = CONTINUE_TIMED_OUT | CONTINUE_DENIED;
	job->timeout_ms = 50;
	graph_job(&graph, "b", "a");
	submit();
	fail_once(OUTCOME_EXIT, 3);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "b"));
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	time_out(false);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "a"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "b"));
	rig_run_all(rig);
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST denial_is_forgiven_where_it_says_so(void)
{
	struct rec_job_spec *gate = begin("gate");

	gate->argv.n = 0;
	gate->gate_count = 1;
	gate->continue_on = CONTINUE_DENIED;
	graph_job(&graph, "b", "gate");
	graph_job(&graph, "bad", "");
	submit();
	rig_act(rig, ACT_REJECT, run, "gate", 0);
	ASSERT_STR_EQ("denied", rig_state_named(rig, run, "gate"));
	ASSERT_EQ(0, letter_of("gate") != NULL);
	fail_once(OUTCOME_EXIT, 1);
	rig_run_all(rig);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "b"));
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST a_forgiven_failure_ends_no_fan_out(void)
{
	for (int forgiven = 0; forgiven < 2; forgiven++) {
		struct rec_job_spec *job = begin("a");

		job->continue_on = forgiven ? CONTINUE_FAILED : 0;
		job->group = 1;
		job->group_fail_fast = true;
		job = graph_job(&graph, "b", "");
		job->group = 1;
		job->group_fail_fast = true;
		submit();
		fail_once(OUTCOME_EXIT, 1);
		ASSERT_STR_EQ(forgiven ? "assigned" : "cancelled", rig_state_named(rig, run, "b"));
		rig_free(rig);
	}
	PASS();
}

SUITE(forgiven)
{
	RUN_TEST(a_forgiven_failure_counts_as_a_success);
	RUN_TEST(other_ends_are_not_forgiven);
	RUN_TEST(denial_is_forgiven_where_it_says_so);
	RUN_TEST(a_forgiven_failure_ends_no_fan_out);
}

/* ---- dead letters ---- */

static void kill_two(void)
{
	struct rec_job_spec *job = begin("a");

	job->priority = 81;
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "");
	submit();
	fail_once(OUTCOME_EXIT, 3);
	fail_once(OUTCOME_SIGNAL, 9);
}

TEST a_letter_has_the_whole_job(void)
{
	const struct row_dead *letter;
	struct arena arena = { 0 };
	struct rec_job_spec spec;
	struct slice bytes;

	kill_two();
	letter = letter_of("a");
	ASSERT(letter != NULL);
	ASSERT_EQ((int64_t)run, letter->run);
	ASSERT_EQ(DEAD_FAILED, letter->reason);
	ASSERT_EQ(rig->now.wall_ms, letter->died_ms);
	ASSERT_EQ(STATE_FAILED, letter->state);
	ASSERT_EQ(1, letter->tries);
	ASSERT_EQ(3, letter->code);
	ASSERT_EQ(80, letter->priority);
	ASSERT(slice_eq(letter->worker, slice_str("w")));
	ASSERT(slice_eq(letter->owner, slice_str("ana")));
	ASSERT(slice_eq(letter->run_name, slice_str("deploy")));
	bytes = letter->spec;
	ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &bytes, &arena, &spec, NULL));
	ASSERT(slice_eq(spec.name, slice_str("a")) && spec.priority == 81);
	ASSERT_EQ(2, rig_run_row(rig, (int64_t)run)->run.dead);
	ASSERT(rig_job(rig, rig_named(rig, run, "c")).dead);
	ASSERT_FALSE(rig_job(rig, rig_named(rig, run, "b")).dead);
	arena_free(&arena);
	rig_free(rig);
	PASS();
}

/* A job that was requeued or retried elsewhere keeps its labels and resources. */
TEST letter_has_labels_and_resources(void)
{
	struct slice labels[] = { slice_str("fast"), slice_str("gpu") }, asks[] = { slice_str("gpus=1"), slice_str("license=2") };
	struct core_input input = { .kind = INPUT_WORKER_HELLO };
	const struct row_dead *letter;
	struct arena arena = { 0 };
	struct rec_job_spec spec, *job = begin("a");
	struct slice bytes;

	input.conn = conn = ++rig->conn;
	input.hello = (struct input_hello){ .name = slice_str("special"), .instance = slice_str("0123456789abcdef"), .slots = 1,
					    .pid = 9, .labels = { labels, 2 }, .offers = { asks, 2 } };
	rig_step(rig, &input);
	job->labels = (struct slice_list){ labels, 2 };
	job->asks = (struct slice_list){ asks, 2 };
	submit();
	fail_once(OUTCOME_EXIT, 3);
	letter = letter_of("a");
	ASSERT(letter != NULL);
	ASSERT(slice_eq(letter->worker, slice_str("special")));
	bytes = letter->spec;
	ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &bytes, &arena, &spec, NULL));
	ASSERT_EQ(2, spec.labels.n);
	ASSERT(slice_eq(spec.labels.at[0], slice_str("fast")) && slice_eq(spec.labels.at[1], slice_str("gpu")));
	ASSERT_EQ(2, spec.asks.n);
	ASSERT(slice_eq(spec.asks.at[0], slice_str("gpus=1")) && slice_eq(spec.asks.at[1], slice_str("license=2")));
	arena_free(&arena);
	rig_free(rig);
	PASS();
}

TEST requeue_opens_a_round_and_takes_the_letter(void)
{
	kill_two();
	rig_act(rig, ACT_REQUEUE, run, "a", 0);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(0, letter_of("a") != NULL);
	ASSERT_EQ(1, letter_of("c") != NULL);
	rig_act(rig, ACT_REQUEUE, run, "a", 0);
	ASSERT_EQ(0, rig->ok.count);
	rig_act(rig, ACT_REQUEUE, run, "b", 0);
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(0, rig->errors);
	rig_act(rig, ACT_REQUEUE, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(3, rig_run_all(rig));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	ASSERT_EQ(0, rig->tables[TABLE_dead].count);
	rig_act(rig, ACT_REQUEUE, run, "nope", 0);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "no job 'nope'"));
	rig_free(rig);
	PASS();
}

TEST a_retry_takes_the_letter_as_well(void)
{
	kill_two();
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(0, rig->tables[TABLE_dead].count);
	fail_once(OUTCOME_EXIT, 4);
	ASSERT_EQ(4, letter_of("a")->code);
	ASSERT_EQ(1, letter_of("a")->round);
	rig_free(rig);
	PASS();
}

TEST discard_takes_the_letter_and_nothing_else(void)
{
	kill_two();
	rig_act(rig, ACT_DISCARD, run, "a", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(0, letter_of("a") != NULL);
	ASSERT_STR_EQ("failed", rig_state_named(rig, run, "a"));
	ASSERT_EQ(1, rig_run_row(rig, (int64_t)run)->run.dead);
	rig_act(rig, ACT_DISCARD, run, "a", 0);
	ASSERT_EQ(0, rig->ok.count);
	rig_act(rig, ACT_DISCARD, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(0, rig->tables[TABLE_dead].count);
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	/* The job whose dead letter was discarded may still be retried. */
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_EQ(2, rig->ok.count);
	rig_free(rig);
	PASS();
}

TEST discarded_letters_come_back(void)
{
	struct row_dead before;

	kill_two();
	before = *letter_of("a");
	rig_act(rig, ACT_DISCARD, run, "a", 2);
	ASSERT_EQ(0, rig->ok.count);     /* value 2 stands for round 1, and this letter is of round 0 */
	rig_act(rig, ACT_DISCARD, run, "a", 1);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_REINSTATE, run, "", 2);
	ASSERT(rig_error_says(rig, ERR_CHANGED, "1 of these jobs failed and have no dead letter, not 2"));
	rig_act(rig, ACT_REINSTATE, run, "a", 1);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(before.reason, letter_of("a")->reason);
	ASSERT_EQ(rig_job(rig, rig_named(rig, run, "a")).ended_ms, letter_of("a")->died_ms);
	ASSERT_EQ(before.code, letter_of("a")->code);
	ASSERT_EQ(before.tries, letter_of("a")->tries);
	ASSERT_EQ(2, rig_run_row(rig, (int64_t)run)->run.dead);
	rig_act(rig, ACT_DISCARD, run, "", 0);
	ASSERT_EQ(2, rig->ok.count);
	rig_act(rig, ACT_REINSTATE, run, "", 2);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(2, rig->tables[TABLE_dead].count);
	rig_free(rig);
	PASS();
}

/* Act on an ended run as the master does: with the rows of a run that has left memory. */
static void act_on_history(enum act_verb verb, const char *job)
{
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000, .request = ++rig->request };
	struct row rows[8];
	size_t count = 0;

	core_sweep(rig->core, UINT64_MAX);
	rows[count++] = *rig_run_row(rig, (int64_t)run);
	rows[count++] = rig->tables[TABLE_spec].at[0].row;
	for (uint64_t serial = 1; serial <= 3; serial++)
		for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
			if (rig->tables[TABLE_job].at[i].row.job.job == (int64_t)serial)
				rows[count++] = rig->tables[TABLE_job].at[i].row;
	input.reopen = (struct input_reopen){
		.act = { .verb = verb, .run = run, .job = slice_str(job) }, .rows = rows, .row_count = count,
	};
	rig->ok = (struct msg_ok){ 0 };
	rig_step(rig, &input);
}

TEST letters_of_run_out_of_memory_can_be_requeued(void)
{
	kill_two();
	act_on_history(ACT_DISCARD, "c");
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(0, letter_of("c") != NULL);
	ASSERT_EQ(1, rig_run_row(rig, (int64_t)run)->run.dead);
	ASSERT(rig_run_row(rig, (int64_t)run)->run.ended_ms > 0);
	act_on_history(ACT_DISCARD, "c");
	ASSERT_EQ(0, rig->ok.count);
	act_on_history(ACT_REQUEUE, "");
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(0, rig->tables[TABLE_dead].count);
	ASSERT_STR_EQ("failed", rig_state_named(rig, run, "c"));
	rig_run_all(rig);
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	ASSERT_EQ(0, rig->errors);
	rig_free(rig);
	PASS();
}

TEST letter_says_which_time_ran_out(void)
{
	struct rec_job_spec *job = begin("late");

	job->deadline_ms = 500;
	job->retry_max = 3;
	job->retry_on = RETRY_ON_ALL;
	graph_job(&graph, "queued", "")->dispatch_timeout_ms = 300;
	submit();
	rig_started(rig, rig_must_take(rig));
	rig_pass(rig, 300);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "queued"));
	ASSERT_EQ(DEAD_DISPATCH_TIMEOUT, letter_of("queued")->reason);
	ASSERT_EQ(0, letter_of("queued")->tries);
	rig_pass(rig, 200);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "late"));
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "late"));
	ASSERT_EQ(DEAD_DEADLINE, letter_of("late")->reason);
	rig_free(rig);
	PASS();
}

SUITE(letters)
{
	RUN_TEST(letter_says_which_time_ran_out);
	RUN_TEST(a_letter_has_the_whole_job);
	RUN_TEST(letter_has_labels_and_resources);
	RUN_TEST(requeue_opens_a_round_and_takes_the_letter);
	RUN_TEST(a_retry_takes_the_letter_as_well);
	RUN_TEST(discard_takes_the_letter_and_nothing_else);
	RUN_TEST(discarded_letters_come_back);
	RUN_TEST(letters_of_run_out_of_memory_can_be_requeued);
}

/* A time-out can be forgiven, whether the job timed out in the queue, at its deadline or by running too long. */
TEST every_timeout_can_be_forgiven(void)
{
	for (int kind = 0; kind < 3; kind++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job = graph_job(&graph, "a", "");
		uint64_t run;

		*(kind == 0 ? &job->dispatch_timeout_ms : kind == 1 ? &job->deadline_ms : &job->timeout_ms) = 1000;
		job->continue_on = CONTINUE_TIMED_OUT;
		graph_job(&graph, "b", "a");
		if (kind == 2)
			rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		if (kind == 2) {
			struct rig_attempt attempt = rig_must_take(rig);

			rig_started(rig, attempt);
			rig_pass(rig, 1001);
			rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
		} else {
			rig_pass(rig, 1001);
			rig_hello(rig, "w", 1);
		}
		ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "a"));
		ASSERT_EQ(1, rig_run_all(rig));
		ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
		rig_free(rig);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(retries);
	RUN_SUITE(forgiven);
	RUN_SUITE(letters);
	RUN_TEST(every_timeout_can_be_forgiven);
	GREATEST_MAIN_END();
}
