/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acts on schedules: change, pause, fire and remove; refused runs; and clocks that were set back. */
#include "tests/unit/core_rig.h"

static void add_as(struct rig *rig, const char *name, const char *cron, uint8_t key, size_t parts,
		   const char *concurrency)
{
	struct rec_schedule_spec spec = { .cron = slice_str(cron), .overlap = OVERLAP_QUEUE };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };
	struct graph_part part[2] = { { .count = 1 }, { .count = 1 } };
	struct buf bytes = { 0 };

	for (size_t i = 0; i < parts; i++) {
		struct graph graph = { 0 };

		graph_job(&graph, i ? "b" : "a", "");
		part[i].body = graph_blob(&graph);
		graph_free(&graph);
	}
	record_encode(&bytes, REC_schedule_spec, &spec);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .name = slice_str(name),
		.parts = part, .part_count = parts, .schedule = buf_slice(&bytes), .key = { key }, .digest = { key },
		.concurrency = slice_str(concurrency) };
	rig_step(rig, &input);
	CHECK(rig->error.code == ERR_NONE);
	for (size_t i = 0; i < parts; i++)
		blob_release(part[i].body);
	buf_free(&bytes);
}

static void add(struct rig *rig, uint8_t key, size_t parts, const char *concurrency)
{
	add_as(rig, "hourly", "0 * * * *", key, parts, concurrency);
}

static void set(struct rig *rig, enum set_verb verb)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_SCHEDULE, .name = slice_str("hourly"), .verb = verb });
}

TEST remove_leaves_no_rows(void)
{
	struct rig *rig = rig_new();
	struct rec_schedule_row row = { 0 };

	add(rig, 1, 2, "");
	ASSERT_EQ(2, rig->tables[TABLE_schedule_part].count);
	set(rig, SET_REMOVE);
	ASSERT_EQ(0, rig->tables[TABLE_schedule].count);
	ASSERT_EQ(0, rig->tables[TABLE_schedule_part].count);
	rig_restart(rig);
	ASSERT_FALSE(view_schedule(rig->core, 0, 1, &rig->arena, &row));
	rig_free(rig);
	PASS();
}

#define HOUR_MS INT64_C(3600000)

TEST change_keeps_pause(void)
{
	struct rig *rig = rig_new();
	struct rec_schedule_row row = { 0 };

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	add(rig, 1, 1, "");
	set(rig, SET_PAUSE);
	add(rig, 2, 2, "");
	rig_pass(rig, HOUR_MS);
	ASSERT(view_schedule(rig->core, 0, 1, &rig->arena, &row));
	ASSERT(row.paused && row.jobs == 2 && row.fired == 0);
	rig_free(rig);
	PASS();
}

TEST change_replaces_graph_over_restart(void)
{
	struct rig *rig = rig_new();
	struct rec_schedule_row row = { 0 };

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	add(rig, 1, 2, "g=2");
	rig_restart(rig);
	add(rig, 2, 1, "g=2");
	rig_restart(rig);
	ASSERT(view_schedule(rig->core, 0, 1, &rig->arena, &row));
	ASSERT_EQ(1, row.jobs);
	rig_pass(rig, HOUR_MS);
	ASSERT(slice_eq(slice_str("g=2"), rig_run_row(rig, 1)->run.concurrency));
	rig_free(rig);
	PASS();
}

TEST fire_answers_number_of_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "other", "");
	rig_submit(rig, &graph);
	add(rig, 9, 1, "");
	set(rig, SET_FIRE);
	ASSERT_EQ(2, rig->ok.count);
	set(rig, SET_FIRE);
	ASSERT_EQ(3, rig->ok.count);
	rig_free(rig);
	PASS();
}

TEST latest_run_of_paused_schedule_is_not_pruned(void)
{
	struct rig *rig = rig_new();
	struct prune_rule rule = { .as_of = UINT64_MAX };

	add(rig, 1, 1, "");
	set(rig, SET_FIRE);
	rig_cancel(rig, 1, "");
	set(rig, SET_PAUSE);
	core_sweep(rig->core, rig->out.turn);
	ASSERT_EQ(PRUNE_NEEDED, view_prunable(rig->core, &rig_run_row(rig, 1)->run, &rule));
	set(rig, SET_REMOVE);
	ASSERT_EQ(PRUNE_GOES, view_prunable(rig->core, &rig_run_row(rig, 1)->run, &rule));
	rig_free(rig);
	PASS();
}

