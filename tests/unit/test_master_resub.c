/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One subscription id is used again while pages of an earlier subscription are still on their way. */
#include "master_box.h"

#include "tests/greatest.h"

#define SUB_ID 50

static bool subscribe(struct peer *peer, enum query_what what, uint64_t run)
{
	struct msg_subscribe msg = { .id = SUB_ID, .what = what, .run = run };

	return peer_send(peer, OP_SUBSCRIBE, &msg);
}

/* The first subscription is to a run in the store or an unknown run, so its answer comes at an unknown time. */
static bool resubscribe(struct peer *peer, uint64_t first, int64_t pause_ns)
{
	struct msg_unsubscribe msg = { .id = SUB_ID };
	struct frame frame = { 0 };
	int64_t from_ns = clock_mono_ns();

	if (!subscribe(peer, QUERY_JOBS, first))
		return false;
	while (clock_mono_ns() - from_ns < pause_ns)
		;
	if (!peer_send(peer, OP_UNSUBSCRIBE, &msg) || !subscribe(peer, QUERY_JOBS, 2))
		return false;
	/* After an error the first subscription doesn't exist, so there is nothing to unsubscribe from. */
	while (frame.opcode != OP_OK && frame.opcode != OP_ERROR)
		if (!peer_frame(peer, &frame))
			return false;
	return frame.opcode == OP_OK;
}

TEST the_second_has_its_own_pages(void)
{
	struct peer client, worker;
	struct msg_accepted accepted;
	struct msg_snapshot answer;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(peer_submit(&client, "key-key-key-key1", "old", 1, false));
	ASSERT(peer_expect(&client, OP_ACCEPTED, &accepted));
	ASSERT(worker_serve(&worker, 1));
	do {
		ASSERT(peer_query(&client, QUERY_RUNS, 0, "", 0, 0, &answer));
	} while (answer.runs.at[0].ended_ms == 0);
	ASSERT(peer_submit(&client, "key-key-key-key2", "new", 2500, true));
	ASSERT(peer_expect(&client, OP_ACCEPTED, &accepted));
	for (unsigned i = 0; i < 200; i++) {
		struct peer viewer;
		uint64_t jobs = 0;

		ASSERT(peer_hello(&viewer));
		ASSERT(resubscribe(&viewer, 1, i * 5000));
		while (jobs < 2500) {
			ASSERT(peer_expect(&viewer, OP_SNAPSHOT, &answer));
			ASSERT_EQ(SUB_ID, answer.id);
			for (size_t at = 0; at < answer.jobs.n; at++)
				ASSERT_EQ(2, answer.jobs.at[at].run);
			ASSERT((answer.cursor == 0) == (jobs + answer.jobs.n == 2500));
			jobs += answer.jobs.n;
		}
		peer_close(&viewer);
	}
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

SUITE(resubscribed)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(the_second_has_its_own_pages);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(resubscribed);
	GREATEST_MAIN_END();
}
