/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks held by jobs and by people. */
#include "tests/unit/core_lock.h"

TEST lock_is_shared_by_readers_and_had_alone_by_a_writer(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt first, second, third;
	uint64_t one, two, alone, late;

	rig_hello(rig, "w", 9);
	one = wants(rig, "db=shared");
	two = wants(rig, "db=shared");
	ASSERT_EQ(one, given_run(rig, &first));
	ASSERT_EQ(two, given_run(rig, &second));
	alone = wants(rig, "db");
	late = wants(rig, "db=shared");
	/*
	 * A waiting job that wants the lock alone comes first, so that jobs that share it can't overtake it for ever.
	 */
	ASSERT_EQ(0, given_run(rig, &third));
	ASSERT(strstr(why(rig, alone), "lock db: job 1/j has it, shared, until the job's attempt is gone, and 1 more") != NULL);
	ASSERT(strstr(why(rig, late), "job 3/j waits to have the lock alone, and comes first") != NULL);
	rig_done(rig, first, OUTCOME_EXIT, 0);
	ASSERT_EQ(0, given_run(rig, &third));
	rig_done(rig, second, OUTCOME_EXIT, 0);
	ASSERT_EQ(alone, given_run(rig, &third));
	ASSERT_EQ(0, given_run(rig, &first));
	rig_restart(rig);
	rig_hello_held(rig, "w", 9, (struct rec_held[]){ { third.job, third.epoch, PHASE_RUNNING } }, 1);
	third.conn = rig->conn;
	ASSERT_EQ(0, given_run(rig, &first));
	rig_done(rig, third, OUTCOME_EXIT, 0);
	ASSERT_EQ(late, given_run(rig, &first));
	rig_free(rig);
	PASS();
}

TEST cancelled_writer_lets_readers_go(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt first, other;
	uint64_t alone, late;

	rig_hello(rig, "w", 9);
	wants(rig, "db=shared");
	given_run(rig, &first);
	alone = wants(rig, "db");
	late = wants(rig, "db=shared");
	ASSERT_EQ(0, given_run(rig, &other));
	rig_act(rig, ACT_HOLD, alone, "", 0);
	ASSERT_EQ(late, given_run(rig, &other));
	rig_act(rig, ACT_RELEASE, alone, "", 0);
	late = wants(rig, "db=shared");
	ASSERT_EQ(0, given_run(rig, &other));
	/* A job with a higher priority gets the lock before the job that already waits. */
	rig_act(rig, ACT_PRIORITY, late, "", 60);
	ASSERT_EQ(late, given_run(rig, &other));
	late = wants(rig, "db=shared");
	ASSERT_EQ(0, given_run(rig, &other));
	rig_cancel(rig, alone, "");
	ASSERT_EQ(late, given_run(rig, &other));
	rig_free(rig);
	PASS();
}

TEST job_takes_all_of_its_locks_or_none(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt first, second, third;
	uint64_t both, other;

	rig_hello(rig, "w", 9);
	wants(rig, "a");
	given_run(rig, &first);
	both = submit(rig, EXEC_EXCLUSIVE, "b", "a");
	ASSERT_EQ(0, given_run(rig, &second));
	other = wants(rig, "b");
	ASSERT_EQ(other, given_run(rig, &second));
	rig_done(rig, first, OUTCOME_EXIT, 0);
	ASSERT_EQ(0, given_run(rig, &third));
	rig_done(rig, second, OUTCOME_EXIT, 0);
	ASSERT_EQ(both, given_run(rig, &third));
	rig_free(rig);
	PASS();
}

