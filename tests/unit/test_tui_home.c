/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Home: keys go through NEEDS YOU and the runs as through one list, and what needs a person leads to what it is about. */
#include "tests/unit/tui_fixture.h"
#include "tui/views.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct fixture fixture;
static struct grid grid;

static void setup_cb(void *data)
{
	(void)data;
	fixture_fill(&fixture, VIEW_HOME, false, false, 80, 24);
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

/* Run 4400 has a gate that waits. */
static void gate_asks(void)
{
	uint64_t counts[STATE_COUNT] = { [STATE_APPROVAL] = 1, [STATE_SUCCEEDED] = 1 };
	struct rec_run_row row = fixture_run(4400, "release", RUN_APPROVAL, counts, 0, 0);
	struct rec_job_row gate = { .job = 7, .run = 4400, .index = 1, .name = slice_str("qa"), .state = STATE_APPROVAL, .gate_count = 2 };
	struct msg_delta delta = { .id = fixture.runs_id, .turn = 50, .runs = { &row, 1 } };
	struct msg_snapshot list = { .turn = 51, .jobs = { &gate, 1 } };

	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	list.id = fixture.gates_id;
	fixture_give(&fixture, OP_SNAPSHOT, &list, FIXTURE_NOW);
}

TEST keys_go_from_the_runs_to_what_needs_a_person(void)
{
	ASSERT(shows("\n> 4127"));
	fixture_press(&fixture, "k");
	ASSERT(shows("\n> 4129"));
	fixture_press(&fixture, "k");
	ASSERT(fixture.app->on_needs);
	ASSERT(shows("\n> \xe2\x9c\x97 TIME  3001/fe"));
	ASSERT_FALSE(shows("\n> 4"));
	fixture_press(&fixture, "k");
	ASSERT(shows("\n> \xe2\x9c\x97 FAIL  4126/load"));
	ASSERT_EQ_FMT(UINT64_C(4126), fixture.app->run, "%lu");
	fixture_press(&fixture, "g");
	ASSERT(shows("\n> ? GONE  w11"));
	fixture_press(&fixture, "jjjjj");
	ASSERT_FALSE(fixture.app->on_needs);
	ASSERT(shows("\n> 4129"));
	fixture_press(&fixture, "\t");
	ASSERT(shows("\n> ? GONE  w11"));
	fixture_press(&fixture, "\t");
	ASSERT(shows("\n> 4129"));
	fixture_press(&fixture, "\tG");
	ASSERT(shows("\n> 4120"));
	PASS();
}

TEST enter_goes_to_the_job_that_failed(void)
{
	fixture_press(&fixture, "\tjjj$");
	ASSERT_EQ(VIEW_DAG, (int)fixture.app->view);
	ASSERT_EQ_FMT(UINT64_C(4126), fixture.app->run, "%lu");
	fixture_press(&fixture, "~");
	ASSERT_EQ(VIEW_HOME, (int)fixture.app->view);
	ASSERT(shows("\n> \xe2\x9c\x97 FAIL  4126/load"));
	PASS();
}

TEST enter_goes_to_the_worker(void)
{
	fixture_press(&fixture, "\tj$");
	ASSERT_EQ(VIEW_WORKERS, (int)fixture.app->view);
	ASSERT(shows("\n> w12"));
	fixture_press(&fixture, "1c");
	ASSERT_EQ(OVERLAY_NONE, (int)fixture.app->overlay);
	ASSERT(shows("a worker is selected"));
	fixture_press(&fixture, "l");
	ASSERT_EQ(VIEW_HOME, (int)fixture.app->view);
	PASS();
}

/* The log opens as soon as the graph of the run has come; another key drops the wish. */
TEST log_of_what_failed_opens(void)
{
	static struct rec_job_row rows[2];
	struct msg_snapshot graph = { .turn = 60, .jobs = { rows, 2 } };

	for (size_t i = 0; i < 2; i++)
		rows[i] = (struct rec_job_row){ .job = 700 + i, .run = 4126, .index = i, .name = slice_str(i ? "after" : "load"),
			.state = i ? STATE_SKIPPED : STATE_FAILED, .epoch = 5, .tries = 1, .outcome = OUTCOME_EXIT, .code = 1 };
	fixture_press(&fixture, "\tjjjl");
	ASSERT_EQ(VIEW_HOME, (int)fixture.app->view);
	graph.id = fixture.graph_id;
	fixture_give(&fixture, OP_SNAPSHOT, &graph, FIXTURE_NOW);
	ASSERT_EQ(VIEW_LOG, (int)fixture.app->view);
	ASSERT_STR_EQ("load", fixture.app->log.name);
	fixture_press(&fixture, "~jl");
	ASSERT_EQ(VIEW_HOME, (int)fixture.app->view);
	fixture_press(&fixture, "k");
	graph = (struct msg_snapshot){ .id = fixture.graph_id, .turn = 61 };
	fixture_give(&fixture, OP_SNAPSHOT, &graph, FIXTURE_NOW);
	ASSERT_EQ(VIEW_HOME, (int)fixture.app->view);
	PASS();
}

TEST gate_is_decided_from_home(void)
{
	struct rec_job_row row = { .job = 7, .run = 4400, .name = slice_str("qa"), .state = STATE_APPROVAL, .gate_count = 2,
		.gate_message = slice_str("good?"), .digest = slice_str("12345678") };
	struct msg_snapshot answer = { .turn = 61, .jobs = { &row, 1 } };

	gate_asks();
	fixture_press(&fixture, "a");
	ASSERT_EQ(OVERLAY_NONE, (int)fixture.app->overlay);
	fixture_press(&fixture, "\tjj");
	ASSERT(shows("\n> \xe2\x9a\x91 APPR  4400/qa"));
	ASSERT(shows("a approve  r reject"));
	fixture_press(&fixture, "a");
	answer.id = fixture.query_id;
	fixture_give(&fixture, OP_SNAPSHOT, &answer, FIXTURE_NOW);
	ASSERT(shows("good?"));
	fixture_press(&fixture, "$y");
	ASSERT_EQ(ACT_APPROVE, (int)fixture.verb);
	ASSERT_STR_EQ("qa", fixture.cancelled_names[0]);
	ASSERT_EQ_FMT(UINT64_C(4400), fixture.cancelled[0], "%lu");
	PASS();
}

TEST selection_goes_on_when_its_thing_is_dealt_with(void)
{
	struct rec_worker_row worker = fixture_worker(4, "w11", WORKER_UP, 8, 0, 0, 0);
	struct msg_delta delta = { .id = fixture.runs_id, .turn = 50, .workers = { &worker, 1 } };

	fixture_press(&fixture, "\t");
	ASSERT(shows("\n> ? GONE  w11"));
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT(shows("\n> ? LOST  w12"));
	PASS();
}

SUITE(tui_home)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(keys_go_from_the_runs_to_what_needs_a_person);
	RUN_TEST(enter_goes_to_the_job_that_failed);
	RUN_TEST(enter_goes_to_the_worker);
	RUN_TEST(log_of_what_failed_opens);
	RUN_TEST(gate_is_decided_from_home);
	RUN_TEST(selection_goes_on_when_its_thing_is_dealt_with);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_home);
	GREATEST_MAIN_END();
}
