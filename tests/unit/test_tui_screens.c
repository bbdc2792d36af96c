/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole screens are compared with the pictures in tests/tui/golden; --update as the first argument writes the pictures.
 * Then what must hold for screens of any size.
 */
#include <fcntl.h>

#include "base/io.h"
#include "base/rand.h"
#include "greatest.h"
#include "tui/views.h"
#include "tui_fixture.h"

GREATEST_MAIN_DEFS();

static bool update;
static char golden_dir[512];

struct screen {
	const char *name;
	enum view view;
	int width, height;
	bool ascii, mono, styles;
	const char *keys;                /* keys pressed before the picture is taken: $ is Enter, ~ is Esc */
	const char *output;              /* what the typed command prints; it has ended, unless a line isn't whole */
};

static const struct screen screens[] = {
	{ "home-60x16", VIEW_HOME, 60, 16, false, false, false, "", NULL },
	{ "home-80x24", VIEW_HOME, 80, 24, false, false, true, "", NULL },
	{ "home-80x24-mono", VIEW_HOME, 80, 24, false, true, true, "", NULL },
	{ "home-80x24-ascii", VIEW_HOME, 80, 24, true, false, false, "", NULL },
	{ "home-160x48", VIEW_HOME, 160, 48, false, false, false, "", NULL },
	{ "home-160x48-ascii", VIEW_HOME, 160, 48, true, false, false, "", NULL },
	{ "home-300x80", VIEW_HOME, 300, 80, false, false, false, "", NULL },
	{ "home-needs-80x24", VIEW_HOME, 80, 24, false, false, true, "\tjjj", NULL },
	{ "home-needs-60x16-ascii", VIEW_HOME, 60, 16, true, false, false, "kk", NULL },
	{ "runs-80x24", VIEW_RUNS, 80, 24, false, false, false, "", NULL },
	{ "runs-failed-80x24", VIEW_RUNS, 80, 24, false, false, false, "x", NULL },
	{ "dag-60x16", VIEW_DAG, 60, 16, false, false, false, "", NULL },
	{ "dag-80x24", VIEW_DAG, 80, 24, false, false, true, "gjj", NULL },
	{ "dag-80x24-ascii", VIEW_DAG, 80, 24, true, false, false, "", NULL },
	{ "dag-80x24-unfolded", VIEW_DAG, 80, 24, false, false, false, "gjjjf", NULL },
	{ "dag-80x24-failed", VIEW_DAG, 80, 24, false, false, false, "x", NULL },
	{ "dag-160x48", VIEW_DAG, 160, 48, false, false, false, "", NULL },
	{ "workers-60x16", VIEW_WORKERS, 60, 16, false, false, false, "", NULL },
	{ "workers-80x24", VIEW_WORKERS, 80, 24, false, false, true, "j", NULL },
	{ "workers-160x48-ascii", VIEW_WORKERS, 160, 48, true, false, false, "", NULL },
	{ "approvals-80x24", VIEW_APPROVALS, 80, 24, false, false, false, "", NULL },
	{ "help-60x16", VIEW_HOME, 60, 16, false, false, false, "?", NULL },
	{ "help-80x24", VIEW_DAG, 80, 24, false, false, false, "?", NULL },
	{ "confirm-run-80x24", VIEW_HOME, 80, 24, false, false, false, "c", NULL },
	{ "confirm-group-80x24", VIEW_DAG, 80, 24, false, false, false, "gjjjc", NULL },
	{ "find-80x24", VIEW_HOME, 80, 24, false, false, false, "/back", NULL },
	{ "found-80x24", VIEW_HOME, 80, 24, false, false, false, "/back$", NULL },
	{ "log-80x24", VIEW_DAG, 80, 24, false, false, true, "l", NULL },
	{ "too-small", VIEW_HOME, 59, 16, false, false, false, "", NULL },
	{ "output-80x24", VIEW_HOME, 80, 24, false, false, true, ":show$",
	  "JOB   STATE\nload  \033[1;31mFAIL\033[0m\ta \033]0;title\007 \033[2J \302\233 \342\200\256 end\n" },
	{ "output-asks-60x16", VIEW_DAG, 60, 16, true, false, false, ":cancel$", "dry\ncancel of 2 runs? [y/N] " },
};

