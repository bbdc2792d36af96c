/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory runs out at the n-th allocation, SQLite's included, while a store is made or migrated, loaded, written, copied
 * and closed; for many n. The process may report an error or stop but not crash, and the next process finds everything
 * that was acknowledged.
 *
 * CHAOS_ALLOCATIONS: step between the values of n (97).
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "greatest.h"
#include "store_box.h"

#include "base/log.h"
#include "store/backup.h"

GREATEST_MAIN_DEFS();

#define TURNS 4

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static struct shared {
	long acked;                      /* turns */
	long calls;
} *shared;

#ifndef SANITIZED

static atomic_long calls, fails_at;      /* fails_at: number of the allocation that fails; 0: none */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static bool fails(void)
{
	long at = atomic_load(&fails_at);

	return at != 0 && atomic_fetch_add(&calls, 1) + 1 == at;
}

void *malloc(size_t size)
{
	if (fails()) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	if (fails()) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	if (fails()) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(old, size);
}

static char *fixture;                    /* a store of version 1 as SQL; NULL: start with a new store */

static void put_fixture(void)
{
	sqlite3 *handle = NULL;

	if (sqlite3_open(box_path, &handle) != SQLITE_OK || sqlite3_exec(handle, fixture, NULL, NULL, NULL) != SQLITE_OK)
		abort();
	sqlite3_close(handle);
	if (chmod(box_path, 0600) != 0)
		abort();
}

static enum err row_cb(const struct row *row, void *arg, struct error *error)
{
	(void)error;
	*(uint64_t *)arg += row->table;
	return ERR_NONE;
}

/* Do what a master does with its store, from opening to closing. Anything but a crash is allowed. */
static int life(void)
{
	char part[PATH_MAX];
	struct store_copy copy = { .part = part };
	struct store *store = NULL;
	struct error error;
	uint64_t seen = 0;

	if (box_open_error(0, &store, &error) != ERR_NONE)
		return 1;
	if (store_load(store, row_cb, &seen, &error) != ERR_NONE) {
		store_close(store);
		return 1;
	}
	store_start(store, box_wake_cb, NULL);
	for (long turn = 1; turn <= TURNS; turn++) {
		struct outbox *outbox = box_turn((uint64_t)(1000 + turn));

		box_job(outbox, 1, 100000 + turn, STATE_READY);
		box_commit(store, outbox);
		shared->acked = turn;
	}
	snprintf(part, sizeof(part), "%s/part", box_dir);
	store_copy(store, &copy);
	while (!store_copied(store))
		box_sleep();
	if (copy.error.code == ERR_NONE)
		(void)backup_complete(part, &error);
	store_close(store);
	return 0;
}

/*
 * Let allocation number at fail. *ret_ended: the process made fewer allocations. Return NULL if no promise was broken.
 */
static const char *fail_at(long at, bool *ret_ended)
{
	struct rlimit no_core = { 0, 0 };
	struct store *store;
	const char *problem = NULL;
	int status;
	pid_t pid;

	box_setup_cb(NULL);
	if (fixture)
		put_fixture();
	*shared = (struct shared){ 0 };
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int quiet = open("/dev/null", O_WRONLY);

		setrlimit(RLIMIT_CORE, &no_core);
		dup2(quiet, 2);
		alarm(60);
		atomic_store(&fails_at, at);
		status = life();
		shared->calls = atomic_load(&calls);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	*ret_ended = WIFEXITED(status) && shared->calls < at;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT)
		problem = strsignal(WTERMSIG(status));
	store = problem ? NULL : box_start(0);
	for (long turn = 1; store && turn <= shared->acked; turn++) {
		struct store_query query = { .what = READ_JOB, .from = (uint64_t)(100000 + turn) };

		box_ask(store, &query);
		if (query.row_count != 1)
			problem = "what was acknowledged is lost";
		arena_free(&query.arena);
	}
	store_close(store);
	box_teardown_cb(NULL);
	return problem;
}

static bool each_fails(const char *what, uint64_t step, long *ret_count)
{
	bool ended = false, good = true;
	long at = 1 + (long)(step / 2);

	for (*ret_count = 0; !ended && good; at += (long)step, ++*ret_count) {
		const char *problem = fail_at(at, &ended);

		if (problem)
			printf("# %s, allocation %ld: %s\n", what, at, problem);
		good = !problem;
	}
	printf("# %s: %ld of %ld allocations failed in turn\n", what, *ret_count, at);
	return good;
}

static void report(long count, const char *what)
{
	const char *path = getenv("CHAOS_REPORT");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "%ld %s\n", count, what);
	fclose(file);
}

TEST memory_may_end_at_any_call(void)
{
	const char *step_text = getenv("CHAOS_ALLOCATIONS"), *dir = getenv("TITAN_SRCDIR");
	uint64_t step = step_text ? strtoull(step_text, NULL, 10) : 97;
	struct buf text = { 0 };
	char path[PATH_MAX];
	long count;

	ASSERT(each_fails("a new store", step, &count));
	report(count, "of a new store");
	snprintf(path, sizeof(path), "%s/tests/fixtures/store-1.sql", dir ? dir : "..");
	if (io_read_file(AT_FDCWD, path, 1 << 24, &text) == 0) {
		fixture = strdup(buf_cstr(&text));
		ASSERT(each_fails("a store of version 1", step, &count));
		report(count, "of one that is migrated");
		free(fixture);
	}
	buf_free(&text);
	PASS();
}

#else

TEST memory_may_end_at_any_call(void)
{
	SKIPm("a sanitizer owns malloc");
}

#endif

SUITE(store_memory)
{
	RUN_TEST(memory_may_end_at_any_call);
}

int main(int argc, char **argv)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	box_in_memory();
	log_init("memory", LOG_LEVEL_ERROR);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_memory);
	GREATEST_MAIN_END();
}
