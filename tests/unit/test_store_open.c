/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files are opened as a store, how, and which ones are refused and left unchanged. */
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "greatest.h"
#include "store_box.h"

#include "store/tables.h"

static void run_sql(const char *sql)
{
	sqlite3 *handle;

	if (sqlite3_open(box_path, &handle) != SQLITE_OK ||
	    sqlite3_exec(handle, sql, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(handle));
		abort();
	}
	sqlite3_close(handle);
	if (chmod(box_path, 0600) != 0)
		abort();
}

static int count_cb(void *arg, int columns, char **values, char **names)
{
	(void)columns;
	(void)names;
	*(long *)arg = strtol(values[0], NULL, 10);
	return 0;
}

static long ask_sql(const char *sql)
{
	sqlite3 *handle;
	long answer = -1;

	if (sqlite3_open(box_path, &handle) != SQLITE_OK ||
	    sqlite3_exec(handle, sql, count_cb, &answer, NULL) != SQLITE_OK)
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(handle));
	sqlite3_close(handle);
	return answer;
}

TEST a_new_store_is_marked_and_private(void)
{
	struct stat info;

	umask(0);
	store_close(box_start(0));
	umask(022);
	ASSERT_EQ_FMT(0, stat(box_path, &info), "%d");
	ASSERT_EQ_FMT(0600u, info.st_mode & 07777u, "%o");
	ASSERT_EQ_FMT((long)STORE_APPLICATION_ID, ask_sql("PRAGMA application_id"), "%ld");
	ASSERT_EQ_FMT((long)STORE_VERSION, ask_sql("PRAGMA user_version"), "%ld");
	ASSERT_EQ_FMT((long)TABLE_COUNT, ask_sql("SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
						"AND sql LIKE '%STRICT%'"), "%ld");
	store_close(box_start(0));
	PASS();
}

TEST a_state_that_is_none_is_refused(void)
{
	store_close(box_start(0));
	for (int state = 0; state <= STATE_COUNT; state++) {
		struct buf sql = { 0 };
		sqlite3 *handle;
		int result;

		buf_addf(&sql, "INSERT INTO job VALUES (%d, 1, %d", state, state);
		for (size_t i = 3; i < table_list[TABLE_job].column_count; i++)
			buf_add_str(&sql, table_list[TABLE_job].columns()[i].type == COLUMN_INT ? ", 0" :
				    table_list[TABLE_job].columns()[i].type == COLUMN_TEXT ? ", ''" : ", x''");
		buf_add_str(&sql, ")");
		ASSERT_EQ_FMT(SQLITE_OK, sqlite3_open(box_path, &handle), "%d");
		result = sqlite3_exec(handle, buf_cstr(&sql), NULL, NULL, NULL);
		sqlite3_close(handle);
		buf_free(&sql);
		ASSERT_EQ_FMT(state < STATE_COUNT ? SQLITE_OK : SQLITE_CONSTRAINT, result, "%d");
	}
	PASS();
}

static enum greatest_test_res refused(enum err code, const char *part)
{
	struct store *store = NULL;
	struct error error;

	ASSERT_EQ_FMT(code, box_open_error(0, &store, &error), "%d");
	ASSERTm(error.text, strstr(error.text, part) != NULL);
	ASSERTm("it says what to do", error.next[0] != '\0');
	if (code == ERR_STORE_TRUST)
		ASSERTm(error.next, strstr(error.next, "titan restore FILE with a backup; without a backup, move") != NULL);
	ASSERT(!store);
	PASS();
}

TEST a_newer_version_is_refused(void)
{
	char sql[64];

	store_close(box_start(0));
	run_sql("PRAGMA user_version = 1000");
	CHECK_CALL(refused(ERR_VERSION, "version 1000"));
	run_sql("PRAGMA user_version = 0");
	CHECK_CALL(refused(ERR_VERSION, "which no version of titan writes"));
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", STORE_VERSION);
	run_sql(sql);
	store_close(box_start(0));
	PASS();
}

TEST other_databases_are_refused_untouched(void)
{
	run_sql("PRAGMA application_id = 99; CREATE TABLE mine (it); INSERT INTO mine VALUES (5)");
	CHECK_CALL(refused(ERR_STORE, "is a database, but not one of titan"));
	ASSERT_EQ_FMT(5L, ask_sql("SELECT it FROM mine"), "%ld");
	ASSERT_EQ_FMT(0L, ask_sql("SELECT count(*) FROM pragma_journal_mode "
				  "WHERE journal_mode = 'wal'"), "%ld");
	ASSERT_EQ_FMT(0, unlink(box_path), "%d");
	run_sql("CREATE TABLE mine (it)");
	CHECK_CALL(refused(ERR_STORE, "is a database, but not one of titan"));
	PASS();
}

TEST what_is_no_database_is_refused(void)
{
	static const char text[] = "It was a dark and stormy night; the rain fell in torrents, except at "
		"occasional intervals, when it was checked by a violent gust of wind.";

	ASSERT_EQ_FMT(0, io_write_file(AT_FDCWD, box_path, text, sizeof(text), 0600), "%d");
	CHECK_CALL(refused(ERR_STORE_TRUST, "not a database"));
	ASSERT_EQ_FMT(0, unlink(box_path), "%d");
	ASSERT_EQ_FMT(0, mkdir(box_path, 0700), "%d");
	CHECK_CALL(refused(ERR_STORE, "regular file"));
	PASS();
}

