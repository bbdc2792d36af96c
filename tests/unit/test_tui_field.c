/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that are typed: whole characters of any length, never more bytes than allowed, a cursor, a history. */
#include <string.h>

#include "base/text.h"
#include "greatest.h"
#include "tui/keys.h"
#include "tui/views.h"

GREATEST_MAIN_DEFS();

#define MOST 69u

static struct line_edit line;

static void setup_cb(void *data)
{
	(void)data;
	line_clear(&line);
}

static void type(const char *text)
{
	for (; *text; text++)
		line_key(&line, MOST, (uint32_t)*text);
}

static bool is(const char *text)
{
	return slice_eq(line_text(&line), slice_str(text));
}

/* Number of characters that fit. */
static size_t fill(size_t most, uint32_t code)
{
	size_t before, count = 0;

	do {
		before = line.len;
		line_key(&line, most, code);
		count += line.len > before;
	} while (line.len > before);
	return count;
}

TEST full_line_keeps_whole_characters_in_its_bounds(void)
{
	static const struct {
		uint32_t code;
		const char *bytes;
	} characters[] = { { 'a', "a" }, { 0x7ff, "\xdf\xbf" }, { 0x800, "\xe0\xa0\x80" }, { 0x20ac, "\xe2\x82\xac" },
			   { 0xffff, "\xef\xbf\xbf" }, { 0x1f600, "\xf0\x9f\x98\x80" } };

	for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
		size_t bytes = strlen(characters[i].bytes);

		for (size_t most = 5; most <= 2 * LINE_BYTES; most += most < 80 ? 1 : 500) {
			size_t count;

			line_clear(&line);
			count = fill(most, characters[i].code);
			ASSERT_EQ_FMT(count * bytes, line.len, "%zu");
			ASSERT(line.len <= most && line.len < LINE_BYTES);
			ASSERT(line.len + bytes > (most < LINE_BYTES ? most : LINE_BYTES - 1));
			for (size_t at = 0; at < line.len; at += bytes)
				ASSERT_EQ(0, memcmp(line.text + at, characters[i].bytes, bytes));
		}
	}
	PASS();
}

TEST backspace_takes_one_whole_character(void)
{
	size_t count = fill(MOST, 0x20ac);

	ASSERT(count > 20);
	for (; count > 0; count--) {
		ASSERT_EQ_FMT(3 * count, line.len, "%zu");
		line_key(&line, MOST, TUI_KEY_BACKSPACE);
	}
	ASSERT_EQ(0, line.len);
	line_key(&line, MOST, TUI_KEY_BACKSPACE);
	ASSERT_EQ(0, line.len);
	line_key(&line, MOST, 'a');
	line_key(&line, MOST, 0xe9);
	line_key(&line, MOST, TUI_KEY_BACKSPACE);
	ASSERT(is("a"));
	PASS();
}

TEST control_characters_stay_out(void)
{
	static const uint32_t codes[] = { 0x00, 0x1b, 0x1f, 0x85, 0x9b, 0xd800, 0x110000, TUI_KEY_UP, TUI_KEY_PAGE_DOWN, '\n' | TUI_KEY_PASTED,
					  0x7f | TUI_KEY_PASTED };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		ASSERT_FALSE(line_key(&line, MOST, codes[i]));
	ASSERT_EQ(0, line.len);
	line_key(&line, MOST, 'b' | TUI_KEY_PASTED);
	ASSERT(is("b"));
	PASS();
}

TEST cursor_goes_through_the_line(void)
{
	type("one two three");
	line_key(&line, MOST, TUI_CTRL('W'));
	ASSERT(is("one two "));
	line_key(&line, MOST, TUI_CTRL('A'));
	type("a ");
	ASSERT(is("a one two "));
	line_key(&line, MOST, TUI_KEY_DELETE);
	ASSERT(is("a ne two "));
	line_key(&line, MOST, TUI_KEY_RIGHT);
	line_key(&line, MOST, TUI_CTRL('K'));
	ASSERT(is("a n"));
	line_key(&line, MOST, TUI_KEY_LEFT);
	line_key(&line, MOST, TUI_CTRL('U'));
	ASSERT(is("n"));
	line_key(&line, MOST, TUI_KEY_END);
	line_key(&line, MOST, TUI_KEY_RIGHT);
	line_key(&line, MOST, TUI_KEY_DELETE);
	ASSERT(is("n"));
	line_key(&line, MOST, 0x20ac);
	line_key(&line, MOST, TUI_KEY_LEFT);
	line_key(&line, MOST, 'x');
	ASSERT(is("nx\xe2\x82\xac"));
	PASS();
}

TEST lines_typed_before_come_back(void)
{
	static struct line_history history;

	line_history_move(&history, &line, -1);
	ASSERT(is(""));
	line_history_keep(&history, slice_str("first"));
	line_history_keep(&history, slice_str("second"));
	line_history_keep(&history, slice_str("second"));
	type("now");
	line_history_move(&history, &line, -1);
	ASSERT(is("second"));
	line_history_move(&history, &line, -1);
	line_history_move(&history, &line, -1);
	ASSERT(is("first"));
	line_history_move(&history, &line, 1);
	line_history_move(&history, &line, 1);
	line_history_move(&history, &line, 1);
	ASSERT(is("now"));
	for (int i = 0; i < 2 * LINE_HISTORY; i++)
		line_history_keep(&history, slice_str(i % 2 ? "odd" : "even"));
	ASSERT_EQ(LINE_HISTORY, (int)history.count);
	line_history_free(&history);
	PASS();
}

/* However long the line and wherever the cursor, the cursor is drawn, and nothing else beyond the pane. */
TEST cursor_is_always_in_view(void)
{
	struct app app = { 0 };
	struct grid grid = { 0 };

	for (int i = 0; i < 40; i++)
		line_key(&line, LINE_BYTES, i % 3 ? 'a' : 0x4e2d);
	for (int left = 0; left <= 41; left++) {
		int reversed = 0;

		grid_resize(&grid, 30, 1);
		line_edit_draw(&app, pane_cut(grid_pane(&grid), 0, 0, 20, 1), 3, 0, &line, true);
		for (int x = 0; x < 30; x++) {
			reversed += (grid_at(&grid, x, 0)->style.attributes & STYLE_REVERSE) != 0;
			if (x < 3 || x >= 20)
				ASSERT_EQ(' ', grid_at(&grid, x, 0)->text[0]);
		}
		ASSERT(reversed == 1 || reversed == 2);
		line_key(&line, LINE_BYTES, TUI_KEY_LEFT);
	}
	grid_free(&grid);
	PASS();
}

SUITE(tui_field)
{
	SET_SETUP(setup_cb, NULL);
	RUN_TEST(full_line_keeps_whole_characters_in_its_bounds);
	RUN_TEST(backspace_takes_one_whole_character);
	RUN_TEST(control_characters_stay_out);
	RUN_TEST(cursor_goes_through_the_line);
	RUN_TEST(lines_typed_before_come_back);
	RUN_TEST(cursor_is_always_in_view);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_field);
	GREATEST_MAIN_END();
}
