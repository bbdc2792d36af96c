/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A running master with rough peers: silent ones, too many, random bytes; and shutdowns at bad moments. */
#include "master_box.h"

#include "base/rand.h"
#include "tests/greatest.h"

TEST silent_peers_are_few_and_not_for_long(void)
{
	static struct peer silent[LIMIT_CONN_UNAUTH_MAX];
	struct peer late, other;
	struct msg_snapshot snapshot;

	ASSERT(box_start());
	ASSERT(peer_hello(&other));
	for (size_t i = 0; i < LIMIT_CONN_UNAUTH_MAX; i++)
		ASSERT(peer_connect(&silent[i]));
	/* A peer that sends HELLO is let in, and the connection that was silent for longest is closed. */
	ASSERT(peer_hello(&late));
	ASSERT_EQ(ERR_BUSY, peer_error(&silent[0]));
	peer_close(&late);
	/* Connections that have sent HELLO aren't disturbed. */
	ASSERT(peer_query(&other, QUERY_STATUS, 0, "", 0, 0, &snapshot));
	ASSERT_EQ(ERR_TIMEOUT, peer_error(&silent[LIMIT_CONN_UNAUTH_MAX - 1]));
	for (size_t i = 0; i < LIMIT_CONN_UNAUTH_MAX; i++) {
		ASSERT(peer_ended(&silent[i]));
		peer_close(&silent[i]);
	}
	ASSERT(peer_hello(&late));
	peer_close(&late);
	peer_close(&other);
	PASS();
}

TEST an_inventory_comes_in_parts(void)
{
	struct rec_held held[3] = {
		{ .job = 1001, .epoch = 5, .phase = PHASE_RUNNING }, { .job = 1002, .epoch = 5, .phase = PHASE_QUEUED },
		{ .job = 1003, .epoch = 5, .phase = PHASE_RUNNING },
	};
	struct msg_hello hello = {
		.version = PROTOCOL_VERSION, .kind = PEER_WORKER, .name = slice_str("w1"),
		.instance = slice_str("0123456789abcdef"), .slots = 1, .held = { held, 1 }, .more = true,
	};
	struct msg_inventory part = { .held = { held + 1, 1 }, .more = true };
	struct msg_heartbeat heartbeat = { .sent_ns = 1 };
	struct frame frame;
	struct msg_stop stop;
	struct peer worker;
	bool welcome = false;
	size_t stopped = 0;

	ASSERT(box_start());
	ASSERT(peer_connect(&worker));
	ASSERT(peer_send(&worker, OP_HELLO, &hello) && peer_send(&worker, OP_INVENTORY, &part));
	part.held.at = held + 2;
	part.more = false;
	ASSERT(peer_send(&worker, OP_INVENTORY, &part));
	/* The master knows none of the three attempts, so all are stopped, whichever form the inventory has. */
	while (stopped < 3 || !welcome) {
		ASSERT(peer_frame(&worker, &frame) && (frame.opcode == OP_STOP || frame.opcode == OP_WELCOME));
		welcome |= frame.opcode == OP_WELCOME;
		if (frame.opcode != OP_STOP)
			continue;
		arena_reset(&worker.arena);
		ASSERT_EQ(ERR_NONE, message_decode(OP_STOP, frame.body, &worker.arena, &stop, NULL));
		stopped += stop.items.n;
	}
	ASSERT_EQ_FMT((size_t)3, stopped, "%zu");
	peer_close(&worker);
	/* A frame that isn't part of the worker's inventory, sent in the middle of it, is an error. */
	ASSERT(peer_connect(&worker));
	ASSERT(peer_send(&worker, OP_HELLO, &hello) && peer_send(&worker, OP_HEARTBEAT, &heartbeat));
	ASSERT_EQ(ERR_NOT_EXPECTED, peer_error(&worker));
	peer_close(&worker);
	PASS();
}

