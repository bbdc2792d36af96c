/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schedules at their limits: a minute late, three hours back, a leap day, refused changes, pauses, no room. */
#include "tests/unit/core_schedule.h"

#include "base/cron.h"

TEST a_minute_late_is_not_missed(void)
{
	for (int more = 0; more < 2; more++) {
		struct rig *rig = rig_at_night();

		add(rig, "0 0 * * *", OVERLAP_ALLOW, CATCHUP_SKIP, 0);
		rig_wait(rig, HOUR_MS + 60000 + more);
		rig_restart(rig);
		rig_pass(rig, 0);
		ASSERT_EQ(more ? 0 : 1, (int)row_of(rig).fired);
		ASSERT_EQ(more ? SKIP_MISSED : SKIP_NONE, (int)row_of(rig).skip_why);
		rig_free(rig);
	}
	PASS();
}

/* Due in each minute of 29 February 2028, more often than missed times are counted; noticed two years later. */
TEST the_last_minute_of_a_leap_day_is_judged(void)
{
	const int64_t last_ms = 21243 * DAY_MS + DAY_MS - 60000, late_ms = 700 * DAY_MS;

	for (int fits = 0; fits < 2; fits++) {
		struct rig *rig = rig_at_night();

		add(rig, "* * 29 2 *", OVERLAP_ALLOW, CATCHUP_SPAN, (uint64_t)(late_ms - (fits ? 0 : 60000)));
		rig_wait(rig, last_ms + late_ms - rig->now.wall_ms);
		rig_restart(rig);
		rig_pass(rig, 0);
		ASSERT_EQ(fits, (int)row_of(rig).fired);
		ASSERT_EQ(1000, row_of(rig).fired + row_of(rig).skipped);
		rig_free(rig);
	}
	PASS();
}

TEST a_clock_set_back_by_more_than_three_hours_was_wrong(void)
{
	for (int more = 0; more < 2; more++) {
		struct rig *rig = rig_at_night();

		add(rig, "0 * * * *", OVERLAP_ALLOW, CATCHUP_SKIP, 0);
		rig_pass(rig, HOUR_MS);
		rig->now.wall_ms -= 3 * HOUR_MS + more;
		rig_pass(rig, 0);
		ASSERT_EQ(more ? 0 : MIDNIGHT_MS, row_of(rig).last_ms);
		ASSERT_EQ((uint64_t)(more ? MIDNIGHT_MS - 3 * HOUR_MS : MIDNIGHT_MS + HOUR_MS), row_of(rig).next_ms.at[0]);
		rig_free(rig);
	}
	PASS();
}

static enum err said(struct rig *rig, struct rec_schedule_spec spec)
{
	spec.cron = slice_str("30 23 * * *");
	schedule_add(rig, "nightly", &spec);
	return (enum err)rig->error.code;
}

/* A cron expression over 4096 bytes that repeats one minute. */
TEST cron_over_4096_bytes_is_refused(void)
{
	static const char rest[] = " * * * *";
	struct rec_schedule_spec spec = { 0 };
	struct rig *rig = rig_at_night();
	char cron[4097];

	for (size_t len = 4096; len <= 4097; len++) {
		size_t minutes = len - strlen(rest);

		for (size_t i = 0; i < minutes; i++)
			cron[i] = i == 0 || (minutes - i) % 2 ? '0' : ',';
		memcpy(cron + minutes, rest, strlen(rest));
		spec.cron = slice_make(cron, len);
		schedule_add(rig, "nightly", &spec);
		ASSERT_EQ(len == 4096 ? ERR_NONE : ERR_TOO_LARGE, rig->error.code);
	}
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "cron: longer than 4096 bytes"));
	rig_free(rig);
	PASS();
}

TEST schedule_fields_beyond_limits_are_refused(void)
{
	const uint64_t longest_ms = LIMIT_SPAN_MAX_S * UINT64_C(1000);
	struct rig *rig = rig_at_night();
	char name[66];

	memset(name, 'z', sizeof(name));
	ASSERT_EQ(ERR_NONE, said(rig, (struct rec_schedule_spec){ .zone_name = slice_make(name, 64) }));
	ASSERT_EQ(ERR_INVALID, said(rig, (struct rec_schedule_spec){ .zone_name = slice_make(name, 65) }));
	ASSERT_EQ(ERR_INVALID, said(rig, (struct rec_schedule_spec){ .zone = slice_make(name, ZONE_CHANGE - 1) }));
	ASSERT(rig_error_says(rig, ERR_INVALID, "tz: "));
	ASSERT_EQ(ERR_NONE, said(rig, (struct rec_schedule_spec){ .catchup = CATCHUP_SPAN, .catchup_ms = longest_ms }));
	ASSERT_EQ(ERR_TOO_LARGE, said(rig, (struct rec_schedule_spec){ .catchup = CATCHUP_SPAN,
								       .catchup_ms = longest_ms + 1000 }));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "ten years"));
	rig_free(rig);
	PASS();
}

