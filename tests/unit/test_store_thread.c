/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The store's thread: order of turns, several turns in a commit, lingering, queries, and what a kill leaves. */
#include <signal.h>

#include "greatest.h"
#include "store_box.h"

#include "store/backup.h"

#define HOUR_NS (3600 * NS_PER_S)

TEST turns_come_back_in_order(void)
{
	struct store *store = box_start(0);
	struct outbox *turn;
	struct store_stats stats;

	for (uint64_t number = 1; number <= 1000; number++) {
		turn = box_turn(number);
		box_job(turn, 1, (int64_t)number, STATE_RUNNING);
		store_commit(store, turn);
	}
	for (uint64_t number = 1; number <= 1000; number++) {
		turn = box_take(store);
		ASSERT_EQ_FMT(number, turn->turn, "%lu");
		box_free(turn);
	}
	ASSERT(!store_take(store));
	store_stats(store, &stats);
	ASSERT_EQ_FMT((uint64_t)1000, stats.turns, "%lu");
	ASSERT_EQ_FMT((uint64_t)1000, stats.rows, "%lu");
	ASSERT(stats.commits >= 1 && stats.commits <= 1000);
	ASSERT(stats.longest_commit_ns >= stats.last_commit_ns && stats.last_commit_ns > 0);
	store_close(store);
	PASS();
}

TEST a_turn_without_rows_needs_no_transaction(void)
{
	struct store *store = box_start(0);
	struct store_stats stats;

	box_commit(store, box_turn(1));
	store_stats(store, &stats);
	ASSERT_EQ_FMT((uint64_t)1, stats.turns, "%lu");
	ASSERT_EQ_FMT((uint64_t)0, stats.commits, "%lu");
	store_close(store);
	PASS();
}

/* Nobody waits, so the thread lingers; the 64th row ends that: one commit for all turns. */
TEST company_shares_one_commit(void)
{
	struct store *store = box_start(HOUR_NS);
	struct store_stats stats;
	struct store_query query = { .what = READ_JOB, .from = 5 };

	store_may_linger(store, true);
	for (uint64_t number = 1; number <= 64; number++) {
		struct outbox *turn = box_turn(number);

		box_job(turn, 1, (int64_t)number / 8, number % 2 ? STATE_RUNNING : STATE_SUCCEEDED);
		ASSERT(!store_take(store));
		store_commit(store, turn);
		/* Wait long enough for a thread that doesn't linger to commit. */
		if (number == 1)
			usleep(20000);
	}
	for (uint64_t number = 1; number <= 64; number++)
		box_free(box_take(store));
	store_stats(store, &stats);
	ASSERT_EQ_FMT((uint64_t)1, stats.commits, "%lu");
	ASSERT_EQ_FMT((uint64_t)64, stats.turns, "%lu");
	/* Jobs 0 to 8 were put more than once: only the last put of each is written. */
	ASSERT_EQ_FMT((uint64_t)64 - 9, stats.replaced, "%lu");
	box_ask(store, &query);
	ASSERT_EQ_FMT((int64_t)STATE_RUNNING, query.rows[0].job.state, "%ld");
	arena_free(&query.arena);
	store_close(store);
	PASS();
}

TEST lingering_ends_when_somebody_waits(void)
{
	struct store *store = box_start(HOUR_NS);
	struct store_query query = { .what = READ_JOB, .from = 2 };
	struct outbox *turn = box_turn(1);

	store_may_linger(store, true);
	box_job(turn, 1, 1, STATE_READY);
	store_commit(store, turn);
	store_may_linger(store, false);
	box_free(box_take(store));
	store_may_linger(store, true);
	turn = box_turn(2);
	box_job(turn, 1, 2, STATE_READY);
	store_commit(store, turn);
	box_ask(store, &query);
	ASSERT_EQ_FMT((size_t)1, query.row_count, "%zu");
	arena_free(&query.arena);
	box_free(box_take(store));
	turn = box_turn(3);
	box_job(turn, 1, 3, STATE_READY);
	store_commit(store, turn);
	store_close(store);
	box_free(turn);
	store = box_start(0);
	query = (struct store_query){ .what = READ_JOB, .from = 3 };
	box_ask(store, &query);
	ASSERTm("closing commits what was handed over", query.row_count == 1);
	arena_free(&query.arena);
	store_close(store);
	PASS();
}

