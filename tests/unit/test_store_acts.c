/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chain of acts in the store: a start checks only its end, fsck all of it (I20). */
#include <sqlite3.h>
#include <sys/stat.h>

#include "greatest.h"
#include "store_box.h"

#include "core/acts/chain.h"

static void act_add(struct outbox *turn, int64_t number, uint8_t head[SHA256_SIZE])
{
	struct row_act *act = &outbox_row(turn, TABLE_act)->act;

	*act = (struct row_act){
		.act = number, .turn = (int64_t)turn->turn, .wall_ms = 7, .name = slice_str("ana"), .verb = slice_str("hold"),
		.previous = arena_copy(&turn->arena, slice_make(head, SHA256_SIZE)),
	};
	act_hash(act, head);
	act->hash = arena_copy(&turn->arena, slice_make(head, SHA256_SIZE));
}

static void three_acts(void)
{
	struct store *store = box_start(0);
	uint8_t head[SHA256_SIZE] = { 0 };

	for (int64_t number = 1; number <= 3; number++) {
		struct outbox *turn = box_turn((uint64_t)number);
		struct row *row;

		act_add(turn, number, head);
		row = outbox_row(turn, TABLE_meta);
		row->meta = (struct row_meta){ .name = slice_str("turn"), .value = number };
		box_commit(store, turn);
	}
	store_close(store);
}

static void run_sql(const char *sql)
{
	sqlite3 *handle;

	if (sqlite3_open(box_path, &handle) != SQLITE_OK || sqlite3_exec(handle, sql, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(handle));
		abort();
	}
	sqlite3_close(handle);
	if (chmod(box_path, 0600) != 0)
		abort();
}

static bool check_says(const char *words)
{
	struct store *store = box_open(0);
	struct error error = { 0 };
	enum err err = store_check(store, &error);

	store_close(store);
	if (words[0] == '\0')
		return err == ERR_NONE;
	if (err != ERR_STORE_TRUST || !strstr(error.text, words))
		fprintf(stderr, "error %d: %s\n", (int)err, error.text);
	return err == ERR_STORE_TRUST && strstr(error.text, words);
}

TEST a_changed_act_is_found_by_its_number(void)
{
	three_acts();
	ASSERT(check_says(""));
	run_sql("UPDATE act SET name = 'bert' WHERE act = 2");
	ASSERT(check_says("act 2: its row was changed"));
	PASS();
}

TEST a_missing_act_is_found_by_its_number(void)
{
	three_acts();
	run_sql("DELETE FROM act WHERE act = 2");
	ASSERT(check_says("act 2 is missing"));
	PASS();
}

TEST acts_that_were_pruned_are_no_break(void)
{
	three_acts();
	run_sql("DELETE FROM act WHERE act < 3");
	ASSERT(check_says(""));
	PASS();
}

SUITE(store_acts_suite)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(a_changed_act_is_found_by_its_number);
	RUN_TEST(a_missing_act_is_found_by_its_number);
	RUN_TEST(acts_that_were_pruned_are_no_break);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_acts_suite);
	GREATEST_MAIN_END();
}
