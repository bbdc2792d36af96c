/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job, a run or a worker waits for is on the screen: reasons, holds, votes, deadlines, passes, sub-runs. */
#include "proto/reasons.h"
#include "tests/unit/tui_fixture.h"
#include "tui/views.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct fixture fixture;
static struct grid grid;

static void setup_cb(void *data)
{
	(void)data;
	fixture_fill(&fixture, VIEW_DAG, false, false, 100, 24);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	fixture_press(&fixture, "G");
}

static void teardown_cb(void *data)
{
	(void)data;
	grid_free(&grid);
	fixture_close(&fixture);
}

/* The last job of the graph, publish, with something else. */
static struct rec_job_row publish(enum job_state state)
{
	return (struct rec_job_row){ .job = 1034, .run = FIXTURE_RUN, .index = 134, .name = slice_str("publish"), .state = state };
}

static void tell(struct rec_job_row row)
{
	static uint64_t turn = 100;
	struct msg_delta delta = { .id = fixture.graph_id, .turn = turn++, .jobs = { &row, 1 } };

	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
}

static bool shows(const char *text)
{
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	return fixture_has(&grid, text);
}

TEST visible_job_shows_the_reason_of_explain(void)
{
	struct rec_job_row row = publish(STATE_READY);
	struct msg_snapshot msg = { .turn = 100, .jobs = { &row, 1 } };

	tell(row);
	app_tick(fixture.app, FIXTURE_NOW);
	fixture_collect(&fixture);
	ASSERT_EQ_FMT((uint64_t)134, fixture.reasons_first, "%lu");
	ASSERT_EQ_FMT((uint64_t)1, fixture.reasons_count, "%lu");
	ASSERT_FALSE(app_loaded(fixture.app));
	row.why_code = REASON_NO_WORKER_LABELS;
	row.why = slice_str("no connected worker has the label gpu\x1b[2J");
	msg.id = fixture.reasons_id;
	fixture.reasons_id = 0;
	fixture_give(&fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
	ASSERT(app_loaded(fixture.app));
	ASSERT(shows("publish         QUEUE  no connected worker has the label gpu\\x1b[2J"));
	/* It is asked for again after a while, and never while the screen is frozen. */
	app_tick(fixture.app, FIXTURE_NOW + 1000);
	fixture_collect(&fixture);
	ASSERT_EQ(0, fixture.reasons_id);
	ASSERT(app_wait_ms(fixture.app, FIXTURE_NOW + 1000) <= 2000);
	fixture_press(&fixture, "Z");
	app_tick(fixture.app, FIXTURE_NOW + 3000);
	fixture_collect(&fixture);
	ASSERT_EQ(0, fixture.reasons_id);
	fixture_press(&fixture, "Z");
	app_tick(fixture.app, FIXTURE_NOW + 3000);
	fixture_collect(&fixture);
	ASSERT(fixture.reasons_id != 0);
	/* A reason of another state isn't shown. */
	tell(publish(STATE_RUNNING));
	ASSERT_FALSE(shows("no connected worker"));
	PASS();
}

TEST job_on_hold_says_so(void)
{
	struct rec_job_row row = publish(STATE_WAITING);

	row.held = true;
	tell(row);
	ASSERT(shows("publish         HOLD"));
	row.held = false;
	tell(row);
	ASSERT(shows("publish         WAIT"));
	PASS();
}

TEST gate_shows_votes_and_when_it_expires(void)
{
	struct rec_job_row row = publish(STATE_APPROVAL);

	row.gate_have = 1;
	row.gate_count = 2;
	row.due_ms = FIXTURE_NOW + 25 * 60000;
	tell(row);
	ASSERT(shows("publish         APPR   1 of 2 approved  expires in 25m"));
	PASS();
}

TEST running_job_shows_pass_sub_run_and_deadline(void)
{
	struct rec_job_row row = publish(STATE_RUNNING);

	row.pass = 3;
	row.loop_max = 10;
	row.started_ms = FIXTURE_NOW - 5000;
	row.worker = slice_str("w03");
	row.deadline_ms = FIXTURE_NOW + 90000;
	tell(row);
	ASSERT(shows("publish         RUN    pass 3/10  deadline in 90s  0:05  w03"));
	row.pass = 0;
	row.deadline_ms = 0;
	row.child = 4130;
	row.child_jobs = 4;
	tell(row);
	ASSERT(shows("publish         RUN    sub-run #4130  0:05  w03"));
	PASS();
}

TEST sub_run_opens_and_esc_goes_back_to_its_job(void)
{
	struct rec_job_row row = publish(STATE_RUNNING), inner[1];
	struct msg_snapshot graph = { .turn = 9, .jobs = { inner, 1 } };

	row.child = 4130;
	row.child_jobs = 1;
	tell(row);
	fixture_press(&fixture, "Gl");
	ASSERT(shows("sub-run #4130: Enter opens it"));
	fixture_press(&fixture, "$");
	ASSERT_EQ(4130, fixture.app->model.graph.run);
	inner[0] = (struct rec_job_row){ .job = 2000, .run = 4130, .name = slice_str("inner"), .state = STATE_RUNNING };
	graph.id = fixture.graph_id;
	fixture_give(&fixture, OP_SNAPSHOT, &graph, FIXTURE_NOW);
	ASSERT(shows("#4130") && shows("inner"));
	fixture_press(&fixture, "~");
	ASSERT_EQ(VIEW_DAG, (int)fixture.app->view);
	ASSERT_EQ(4127, fixture.app->model.graph.run);
	fixture_graph(&fixture);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT_EQm("the job of the sub-run is selected, although another failed", 134, dag_selected(fixture.app)->job);
	fixture_press(&fixture, "~");
	ASSERT_EQ(VIEW_HOME, (int)fixture.app->view);
	PASS();
}

TEST first_time_of_a_job_is_no_retry(void)
{
	struct rec_job_row row = publish(STATE_DELAYED);

	row.due_ms = FIXTURE_NOW + 60000;
	tell(row);
	ASSERT(shows("publish         LATER"));
	PASS();
}

static void tell_run(uint64_t *counts, bool held)
{
	struct rec_run_row row = fixture_run(4127, "deploy", RUN_RUNNING, counts, 600, 0);
	struct msg_delta delta = { .id = fixture.runs_id, .turn = 200, .runs = { &row, 1 } };

	row.held = held;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
}

TEST run_that_waits_for_people_has_no_eta(void)
{
	uint64_t gate[STATE_COUNT] = { [STATE_APPROVAL] = 1, [STATE_WAITING] = 2, [STATE_SUCCEEDED] = 3 };
	uint64_t both[STATE_COUNT] = { [STATE_APPROVAL] = 1, [STATE_RUNNING] = 2, [STATE_SUCCEEDED] = 3 };
	uint64_t queued[STATE_COUNT] = { [STATE_READY] = 3, [STATE_SUCCEEDED] = 3 };

	fixture_press(&fixture, "2");
	tell_run(gate, false);
	ASSERT(shows("APPR") && shows("10:00  gate"));
	tell_run(both, false);
	ASSERT(shows("10:00 ~10m+"));
	tell_run(queued, true);
	ASSERT(shows("HOLD") && shows("10:00  hold"));
	tell_run(queued, false);
	ASSERT(shows("10:00  ~10m"));
	PASS();
}

TEST selected_run_says_why_it_waits(void)
{
	uint64_t counts[STATE_COUNT] = { [STATE_READY] = 3 };
	struct rec_run_row row = fixture_run(4127, "deploy", RUN_RUNNING, counts, 600, 0);
	struct msg_snapshot msg = { .turn = 200, .runs = { &row, 1 } };

	fixture_press(&fixture, "2");
	fixture.run_reasons = true;
	tell_run(counts, false);
	app_tick(fixture.app, FIXTURE_NOW + 3000);
	fixture_collect(&fixture);
	msg.id = fixture.app->run_reason.id;
	ASSERT(msg.id != 0);
	row.why = slice_str("load: all slots are busy\x1b[2J");
	fixture_give(&fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
	ASSERT(shows("3 waiting, 0 ok  load: all slots are busy\\x1b[2J"));
	/* Another run hasn't this reason. */
	fixture_press(&fixture, "j");
	ASSERT_FALSE(shows("all slots are busy"));
	PASS();
}

TEST worker_that_gets_no_jobs_says_why(void)
{
	struct rec_worker_row row = fixture_worker(3, "w03", WORKER_UP, 8, 1, 30, 100);
	struct msg_delta delta = { .id = fixture.runs_id, .turn = 200, .workers = { &row, 1 } };

	fixture_press(&fixture, "4");
	row.standing = STANDING_CORDONED;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT(shows("cordoned"));
	row.standing = STANDING_DRAINING;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT(shows("draining"));
	row.standing = STANDING_NONE;
	row.pool_state = POOL_DRAINING;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT(shows("pool drains"));
	row.pool_state = POOL_ACTIVE;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT_FALSE(shows("draining") || shows("cordoned"));
	PASS();
}

TEST sub_run_names_the_run_above_it(void)
{
	uint64_t counts[STATE_COUNT] = { [STATE_RUNNING] = 1 };
	struct rec_run_row row = fixture_run(4127, "deploy", RUN_RUNNING, counts, 600, 0);
	struct msg_delta delta = { .id = fixture.runs_id, .turn = 200, .runs = { &row, 1 } };

	row.parent_run = 4100;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT(shows("deploy (sub-run of #4100) #4127: 1 running"));
	PASS();
}

SUITE(tui_waits)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(visible_job_shows_the_reason_of_explain);
	RUN_TEST(job_on_hold_says_so);
	RUN_TEST(gate_shows_votes_and_when_it_expires);
	RUN_TEST(running_job_shows_pass_sub_run_and_deadline);
	RUN_TEST(sub_run_opens_and_esc_goes_back_to_its_job);
	RUN_TEST(first_time_of_a_job_is_no_retry);
	RUN_TEST(run_that_waits_for_people_has_no_eta);
	RUN_TEST(selected_run_says_why_it_waits);
	RUN_TEST(worker_that_gets_no_jobs_says_why);
	RUN_TEST(sub_run_names_the_run_above_it);
}

int main(int argc, char **argv)
{
	fixture_utc();
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_waits);
	GREATEST_MAIN_END();
}
