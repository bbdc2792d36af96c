/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate dialog: a decision applies to what was shown, needs its reason, and is sent by y alone. */
#include "tests/unit/tui_fixture.h"
#include "tui/views.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

/* Set the state of the graph's gate and select it. */
static void gate_asks(struct fixture *fixture, enum job_state state)
{
	const struct tui_graph *graph = &fixture->app->model.graph;
	struct rec_job_row row = { .run = FIXTURE_RUN, .name = slice_str("qa-approve"), .state = state };
	struct msg_delta delta = { .id = fixture->graph_id, .turn = 60, .jobs = { &row, 1 } };

	for (size_t i = 0; i < graph->count; i++)
		if (slice_eq(graph->jobs[i].name, row.name)) {
			row.job = graph->jobs[i].job;
			row.index = i;
			fixture->app->dag.job = (uint32_t)i;
			fixture->app->dag.chosen = true;
		}
	fixture_give(fixture, OP_DELTA, &delta, FIXTURE_NOW);
}

static void gate_answers(struct fixture *fixture, enum job_state state)
{
	struct slice unblocks = slice_str("publish"), team = slice_str("@release (anna)");
	struct rec_job_row row = { .job = 1, .run = FIXTURE_RUN, .name = slice_str("qa-approve"), .state = state,
		.gate_count = 2, .gate_have = 1, .gate_message = slice_str("good\x1b[2J?"), .digest = slice_str("12345678"),
		.unblocks = { &unblocks, 1 }, .gate_shown = { &team, 1 } };
	struct msg_snapshot snapshot = { .id = fixture->query_id, .turn = 61, .jobs = { &row, 1 } };

	fixture_give(fixture, OP_SNAPSHOT, &snapshot, FIXTURE_NOW);
}

TEST gates_are_decided(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	gate_asks(&fixture, STATE_WAITING);
	fixture_press(&fixture, "a");
	ASSERT_EQ(OVERLAY_NONE, (int)fixture.app->overlay);
	gate_asks(&fixture, STATE_APPROVAL);
	/* Nothing is sent before the gate's question is shown, nor by any key but y. */
	fixture_press(&fixture, "a$y~");
	ASSERT_EQ(0, fixture.cancel_count);
	fixture_press(&fixture, "a");
	gate_answers(&fixture, STATE_APPROVAL);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "good"));
	ASSERT(fixture_has(&grid, "unblocks publish"));
	ASSERT(fixture_has(&grid, "1 of 2 people have approved; who may: @release (anna)"));
	fixture_press(&fixture, "fine$n");
	ASSERT_EQ(0, fixture.cancel_count);
	fixture_press(&fixture, "a");
	gate_answers(&fixture, STATE_APPROVAL);
	fixture_press(&fixture, "CHG-1182$y");
	ASSERT_EQ(1, fixture.cancel_count);
	ASSERT_EQ(ACT_APPROVE, (int)fixture.verb);
	ASSERT_STR_EQ("qa-approve", fixture.cancelled_names[0]);
	ASSERT_STR_EQ("CHG-1182", fixture.act_text);
	ASSERT_STR_EQ("12345678", fixture.act_digest);
	/* A rejection needs a reason. A paste is taken as the reason and confirms nothing. */
	fixture_press(&fixture, "r");
	gate_answers(&fixture, STATE_APPROVAL);
	fixture_press(&fixture, "$$y~");
	ASSERT_EQ(1, fixture.cancel_count);
	fixture_press(&fixture, "r");
	gate_answers(&fixture, STATE_APPROVAL);
	app_key(fixture.app, 'b' | TUI_KEY_PASTED, FIXTURE_NOW);
	fixture_press(&fixture, "ad$");
	app_key(fixture.app, 'y' | TUI_KEY_PASTED, FIXTURE_NOW);
	fixture_press(&fixture, "y");
	ASSERT_EQ(2, fixture.cancel_count);
	ASSERT_EQ(ACT_REJECT, (int)fixture.verb);
	ASSERT_STR_EQ("bad", fixture.act_text);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