TEST queued_time_waits_for_resume(void)
{
	struct rig *rig = rig_new();
	struct rec_schedule_row row = { 0 };

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	add(rig, 1, 1, "");
	rig_pass(rig, HOUR_MS);
	rig_pass(rig, HOUR_MS);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_SCHEDULE, .name = slice_str("hourly"), .verb = SET_PAUSE });
	rig_hello(rig, "w", 1);
	ASSERT_EQ(1, rig_run_one(rig, 0));
	rig_pass(rig, 1);
	ASSERT(view_schedule(rig->core, 0, 1, &rig->arena, &row));
	ASSERT(row.live == 0 && row.queued == 1 && row.fired == 1);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_SCHEDULE, .name = slice_str("hourly"), .verb = SET_RESUME });
	rig_pass(rig, 1);
	ASSERT(view_schedule(rig->core, 0, 1, &rig->arena, &row));
	ASSERT(row.live == 1 && row.queued == 0 && row.fired == 2);
	rig_free(rig);
	PASS();
}

static void ana_may_queue(struct rig *rig, uint64_t most)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("ana"),
				       .most = most + 1 });
}

/* The tenant's limit of queued jobs was lowered, so the run is refused and its time counts as skipped. */
TEST refused_run_counts_as_skipped_time(void)
{
	struct rig *rig = rig_new();
	struct rec_schedule_row row = { 0 };

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	add(rig, 1, 2, "");
	ana_may_queue(rig, 1);
	rig_pass(rig, HOUR_MS);
	ASSERT(view_schedule(rig->core, 0, 1, &rig->arena, &row));
	ASSERT(row.fired == 0 && row.live == 0 && row.queued == 0);
	ASSERT_EQ(1, row.skipped);
	ASSERT_EQ(SKIP_REFUSED, row.skip_why);
	ASSERT_EQ(rig->now.wall_ms, row.skip_ms);
	rig_free(rig);
	PASS();
}

TEST each_refused_queued_time_is_counted(void)
{
	struct rig *rig = rig_new();
	struct rec_schedule_row row = { 0 };

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	add(rig, 1, 2, "");
	for (int hours = 0; hours < 4; hours++)
		rig_pass(rig, HOUR_MS);
	ASSERT(view_schedule(rig->core, 0, 1, &rig->arena, &row));
	ASSERT(row.live == 1 && row.queued == 3);
	ana_may_queue(rig, 1);
	rig_cancel(rig, 1, "");
	rig_pass(rig, 1);
	rig_pass(rig, 1);
	ASSERT(view_schedule(rig->core, 0, 1, &rig->arena, &row));
	ASSERT(row.live == 0 && row.queued == 0 && row.fired == 1);
	ASSERT_EQ(3, row.skipped);
	rig_free(rig);
	PASS();
}

/* The clock is set back: the next time changes for one schedule and stays the same for the other. */
TEST each_schedule_follows_clock_set_back(void)
{
	struct rig *rig = rig_new();
	struct rec_schedule_row row = { 0 };

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	add_as(rig, "yearly", "0 0 1 1 *", 1, 1, "");
	add_as(rig, "hourly", "0 * * * *", 2, 1, "");
	rig->now.wall_ms -= 48 * HOUR_MS;
	rig_pass(rig, 0);
	ASSERT(view_schedule(rig->core, 1, 1, &rig->arena, &row));
	ASSERT_EQ((uint64_t)(rig->now.wall_ms + HOUR_MS), row.next_ms.at[0]);
	rig_free(rig);
	PASS();
}

/* A machine that comes up with an earlier clock isn't taken for a step of a running clock: no time is missed. */
TEST reboot_with_earlier_clock_misses_no_time(void)
{
	struct rig *rig = rig_new();
	struct rec_schedule_row row = { 0 };

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	rig_pass(rig, 100 * HOUR_MS);
	add(rig, 1, 1, "");
	rig->config.boot_id++;
	rig->now.mono_ns = rig->now.boot_ns = NS_PER_S;
	rig->now.wall_ms -= 48 * HOUR_MS;
	rig_restart(rig);
	rig_pass(rig, HOUR_MS);
	ASSERT(view_schedule(rig->core, 0, 1, &rig->arena, &row));
	ASSERT(row.fired == 1 && row.next_ms.at[0] == (uint64_t)(rig->now.wall_ms + HOUR_MS));
	rig_free(rig);
	PASS();
}

SUITE(schedule_acts)
{
	RUN_TEST(remove_leaves_no_rows);
	RUN_TEST(change_keeps_pause);
	RUN_TEST(change_replaces_graph_over_restart);
	RUN_TEST(fire_answers_number_of_run);
	RUN_TEST(latest_run_of_paused_schedule_is_not_pruned);
	RUN_TEST(queued_time_waits_for_resume);
	RUN_TEST(refused_run_counts_as_skipped_time);
	RUN_TEST(each_refused_queued_time_is_counted);
	RUN_TEST(each_schedule_follows_clock_set_back);
	RUN_TEST(reboot_with_earlier_clock_misses_no_time);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(schedule_acts);
	GREATEST_MAIN_END();
}
