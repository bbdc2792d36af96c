/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A full disk and a failing disk: at times, and at each single call. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "greatest.h"
#include "store_box.h"
#include "store_layer.h"

enum fault { FAULT_NONE, FAULT_FULL, FAULT_WRITE, FAULT_SYNC, FAULT_NO_GROWTH, FAULT_NO_AHEAD };

static atomic_int fault;
static atomic_int syncs;
static atomic_int log_writes;            /* those that aren't zeros ahead of the log's end */
static atomic_int ahead_writes;
static atomic_long ends[LAYER_FILES];    /* highest offset written in each file; set back when the file is truncated */

/* The planned failure: calls of one kind fail from number at to number until with this result. */
static struct { enum layer_op op; int result; long at, until; } planned;
static atomic_long planned_seen;

static int plan_cb(const struct layer_call *call)
{
	long number;

	if (planned.until == 0 || call->op != planned.op || call->which == LAYER_OTHER)
		return SQLITE_OK;
	number = atomic_fetch_add(&planned_seen, 1);
	return number >= planned.at && number < planned.until ? planned.result : SQLITE_OK;
}

static bool is_zero(const struct layer_call *call)
{
	const uint8_t *bytes = call->data;

	return call->len > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)call->len - 1) == 0;
}

static int fault_cb(const struct layer_call *call, bool *skip)
{
	int kind = atomic_load(&fault);

	(void)skip;
	if (call->op == LAYER_WRITE && call->which == LAYER_LOG)
		atomic_fetch_add(is_zero(call) ? &ahead_writes : &log_writes, 1);
	if (call->op == LAYER_WRITE && (kind == FAULT_FULL || (kind == FAULT_NO_AHEAD && is_zero(call))))
		return SQLITE_FULL;
	if (call->op == LAYER_WRITE && call->at + call->len > atomic_load(&ends[call->which])) {
		if (kind == FAULT_NO_GROWTH)
			return SQLITE_FULL;
		atomic_store(&ends[call->which], (long)(call->at + call->len));
	}
	if (call->op == LAYER_WRITE && kind == FAULT_WRITE)
		return SQLITE_IOERR_WRITE;
	if (call->op == LAYER_SYNC) {
		atomic_fetch_add(&syncs, 1);
		if (kind == FAULT_SYNC)
			return SQLITE_IOERR_FSYNC;
	}
	return plan_cb(call);
}

static bool has_job(struct store *store, uint64_t job)
{
	struct store_query query = { .what = READ_JOB, .from = job };
	bool found;

	box_ask(store, &query);
	found = query.row_count == 1;
	arena_free(&query.arena);
	return found;
}

TEST every_commit_is_synced(void)
{
	struct store *store = box_start(0);

	for (uint64_t number = 1; number <= 20; number++) {
		struct outbox *turn = box_turn(number);
		int before = atomic_load(&syncs);

		box_job(turn, 1, (int64_t)number, STATE_READY);
		box_commit(store, turn);
		ASSERT_GT(atomic_load(&syncs), before);
	}
	store_close(store);
	PASS();
}

/* SQLite would write each page with two calls; the layer below the store joins all of a commit into one. */
TEST a_commit_is_one_write(void)
{
	struct store *store = box_start(0);

	for (uint64_t number = 1; number <= 20; number++) {
		struct outbox *turn = box_turn(number);
		int before = atomic_load(&log_writes);

		for (int64_t job = 0; job < 20; job++)
			box_job(turn, (int64_t)number, (int64_t)number * 1000 + job, STATE_READY);
		box_commit(store, turn);
		/* The first commit also writes the log's header. */
		if (number > 1)
			ASSERT_EQ_FMT(1, atomic_load(&log_writes) - before, "%d");
	}
	store_close(store);
	PASS();
}

/* A sync is slow when the file has grown: so a growing log is made longer for many commits at once. */
TEST few_commits_change_the_size_of_the_log(void)
{
	struct store *store = box_start(0);
	int grown = 0;
	off_t last = 0;

	for (uint64_t number = 1; number <= 60; number++) {
		struct outbox *turn = box_turn(number);
		struct stat info;
		char log[sizeof(box_path) + 8];

		box_job(turn, 1, (int64_t)number, STATE_READY);
		box_commit(store, turn);
		snprintf(log, sizeof(log), "%s-wal", box_path);
		ASSERT_EQ(0, stat(log, &info));
		grown += info.st_size != last;
		last = info.st_size;
	}
	ASSERTm("60 commits of some pages each make the log longer a few times", grown <= 6);
	store_close(store);
	PASS();
}

