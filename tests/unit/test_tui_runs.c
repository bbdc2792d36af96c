/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of runs goes on beyond the newest ones, and failures don't vanish behind newer runs. */
#include "tests/unit/tui_fixture.h"
#include "tui/views.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

#define PAGE 50

static struct fixture fixture;
static struct grid grid;

static void give_page(uint64_t id, uint64_t last, uint64_t first)
{
	uint64_t counts[STATE_COUNT] = { [STATE_SUCCEEDED] = 1 };
	uint64_t ended[RUN_STATE_COUNT] = { [RUN_SUCCEEDED] = 3 * PAGE }, jobs[STATE_COUNT] = { [STATE_SUCCEEDED] = 3 * PAGE };
	struct rec_run_row rows[PAGE];
	struct msg_snapshot msg = { .id = id, .turn = 7, .runs = { rows, 0 }, .cursor = first > 1 ? first : 0,
		.ended_runs = { ended, RUN_STATE_COUNT }, .ended_jobs = { jobs, STATE_COUNT } };

	for (uint64_t run = last; run >= first; run--)
		rows[msg.runs.n++] = fixture_run(run, run == 7 ? "seven" : "night", RUN_SUCCEEDED, counts, 100, 50);
	fixture_give(&fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
}

/* The newest of three pages. */
static void setup_cb(void *data)
{
	struct app_options options = { .view = VIEW_RUNS };
	struct msg_snapshot rest = { .turn = 7 };

	(void)data;
	fixture_open(&fixture, &options, 80, 24);
	give_page(fixture.runs_id, 3 * PAGE, 2 * PAGE + 1);
	rest.id = fixture.runs_id;
	fixture_give(&fixture, OP_SNAPSHOT, &rest, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
}

static void teardown_cb(void *data)
{
	(void)data;
	grid_free(&grid);
	fixture_close(&fixture);
}

static bool shows(const char *text)
{
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	return fixture_has(&grid, text);
}

TEST list_goes_on_when_the_selection_nears_its_end(void)
{
	ASSERT(shows("RUNS (newest 50 of 150)"));
	fixture_press(&fixture, "j");
	ASSERT_EQ(0, fixture.older_id);
	for (int i = 0; i < PAGE; i++)
		fixture_press(&fixture, "j");
	ASSERT_EQ_FMT((uint64_t)2 * PAGE + 1, fixture.older_cursor, "%lu");
	ASSERT(shows("reading on"));
	give_page(fixture.older_id, 2 * PAGE, PAGE + 1);
	ASSERT(shows("RUNS (newest 100 of 150)"));
	ASSERT_EQm("the selection stays", 2 * PAGE + 1, fixture.app->run);
	fixture_press(&fixture, "j");
	ASSERT_EQ(2 * PAGE, fixture.app->run);
	PASS();
}

TEST last_key_reads_all_runs_and_selects_the_oldest(void)
{
	fixture_press(&fixture, "G");
	ASSERT_EQ_FMT((uint64_t)2 * PAGE + 1, fixture.older_cursor, "%lu");
	give_page(fixture.older_id, 2 * PAGE, PAGE + 1);
	ASSERT_EQ_FMT((uint64_t)PAGE + 1, fixture.older_cursor, "%lu");
	give_page(fixture.older_id, PAGE, 1);
	ASSERT_EQ(1, fixture.app->run);
	ASSERT(shows("RUNS (150)"));
	fixture.older_id = 0;
	fixture_press(&fixture, "G");
	ASSERT_EQ(0, fixture.older_id);
	ASSERT(app_loaded(fixture.app));
	PASS();
}

TEST search_says_that_the_list_goes_on(void)
{
	fixture_press(&fixture, "/seven$");
	ASSERT(shows("no match for seven in these runs; G reads all of them"));
	fixture_press(&fixture, "G");
	give_page(fixture.older_id, 2 * PAGE, PAGE + 1);
	give_page(fixture.older_id, PAGE, 1);
	fixture_press(&fixture, "/seven$");
	ASSERT_EQ(7, fixture.app->run);
	PASS();
}

/* The master's changes were lost: it sends its newest runs again, and the selected one is older. */
TEST selection_among_older_runs_survives_a_new_list(void)
{
	struct msg_delta cut = { .turn = 8, .cut = true };
	struct msg_snapshot rest = { .turn = 9 };

	fixture_press(&fixture, "G");
	give_page(fixture.older_id, 2 * PAGE, PAGE + 1);
	give_page(fixture.older_id, PAGE, 1);
	cut.id = rest.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &cut, FIXTURE_NOW);
	give_page(fixture.runs_id, 3 * PAGE, 2 * PAGE + 1);
	fixture_give(&fixture, OP_SNAPSHOT, &rest, FIXTURE_NOW);
	ASSERT_EQ_FMT((uint64_t)2 * PAGE + 1, fixture.older_cursor, "%lu");
	give_page(fixture.older_id, 2 * PAGE, PAGE + 1);
	give_page(fixture.older_id, PAGE, 1);
	ASSERT_EQ(1, fixture.app->run);
	PASS();
}

TEST page_that_comes_while_frozen_is_asked_for_again(void)
{
	fixture_press(&fixture, "GZ");
	give_page(fixture.older_id, 2 * PAGE, PAGE + 1);
	ASSERT(shows("RUNS (newest 50 of 150)"));
	fixture.older_id = 0;
	fixture_press(&fixture, "ZG");
	ASSERT(fixture.older_id != 0);
	PASS();
}

TEST failure_of_an_old_run_needs_somebody_until_it_is_discarded(void)
{
	uint64_t counts[STATE_COUNT] = { [STATE_TIMED_OUT] = 1 };
	struct rec_run_row row = fixture_run(3, "import", RUN_FAILED, counts, 100000, 90000);
	struct msg_delta delta = { .turn = 9, .runs = { &row, 1 } };

	fixture_press(&fixture, "1");
	ASSERT(shows("NEEDS YOU (2)"));
	/* The name of the failed job is escaped. */
	ASSERT(fixture_has(&grid, "3001/fe\\x1b[2Jtch"));
	ASSERT(fixture_has(&grid, "4126/load             exit 1  and 1 more"));
	row.run = 3001;
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT(shows("NEEDS YOU (1)"));
	PASS();
}

TEST service_in_a_crash_loop_needs_somebody(void)
{
	uint64_t counts[STATE_COUNT] = { [STATE_DELAYED] = 1 };
	struct rec_run_row row = fixture_run(3002, "web", RUN_WAITING, counts, 100000, 0);
	struct msg_delta delta = { .turn = 9, .runs = { &row, 1 } };

	fixture_press(&fixture, "1");
	row.crash_loop = slice_str("ap\33i");
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT(shows("NEEDS YOU (3)"));
	ASSERT(fixture_has(&grid, "3002/ap\\x1bi"));
	ASSERT(fixture_has(&grid, "the service ends again and again"));
	row.crash_loop = slice_str("");
	delta.turn++;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT(shows("NEEDS YOU (2)"));
	PASS();
}

TEST dead_letters_are_asked_for_again_when_they_change(void)
{
	uint64_t counts[STATE_COUNT] = { [STATE_FAILED] = 1 };
	struct rec_run_row row = fixture_run(2 * PAGE + 5, "night", RUN_FAILED, counts, 100, 50);
	struct msg_delta delta = { .turn = 9, .runs = { &row, 1 } };

	ASSERT_EQm("only Home needs them", 0, fixture.letters_asked);
	fixture_press(&fixture, "1");
	ASSERT_EQ(1, fixture.letters_asked);
	row.dead = 1;
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT_EQm("not at once", 1, fixture.letters_asked);
	ASSERT(app_wait_ms(fixture.app, FIXTURE_NOW) <= 1000);
	app_tick(fixture.app, FIXTURE_NOW + 1000);
	fixture_collect(&fixture);
	ASSERT_EQ(2, fixture.letters_asked);
	PASS();
}

SUITE(tui_runs)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(list_goes_on_when_the_selection_nears_its_end);
	RUN_TEST(last_key_reads_all_runs_and_selects_the_oldest);
	RUN_TEST(search_says_that_the_list_goes_on);
	RUN_TEST(selection_among_older_runs_survives_a_new_list);
	RUN_TEST(page_that_comes_while_frozen_is_asked_for_again);
	RUN_TEST(failure_of_an_old_run_needs_somebody_until_it_is_discarded);
	RUN_TEST(service_in_a_crash_loop_needs_somebody);
	RUN_TEST(dead_letters_are_asked_for_again_when_they_change);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_runs);
	GREATEST_MAIN_END();
}
