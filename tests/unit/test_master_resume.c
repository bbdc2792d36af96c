/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A subscriber that reconnects with its mark, or whose deltas were cut, gets what it missed, or everything. */
#include "master_picture.h"

#include "tests/greatest.h"

/* Reconnect and resume with the mark; the picture's counters start anew. */
static bool come_back(struct peer *peer, enum query_what what, uint64_t run, uint64_t mark)
{
	struct msg_subscribe msg = { .id = SUB_ID, .what = what, .run = run, .since = mark };

	peer_close(peer);
	picture.deltas = picture.snapshots = picture.job_rows = picture.rows = picture.open = 0;
	picture.needs = picture.workers = 0;
	return peer_hello(peer) && peer_send(peer, OP_SUBSCRIBE, &msg);
}

/* Does the picture of run 1 equal a fresh snapshot? */
static bool is_fresh(struct peer *client)
{
	struct msg_snapshot fresh;
	uint64_t cursor = 0, jobs = 0;

	do {
		if (!peer_query(client, QUERY_JOBS, 1, "", cursor, 0, &fresh))
			return false;
		for (size_t i = 0; i < fresh.jobs.n; i++)
			if (fresh.jobs.at[i].state != picture.states[fresh.jobs.at[i].index])
				return false;
		jobs += fresh.jobs.n;
		cursor = fresh.cursor;
	} while (cursor != 0);
	return jobs == picture.jobs;
}

/* A subscriber that was cut while the ring still has everything that it missed reads on as if it had only been slow. */
TEST who_doesnt_read_may_be_told_what_it_missed(void)
{
	struct peer client, viewer, worker;
	struct msg_snapshot metrics;
	uint64_t cuts;
	size_t pages;

	box_recent = 1u << 20;
	box_sub_queue = 100000;
	ASSERT(box_start());
	ASSERT(peer_hello(&client) && peer_hello(&viewer));
	ASSERT(submit_large(&client, JOBS_MAX));
	ASSERT(subscribe(&viewer, QUERY_JOBS, 1));
	while (!picture.complete)
		ASSERT(watch(&viewer));
	pages = picture.snapshots;
	ASSERT(peer_worker(&worker, "w1", 64, NULL, 0));
	ASSERT(worker_serve(&worker, JOBS_MAX - 1));
	do {
		ASSERT(peer_query(&client, QUERY_METRICS, 0, "", 0, 0, &metrics));
	} while (metric_of(&metrics, METRIC_SUBSCRIBERS_CUT) == 0 || metric_of(&metrics, METRIC_RESULTS) < JOBS_MAX - 1);
	/*
	 * A subscriber that was caught up and still reads slowly: changes sent again mustn't cause another cut; only
	 * those on their way now may.
	 */
	cuts = metric_of(&metrics, METRIC_SUBSCRIBERS_CUT) + 1;
	while (picture.succeeded < JOBS_MAX - 1) {
		ASSERT(watch(&viewer));
		ASSERT(metric_of(&metrics, METRIC_SUBSCRIBERS_CUT) <= cuts);
		for (size_t i = 0; i < 3; i++)
			ASSERT(peer_query(&client, QUERY_METRICS, 0, "", 0, 0, &metrics));
	}
	ASSERT(metric_of(&metrics, METRIC_SUBSCRIBERS_CUT) <= cuts);
	ASSERT_EQ_FMT(pages, picture.snapshots, "%zu");
	ASSERT_FALSE(picture.cut);
	ASSERT(is_fresh(&client));
	ASSERT(peer_query(&client, QUERY_METRICS, 0, "", 0, 0, &metrics));
	ASSERT(metric_of(&metrics, METRIC_SUBSCRIBERS_RESUMED) >= 1);
	ASSERT(metric_of(&metrics, METRIC_CHANGES_DROPPED) >= 1);
	peer_close(&client);
	peer_close(&viewer);
	peer_close(&worker);
	PASS();
}

static bool cancel(struct peer *client, const char *job)
{
	struct msg_act msg = { .id = ++client->last_id, .verb = ACT_CANCEL, .run = 1, .job = slice_str(job) };
	struct msg_ok ok;

	return peer_send(client, OP_ACT, &msg) && peer_expect(client, OP_OK, &ok);
}