TEST unknown_job_keeps_its_lock(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt first, second;
	struct rec_lock_row rows[4];
	uint64_t once = submit(rig, EXEC_ONCE, "db", NULL), other, conn = rig_hello(rig, "w", 9);

	given_run(rig, &first);
	rig_started(rig, first);
	other = wants(rig, "db");
	rig_gone(rig, conn);
	rig_pass(rig, 200000);
	rig_hello(rig, "v", 9);
	ASSERT_EQ(0, given_run(rig, &second));
	rig_restart(rig);
	rig_hello(rig, "v", 9);
	ASSERT_EQ(0, given_run(rig, &second));
	ASSERT(strstr(why(rig, other), "which a person has to settle") != NULL);
	ASSERT_EQ(1, lock_rows(rig, rows));
	ASSERT_EQ(once, rows[0].run);
	ASSERT_EQ(1, rows[0].waiting);
	rig_act(rig, ACT_SETTLE, once, "j", SETTLE_DONE);
	ASSERT_EQ(other, given_run(rig, &second));
	rig_free(rig);
	PASS();
}

/* A job in state unknown keeps its lock, also if this is its second try. */
TEST unknown_second_try_keeps_its_lock(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t once = submit(rig, EXEC_ONCE, "db", NULL), conn = rig_hello(rig, "w", 9);

	for (int try_no = 1; try_no <= 2; try_no++) {
		ASSERT_EQ(once, given_run(rig, &attempt));
		ASSERT_EQ(try_no, (int)attempt.try_no);
		rig_started(rig, attempt);
		rig_gone(rig, conn);
		rig_pass(rig, 200000);
		ASSERT_STR_EQ("unknown", rig_state_named(rig, once, "j"));
		conn = rig_hello(rig, "v", 9);
		if (try_no == 1)
			rig_act(rig, ACT_SETTLE, once, "j", SETTLE_RETRY);
	}
	wants(rig, "db");
	ASSERT_EQ(0, given_run(rig, &attempt));
	rig_free(rig);
	PASS();
}

TEST people_take_and_drop_locks(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct rec_lock_row rows[4];
	uint64_t fence = lock_act(rig, SET_TAKE, "db", "deploy", false, 0), run;

	ASSERT(fence > 0);
	rig_hello(rig, "w", 9);
	run = wants(rig, "db=shared");
	ASSERT_EQ(0, given_run(rig, &attempt));
	ASSERT(strstr(why(rig, run), "deploy (ana) has it until the person drops it") != NULL);
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "db", "other", true, 0));
	ASSERT(rig_error_says(rig, ERR_BUSY, "deploy (ana) has it"));
	/* A lock that its owner takes again keeps its fencing number. */
	ASSERT_EQ(fence, lock_act(rig, SET_TAKE, "db", "deploy", false, 0));
	/* Locks taken without an owner's name by two scripts of one person have two owners. */
	ASSERT(lock_act(rig, SET_TAKE, "mine", "", false, 0) > fence);
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "mine", "", false, 0));
	ASSERT(rig_error_says(rig, ERR_BUSY, "lock mine is already held by ana"));
	lock_act(rig, SET_DROP, "mine", "", false, 0);
	lock_act(rig, SET_DROP, "db", "other", false, 0);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "other doesn't have lock db"));
	rig_restart(rig);
	rig_hello(rig, "w", 9);
	ASSERT_EQ(0, given_run(rig, &attempt));
	/* The owner takes the lock again as shared: from now on others may share it. */
	ASSERT_EQ(fence, lock_act(rig, SET_TAKE, "db", "deploy", true, 0));
	ASSERT_EQ(run, given_run(rig, &attempt));
	ASSERT_EQ(2, lock_rows(rig, rows));
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "db", "deploy", false, 0));
	ASSERT(rig_error_says(rig, ERR_BUSY, "and 1 more"));
	lock_act(rig, SET_DROP, "db", "deploy", false, 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "db", "deploy", false, 0));
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	core_sweep(rig->core, UINT64_MAX);
	ASSERT_EQ(0, lock_rows(rig, rows));
	rig_restart(rig);
	ASSERT(lock_act(rig, SET_TAKE, "db", "deploy", false, 0) > fence);
	rig_free(rig);
	PASS();
}

