/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mark beside a store records the last acknowledged turn: a store that ends before that turn must not be trusted.
 */
#include "store/mark.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/io.h"
#include "greatest.h"
#include "scratch.h"

GREATEST_MAIN_DEFS();

static char dir[SCRATCH_SIZE], store[SCRATCH_SIZE + 16], path[SCRATCH_SIZE + 32];
static struct error error;

static void setup_cb(void *data)
{
	(void)data;
	scratch_new("mark", dir);
	snprintf(store, sizeof(store), "%s/titan.db", dir);
	snprintf(path, sizeof(path), "%s-mark", store);
}

static void teardown_cb(void *data)
{
	(void)data;
	io_remove_tree(AT_FDCWD, dir);
}

static bool set(uint64_t turn)
{
	struct mark mark;

	if (mark_open(&mark, store, &error) != ERR_NONE)
		return false;
	mark_set(&mark, turn);
	mark_close(&mark);
	return true;
}

TEST store_that_lacks_one_turn_is_seen(void)
{
	ASSERT_EQ(ERR_NONE, mark_agrees(store, 0, &error));
	ASSERT(set(7));
	ASSERT_EQ(ERR_STORE_TRUST, mark_agrees(store, 0, &error));
	ASSERT_EQ(ERR_STORE_TRUST, mark_agrees(store, 6, &error));
	ASSERT_EQ(ERR_NONE, mark_agrees(store, 7, &error));
	ASSERT_EQ(ERR_NONE, mark_agrees(store, 8, &error));
	ASSERT(set(1000));
	ASSERT_EQ(ERR_STORE_TRUST, mark_agrees(store, 999, &error));
	ASSERT(set(UINT64_MAX));
	ASSERT_EQ(ERR_STORE_TRUST, mark_agrees(store, UINT64_MAX - 1, &error));
	PASS();
}

TEST mark_without_content_says_nothing_and_nonsense_is_damage(void)
{
	static const char zeros[21];

	ASSERT_EQ(0, io_write_file(AT_FDCWD, path, "", 0, 0600));
	ASSERT_EQ(ERR_NONE, mark_agrees(store, 0, &error));
	ASSERT_EQ(0, io_write_file(AT_FDCWD, path, zeros, sizeof(zeros), 0600));
	ASSERT_EQ(ERR_NONE, mark_agrees(store, 0, &error));
	ASSERT_EQ(0, io_write_file(AT_FDCWD, path, "seven\n", 6, 0600));
	ASSERT_EQ(ERR_STORE, mark_agrees(store, 0, &error));
	ASSERT_EQ(0, io_write_file(AT_FDCWD, path, "00000000000000000007", 20, 0600));
	ASSERT_EQ(ERR_STORE, mark_agrees(store, 9, &error));
	PASS();
}

TEST mark_that_is_removed_is_gone(void)
{
	ASSERT(set(7));
	ASSERT_EQ(ERR_NONE, mark_remove(store, &error));
	ASSERT_EQ(-1, access(path, F_OK));
	ASSERT_EQ(ERR_NONE, mark_remove(store, &error));
	ASSERT_EQ(ERR_NONE, mark_agrees(store, 0, &error));
	PASS();
}

SUITE(store_mark)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(store_that_lacks_one_turn_is_seen);
	RUN_TEST(mark_without_content_says_nothing_and_nonsense_is_damage);
	RUN_TEST(mark_that_is_removed_is_gone);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_mark);
	GREATEST_MAIN_END();
}
