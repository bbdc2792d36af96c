/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Migration steps to future versions, which only this test has: columns and tables are added, filled and dropped, or
 * nothing changes.
 */
#include <limits.h>
#include <sys/wait.h>

#include "greatest.h"
#include "store_fixture.h"
#include "store_layer.h"

#include "store/ladder.h"
#include "store/tables.h"

#define NEXT        (STORE_VERSION + 1)  /* first step: table job gets a column; tables note and scrap are new */
/* second step: note.cost becomes note.price with twice the value; scrap is dropped */
#define SECOND_NEXT (STORE_VERSION + 2)
#define OBJECTS_MAX 1024

static const struct ladder *todays;
static struct object objects[OBJECTS_MAX];
static struct column_change changes[8];
static struct ladder longer;

static void add_object(int version, const char *name, const char *text)
{
	if (longer.object_count == OBJECTS_MAX)
		abort();
	objects[longer.object_count++] = (struct object){ version, name, text };
}

static void add_change(int version, const char *table, const char *column, const char *value)
{
	changes[longer.change_count++] = (struct column_change){ version, table, column, value };
}

/* The CREATE statement of table job with one more column. */
static const char *with_a_column(const char *text)
{
	static char longer_text[4096];
	const char *end = strstr(text, ") STRICT");

	snprintf(longer_text, sizeof(longer_text), "%.*s, cost INTEGER NOT NULL%s", (int)(end - text), text, end);
	return longer_text;
}

static void make_longer(int newest, bool complete)
{
	longer = (struct ladder){ .newest = newest, .objects = objects, .changes = changes };
	for (size_t i = 0; i < todays->object_count; i++)
		add_object(todays->objects[i].version, todays->objects[i].name, todays->objects[i].sql);
	for (size_t i = 0; i < todays->object_count; i++) {
		struct object object = todays->objects[i];

		if (object.version != STORE_VERSION)
			continue;
		if (strcmp(object.name, "job") == 0)
			object.sql = with_a_column(object.sql);
		add_object(NEXT, object.name, object.sql);
		add_object(SECOND_NEXT, object.name, object.sql);
	}
	add_object(NEXT, "note", "CREATE TABLE note (note INTEGER PRIMARY KEY, cost INTEGER NOT NULL) STRICT");
	add_object(NEXT, "scrap", "CREATE TABLE scrap (scrap INTEGER PRIMARY KEY) STRICT");
	add_object(NEXT, "note_cost", "CREATE INDEX note_cost ON note (cost)");
	add_object(SECOND_NEXT, "note", "CREATE TABLE note (note INTEGER PRIMARY KEY, price INTEGER NOT NULL, "
		   "why TEXT NOT NULL) STRICT");
	add_change(SECOND_NEXT, "note", "price", "cost * 2");
	if (complete) {
		add_change(SECOND_NEXT, "note", "cost", NULL);
		add_change(SECOND_NEXT, "scrap", "", NULL);
	}
	store_ladder = &longer;
}

static void setup_cb(void *data)
{
	box_setup_cb(data);
	todays = store_ladder;
}

static void teardown_cb(void *data)
{
	store_ladder = todays;
	box_teardown_cb(data);
}

static bool copy_is_there(int version)
{
	char path[SCRATCH_SIZE + 64];

	snprintf(path, sizeof(path), "%s-version-%d", box_path, version);
	return access(path, F_OK) == 0;
}