/* Watch a run of 3000 jobs and lose the connection. */
static bool watch_and_lose(struct peer *client, struct peer *viewer)
{
	bool ok = box_start() && peer_hello(client) && peer_hello(viewer) && submit(client, 3000, false) &&
		  subscribe(viewer, QUERY_JOBS, 1);

	while (ok && !picture.complete)
		ok = watch(viewer);
	peer_close(viewer);
	return ok && picture.mark != 0;
}

TEST who_comes_back_is_told_what_it_missed(void)
{
	struct peer client, viewer, worker;
	struct msg_snapshot metrics;
	uint64_t mark;

	ASSERT(watch_and_lose(&client, &viewer));
	ASSERT(cancel(&client, "job7") && cancel(&client, "job2999"));
	mark = picture.mark;
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, mark));
	ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.snapshots);
	ASSERT_EQ(2, picture.job_rows);
	ASSERT(picture.mark != mark && is_fresh(&client));
	/* Nothing was missed: that is said, and no row is sent again. */
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, picture.mark));
	ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.snapshots + picture.job_rows);
	ASSERT_EQ(1, picture.deltas);
	/* A subscription that was resumed gets later changes too. */
	ASSERT(cancel(&client, "job8"));
	while (picture.job_rows == 0)
		ASSERT(watch(&viewer));
	ASSERT_EQ(1, picture.job_rows);
	ASSERT(is_fresh(&client));
	/* A subscriber can also resume with an older mark. */
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, mark));
	ASSERT(watch(&viewer));
	ASSERT_EQ(3, picture.job_rows);
	/* Resuming works in the same way for the list of runs and the workers. */
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(come_back(&viewer, QUERY_RUNS, 0, mark));
	ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.snapshots + picture.job_rows);
	ASSERT_EQ_FMT(1ull, (unsigned long long)picture.workers, "%llu");
	ASSERT(peer_query(&client, QUERY_METRICS, 0, "", 0, 0, &metrics));
	ASSERT_EQ_FMT(4ull, (unsigned long long)metric_of(&metrics, METRIC_SUBSCRIBERS_RESUMED), "%llu");
	peer_close(&client);
	peer_close(&viewer);
	peer_close(&worker);
	PASS();
}

TEST who_comes_back_late_is_told_all(void)
{
	struct peer client, viewer;

	box_recent = 4;
	ASSERT(watch_and_lose(&client, &viewer));
	ASSERT(cancel(&client, "job1"));
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, picture.mark));
	ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.snapshots);
	peer_close(&viewer);
	for (size_t i = 2; i < 7; i++) {
		char job[8];

		snprintf(job, sizeof(job), "job%zu", i);
		ASSERT(cancel(&client, job));
	}
	picture.complete = false;
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, picture.mark));
	while (!picture.complete)
		ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.deltas);
	ASSERT_EQ(3000, picture.job_rows);
	ASSERT(is_fresh(&client));
	/* A mark that no master gave: everything is sent anew. */
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, picture.mark + 1000));
	ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.deltas);
	peer_close(&client);
	peer_close(&viewer);
	PASS();
}

/*
 * What changes while a snapshot's pages are on their way comes as a delta behind them; if the connection is lost before
 * it, resuming sends it.
 */
TEST what_changed_between_pages_is_told(void)
{
	struct peer client, viewer;

	box_sub_queue = 100000;
	ASSERT(box_start());
	ASSERT(peer_hello(&client) && peer_hello(&viewer));
	ASSERT(submit_large(&client, JOBS_MAX));
	ASSERT(subscribe(&viewer, QUERY_JOBS, 1));
	ASSERT(watch(&viewer));
	ASSERT(cancel(&client, "job0"));
	while (!picture.complete)
		ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.deltas);
	ASSERT_FALSE(is_fresh(&client));
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, picture.mark));
	ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.snapshots);
	ASSERT(is_fresh(&client));
	peer_close(&client);
	peer_close(&viewer);
	PASS();
}

