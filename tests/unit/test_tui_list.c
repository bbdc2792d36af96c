/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists in columns: which columns stay, what gets the room, and the selection while rows change their places. */
#include "greatest.h"
#include "tui/list.h"
#include "tui/views.h"

GREATEST_MAIN_DEFS();

struct thing {
	uint64_t id;
	const char *name;
};

static struct thing things[] = { { 11, "ant" }, { 12, "bee" }, { 13, "c\x1b[2J" }, { 14, "bear" }, { 15, "emu" } };
static void *rows[5];
static struct app app;
static struct grid grid;
static struct list_view view;

static void id_cell(const struct app *of, struct pane cell, const void *row)
{
	(void)of;
	pane_printf(cell, 0, 0, (struct style){ 0 }, "%d", (int)((const struct thing *)row)->id);
}

static void name_cell(const struct app *of, struct pane cell, const void *row)
{
	(void)of;
	pane_foreign(cell, 0, 0, (struct style){ 0 }, slice_str(((const struct thing *)row)->name));
}

static void fill_cell(const struct app *of, struct pane cell, const void *row)
{
	(void)of;
	(void)row;
	for (int x = 0; x < 100; x++)
		pane_str(cell, x, 0, (struct style){ 0 }, "#");
}

static uint64_t thing_id(const void *row)
{
	return ((const struct thing *)row)->id;
}

static struct slice thing_name(const void *row)
{
	return slice_str(((const struct thing *)row)->name);
}

static const struct list_column columns[] = {
	{ .head = "ID", .width = 3, .gap = 1, .draw = id_cell },
	{ .head = "NAME", .width = 5, .grow = 1, .gap = 1, .draw = name_cell },
	{ .head = "ONE", .width = 4, .priority = 1, .gap = 1, .right = true, .draw = fill_cell },
	{ .head = "TWO", .width = 4, .grow = 1, .most = 6, .priority = 2, .draw = fill_cell },
};

static const struct list_table table = {
	.columns = columns, .count = 4, .id = thing_id, .name = thing_name, .none = "no thing",
};

static struct list_rows all(void)
{
	return (struct list_rows){ rows, 5 };
}

static void setup_cb(void *data)
{
	(void)data;
	for (size_t i = 0; i < 5; i++)
		rows[i] = &things[i];
	view = (struct list_view){ 0 };
	app = (struct app){ 0 };
}

static void teardown_cb(void *data)
{
	(void)data;
	grid_free(&grid);
}

static const char *picture(int width, int height)
{
	static struct buf text;

	grid_resize(&grid, width, height);
	list_draw(&app, &table, &view, all(), grid_pane(&grid));
	buf_clear(&text);
	grid_dump(&grid, false, &text);
	return buf_cstr(&text);
}

TEST columns_go_by_priority_and_the_rest_is_shared(void)
{
	/* 2 for the mark, 4, 6, 5, 4 */
	ASSERT_STR_EQ("  ID  NAME   ONE TWO\n> 11  ant   #### ####\n", picture(21, 2));
	ASSERT_STR_EQ("  ID  NAME    ONE\n> 11  ant    ####\n", picture(18, 2));
	ASSERT_STR_EQ("  ID  NAME\n> 11  ant\n", picture(16, 2));
	/* Of eight more cells the limited column takes two, and the name the others. */
	ASSERT_STR_EQ("  ID  NAME         ONE TWO\n> 11  ant         #### ######\n", picture(29, 2));
	PASS();
}

TEST selection_is_an_object(void)
{
	list_move(&table, &view, all(), ACTION_DOWN);
	ASSERT_EQ(12, (int)view.id);
	rows[0] = &things[1];
	rows[1] = &things[0];
	ASSERT_EQ(0, (int)list_selected(&table, &view, all()));
	list_move(&table, &view, all(), ACTION_LAST);
	ASSERT_EQ(15, (int)view.id);
	/* An object that has gone: the next move begins at the first row. */
	list_move(&table, &view, (struct list_rows){ rows, 3 }, ACTION_DOWN);
	ASSERT_EQ(11, (int)view.id);
	list_move(&table, &view, (struct list_rows){ rows, 0 }, ACTION_DOWN);
	ASSERT_EQ(11, (int)view.id);
	PASS();
}

TEST search_goes_round(void)
{
	line_set(&app.find, slice_str("be"));
	ASSERT(list_find(&app, &table, &view, all(), 1));
	ASSERT_EQ(12, (int)view.id);
	ASSERT(list_find(&app, &table, &view, all(), 1));
	ASSERT_EQ(14, (int)view.id);
	ASSERT(list_find(&app, &table, &view, all(), 1));
	ASSERT_EQ(12, (int)view.id);
	ASSERT(list_find(&app, &table, &view, all(), -1));
	ASSERT_EQ(14, (int)view.id);
	app.find.text[0] = 'z';
	ASSERT_FALSE(list_find(&app, &table, &view, all(), 1));
	PASS();
}

TEST selected_row_is_on_the_page(void)
{
	for (int i = 0; i < 4; i++)
		list_move(&table, &view, all(), ACTION_DOWN);
	ASSERT_STR_EQ("  ID  NAME\n  14  bear\n> 15  emu\n", picture(16, 3));
	/* A list without the keys marks no row, and stays where it is. */
	view.away = true;
	ASSERT_STR_EQ("  ID  NAME\n  14  bear\n  15  emu\n", picture(16, 3));
	view.id = 11;
	ASSERT_STR_EQ("  ID  NAME\n  14  bear\n  15  emu\n", picture(16, 3));
	PASS();
}

TEST foreign_names_stay_in_their_cells(void)
{
	ASSERT_STR_EQ("  ID  NAME\n> 11  ant\n  12  bee\n  13  c\\x1b\n  14  bear\n", picture(12, 5));
	PASS();
}

TEST empty_list_says_so(void)
{
	struct buf text = { 0 };

	grid_resize(&grid, 20, 2);
	list_draw(&app, &table, &view, (struct list_rows){ rows, 0 }, grid_pane(&grid));
	grid_dump(&grid, false, &text);
	ASSERT_STR_EQ("  ID  NAME      ONE\n  no thing\n", buf_cstr(&text));
	buf_free(&text);
	PASS();
}

SUITE(tui_list)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(columns_go_by_priority_and_the_rest_is_shared);
	RUN_TEST(selection_is_an_object);
	RUN_TEST(search_goes_round);
	RUN_TEST(selected_row_is_on_the_page);
	RUN_TEST(foreign_names_stay_in_their_cells);
	RUN_TEST(empty_list_says_so);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_list);
	GREATEST_MAIN_END();
}
