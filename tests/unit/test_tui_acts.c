/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acts on runs, jobs and workers: each asks about the right target, and only y does it. */
#include "tests/unit/tui_fixture.h"
#include "tui/views.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct fixture fixture;
static struct grid grid;

static void teardown_cb(void *data)
{
	(void)data;
	grid_free(&grid);
	fixture_close(&fixture);
}

static void open_view(enum view view)
{
	fixture_fill(&fixture, view, false, false, 80, 24);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
}

static bool shows(const char *text)
{
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	return fixture_has(&grid, text);
}

static void answer(uint64_t count)
{
	struct msg_ok ok = { .id = fixture.act_id, .count = count };

	fixture_give(&fixture, OP_OK, &ok, FIXTURE_NOW);
}

TEST failed_jobs_of_a_run_run_again(void)
{
	open_view(VIEW_HOME);
	fixture_press(&fixture, "jR");
	ASSERT(shows("Retry run 4126 etl-nightly: 2 jobs that failed?"));
	fixture_press(&fixture, "n");
	ASSERT_EQ(0, fixture.cancel_count);
	ASSERT(shows("nothing was done"));
	fixture_press(&fixture, "Ry");
	ASSERT_EQ(ACT_RETRY, (int)fixture.verb);
	ASSERT_EQ_FMT(UINT64_C(4126), fixture.cancelled[0], "%lu");
	ASSERT_EQ_FMT((uint64_t)RETRY_FAILED, fixture.act_value, "%lu");
	answer(5);
	ASSERT(shows("done: 5 jobs to run again"));
	fixture_press(&fixture, "GR");
	ASSERT(shows("nothing to retry: run 4120 has no such jobs"));
	PASS();
}

/* Its dead letters are known, although the run is older than those of the list. */
TEST old_failure_is_retried_or_discarded_from_needs_you(void)
{
	open_view(VIEW_HOME);
	fixture_press(&fixture, "kkX");
	ASSERT(shows("Discard the dead letters of run 3001 import: 1 dead letter?"));
	fixture_press(&fixture, "y");
	ASSERT_EQ(ACT_DISCARD, (int)fixture.verb);
	ASSERT_EQ_FMT(UINT64_C(3001), fixture.cancelled[0], "%lu");
	PASS();
}

TEST run_is_held_and_released_by_one_key(void)
{
	uint64_t counts[STATE_COUNT] = { [STATE_WAITING] = 4, [STATE_SUCCEEDED] = 1 };
	struct rec_run_row row = fixture_run(4127, "deploy", RUN_WAITING, counts, 10, 0);
	struct msg_delta delta = { .id = 0, .turn = 50, .runs = { &row, 1 } };

	open_view(VIEW_RUNS);
	fixture_press(&fixture, "Hy");
	ASSERT_EQ(ACT_HOLD, (int)fixture.verb);
	row.held = true;
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	fixture_press(&fixture, "H");
	ASSERT(shows("Release run 4127 deploy: 4 jobs that haven't started?"));
	fixture_press(&fixture, "y");
	ASSERT_EQ(ACT_RELEASE, (int)fixture.verb);
	PASS();
}

TEST of_a_group_only_what_failed_runs_again(void)
{
	open_view(VIEW_DAG);
	fixture_press(&fixture, "R");
	ASSERT(shows("Retry 1 job of run 4127?"));
	ASSERT(shows("encode[77]"));
	fixture_press(&fixture, "y");
	ASSERT_EQ(ACT_RETRY, (int)fixture.verb);
	ASSERT_STR_EQ("encode[77]", fixture.cancelled_names[0]);
	ASSERT_EQ_FMT((uint64_t)RETRY_FROM, fixture.act_value, "%lu");
	fixture_press(&fixture, "kR");
	ASSERT(shows("Retry 1 job of run 4127?"));
	fixture_press(&fixture, "nggjjH");
	ASSERT(shows("nothing to hold"));
	PASS();
}

TEST worker_is_cordoned_and_drained(void)
{
	struct rec_worker_row row = fixture_worker(2, "w02", WORKER_UP, 48, 12, 110, 200);
	struct msg_delta delta = { .turn = 50, .workers = { &row, 1 } };

	open_view(VIEW_WORKERS);
	ASSERT(shows("C cordon  D drain"));
	fixture_press(&fixture, "jC");
	ASSERT(shows("Cordon worker w02?"));
	ASSERT(shows("12 jobs run on it, 2 are prefetched"));
	fixture_press(&fixture, "\r");
	ASSERT_EQ(0, (int)fixture.set_verb);
	fixture_press(&fixture, "Cy");
	ASSERT_EQ(SET_PAUSE, (int)fixture.set_verb);
	ASSERT_STR_EQ("w02", fixture.set_name);
	answer(1);
	ASSERT(shows("done: w02 is cordoned"));
	row.standing = STANDING_CORDONED;
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	fixture_press(&fixture, "Cy");
	ASSERT_EQ(SET_RESUME, (int)fixture.set_verb);
	fixture_press(&fixture, "Dy");
	ASSERT_EQ(SET_DRAIN, (int)fixture.set_verb);
	PASS();
}

TEST without_the_right_nothing_is_asked(void)
{
	struct msg_welcome welcome = { .version = 2, .cluster = slice_str("prod-a"), .role = ROLE_VIEWER };

	open_view(VIEW_HOME);
	app_connected(fixture.app, &welcome, FIXTURE_NOW);
	fixture_collect(&fixture);
	fixture_press(&fixture, "R");
	ASSERT_EQ(OVERLAY_NONE, (int)fixture.app->overlay);
	ASSERT(shows("you have no right to retry; the role operator is needed"));
	PASS();
}

TEST keys_run_commands_about_the_selected_object(void)
{
	struct rec_worker_row row = fixture_worker(1, "w'; down", WORKER_UP, 48, 12, 110, 200);
	struct msg_delta delta = { .turn = 50, .workers = { &row, 1 } };

	open_view(VIEW_HOME);
	fixture_press(&fixture, "w");
	ASSERT_STR_EQ("explain '4127'", fixture.copied);
	fixture_press(&fixture, "z");
	ASSERT_STR_EQ("undo", fixture.copied);
	fixture_press(&fixture, "4i");
	ASSERT_STR_EQ("worker show 'w01'", fixture.copied);
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	fixture.copied[0] = '\0';
	fixture_press(&fixture, "i");
	ASSERT_STR_EQ("", fixture.copied);
	PASS();
}

SUITE(tui_acts)
{
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(failed_jobs_of_a_run_run_again);
	RUN_TEST(old_failure_is_retried_or_discarded_from_needs_you);
	RUN_TEST(run_is_held_and_released_by_one_key);
	RUN_TEST(of_a_group_only_what_failed_runs_again);
	RUN_TEST(worker_is_cordoned_and_drained);
	RUN_TEST(without_the_right_nothing_is_asked);
	RUN_TEST(keys_run_commands_about_the_selected_object);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_acts);
	GREATEST_MAIN_END();
}
