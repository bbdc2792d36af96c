/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A disk that is full, and one that fails. A layer between SQLite and its files makes the faults and
 * counts the syncs; the store knows nothing of it.
 */
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "greatest.h"
#include "store_box.h"

enum fault { FAULT_NONE, FAULT_FULL, FAULT_WRITE, FAULT_SYNC };

static atomic_int fault;
static atomic_int syncs;
static sqlite3_vfs layer;
static sqlite3_vfs *real;
static sqlite3_io_methods methods;

struct layer_file {
	sqlite3_file base;
	sqlite3_file inner[];
};

static sqlite3_file *inner(sqlite3_file *file)
{
	return ((struct layer_file *)file)->inner;
}

static int close_cb(sqlite3_file *file)
{
	return inner(file)->pMethods->xClose(inner(file));
}

static int read_cb(sqlite3_file *file, void *data, int len, sqlite3_int64 at)
{
	return inner(file)->pMethods->xRead(inner(file), data, len, at);
}

static int write_cb(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
	if (atomic_load(&fault) == FAULT_FULL)
		return SQLITE_FULL;
	if (atomic_load(&fault) == FAULT_WRITE)
		return SQLITE_IOERR_WRITE;
	return inner(file)->pMethods->xWrite(inner(file), data, len, at);
}

static int truncate_cb(sqlite3_file *file, sqlite3_int64 size)
{
	return inner(file)->pMethods->xTruncate(inner(file), size);
}

static int sync_cb(sqlite3_file *file, int flags)
{
	int result = inner(file)->pMethods->xSync(inner(file), flags);

	atomic_fetch_add(&syncs, 1);
	return atomic_load(&fault) == FAULT_SYNC ? SQLITE_IOERR_FSYNC : result;
}

static int size_cb(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	return inner(file)->pMethods->xFileSize(inner(file), ret_size);
}

static int lock_cb(sqlite3_file *file, int level)
{
	return inner(file)->pMethods->xLock(inner(file), level);
}

static int unlock_cb(sqlite3_file *file, int level)
{
	return inner(file)->pMethods->xUnlock(inner(file), level);
}

static int reserved_cb(sqlite3_file *file, int *ret_reserved)
{
	return inner(file)->pMethods->xCheckReservedLock(inner(file), ret_reserved);
}

static int control_cb(sqlite3_file *file, int op, void *arg)
{
	return inner(file)->pMethods->xFileControl(inner(file), op, arg);
}

static int sector_cb(sqlite3_file *file)
{
	return inner(file)->pMethods->xSectorSize(inner(file));
}

static int traits_cb(sqlite3_file *file)
{
	return inner(file)->pMethods->xDeviceCharacteristics(inner(file));
}

static int open_cb(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	int result;

	(void)vfs;
	file->pMethods = NULL;
	result = real->xOpen(real, name, inner(file), flags, ret_flags);
	if (inner(file)->pMethods)
		file->pMethods = &methods;
	return result;
}

static void put_layer(void)
{
	real = sqlite3_vfs_find(NULL);
	/* Version 1 has no shared memory: a store that wanted some would fail. */
	methods = (sqlite3_io_methods){
		.iVersion = 1,
		.xClose = close_cb,
		.xRead = read_cb,
		.xWrite = write_cb,
		.xTruncate = truncate_cb,
		.xSync = sync_cb,
		.xFileSize = size_cb,
		.xLock = lock_cb,
		.xUnlock = unlock_cb,
		.xCheckReservedLock = reserved_cb,
		.xFileControl = control_cb,
		.xSectorSize = sector_cb,
		.xDeviceCharacteristics = traits_cb,
	};
	layer = *real;
	layer.zName = "layer";
	layer.szOsFile += (int)sizeof(struct layer_file);
	layer.xOpen = open_cb;
	if (sqlite3_vfs_register(&layer, 1) != SQLITE_OK)
		abort();
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

TEST a_full_disk_delays_and_loses_nothing(void)
{
	struct store *store = box_start(0);
	struct outbox *first = box_turn(1), *second = box_turn(2);
	struct store_stats stats;
	char ballast[128];

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

/* A child commits, then its disk fails: it must die and not say that the next commit is durable. */
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
	/* Of job 3 nothing was said: it may be there or not. */
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

SUITE(store_fault)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	put_layer();
	RUN_TEST(every_commit_is_synced);
	RUN_TEST(a_full_disk_delays_and_loses_nothing);
	RUN_TEST(closing_with_a_full_disk_gives_up);
	RUN_TEST(an_unknown_outcome_ends_the_process);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_fault);
	GREATEST_MAIN_END();
}