/* Without room for zeros ahead the log ends at its last frame, and the commit is as good as ever. */
TEST a_commit_needs_no_room_ahead_of_it(void)
{
	int before = atomic_load(&ahead_writes);
	struct store *store;

	atomic_store(&fault, FAULT_NO_AHEAD);
	store = box_start(0);
	for (uint64_t number = 1; number <= 20; number++) {
		struct outbox *turn = box_turn(number);

		box_job(turn, 1, (int64_t)number, STATE_READY);
		box_commit(store, turn);
	}
	atomic_store(&fault, FAULT_NONE);
	ASSERT(atomic_load(&ahead_writes) > before);
	ASSERT(has_job(store, 20));
	store_close(store);
	PASS();
}

TEST a_full_disk_delays_and_loses_nothing(void)
{
	struct store *store = box_start(0);
	struct outbox *first = box_turn(1), *second = box_turn(2);
	struct store_stats stats;
	char ballast[SCRATCH_SIZE + 64];

	snprintf(ballast, sizeof(ballast), "%s-ballast", box_path);
	ASSERTm("room is kept for this", access(ballast, F_OK) == 0);
	box_job(first, 1, 1, STATE_READY);
	box_job(second, 1, 2, STATE_READY);
	atomic_store(&fault, FAULT_FULL);
	store_commit(store, first);
	do {
		usleep(1000);
		store_stats(store, &stats);
	} while (!stats.stuck);
	ASSERT(stats.full);
	ASSERTm("and given up", access(ballast, F_OK) != 0);
	store_commit(store, second);
	ASSERTm("questions are answered meanwhile", !has_job(store, 1));
	ASSERT(!store_take(store));
	ASSERT_EQ_FMT((uint64_t)0, stats.commits, "%lu");
	atomic_store(&fault, FAULT_NONE);
	ASSERT(box_take(store) == first);
	ASSERT(box_take(store) == second);
	store_stats(store, &stats);
	ASSERT(!stats.stuck);
	while (stats.full) {
		usleep(1000);
		store_stats(store, &stats);
	}
	ASSERTm("it is kept again when there is room", access(ballast, F_OK) == 0);
	ASSERT(has_job(store, 1));
	ASSERT(has_job(store, 2));
	store_close(store);
	box_free(first);
	box_free(second);
	PASS();
}

static void until_stuck(struct store *store, struct store_stats *ret_stats)
{
	for (store_stats(store, ret_stats); !ret_stats->stuck; store_stats(store, ret_stats))
		box_sleep();
}

TEST last_reserve_is_kept_for_what_makes_room(void)
{
	struct store *store = box_start(0);
	struct outbox *first = box_turn(1), *turn = box_turn(2);
	struct store_stats stats;
	char last[sizeof(box_path) + 16];

	snprintf(last, sizeof(last), "%s-last-reserve", box_path);
	box_job(first, 1, 1, STATE_READY);
	box_job(turn, 1, 2, STATE_READY);
	box_commit(store, first);
	atomic_store(&fault, FAULT_FULL);
	store_commit(store, turn);
	until_stuck(store, &stats);
	ASSERTm("a result doesn't get it", stats.reserve && access(last, F_OK) == 0);
	store_use_reserve(store);
	while (stats.reserve) {
		usleep(1000);
		store_stats(store, &stats);
	}
	ASSERTm("a cancel does", access(last, F_OK) != 0);
	atomic_store(&fault, FAULT_NONE);
	ASSERT(box_take(store) == turn);
	while (!stats.reserve) {
		usleep(1000);
		store_stats(store, &stats);
	}
	ASSERTm("it is kept again when there is room", access(last, F_OK) == 0);
	store_close(store);
	box_free(turn);
	PASS();
}

static void change_job(struct store *store, uint64_t *number, int times)
{
	for (int i = 0; i < times; i++) {
		struct outbox *turn = box_turn(++*number);

		box_job(turn, 1, 1, i % 2 ? STATE_READY : STATE_RUNNING);
		box_commit(store, turn);
	}
}

/*
 * No file can grow, and there is no ballast: the log starts again at its beginning over old pages, also under the next
 * master.
 */
