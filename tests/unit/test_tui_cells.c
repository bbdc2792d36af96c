/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells: nothing is drawn outside a pane, no half characters, no control characters; bars, numbers and times. */
#include "base/rand.h"
#include "base/text.h"
#include "greatest.h"
#include "tui/cells.h"
#include "tui/theme.h"

GREATEST_MAIN_DEFS();

static const struct style plain;

static void fill(struct grid *grid, int width, int height)
{
	grid_resize(grid, width, height);
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++)
			pane_str(grid_pane(grid), x, y, plain, "#");
}

static bool within(struct pane pane, int x, int y)
{
	return x >= pane.x && y >= pane.y && x < pane.x + pane.width && y < pane.y + pane.height;
}

static bool whole(const struct grid *grid)
{
	for (int y = 0; y < grid->height; y++) {
		for (int x = 0; x < grid->width; x++) {
			const struct cell *cell = grid_at(grid, x, y);

			if (cell->width == 2 && (x + 1 == grid->width || grid_at(grid, x + 1, y)->width != 0))
				return false;
			if (cell->width == 0 && (x == 0 || grid_at(grid, x - 1, y)->width != 2))
				return false;
		}
	}
	return true;
}

static void scribble(struct rand_state *rand, struct pane pane)
{
	static const char *const words[] = {
		"plain", "中文字", "e\314\201a", "▸ RUN", "\x1b[2J\n", "\xff\xfe", ""};
	int x = (int)rand_below(rand, 40) - 10, y = (int)rand_below(rand, 20) - 5;
	struct slice word = slice_str(words[rand_below(rand, 7)]);
	uint32_t values[] = { 0, 3, 9, 1 };

	switch (rand_below(rand, 8)) {
	case 0:
		pane_text(pane, x, y, plain, word);
		break;
	case 1:
		pane_foreign(pane, x, y, plain, word);
		break;
	case 2:
		pane_clipped(pane, x, y, (int)rand_below(rand, 12), plain, word, rand_below(rand, 2));
		break;
	case 3:
		pane_bar(pane, x, y, (int)rand_below(rand, 30), (unsigned)rand_below(rand, 1200), plain,
			rand_below(rand, 2));
		break;
	case 4:
		pane_spark(pane, x, y, values, 4, 9, plain, rand_below(rand, 2));
		break;
	case 5:
		pane_title(pane, y, plain, rand_below(rand, 2), "中 TITLE");
		break;
	case 6:
		pane_right(pane, x, y, (int)rand_below(rand, 12), plain, "right中");
		break;
	default:
		pane_restyle(pane, x, y, (int)rand_below(rand, 40), plain, STYLE_BOLD);
		break;
	}
}

TEST nothing_outside_a_pane(void)
{
	struct rand_state rand;
	struct grid grid = { 0 };

	rand_seed(&rand, 1);
	for (int round = 0; round < 4000; round++) {
		struct pane pane;

		fill(&grid, 30, 12);
		pane = pane_cut(grid_pane(&grid), (int)rand_below(&rand, 40) - 5,
			(int)rand_below(&rand, 20) - 4, (int)rand_below(&rand, 40),
			(int)rand_below(&rand, 14));
		pane = pane_cut(pane, (int)rand_below(&rand, 6) - 3, (int)rand_below(&rand, 6) - 3,
			(int)rand_below(&rand, 30), (int)rand_below(&rand, 12));
		for (int i = 0; i < 5; i++)
			scribble(&rand, pane);
		for (int y = 0; y < 12; y++)
			for (int x = 0; x < 30; x++)
				if (!within(pane, x, y))
					ASSERT(grid_at(&grid, x, y)->text[0] == '#' &&
						grid_at(&grid, x, y)->style.attributes == 0);
		ASSERT(whole(&grid));
	}
	grid_free(&grid);
	PASS();
}

TEST no_control_characters(void)
{
	struct grid grid = { 0 };
	struct buf dump = { 0 };

	grid_resize(&grid, 40, 1);
	pane_text(grid_pane(&grid), 0, 0, plain, slice_make("a\x1b[2Jb\x07\x7f\xc2\x9b" "c\xff", 12));
	grid_dump(&grid, false, &dump);
	ASSERT_STR_EQ("a?[2Jb???c?\n", buf_cstr(&dump));
	buf_clear(&dump);
	grid_clear(&grid);
	pane_str(grid_pane(&grid), 0, 0, plain, "a\u202eb\u200bc");
	grid_dump(&grid, false, &dump);
	ASSERT_STR_EQ("a?b?c\n", buf_cstr(&dump));
	buf_clear(&dump);
	grid_clear(&grid);
	pane_foreign(grid_pane(&grid), 0, 0, plain, slice_str("\x1b[31m"));
	grid_dump(&grid, false, &dump);
	ASSERT_STR_EQ("\\x1b[31m\n", buf_cstr(&dump));
	buf_free(&dump);
	grid_free(&grid);
	PASS();
}