TEST missing_tables_and_columns_are_refused(void)
{
	store_close(box_start(0));
	run_sql("ALTER TABLE worker RENAME COLUMN slots TO places");
	CHECK_CALL(refused(ERR_STORE_TRUST, "its table worker differs from that of version"));
	ASSERT_EQ_FMT(0, unlink(box_path), "%d");
	store_close(box_start(0));
	run_sql("DROP TABLE spec");
	CHECK_CALL(refused(ERR_STORE_TRUST, "spec"));
	PASS();
}

TEST a_file_that_others_may_read_is_refused(void)
{
	struct error error;
	struct store *store = NULL;

	store_close(box_start(0));
	ASSERT_EQ_FMT(0, chmod(box_path, 0640), "%d");
	ASSERT_EQ_FMT(ERR_STORE, box_open_error(0, &store, &error), "%d");
	ASSERT(strstr(error.next, "chmod 600 /") != NULL);
	PASS();
}

/*
 * Open the store in a child, report that, and wait for a signal to end; releasing it by the pipe closes the store in
 * order.
 */
static pid_t hold(int *ret_release_fd)
{
	int ready[2], release[2];
	char byte;
	pid_t child;

	if (pipe(ready) != 0 || pipe(release) != 0)
		abort();
	child = fork();
	if (child == 0) {
		struct store *store = box_start(0);
		struct outbox *turn = box_turn(1);

		close(release[1]);
		box_run(turn, 1, 10, 100, 0);
		for (int64_t job = 0; job < 100; job++)
			box_job(turn, 1, 10 + job, STATE_READY);
		box_commit(store, turn);
		if (write(ready[1], "r", 1) != 1 || read(release[0], &byte, 1) < 0)
			abort();
		store_close(store);
		_exit(0);
	}
	close(ready[1]);
	close(release[0]);
	if (child < 0 || read(ready[0], &byte, 1) != 1)
		abort();
	close(ready[0]);
	*ret_release_fd = release[1];
	return child;
}

TEST a_second_process_is_refused(void)
{
	int release_fd, status;
	pid_t child = hold(&release_fd);

	CHECK_CALL(refused(ERR_STORE_LOCKED, box_path));
	CHECK_CALL(refused(ERR_STORE_LOCKED, box_path));
	close(release_fd);
	ASSERT_EQ_FMT(child, waitpid(child, &status, 0), "%d");
	ASSERT_EQ_FMT(0, status, "%d");
	store_close(box_start(0));
	PASS();
}

/* Bytes of the log are either copied to the database file or ignored; a damaged page of the database file is found. */
TEST damage_is_seen_after_an_unclean_end(void)
{
	int release_fd, status, fd;
	pid_t child = hold(&release_fd);
	struct stat info;
	char log_path[SCRATCH_SIZE + 64];
	uint8_t rubbish[4096];

	store_close(NULL);
	kill(child, SIGKILL);
	ASSERT_EQ_FMT(child, waitpid(child, &status, 0), "%d");
	close(release_fd);
	store_close(box_start(0));
	child = hold(&release_fd);
	kill(child, SIGKILL);
	ASSERT_EQ_FMT(child, waitpid(child, &status, 0), "%d");
	close(release_fd);
	snprintf(log_path, sizeof(log_path), "%s-wal", box_path);
	ASSERT_EQ_FMT(0, stat(log_path, &info), "%d");
	ASSERT_GT(info.st_size, 0);
	ASSERT_EQ_FMT(0, stat(box_path, &info), "%d");
	ASSERT_GT(info.st_size, 8192);
	memset(rubbish, 0x5a, sizeof(rubbish));
	fd = open(box_path, O_WRONLY | O_CLOEXEC);
	for (off_t at = 4096; at < info.st_size; at += 4096)
		ASSERT_EQ_FMT(4096, (int)pwrite(fd, rubbish, sizeof(rubbish), at), "%d");
	close(fd);
	CHECK_CALL(refused(ERR_STORE_TRUST, box_path));
	PASS();
}

TEST the_schema_says_what_its_columns_are(void)
{
	struct buf sql = { 0 };
	const char *text;

	store_schema(&sql);
	text = buf_cstr(&sql);
	ASSERT(strstr(text, "\tjob INTEGER PRIMARY KEY, -- serial number; the jobs of one submit have consecutive numbers\n"));
	ASSERT(strstr(text, "\tstate INTEGER NOT NULL CHECK (state BETWEEN 0 AND "));
	ASSERT(strstr(text, "\tPRIMARY KEY (run, part)\n) STRICT, WITHOUT ROWID;\n"));
	ASSERT(strstr(text, "\tkey TEXT") == NULL);
	ASSERT(strstr(text, "@") == NULL);
	buf_free(&sql);
	PASS();
}

SUITE(store_open_files)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(a_new_store_is_marked_and_private);
	RUN_TEST(a_state_that_is_none_is_refused);
	RUN_TEST(a_newer_version_is_refused);
	RUN_TEST(other_databases_are_refused_untouched);
	RUN_TEST(what_is_no_database_is_refused);
	RUN_TEST(missing_tables_and_columns_are_refused);
	RUN_TEST(a_file_that_others_may_read_is_refused);
	RUN_TEST(a_second_process_is_refused);
	RUN_TEST(damage_is_seen_after_an_unclean_end);
	RUN_TEST(the_schema_says_what_its_columns_are);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_open_files);
	GREATEST_MAIN_END();
}
