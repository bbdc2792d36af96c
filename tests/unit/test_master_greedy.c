/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peers that ask for more than their share: the cost for other peers and for the master's memory. */
#include "master_box.h"
#include "proto/metrics.h"

#include <sys/stat.h>

#include "tests/greatest.h"

#define JOBS   1000                      /* number of jobs in the run that the queries are about */
#define EACH   64                        /* most queries that a connection may have waiting */

static struct peer client;
static struct peer greedy[100];

static bool big_run(void)
{
	return box_start() && peer_hello(&client) && peer_submit(&client, "key-key-key-key1", "big", JOBS, true) &&
	       peer_expect(&client, OP_ACCEPTED, &(struct msg_accepted){ 0 });
}

static bool ask(struct peer *peer, size_t count, uint64_t limit)
{
	struct buf frames = { 0 };
	bool sent;

	for (size_t i = 0; i < count; i++) {
		struct msg_query query = { .id = ++peer->last_id, .what = QUERY_JOBS, .run = 1, .limit = limit };

		message_encode(&frames, OP_QUERY, &query);
	}
	sent = peer_write(peer, frames.data, frames.len);
	buf_free(&frames);
	return sent;
}

/* Receive this many answers; *ret_turn is the turn of the last one. */
static bool hear(struct peer *peer, size_t count, uint64_t *ret_turn)
{
	for (size_t i = 0; i < count; i++) {
		struct msg_snapshot answer;

		if (!peer_expect(peer, OP_SNAPSHOT, &answer))
			return false;
		*ret_turn = answer.turn;
	}
	return true;
}

static bool metric(enum metric wanted, uint64_t *ret_value)
{
	struct msg_snapshot answer;

	if (!peer_query(&client, QUERY_METRICS, 0, "", 0, 0, &answer))
		return false;
	for (size_t i = 0; i < answer.metrics.n; i++)
		if (answer.metrics.at[i].metric == wanted)
			*ret_value = answer.metrics.at[i].value;
	return true;
}

TEST many_questions_of_one_peer_come_after_one_of_another(void)
{
	uint64_t turn, last = 0, mine;

	ASSERT(big_run());
	for (size_t i = 0; i < 20; i++)
		ASSERT(peer_hello(&greedy[i]));
	/* All queries of the greedy peers arrive before the master looks, and the test's own query comes last. */
	kill(box_pid, SIGSTOP);
	for (size_t i = 0; i < 20; i++)
		ASSERT(ask(&greedy[i], EACH, 100));
	ASSERT(ask(&client, 1, 100));
	kill(box_pid, SIGCONT);
	ASSERT(hear(&client, 1, &mine));
	for (size_t i = 0; i < 20; i++) {
		ASSERT(hear(&greedy[i], EACH, &turn));
		last = turn > last ? turn : last;
		peer_close(&greedy[i]);
	}
	/* 1,280 pages take several turns. */
	ASSERT_GT(last, mine);
	peer_close(&client);
	PASS();
}

TEST answers_that_nobody_takes_have_one_bound(void)
{
	uint64_t queued = 0, cut = 0, most = 0;

	ASSERT(big_run());
	for (size_t i = 0; i < 100; i++)
		ASSERT(peer_hello(&greedy[i]) && ask(&greedy[i], EACH, 0));
	/* Other peers are answered all the time, and a peer that doesn't read is disconnected. */
	while (cut == 0) {
		ASSERT(metric(METRIC_QUEUE_OUTPUT_BYTES, &queued));
		ASSERT(metric(METRIC_ASKERS_CUT, &cut));
		most = queued > most ? queued : most;
	}
	ASSERT_GT(most, (uint64_t)32 << 20);
	ASSERT(most < (uint64_t)66 << 20);
	for (size_t i = 0; i < 100; i++)
		peer_close(&greedy[i]);
	ASSERT(metric(METRIC_QUEUE_OUTPUT_BYTES, &queued));
	ASSERT(queued < (uint64_t)32 << 20);
	peer_close(&client);
	PASS();
}

