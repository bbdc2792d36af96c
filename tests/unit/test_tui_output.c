/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pane with what a typed command prints: lines, keys, answers, and what must not reach the terminal. */
#include "greatest.h"
#include "tui/views.h"
#include "tui_fixture.h"

GREATEST_MAIN_DEFS();

/* The dashboard, with a command that has printed this. */
static void open_pane(struct fixture *fixture, const char *printed)
{
	fixture_fill(fixture, VIEW_HOME, true, false, 80, 24);
	fixture_collect(fixture);
	app_output_begin(fixture->app, slice_str("ls"));
	app_output_add(fixture->app, slice_str(printed));
}

static bool shows(struct fixture *fixture, const char *text)
{
	struct grid grid = { 0 };
	struct buf dump = { 0 };
	bool found;

	app_draw(fixture->app, &grid, FIXTURE_NOW);
	grid_dump(&grid, false, &dump);
	found = strstr(buf_cstr(&dump), text) != NULL;
	buf_free(&dump);
	grid_free(&grid);
	return found;
}

/* The next request that isn't a message to the master. */
static bool wants(struct fixture *fixture, enum app_want want, const char *text)
{
	struct app_request request;

	while (app_take(fixture->app, &request))
		if (request.want != APP_SEND)
			return request.want == want && slice_eq(request.text, slice_str(text));
	return false;
}

static void key(struct fixture *fixture, uint32_t code)
{
	app_key(fixture->app, code, FIXTURE_NOW);
}

TEST lines_are_shown_as_they_come(void)
{
	struct fixture fixture;

	open_pane(&fixture, "one\ntw");
	ASSERT(shows(&fixture, "\none\ntw"));
	ASSERT(shows(&fixture, " runs: Ctrl-C ends it"));
	app_output_add(fixture.app, slice_str("o\n\nthree"));
	app_output_end(fixture.app, 0);
	ASSERT(shows(&fixture, "\none\ntwo\n\nthree\n"));
	ASSERT(!shows(&fixture, "exit status"));
	app_output_end(fixture.app, 69);
	ASSERT(shows(&fixture, " exit status 69: Esc closes "));
	fixture_close(&fixture);
	PASS();
}

TEST control_characters_are_shown_and_not_obeyed(void)
{
	struct fixture fixture;

	open_pane(&fixture, "a\033]0;b\007c\033[2Jd\re\302\233f\n\033[31mred\033[0m\n");
	ASSERT(shows(&fixture, "a\\x1b]0;b\\x07c\\x1b[2Jd\\re"));
	ASSERT(shows(&fixture, "\nred\n"));
	fixture_close(&fixture);
	PASS();
}

TEST many_lines_scroll_and_the_oldest_are_forgotten(void)
{
	struct fixture fixture;
	struct buf text = { 0 };

	for (int i = 0; i < 12000; i++)
		buf_addf(&text, "line %d\n", i);
	open_pane(&fixture, buf_cstr(&text));
	ASSERT(shows(&fixture, "line 11999"));
	key(&fixture, TUI_KEY_HOME);
	ASSERT(shows(&fixture, "line 2000\n"));
	app_output_add(fixture.app, slice_str("more\n"));
	ASSERT(shows(&fixture, "line 2001\n"));
	key(&fixture, TUI_KEY_PAGE_DOWN);
	ASSERT(!shows(&fixture, "line 2001\n"));
	key(&fixture, 'G');
	ASSERT(shows(&fixture, "\nmore\n"));
	buf_free(&text);
	fixture_close(&fixture);
	PASS();
}