/* Another master doesn't know earlier changes, and its turn numbers may mean other turns, so it sends everything. */
TEST another_master_tells_all(void)
{
	struct peer client, viewer;
	uint64_t before;

	ASSERT(watch_and_lose(&client, &viewer));
	before = picture.mark;
	peer_close(&client);
	ASSERT(box_stop(SIGTERM) == 0 && box_start());
	ASSERT(peer_hello(&client));
	ASSERT(cancel(&client, "job1"));
	picture.complete = false;
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, picture.mark));
	while (!picture.complete)
		ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.deltas);
	ASSERT_EQ(3000, picture.job_rows);
	/* After a restore, a turn number of the old master is given again: the mark must not be accepted. */
	ASSERT(picture.mark >> 40 != before >> 40);
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, picture.mark));
	ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.snapshots);
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, before >> 40 << 40 | (picture.mark & ((UINT64_C(1) << 40) - 1))));
	ASSERT(watch(&viewer));
	ASSERT_EQ(1, picture.snapshots);
	peer_close(&client);
	peer_close(&viewer);
	PASS();
}

/*
 * The subscriber never saw the added jobs, so their needs are sent with them. They don't fit into one frame; the run is
 * complete with the last frame.
 */
TEST a_run_that_grew_meanwhile_is_seen_whole(void)
{
	struct peer client, viewer, worker;
	struct msg_snapshot metrics;

	ASSERT(watch_and_lose(&client, &viewer));
	ASSERT(add_jobs(&client, 3000, 1300));
	ASSERT(peer_worker(&worker, "w1", 4, NULL, 0));
	ASSERT(worker_serve(&worker, 4299));
	do {
		ASSERT(peer_query(&client, QUERY_METRICS, 0, "", 0, 0, &metrics));
	} while (metric_of(&metrics, METRIC_RESULTS) < 4299);
	ASSERT(come_back(&viewer, QUERY_JOBS, 1, picture.mark));
	while (picture.rows == 0)
		ASSERT(watch(&viewer));
	ASSERT_EQ(0, picture.snapshots);
	ASSERT_EQ_FMT((size_t)4300, picture.job_rows, "%zu");
	ASSERT_EQ_FMT(1ull, (unsigned long long)picture.needs, "%llu");
	ASSERT_EQ_FMT(picture.deltas - 1, picture.open, "%zu");
	ASSERT(picture.open > 0 && is_fresh(&client));
	peer_close(&client);
	peer_close(&viewer);
	peer_close(&worker);
	PASS();
}

/* An ended run's rows are in the store only, so it is sent whole. A run that never existed is refused. */
TEST an_ended_run_is_told_anew(void)
{
	struct msg_subscribe none = { .id = 3, .what = QUERY_JOBS, .run = 12345 };
	int64_t end_ns = clock_mono_ns() + BOX_WAIT_MS * NS_PER_MS;
	struct peer client, viewer, worker;
	struct msg_error error;

	ASSERT(watch_and_lose(&client, &viewer));
	ASSERT(peer_worker(&worker, "w1", 4, NULL, 0));
	ASSERT(worker_serve(&worker, 3000));
	do {
		ASSERT(clock_mono_ns() < end_ns);
		picture.complete = false;
		ASSERT(come_back(&viewer, QUERY_JOBS, 1, picture.mark));
		while (!picture.complete && picture.deltas == 0)
			ASSERT(watch(&viewer));
	} while (picture.snapshots == 0);
	while (!picture.complete)
		ASSERT(watch(&viewer));
	ASSERT(is_fresh(&client));
	none.since = picture.mark;
	ASSERT(peer_send(&client, OP_SUBSCRIBE, &none) && peer_expect(&client, OP_ERROR, &error));
	ASSERT_EQ(ERR_NOT_FOUND, error.code);
	peer_close(&client);
	peer_close(&viewer);
	peer_close(&worker);
	PASS();
}

SUITE(master_resume)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(who_doesnt_read_may_be_told_what_it_missed);
	RUN_TEST(who_comes_back_is_told_what_it_missed);
	RUN_TEST(who_comes_back_late_is_told_all);
	RUN_TEST(what_changed_between_pages_is_told);
	RUN_TEST(another_master_tells_all);
	RUN_TEST(a_run_that_grew_meanwhile_is_seen_whole);
	RUN_TEST(an_ended_run_is_told_anew);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_resume);
	GREATEST_MAIN_END();
}
