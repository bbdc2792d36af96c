/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A running master from outside: which peer may send what, graphs, queries, restarts, shutdown. */
#include "master_box.h"

#include "net/client.h"
#include "tests/greatest.h"

#define KEY1 "key-key-key-key1"
#define KEY2 "key-key-key-key2"

TEST serves_and_ends_cleanly(void)
{
	struct peer peer;

	ASSERT(box_start());
	ASSERT(peer_hello(&peer));
	ASSERT_EQ_FMT(0, box_stop(SIGTERM), "%d");
	ASSERT(peer_ended(&peer));
	peer_close(&peer);
	PASS();
}

TEST the_client_library_gets_in(void)
{
	struct client *client;
	struct error error;

	ASSERT(box_start());
	ASSERT_EQ(ERR_NONE, client_open(&box_place, &client, &error));
	ASSERT_EQ_FMT((unsigned long long)box_pid, (unsigned long long)client_welcome(client)->pid, "%llu");
	ASSERT_EQ_FMT(1ull, (unsigned long long)client_welcome(client)->boot, "%llu");
	client_close(client);
	PASS();
}

TEST a_second_master_is_refused(void)
{
	struct peer peer;
	pid_t pid;
	int status;

	ASSERT(box_start());
	ASSERT_FALSE(box_try(&pid, &status));
	ASSERT_EQ_FMT(75, status, "%d");
	/* A second connection doesn't disturb the first one. */
	ASSERT(peer_hello(&peer));
	peer_close(&peer);
	PASS();
}

/* Send bytes and return the code of the ERROR that comes before the end of the connection. */
static enum err refused(const void *bytes, size_t len, bool hello)
{
	struct peer peer;
	enum err code;

	if (hello ? !peer_hello(&peer) : !peer_connect(&peer))
		return ERR_INTERNAL;
	if (!peer_write(&peer, bytes, len))
		return ERR_INTERNAL;
	code = peer_error(&peer);
	if (!peer_ended(&peer))
		code = ERR_INTERNAL;
	peer_close(&peer);
	return code;
}

static enum err refused_frame(uint8_t opcode, const char *body, size_t len, bool hello)
{
	struct buf frame = { 0 };
	uint8_t header[FRAME_HEADER_SIZE];
	enum err code;

	frame_header(header, opcode, (uint32_t)len);
	buf_add(&frame, header, sizeof(header));
	buf_add(&frame, body, len);
	code = refused(frame.data, frame.len, hello);
	buf_free(&frame);
	return code;
}

TEST bad_frames_close_only_their_sender(void)
{
	struct msg_heartbeat heartbeat = { .sent_ns = 1 };
	struct msg_snapshot snapshot;
	struct buf frame = { 0 };
	struct peer other;
	static char large[LIMIT_FRAME_MAX_UNAUTH + 1];

	ASSERT(box_start());
	ASSERT(peer_hello(&other));
	ASSERT_EQ(ERR_UNKNOWN_OP, refused_frame(0xfe, "\x80", 1, true));
	ASSERT_EQ(ERR_FRAME, refused_frame(OP_QUERY, "\x81", 1, true));
	ASSERT_EQ(ERR_MISSING_FIELD, refused_frame(OP_QUERY, "\x80", 1, true));
	ASSERT_EQ(ERR_WRONG_TYPE, refused_frame(OP_QUERY, "\x82\x01\xa1x\x02\x01", 6, true));
	ASSERT_EQ(ERR_VERSION, refused("\x01\x01\0\0\0\0\0\x01\x80", 9, false));
	ASSERT_EQ(ERR_NOT_EXPECTED, refused_frame(OP_QUERY, "\x82\x01\x01\x02\x01", 5, false));
	ASSERT_EQ(ERR_NOT_EXPECTED, refused_frame(OP_HELLO, "\x82\x01\x02\x02\x01", 5, true));
	ASSERT_EQ(ERR_FRAME, refused_frame(OP_HELLO, large, sizeof(large), false));
	/* A client may not send a worker's messages, and no peer may send a master's. */
	message_encode(&frame, OP_HEARTBEAT, &heartbeat);
	ASSERT_EQ(ERR_DENIED, refused(frame.data, frame.len, true));
	ASSERT_EQ(ERR_DENIED, refused_frame(OP_OK, "\x81\x01\x01", 3, true));
	buf_free(&frame);
	ASSERT(peer_query(&other, QUERY_STATUS, 0, "", 0, 0, &snapshot));
	peer_close(&other);
	PASS();
}