TEST an_added_column_is_0_and_a_new_table_empty(void)
{
	for (int version = 1; version <= STORE_VERSION; version++) {
		long jobs;

		fixture_make(version);
		jobs = sql(box_path, "SELECT count(*) FROM job");
		make_longer(NEXT, true);
		store_close(box_open(0));
		ASSERT_EQ_FMT((long)NEXT, sql(box_path, "PRAGMA user_version"), "%ld");
		ASSERT_EQ_FMT(jobs, sql(box_path, "SELECT count(*) FROM job WHERE cost = 0"), "%ld");
		ASSERT_EQ_FMT(0L, sql(box_path, "SELECT count(*) FROM note"), "%ld");
		ASSERT_EQ_FMT(0L, sql(box_path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'old%'"), "%ld");
		ASSERT_EQ_FMT(1L, sql(box_path, "SELECT count(*) FROM sqlite_schema WHERE name = 'run_live'"), "%ld");
		ASSERT(copy_is_there(version));
		/*
		 * With the new steps, older and newer stores are both known; titan without them refuses a newer store.
		 */
		store_close(box_open(0));
		store_ladder = todays;
		io_remove_tree(AT_FDCWD, box_dir);
		ASSERT_EQ_FMT(0, mkdir(box_dir, 0700), "%d");
	}
	PASS();
}

TEST a_step_empties_a_table_that_stays(void)
{
	fixture_make(STORE_VERSION);
	make_longer(NEXT, true);
	ASSERT(sql(box_path, "SELECT count(*) FROM change") > 0);
	ASSERT(sql(box_path, "SELECT count(*) FROM event") > 0);
	add_change(NEXT, "change", "*", NULL);
	store_close(box_open(0));
	ASSERT_EQ_FMT(0L, sql(box_path, "SELECT count(*) FROM change"), "%ld");
	ASSERT(sql(box_path, "SELECT count(*) FROM event") > 0);
	PASS();
}

TEST a_table_that_stays_keeps_its_pages(void)
{
	long root;

	fixture_make(STORE_VERSION);
	root = sql(box_path, "SELECT rootpage FROM sqlite_schema WHERE name = 'event'");
	make_longer(NEXT, true);
	store_close(box_open(0));
	ASSERT_EQ_FMT(root, sql(box_path, "SELECT rootpage FROM sqlite_schema WHERE name = 'event'"), "%ld");
	PASS();
}

static void make_next_with_notes(void)
{
	fixture_make(STORE_VERSION);
	make_longer(NEXT, true);
	store_close(box_open(0));
	if (sql(box_path, "INSERT INTO note VALUES (1, 21), (2, 0); INSERT INTO scrap VALUES (1)") == -2)
		abort();
}

TEST a_renamed_column_keeps_its_values_and_a_dropped_table_goes(void)
{
	make_next_with_notes();
	make_longer(SECOND_NEXT, true);
	store_close(box_open(0));
	ASSERT_EQ_FMT((long)SECOND_NEXT, sql(box_path, "PRAGMA user_version"), "%ld");
	ASSERT_EQ_FMT(42L, sql(box_path, "SELECT price FROM note WHERE note = 1 AND why = ''"), "%ld");
	ASSERT_EQ_FMT(0L, sql(box_path, "SELECT count(*) FROM sqlite_schema WHERE name IN ('scrap', 'note_cost')"), "%ld");
	ASSERT(copy_is_there(NEXT));
	PASS();
}

TEST a_step_that_would_lose_a_column_is_refused(void)
{
	struct store *store = NULL;
	struct error error;

	make_next_with_notes();
	make_longer(SECOND_NEXT, false);
	ASSERT_EQ_FMT(ERR_STORE, box_open_error(0, &store, &error), "%d");
	ASSERTm(error.text, strstr(error.text, "loses"));
	ASSERT_EQ_FMT((long)NEXT, sql(box_path, "PRAGMA user_version"), "%ld");
	ASSERT_EQ_FMT(21L, sql(box_path, "SELECT cost FROM note WHERE note = 1"), "%ld");
	add_change(SECOND_NEXT, "note", "cost", NULL);
	ASSERT_EQ_FMT(ERR_STORE, box_open_error(0, &store, &error), "%d");
	ASSERTm(error.text, strstr(error.text, "scrap"));
	ASSERT_EQ_FMT(1L, sql(box_path, "SELECT count(*) FROM scrap"), "%ld");
	PASS();
}

/* A step whose result differs from the declared tables is found before it is committed. */
TEST a_step_that_makes_other_tables_is_refused(void)
{
	struct store *store = NULL;
	struct error error;

	fixture_make(STORE_VERSION);
	make_longer(NEXT, true);
	add_object(NEXT, "extra", "CREATE TABLE IF NOT EXISTS extra (extra INTEGER PRIMARY KEY) STRICT");
	ASSERT_EQ_FMT(ERR_STORE_TRUST, box_open_error(0, &store, &error), "%d");
	ASSERTm(error.text, strstr(error.text, "extra"));
	ASSERT_EQ_FMT((long)STORE_VERSION, sql(box_path, "PRAGMA user_version"), "%ld");
	PASS();
}

TEST a_column_that_differs_is_damage(void)
{
	static const char *const differences[] = {
		"ALTER TABLE run DROP COLUMN priority", "ALTER TABLE run ADD COLUMN more INTEGER", "DROP INDEX run_live",
		"DROP TABLE pruning", "ALTER TABLE run RENAME COLUMN depth TO deep",
	};
	struct error error;

	for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++) {
		const struct store_options inspect = { .path = box_path, .inspect = true };
		struct store *store = NULL;

		unlink(box_path);
		fixture_make(STORE_VERSION);
		if (sql(box_path, differences[i]) == -2)
			abort();
		ASSERT_EQ_FMTm(differences[i], ERR_STORE_TRUST, box_open_error(0, &store, &error), "%d");
		ASSERTm(error.text, strstr(error.text, "differs from that of version"));
		ASSERT_EQ_FMTm(differences[i], ERR_STORE_TRUST, store_open(&inspect, &store, &error), "%d");
	}
	PASS();
}

/* A backup of each version is restored, and is migrated to the present version at the next start. */
TEST a_backup_of_every_version_is_restored(void)
{
	char backup[SCRATCH_SIZE + 64];
	struct restored restored;
	struct error error;

	snprintf(backup, sizeof(backup), "%s/backup", box_dir);
	for (int version = 1; version <= STORE_VERSION; version++) {
		long runs;

		fixture_make(version);
		ASSERT_EQ_FMT(0, rename(box_path, backup), "%d");
		runs = sql(backup, "SELECT count(*) FROM run");
		ASSERT_EQ_FMTm(error.text, ERR_NONE, store_restore(backup, box_path, &restored, &error), "%d");
		ASSERT_EQ_FMT((long)version, sql(box_path, "PRAGMA user_version"), "%ld");
		store_close(box_open(0));
		ASSERT_EQ_FMT((long)STORE_VERSION, sql(box_path, "PRAGMA user_version"), "%ld");
		ASSERT_EQ_FMT(runs, sql(box_path, "SELECT count(*) FROM run"), "%ld");
		ASSERT_EQ_FMT((long)restored.generation,
			      sql(box_path, "SELECT value FROM meta WHERE name = 'generation'"), "%ld");
		io_remove_tree(AT_FDCWD, box_dir);
		ASSERT_EQ_FMT(0, mkdir(box_dir, 0700), "%d");
	}
	PASS();
}

static long fail_at = LONG_MAX, calls;

static int fail_cb(const struct layer_call *call, bool *skip)
{
	bool counts = call->op == LAYER_WRITE || call->op == LAYER_SYNC || call->op == LAYER_TRUNCATE;

	*skip = false;
	return counts && calls++ >= fail_at ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

/*
 * The process dies at the k-th write or sync of two steps: the store has the old or the next version, and is complete.
 */
TEST two_steps_may_die_at_any_write(void)
{
	long refused = 0, between = 0, jobs = 0;

	for (long at = 0; at == 0 || refused == at; at++) {
		struct store *store = NULL;
		struct error error;
		int status;
		pid_t child;

		store_ladder = todays;
		io_remove_tree(AT_FDCWD, box_dir);
		ASSERT_EQ_FMT(0, mkdir(box_dir, 0700), "%d");
		fixture_make(STORE_VERSION);
		jobs = sql(box_path, "SELECT count(*) FROM job");
		make_longer(SECOND_NEXT, true);
		child = fork();
		if (child == 0) {
			fail_at = at;
			calls = 0;
			_exit(box_open_error(0, &store, &error) == ERR_NONE ? 0 : 1);
		}
		ASSERT_EQ_FMT(child, waitpid(child, &status, 0), "%d");
		refused += status != 0;
		store_close(box_open(0));
		between += copy_is_there(NEXT);
		ASSERT_EQ_FMT((long)SECOND_NEXT, sql(box_path, "PRAGMA user_version"), "%ld");
		ASSERT_EQ_FMT(jobs, sql(box_path, "SELECT count(*) FROM job WHERE cost = 0"), "%ld");
		ASSERT_EQ_FMT(0L, sql(box_path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'old%'"), "%ld");
	}
	printf("# it failed at each of %ld calls, %ld times between two steps\n", refused, between);
	ASSERT_GT(refused, 20);
	ASSERT_GT(between, 0);
	PASS();
}

SUITE(store_ladder_steps)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(an_added_column_is_0_and_a_new_table_empty);
	RUN_TEST(a_step_empties_a_table_that_stays);
	RUN_TEST(a_table_that_stays_keeps_its_pages);
	RUN_TEST(a_renamed_column_keeps_its_values_and_a_dropped_table_goes);
	RUN_TEST(a_step_that_would_lose_a_column_is_refused);
	RUN_TEST(a_step_that_makes_other_tables_is_refused);
	RUN_TEST(a_column_that_differs_is_damage);
	RUN_TEST(a_backup_of_every_version_is_restored);
	layer_put();
	layer_hook_cb = fail_cb;
	box_in_memory();
	RUN_TEST(two_steps_may_die_at_any_write);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_ladder_steps);
	GREATEST_MAIN_END();
}