static void draw(const struct screen *screen, struct grid *grid)
{
	struct fixture fixture;

	fixture_fill(&fixture, screen->view, screen->ascii, screen->mono, screen->width, screen->height);
	app_draw(fixture.app, grid, FIXTURE_NOW);
	for (const char *key = screen->keys; *key; key++) {
		fixture_press(&fixture, (const char[]){ *key, '\0' });
		app_draw(fixture.app, grid, FIXTURE_NOW);
	}
	if (screen->output) {
		app_output_begin(fixture.app, slice_str("show \x1b[2J4127 | x"));
		app_output_add(fixture.app, slice_str(screen->output));
		if (screen->output[strlen(screen->output) - 1] == '\n')
			app_output_end(fixture.app, 4);
		else
			app_key(fixture.app, 'y', FIXTURE_NOW);
		app_draw(fixture.app, grid, FIXTURE_NOW);
	}
	fixture_close(&fixture);
}

TEST golden(const struct screen *screen)
{
	struct grid grid = { 0 };
	struct buf text = { 0 }, expected = { 0 };
	char path[640];
	bool same;

	draw(screen, &grid);
	grid_dump(&grid, screen->styles, &text);
	grid_free(&grid);
	snprintf(path, sizeof path, "%s/%s.txt", golden_dir, screen->name);
	if (update && io_write_file(AT_FDCWD, path, text.data, text.len, 0644) != 0)
		FAILm("can't write the picture");
	if (io_read_file(AT_FDCWD, path, 1 << 20, &expected) != 0)
		FAILm("no such picture: run with --update");
	same = slice_eq(buf_slice(&text), buf_slice(&expected));
	if (!same)
		printf("%s differs; now it is\n%s", screen->name, buf_cstr(&text));
	buf_free(&text);
	buf_free(&expected);
	ASSERT(same);
	PASS();
}

TEST ascii_is_ascii(void)
{
	for (size_t i = 0; i < sizeof screens / sizeof screens[0]; i++) {
		struct screen screen = screens[i];
		struct grid grid = { 0 };
		bool plain = true;

		screen.ascii = true;
		draw(&screen, &grid);
		for (int at = 0; at < grid.width * grid.height; at++) {
			const struct cell *cell = &grid.cells[at];

			/* Names are shown as they are: two characters of the fixture's names aren't ASCII. */
			if ((uint8_t)cell->text[0] >= 0x80 && (uint8_t)cell->text[0] != 0xe4 &&
				(uint8_t)cell->text[0] != 0xe6)
				plain = false;
		}
		grid_free(&grid);
		ASSERTm(screen.name, plain);
	}
	PASS();
}

TEST mono_has_no_colour(void)
{
	for (size_t i = 0; i < sizeof screens / sizeof screens[0]; i++) {
		struct screen screen = screens[i];
		struct grid grid = { 0 };

		screen.mono = true;
		draw(&screen, &grid);
		for (int at = 0; at < grid.width * grid.height; at++)
			ASSERT_EQ(COLOUR_DEFAULT, grid.cells[at].style.colour);
		grid_free(&grid);
	}
	PASS();
}

/* Every view in every size: drawing never fails and never leaves half a character. */
TEST any_size(void)
{
	for (int height = 0; height <= 60; height += 3) {
		for (int width = 0; width <= 210; width += 7) {
			for (int view = VIEW_HOME; view <= VIEW_WORKERS; view++) {
				struct screen screen = {
					"", view, width, height, width % 2, false, false, "jj?~", NULL };
				struct grid grid = { 0 };

				draw(&screen, &grid);
				ASSERT_EQ(width, grid.width);
				for (int at = 0; at < width * height; at++) {
					const struct cell *cell = &grid.cells[at];

					ASSERT(cell->width <= 2 && (cell->width > 0) == (cell->len > 0));
					if (cell->width == 2)
						ASSERT(at % width + 1 < width && cell[1].width == 0);
				}
				grid_free(&grid);
			}
		}
	}
	PASS();
}