TEST log_begins_anew_in_its_place_on_a_full_disk(void)
{
	struct rlimit before, small;
	char log[sizeof(box_path) + 8];
	uint64_t number = 0;
	struct store *store = box_start(0);

	ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
	small = (struct rlimit){ 1 << 20, before.rlim_max };
	snprintf(log, sizeof(log), "%s-wal", box_path);
	for (int which = 0; which < LAYER_FILES; which++)
		atomic_store(&ends[which], 0);
	/* After an orderly close the file has all pages that are changed here. */
	change_job(store, &number, 1);
	store_close(store);
	signal(SIGXFSZ, SIG_IGN);
	for (const char **suffix = (const char *[]){ "-ballast", "-last-reserve", NULL }; *suffix; suffix++) {
		char name[sizeof(box_path) + 16];

		snprintf(name, sizeof(name), "%s%s", box_path, *suffix);
		ASSERT_EQ(0, unlink(name));
	}
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &small));
	for (int life = 0; life < 3; life++) {
		store = box_start(0);
		if (life == 0)
			change_job(store, &number, 10);
		atomic_store(&fault, FAULT_NO_GROWTH);
		change_job(store, &number, 100);
		ASSERT(has_job(store, 1));
		store_close(store);
		ASSERTm("the log has its place, also for the next life", access(log, F_OK) == 0);
	}
	atomic_store(&fault, FAULT_NONE);
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &before));
	PASS();
}

TEST closing_with_a_full_disk_gives_up(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);
	struct store_stats stats;

	box_job(turn, 1, 1, STATE_READY);
	atomic_store(&fault, FAULT_FULL);
	store_commit(store, turn);
	do {
		usleep(1000);
		store_stats(store, &stats);
	} while (!stats.stuck);
	store_close(store);
	atomic_store(&fault, FAULT_NONE);
	box_free(turn);
	store = box_start(0);
	ASSERT(!has_job(store, 1));
	store_close(store);
	PASS();
}

/* A child commits, then its disk fails: it must die instead of reporting the next commit as durable. */
static enum greatest_test_res dies_of(enum fault which)
{
	int fds[2], status;
	uint64_t told, count = 0;
	pid_t child;
	struct store *store;

	ASSERT_EQ_FMT(0, pipe(fds), "%d");
	child = fork();
	ASSERT(child >= 0);
	if (child == 0) {
		struct outbox *turn;

		close(fds[0]);
		if (sigaction(SIGABRT, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL) != 0)
			_exit(2);
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		store = box_start(0);
		for (uint64_t number = 1; number <= 3; number++) {
			turn = box_turn(number);
			box_job(turn, 1, (int64_t)number, STATE_READY);
			if (number == 3)
				atomic_store(&fault, (int)which);
			store_commit(store, turn);
			turn = box_take(store);
			if (write(fds[1], &turn->turn, sizeof(turn->turn)) != sizeof(turn->turn))
				_exit(2);
			box_free(turn);
		}
		_exit(0);
	}
	close(fds[1]);
	while (read(fds[0], &told, sizeof(told)) == sizeof(told))
		count = told;
	close(fds[0]);
	ASSERT_EQ_FMT(child, waitpid(child, &status, 0), "%d");
	ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	ASSERT_EQ_FMT((uint64_t)2, count, "%lu");
	store = box_start(0);
	ASSERT(has_job(store, 1));
	ASSERT(has_job(store, 2));
	/* Job 3 was never reported as durable: it may be there or not. */
	store_close(store);
	ASSERT_EQ_FMT(0, unlink(box_path), "%d");
	PASS();
}

TEST an_unknown_outcome_ends_the_process(void)
{
	CHECK_CALL(dies_of(FAULT_WRITE));
	CHECK_CALL(dies_of(FAULT_SYNC));
	PASS();
}

#define PLAN_TURNS 8
#define PLAN_END ((uint64_t)1 << 63)

/*
 * Go through the life of a store: make, commit, close, open again. Report each durable turn, and at the end the number
 * of calls of the kind.
 */
static void live(int tell_fd)
{
	uint64_t number = 0, end = PLAN_END;

	for (int life = 0; life < 2; life++) {
		struct store *store = NULL;
		struct error error;

		if (box_open_error(0, &store, &error) != ERR_NONE)
			_exit(3);
		store_start(store, box_wake_cb, NULL);
		for (int i = 0; i < PLAN_TURNS; i++) {
			struct outbox *turn = box_turn(++number);

			for (int64_t job = 0; job < 20; job++)
				box_job(turn, 1, (int64_t)number * 20 + job, STATE_READY);
			store_commit(store, turn);
			if (box_take(store) != turn || write(tell_fd, &number, sizeof(number)) != sizeof(number))
				_exit(2);
			box_free(turn);
		}
		store_close(store);
	}
	end += (uint64_t)atomic_load(&planned_seen);
	if (write(tell_fd, &end, sizeof(end)) != sizeof(end))
		_exit(2);
	_exit(0);
}

