/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schedules of several people, and many that are due at once. */
#include "tests/unit/core_schedule.h"

static uint64_t put_as(struct rig *rig, const char *person, uint64_t principal, const char *name, const char *cron)
{
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };
	struct rec_schedule_spec spec = { .cron = slice_str(cron), .overlap = OVERLAP_ALLOW };
	struct graph graph = { 0 };
	struct graph_part part = { .count = 1 };
	struct buf bytes = { 0 };
	uint64_t key = ++rig->keys;

	graph_job(&graph, "a", "");
	part.body = graph_blob(&graph);
	graph_free(&graph);
	record_encode(&bytes, REC_schedule_spec, &spec);
	input.submit = (struct input_submit){ .principal = principal, .owner = slice_str(person), .name = slice_str(name),
		.parts = &part, .part_count = 1, .schedule = buf_slice(&bytes) };
	memcpy(input.submit.key, &key, sizeof(key));
	rig->ok = (struct msg_ok){ 0 };
	rig_step(rig, &input);
	blob_release(part.body);
	buf_free(&bytes);
	return rig->ok.count;
}

static struct slice owner_of(struct rig *rig, uint64_t run)
{
	struct rec_run_row row = { 0 };

	CHECK(view_run(rig->core, run, &rig->arena, &row));
	return row.owner;
}

TEST runs_belong_to_last_person_who_changed_schedule(void)
{
	struct rig *rig = rig_at_night();

	ASSERT_EQ(1, put_as(rig, "ana", 1, "nightly", "0 0 * * *"));
	set(rig, SET_FIRE);
	ASSERT(slice_eq(owner_of(rig, rig->ok.count), slice_str("ana")));
	ASSERT_EQ(1, put_as(rig, "ben", 2, "nightly", "0 0 * * *"));
	ASSERT(slice_eq(row_of(rig).owner, slice_str("ben")));
	ASSERT_EQ(2, (int)rig->tables[TABLE_schedule].at[0].row.schedule.principal);
	set(rig, SET_FIRE);
	ASSERT(slice_eq(owner_of(rig, rig->ok.count), slice_str("ben")));
	rig_free(rig);
	PASS();
}

/* Many schedules that are due at once are spread over several turns, and none is forgotten. */
TEST many_due_schedules_take_several_turns(void)
{
	struct rig *rig = rig_at_night();
	struct rec_schedule_row row = { 0 };
	struct core_totals totals;
	uint64_t last = 0;

	rig->reload_every = 50;
	for (unsigned i = 0; i < 350; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%u", i);
		ASSERT_EQ(1, put_as(rig, "ana", 1, name, "0 0 * * *"));
	}
	rig_pass(rig, HOUR_MS);
	for (unsigned turns = 0; turns < 4; turns++) {
		view_totals(rig->core, &totals);
		ASSERT(totals.live_runs > last && totals.live_runs <= last + 101);
		last = totals.live_runs;
		rig_pass(rig, 2);
	}
	for (unsigned turns = 0; turns < 10; turns++)
		rig_pass(rig, 2);
	for (size_t i = 0; i < 350; i++) {
		ASSERT(view_schedule(rig->core, i, 1, &rig->arena, &row));
		ASSERT_EQ(1, row.fired);
		ASSERT_EQ(0, row.skipped);
		ASSERT_EQ_FMT((unsigned long long)(MIDNIGHT_MS + DAY_MS), (unsigned long long)row.next_ms.at[0], "%llu");
	}
	rig_free(rig);
	PASS();
}

/* A clock that is set back by a second at midnight doesn't fire a daily schedule twice. */
TEST time_fires_once_though_clock_is_set_back(void)
{
	static const int64_t backs_ms[] = { 1000, HOUR_MS / 2, 3 * HOUR_MS - 1000 };

	for (size_t i = 0; i < sizeof(backs_ms) / sizeof(backs_ms[0]); i++) {
		struct rig *rig = rig_at_night();

		ASSERT_EQ(1, put_as(rig, "ana", 1, "nightly", "0 0 * * *"));
		rig_pass(rig, HOUR_MS);
		ASSERT_EQ(1, row_of(rig).fired);
		rig->now.wall_ms -= backs_ms[i];
		rig_pass(rig, 10);
		rig_pass(rig, backs_ms[i]);
		ASSERT_EQ(1, row_of(rig).fired);
		ASSERT_EQ(0, row_of(rig).skipped);
		rig_free(rig);
	}
	PASS();
}

/* A schedule that was left for the next turn isn't due any more after the clock was set back. */
TEST clock_set_back_between_turns_delays_rest(void)
{
	struct rig *rig = rig_at_night();
	struct rec_schedule_row row = { 0 };
	uint64_t fired = 0;

	rig->reload_every = 50;
	for (unsigned i = 0; i < 150; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%u", i);
		ASSERT_EQ(1, put_as(rig, "ana", 1, name, "0 0 * * *"));
	}
	rig_pass(rig, HOUR_MS);
	rig->now.wall_ms -= HOUR_MS / 2;
	for (unsigned turns = 0; turns < 5; turns++)
		rig_pass(rig, 2);
	for (size_t i = 0; i < 150; i++) {
		ASSERT(view_schedule(rig->core, i, 1, &rig->arena, &row));
		fired += row.fired;
	}
	ASSERT(fired > 0 && fired <= 101);
	rig_pass(rig, HOUR_MS / 2);
	for (unsigned turns = 0; turns < 5; turns++)
		rig_pass(rig, 2);
	for (size_t i = 0; i < 150; i++) {
		ASSERT(view_schedule(rig->core, i, 1, &rig->arena, &row));
		ASSERT_EQ(1, row.fired);
	}
	rig_free(rig);
	PASS();
}

