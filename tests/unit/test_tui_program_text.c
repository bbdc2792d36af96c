/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that programs wrote: their colours are drawn, as far as the terminal has them; nothing else in them has an effect. */
#include "greatest.h"
#include "tui/palette.h"
#include "tui/views.h"

GREATEST_MAIN_DEFS();

static struct app app;
static struct grid grid;

static void draw(const char *line)
{
	struct buf text = { 0 };

	grid_resize(&grid, 40, 1);
	program_text(slice_str(line), &text);
	program_draw(&app, grid_pane(&grid), 0, 0, buf_slice(&text));
	buf_free(&text);
}

static bool shows(const char *expected)
{
	struct buf text = { 0 };
	bool same;

	grid_dump(&grid, false, &text);
	same = strncmp(buf_cstr(&text), expected, strlen(expected)) == 0 && text.data[strlen(expected)] == '\n';
	if (!same)
		printf("shows %s", buf_cstr(&text));
	buf_free(&text);
	return same;
}

static struct style style_at(int x)
{
	return grid_at(&grid, x, 0)->style;
}

TEST colours_of_the_palette_are_kept(void)
{
	draw("\x1b[38;5;208mo\x1b[48;5;17mb\x1b[39mc\x1b[0md");
	ASSERT(shows("obcd"));
	ASSERT_EQ(209, style_at(0).fine);
	ASSERT_EQ(0, style_at(0).behind);
	ASSERT_EQ(18, style_at(1).behind);
	ASSERT_EQ(0, style_at(2).fine);
	ASSERT_EQ(18, style_at(2).behind);
	ASSERT_EQ(0, style_at(3).behind);
	PASS();
}

TEST true_colours_become_the_nearest_of_the_palette(void)
{
	draw("\x1b[38;2;255;135;0mo\x1b[1;38;2;8;8;8;4mg");
	ASSERT_EQ(209, style_at(0).fine);
	ASSERT_EQ(233, style_at(1).fine);
	ASSERT_EQ(STYLE_BOLD | STYLE_UNDERLINE, style_at(1).attributes);
	PASS();
}

TEST bright_colours_and_backgrounds_are_kept(void)
{
	draw("\x1b[91mb\x1b[31md\x1b[97;101mw\x1b[44mx");
	ASSERT_EQ(10, style_at(0).fine);
	ASSERT_EQ(COLOUR_RED, style_at(0).colour);
	ASSERT_EQ(0, style_at(1).fine);
	ASSERT_EQ(COLOUR_RED, style_at(1).colour);
	ASSERT_EQ(16, style_at(2).fine);
	ASSERT_EQ(10, style_at(2).behind);
	ASSERT_EQ(5, style_at(3).behind);
	PASS();
}

TEST attributes_end(void)
{
	draw("\x1b[1;4;7ma\x1b[22mb\x1b[24mc\x1b[27md");
	ASSERT_EQ(STYLE_BOLD | STYLE_UNDERLINE | STYLE_REVERSE, style_at(0).attributes);
	ASSERT_EQ(STYLE_UNDERLINE | STYLE_REVERSE, style_at(1).attributes);
	ASSERT_EQ(STYLE_REVERSE, style_at(2).attributes);
	ASSERT_EQ(0, style_at(3).attributes);
	PASS();
}

TEST incomplete_colours_change_nothing(void)
{
	draw("\x1b[38;5mx\x1b[38;2;1;2my\x1b[38mz");
	ASSERT(shows("xyz"));
	for (int x = 0; x < 3; x++)
		ASSERT_EQ(0, style_at(x).fine);
	PASS();
}

TEST without_colours_there_are_none(void)
{
	app.theme.mono = true;
	draw("\x1b[1;38;5;208;48;5;17mo");
	app.theme.mono = false;
	ASSERT_EQ(0, style_at(0).fine);
	ASSERT_EQ(0, style_at(0).behind);
	ASSERT_EQ(STYLE_BOLD, style_at(0).attributes);
	PASS();
}

/* Signs that join symbols or choose their form are left out behind symbols, and shown escaped elsewhere. */
TEST symbols_are_shown_side_by_side(void)
{
	draw("\xe2\x9d\xa4\xef\xb8\x8f \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb!");
	ASSERT(shows("\xe2\x9d\xa4 \xf0\x9f\x91\xa9\xf0\x9f\x92\xbb!"));
	ASSERT_EQ(2, grid_at(&grid, 2, 0)->width);
	draw("a\xe2\x80\x8d" "b\xef\xb8\x8f" "c");
	ASSERT(shows("a\\u200db\\ufe0fc"));
	PASS();
}

TEST other_terminals_have_near_colours(void)
{
	ASSERT_EQ(COLOUR_RED, palette_colour(9));
	ASSERT_EQ(COLOUR_YELLOW, palette_colour(208 + 18));
	ASSERT_EQ(COLOUR_GREEN, palette_colour(46));
	ASSERT_EQ(COLOUR_BLUE, palette_colour(21));
	ASSERT_EQ(COLOUR_DEFAULT, palette_colour(232));
	ASSERT_EQ(COLOUR_DEFAULT, palette_colour(255));
	for (unsigned index = 0; index < 256; index++)
		ASSERT(palette_ansi(index) < 8);
	PASS();
}

SUITE(tui_program_text)
{
	RUN_TEST(colours_of_the_palette_are_kept);
	RUN_TEST(true_colours_become_the_nearest_of_the_palette);
	RUN_TEST(bright_colours_and_backgrounds_are_kept);
	RUN_TEST(attributes_end);
	RUN_TEST(incomplete_colours_change_nothing);
	RUN_TEST(without_colours_there_are_none);
	RUN_TEST(symbols_are_shown_side_by_side);
	RUN_TEST(other_terminals_have_near_colours);
	grid_free(&grid);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_program_text);
	GREATEST_MAIN_END();
}
