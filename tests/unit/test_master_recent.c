/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ring of recent changes: a subscriber that resumes gets all that it missed, or is told that the ring doesn't reach
 * back so far.
 */
#include "master/internal.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

#define RING 4u

static struct recent *recent;

static void setup_cb(void *data)
{
	(void)data;
	recent = recent_new(RING);
}

static void teardown_cb(void *data)
{
	(void)data;
	recent_free(recent);
}

/* Add a turn with this many changes; change i is named turn * 10 + i. */
static void add_turn(uint64_t turn, size_t count)
{
	struct changed changes[8];
	struct outbox outbox = { .turn = turn, .changes = changes, .change_count = count };

	for (size_t i = 0; i < count; i++)
		changes[i] = (struct changed){ .kind = CHANGED_RUN, .id = turn * 10 + i };
	recent_add(recent, &outbox);
}

static bool knows(uint64_t turn)
{
	uint64_t told = UINT64_MAX;

	return recent_knows(recent, recent_mark(recent, turn), &told) && told == turn;
}

/* The names of all changes after this turn, newest first, ended by 0. */
static const uint64_t *missed(uint64_t turn)
{
	static uint64_t found[RING + 1];
	const struct changed *changed;
	size_t back = 0, count = 0;

	while ((changed = recent_before(recent, turn, &back)) && count < RING)
		found[count++] = changed->id;
	found[count] = 0;
	return found;
}

TEST empty_ring_knows_no_turn_of_before(void)
{
	ASSERT(knows(0));
	add_turn(7, 1);
	ASSERTm("the turn in front of the first is the edge", knows(6));
	ASSERT_FALSE(knows(5));
	ASSERT(knows(7));
	ASSERT_FALSE(knows(8));
	ASSERT_EQ(70, missed(6)[0]);
	ASSERT_EQ(0, missed(6)[1]);
	ASSERT_EQ(0, missed(7)[0]);
	PASS();
}

TEST full_ring_that_lost_nothing_knows_all(void)
{
	for (uint64_t turn = 1; turn <= RING; turn++)
		add_turn(turn, 1);
	ASSERT(knows(0));
	for (size_t i = 0; i < RING; i++)
		ASSERT_EQ_FMT((RING - i) * 10, missed(0)[i], "%lu");
	ASSERT_EQ(0, missed(0)[RING]);
	PASS();
}

TEST resume_at_the_edge_of_the_ring_misses_nothing(void)
{
	for (uint64_t turn = 1; turn <= RING + 3; turn++) {
		add_turn(turn, 1);
		if (turn <= RING)
			continue;
		ASSERT(knows(turn - RING));
		ASSERT_FALSEm("a change after it is lost", knows(turn - RING - 1));
		for (size_t i = 0; i < RING; i++)
			ASSERT_EQ_FMT((turn - i) * 10, missed(turn - RING)[i], "%lu");
		ASSERT_EQ(0, missed(turn - RING)[RING]);
	}
	PASS();
}

/*
 * The ring has kept two of the turn's three changes, so a subscriber that was told the turn before can't resume from
 * it.
 */
TEST turn_that_is_lost_in_part_is_lost(void)
{
	add_turn(1, 1);
	add_turn(2, 3);
	ASSERT(knows(1));
	add_turn(3, 1);
	ASSERT(knows(1));
	add_turn(4, 1);
	ASSERT_FALSE(knows(1));
	ASSERT(knows(2));
	ASSERT_EQ(40, missed(2)[0]);
	ASSERT_EQ(30, missed(2)[1]);
	ASSERT_EQ(0, missed(2)[2]);
	PASS();
}

TEST turn_without_changes_is_known(void)
{
	add_turn(1, RING);
	add_turn(2, 0);
	ASSERT(knows(0));
	ASSERT(knows(2));
	ASSERT_EQ(0, missed(2)[0]);
	ASSERT_EQ_FMT((uint64_t)2, recent_turn(recent), "%lu");
	PASS();
}

TEST mark_of_another_process_is_not_known(void)
{
	struct recent *other = recent_new(RING);
	uint64_t turn;

	add_turn(1, 1);
	ASSERT_FALSE(recent_knows(recent, recent_mark(other, 1), &turn));
	ASSERT_FALSE(recent_knows(recent, 1, &turn));
	recent_free(other);
	PASS();
}

SUITE(master_recent)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(empty_ring_knows_no_turn_of_before);
	RUN_TEST(full_ring_that_lost_nothing_knows_all);
	RUN_TEST(resume_at_the_edge_of_the_ring_misses_nothing);
	RUN_TEST(turn_that_is_lost_in_part_is_lost);
	RUN_TEST(turn_without_changes_is_known);
	RUN_TEST(mark_of_another_process_is_not_known);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_recent);
	GREATEST_MAIN_END();
}