/* A worker with many slots and long commands may have more unread bytes waiting than a client may. */
TEST a_worker_is_owed_as_much_as_it_has_slots_for(void)
{
	const size_t count = 90, per_graph = 6, script_len = 130000;
	char *script = mem_alloc(script_len), name[16];
	struct rec_job_spec spec = { .script = slice_make(script, script_len) };
	struct msg_submit submit = { .name = slice_str("r"), .count = per_graph };
	struct peer client, worker;
	struct buf jobs = { 0 };

	memset(script, 'x', script_len);
	for (size_t i = 0; i < per_graph; i++) {
		snprintf(name, sizeof(name), "job%zu", i);
		spec.name = slice_str(name);
		record_encode(&jobs, REC_job_spec, &spec);
	}
	submit.jobs = buf_slice(&jobs);
	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	for (uint64_t i = 1; i <= count / per_graph; i++) {
		char key[17];

		snprintf(key, sizeof(key), "%016u", (unsigned)i);
		submit.id = i;
		submit.key = slice_make(key, 16);
		ASSERT(peer_send(&client, OP_SUBMIT, &submit));
		ASSERT(peer_expect(&client, OP_ACCEPTED, &(struct msg_accepted){ 0 }));
	}
	ASSERT(count * script_len > LIMIT_CONN_QUEUE_MAX);
	ASSERT(peer_worker(&worker, "w1", count, NULL, 0));
	ASSERT(worker_serve(&worker, count));
	buf_free(&jobs);
	mem_free(script);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

/* Encode a valid frame of each opcode that a client may send. */
static void valid_frames(struct buf *out, size_t *ends, size_t *ret_count)
{
	struct buf jobs = { 0 };
	struct msg_submit submit = { .id = 1, .key = slice_str("0123456789abcdef"), .name = slice_str("r"), .count = 2 };
	struct msg_graph_begin begin = { .id = 2, .key = slice_str("0123456789abcdeF"), .name = slice_str("r"), .count = 2 };
	struct msg_graph_chunk chunk = { .id = 2, .count = 2 };
	struct msg_graph_commit commit = { .id = 2 };
	struct msg_act act = { .id = 3, .verb = ACT_CANCEL, .run = 1, .job = slice_str("job1") };
	struct msg_query query = { .id = 4, .what = QUERY_JOBS, .run = 1, .limit = 3 };
	struct msg_subscribe subscribe = { .id = 5, .what = QUERY_JOBS, .run = 1 };
	struct msg_log_read log_read = { .id = 6, .run = 1, .job = 1, .epoch = 1 };
	size_t count = 0;

	graph_encode(&jobs, 0, 2, true);
	submit.jobs = buf_slice(&jobs);
	chunk.jobs = buf_slice(&jobs);
#define FRAME(OP, msg)                                        \
	do {                                                  \
		message_encode(out, OP_##OP, &(msg));         \
		ends[count++] = out->len;                     \
	} while (0)
	FRAME(SUBMIT, submit);
	FRAME(GRAPH_BEGIN, begin);
	FRAME(GRAPH_CHUNK, chunk);
	FRAME(GRAPH_COMMIT, commit);
	FRAME(ACT, act);
	FRAME(QUERY, query);
	FRAME(SUBSCRIBE, subscribe);
	FRAME(LOG_READ, log_read);
#undef FRAME
	buf_free(&jobs);
	*ret_count = count;
}

TEST broken_frames_never_end_the_master(void)
{
	struct buf frames = { 0 }, broken = { 0 };
	size_t ends[16], count;
	struct rand_state rand;
	struct peer peer, other;
	struct msg_snapshot snapshot;

	ASSERT(box_start());
	ASSERT(peer_hello(&other));
	valid_frames(&frames, ends, &count);
	rand_seed(&rand, 11);
	for (int round = 0; round < 600; round++) {
		buf_clear(&broken);
		buf_add(&broken, frames.data, frames.len);
		for (uint64_t i = rand_below(&rand, 3); i < 3; i++)
			broken.data[rand_below(&rand, broken.len)] ^= (uint8_t)(1u << rand_below(&rand, 8));
		if (rand_below(&rand, 4) == 0)
			buf_cut(&broken, rand_below(&rand, broken.len));
		ASSERT(peer_hello(&peer));
		/* The master may close the connection before it has read all of this. */
		peer_write(&peer, broken.data, broken.len);
		shutdown(peer.fd, SHUT_WR);
		if (round % 2 == 0)
			ASSERT(peer_ended(&peer) || peer.in.len > 0);
		peer_close(&peer);
	}
	ASSERT(peer_query(&other, QUERY_STATUS, 0, "", 0, 0, &snapshot));
	buf_free(&frames);
	buf_free(&broken);
	peer_close(&other);
	PASS();
}

/* After the end of the master, however it ends, every acknowledged run is there. */
static enum greatest_test_res ends_under_load(int signal_number, int status)
{
	struct peer client;
	struct frame frame;
	struct msg_snapshot snapshot;
	struct msg_accepted accepted = { 0 };
	uint64_t last = 0, cursor = 0, seen = 0;
	char key[24];

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	for (int i = 0; i < 400; i++) {
		snprintf(key, sizeof(key), "%016d", i);
		ASSERT(peer_submit(&client, key, "one", 3, true));
	}
	/* Some submits are acknowledged, some are in progress, some are unread. */
	for (int i = 0; i < 50; i++) {
		ASSERT(peer_expect(&client, OP_ACCEPTED, &accepted));
		last = accepted.run > last ? accepted.run : last;
	}
	ASSERT_EQ_FMT(status, box_stop(signal_number), "%d");
	while (peer_frame(&client, &frame)) {
		arena_reset(&client.arena);
		if (frame.opcode == OP_ACCEPTED &&
		    message_decode(OP_ACCEPTED, frame.body, &client.arena, &accepted, NULL) == ERR_NONE)
			last = accepted.run > last ? accepted.run : last;
	}
	peer_close(&client);
	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	do {
		ASSERT(peer_query(&client, QUERY_RUNS, 0, "", cursor, 100, &snapshot));
		for (size_t i = 0; i < snapshot.runs.n; i++)
			seen += snapshot.runs.at[i].run <= last && snapshot.runs.at[i].jobs == 3;
		cursor = snapshot.cursor;
	} while (cursor != 0);
	ASSERT_EQ_FMT((unsigned long long)last, (unsigned long long)seen, "%llu");
	peer_close(&client);
	PASS();
}

TEST sigterm_under_load_loses_nothing(void)
{
	return ends_under_load(SIGTERM, 0);
}

TEST sigkill_under_load_loses_nothing(void)
{
	return ends_under_load(SIGKILL, -1);
}

TEST it_ends_with_questions_open(void)
{
	struct msg_query query = { .what = QUERY_RUNS };
	struct msg_query jobs = { .what = QUERY_JOBS, .run = 12345 };
	struct msg_subscribe subscribe = { .id = 9000, .what = QUERY_RUNS };
	struct peer client;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_send(&client, OP_SUBSCRIBE, &subscribe));
	for (query.id = 1; query.id < 200; query.id++) {
		jobs.id = query.id + 1000;
		ASSERT(peer_send(&client, OP_QUERY, &query) && peer_send(&client, OP_QUERY, &jobs));
	}
	ASSERT_EQ_FMT(0, box_stop(SIGTERM), "%d");
	peer_close(&client);
	PASS();
}

TEST without_descriptors_it_goes_on(void)
{
	static struct peer many[100];
	struct msg_snapshot snapshot;
	size_t in = 0;

	box_fd_limit = 64;
	ASSERT(box_start());
	while (in < 100 && peer_hello(&many[in]))
		in++;
	ASSERT(in > 10 && in < 64);
	ASSERT(peer_query(&many[0], QUERY_STATUS, 0, "", 0, 0, &snapshot));
	for (size_t i = 1; i < in; i++)
		peer_close(&many[i]);
	if (in < 100)
		peer_close(&many[in]);
	/* Connections become free when the master has noticed the closed ones. */
	while (!peer_hello(&many[1]))
		peer_close(&many[1]);
	ASSERT(peer_query(&many[1], QUERY_STATUS, 0, "", 0, 0, &snapshot));
	peer_close(&many[0]);
	peer_close(&many[1]);
	PASS();
}

SUITE(master_rough)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(silent_peers_are_few_and_not_for_long);
	RUN_TEST(an_inventory_comes_in_parts);
	RUN_TEST(a_worker_is_owed_as_much_as_it_has_slots_for);
	RUN_TEST(broken_frames_never_end_the_master);
	RUN_TEST(sigterm_under_load_loses_nothing);
	RUN_TEST(sigkill_under_load_loses_nothing);
	RUN_TEST(it_ends_with_questions_open);
	RUN_TEST(without_descriptors_it_goes_on);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_rough);
	GREATEST_MAIN_END();
}
