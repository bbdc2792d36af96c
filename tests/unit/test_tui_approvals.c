/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Approvals: a gate with all that a person must know, and what was decided about it before. */
#include "tests/unit/tui_fixture.h"
#include "tui/views.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct fixture fixture;
static struct grid grid;

static void give_gates(uint64_t have)
{
	struct slice unblocks[] = { slice_str("publish"), slice_str("tell") };
	struct slice will[] = { slice_str("./publish.sh --env prod\x1b[2J"), slice_str("") };
	struct slice team = slice_str("@release (anna, bert)");
	struct rec_job_row gates[] = {
		{ .job = 7, .run = 4127, .index = 132, .name = slice_str("qa"), .state = STATE_APPROVAL, .gate_count = 2, .gate_have = have,
		  .gate_message = slice_str("policy prod-change: env=prod needs two people of the release team, and this is a long question "
					    "that takes more than one row\nsecond line"),
		  .due_ms = FIXTURE_NOW + 25 * 60000, .unblocks = { unblocks, 2 }, .will = { will, 2 }, .gate_shown = { &team, 1 } },
		{ .job = 8, .run = 4400, .index = 3, .name = slice_str("o\x1b[31mther"), .state = STATE_APPROVAL, .gate_count = 1 },
		{ .job = 9, .run = 4401, .name = slice_str("lost"), .state = STATE_UNKNOWN },
	};
	struct msg_snapshot list = { .id = fixture.gates_id, .turn = 51, .jobs = { gates, 3 } };

	fixture_give(&fixture, OP_SNAPSHOT, &list, FIXTURE_NOW);
}

static void open_approvals(int width, int height)
{
	uint64_t counts[STATE_COUNT] = { [STATE_APPROVAL] = 1, [STATE_SUCCEEDED] = 1 };
	struct rec_run_row row = fixture_run(4127, "deploy", RUN_APPROVAL, counts, 0, 0);
	struct msg_delta delta = { .turn = 50, .runs = { &row, 1 } };

	fixture_fill(&fixture, VIEW_APPROVALS, false, false, width, height);
	row.owner = slice_str("carla");
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	app_tick(fixture.app, FIXTURE_NOW + 1000);
	fixture_collect(&fixture);
	give_gates(1);
}

static void give_decisions(void)
{
	struct rec_decision rows[] = {
		{ .run = 4127, .job = 7, .name = slice_str("qa"), .person = slice_str("dora"), .verdict = VERDICT_PUSHED_BACK,
		  .target = slice_str("unpack"), .reason = slice_str("wrong \x1b[2J version"), .wall_ms = FIXTURE_NOW - 900000 },
		{ .run = 4127, .job = 6, .name = slice_str("another"), .person = slice_str("zoe"), .verdict = VERDICT_APPROVED, .wall_ms = FIXTURE_NOW },
		{ .run = 4127, .job = 7, .name = slice_str("qa"), .person = slice_str("anna"), .verdict = VERDICT_APPROVED, .wall_ms = FIXTURE_NOW - 60000 },
	};
	struct msg_snapshot msg = { .id = fixture.decisions_id, .turn = 52, .decisions = { rows, 3 } };

	fixture_give(&fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
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

TEST gate_says_what_it_is_about(void)
{
	open_approvals(80, 24);
	ASSERT(shows("APPROVALS (2)"));
	ASSERT(shows("6 Approvals(1)"));
	ASSERT(shows("> 4127/qa"));
	ASSERT(shows("1 of 2"));
	ASSERT(shows("question  policy prod-change"));
	ASSERT(shows("takes more than one row"));
	ASSERT(shows("second line"));
	ASSERT(shows("who may   @release (anna, bert)"));
	ASSERT(shows("approve   publish: ./publish.sh --env prod\\x1b[2J"));
	ASSERT(shows("as        carla"));
	ASSERT(fixture.decisions_id != 0);
	ASSERT_FALSE(app_loaded(fixture.app));
	give_decisions();
	ASSERT(shows("anna approved"));
	ASSERT(shows("dora pushed back to unpack: wrong \\x1b[2J version"));
	ASSERT_FALSE(shows("zoe"));
	/* A further vote is a further decision. */
	fixture.decisions_id = 0;
	app_tick(fixture.app, FIXTURE_NOW + 20000);
	fixture_collect(&fixture);
	give_gates(2);
	ASSERT(fixture.decisions_id != 0);
	PASS();
}

TEST keys_decide_on_the_selected_gate(void)
{
	struct rec_job_row row = { .job = 8, .run = 4400, .name = slice_str("o"), .state = STATE_APPROVAL, .digest = slice_str("12345678") };
	struct msg_snapshot answer = { .turn = 61, .jobs = { &row, 1 } };

	open_approvals(80, 24);
	give_decisions();
	fixture_press(&fixture, "ja");
	answer.id = fixture.query_id;
	fixture_give(&fixture, OP_SNAPSHOT, &answer, FIXTURE_NOW);
	fixture_press(&fixture, "$y");
	ASSERT_EQ(ACT_APPROVE, (int)fixture.verb);
	ASSERT_EQ_FMT(UINT64_C(4400), fixture.cancelled[0], "%lu");
	fixture_press(&fixture, "k$");
	ASSERT_EQ(VIEW_DAG, (int)fixture.app->view);
	ASSERT_EQ_FMT(UINT64_C(4127), fixture.app->run, "%lu");
	PASS();
}

TEST nothing_waits(void)
{
	struct msg_snapshot none = { .turn = 60 };

	open_approvals(160, 48);
	ASSERT(shows("APPROVALS (2)"));
	app_tick(fixture.app, FIXTURE_NOW + 30000);
	fixture_collect(&fixture);
	none.id = fixture.gates_id;
	fixture_give(&fixture, OP_SNAPSHOT, &none, FIXTURE_NOW);
	ASSERT(shows("no gate waits for people"));
	fixture_press(&fixture, "jkgGar$");
	ASSERT_EQ(OVERLAY_NONE, (int)fixture.app->overlay);
	PASS();
}

SUITE(tui_approvals)
{
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(gate_says_what_it_is_about);
	RUN_TEST(keys_decide_on_the_selected_gate);
	RUN_TEST(nothing_waits);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_approvals);
	GREATEST_MAIN_END();
}