/* Runs that come, go and end don't move the selection to another run. */
TEST selection_follows(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };
	uint64_t counts[STATE_COUNT] = { [STATE_RUNNING] = 1 };

	fixture_fill(&fixture, VIEW_HOME, false, false, 80, 24);
	fixture_press(&fixture, "jj");
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "> 4125"));
	for (uint64_t run = 4200; run < 4300; run++) {
		struct rec_run_row row = fixture_run(run, "new", RUN_RUNNING, counts, 0, 0);
		struct msg_delta delta = { .id = fixture.runs_id, .turn = run, .runs = { &row, 1 } };

		fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
		app_draw(fixture.app, &grid, FIXTURE_NOW);
		ASSERT(fixture_has(&grid, "> 4125"));
	}
	/* A snapshot lacks the selected run: the next older run is selected. */
	struct rec_run_row left[] = { fixture_run(4124, "purge", RUN_RUNNING, counts, 0, 0),
		fixture_run(4300, "other", RUN_RUNNING, counts, 0, 0) };
	struct msg_snapshot snapshot = { .id = fixture.runs_id, .turn = 5000, .runs = { left, 2 } };

	fixture_give(&fixture, OP_SNAPSHOT, &snapshot, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "> 4124"));
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

/* In the graph a job stays selected, whatever fails, folds or is added above it. */
TEST numbers_keep_apart(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };
	uint64_t counts[STATE_COUNT] = { [STATE_SUCCEEDED] = 13231, [STATE_READY] = 46769,
		[STATE_RUNNING] = 12345, [STATE_FAILED] = 10000 };
	struct rec_run_row row = fixture_run(4500, "many", RUN_RUNNING, counts, 10, 0);
	struct msg_delta delta = { .turn = 4500, .runs = { &row, 1 } };

	fixture_fill(&fixture, VIEW_HOME, false, false, 80, 24);
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "28%  13k  12k  46k  10k"));
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

TEST graph_opens_at_what_fails_or_asks(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };
	struct rec_job_row row = { .job = 979, .run = FIXTURE_RUN, .index = 79, .name = slice_str("encode[77]"), .state = STATE_SUCCEEDED };
	struct rec_job_row gate = { .job = 1033, .run = FIXTURE_RUN, .index = 133, .name = slice_str("qa-approve"), .state = STATE_APPROVAL };
	struct msg_delta delta = { .turn = 100, .jobs = { &row, 1 } };

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT_EQ(79, dag_selected(fixture.app)->job);
	ASSERT_EQ(ROW_MEMBER, (int)dag_selected(fixture.app)->kind);
	fixture_close(&fixture);
	/* Nothing fails, and a gate asks. A selection that a person made stays. */
	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	delta.id = fixture.graph_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	delta.jobs.at = &gate;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT_EQ(133, dag_selected(fixture.app)->job);
	fixture_press(&fixture, "g");
	gate.state = STATE_DENIED;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT_EQ(0, dag_selected(fixture.app)->job);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

/* A search for a member of a folded group finds the group, and finds the member once it is unfolded. */
TEST members_are_found(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	fixture_press(&fixture, "/de[99]\r");
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "+ encode[128]"));
	ASSERT_FALSE(fixture_has(&grid, "no match"));
	fixture_press(&fixture, "f");
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(slice_eq(slice_str("encode[99]"), fixture.app->model.graph.jobs[dag_selected(fixture.app)->job].name));
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