SUITE(many_schedules)
{
	RUN_TEST(runs_belong_to_last_person_who_changed_schedule);
	RUN_TEST(many_due_schedules_take_several_turns);
	RUN_TEST(time_fires_once_though_clock_is_set_back);
	RUN_TEST(clock_set_back_between_turns_delays_rest);
}

/* The last time of a schedule is the time that was due, even if its run began later. */
TEST last_time_is_time_that_came(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 0 * * *", OVERLAP_ALLOW, CATCHUP_ONE, 0);
	rig_pass(rig, 4 * HOUR_MS);
	ASSERT_EQ(1, (int)row_of(rig).fired);
	ASSERT_EQ(MIDNIGHT_MS, row_of(rig).last_ms);
	rig_free(rig);
	PASS();
}

/* A person fires a schedule whose tenant may queue no more jobs: the refusal is counted. */
TEST refused_fire_is_counted(void)
{
	struct rig *rig = rig_at_night();
	struct graph graph = { 0 };

	add(rig, "0 0 * * *", OVERLAP_ALLOW, CATCHUP_ONE, 0);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("ana"), .most = 2 });
	graph_job(&graph, "queued", "");
	rig_submit(rig, &graph);
	set(rig, SET_FIRE);
	ASSERT_EQ(ERR_BUSY, (int)rig->error.code);
	rig_restart(rig);
	ASSERT_EQ(1, (int)row_of(rig).skipped);
	ASSERT_EQ(SKIP_REFUSED, (int)row_of(rig).skip_why);
	rig_free(rig);
	PASS();
}

/* A schedule is removed when the run ends for which another run waits: that one doesn't start. */
TEST remove_drops_queued_times(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 0 * * *", OVERLAP_QUEUE, CATCHUP_ONE, 0);
	rig_pass(rig, HOUR_MS);
	rig_pass(rig, DAY_MS);
	ASSERT_EQ(1, (int)row_of(rig).queued);
	rig_hello(rig, "w", 1);
	ASSERT(rig_run_one(rig, 0) != 0);
	set(rig, SET_REMOVE);
	rig_pass(rig, DAY_MS);
	ASSERT_EQ(NULL, rig_run_row(rig, 2));
	ASSERT_EQ(0, (int)rig->tables[TABLE_schedule].count);
	rig_free(rig);
	PASS();
}

/* Fired while the clock was days ahead: after the clock is set right, the schedule shows no last time in the future. */
TEST fire_by_clock_ahead_leaves_no_last_time(void)
{
	struct rig *rig = rig_at_night();
	int64_t next_ms;

	add(rig, "0 0 1 1 *", OVERLAP_ALLOW, CATCHUP_ONE, 0);
	next_ms = (int64_t)row_of(rig).next_ms.at[0];
	ASSERT(next_ms > rig->now.wall_ms + 3 * DAY_MS);
	rig->now.wall_ms += 2 * DAY_MS;
	set(rig, SET_FIRE);
	ASSERT_EQ(rig->now.wall_ms, row_of(rig).last_ms);
	rig->now.wall_ms -= 2 * DAY_MS;
	rig_pass(rig, 0);
	ASSERT_EQ(0, row_of(rig).last_ms);
	ASSERT_EQ(next_ms, (int64_t)row_of(rig).next_ms.at[0]);
	rig_free(rig);
	PASS();
}

/* Of many missed times at most a hundred start at once; the others are passed over. */
TEST hundred_of_many_missed_times_begin(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 * * * *", OVERLAP_ALLOW, CATCHUP_ALL, 0);
	rig_pass(rig, 150 * HOUR_MS);
	ASSERT_EQ(100, (int)row_of(rig).fired);
	ASSERT_EQ(50, (int)row_of(rig).skipped);
	ASSERT_EQ(SKIP_MISSED, (int)row_of(rig).skip_why);
	rig_free(rig);
	PASS();
}

/* A changed schedule keeps the record of its last time. */
TEST a_schedule_that_is_changed_keeps_its_last_time(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 0 * * *", OVERLAP_ALLOW, CATCHUP_ONE, 0);
	rig_pass(rig, HOUR_MS);
	add(rig, "0 1 * * *", OVERLAP_ALLOW, CATCHUP_ONE, 0);
	ASSERT_EQ(MIDNIGHT_MS, row_of(rig).last_ms);
	ASSERT_EQ(1, (int)row_of(rig).last_run);
	ASSERT_EQ(1, (int)row_of(rig).fired);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(many_schedules);
	RUN_TEST(last_time_is_time_that_came);
	RUN_TEST(refused_fire_is_counted);
	RUN_TEST(remove_drops_queued_times);
	RUN_TEST(fire_by_clock_ahead_leaves_no_last_time);
	RUN_TEST(hundred_of_many_missed_times_begin);
	RUN_TEST(a_schedule_that_is_changed_keeps_its_last_time);
	GREATEST_MAIN_END();
}