TEST lock_time_runs_on_over_a_restart(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t run;

	lock_act(rig, SET_TAKE, "db", "ana", false, 60000);
	run = wants(rig, "db");
	rig_hello(rig, "w", 1);
	ASSERT(strstr(why(rig, run), "ana has it for another 1m") != NULL);
	rig_pass(rig, 30000);
	lock_act(rig, SET_TAKE, "db", "ana", false, 60000);     /* taking the lock again starts its time limit anew */
	rig_pass(rig, 59000);
	ASSERT_EQ(0, given_run(rig, &attempt));
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	rig_pass(rig, 900);
	ASSERT_EQ(0, given_run(rig, &attempt));
	rig_pass(rig, 101);
	ASSERT_EQ(run, given_run(rig, &attempt));
	rig_free(rig);
	PASS();
}

/* The last request counts: an owner who takes the lock again without a time limit keeps it until it is dropped. */
TEST lock_taken_again_ends_at_its_latest_time(void)
{
	struct rig *rig = rig_new();
	struct rec_lock_row rows[4];

	lock_act(rig, SET_TAKE, "db", "ana", false, 5000);
	lock_act(rig, SET_TAKE, "db", "ana", false, 0);
	rig_pass(rig, 60000);
	ASSERT_EQ(1, lock_rows(rig, rows));
	ASSERT_EQ(0, rows[0].until_ms);
	rig_free(rig);
	PASS();
}

TEST lock_refuses_bad_names_owners_and_modes(void)
{
	struct rig *rig = rig_new();

	ASSERT_EQ(0, submit(rig, EXEC_RETRY, "db", NULL));
	ASSERT(rig_error_says(rig, ERR_INVALID, "exclusive or once"));
	ASSERT_EQ(0, wants(rig, "db=alone"));
	ASSERT(rig_error_says(rig, ERR_INVALID, "NAME=shared"));
	ASSERT_EQ(0, submit(rig, EXEC_ONCE, "db", "db=shared"));
	ASSERT(rig_error_says(rig, ERR_DUPLICATE, "twice"));
	lock_act(rig, SET_TAKE, "no name", "", false, 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "the name of a lock may have letters, digits, _ . -, at most"));
	lock_act(rig, SET_TAKE, "db", "a\nb", false, 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "owner"));
	lock_act(rig, SET_TAKE, "db", "", false, (LIMIT_SPAN_MAX_S + 1) * UINT64_C(1000));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "ten years"));
	lock_act(rig, SET_FIRE, "db", "", false, 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "unknown change of a lock: 8"));
	rig_free(rig);
	PASS();
}

static bool loads(struct rig *rig, const char *words)
{
	struct error error = { 0 };
	struct outbox out = { 0 };
	struct core *core = rig_load(rig, rig->now, &out, &error);
	bool right = words ? !core && error.code == ERR_STORE_TRUST && strstr(error.text, words) : core != NULL;

	core_free(core);
	outbox_free(&out);
	return right;
}

#define WITH(field, value, words) \
	do { \
		int64_t before_ = (field); \
		(field) = (value); \
		ASSERT(loads(rig, words)); \
		(field) = before_; \
	} while (0)

TEST contradictory_rows_of_locks_are_refused(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct row_lock_hold *one, *two;

	lock_act(rig, SET_TAKE, "db", "one", true, 5000);
	lock_act(rig, SET_TAKE, "db", "two", true, 0);
	rig_hello(rig, "w", 2);
	wants(rig, "db=shared");
	given_run(rig, &attempt);
	one = &rig->tables[TABLE_lock_hold].at[0].row.lock_hold;
	two = &rig->tables[TABLE_lock_hold].at[1].row.lock_hold;
	ASSERT(loads(rig, NULL));
	WITH(one->shared, 0, "lock db: its stored owners exclude each other");
	WITH(two->shared, 0, "exclude each other");
	WITH(two->shared, 2, "contradicts itself");
	WITH(one->fence, 0, "contradicts itself");
	WITH(two->fence, two->fence + 1, "contradicts itself");
	WITH(one->ttl_ms, 0, "contradicts itself");
	WITH(one->due_ms, 0, "contradicts itself");
	WITH(one->due_ms, -1, "contradicts itself");
	WITH(two->ttl_ms, 1, "contradicts itself");
	WITH(one->ttl_ms, (LIMIT_SPAN_MAX_S + 1) * INT64_C(1000), "contradicts itself");
	two->owner = slice_str("");
	ASSERT(loads(rig, "contradicts itself"));
	two->owner = one->owner;
	ASSERT(loads(rig, "exclude each other"));
	two->lock = slice_str("no name");
	ASSERT(loads(rig, "contradicts itself"));
	/* No other job may have the lock of a job that has it alone. */
	two->lock = slice_str("other");
	ASSERT(loads(rig, NULL));
	WITH(one->shared, 0, "exclude each other");
	rig_free(rig);
	PASS();
}

