/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of list.h. Columns that don't fit are left out by their priority, and those that grow share the room that is
 * left. A cell is a pane of its own: what doesn't fit into it is cut off, and rows never wrap.
 */
#include "tui/list.h"

#include "base/check.h"
#include "tui/views.h"

struct layout {
	int x[LIST_COLUMNS_MAX], width[LIST_COLUMNS_MAX];        /* width 0: the column is left out */
};

static int width_of(const struct list_table *table, const bool *out)
{
	int width = LIST_MARGIN;

	for (size_t i = 0; i < table->count; i++)
		width += out[i] ? 0 : table->columns[i].width + table->columns[i].gap;
	return width;
}

/* Leave out the column with the highest priority number. False: all that are left stay. */
static bool leave_out_one(const struct list_table *table, bool *out)
{
	size_t at = table->count;

	for (size_t i = 0; i < table->count; i++)
		if (!out[i] && table->columns[i].priority > 0 &&
		    (at == table->count || table->columns[i].priority > table->columns[at].priority))
			at = i;
	if (at == table->count)
		return false;
	out[at] = true;
	return true;
}

/* Give each column that grows its share of the room that is left. */
static void grow(const struct list_table *table, const bool *out, int rest, struct layout *layout)
{
	int shares = 0;

	for (size_t i = 0; i < table->count; i++)
		shares += out[i] ? 0 : table->columns[i].grow;
	/* Columns with a limit come first, so that others get what they leave. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < table->count; i++) {
			const struct list_column *column = &table->columns[i];
			int more;

			if (out[i] || column->grow == 0 || (column->most > 0) != (pass == 0))
				continue;
			more = rest * column->grow / shares;
			if (column->most > 0 && column->width + more > column->most)
				more = column->most - column->width;
			layout->width[i] += more;
			rest -= more;
			shares -= column->grow;
		}
	}
}

static struct layout lay_out(const struct list_table *table, int width)
{
	bool out[LIST_COLUMNS_MAX] = { false };
	struct layout layout = { 0 };
	int x = LIST_MARGIN;

	CHECK(table->count <= LIST_COLUMNS_MAX);
	while (width_of(table, out) > width && leave_out_one(table, out))
		continue;
	for (size_t i = 0; i < table->count; i++)
		layout.width[i] = out[i] ? 0 : table->columns[i].width;
	if (width_of(table, out) < width)
		grow(table, out, width - width_of(table, out), &layout);
	for (size_t i = 0; i < table->count; i++) {
		layout.x[i] = x;
		x += out[i] ? 0 : layout.width[i] + table->columns[i].gap;
	}
	return layout;
}

size_t list_selected(const struct list_table *table, const struct list_view *view, struct list_rows rows)
{
	if (!view->chosen)
		return 0;
	for (size_t i = 0; i < rows.count; i++)
		if (table->id(rows.at[i]) == view->id)
			return i;
	return rows.count;
}

void list_select(const struct list_table *table, struct list_view *view, const void *row)
{
	view->id = table->id(row);
	view->chosen = true;
}

void list_move(const struct list_table *table, struct list_view *view, struct list_rows rows, enum action action)
{
	size_t at = list_selected(table, view, rows);

	if (rows.count == 0)
		return;
	at = move_in(at < rows.count ? at : 0, rows.count, view->page > 0 ? (size_t)view->page : 1, action);
	list_select(table, view, rows.at[at]);
}

bool list_find(const struct app *app, const struct list_table *table, struct list_view *view, struct list_rows rows, int step)
{
	size_t from = list_selected(table, view, rows);

	for (size_t i = 1; i <= rows.count; i++) {
		size_t at = (from + (step > 0 ? i : rows.count * 2 - i)) % rows.count;

		if (!name_matches(app, table->name(rows.at[at])))
			continue;
		list_select(table, view, rows.at[at]);
		return true;
	}
	return false;
}

static void heads_draw(const struct app *app, const struct list_table *table, const struct layout *layout, struct pane pane)
{
	struct style style = styled(app, LOOK_LIST_HEAD);

	for (size_t i = 0; i < table->count; i++) {
		struct pane cell = pane_cut(pane, layout->x[i], 0, layout->width[i], 1);

		if (layout->width[i] == 0)
			continue;
		/* Columns without a head leave their room to the one before. */
		for (size_t next = i + 1; next < table->count && table->columns[next].head[0] == '\0'; next++)
			cell.width += table->columns[next - 1].gap + layout->width[next];
		if (table->columns[i].right)
			pane_right(cell, 0, 0, cell.width, style, table->columns[i].head);
		else
			pane_str(cell, 0, 0, style, table->columns[i].head);
	}
}

void list_draw(const struct app *app, const struct list_table *table, struct list_view *view, struct list_rows rows,
	       struct pane pane)
{
	struct layout layout = lay_out(table, pane.width);
	int heads = table->no_heads ? 0 : 1;
	size_t page = pane.height > heads ? (size_t)(pane.height - heads) : 0, selected = list_selected(table, view, rows);

	if (heads)
		heads_draw(app, table, &layout, pane);
	view->page = (int)page;
	/* A list without the keys stays where it is. */
	view->top = scroll_to(view->top, view->away ? view->top : selected < rows.count ? selected : 0, page, rows.count);
	for (size_t y = 0; y < page && view->top + y < rows.count; y++) {
		struct pane line = pane_cut(pane, 0, (int)y + heads, pane.width, 1);

		for (size_t i = 0; i < table->count; i++)
			if (layout.width[i] > 0)
				table->columns[i].draw(app, pane_cut(line, layout.x[i], 0, layout.width[i], 1), rows.at[view->top + y]);
		if (view->top + y != selected || view->away)
			continue;
		pane_str(line, 0, 0, styled(app, LOOK_LIST_SELECTED), ">");
		pane_restyle(line, 0, 0, line.width, styled(app, LOOK_LIST_SELECTED), 0);
	}
	if (rows.count == 0 && page > 0)
		pane_str(pane, LIST_MARGIN, heads, styled(app, LOOK_TEXT_WEAK), table->none);
}
