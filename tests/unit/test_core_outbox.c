/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of reveals: nothing before its rows are durable, nothing out of order, nothing lost. */
#include "core/rows/outbox.h"

#include "base/mem.h"
#include "greatest.h"

static struct outbox *turn_new(uint64_t turn, bool rows)
{
	struct outbox *outbox = mem_zalloc(sizeof(*outbox));

	outbox->turn = turn;
	if (rows)
		outbox_row(outbox, TABLE_meta);
	return outbox;
}

static uint64_t reveal(struct commit_queue *pipeline)
{
	struct outbox *outbox = commit_queue_reveal(pipeline);
	uint64_t turn = outbox ? outbox->turn : 0;

	if (outbox)
		outbox_free(outbox);
	mem_free(outbox);
	return turn;
}

TEST turn_is_not_revealed_before_its_commit(void)
{
	struct commit_queue pipeline = { 0 };

	ASSERT_EQ(0, reveal(&pipeline));
	ASSERT(commit_queue_add(&pipeline, turn_new(1, true)));
	ASSERT(commit_queue_add(&pipeline, turn_new(2, true)));
	ASSERT_EQ(2, pipeline.depth);
	ASSERT_EQ(0, reveal(&pipeline));
	commit_queue_committed(&pipeline, 1);
	ASSERT_EQ(1, reveal(&pipeline));
	ASSERT_EQ(0, reveal(&pipeline));
	commit_queue_committed(&pipeline, 2);
	ASSERT_EQ(2, reveal(&pipeline));
	ASSERT_EQ(0, reveal(&pipeline));
	ASSERT_EQ(0, pipeline.depth);
	PASS();
}

TEST commit_reveals_all_turns_up_to_it(void)
{
	struct commit_queue pipeline = { 0 };

	for (uint64_t turn = 1; turn <= 5; turn++)
		commit_queue_add(&pipeline, turn_new(turn, true));
	commit_queue_committed(&pipeline, 4);
	for (uint64_t turn = 1; turn <= 4; turn++)
		ASSERT_EQ(turn, reveal(&pipeline));
	ASSERT_EQ(0, reveal(&pipeline));
	commit_queue_committed(&pipeline, 5);
	ASSERT_EQ(5, reveal(&pipeline));
	PASS();
}

TEST turn_without_rows_waits_for_earlier_turns(void)
{
	struct commit_queue pipeline = { 0 };

	ASSERT_FALSE(commit_queue_add(&pipeline, turn_new(1, false)));
	ASSERT_EQ(1, reveal(&pipeline));
	ASSERT(commit_queue_add(&pipeline, turn_new(2, true)));
	ASSERT_FALSE(commit_queue_add(&pipeline, turn_new(3, false)));
	ASSERT(commit_queue_add(&pipeline, turn_new(4, true)));
	ASSERT_EQ(0, reveal(&pipeline));
	commit_queue_committed(&pipeline, 2);
	ASSERT_EQ(2, reveal(&pipeline));
	ASSERT_EQ(3, reveal(&pipeline));
	ASSERT_EQ(0, reveal(&pipeline));
	commit_queue_committed(&pipeline, 4);
	ASSERT_EQ(4, reveal(&pipeline));
	PASS();
}

TEST clear_empties_the_outbox_and_releases_blobs(void)
{
	struct outbox outbox = { 0 };
	struct blob *blob = blob_make(slice_str("graph"));

	ASSERT(slice_eq(outbox_hold(&outbox, blob), slice_str("graph")));
	ASSERT_EQ(2, atomic_load(&blob->holders));
	outbox_row(&outbox, TABLE_spec)->spec.part = 3;
	outbox_frame(&outbox, 8, OP_ACK)->close = true;
	outbox_changed(&outbox, CHANGED_RUN, 1, 0);
	outbox_clear(&outbox);
	ASSERT_EQ(1, atomic_load(&blob->holders));
	ASSERT_EQ(0, outbox.row_count + outbox.frame_count + outbox.change_count + outbox.blob_count);
	ASSERT_EQ(0, outbox_row(&outbox, TABLE_spec)->spec.part);
	ASSERT_FALSE(outbox_frame(&outbox, 8, OP_ACK)->close);
	outbox_free(&outbox);
	blob_release(blob);
	PASS();
}

SUITE(revealing)
{
	RUN_TEST(turn_is_not_revealed_before_its_commit);
	RUN_TEST(commit_reveals_all_turns_up_to_it);
	RUN_TEST(turn_without_rows_waits_for_earlier_turns);
	RUN_TEST(clear_empties_the_outbox_and_releases_blobs);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(revealing);
	GREATEST_MAIN_END();
}