TEST gates_are_pushed_back(void)
{
	struct fixture fixture;

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	gate_asks(&fixture, STATE_APPROVAL);
	fixture_press(&fixture, "p");
	gate_answers(&fixture, STATE_APPROVAL);
	/* The selection moves on; the decision is still on the gate that the dialog was opened for. */
	fixture.app->dag.job = 0;
	fixture_press(&fixture, "encode$too dark$y");
	ASSERT_EQ(1, fixture.cancel_count);
	ASSERT_EQ(ACT_PUSHBACK, (int)fixture.verb);
	ASSERT_STR_EQ("qa-approve", fixture.cancelled_names[0]);
	ASSERT_STR_EQ("encode", fixture.act_target);
	ASSERT_STR_EQ("too dark", fixture.act_text);
	/* A gate that was decided meanwhile can't be decided again. */
	gate_asks(&fixture, STATE_APPROVAL);
	fixture_press(&fixture, "a");
	gate_answers(&fixture, STATE_SUCCEEDED);
	ASSERT_EQ(OVERLAY_NONE, (int)fixture.app->overlay);
	fixture_press(&fixture, "$y");
	ASSERT_EQ(1, fixture.cancel_count);
	fixture_close(&fixture);
	PASS();
}

/* The dialog has no form for fields: it names the command that takes them, and decides nothing. */
TEST gate_with_fields_names_the_command(void)
{
	struct slice needed = slice_str("ver enum 1.2|1.3"), optional = slice_str("note? text");
	struct rec_job_row row = { .job = 1, .run = FIXTURE_RUN, .name = slice_str("qa-approve"), .state = STATE_APPROVAL,
		.gate_count = 1, .digest = slice_str("12345678"), .gate_fields = { &needed, 1 } };
	struct msg_snapshot snapshot = { .turn = 61, .jobs = { &row, 1 } };
	struct fixture fixture;

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	gate_asks(&fixture, STATE_APPROVAL);
	fixture_press(&fixture, "a");
	snapshot.id = fixture.query_id;
	fixture_give(&fixture, OP_SNAPSHOT, &snapshot, FIXTURE_NOW);
	ASSERT_EQ(OVERLAY_NONE, (int)fixture.app->overlay);
	ASSERT(strstr(fixture.app->notice, "/qa-approve --set ver=VALUE"));
	/* A rejection needs no values, and neither does an approval of a gate whose fields may all be left out. */
	fixture_press(&fixture, "r");
	snapshot.id = fixture.query_id;
	fixture_give(&fixture, OP_SNAPSHOT, &snapshot, FIXTURE_NOW);
	ASSERT_EQ(OVERLAY_GATE, (int)fixture.app->overlay);
	fixture_press(&fixture, "~");
	row.gate_fields.at = &optional;
	fixture_press(&fixture, "a");
	snapshot.id = fixture.query_id;
	fixture_give(&fixture, OP_SNAPSHOT, &snapshot, FIXTURE_NOW);
	ASSERT_EQ(OVERLAY_GATE, (int)fixture.app->overlay);
	fixture_close(&fixture);
	PASS();
}

/* The master refuses a push back to a wrong job: the dialog opens again with all that was typed. */
TEST refused_push_back_keeps_what_was_typed(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };
	struct msg_error refusal = { .code = ERR_NOT_FOUND, .text = slice_str("run 4127 has no job 'encodr'") };

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	gate_asks(&fixture, STATE_APPROVAL);
	fixture_press(&fixture, "p");
	gate_answers(&fixture, STATE_APPROVAL);
	fixture_press(&fixture, "encodr$too dark$y");
	refusal.id = fixture.act_id;
	fixture_give(&fixture, OP_ERROR, &refusal, FIXTURE_NOW);
	ASSERT_EQ(OVERLAY_GATE, (int)fixture.app->overlay);
	gate_answers(&fixture, STATE_APPROVAL);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "run 4127 has no job 'encodr'"));
	ASSERT(fixture_has(&grid, "back to> encodr"));
	ASSERT(fixture_has(&grid, "reason> too dark"));
	app_key(fixture.app, TUI_KEY_BACKSPACE, FIXTURE_NOW);
	fixture_press(&fixture, "e$y");
	ASSERT_EQ(2, fixture.cancel_count);
	ASSERT_STR_EQ("encode", fixture.act_target);
	ASSERT_STR_EQ("too dark", fixture.act_text);
	/* If somebody else has decided meanwhile, there is nothing to type again. */
	refusal.id = fixture.act_id;
	fixture_give(&fixture, OP_ERROR, &refusal, FIXTURE_NOW);
	gate_answers(&fixture, STATE_SUCCEEDED);
	ASSERT_EQ(OVERLAY_NONE, (int)fixture.app->overlay);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

