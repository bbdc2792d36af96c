/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Subscriptions to a running master: a snapshot and its deltas equal a fresh snapshot. */
#include "master_picture.h"

#include "tests/greatest.h"

TEST snapshot_and_deltas_are_a_fresh_snapshot(void)
{
	struct peer client, viewer, worker;
	struct msg_snapshot fresh;
	uint64_t cursor = 0;

	ASSERT(box_start());
	ASSERT(peer_hello(&client) && peer_hello(&viewer));
	ASSERT(submit(&client, 3000, false));
	ASSERT(subscribe(&viewer, QUERY_JOBS, 1));
	ASSERT(watch(&viewer));
	ASSERT(peer_worker(&worker, "w1", 8, NULL, 0));
	ASSERT(worker_serve(&worker, 1500));
	while (picture.succeeded < 1500)
		ASSERT(watch(&viewer));
	ASSERT(picture.deltas > 0);
	ASSERT_FALSE(picture.cut);
	/* Jobs assigned beyond the 1500 stay assigned, because the test ends none of them. */
	do {
		ASSERT(peer_query(&client, QUERY_JOBS, 1, "", cursor, 0, &fresh));
		for (size_t i = 0; i < fresh.jobs.n; i++)
			if (fresh.jobs.at[i].state == STATE_SUCCEEDED)
				ASSERT_EQ_FMT((int)STATE_SUCCEEDED,
					      (int)picture.states[fresh.jobs.at[i].index], "%d");
			else
				ASSERT(picture.states[fresh.jobs.at[i].index] != STATE_SUCCEEDED);
		cursor = fresh.cursor;
	} while (cursor != 0);
	ASSERT_EQ_FMT(3000ull, (unsigned long long)picture.jobs, "%llu");
	peer_close(&client);
	peer_close(&viewer);
	peer_close(&worker);
	PASS();
}

/* There are more names than one answer looks at; the cursor continues where it stopped. */
TEST names_are_found_by_their_beginning(void)
{
	struct peer client;
	struct msg_snapshot answer;
	uint64_t cursor = 0, found = 0;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(submit_large(&client, 60000));
	do {
		ASSERT(peer_query(&client, QUERY_NAMES, 1, "job5999", cursor, 0, &answer));
		for (size_t i = 0; i < answer.jobs.n; i++)
			ASSERT(memcmp(answer.jobs.at[i].name.data, "job5999", 7) == 0);
		found += answer.jobs.n;
		cursor = answer.cursor;
	} while (cursor != 0);
	ASSERT_EQ_FMT(11ull, (unsigned long long)found, "%llu");
	ASSERT(peer_query(&client, QUERY_NAMES, 0, "1", 0, 0, &answer));
	ASSERT_EQ(1, answer.runs.n);
	ASSERT(peer_query(&client, QUERY_NAMES, 0, "2", 0, 0, &answer));
	ASSERT_EQ(0, answer.runs.n);
	peer_close(&client);
	PASS();
}

TEST runs_and_workers_are_seen_to_the_end(void)
{
	struct peer client, viewer, worker;

	ASSERT(box_start());
	ASSERT(peer_hello(&client) && peer_hello(&viewer));
	ASSERT(peer_worker(&worker, "w1", 2, NULL, 0));
	ASSERT(subscribe(&viewer, QUERY_RUNS, 0));
	while (!picture.complete)
		ASSERT(watch(&viewer));
	ASSERT(submit(&client, 20, true));
	ASSERT(worker_serve(&worker, 20));
	while (picture.run_state != RUN_SUCCEEDED || picture.worker_done != 20)
		ASSERT(watch(&viewer));
	ASSERT_EQ_FMT(20ull, (unsigned long long)picture.succeeded, "%llu");
	/* A subscriber that comes later finds the run in the store. */
	peer_close(&viewer);
	ASSERT(peer_hello(&viewer));
	ASSERT(subscribe(&viewer, QUERY_RUNS, 0));
	while (!picture.complete)
		ASSERT(watch(&viewer));
	ASSERT_EQ(RUN_SUCCEEDED, picture.run_state);
	peer_close(&client);
	peer_close(&viewer);
	peer_close(&worker);
	PASS();
}