TEST a_frame_in_single_bytes_is_understood(void)
{
	struct msg_hello hello = { .version = PROTOCOL_VERSION, .kind = PEER_CLIENT };
	struct msg_welcome welcome;
	struct buf frame = { 0 };
	struct peer peer;

	ASSERT(box_start());
	ASSERT(peer_connect(&peer));
	message_encode(&frame, OP_HELLO, &hello);
	for (size_t i = 0; i < frame.len; i++)
		ASSERT(peer_write(&peer, frame.data + i, 1));
	ASSERT(peer_expect(&peer, OP_WELCOME, &welcome));
	buf_free(&frame);
	peer_close(&peer);
	PASS();
}

TEST an_invalid_request_is_answered_and_no_more(void)
{
	struct msg_query query = { .id = 5, .what = 99 };
	struct msg_submit submit = {
		.id = 6, .key = slice_str("short"), .name = slice_str("r"), .jobs = slice_str("x"), .count = 1,
	};
	struct msg_graph_commit commit = { .id = 7 };
	struct msg_act act = { .id = 8, .verb = ACT_CANCEL, .run = 77 };
	struct msg_error error;
	struct msg_snapshot snapshot;
	struct peer peer;

	ASSERT(box_start());
	ASSERT(peer_hello(&peer));
	ASSERT(peer_send(&peer, OP_QUERY, &query));
	ASSERT(peer_expect(&peer, OP_ERROR, &error));
	ASSERT(error.id == 5 && error.code == ERR_INVALID);
	/* Kinds of queries that the master uses internally are refused. */
	for (uint64_t what = 100; what < 103; what++) {
		query = (struct msg_query){ .id = what, .what = what, .run = 1 };
		ASSERT(peer_send(&peer, OP_QUERY, &query));
		ASSERT(peer_expect(&peer, OP_ERROR, &error));
		ASSERT(error.id == what && error.code == ERR_INVALID);
	}
	ASSERT(peer_send(&peer, OP_SUBMIT, &submit));
	ASSERT(peer_expect(&peer, OP_ERROR, &error));
	ASSERT(error.id == 6 && error.code == ERR_INVALID);
	ASSERT(peer_send(&peer, OP_GRAPH_COMMIT, &commit));
	ASSERT(peer_expect(&peer, OP_ERROR, &error));
	ASSERT(error.id == 7 && error.code == ERR_NOT_EXPECTED);
	ASSERT(peer_send(&peer, OP_ACT, &act));
	ASSERT(peer_expect(&peer, OP_ERROR, &error));
	ASSERT(error.id == 8 && error.code == ERR_NOT_FOUND);
	ASSERT(slice_eq(error.next, slice_str("titan ls")));
	query = (struct msg_query){ .id = 9, .what = QUERY_JOB, .run = 77, .job = slice_str("x") };
	ASSERT(peer_send(&peer, OP_QUERY, &query));
	ASSERT(peer_expect(&peer, OP_ERROR, &error));
	ASSERT(error.id == 9 && error.code == ERR_NOT_FOUND);
	ASSERT(peer_query(&peer, QUERY_STATUS, 0, "", 0, 0, &snapshot));
	peer_close(&peer);
	PASS();
}

TEST a_graph_runs_and_is_found_in_history(void)
{
	struct peer client, worker;
	struct msg_accepted accepted;
	struct msg_snapshot snapshot;
	struct msg_act act = { .id = 900, .verb = ACT_CANCEL, .run = 1 };
	struct msg_error error;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_submit(&client, KEY1, "chain", 3, true));
	ASSERT(peer_expect(&client, OP_ACCEPTED, &accepted));
	ASSERT(accepted.run == 1 && accepted.jobs == 3 && !accepted.existing);
	/* The same graph with the same key is the same run; another graph with that key is an error. */
	ASSERT(peer_submit(&client, KEY1, "chain", 3, true));
	ASSERT(peer_expect(&client, OP_ACCEPTED, &accepted));
	ASSERT(accepted.run == 1 && accepted.existing);
	ASSERT(peer_submit(&client, KEY1, "chain", 2, true));
	ASSERT(peer_expect(&client, OP_ERROR, &error));
	ASSERT_EQ(ERR_KEY_REUSED, error.code);
	ASSERT(peer_query(&client, QUERY_JOBS, 1, "", 0, 0, &snapshot));
	ASSERT_EQ_FMT((size_t)3, snapshot.jobs.n, "%zu");
	ASSERT_EQ(STATE_READY, snapshot.jobs.at[0].state);
	ASSERT_EQ(STATE_WAITING, snapshot.jobs.at[1].state);
	ASSERT(snapshot.jobs.at[2].needs.n == 1 && snapshot.jobs.at[2].needs.at[0] == 1);
	ASSERT(peer_worker(&worker, "w1", 2, NULL, 0));
	ASSERT(worker_serve(&worker, 3));
	do {
		ASSERT(peer_query(&client, QUERY_RUNS, 0, "", 0, 0, &snapshot));
		ASSERT_EQ_FMT((size_t)1, snapshot.runs.n, "%zu");
	} while (snapshot.runs.at[0].state != RUN_SUCCEEDED);
	ASSERT(snapshot.runs.at[0].ended_ms > 0 && snapshot.runs.at[0].counts.at[STATE_SUCCEEDED] == 3);
	ASSERT(peer_query(&client, QUERY_JOBS, 1, "", 0, 0, &snapshot));
	ASSERT_EQ_FMT((size_t)3, snapshot.jobs.n, "%zu");
	ASSERT(slice_eq(snapshot.jobs.at[2].name, slice_str("job2")));
	ASSERT(snapshot.jobs.at[2].needs.n == 1 && slice_eq(snapshot.jobs.at[2].worker, slice_str("w1")));
	ASSERT(peer_query(&client, QUERY_JOB, 1, "job1", 0, 0, &snapshot));
	ASSERT(snapshot.jobs.n == 1 && snapshot.jobs.at[0].index == 1);
	ASSERT(slice_eq(snapshot.jobs.at[0].command, slice_str("true")));
	ASSERT(peer_send(&client, OP_ACT, &act));
	ASSERT(peer_expect(&client, OP_ERROR, &error));
	ASSERT_EQ(ERR_TERMINAL, error.code);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

