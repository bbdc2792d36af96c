/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a schedule says and what waits in line for it, over changes, pauses and restarts. */
#include "tests/unit/core_rig.h"

#define HOUR_MS INT64_C(3600000)

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

TEST a_schedule_that_is_changed_is_what_it_says_now(void)
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

TEST what_waits_in_line_waits_also_for_the_pause(void)
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

static void set(struct rig *rig, enum set_verb verb)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_SCHEDULE, .name = slice_str("hourly"), .verb = verb });
}

TEST a_schedule_that_is_removed_leaves_no_row(void)
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

TEST a_schedule_that_is_changed_stays_paused(void)
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

static void ana_may_queue(struct rig *rig, uint64_t most)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("ana"),
				       .most = most + 1 });
}

/* Its tenant may have no longer as many in the queue. */
TEST a_time_whose_run_is_refused_is_counted(void)
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

TEST each_of_the_line_that_is_refused_is_counted(void)
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

TEST who_fires_a_schedule_learns_which_run_began(void)
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

TEST the_latest_run_of_one_that_is_paused_is_kept(void)
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

/* The machine was off, and has another idea of what time it is: no step that a clock takes while it is up. */
TEST a_reboot_with_an_earlier_clock_leaves_no_time_out(void)
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

/* Set back by as much as that, one's next time is the same, another's isn't. */
TEST each_schedule_looks_at_a_clock_that_was_set_back(void)
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

SUITE(planted_schedule)
{
	RUN_TEST(a_schedule_that_is_removed_leaves_no_row);
	RUN_TEST(a_schedule_that_is_changed_stays_paused);
	RUN_TEST(a_time_whose_run_is_refused_is_counted);
	RUN_TEST(each_of_the_line_that_is_refused_is_counted);
	RUN_TEST(who_fires_a_schedule_learns_which_run_began);
	RUN_TEST(the_latest_run_of_one_that_is_paused_is_kept);
	RUN_TEST(each_schedule_looks_at_a_clock_that_was_set_back);
	RUN_TEST(a_reboot_with_an_earlier_clock_leaves_no_time_out);
	RUN_TEST(a_schedule_that_is_changed_is_what_it_says_now);
	RUN_TEST(what_waits_in_line_waits_also_for_the_pause);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(planted_schedule);
	GREATEST_MAIN_END();
}