/* A subscriber of one run gets nothing about others, and gets the end in the turn that ended it. */
TEST one_run_is_watched_to_its_end(void)
{
	struct peer client, viewer, worker;
	struct msg_snapshot fresh;

	ASSERT(box_start());
	ASSERT(peer_hello(&client) && peer_hello(&viewer));
	ASSERT(peer_worker(&worker, "w1", 2, NULL, 0));
	ASSERT(submit(&client, 1, false));
	ASSERT(worker_serve(&worker, 1));
	ASSERT(submit_as(&client, "key-key-key-key2", 3, true));
	ASSERT(subscribe(&viewer, QUERY_RUNS, 2));
	while (!picture.complete)
		ASSERT(watch(&viewer));
	ASSERT_EQ_FMT(1ull, (unsigned long long)picture.rows, "%llu");
	ASSERT_EQ_FMT(0ull, (unsigned long long)picture.workers, "%llu");
	ASSERT(worker_serve(&worker, 3));
	do {
		ASSERT(peer_query(&client, QUERY_RUNS, 0, "", 3, 1, &fresh));
		ASSERT_EQ(1, fresh.runs.n);
	} while (fresh.runs.at[0].state != RUN_SUCCEEDED);
	while (picture.run_state != RUN_SUCCEEDED)
		ASSERT(watch(&viewer));
	ASSERT(picture.turn <= fresh.turn);
	ASSERT_EQ_FMT(0ull, (unsigned long long)picture.workers, "%llu");
	peer_close(&client);
	peer_close(&viewer);
	peer_close(&worker);
	PASS();
}

TEST a_finished_runs_jobs_come_from_history(void)
{
	struct peer client, worker;
	struct msg_snapshot runs;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 4, NULL, 0));
	ASSERT(submit(&client, 2300, false));
	ASSERT(worker_serve(&worker, 2300));
	do {
		ASSERT(peer_query(&client, QUERY_RUNS, 0, "", 0, 0, &runs));
	} while (runs.runs.at[0].ended_ms == 0);
	ASSERT(subscribe(&client, QUERY_JOBS, 1));
	while (!picture.complete)
		ASSERT(watch(&client));
	ASSERT_EQ_FMT(2300ull, (unsigned long long)picture.jobs, "%llu");
	for (size_t i = 0; i < 2300; i++)
		ASSERT_EQ(STATE_SUCCEEDED, picture.states[i]);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

/*
 * The run's job numbers aren't consecutive, because another run came between. A live run is seen by deltas with its
 * edges; an ended one by pages of rows.
 */
TEST a_run_that_grows_is_seen_whole(void)
{
	struct peer client, viewer, worker;
	struct msg_snapshot runs;

	ASSERT(box_start());
	ASSERT(peer_hello(&client) && peer_hello(&viewer));
	ASSERT(submit(&client, 1500, false));
	ASSERT(submit_as(&client, "key-key-key-key2", 5, false));
	ASSERT(subscribe(&viewer, QUERY_JOBS, 1));
	while (!picture.complete)
		ASSERT(watch(&viewer));
	ASSERT(add_jobs(&client, 1500, 1300));
	while (picture.jobs < 2800)
		ASSERT(watch(&viewer));
	ASSERT_EQ_FMT(1ull, (unsigned long long)picture.needs, "%llu");
	ASSERT(peer_worker(&worker, "w1", 4, NULL, 0));
	ASSERT(worker_serve(&worker, 2805));
	do {
		ASSERT(peer_query(&client, QUERY_RUNS, 0, "", 2, 1, &runs));
	} while (runs.runs.at[0].ended_ms == 0);
	ASSERT(subscribe(&client, QUERY_JOBS, 1));
	picture.jobs_wanted = 2800;
	while (!picture.complete)
		ASSERT(watch(&client));
	ASSERT_EQ_FMT(2800ull, (unsigned long long)picture.jobs, "%llu");
	ASSERT_EQ_FMT(2805ull, (unsigned long long)picture.last, "%llu");
	for (size_t i = 0; i < 2800; i++)
		ASSERT_EQ(STATE_SUCCEEDED, picture.states[i]);
	peer_close(&client);
	peer_close(&viewer);
	peer_close(&worker);
	PASS();
}

TEST who_doesnt_read_is_cut_and_told_anew(void)
{
	struct peer client, viewer, worker;
	struct msg_snapshot runs;

	box_recent = 1000;
	ASSERT(box_start());
	ASSERT(peer_hello(&client) && peer_hello(&viewer));
	ASSERT(submit_large(&client, JOBS_MAX));
	ASSERT(subscribe(&viewer, QUERY_JOBS, 1));
	while (!picture.complete)
		ASSERT(watch(&viewer));
	ASSERT_EQ_FMT((unsigned long long)JOBS_MAX, (unsigned long long)picture.jobs, "%llu");
	/* The subscriber doesn't read while all these acts happen. */
	ASSERT(peer_worker(&worker, "w1", 64, NULL, 0));
	ASSERT(worker_serve(&worker, JOBS_MAX));
	do {
		ASSERT(peer_query(&client, QUERY_RUNS, 0, "", 0, 0, &runs));
	} while (runs.runs.at[0].ended_ms == 0);
	while (!picture.cut || !picture.complete)
		ASSERT(watch(&viewer));
	ASSERT_EQ_FMT((unsigned long long)JOBS_MAX, (unsigned long long)picture.succeeded, "%llu");
	for (size_t i = 0; i < JOBS_MAX; i++)
		ASSERT_EQ(STATE_SUCCEEDED, picture.states[i]);
	ASSERT(peer_query(&client, QUERY_METRICS, 0, "", 0, 0, &runs));
	ASSERT(metric_of(&runs, METRIC_SUBSCRIBERS_CUT) >= 1);
	ASSERT(metric_of(&runs, METRIC_CHANGES_DROPPED) >= 1);
	peer_close(&client);
	peer_close(&viewer);
	peer_close(&worker);
	PASS();
}