TEST dag_selection_follows(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };
	uint32_t job;

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	fixture_press(&fixture, "gjjjjj");
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	job = fixture.app->dag.job;
	ASSERT_STR_EQ("schema-check",
		(const char *)memcpy((char[32]){0}, fixture.app->model.graph.jobs[job].name.data, 12));
	for (uint64_t part = 0; part < 20; part++) {
		char name[32];
		struct rec_job_row row = { .job = 902 + part,
			.run = FIXTURE_RUN,
			.index = 2 + part,
			.name = slice_str(name),
			.state = STATE_FAILED,
			.epoch = 1,
			.tries = 1,
			.outcome = OUTCOME_EXIT,
			.code = 1};
		struct msg_delta delta = { .id = fixture.graph_id, .turn = 100 + part, .jobs = { &row, 1 } };

		snprintf(name, sizeof name, "encode[%u]", (unsigned)part);
		fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
		app_draw(fixture.app, &grid, FIXTURE_NOW);
		ASSERT_EQ(job, fixture.app->dag.job);
		ASSERT_EQ(job, dag_selected(fixture.app)->job);
	}
	ASSERT(fixture_has(&grid, "and 13 more failed"));
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

/* A failed member succeeds after a retry and joins its group again: the group is selected. */
TEST member_recovers(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };
	struct rec_job_row row = { .job = 902 + 77, .run = FIXTURE_RUN, .index = 2 + 77,
		.name = slice_str("encode[77]"), .state = STATE_RUNNING, .epoch = 2, .tries = 4 };
	struct msg_delta delta = { .turn = 100, .jobs = { &row, 1 } };

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	delta.id = fixture.graph_id;
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	fixture_press(&fixture, "g");
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	fixture_press(&fixture, "jjjj");
	ASSERT_EQ(ROW_MEMBER, (int)dag_selected(fixture.app)->kind);
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT_EQ(ROW_NODE, (int)dag_selected(fixture.app)->kind);
	ASSERT(fixture.app->dag.fold.nodes[dag_selected(fixture.app)->node].folded);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

/* A cancel is for what was on the screen when it was asked; every key but y leaves it alone. */
TEST cancel_asks(void)
{
	struct fixture fixture;
	uint64_t counts[STATE_COUNT] = { [STATE_RUNNING] = 1 };
	struct rec_run_row row = fixture_run(4500, "new", RUN_RUNNING, counts, 0, 0);
	struct msg_delta delta = { .turn = 50, .runs = { &row, 1 } };

	fixture_fill(&fixture, VIEW_HOME, false, false, 80, 24);
	for (uint32_t key = 1; key < 0x110009; key += key < 0x100 ? 1 : 0x10ff00 - 0x100 + 1) {
		if (key == 'y')
			continue;
		app_key(fixture.app, 'c', FIXTURE_NOW);
		app_key(fixture.app, key, FIXTURE_NOW);
		app_key(fixture.app, TUI_KEY_ESCAPE, FIXTURE_NOW);
		fixture_collect(&fixture);
		ASSERT_EQ(0, fixture.cancel_count);
	}
	fixture_press(&fixture, "1");
	fixture.app->run = 4127;
	fixture_press(&fixture, "c");
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	fixture_press(&fixture, "y");
	ASSERT_EQ(1, fixture.cancel_count);
	ASSERT_EQ(4127, fixture.cancelled[0]);
	ASSERT_STR_EQ("", fixture.cancelled_names[0]);
	/* Pasted text neither presses keys nor answers a question. */
	app_key(fixture.app, 'c', FIXTURE_NOW);
	app_key(fixture.app, 'y' | TUI_KEY_PASTED, FIXTURE_NOW);
	ASSERT_EQ(OVERLAY_CONFIRM, (int)fixture.app->overlay);
	app_key(fixture.app, 'n', FIXTURE_NOW);
	app_key(fixture.app, 'c' | TUI_KEY_PASTED, FIXTURE_NOW);
	app_key(fixture.app, 'y' | TUI_KEY_PASTED, FIXTURE_NOW);
	fixture_collect(&fixture);
	ASSERT_EQ(1, fixture.cancel_count);
	fixture_close(&fixture);
	PASS();
}