TEST wide_characters(void)
{
	struct grid grid = { 0 };
	struct pane pane;

	grid_resize(&grid, 6, 1);
	pane = grid_pane(&grid);
	ASSERT_EQ(6, pane_str(pane, 0, 0, plain, "中文字"));
	ASSERT(whole(&grid));
	pane_str(pane, 3, 0, plain, "x");
	ASSERT_EQ(' ', grid_at(&grid, 2, 0)->text[0]);
	ASSERT_EQ(2, grid_at(&grid, 0, 0)->width);
	ASSERT(whole(&grid));
	pane_str(pane, 0, 0, plain, "y");
	ASSERT_EQ(' ', grid_at(&grid, 1, 0)->text[0]);
	ASSERT(whole(&grid));
	/* A wide character drawn over the halves of two others: their remaining halves become blanks. */
	pane_str(pane, 0, 0, plain, "中文字");
	pane_str(pane, 1, 0, plain, "大");
	ASSERT_EQ(' ', grid_at(&grid, 0, 0)->text[0]);
	ASSERT_EQ(2, grid_at(&grid, 1, 0)->width);
	ASSERT_EQ(' ', grid_at(&grid, 3, 0)->text[0]);
	ASSERT(whole(&grid));
	/* A wide character that only half fits at the edge becomes a blank. */
	pane_str(pane, 5, 0, plain, "中");
	ASSERT_EQ(' ', grid_at(&grid, 5, 0)->text[0]);
	ASSERT(whole(&grid));
	/* A combining mark joins the character before it, as far as there is room. */
	pane_str(pane, 0, 0, plain, "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81");
	ASSERT_EQ(11, grid_at(&grid, 0, 0)->len);
	grid_free(&grid);
	PASS();
}

TEST bars(void)
{
	struct grid grid = { 0 };
	struct buf dump = { 0 };

	grid_resize(&grid, 10, 3);
	pane_bar(grid_pane(&grid), 0, 0, 10, 555, plain, false);
	pane_bar(grid_pane(&grid), 0, 1, 10, 555, plain, true);
	pane_bar(grid_pane(&grid), 0, 2, 10, 5000, plain, true);
	grid_dump(&grid, false, &dump);
	ASSERT_STR_EQ("█████▌\n#####=\n##########\n", buf_cstr(&dump));
	buf_free(&dump);
	grid_free(&grid);
	PASS();
}

TEST numbers(void)
{
	char text[NUMBER_SIZE];

	ASSERT_STR_EQ("8214", number_short(8214, 5, text));
	ASSERT_STR_EQ("8214", number_short(8214, 4, text));
	ASSERT_STR_EQ("8k", number_short(8214, 3, text));
	ASSERT_STR_EQ("91449", number_short(91449, 5, text));
	ASSERT_STR_EQ("914k", number_short(914490, 5, text));
	ASSERT_STR_EQ("9.1M", number_short(9144900, 5, text));
	ASSERT_STR_EQ("999k", number_short(999999, 4, text));
	ASSERT_STR_EQ("1.2M", number_short(1249999, 4, text));
	for (uint64_t value = 1; value < UINT64_MAX / 3; value *= 3)
		ASSERT(strlen(number_short(value, 4, text)) <= 4);
	ASSERT_STR_EQ("40s", span_short(40999, text));
	ASSERT_STR_EQ("4m", span_short(4 * 60000 + 5000, text));
	ASSERT_STR_EQ("3h", span_short(3 * 3600000, text));
	ASSERT_STR_EQ("2d", span_short(INT64_C(2) * 86400000, text));
	PASS();
}

SUITE(cells)
{
	RUN_TEST(nothing_outside_a_pane);
	RUN_TEST(no_control_characters);
	RUN_TEST(wide_characters);
	RUN_TEST(bars);
	RUN_TEST(numbers);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cells);
	GREATEST_MAIN_END();
}