TEST bad_subscriptions_are_refused(void)
{
	struct msg_subscribe msg = { .id = 4, .what = QUERY_STATUS };
	struct msg_unsubscribe none = { .id = 99 };
	struct msg_error error;
	struct msg_snapshot snapshot;
	struct msg_ok ok;
	struct peer peer;

	ASSERT(box_start());
	ASSERT(peer_hello(&peer));
	ASSERT(peer_send(&peer, OP_SUBSCRIBE, &msg));
	ASSERT(peer_expect(&peer, OP_ERROR, &error));
	ASSERT(error.id == 4 && error.code == ERR_INVALID);
	ASSERT(peer_send(&peer, OP_UNSUBSCRIBE, &none));
	ASSERT(peer_expect(&peer, OP_ERROR, &error));
	ASSERT_EQ(ERR_NOT_FOUND, error.code);
	msg.what = QUERY_JOBS;
	msg.run = 12345;
	ASSERT(peer_send(&peer, OP_SUBSCRIBE, &msg));
	ASSERT(peer_expect(&peer, OP_ERROR, &error));
	ASSERT_EQ(ERR_NOT_FOUND, error.code);
	msg.what = QUERY_RUNS;
	ASSERT(peer_send(&peer, OP_SUBSCRIBE, &msg));
	ASSERT(peer_expect(&peer, OP_SNAPSHOT, &snapshot));
	ASSERT(peer_send(&peer, OP_SUBSCRIBE, &msg));
	ASSERT(peer_expect(&peer, OP_ERROR, &error));
	ASSERT_EQ(ERR_DUPLICATE, error.code);
	none.id = 4;
	ASSERT(peer_send(&peer, OP_UNSUBSCRIBE, &none));
	ASSERT(peer_expect(&peer, OP_OK, &ok));
	peer_close(&peer);
	PASS();
}

TEST who_asks_much_and_reads_late_gets_all(void)
{
	struct peer client, asker;
	struct msg_query query = { .what = QUERY_JOBS, .run = 1 };
	struct msg_snapshot snapshot;
	struct buf frames = { 0 };

	ASSERT(box_start());
	ASSERT(peer_hello(&client) && peer_hello(&asker));
	ASSERT(submit(&client, 1000, false));
	for (query.id = 1; query.id <= 500; query.id++)
		message_encode(&frames, OP_QUERY, &query);
	/* All queries are sent before the first answer is read. 20 MB of queries wait in the sockets. */
	ASSERT(peer_write(&asker, frames.data, frames.len));
	/* Enough turns to answer all of them if there were no limit. */
	for (size_t i = 0; i < 50; i++)
		ASSERT(peer_query(&client, QUERY_STATUS, 0, "", 0, 0, &snapshot));
	for (size_t i = 0; i < 500; i++) {
		ASSERT(peer_expect(&asker, OP_SNAPSHOT, &snapshot));
		ASSERT_EQ_FMT((size_t)1000, snapshot.jobs.n, "%zu");
	}
	buf_free(&frames);
	peer_close(&client);
	peer_close(&asker);
	PASS();
}

SUITE(master_watch)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(snapshot_and_deltas_are_a_fresh_snapshot);
	RUN_TEST(names_are_found_by_their_beginning);
	RUN_TEST(runs_and_workers_are_seen_to_the_end);
	RUN_TEST(one_run_is_watched_to_its_end);
	RUN_TEST(a_finished_runs_jobs_come_from_history);
	RUN_TEST(a_run_that_grows_is_seen_whole);
	RUN_TEST(who_doesnt_read_is_cut_and_told_anew);
	RUN_TEST(bad_subscriptions_are_refused);
	RUN_TEST(who_asks_much_and_reads_late_gets_all);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_watch);
	GREATEST_MAIN_END();
}