TEST an_ended_run_is_run_again(void)
{
	struct peer client, worker;
	struct msg_accepted accepted;
	struct msg_snapshot snapshot;
	struct msg_act act = { .id = 900, .verb = ACT_RETRY, .run = 1, .job = slice_str("job1"), .value = RETRY_FROM };
	struct msg_error error;
	struct msg_ok ok;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 2, NULL, 0));
	ASSERT(peer_submit(&client, KEY1, "chain", 3, true));
	ASSERT(peer_expect(&client, OP_ACCEPTED, &accepted));
	ASSERT(worker_serve(&worker, 3));
	do
		ASSERT(peer_query(&client, QUERY_RUNS, 0, "", 0, 0, &snapshot));
	while (snapshot.runs.at[0].state != RUN_SUCCEEDED);
	ASSERT(peer_send(&client, OP_ACT, &act));
	ASSERT(peer_expect(&client, OP_OK, &ok));
	ASSERT_EQ(2, ok.count);
	ASSERT(worker_serve(&worker, 2));
	do
		ASSERT(peer_query(&client, QUERY_RUNS, 0, "", 0, 0, &snapshot));
	while (snapshot.runs.at[0].state != RUN_SUCCEEDED);
	act.verb = ACT_HOLD;
	ASSERT(peer_send(&client, OP_ACT, &act));
	ASSERT(peer_expect(&client, OP_ERROR, &error));
	ASSERT_EQ(ERR_TERMINAL, error.code);
	act = (struct msg_act){ .id = 901, .verb = ACT_RETRY, .run = 9 };
	ASSERT(peer_send(&client, OP_ACT, &act));
	ASSERT(peer_expect(&client, OP_ERROR, &error));
	ASSERT_EQ(ERR_NOT_FOUND, error.code);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

TEST jobs_come_in_pages(void)
{
	struct peer client;
	struct msg_accepted accepted;
	struct msg_snapshot snapshot;
	uint64_t cursor = 0, next = 0;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_submit(&client, KEY1, "many", 2500, false));
	ASSERT(peer_expect(&client, OP_ACCEPTED, &accepted));
	do {
		ASSERT(peer_query(&client, QUERY_JOBS, 1, "", cursor, 900, &snapshot));
		ASSERT(snapshot.jobs.n > 0 && snapshot.jobs.n <= 900);
		for (size_t i = 0; i < snapshot.jobs.n; i++)
			ASSERT_EQ(next++, snapshot.jobs.at[i].index);
		cursor = snapshot.cursor;
	} while (cursor != 0);
	ASSERT_EQ_FMT(2500ull, (unsigned long long)next, "%llu");
	ASSERT(peer_query(&client, QUERY_STATUS, 0, "", 0, 0, &snapshot));
	ASSERT_EQ_FMT(2500ull, (unsigned long long)snapshot.counts.at[STATE_READY], "%llu");
	peer_close(&client);
	PASS();
}