/* A wall clock of another boot that is ahead or behind doesn't lengthen the time for which the lock was taken. */
TEST lock_of_another_boot_ends_in_time(int64_t ahead_ms)
{
	struct rig *rig = rig_new();
	struct rec_lock_row rows[4];

	lock_act(rig, SET_TAKE, "db", "ana", false, 5000);
	rig->tables[TABLE_lock_hold].at[0].row.lock_hold.due_ms += ahead_ms;
	rig_restart(rig);
	ASSERT_EQ(1, lock_rows(rig, rows));
	rig_pass(rig, 4999);
	ASSERT_EQ(1, lock_rows(rig, rows));
	rig_pass(rig, 2);
	ASSERT_EQ(0, lock_rows(rig, rows));
	rig_free(rig);
	PASS();
}

/* People who want to share the lock wait behind a job that wants it alone; otherwise the job would never get it. */
TEST people_wait_behind_a_job_that_wants_the_lock_alone(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t job;

	lock_act(rig, SET_TAKE, "db", "one", true, 0);
	rig_hello(rig, "w", 2);
	job = wants(rig, "db");
	ASSERT_EQ(0, given_run(rig, &attempt));
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "db", "two", true, 0));
	ASSERT(rig_error_says(rig, ERR_BUSY, "a job waits to have the lock alone"));
	lock_act(rig, SET_DROP, "db", "one", false, 0);
	ASSERT_EQ(job, given_run(rig, &attempt));
	rig_free(rig);
	PASS();
}

TEST drop_releases_only_the_owners_share(void)
{
	struct rig *rig = rig_new();
	struct rec_lock_row rows[8];
	uint64_t fences[] = { lock_act(rig, SET_TAKE, "db", "a", true, 0), lock_act(rig, SET_TAKE, "db", "b", true, 0), lock_act(rig, SET_TAKE, "db", "c", true, 0) };
	uint64_t cursor = 0;
	size_t count = 0;

	lock_act(rig, SET_DROP, "db", "b", true, 0);
	while ((cursor = view_lock(rig->core, cursor, &rig->arena, &rows[count])))
		count++;
	ASSERT_EQ(2, count);
	for (size_t i = 0; i < count; i++)
		ASSERT(rows[i].fence == fences[0] || rows[i].fence == fences[2]);
	rig_free(rig);
	PASS();
}

SUITE(locks)
{
	RUN_TEST(lock_is_shared_by_readers_and_had_alone_by_a_writer);
	RUN_TEST(cancelled_writer_lets_readers_go);
	RUN_TEST(job_takes_all_of_its_locks_or_none);
	RUN_TEST(unknown_job_keeps_its_lock);
	RUN_TEST(unknown_second_try_keeps_its_lock);
	RUN_TEST(people_take_and_drop_locks);
	RUN_TEST(lock_time_runs_on_over_a_restart);
	RUN_TEST(lock_taken_again_ends_at_its_latest_time);
	RUN_TEST(lock_refuses_bad_names_owners_and_modes);
	RUN_TEST(contradictory_rows_of_locks_are_refused);
	RUN_TESTp(lock_of_another_boot_ends_in_time, 1000000);
	RUN_TESTp(lock_of_another_boot_ends_in_time, 3000);
	RUN_TEST(people_wait_behind_a_job_that_wants_the_lock_alone);
	RUN_TEST(drop_releases_only_the_owners_share);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(locks);
	GREATEST_MAIN_END();
}
