/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schedules: each due time starts one run; missed times, overlaps, restarts, and wall clocks that are set. */
#include "tests/unit/core_schedule.h"

static void add_keyed(struct rig *rig, uint8_t key, uint8_t digest, const char *cron)
{
	struct rec_schedule_spec spec = { .cron = slice_str(cron) };

	schedule_put(rig, "nightly", &spec, key, digest);
}

TEST each_time_begins_one_run(void)
{
	struct rig *rig = rig_at_night();

	rig_hello(rig, "w", 1);
	add(rig, "0 0 * * *", OVERLAP_SKIP, CATCHUP_SKIP, 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ((uint64_t)MIDNIGHT_MS, row_of(rig).next_ms.at[0]);
	ASSERT_EQ(5, row_of(rig).next_ms.n);
	rig_pass(rig, HOUR_MS - 1);
	ASSERT_EQ(0, row_of(rig).fired);
	rig_pass(rig, 1);
	ASSERT_EQ(1, row_of(rig).fired);
	ASSERT_EQ(MIDNIGHT_MS, row_of(rig).last_ms);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_restart(rig);
	rig_pass(rig, 1000);
	ASSERT_EQ(1, row_of(rig).fired);
	ASSERT_EQ((uint64_t)(MIDNIGHT_MS + DAY_MS), row_of(rig).next_ms.at[0]);
	rig_pass(rig, DAY_MS);
	ASSERT_EQ(2, row_of(rig).fired);
	rig_free(rig);
	PASS();
}

static uint64_t runs_after_two_nights(enum catchup catchup, uint64_t catchup_ms)
{
	struct rig *rig = rig_at_night();
	uint64_t fired;

	add(rig, "0 0 * * *", OVERLAP_ALLOW, catchup, catchup_ms);
	rig_wait(rig, 2 * DAY_MS);
	rig_restart(rig);
	rig_pass(rig, 0);
	fired = row_of(rig).fired;
	CHECK(row_of(rig).fired + row_of(rig).skipped == 2);
	rig_restart(rig);
	rig_pass(rig, 1000);
	CHECK(row_of(rig).fired == fired);
	rig_free(rig);
	return fired;
}

TEST catchup_chooses_missed_times(void)
{
	ASSERT_EQ(0, runs_after_two_nights(CATCHUP_SKIP, 0));
	ASSERT_EQ(1, runs_after_two_nights(CATCHUP_ONE, 0));
	ASSERT_EQ(2, runs_after_two_nights(CATCHUP_ALL, 0));
	ASSERT_EQ(0, runs_after_two_nights(CATCHUP_SPAN, 22 * HOUR_MS));
	ASSERT_EQ(1, runs_after_two_nights(CATCHUP_SPAN, 23 * HOUR_MS));
	PASS();
}

TEST overlap_skips_queues_or_allows(void)
{
	static const uint64_t fired[] = { 1, 1, 3 }, skipped[] = { 2, 0, 0 }, queued[] = { 0, 2, 0 }, after[] = { 1, 3, 3 };

	for (int overlap = OVERLAP_SKIP; overlap <= OVERLAP_ALLOW; overlap++) {
		struct rig *rig = rig_at_night();

		add(rig, "0 0 * * *", (enum overlap)overlap, CATCHUP_SKIP, 0);
		rig_pass(rig, HOUR_MS);
		rig_pass(rig, DAY_MS);
		rig_pass(rig, DAY_MS);
		ASSERT_EQ(fired[overlap], row_of(rig).fired);
		ASSERT_EQ(skipped[overlap], row_of(rig).skipped);
		ASSERT_EQ(queued[overlap], row_of(rig).queued);
		ASSERT_EQ(overlap == OVERLAP_SKIP ? SKIP_OVERLAP : SKIP_NONE, (int)row_of(rig).skip_why);
		rig_restart(rig);
		rig_hello(rig, "w", 1);
		for (int i = 0; i < 5; i++) {
			rig_run_one(rig, 0);
			rig_pass(rig, 0);
		}
		ASSERT_EQ(after[overlap], row_of(rig).fired);
		ASSERT_EQ(0, row_of(rig).queued);
		ASSERT_EQ(0, row_of(rig).live);
		rig_free(rig);
	}
	PASS();
}

/* All missed times are to be made up for, and only one run may live at once: they start one after another. */
TEST missed_times_queue_behind_each_other(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 0 * * *", OVERLAP_SKIP, CATCHUP_ALL, 0);
	rig_wait(rig, 3 * DAY_MS);
	rig_restart(rig);
	rig_pass(rig, 0);
	ASSERT_EQ(1, row_of(rig).fired);
	ASSERT_EQ(2, row_of(rig).queued);
	rig_pass(rig, DAY_MS);
	ASSERT_EQ(1, row_of(rig).skipped); /* a time that comes while an earlier run lives is skipped, not queued */
	ASSERT_EQ(2, row_of(rig).queued);
	rig_hello(rig, "w", 1);
	for (int i = 0; i < 5; i++) {
		rig_run_one(rig, 0);
		rig_pass(rig, 0);
	}
	ASSERT_EQ(3, row_of(rig).fired);
	ASSERT_EQ(0, row_of(rig).queued);
	rig_free(rig);
	PASS();
}

/* More times were missed than are counted; the decision still goes by the last of them. */
TEST last_of_many_missed_times_is_judged(void)
{
	static const struct {
		const char *cron;
		int64_t wait_ms, span_ms;
		uint64_t fired;
	} cases[] = {
		{ "* * * * *", 40 * HOUR_MS, 0, 1 },             /* this very minute */
		{ "* * * * *", 40 * HOUR_MS + 90000, 0, 1 },
		{ "0-49 * * * *", 40 * HOUR_MS + 52 * 60000, 2 * 60000, 0 },
		{ "0-49 * * * *", 40 * HOUR_MS + 52 * 60000, 3 * 60000, 1 },
		{ "0 * * * *", 1001 * HOUR_MS, 0, 1 }, /* one more due time than are counted; the last one is due now */
		{ "* 5 * * *", 40 * DAY_MS, 17 * HOUR_MS, 0 },   /* last due time 05:59, noticed at 23:00: too late */
		{ "* 5 * * *", 40 * DAY_MS, 17 * HOUR_MS + 60000, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_at_night();

		add(rig, cases[i].cron, OVERLAP_ALLOW, cases[i].span_ms ? CATCHUP_SPAN : CATCHUP_SKIP,
		    (uint64_t)cases[i].span_ms);
		rig_wait(rig, cases[i].wait_ms);
		rig_restart(rig);
		rig_pass(rig, 0);
		ASSERT_EQ(cases[i].fired, row_of(rig).fired);
		ASSERT_EQ(1000, row_of(rig).fired + row_of(rig).skipped);
		rig_free(rig);
	}
	PASS();
}

TEST submit_key_names_one_schedule(void)
{
	struct rig *rig = rig_at_night();
	struct graph graph = { 0 };
	struct input_submit run = { .principal = 1, .owner = slice_str("ana"), .name = slice_str("r"), .key = { 7 },
				    .digest = { 2 } };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000 };
	struct graph_part part = { .count = 1 };

	add_keyed(rig, 7, 1, "0 0 * * *");
	add_keyed(rig, 8, 1, "0 5 * * *");
	ASSERT_EQ((uint64_t)(MIDNIGHT_MS + 5 * HOUR_MS), row_of(rig).next_ms.at[0]);
	for (int restarts = 0; restarts < 2; restarts++) {
		add_keyed(rig, 8, 1, "0 5 * * *");
		ASSERT_EQ(1, rig->ok.count);     /* a repeated request with the same key changes nothing */
		add_keyed(rig, 8, 2, "0 6 * * *");
		ASSERT(rig_error_says(rig, ERR_KEY_REUSED, "schedule"));
		ASSERT_EQ((uint64_t)(MIDNIGHT_MS + 5 * HOUR_MS), row_of(rig).next_ms.at[0]);
		rig_restart(rig);
	}
	graph_job(&graph, "a", "");
	part.body = graph_blob(&graph);
	graph_free(&graph);
	run.key[0] = 8;
	run.parts = &part;
	run.part_count = 1;
	input.submit = run;
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	ASSERT(rig_error_says(rig, ERR_KEY_REUSED, "schedule"));
	input.submit.key[0] = 9;
	rig_step(rig, &input);
	add_keyed(rig, 9, 1, "0 6 * * *");
	ASSERT(rig_error_says(rig, ERR_KEY_REUSED, "run 1"));
	set(rig, SET_REMOVE);
	add_keyed(rig, 8, 2, "0 6 * * *");
	/* the schedule was removed, and its submit key with it, so the key can be used again */
	ASSERT_EQ(1, rig->ok.count);
	blob_release(part.body);
	rig_free(rig);
	PASS();
}

/* A change in the same turn in which a time is due: the time fires by the old schedule. */
TEST time_before_change_fires(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 0 * * *", OVERLAP_ALLOW, CATCHUP_SKIP, 0);
	rig_wait(rig, HOUR_MS);
	set(rig, SET_PAUSE);
	ASSERT_EQ(1, row_of(rig).fired);
	set(rig, SET_RESUME);
	rig_wait(rig, DAY_MS);
	add(rig, "0 5 * * *", OVERLAP_ALLOW, CATCHUP_SKIP, 0);
	ASSERT_EQ(2, row_of(rig).fired);
	ASSERT_EQ((uint64_t)(MIDNIGHT_MS + DAY_MS + 5 * HOUR_MS), row_of(rig).next_ms.at[0]);
	rig_free(rig);
	PASS();
}

TEST people_pause_resume_fire_and_remove(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 0 * * *", OVERLAP_SKIP, CATCHUP_ALL, 0);
	set(rig, SET_PAUSE);
	ASSERT_EQ(1, rig->ok.count);
	rig_pass(rig, 2 * DAY_MS);
	rig_restart(rig);
	set(rig, SET_RESUME);
	ASSERT_EQ(0, row_of(rig).fired);
	set(rig, SET_FIRE);
	ASSERT_EQ(1, rig->ok.count);     /* the run's number */
	set(rig, SET_FIRE);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(2, row_of(rig).live);
	set(rig, SET_REMOVE);
	set(rig, SET_FIRE);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "nightly"));
	rig_hello(rig, "w", 4);
	rig_run_all(rig);
	rig_pass(rig, DAY_MS);
	rig_free(rig);
	PASS();
}

