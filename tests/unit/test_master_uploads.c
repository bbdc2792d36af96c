/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs that are being uploaded: limits for each user, and uploads that stand still. */
#include "master_box.h"
#include "proto/metrics.h"

#include "tests/greatest.h"

#define KEY    "key-key-key-key1"
#define CHUNK  (512u << 10)

static uint8_t bytes[CHUNK];

static bool begin(struct peer *peer, uint64_t id)
{
	struct msg_graph_begin msg = { .id = id, .key = slice_str(KEY), .name = slice_str("g"), .count = 100000 };

	return peer_send(peer, OP_GRAPH_BEGIN, &msg);
}

static bool chunk(struct peer *peer, uint64_t id, size_t len)
{
	struct msg_graph_chunk msg = { .id = id, .jobs = slice_make(bytes, len), .count = 1 };

	return peer_send(peer, OP_GRAPH_CHUNK, &msg);
}

/* True if the master has read everything that was sent before, and has refused nothing. */
static bool is_quiet(struct peer *peer)
{
	struct msg_snapshot answer;

	return peer_query(peer, QUERY_STATUS, 0, "", 0, 0, &answer);
}

TEST bytes_of_one_user_are_bounded_over_all_connections(void)
{
	struct peer one, other;

	box_upload_bytes = 4u << 20;
	ASSERT(box_start());
	ASSERT(peer_hello(&one) && peer_hello(&other));
	ASSERT(begin(&one, 1) && begin(&other, 2));
	for (int i = 0; i < 4; i++)
		ASSERT(chunk(&one, 1, CHUNK) && chunk(&other, 2, i < 3 ? CHUNK : 1000));
	ASSERT(is_quiet(&one) && is_quiet(&other));
	ASSERT(chunk(&one, 1, CHUNK));
	ASSERT_EQ(ERR_BUSY, peer_error(&one));
	/* A refused upload has given back its memory and gets no further answers. */
	ASSERT(chunk(&one, 1, CHUNK));
	for (int i = 0; i < 3; i++)
		ASSERT(chunk(&other, 2, CHUNK));
	ASSERT(is_quiet(&one) && is_quiet(&other));
	peer_close(&one);
	peer_close(&other);
	PASS();
}

TEST small_parts_count_for_what_they_take(void)
{
	struct peer peer;
	size_t sent = 0;

	box_upload_bytes = 64u << 10;
	ASSERT(box_start());
	ASSERT(peer_hello(&peer));
	ASSERT(begin(&peer, 1));
	for (; sent < 2000; sent++)
		ASSERT(chunk(&peer, 1, 1));
	ASSERT_EQ(ERR_BUSY, peer_error(&peer));
	peer_close(&peer);
	PASS();
}

TEST a_connection_has_a_quarter_of_all_graphs(void)
{
	struct peer greedy, other;
	uint64_t id = 0;

	ASSERT(box_start());
	ASSERT(peer_hello(&greedy) && peer_hello(&other));
	while (id < LIMIT_UPLOADS_MAX / 4)
		ASSERT(begin(&greedy, ++id));
	ASSERT(is_quiet(&greedy));
	ASSERT(begin(&greedy, ++id));
	ASSERT_EQ(ERR_BUSY, peer_error(&greedy));
	ASSERT(begin(&other, 1));
	ASSERT(is_quiet(&other));
	peer_close(&greedy);
	peer_close(&other);
	PASS();
}

static bool try_to_begin(struct peer *peer, uint64_t id, bool *ret_begun)
{
	struct msg_query ask = { .id = 1000 + id, .what = QUERY_STATUS };
	struct frame frame;

	*ret_begun = true;
	if (!begin(peer, id) || !peer_send(peer, OP_QUERY, &ask) || !peer_frame(peer, &frame))
		return false;
	if (frame.opcode == OP_SNAPSHOT)
		return true;
	*ret_begun = false;
	return peer_frame(peer, &frame) && frame.opcode == OP_SNAPSHOT;
}

/* All upload places of this user are taken by uploads that stand still. */
TEST the_graph_that_stood_still_for_longest_makes_room(void)
{
	struct peer silent[3], other;
	struct msg_error refused;
	uint64_t id = 0;
	bool begun;

	box_upload_yield_ms = 1;
	ASSERT(box_start());
	for (size_t i = 0; i < 3; i++) {
		ASSERT(peer_hello(&silent[i]));
		for (uint64_t own = 1; own <= LIMIT_UPLOADS_MAX / 4; own++)
			ASSERT(begin(&silent[i], own));
		ASSERT(is_quiet(&silent[i]));
	}
	ASSERT(peer_hello(&other));
	/* Refused only if every upload made progress a moment ago. */
	do {
		ASSERT(try_to_begin(&other, ++id, &begun));
	} while (!begun);
	ASSERT(peer_expect(&silent[0], OP_ERROR, &refused));
	ASSERT_EQ_FMT((unsigned long long)ERR_TIMEOUT, (unsigned long long)refused.code, "%llu");
	ASSERT_EQ_FMT(1ull, (unsigned long long)refused.id, "%llu");
	for (size_t i = 0; i < 3; i++)
		peer_close(&silent[i]);
	peer_close(&other);
	PASS();
}

