/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stores of older versions, from frozen fixtures: migrated to the present tables with nothing lost, or left unchanged.
 */
#include <limits.h>
#include <sys/wait.h>

#include "greatest.h"
#include "store_fixture.h"
#include "store_layer.h"

#include "core/core.h"
#include "store/tables.h"

static void make_version_1(void)
{
	fixture_make(1);
}

static const char *backup_path(const char *more)
{
	static char path[SCRATCH_SIZE + 64];

	snprintf(path, sizeof(path), "%s-version-1%s", box_path, more);
	return path;
}

/* Number of rows of the backup's table that don't appear in the store with the same values in the old columns. */
static long missing_rows(const char *table)
{
	char text[2048], columns[512] = "";
	sqlite3 *handle;
	sqlite3_stmt *statement;

	if (sqlite3_open(backup_path(""), &handle) != SQLITE_OK)
		abort();
	snprintf(text, sizeof(text), "SELECT group_concat(name) FROM pragma_table_info('%s')", table);
	sqlite3_prepare_v2(handle, text, -1, &statement, NULL);
	sqlite3_step(statement);
	snprintf(columns, sizeof(columns), "%s", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	snprintf(text, sizeof(text), "ATTACH '%s' AS old; SELECT count(*) FROM (SELECT %s FROM old.%s EXCEPT "
		 "SELECT %s FROM main.%s)", backup_path(""), columns, table, columns, table);
	return sql(box_path, text);
}

/* Number of values in new columns that aren't 0 or empty. */
static long odd_values(enum row_table which)
{
	const struct store_table *table = &table_list[which];
	long odd = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		const char *name = table->columns()[i].name;
		char text[512];

		snprintf(text, sizeof(text), "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s'",
			 table->name, name);
		if (sql(backup_path(""), text) == 1)
			continue;
		snprintf(text, sizeof(text), "SELECT count(*) FROM %s WHERE %s NOT IN (0, '', x'')", table->name, name);
		odd += sql(box_path, text);
	}
	return odd;
}