TEST schedule_added_again_counts_live_runs(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 0 * * *", OVERLAP_SKIP, CATCHUP_SKIP, 0);
	set(rig, SET_FIRE);
	set(rig, SET_REMOVE);
	add(rig, "0 0 * * *", OVERLAP_SKIP, CATCHUP_SKIP, 0);
	ASSERT_EQ(1, row_of(rig).live);
	rig_pass(rig, HOUR_MS);
	ASSERT_EQ(1, row_of(rig).skipped);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_pass(rig, 0);
	ASSERT_EQ(0, row_of(rig).live);
	rig_free(rig);
	PASS();
}

TEST wrong_schedule_is_refused(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 0 31 2 *", OVERLAP_SKIP, CATCHUP_SKIP, 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "no month has this day"));
	add(rig, "0 0 * * *", (enum overlap)9, CATCHUP_SKIP, 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "overlap"));
	ASSERT_FALSE(view_schedule(rig->core, 0, 0, &rig->arena, &(struct rec_schedule_row){ 0 }));
	rig_free(rig);
	PASS();
}

TEST clock_set_back_repeats_no_run(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 * * * *", OVERLAP_ALLOW, CATCHUP_SKIP, 0);
	rig_pass(rig, HOUR_MS);
	ASSERT_EQ(1, row_of(rig).fired);
	rig->now.wall_ms -= HOUR_MS / 2;         /* the clock is set back, and the same hour doesn't fire again */
	rig_pass(rig, HOUR_MS / 2);
	ASSERT_EQ(1, row_of(rig).fired);
	rig_pass(rig, HOUR_MS);
	ASSERT_EQ(2, row_of(rig).fired);
	rig->now.wall_ms += 3653 * DAY_MS;       /* the wall clock jumps ten years ahead */
	rig_pass(rig, 0);
	ASSERT_LTE(row_of(rig).fired, 3U);
	rig->now.wall_ms -= 3653 * DAY_MS;
	rig_pass(rig, 0);
	rig_pass(rig, HOUR_MS);
	/* the schedule doesn't wait until those ten years have passed */
	ASSERT_GTE(row_of(rig).fired, 3U);
	rig_free(rig);
	PASS();
}

