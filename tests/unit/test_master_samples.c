/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of the load: what is counted when, gaps without turns, clocks that are set; and the master's answers about them. */
#include "greatest.h"
#include "master/samples.h"
#include "master_box.h"

GREATEST_MAIN_DEFS();

#define START 1800000000                 /* the beginning of a long sample */

static struct samples samples;
static struct arena arena;

static void setup_cb(void *data)
{
	(void)data;
	samples = (struct samples){ 0 };
}

static void teardown_cb(void *data)
{
	(void)data;
	samples_free(&samples);
	arena_free(&arena);
}

/* So many jobs have ended since the start, and so many run, before anything happens in this second. */
static void at(int64_t second, uint64_t ended, uint64_t running)
{
	struct samples_now now = { .values = { [SERIES_ENDED] = ended, [SERIES_RUNNING] = running } };

	samples_complete(&samples, second, &now);
}

static struct rec_series_row row_of(enum series which, bool is_long, int64_t since_s)
{
	struct rec_series_row row = { 0 };

	samples_row(&samples, which, 0, is_long, since_s * 1000, &arena, &row);
	return row;
}

TEST counters_are_differences_and_levels_are_as_the_second_ended(void)
{
	struct rec_series_row ended, running;

	at(START, 100, 1);
	at(START + 1, 103, 5);
	at(START + 2, 103, 2);
	ended = row_of(SERIES_ENDED, false, 0);
	running = row_of(SERIES_RUNNING, false, 0);
	ASSERT_EQ_FMT((size_t)2, ended.values.n, "%zu");
	ASSERT_EQ_FMT((int64_t)(START + 2) * 1000, ended.until_ms, "%ld");
	ASSERT(ended.values.at[0] == 3 && ended.values.at[1] == 0);
	ASSERT(running.values.at[0] == 5 && running.values.at[1] == 2);
	PASS();
}

/* Seconds without a turn are as the turn before them left the cluster. */
TEST gap_keeps_levels_and_counts_in_its_first_second(void)
{
	struct rec_series_row ended, running;

	at(START, 0, 0);
	at(START + 40, 7, 3);
	ended = row_of(SERIES_ENDED, false, 0);
	running = row_of(SERIES_RUNNING, false, 0);
	ASSERT_EQ_FMT((size_t)40, ended.values.n, "%zu");
	ASSERT(ended.values.at[0] == 7 && ended.values.at[1] == 0 && ended.values.at[39] == 0);
	ASSERT(running.values.at[0] == 3 && running.values.at[39] == 3);
	ended = row_of(SERIES_ENDED, true, 0);
	running = row_of(SERIES_RUNNING, true, 0);
	ASSERT_EQ_FMT((size_t)2, ended.values.n, "%zu");
	ASSERT(ended.values.at[0] == 7 && ended.values.at[1] == 0);
	ASSERT(running.values.at[0] == 3 && running.values.at[1] == 3);
	PASS();
}

TEST long_samples_are_sums_of_counters_and_the_most_of_levels(void)
{
	struct rec_series_row ended, running;

	at(START, 0, 0);
	for (int i = 1; i <= 30; i++)
		at(START + i, (uint64_t)i, i == 4 ? 9 : 2);
	ended = row_of(SERIES_ENDED, true, 0);
	running = row_of(SERIES_RUNNING, true, 0);
	ASSERT_EQ_FMT((size_t)2, ended.values.n, "%zu");
	ASSERT(ended.values.at[0] == 15 && ended.values.at[1] == 15);
	ASSERT(running.values.at[0] == 9 && running.values.at[1] == 2);
	PASS();
}

TEST oldest_samples_make_room(void)
{
	struct rec_series_row ended;

	at(START, 0, 0);
	for (int i = 1; i <= 2 * SAMPLES_KEPT + 7; i++)
		at(START + i, (uint64_t)i * 2, 0);
	ended = row_of(SERIES_ENDED, false, 0);
	ASSERT_EQ_FMT((size_t)SAMPLES_KEPT, ended.values.n, "%zu");
	for (size_t i = 0; i < ended.values.n; i++)
		ASSERT_EQ_FMT(UINT64_C(2), ended.values.at[i], "%lu");
	/* After many hours without a turn nothing of before is left. */
	at(START + 1000000, 5000, 0);
	ended = row_of(SERIES_ENDED, true, 0);
	ASSERT_EQ_FMT((size_t)SAMPLES_KEPT, ended.values.n, "%zu");
	for (size_t i = 0; i < ended.values.n; i++)
		ASSERT_EQ_FMT(UINT64_C(0), ended.values.at[i], "%lu");
	PASS();
}