/* The owner looks for durable turns without waiting, or waits shortly or long: every turn is reported, and in order. */
TEST an_owner_that_watches_loses_nothing(void)
{
	const int64_t spans_ns[] = { 0, 10000, 100000, 10 * NS_PER_S };
	struct store *store = box_start(HOUR_NS);
	size_t unwoken = 0;

	for (uint64_t number = 1; number <= 1000; number++) {
		struct outbox *turn = box_turn(number);

		box_job(turn, 1, (int64_t)number, STATE_RUNNING);
		store_commit(store, turn);
		store_watch(store, clock_mono_ns() + spans_ns[number % 4]);
		turn = store_take(store);
		ASSERT(turn || number % 4 != 3);
		unwoken += turn != NULL;
		if (!turn)
			turn = box_take(store);
		ASSERT_EQ_FMT(number, turn->turn, "%lu");
		box_free(turn);
	}
	ASSERT(unwoken >= 250);
	store_close(store);
	PASS();
}

TEST a_question_is_answered_behind_the_commits_before_it(void)
{
	struct store *store = box_start(0);

	for (uint64_t number = 1; number <= 50; number++) {
		struct store_query query = { .what = READ_JOB, .from = number };
		struct outbox *turn = box_turn(number);

		box_job(turn, 1, (int64_t)number, STATE_READY);
		store_commit(store, turn);
		box_ask(store, &query);
		ASSERT_EQ_FMT((size_t)1, query.row_count, "%zu");
		ASSERT(store_take(store) == turn);
		arena_free(&query.arena);
		box_free(turn);
	}
	store_close(store);
	PASS();
}

TEST the_log_is_copied_at_rest_and_gone_after_the_end(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);
	struct store_stats stats;
	char log_path[SCRATCH_SIZE + 64];

	snprintf(log_path, sizeof(log_path), "%s-wal", box_path);
	box_job(turn, 1, 1, STATE_READY);
	box_commit(store, turn);
	ASSERT(access(log_path, F_OK) == 0);
	do {
		usleep(10000);
		store_stats(store, &stats);
	} while (stats.checkpoints == 0);
	ASSERT_EQ_FMT((uint64_t)1, stats.checkpoints, "%lu");
	store_close(store);
	ASSERT(access(log_path, F_OK) != 0);
	ASSERTm("no shared memory file", snprintf(log_path, sizeof(log_path), "%s-shm", box_path) > 0 &&
		access(log_path, F_OK) != 0);
	PASS();
}

/* Commit for ever with several turns under way, and report each durable one. */
static _Noreturn void commit_for_ever(int report_fd)
{
	struct store *store = box_start(0);
	uint64_t next = 1;

	for (;;) {
		struct outbox *turn;

		for (; next % 7 != 0; next++) {
			turn = box_turn(next);
			for (int64_t i = 0; i < 5; i++)
				box_job(turn, 1, (int64_t)next * 10 + i, STATE_READY);
			store_commit(store, turn);
		}
		next++;
		turn = box_take(store);
		do {
			if (write(report_fd, &turn->turn, sizeof(turn->turn)) != sizeof(turn->turn))
				_exit(1);
			box_free(turn);
		} while ((turn = store_take(store)));
	}
}

static enum greatest_test_res kill_after(uint64_t turns)
{
	uint64_t turn, last = 0;
	int fds[2], status;
	pid_t child;
	struct store *store;

	ASSERT_EQ_FMT(0, pipe(fds), "%d");
	child = fork();
	ASSERT(child >= 0);
	if (child == 0) {
		close(fds[0]);
		commit_for_ever(fds[1]);
	}
	close(fds[1]);
	while (read(fds[0], &turn, sizeof(turn)) == sizeof(turn)) {
		last = turn;
		if (last >= turns)
			kill(child, SIGKILL);
	}
	close(fds[0]);
	ASSERT_EQ_FMT(child, waitpid(child, &status, 0), "%d");
	ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	store = box_start(0);
	for (turn = 1; turn <= last; turn++)
		for (uint64_t i = 0; i < 5 && turn % 7 != 0; i++) {
			struct store_query query = { .what = READ_JOB, .from = turn * 10 + i };

			box_ask(store, &query);
			ASSERT_EQ_FMT((size_t)1, query.row_count, "%zu");
			arena_free(&query.arena);
		}
	store_close(store);
	PASS();
}

TEST what_was_reported_survives_a_kill(void)
{
	for (uint64_t turns = 1; turns <= 201; turns += 50) {
		CHECK_CALL(kill_after(turns));
		ASSERT_EQ_FMT(0, unlink(box_path), "%d");
	}
	PASS();
}