static enum prune_word prunable(const struct rig *rig, int64_t run, bool logs_only)
{
	const struct prune_rule rule = { .as_of = rig->out.turn, .logs_only = logs_only };

	return view_prunable(rig->core, &rig_run_row(rig, run)->run, &rule);
}

/* The latest run of a schedule isn't pruned while the schedule exists. */
TEST latest_run_of_schedule_is_not_pruned(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 0 * * *", OVERLAP_ALLOW, CATCHUP_SKIP, 0);
	rig_pass(rig, HOUR_MS);
	rig_pass(rig, DAY_MS);
	ASSERT_EQ(2, row_of(rig).fired);
	rig_cancel(rig, 1, NULL);
	rig_cancel(rig, 2, NULL);
	core_sweep(rig->core, rig->out.turn);
	ASSERT_EQ(PRUNE_GOES, prunable(rig, 1, false));
	ASSERT_EQ(PRUNE_NEEDED, prunable(rig, 2, false));
	ASSERT_EQ(PRUNE_GOES, prunable(rig, 2, true));
	set(rig, SET_REMOVE);
	ASSERT_EQ(ERR_NONE, rig->error.code);
	ASSERT_EQ(PRUNE_GOES, prunable(rig, 2, false));
	rig_free(rig);
	PASS();
}

SUITE(schedules)
{
	RUN_TEST(each_time_begins_one_run);
	RUN_TEST(catchup_chooses_missed_times);
	RUN_TEST(overlap_skips_queues_or_allows);
	RUN_TEST(missed_times_queue_behind_each_other);
	RUN_TEST(last_of_many_missed_times_is_judged);
	RUN_TEST(submit_key_names_one_schedule);
	RUN_TEST(time_before_change_fires);
	RUN_TEST(people_pause_resume_fire_and_remove);
	RUN_TEST(schedule_added_again_counts_live_runs);
	RUN_TEST(wrong_schedule_is_refused);
	RUN_TEST(clock_set_back_repeats_no_run);
	RUN_TEST(latest_run_of_schedule_is_not_pruned);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(schedules);
	GREATEST_MAIN_END();
}