TEST a_long_line_is_broken_and_can_be_shifted(void)
{
	struct fixture fixture;
	struct buf text = { 0 };

	buf_add_str(&text, "begin   middle");
	for (int i = 0; i < 4096 - 14; i++)
		buf_add_byte(&text, 'x');
	buf_add_str(&text, "end\n");
	open_pane(&fixture, buf_cstr(&text));
	ASSERT(shows(&fixture, "\nend\n"));
	key(&fixture, TUI_KEY_RIGHT);
	ASSERT(shows(&fixture, "\nmiddlexx"));
	key(&fixture, TUI_KEY_LEFT);
	ASSERT(shows(&fixture, "\nbegin   middlexx"));
	buf_free(&text);
	fixture_close(&fixture);
	PASS();
}

TEST ctrl_c_ends_the_command_and_escape_also_closes_the_pane(void)
{
	struct fixture fixture;

	open_pane(&fixture, "one\n");
	key(&fixture, TUI_CTRL('C'));
	ASSERT(wants(&fixture, APP_INTERRUPT, ""));
	ASSERT(shows(&fixture, "\none\n"));
	key(&fixture, ':');
	ASSERT(shows(&fixture, "the command still runs"));
	key(&fixture, TUI_KEY_ESCAPE);
	ASSERT(wants(&fixture, APP_CLOSE, ""));
	ASSERT(!shows(&fixture, "\none\n"));
	/* What still comes of it is lost. */
	app_output_add(fixture.app, slice_str("late\n"));
	app_output_end(fixture.app, 130);
	ASSERT(!shows(&fixture, "late"));
	fixture_close(&fixture);
	PASS();
}

TEST closing_the_pane_of_an_ended_command_asks_for_nothing(void)
{
	struct fixture fixture;

	open_pane(&fixture, "one\n");
	app_output_end(fixture.app, 0);
	key(&fixture, TUI_CTRL('C'));
	ASSERT(!shows(&fixture, "\none\n"));
	ASSERT(!wants(&fixture, APP_CLOSE, ""));
	fixture_close(&fixture);
	open_pane(&fixture, "two\n");
	app_output_end(fixture.app, 0);
	key(&fixture, ':');
	key(&fixture, 'x');
	ASSERT(shows(&fixture, "\n:x"));
	fixture_close(&fixture);
	PASS();
}

TEST a_question_is_answered_by_a_line(void)
{
	struct fixture fixture;

	open_pane(&fixture, "cancel of 2 runs? [y/N] ");
	key(&fixture, 'y');
	key(&fixture, 'q');
	key(&fixture, TUI_KEY_BACKSPACE);
	key(&fixture, 'e' | TUI_KEY_PASTED);
	ASSERT(shows(&fixture, "\ncancel of 2 runs? [y/N] ye"));
	key(&fixture, TUI_KEY_ENTER);
	ASSERT(wants(&fixture, APP_ANSWER, "ye\n"));
	ASSERT(shows(&fixture, "\ncancel of 2 runs? [y/N] ye\n"));
	/* Without a question, letters are keys of the pane. */
	key(&fixture, 'q');
	ASSERT(wants(&fixture, APP_CLOSE, ""));
	fixture_close(&fixture);
	PASS();
}

TEST a_window_that_is_too_small_keeps_the_pane(void)
{
	struct fixture fixture;

	open_pane(&fixture, "one\n");
	app_resize(fixture.app, 40, 10);
	key(&fixture, 'x');
	app_resize(fixture.app, 80, 24);
	ASSERT(shows(&fixture, "\none\n"));
	fixture_close(&fixture);
	PASS();
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	fixture_utc();
	RUN_TEST(lines_are_shown_as_they_come);
	RUN_TEST(control_characters_are_shown_and_not_obeyed);
	RUN_TEST(many_lines_scroll_and_the_oldest_are_forgotten);
	RUN_TEST(a_long_line_is_broken_and_can_be_shifted);
	RUN_TEST(ctrl_c_ends_the_command_and_escape_also_closes_the_pane);
	RUN_TEST(closing_the_pane_of_an_ended_command_asks_for_nothing);
	RUN_TEST(a_question_is_answered_by_a_line);
	RUN_TEST(a_window_that_is_too_small_keeps_the_pane);
	GREATEST_MAIN_END();
}