TEST a_change_that_is_refused_changes_nothing(void)
{
	struct rig *rig = rig_at_night();

	add(rig, "0 0 * * *", OVERLAP_ALLOW, CATCHUP_SKIP, 0);
	ASSERT_EQ(ERR_INVALID, said(rig, (struct rec_schedule_spec){ .overlap = 9 }));
	rig_pass(rig, HOUR_MS);
	ASSERT_EQ(1, row_of(rig).fired);
	ASSERT_EQ((uint64_t)(MIDNIGHT_MS + DAY_MS), row_of(rig).next_ms.at[0]);
	ASSERT_EQ((uint64_t)(MIDNIGHT_MS + 2 * DAY_MS), row_of(rig).next_ms.at[1]);
	rig_free(rig);
	PASS();
}

/* One scheduled run has just ended, and another is queued behind it. */
static struct rig *rig_with_one_in_line(void)
{
	struct rig *rig = rig_at_night();

	rig_hello(rig, "w", 1);
	add(rig, "0 0 * * *", OVERLAP_QUEUE, CATCHUP_SKIP, 0);
	rig_pass(rig, HOUR_MS);
	rig_hello(rig, "w", 1);
	rig_pass(rig, DAY_MS);
	CHECK(row_of(rig).live == 1 && row_of(rig).queued == 1);
	rig_hello(rig, "w", 1);
	while (row_of(rig).live)
		CHECK(rig_run_one(rig, 0) != 0);
	CHECK(row_of(rig).queued == 1);
	return rig;
}

TEST pause_comes_before_queued_time(void)
{
	struct rig *rig = rig_with_one_in_line();

	set(rig, SET_PAUSE);
	rig_pass(rig, 1);
	ASSERT_EQ(1, row_of(rig).queued);
	ASSERT_EQ(0, row_of(rig).live);
	set(rig, SET_RESUME);
	rig_pass(rig, 1);
	ASSERT_EQ(0, row_of(rig).queued);
	ASSERT_EQ(2, row_of(rig).fired);
	rig_free(rig);
	PASS();
}

TEST fire_comes_before_queued_time(void)
{
	struct rig *rig = rig_with_one_in_line();

	set(rig, SET_FIRE);
	rig_pass(rig, 1);
	ASSERT_EQ(1, row_of(rig).queued);
	ASSERT_EQ(1, row_of(rig).live);
	while (rig_run_one(rig, 0))
		rig_pass(rig, 1);
	ASSERT_EQ(0, row_of(rig).queued);
	ASSERT_EQ(3, row_of(rig).fired);
	rig_free(rig);
	PASS();
}

TEST change_keeps_queued_times(void)
{
	struct rig *rig = rig_with_one_in_line();

	add(rig, "0 5 * * *", OVERLAP_QUEUE, CATCHUP_SKIP, 0);
	rig_pass(rig, 1);
	ASSERT_EQ(0, row_of(rig).queued);
	ASSERT_EQ(2, row_of(rig).fired);
	rig_free(rig);
	PASS();
}

/* Add this many rows of schedules that differ only in their names. */
static void rows_of_others(struct rig *rig, size_t others)
{
	struct rig_rows *rows = &rig->tables[TABLE_schedule];

	rows->at = mem_resize(rows->at, others + 1, sizeof(*rows->at));
	rows->cap = others + 1;
	for (rows->count = 1; rows->count <= others; rows->count++) {
		struct rig_row *other = &rows->at[rows->count];
		char name[32];

		snprintf(name, sizeof(name), "other-%zu", rows->count);
		*other = (struct rig_row){ .row = rows->at[0].row };
		other->row.schedule.schedule = slice_str(arena_strdup(&rig->arena, slice_str(name)));
		other->row.schedule.submit_key = other->row.schedule.digest = slice_make(NULL, 0);
	}
}

TEST schedules_have_a_maximum(void)
{
	struct rec_schedule_spec spec = { .cron = slice_str("0 0 * * *") };
	struct rig *rig = rig_at_night();

	rig->reload_every = 0;
	schedule_add(rig, "nightly", &spec);
	rows_of_others(rig, LIMIT_SCHEDULES_MAX - 2);
	rig_restart(rig);
	schedule_add(rig, "last", &spec);
	ASSERT_EQ(1, rig->ok.count);
	schedule_add(rig, "over", &spec);
	ASSERT(rig_error_says(rig, ERR_FULL, "schedules, and no more are allowed"));
	schedule_add(rig, "last", &spec);        /* at the limit on schedules, an existing one may still be changed */
	ASSERT_EQ(1, rig->ok.count);
	set(rig, SET_REMOVE);
	schedule_add(rig, "over", &spec);
	ASSERT_EQ(1, rig->ok.count);
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

SUITE(schedule_edges)
{
	RUN_TEST(a_minute_late_is_not_missed);
	RUN_TEST(the_last_minute_of_a_leap_day_is_judged);
	RUN_TEST(a_clock_set_back_by_more_than_three_hours_was_wrong);
	RUN_TEST(cron_over_4096_bytes_is_refused);
	RUN_TEST(schedule_fields_beyond_limits_are_refused);
	RUN_TEST(a_change_that_is_refused_changes_nothing);
	RUN_TEST(pause_comes_before_queued_time);
	RUN_TEST(fire_comes_before_queued_time);
	RUN_TEST(change_keeps_queued_times);
	RUN_TEST(schedules_have_a_maximum);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(schedule_edges);
	GREATEST_MAIN_END();
}