TEST version_1_becomes_todays(void)
{
	static const char *const tables[] = {
		"meta", "worker", "run", "spec", "job", "decision", "submit_key", "event",
	};
	struct stat info;

	make_version_1();
	store_close(box_open(0));
	ASSERT_EQ_FMT((long)STORE_VERSION, sql(box_path, "PRAGMA user_version"), "%ld");
	ASSERT_EQ_FMT((long)STORE_APPLICATION_ID, sql(box_path, "PRAGMA application_id"), "%ld");
	ASSERT_EQ_FMT(0L, sql(box_path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'old%'"), "%ld");
	ASSERT_EQ_FMT((long)TABLE_COUNT, sql(box_path, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
					     "AND sql LIKE '%STRICT%'"), "%ld");
	ASSERT_EQ_FMT(0, stat(backup_path(""), &info), "%d");
	ASSERT_EQ_FMT(0600u, info.st_mode & 07777u, "%o");
	ASSERT_EQ_FMT(1L, sql(backup_path(""), "PRAGMA user_version"), "%ld");
	ASSERT_EQ_FMT(9L, sql(backup_path(""), "SELECT count(*) FROM run"), "%ld");
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		ASSERT_EQ_FMTm(tables[i], 0L, missing_rows(tables[i]), "%ld");
	for (int table = 0; table < TABLE_COUNT; table++)
		ASSERT_EQ_FMTm(table_list[table].name, 0L, odd_values(table), "%ld");
	ASSERT_EQ_FMT(9L, sql(box_path, "SELECT count(*) FROM run"), "%ld");
	PASS();
}

static enum err load_cb(const struct row *row, void *arg, struct error *error)
{
	return core_load_row(arg, row, error);
}

/* For each version, the live runs and jobs load as a master would load them. */
TEST what_lived_loads(void)
{
	struct core_config config = { .cluster = slice_str("test"), .seed = 1, .grace_ms = 1000, .lease_ms = 500,
				      .heartbeat_ms = 100 };
	struct now now = { .mono_ns = NS_PER_S, .wall_ms = 1795006300000 };
	struct error error;

	for (int version = 1; version <= STORE_VERSION; version++) {
		struct core *core = core_new(&config);
		struct outbox outbox = { 0 };
		struct store *store;
		long runs;

		fixture_make(version);
		runs = sql(box_path, "SELECT count(*) FROM run");
		ASSERT_GT(runs, 5);
		store = box_open(0);
		ASSERT_EQ_FMTm(error.text, ERR_NONE, store_check(store, &error), "%d");
		ASSERT_EQ_FMTm(error.text, ERR_NONE, store_load(store, load_cb, core, &error), "%d");
		ASSERT_EQ_FMTm(error.text, ERR_NONE, core_load_end(core, now, &outbox, &error), "%d");
		core_check(core);
		store_close(store);
		ASSERT_EQ_FMT(runs, sql(box_path, "SELECT count(*) FROM run"), "%ld");
		ASSERT_EQ_FMT((long)STORE_VERSION, sql(box_path, "PRAGMA user_version"), "%ld");
		outbox_free(&outbox);
		core_free(core);
		io_remove_tree(AT_FDCWD, box_dir);
		ASSERT_EQ_FMT(0, mkdir(box_dir, 0700), "%d");
	}
	PASS();
}

TEST a_job_has_a_known_state(void)
{
	char text[128];

	fixture_make(STORE_VERSION);
	for (int state = -1; state <= STATE_COUNT; state++) {
		snprintf(text, sizeof(text), "UPDATE job SET state = %d; SELECT count(*) FROM job WHERE state = %d", state, state);
		if (state < 0 || state == STATE_COUNT)
			ASSERT_EQ_FMT(-2L, sql(box_path, text), "%ld");
		else
			ASSERT_GT(sql(box_path, text), 0);
	}
	PASS();
}

TEST each_backup_has_its_name(void)
{
	make_version_1();
	store_close(box_open(0));
	ASSERT_EQ_FMT(0, unlink(box_path), "%d");
	make_version_1();
	ASSERT_EQ_FMT(0L, sql(box_path, "DELETE FROM event; SELECT count(*) FROM event"), "%ld");
	store_close(box_open(0));
	ASSERT(sql(backup_path(""), "SELECT count(*) FROM event") > 0);
	ASSERT_EQ_FMT(0L, sql(backup_path(".2"), "SELECT count(*) FROM event"), "%ld");
	/* A store of the present version isn't copied again. */
	store_close(box_open(0));
	ASSERT(access(backup_path(".3"), F_OK) != 0);
	PASS();
}

static enum greatest_test_res refused(const char *change, const char *part)
{
	struct store *store = NULL;
	struct error error;

	unlink(box_path);
	make_version_1();
	if (sql(box_path, change) == -2)
		abort();
	ASSERT_EQ_FMT(ERR_STORE_TRUST, box_open_error(0, &store, &error), "%d");
	ASSERTm(error.text, strstr(error.text, part));
	ASSERT(error.next[0] != '\0');
	ASSERT_EQ_FMT(1L, sql(box_path, "PRAGMA user_version"), "%ld");
	ASSERT(access(backup_path(""), F_OK) != 0);
	PASS();
}

TEST what_isnt_version_1_is_left_alone(void)
{
	CHECK_CALL(refused("DROP TABLE decision", "decision"));
	CHECK_CALL(refused("ALTER TABLE job RENAME COLUMN due_ms TO soon", "job"));
	CHECK_CALL(refused("ALTER TABLE worker DROP COLUMN seen_ms", "worker"));
	PASS();
}

TEST a_damaged_page_is_seen(void)
{
	struct store *store = NULL;
	struct error error;
	uint8_t rubbish[4096];
	struct stat info;
	int fd;

	make_version_1();
	memset(rubbish, 0x5a, sizeof(rubbish));
	ASSERT_EQ_FMT(0, stat(box_path, &info), "%d");
	fd = open(box_path, O_WRONLY | O_CLOEXEC);
	ASSERT_EQ_FMT(4096, (int)pwrite(fd, rubbish, sizeof(rubbish), info.st_size - 4096), "%d");
	close(fd);
	ASSERT_EQ_FMT(ERR_STORE_TRUST, box_open_error(0, &store, &error), "%d");
	ASSERT(access(backup_path(""), F_OK) != 0);
	CHECK_CALL(refused("PRAGMA ignore_check_constraints = 1; UPDATE job SET state = 99 WHERE job = 16", "damaged"));
	PASS();
}

/* A failure after the backup, within the migration's transaction: all of it is done, or none. */
TEST what_fails_on_the_way_changes_nothing(void)
{
	struct store *store = NULL;
	struct error error;

	make_version_1();
	/* A table has the name that the last renaming needs, so the migration fails late. */
	ASSERT(sql(box_path, "CREATE TABLE old_submit_key (it)") != -2);
	ASSERT(box_open_error(0, &store, &error) != ERR_NONE);
	ASSERT_EQ_FMT(1L, sql(box_path, "PRAGMA user_version"), "%ld");
	ASSERT_EQ_FMT(20L, sql(box_path, "SELECT count(*) FROM pragma_table_info('job')"), "%ld");
	ASSERT_EQ_FMT(9L, sql(box_path, "SELECT count(*) FROM run"), "%ld");
	ASSERT(sql(box_path, "DROP TABLE old_submit_key") != -2);
	store_close(box_open(0));
	ASSERT_EQ_FMT((long)STORE_VERSION, sql(box_path, "PRAGMA user_version"), "%ld");
	PASS();
}

static long fail_at = LONG_MAX, calls;

static int fail_cb(const struct layer_call *call, bool *skip)
{
	bool counts = call->op == LAYER_WRITE || call->op == LAYER_SYNC || call->op == LAYER_TRUNCATE;

	*skip = false;
	return counts && calls++ >= fail_at ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

/* From the k-th write or sync on, of the store or its copy, nothing reaches the disk, and the process dies. */
TEST it_may_die_at_any_write(void)
{
	long at, refused = 0;

	for (at = 0; at == 0 || refused == at; at++) {
		struct store *store = NULL;
		struct error error;
		int status;
		pid_t child;

		io_remove_tree(AT_FDCWD, box_dir);
		ASSERT_EQ_FMT(0, mkdir(box_dir, 0700), "%d");
		make_version_1();
		child = fork();
		if (child == 0) {
			fail_at = at;
			calls = 0;
			_exit(box_open_error(0, &store, &error) == ERR_NONE ? 0 : 1);
		}
		ASSERT_EQ_FMT(child, waitpid(child, &status, 0), "%d");
		refused += status != 0;
		store_close(box_open(0));
		ASSERT_EQ_FMT((long)STORE_VERSION, sql(box_path, "PRAGMA user_version"), "%ld");
		ASSERT_EQ_FMT(9L, sql(box_path, "SELECT count(*) FROM run"), "%ld");
		ASSERT_EQ_FMT(10L, sql(box_path, "SELECT count(*) FROM job"), "%ld");
		ASSERT_EQ_FMT(0L, sql(box_path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'old%'"), "%ld");
		/* The first complete backup has version 1, even if the migration after it failed. */
		if (access(backup_path(""), F_OK) == 0)
			ASSERT_EQ_FMT(9L, sql(backup_path(""), "SELECT count(*) FROM run"), "%ld");
	}
	printf("# it failed at each of %ld calls\n", refused);
	ASSERT_GT(refused, 20);
	PASS();
}

SUITE(store_migrate)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(version_1_becomes_todays);
	RUN_TEST(what_lived_loads);
	RUN_TEST(a_job_has_a_known_state);
	RUN_TEST(each_backup_has_its_name);
	RUN_TEST(what_isnt_version_1_is_left_alone);
	RUN_TEST(a_damaged_page_is_seen);
	RUN_TEST(what_fails_on_the_way_changes_nothing);
	layer_put();
	layer_hook_cb = fail_cb;
	box_in_memory();
	RUN_TEST(it_may_die_at_any_write);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_migrate);
	GREATEST_MAIN_END();
}
