/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lists of objects in columns: which columns fit, which rows are on the page, and which object is selected. An object is
 * selected by its number, so the selection stays while rows come, go and move.
 */
#ifndef TITAN_TUI_LIST_H
#define TITAN_TUI_LIST_H

#include "tui/cells.h"
#include "tui/keys.h"

#define LIST_COLUMNS_MAX 16
#define LIST_MARGIN 2                    /* cells before the first column, with the mark of the selected row */

struct app;

struct list_column {
	const char *head;
	int width;                       /* cells; if the column grows, the least */
	int grow, most;                  /* its share of the room that is left, 0: none; the most cells, 0: any number */
	int priority;                    /* the column with the highest number is left out first; 0: never */
	int gap;                         /* blank cells behind the column */
	bool right;                      /* the head is above the right end */
	void (*draw)(const struct app *app, struct pane cell, const void *row);
};

struct list_table {
	const struct list_column *columns;
	size_t count;
	bool no_heads;
	uint64_t (*id)(const void *row);
	struct slice (*name)(const void *row);           /* what a search looks at */
	const char *none;                /* said if there are no rows */
};

struct list_view {                       /* how a person sees the list */
	uint64_t id;                     /* the selected object */
	bool chosen;                     /* false: none was selected yet, so the first row counts as selected */
	bool away;                       /* another list on the screen has the keys, so no row is marked */
	size_t top;
	int page;                        /* rows of the last picture */
};

struct list_rows {
	void **at;
	size_t count;
};

/* The row of the selected object; rows.count: it isn't in the list. */
size_t list_selected(const struct list_table *table, const struct list_view *view, struct list_rows rows);
void list_select(const struct list_table *table, struct list_view *view, const void *row);
/* Move the selection. From an object that isn't in the list the move begins at the first row. */
void list_move(const struct list_table *table, struct list_view *view, struct list_rows rows, enum action action);
/* Select the next row whose name matches the search, or the one before. False: there is none. */
bool list_find(const struct app *app, const struct list_table *table, struct list_view *view, struct list_rows rows, int step);
void list_draw(const struct app *app, const struct list_table *table, struct list_view *view, struct list_rows rows,
	       struct pane pane);

#endif