TEST cancel_group(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	fixture_press(&fixture, "gjjjcy");
	/* 11 run and 18 are queued; the fixture records 16 at most. */
	ASSERT_EQ(16, fixture.cancel_count);
	ASSERT_STR_EQ("encode[99]", fixture.cancelled_names[0]);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

TEST stale_is_dimmed(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };
	int dim = 0;

	fixture_fill(&fixture, VIEW_HOME, false, false, 80, 24);
	app_disconnected(fixture.app, NULL, FIXTURE_NOW + 16000, FIXTURE_NOW);
	app_draw(fixture.app, &grid, FIXTURE_NOW + 12000);
	ASSERT(fixture_has(&grid, "STALE 12s, retry in 4s"));
	ASSERT(fixture_has(&grid, "4127"));
	for (int at = grid.width; at < grid.width * grid.height; at++)
		dim += (grid.cells[at].style.attributes & STYLE_DIM) &&
		       grid.cells[at].style.colour == COLOUR_DEFAULT;
	ASSERT_EQ(grid.width * (grid.height - 1), dim);
	fixture_press(&fixture, "c");
	ASSERT_EQ(OVERLAY_NONE, (int)fixture.app->overlay);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

/* If nothing changes, the cells stay the same, and the next wake-up is at the next minute. */
TEST idle_is_still(void)
{
	struct app_options options = { 0 };
	uint64_t counts[STATE_COUNT] = { [STATE_SUCCEEDED] = 3 };
	struct rec_run_row row = fixture_run(1, "done", RUN_SUCCEEDED, counts, 100, 50);
	struct msg_snapshot msg = { .turn = 1, .runs = { &row, 1 } };
	struct fixture fixture;
	struct grid one = { 0 }, two = { 0 };

	fixture_open(&fixture, &options, 80, 24);
	msg.id = fixture.runs_id;
	fixture_give(&fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
	ASSERT(app_loaded(fixture.app));
	app_draw(fixture.app, &one, FIXTURE_NOW);
	ASSERT_FALSE(app_dirty(fixture.app));
	ASSERT_EQ(30000, app_wait_ms(fixture.app, FIXTURE_NOW));
	app_tick(fixture.app, FIXTURE_NOW + 29999);
	app_draw(fixture.app, &two, FIXTURE_NOW + 29999);
	ASSERT(grid_equal(&one, &two));
	app_draw(fixture.app, &two, FIXTURE_NOW + 30000);
	ASSERT_FALSE(grid_equal(&one, &two));
	grid_free(&one);
	grid_free(&two);
	fixture_close(&fixture);
	PASS();
}

static void lose_and_connect(struct fixture *fixture)
{
	struct msg_welcome welcome = { .version = 2, .cluster = slice_str("prod-a"), .role = ROLE_ADMIN };

	app_disconnected(fixture->app, NULL, FIXTURE_NOW, FIXTURE_NOW);
	app_connected(fixture->app, &welcome, FIXTURE_NOW);
	fixture_collect(fixture);
}

/* After a reconnect the dashboard resumes with the last turn that it was told; for another run it has none. */
TEST a_connection_that_is_back_is_resumed(void)
{
	struct fixture fixture;
	struct msg_snapshot page = { .turn = 20, .cursor = 5 };
	struct msg_delta delta = { .turn = 30, .resume = 300 };

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	lose_and_connect(&fixture);
	ASSERT_EQ(0, (int)(fixture.runs_since + fixture.graph_since));
	page.id = fixture.graph_id;
	fixture_give(&fixture, OP_SNAPSHOT, &page, FIXTURE_NOW);
	lose_and_connect(&fixture);
	ASSERT_EQ(0, (int)fixture.graph_since);
	page = (struct msg_snapshot){ .id = fixture.graph_id, .turn = 20, .resume = 200 };
	fixture_give(&fixture, OP_SNAPSHOT, &page, FIXTURE_NOW);
	delta.id = fixture.runs_id;
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	lose_and_connect(&fixture);
	ASSERT_EQ(200, (int)fixture.graph_since);
	ASSERT_EQ(300, (int)fixture.runs_since);
	/* This delta says that more deltas of the same turn follow. */
	delta = (struct msg_delta){ .id = fixture.graph_id, .turn = 40 };
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	ASSERT(app_loaded(fixture.app));
	/* Deltas that a frozen screen drops don't count as told. */
	fixture_press(&fixture, "Z");
	delta = (struct msg_delta){ .id = fixture.runs_id, .turn = 50, .resume = 500 };
	fixture_give(&fixture, OP_DELTA, &delta, FIXTURE_NOW);
	fixture_press(&fixture, "Z");
	ASSERT_EQ(200, (int)fixture.graph_since);
	ASSERT_EQ(300, (int)fixture.runs_since);
	fixture.app->run = 4126;
	app_tick(fixture.app, FIXTURE_NOW);
	app_tick(fixture.app, FIXTURE_NOW + 1000);
	fixture_collect(&fixture);
	ASSERT_EQ(4126, (int)fixture.app->model.graph.run);
	ASSERT_EQ(0, (int)fixture.graph_since);
	fixture_close(&fixture);
	PASS();
}

TEST frozen_stays(void)
{
	struct fixture fixture;
	struct grid before = { 0 }, after = { 0 };

	fixture_fill(&fixture, VIEW_HOME, false, false, 80, 24);
	fixture_press(&fixture, "Z");
	app_draw(fixture.app, &before, FIXTURE_NOW);
	ASSERT(fixture_has(&before, "FROZEN +0"));
	fixture_events(&fixture);
	app_tick(fixture.app, FIXTURE_NOW + 5000);
	app_draw(fixture.app, &after, FIXTURE_NOW + 5000);
	ASSERT(fixture_has(&after, "FROZEN +2"));
	for (int at = before.width; at < before.width * before.height; at++)
		ASSERT_MEM_EQ(&before.cells[at], &after.cells[at], sizeof before.cells[at]);
	uint64_t old = fixture.runs_id;
	fixture_press(&fixture, "Z");
	ASSERT(fixture.runs_id > old);
	grid_free(&before);
	grid_free(&after);
	fixture_close(&fixture);
	PASS();
}

/* A run that is selected on a frozen screen may not be acted on through the graph of another run. */
TEST frozen_graph_is_of_its_run(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	fixture_press(&fixture, "1Zj3");
	ASSERT_EQ(4126, (int)fixture.app->run);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "the graph of run 4126 hasn't been read: Z goes on"));
	ASSERT_FALSE(fixture_has(&grid, "encode[128]"));
	fixture_press(&fixture, "cya$y");
	ASSERT_EQ(0, fixture.cancel_count);
	/* The run that was shown when the screen froze can be acted on. */
	fixture_press(&fixture, "1k3");
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "encode[128]"));
	fixture_press(&fixture, "G");
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	fixture_press(&fixture, "cy");
	ASSERT_EQ(1, fixture.cancel_count);
	ASSERT_EQ(4127, (int)fixture.cancelled[0]);
	ASSERT_STR_EQ("publish", fixture.cancelled_names[0]);
	fixture_press(&fixture, "1j3Z");
	ASSERT_EQ(4126, (int)fixture.app->model.graph.run);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