static long count_jobs(const char *path)
{
	sqlite3 *handle;
	sqlite3_stmt *statement = NULL;
	long count = -1;

	if (sqlite3_open(path, &handle) == SQLITE_OK &&
	    sqlite3_prepare_v2(handle, "SELECT count(*) FROM job", -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		count = (long)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return count;
}

static struct outbox *many_jobs(uint64_t number, int64_t first, int64_t count)
{
	struct outbox *turn = box_turn(number);

	for (int64_t job = 0; job < count; job++)
		box_job(turn, 1, first + job, STATE_READY);
	return turn;
}

/* A copy doesn't delay commits, and contains everything that was committed before it was requested. */
TEST a_copy_holds_up_nobody(void)
{
	struct store *store = box_start(0);
	struct store_copy copy = { 0 }, *done = NULL;
	uint64_t number = 1, meanwhile = 0;
	struct error error;
	char part[SCRATCH_SIZE + 64];

	snprintf(part, sizeof(part), "%s.part", box_path);
	copy.part = part;
	box_commit(store, many_jobs(number, 0, 200000));
	store_copy(store, &copy);
	while (!(done = store_copied(store))) {
		number++;
		box_commit(store, many_jobs(number, 200000 + (int64_t)number, 1));
		meanwhile++;
	}
	ASSERT(done == &copy);
	ASSERT_EQ_FMTm(copy.error.text, ERR_NONE, copy.error.code, "%d");
	ASSERT_GT(meanwhile, 0);
	ASSERT_EQ_FMT(ERR_NONE, backup_complete(part, &error), "%d");
	ASSERT_GT(count_jobs(part), 199999);
	/* The target exists now: a copy never overwrites a file. */
	store_copy(store, &copy);
	while (!(done = store_copied(store)))
		box_sleep();
	ASSERT_EQ_FMT(ERR_SYSTEM, copy.error.code, "%d");
	ASSERT_GT(count_jobs(part), 199999);
	store_close(store);
	PASS();
}

/* The thread has copied its log and sleeps without a time limit, so the request for a copy must wake it. */
TEST copy_of_a_store_at_rest_is_made_at_once(void)
{
	struct store *store = box_start(0);
	struct store_query query = { .what = READ_JOB, .from = 2 };
	struct store_stats stats = { 0 };
	char part[SCRATCH_SIZE + 64];

	box_commit(store, many_jobs(1, 0, 1));
	for (int i = 0; i < BOX_WAIT_MS && stats.checkpoints == 0; i++) {
		usleep(1000);
		store_stats(store, &stats);
	}
	for (int round = 0; round < 5; round++) {
		struct store_copy copy = { .part = part };

		snprintf(part, sizeof(part), "%s.part%d", box_path, round);
		box_ask(store, &query);
		arena_free(&query.arena);
		usleep(1000);
		store_copy(store, &copy);
		while (!store_copied(store))
			box_sleep();
		ASSERT_EQ_FMTm(copy.error.text, ERR_NONE, copy.error.code, "%d");
	}
	store_close(store);
	PASS();
}

TEST a_copy_ends_with_the_store(void)
{
	struct store *store = box_start(0);
	struct store_copy copy = { 0 };
	char part[SCRATCH_SIZE + 64];

	snprintf(part, sizeof(part), "%s.part", box_path);
	copy.part = part;
	box_commit(store, many_jobs(1, 0, 60000));
	store_copy(store, &copy);
	store_stop(store);
	ASSERT(store_copied(store) == &copy);
	ASSERT(!store_copied(store));
	if (copy.error.code != ERR_NONE)
		ASSERTm("nothing half-made stays", access(part, F_OK) != 0);
	store_close(store);
	PASS();
}

SUITE(store_thread)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(turns_come_back_in_order);
	RUN_TEST(a_turn_without_rows_needs_no_transaction);
	RUN_TEST(company_shares_one_commit);
	RUN_TEST(lingering_ends_when_somebody_waits);
	RUN_TEST(an_owner_that_watches_loses_nothing);
	RUN_TEST(a_question_is_answered_behind_the_commits_before_it);
	RUN_TEST(the_log_is_copied_at_rest_and_gone_after_the_end);
	RUN_TEST(what_was_reported_survives_a_kill);
	RUN_TEST(a_copy_holds_up_nobody);
	RUN_TEST(copy_of_a_store_at_rest_is_made_at_once);
	RUN_TEST(a_copy_ends_with_the_store);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_thread);
	GREATEST_MAIN_END();
}
