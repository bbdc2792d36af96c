/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live tail: the newest output that isn't stored. Limited for each job and in all, and sent once to whoever
 * watches.
 */
#include "master/live_tail.h"

#include "base/mem.h"
#include "greatest.h"
#include "proto/limits.h"

GREATEST_MAIN_DEFS();

#define PIECE 65536u

static struct live_tail_pool pool;
static struct live_tail tails[200];
static struct arena arena;
static uint8_t bytes[PIECE];

static void setup_cb(void *data)
{
	(void)data;
	memset(&pool, 0, sizeof(pool));
	memset(tails, 0, sizeof(tails));
}

static void teardown_cb(void *data)
{
	(void)data;
	for (size_t i = 0; i < 200; i++)
		live_tail_clear(&pool, &tails[i]);
	arena_free(&arena);
}

static void add(struct live_tail *tail, uint64_t offset, size_t len)
{
	const struct rec_output item = { .job = 1, .epoch = 1, .stream = 1, .offset = offset, .data = slice_make(bytes, len) };

	live_tail_add(&pool, tail, &item);
}

TEST pieces_are_listed_once(void)
{
	const struct rec_output *list;
	uint64_t newest = 0;
	size_t count;

	for (uint64_t i = 0; i < 3; i++)
		add(&tails[0], i * 10, 10);
	list = live_tail_list(&tails[0], &arena, &newest, &count);
	ASSERT_EQ(3, count);
	for (uint64_t i = 0; i < 3; i++)
		ASSERT_EQ_FMT(i * 10, list[i].offset, "%lu");
	ASSERT_EQ_FMT(pool.number, newest, "%lu");
	live_tail_list(&tails[0], &arena, &newest, &count);
	ASSERT_EQ(0, count);
	add(&tails[1], 0, 10);
	add(&tails[0], 30, 10);
	list = live_tail_list(&tails[0], &arena, &newest, &count);
	ASSERT_EQ(1, count);
	ASSERT_EQ_FMT(30ul, list[0].offset, "%lu");
	PASS();
}

TEST job_keeps_its_newest_bytes(void)
{
	const struct rec_output *list;
	uint64_t newest = 0;
	size_t count;

	for (uint64_t i = 0; i < 10; i++)
		add(&tails[0], i * PIECE, PIECE);
	ASSERT_EQ_FMT((size_t)LIMIT_LIVE_TAIL, tails[0].bytes, "%zu");
	ASSERT_EQ_FMT(tails[0].bytes, pool.bytes, "%zu");
	list = live_tail_list(&tails[0], &arena, &newest, &count);
	ASSERT_EQ_FMT((size_t)LIMIT_LIVE_TAIL / PIECE, count, "%zu");
	ASSERT_EQ_FMT(9ul * PIECE, list[count - 1].offset, "%lu");
	PASS();
}

/* When all room is taken, a further job gets none until another one gives its room back. */
TEST all_jobs_share_one_bound(void)
{
	const size_t most = (size_t)128 * LIMIT_LIVE_TAIL;
	size_t full = 0;

	for (size_t i = 0; i < 130; i++) {
		for (uint64_t at = 0; at < LIMIT_LIVE_TAIL; at += PIECE)
			add(&tails[i], at, PIECE);
		full += tails[i].bytes == LIMIT_LIVE_TAIL;
		ASSERT(pool.bytes <= most);
	}
	ASSERT_EQ_FMT((size_t)128, full, "%zu");
	ASSERT_EQ(0, tails[128].bytes);
	live_tail_clear(&pool, &tails[3]);
	ASSERT_EQ_FMT(most - LIMIT_LIVE_TAIL, pool.bytes, "%zu");
	add(&tails[128], 0, PIECE);
	ASSERT_EQ_FMT((size_t)PIECE, tails[128].bytes, "%zu");
	PASS();
}

SUITE(master_live_tail)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(pieces_are_listed_once);
	RUN_TEST(job_keeps_its_newest_bytes);
	RUN_TEST(all_jobs_share_one_bound);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_live_tail);
	GREATEST_MAIN_END();
}