TEST name_of_the_selected_object_is_copied(void)
{
	struct fixture fixture;
	struct grid grid = { 0 };

	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	fixture_press(&fixture, "gjy");
	ASSERT_STR_EQ("4127/unpack", fixture.copied);
	fixture_press(&fixture, "2y");
	ASSERT_STR_EQ("4127", fixture.copied);
	fixture_press(&fixture, "4j");
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	fixture_press(&fixture, "y");
	ASSERT_STR_EQ("w02", fixture.copied);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

/* Keys, sizes, broken frames and time in random order; a picture depends on the state alone. */
TEST storm(uint64_t seed)
{
	struct rand_state rand;
	struct fixture fixture;
	struct grid grid = { 0 }, again = { 0 };
	int64_t now = FIXTURE_NOW;

	rand_seed(&rand, seed);
	fixture_fill(&fixture, VIEW_HOME, seed % 2, seed % 3 == 0, 80, 24);
	for (int i = 0; i < 2000; i++) {
		uint8_t noise[64];

		switch (rand_below(&rand, 8)) {
		case 0:
			app_resize(fixture.app, (int)rand_below(&rand, 240), (int)rand_below(&rand, 80));
			break;
		case 1:
			for (size_t k = 0; k < sizeof noise; k++)
				noise[k] = (uint8_t)rand_next(&rand);
			app_message(fixture.app, (enum opcode)(0x20 + rand_below(&rand, 10)),
				slice_make(noise, sizeof noise), now, NULL);
			break;
		case 2:
			now += (int64_t)rand_below(&rand, 3000);
			app_tick(fixture.app, now);
			break;
		case 3:
			fixture_runs(&fixture);
			if (fixture.graph_id)
				fixture_graph(&fixture);
			break;
		default:
			app_key(fixture.app,
				(uint32_t)(rand_below(&rand, 4) ? rand_below(&rand, 128)
								: 0x110000 + rand_below(&rand, 9)),
				now);
			break;
		}
		fixture_collect(&fixture);
		if (fixture.log_id)
			fixture_log(&fixture);
		fixture.log_id = 0;
		app_draw(fixture.app, &grid, now);
		app_draw(fixture.app, &again, now);
		ASSERT(grid_equal(&grid, &again));
	}
	grid_free(&grid);
	grid_free(&again);
	fixture_close(&fixture);
	PASS();
}

/* No view binds a key that is bound everywhere, and every action with a key is in the help once. */
TEST keys_are_unique(void)
{
	for (size_t i = 0; i < key_count; i++) {
		for (size_t k = i + 1; k < key_count; k++) {
			const struct key_row *a = &key_table[i], *b = &key_table[k];

			if (a->code == b->code)
				ASSERT(a->view != b->view && a->view != VIEW_ANY && b->view != VIEW_ANY);
		}
		ASSERT((key_table[i].shown[0] != '\0') == (key_table[i].help[0] != '\0'));
	}
	PASS();
}

SUITE(pictures)
{
	for (size_t i = 0; i < sizeof screens / sizeof screens[0]; i++)
		RUN_TESTp(golden, &screens[i]);
	RUN_TEST(ascii_is_ascii);
	RUN_TEST(mono_has_no_colour);
	RUN_TEST(any_size);
}

SUITE(behaviour)
{
	RUN_TEST(selection_follows);
	RUN_TEST(numbers_keep_apart);
	RUN_TEST(graph_opens_at_what_fails_or_asks);
	RUN_TEST(members_are_found);
	RUN_TEST(dag_selection_follows);
	RUN_TEST(member_recovers);
	RUN_TEST(cancel_asks);
	RUN_TEST(cancel_group);
	RUN_TEST(stale_is_dimmed);
	RUN_TEST(idle_is_still);
	RUN_TEST(frozen_stays);
	RUN_TEST(name_of_the_selected_object_is_copied);
	RUN_TEST(frozen_graph_is_of_its_run);
	RUN_TEST(a_connection_that_is_back_is_resumed);
	RUN_TEST(keys_are_unique);
	for (uint64_t seed = 1; seed <= 12; seed++)
		RUN_TESTp(storm, seed);
}

static void find_golden(void)
{
	const char *source = getenv("TITAN_SRCDIR"), *file = __FILE__, *slash = strrchr(file, '/');

	if (source)
		snprintf(golden_dir, sizeof golden_dir, "%s/tests/tui/golden", source);
	else
		snprintf(golden_dir, sizeof golden_dir, "%.*s/../tui/golden", (int)(slash ? slash - file : 0),
			file);
}

int main(int argc, char **argv)
{
	update = argc > 1 && strcmp(argv[1], "--update") == 0;
	if (update) {
		argv[1] = argv[0];
		argv++;
		argc--;
	}
	GREATEST_MAIN_BEGIN();
	find_golden();
	RUN_SUITE(pictures);
	RUN_SUITE(behaviour);
	GREATEST_MAIN_END();
}