TEST only_what_ended_later_is_told(void)
{
	struct rec_series_row row;

	at(START, 0, 0);
	at(START + 50, 0, 0);
	row = row_of(SERIES_ENDED, false, START + 47);
	ASSERT_EQ_FMT((size_t)3, row.values.n, "%zu");
	/* The long sample that was open then has ended since. */
	row = row_of(SERIES_ENDED, true, START + 31);
	ASSERT_EQ_FMT((size_t)1, row.values.n, "%zu");
	ASSERT_FALSE(samples_row(&samples, SERIES_ENDED, 0, false, (START + 50) * INT64_C(1000), &arena, &row));
	PASS();
}

TEST clock_that_is_set_back_a_little_stops_the_samples_and_a_lot_begins_anew(void)
{
	struct rec_series_row ended;

	at(START, 0, 0);
	at(START + 100, 0, 0);
	ASSERT_FALSE(samples_due(&samples, START + 90));
	at(START + 90, 5, 0);
	at(START + 101, 6, 0);
	ended = row_of(SERIES_ENDED, false, 0);
	ASSERT_EQ_FMT((size_t)101, ended.values.n, "%zu");
	ASSERT_EQ_FMT(UINT64_C(6), ended.values.at[100], "%lu");
	at(START - 7200, 9, 0);
	at(START - 7199, 11, 0);
	ended = row_of(SERIES_ENDED, false, 0);
	ASSERT_EQ_FMT((size_t)1, ended.values.n, "%zu");
	ASSERT_EQ_FMT(UINT64_C(2), ended.values.at[0], "%lu");
	PASS();
}

TEST worker_has_samples_while_it_is_there(void)
{
	struct rec_series_row row;

	at(START, 0, 0);
	at(START + 60, 0, 0);
	samples_worker(&samples, 7, START / 15, START / 15 + 2, 51, 21);
	samples_worker(&samples, 8, START / 15, START / 15 + 2, 0, 0);
	samples_worker(&samples, 7, START / 15 + 2, START / 15 + 4, 1000, 31);
	samples_forget_workers(&samples, START / 15 + 3);
	ASSERT(samples_row(&samples, SERIES_CPU, 7, true, 0, &arena, &row));
	ASSERT_EQ_FMT((size_t)4, row.values.n, "%zu");
	ASSERT(row.values.at[0] == 51 && row.values.at[1] == 51 && row.values.at[2] == 255);
	ASSERT(samples_row(&samples, SERIES_MEMORY, 7, true, 0, &arena, &row));
	ASSERT(row.worker == 7 && row.values.at[0] == 21 && row.values.at[3] == 31);
	ASSERT_FALSE(samples_row(&samples, SERIES_CPU, 8, true, 0, &arena, &row));
	PASS();
}

static uint64_t sum_of(const struct msg_snapshot *msg, enum series which)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < msg->series.n; i++)
		for (size_t k = 0; msg->series.at[i].series == which && msg->series.at[i].step_ms == 1000 && k < msg->series.at[i].values.n; k++)
			sum += msg->series.at[i].values.at[k];
	return sum;
}

/* The master counts each job in the second in which it ended, and tells it as soon as that second is over. */
TEST master_tells_its_load(void)
{
	struct peer client, worker;
	struct msg_accepted accepted;
	struct msg_snapshot msg = { 0 };

	box_setup_cb(NULL);
	ASSERT(box_start() && peer_hello(&client) && peer_worker(&worker, "w", 4, NULL, 0));
	ASSERT(peer_submit(&client, "0123456789abcdef", "some", 9, false) && peer_expect(&client, OP_ACCEPTED, &accepted));
	ASSERT(worker_serve(&worker, 9));
	do {
		usleep(20000);
		ASSERT(peer_query(&client, QUERY_SERIES, 0, "", 0, 0, &msg));
	} while (sum_of(&msg, SERIES_ENDED) < 9);
	ASSERT_EQ_FMT(UINT64_C(9), sum_of(&msg, SERIES_ENDED), "%lu");
	ASSERT_EQ_FMT(UINT64_C(9), sum_of(&msg, SERIES_STARTED), "%lu");
	ASSERT_EQ_FMT(UINT64_C(0), sum_of(&msg, SERIES_FAILED), "%lu");
	ASSERT(msg.series_ms > 0 && msg.cursor == 0);
	peer_close(&worker);
	peer_close(&client);
	box_teardown_cb(NULL);
	PASS();
}

SUITE(master_samples)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(counters_are_differences_and_levels_are_as_the_second_ended);
	RUN_TEST(gap_keeps_levels_and_counts_in_its_first_second);
	RUN_TEST(long_samples_are_sums_of_counters_and_the_most_of_levels);
	RUN_TEST(oldest_samples_make_room);
	RUN_TEST(only_what_ended_later_is_told);
	RUN_TEST(clock_that_is_set_back_a_little_stops_the_samples_and_a_lot_begins_anew);
	RUN_TEST(worker_has_samples_while_it_is_there);
	RUN_TEST(master_tells_its_load);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_samples);
	GREATEST_MAIN_END();
}
