/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ballast, space kept for a full disk: given up once, and taken again only if the next commit has room beside it.
 */
#include "store/ballast.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io.h"
#include "greatest.h"
#include "scratch.h"

GREATEST_MAIN_DEFS();

#define SIZE 65536

static char dir[SCRATCH_SIZE], store[SCRATCH_SIZE + 16], held[SCRATCH_SIZE + 32];
static uint64_t room;                    /* free bytes on the disk */
static char asked[SCRATCH_SIZE + 16];    /* the directory whose free space was asked for */

int statvfs(const char *path, struct statvfs *info)
{
	snprintf(asked, sizeof(asked), "%s", path);
	*info = (struct statvfs){ .f_bavail = room, .f_frsize = 1 };
	return 0;
}

static void setup_cb(void *data)
{
	(void)data;
	scratch_new("ballast", dir);
	snprintf(store, sizeof(store), "%s/titan.db", dir);
	snprintf(held, sizeof(held), "%s-reserve", store);
}

static void teardown_cb(void *data)
{
	(void)data;
	io_remove_tree(AT_FDCWD, dir);
}

static int64_t size_held(void)
{
	struct stat info;

	return stat(held, &info) == 0 ? (int64_t)info.st_size : -1;
}

TEST ballast_is_given_up_once(void)
{
	struct ballast ballast;

	ballast_init(&ballast, store, "-reserve", SIZE);
	ASSERT_EQ(BALLAST_HELD, ballast.state);
	ASSERT_EQ(SIZE, size_held());
	ASSERT(ballast_take_again(&ballast));
	ASSERT(ballast_give_up(&ballast));
	ASSERT_EQ(-1, size_held());
	ASSERT_FALSE(ballast_give_up(&ballast));
	ballast_free(&ballast);
	PASS();
}

TEST ballast_is_taken_again_with_room_beside_it(void)
{
	struct ballast ballast;

	ballast_init(&ballast, store, "-reserve", SIZE);
	ASSERT(ballast_give_up(&ballast));
	for (room = 0; room < 2 * SIZE; room += SIZE / 2 - 1) {
		ASSERT_FALSE(ballast_take_again(&ballast));
		ASSERT_EQ(-1, size_held());
	}
	room = 2 * SIZE;
	ASSERT(ballast_take_again(&ballast));
	ASSERT_STR_EQ(dir, asked);
	ASSERT_EQ(SIZE, size_held());
	/* The ballast is given up once more, after it was made again at its old place. */
	ASSERT(ballast_give_up(&ballast));
	ASSERT(ballast_take_again(&ballast));
	ASSERT_EQ(SIZE, size_held());
	ballast_free(&ballast);
	PASS();
}

SUITE(store_ballast)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(ballast_is_given_up_once);
	RUN_TEST(ballast_is_taken_again_with_room_beside_it);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_ballast);
	GREATEST_MAIN_END();
}