TEST a_peer_that_reads_isnt_cut(void)
{
	uint64_t cut = 0, turn;

	ASSERT(big_run());
	for (size_t i = 0; i < 100; i++)
		ASSERT(peer_hello(&greedy[i]) && ask(&greedy[i], EACH, 0));
	while (cut == 0) {
		ASSERT(ask(&client, 10, 0));
		ASSERT(hear(&client, 10, &turn));
		ASSERT(metric(METRIC_ASKERS_CUT, &cut));
	}
	ASSERT(ask(&client, 10, 0));
	ASSERT(hear(&client, 10, &turn));
	for (size_t i = 0; i < 100; i++)
		peer_close(&greedy[i]);
	peer_close(&client);
	PASS();
}

TEST questions_of_a_peer_that_hung_up_are_dropped(void)
{
	uint64_t before = 0, after = 0;

	ASSERT(big_run());
	ASSERT(metric(METRIC_QUESTIONS, &before));
	for (size_t i = 0; i < 100; i++)
		ASSERT(peer_hello(&greedy[i]));
	kill(box_pid, SIGSTOP);
	for (size_t i = 0; i < 100; i++) {
		ASSERT(ask(&greedy[i], EACH, 0));
		peer_close(&greedy[i]);
	}
	kill(box_pid, SIGCONT);
	ASSERT(metric(METRIC_QUESTIONS, &after));
	ASSERT_EQ_FMT(1ull, (unsigned long long)(after - before), "%llu");
	peer_close(&client);
	PASS();
}

TEST readings_of_logs_share_the_bound(void)
{
	struct msg_log_read read = { .run = 1, .job = 1, .epoch = 1 };
	struct msg_log_data data;

	ASSERT(big_run());
	for (size_t i = 0; i < 100; i++)
		ASSERT(peer_hello(&greedy[i]));
	/* More log reads than the log thread takes at once: all are answered, in each peer's order. */
	kill(box_pid, SIGSTOP);
	for (size_t i = 0; i < 100; i++)
		for (read.id = 1; read.id <= 20; read.id++)
			ASSERT(peer_send(&greedy[i], OP_LOG_READ, &read));
	kill(box_pid, SIGCONT);
	for (size_t i = 0; i < 100; i++) {
		for (uint64_t id = 1; id <= 20; id++) {
			ASSERT(peer_expect(&greedy[i], OP_LOG_DATA, &data));
			ASSERT_EQ_FMT((unsigned long long)id, (unsigned long long)data.id, "%llu");
		}
		peer_close(&greedy[i]);
	}
	peer_close(&client);
	PASS();
}

/* Each message makes the master close the connection; then the peer connects again. Only a few of these are logged. */
TEST what_peers_say_is_logged_a_few_times(void)
{
	char *text = mem_alloc(100000);
	struct msg_error msg = { .code = ERR_INVALID, .text = slice_make(text, 100000) };
	struct stat log;

	memset(text, 'x', 100000);
	ASSERT(box_start());
	for (size_t i = 0; i < 500; i++) {
		ASSERT(peer_hello(&client) && peer_send(&client, OP_ERROR, &msg));
		ASSERT(peer_ended(&client));
		peer_close(&client);
	}
	ASSERT(fstat(box_log_fd, &log) == 0);
	ASSERT(log.st_size < 20000);
	ASSERT_EQ(0, box_stop(SIGTERM));
	mem_free(text);
	PASS();
}

SUITE(greedy_peers)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(many_questions_of_one_peer_come_after_one_of_another);
	RUN_TEST(answers_that_nobody_takes_have_one_bound);
	RUN_TEST(a_peer_that_reads_isnt_cut);
	RUN_TEST(questions_of_a_peer_that_hung_up_are_dropped);
	RUN_TEST(what_peers_say_is_logged_a_few_times);
	RUN_TEST(readings_of_logs_share_the_bound);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(greedy_peers);
	GREATEST_MAIN_END();
}