/*
 * Run a child with this failure planned. Return the number of calls, or 0 if it didn't reach its end. All that it
 * reported must be in the store.
 */
static uint64_t survives(enum layer_op op, int result, long at, long until, bool *ret_kept)
{
	int fds[2], status;
	uint64_t told, acked = 0, calls = 0;
	bool kept;
	struct store *store;
	pid_t child;

	unlink(box_path);
	io_remove_tree(AT_FDCWD, box_dir);
	if (mkdir(box_dir, 0700) != 0 || pipe(fds) != 0)
		abort();
	child = fork();
	if (child == 0) {
		close(fds[0]);
		sigaction(SIGABRT, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		planned.op = op;
		planned.result = result;
		planned.at = at;
		planned.until = until;
		live(fds[1]);
	}
	close(fds[1]);
	while (read(fds[0], &told, sizeof(told)) == sizeof(told)) {
		if (told >= PLAN_END)
			calls = told - PLAN_END;
		else
			acked = told;
	}
	close(fds[0]);
	waitpid(child, &status, 0);
	/* The child reaches its end, or aborts before it reports more, or refuses to open the store. */
	kept = calls > 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 0 && acked == 2 * PLAN_TURNS :
	       (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) || (WIFEXITED(status) && WEXITSTATUS(status) == 3);
	store = box_start(0);
	for (uint64_t number = 1; number <= acked; number++)
		kept = kept && has_job(store, number * 20) && has_job(store, number * 20 + 19);
	store_close(store);
	*ret_kept = kept;
	return calls;
}

static uint64_t count_calls(enum layer_op op)
{
	bool kept;

	return survives(op, SQLITE_OK, LONG_MAX - 1, LONG_MAX, &kept);
}

/* Each call fails in turn. Some failures do no harm: copying the log into the database file is tried again. */
TEST each_call_may_fail(void)
{
	static const struct { enum layer_op op; int result; } kinds[] = {
		{ LAYER_WRITE, SQLITE_IOERR_WRITE }, { LAYER_SYNC, SQLITE_IOERR_FSYNC },
		{ LAYER_TRUNCATE, SQLITE_IOERR_TRUNCATE },
	};

	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		uint64_t calls = count_calls(kinds[kind].op), fatal = 0;

		ASSERT(calls > 0);
		for (long at = 0; at < (long)calls; at++) {
			bool kept;

			fatal += survives(kinds[kind].op, kinds[kind].result, at, at + 1, &kept) == 0;
			if (!kept)
				printf("# kind %zu, call %ld\n", kind, at);
			ASSERT(kept);
		}
		printf("# kind %zu: %lu calls, %lu of them end the process\n", kind, calls, fatal);
		ASSERT(fatal > 0 || kinds[kind].op == LAYER_TRUNCATE);
	}
	PASS();
}

/* The disk is full from the k-th write on for three writes: the same batch is tried again, and all becomes durable. */
TEST each_write_may_find_no_room(void)
{
	uint64_t calls = count_calls(LAYER_WRITE), refused = 0;

	for (long at = 0; at < (long)calls; at += at < 40 ? 1 : 5) {
		bool kept;

		refused += survives(LAYER_WRITE, SQLITE_FULL, at, at + 3, &kept) == 0;
		if (!kept)
			printf("# write %ld\n", at);
		ASSERT(kept);
	}
	/*
	 * A disk that is full while the store is being made (two writes per table and some more) makes it refuse to
	 * open; later failures don't.
	 */
	ASSERT_LT(refused, 2 * TABLE_COUNT + 20);
	PASS();
}

SUITE(store_fault)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	layer_put();
	layer_hook_cb = fault_cb;
	RUN_TEST(every_commit_is_synced);
	RUN_TEST(a_commit_is_one_write);
	RUN_TEST(few_commits_change_the_size_of_the_log);
	RUN_TEST(a_commit_needs_no_room_ahead_of_it);
	RUN_TEST(a_full_disk_delays_and_loses_nothing);
	RUN_TEST(last_reserve_is_kept_for_what_makes_room);
	RUN_TEST(log_begins_anew_in_its_place_on_a_full_disk);
	RUN_TEST(closing_with_a_full_disk_gives_up);
	RUN_TEST(an_unknown_outcome_ends_the_process);
	RUN_TEST(each_call_may_fail);
	RUN_TEST(each_write_may_find_no_room);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_fault);
	GREATEST_MAIN_END();
}