TEST second_vote_of_one_person_says_why_it_does_not_count(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };
	struct msg_ok ok = { .count = 1 };

	fixture_fill(&fixture, VIEW_DAG, false, false, 100, 24);
	gate_asks(&fixture, STATE_APPROVAL);
	fixture_press(&fixture, "a");
	gate_answers(&fixture, STATE_APPROVAL);
	fixture_press(&fixture, "$y");
	ok.id = fixture.act_id;
	ok.count = 0;
	fixture_give(&fixture, OP_OK, &ok, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "you had already approved qa-approve: each person counts once, and 1 of 2 have approved"));
	fixture_press(&fixture, "a");
	gate_answers(&fixture, STATE_APPROVAL);
	fixture_press(&fixture, "$y");
	ok.id = fixture.act_id;
	ok.count = 1;
	fixture_give(&fixture, OP_OK, &ok, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "done: qa-approve was approved"));
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

TEST home_says_who_asks(void)
{
	uint64_t counts[STATE_COUNT] = { [STATE_APPROVAL] = 2, [STATE_SUCCEEDED] = 1 };
	struct rec_run_row row = fixture_run(4400, "release", RUN_RUNNING, counts, 0, 0);
	struct msg_delta delta = { .turn = 50, .runs = { &row, 1 } };
	struct fixture fixture;
	struct grid grid = { 0 };
	size_t before;

	fixture_fill(&fixture, VIEW_HOME, true, false, 80, 24);
	before = needs_count(fixture.app);
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT_EQ(before + 1, needs_count(fixture.app));
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "? APPR  4400 release          2 gates wait for people"));
	/* The master's list of approvals says more. */
	struct rec_job_row gates[] = {
		{ .job = 7, .run = 4400, .name = slice_str("q\x1b[2Ja"), .state = STATE_APPROVAL, .gate_have = 1, .gate_count = 2,
		  .due_ms = FIXTURE_NOW + 25 * 60000 },
		{ .job = 8, .run = 4400, .name = slice_str("other"), .state = STATE_APPROVAL, .gate_count = 1 },
		{ .job = 9, .run = 4401, .name = slice_str("lost"), .state = STATE_UNKNOWN },
	};
	struct msg_snapshot list = { .turn = 51, .jobs = { gates, 3 } };

	list.id = fixture.gates_id;
	ASSERT(list.id != 0);
	fixture_give(&fixture, OP_SNAPSHOT, &list, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "? APPR  4400/q\\x1b[2Ja        1 of 2 approved  expires in 25m  and 1 more"));
	/* Votes change without a change of the run, so the list is asked for again after a while. */
	fixture.gates_id = 0;
	app_tick(fixture.app, FIXTURE_NOW + 5000);
	fixture_collect(&fixture);
	ASSERT_EQ(0, fixture.gates_id);
	app_tick(fixture.app, FIXTURE_NOW + 20000);
	fixture_collect(&fixture);
	ASSERT(fixture.gates_id != 0);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

SUITE(decisions)
{
	RUN_TEST(gates_are_decided);
	RUN_TEST(gates_are_pushed_back);
	RUN_TEST(gate_with_fields_names_the_command);
	RUN_TEST(refused_push_back_keeps_what_was_typed);
	RUN_TEST(second_vote_of_one_person_says_why_it_does_not_count);
	RUN_TEST(home_says_who_asks);
}

int main(int argc, char **argv)
{
	fixture_utc();
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(decisions);
	GREATEST_MAIN_END();
}