/* The first upload makes progress, so the others are dropped before it, in any order. */
TEST graph_that_moves_goes_after_those_that_stand_still(void)
{
	struct peer silent[3], other;
	struct msg_error refused;
	uint64_t id = 0;
	bool begun;

	box_upload_yield_ms = 1;
	ASSERT(box_start());
	for (size_t i = 0; i < 3; i++) {
		ASSERT(peer_hello(&silent[i]));
		for (uint64_t own = 1; own <= LIMIT_UPLOADS_MAX / 4; own++)
			ASSERT(begin(&silent[i], own));
		ASSERT(is_quiet(&silent[i]));
	}
	ASSERT(chunk(&silent[0], 1, 10));
	ASSERT(is_quiet(&silent[0]));
	ASSERT(peer_hello(&other));
	for (uint64_t gone = 2; gone <= 4; gone++) {
		do {
			ASSERT(try_to_begin(&other, ++id, &begun));
		} while (!begun);
		ASSERT(peer_expect(&silent[0], OP_ERROR, &refused));
		ASSERT_EQ_FMT(gone, refused.id, "%lu");
	}
	for (size_t i = 0; i < 3; i++)
		peer_close(&silent[i]);
	peer_close(&other);
	/* The places of closed connections become free when the master has noticed. */
	for (size_t i = 0; i < 3; i++) {
		ASSERT(peer_hello(&silent[i]));
		for (uint64_t own = 1; own <= LIMIT_UPLOADS_MAX / 4; own++) {
			do {
				ASSERT(try_to_begin(&silent[i], own, &begun));
			} while (!begun);
		}
	}
	for (size_t i = 0; i < 3; i++)
		peer_close(&silent[i]);
	ASSERT_EQ(0, box_stop(SIGTERM));
	PASS();
}

/* ---- jobs ---- */

/* Send frames of the job over its own channel, which its worker relays. */
static bool job_says(struct peer *worker, const struct rec_assign *job, const struct buf *frames)
{
	struct msg_relay msg = { .channel = 1, .job = job->job, .epoch = job->epoch, .data = buf_slice(frames) };

	return peer_send(worker, OP_RELAY, &msg);
}

/* Return the code of the first ERROR that the master sends to the job through the job's worker. */
static enum err job_error(struct peer *worker)
{
	struct buf heard = { 0 };
	enum err code = ERR_NONE;
	struct msg_relay relay;
	struct frame frame;
	size_t size;

	while (code == ERR_NONE && peer_expect(worker, OP_RELAY, &relay)) {
		buf_add_slice(&heard, relay.data);
		while (frame_read(buf_slice(&heard), LIMIT_FRAME_MAX, &frame, &size, NULL) == FRAME_WHOLE) {
			struct arena arena = { 0 };
			struct msg_error msg;

			if (frame.opcode == OP_ERROR && message_decode(OP_ERROR, frame.body, &arena, &msg, NULL) == ERR_NONE)
				code = (enum err)msg.code;
			arena_free(&arena);
			buf_drop(&heard, size);
		}
	}
	buf_free(&heard);
	return code;
}

TEST a_job_has_a_few_graphs_and_people_have_theirs(void)
{
	struct msg_hello hello = { .version = PROTOCOL_VERSION, .kind = PEER_CLIENT };
	struct peer client, worker;
	struct msg_assign assign;
	struct rec_assign job;
	struct buf frames = { 0 };

	ASSERT(box_start());
	ASSERT(peer_hello(&client) && peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(peer_submit(&client, KEY, "r", 1, false) && peer_expect(&client, OP_ACCEPTED, &(struct msg_accepted){ 0 }));
	ASSERT(peer_expect(&worker, OP_ASSIGN, &assign));
	job = assign.items.at[0];
	message_encode(&frames, OP_HELLO, &hello);
	for (uint64_t id = 1; id <= LIMIT_UPLOADS_MAX / 16 + 1; id++) {
		struct msg_graph_begin msg = { .id = id, .key = slice_str(KEY), .name = slice_str("g"), .count = 1 };

		message_encode(&frames, OP_GRAPH_BEGIN, &msg);
	}
	ASSERT(job_says(&worker, &job, &frames));
	ASSERT_EQ(ERR_BUSY, job_error(&worker));
	ASSERT(begin(&client, 7));
	ASSERT(is_quiet(&client));
	buf_free(&frames);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

SUITE(uploads)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(bytes_of_one_user_are_bounded_over_all_connections);
	RUN_TEST(small_parts_count_for_what_they_take);
	RUN_TEST(a_connection_has_a_quarter_of_all_graphs);
	RUN_TEST(the_graph_that_stood_still_for_longest_makes_room);
	RUN_TEST(graph_that_moves_goes_after_those_that_stand_still);
	RUN_TEST(a_job_has_a_few_graphs_and_people_have_theirs);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(uploads);
	GREATEST_MAIN_END();
}