static bool send_chunks(struct peer *peer, uint64_t id, const char *key, size_t count, size_t each, bool short_by_one)
{
	struct msg_graph_begin begin = {
		.id = id, .key = slice_str(key), .name = slice_str("big"), .count = count,
	};
	struct msg_graph_commit commit = { .id = id };
	bool ok = peer_send(peer, OP_GRAPH_BEGIN, &begin);

	for (size_t at = 0; ok && at < count - short_by_one; at += each) {
		size_t now = count - short_by_one - at < each ? count - short_by_one - at : each;
		struct buf jobs = { 0 };
		struct msg_graph_chunk chunk = { .id = id, .count = now };

		graph_encode(&jobs, at, now, true);
		chunk.jobs = buf_slice(&jobs);
		ok = peer_send(peer, OP_GRAPH_CHUNK, &chunk);
		buf_free(&jobs);
	}
	return ok && peer_send(peer, OP_GRAPH_COMMIT, &commit);
}

TEST chunks_are_one_graph_wherever_cut(void)
{
	struct peer client;
	struct msg_accepted accepted;
	struct msg_error error;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(send_chunks(&client, 11, KEY1, 500, 100, false));
	ASSERT(peer_expect(&client, OP_ACCEPTED, &accepted));
	ASSERT(accepted.id == 11 && accepted.jobs == 500 && !accepted.existing);
	ASSERT(send_chunks(&client, 12, KEY1, 500, 7, false));
	ASSERT(peer_expect(&client, OP_ACCEPTED, &accepted));
	ASSERT(accepted.id == 12 && accepted.existing);
	ASSERT(send_chunks(&client, 13, KEY2, 500, 100, true));
	ASSERT(peer_expect(&client, OP_ERROR, &error));
	ASSERT(error.id == 13 && error.code == ERR_INVALID);
	peer_close(&client);
	PASS();
}

TEST kill_and_restart_keep_the_run(void)
{
	struct peer client, worker;
	struct msg_accepted accepted;
	struct msg_snapshot snapshot;
	struct msg_assign assign;
	struct rec_held held[1];

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(peer_submit(&client, KEY1, "chain", 2, true));
	ASSERT(peer_expect(&client, OP_ACCEPTED, &accepted));
	ASSERT(peer_expect(&worker, OP_ASSIGN, &assign));
	held[0] = (struct rec_held){
		.job = assign.items.at[0].job, .epoch = assign.items.at[0].epoch, .phase = PHASE_RUNNING,
	};
	ASSERT_EQ_FMT(-1, box_stop(SIGKILL), "%d");
	ASSERT(peer_ended(&client) && peer_ended(&worker));
	peer_close(&client);
	peer_close(&worker);

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_query(&client, QUERY_JOBS, accepted.run, "", 0, 0, &snapshot));
	ASSERT_EQ_FMT((size_t)2, snapshot.jobs.n, "%zu");
	ASSERT(peer_worker(&worker, "w1", 1, held, 1));
	ASSERT(peer_done(&worker, held[0].job, held[0].epoch, 0));
	/* The reported attempt is adopted and not run again: the next job assigned is its child. */
	ASSERT(worker_serve(&worker, 1));
	do {
		ASSERT(peer_query(&client, QUERY_JOBS, accepted.run, "", 0, 0, &snapshot));
	} while (snapshot.jobs.at[1].state != STATE_SUCCEEDED);
	ASSERT(snapshot.jobs.at[0].state == STATE_SUCCEEDED && snapshot.jobs.at[0].tries == 1);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

TEST shutdown_is_answered_before_the_end(void)
{
	struct msg_shutdown shutdown = { .id = 3, .workers = true };
	struct peer client, worker;
	struct msg_quit quit;
	struct msg_ok ok;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(peer_send(&client, OP_SHUTDOWN, &shutdown));
	ASSERT(peer_expect(&worker, OP_QUIT, &quit));
	peer_close(&worker);
	ASSERT(peer_expect(&client, OP_OK, &ok));
	ASSERT_EQ(3, ok.id);
	ASSERT(peer_ended(&client));
	ASSERT_EQ_FMT(0, box_wait(), "%d");
	peer_close(&client);
	PASS();
}

SUITE(master_live)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(serves_and_ends_cleanly);
	RUN_TEST(the_client_library_gets_in);
	RUN_TEST(a_second_master_is_refused);
	RUN_TEST(bad_frames_close_only_their_sender);
	RUN_TEST(a_frame_in_single_bytes_is_understood);
	RUN_TEST(an_invalid_request_is_answered_and_no_more);
	RUN_TEST(a_graph_runs_and_is_found_in_history);
	RUN_TEST(an_ended_run_is_run_again);
	RUN_TEST(jobs_come_in_pages);
	RUN_TEST(chunks_are_one_graph_wherever_cut);
	RUN_TEST(kill_and_restart_keep_the_run);
	RUN_TEST(shutdown_is_answered_before_the_end);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_live);
	GREATEST_MAIN_END();
}
