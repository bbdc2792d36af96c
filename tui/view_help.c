/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the texts of keys.def: tabs, hints, the help overlay. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "tui/views.h"

void tabs_draw(struct app *app, struct pane pane)
{
	struct style dim = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM);
	static const enum view views[] = {
		[ACTION_HOME] = VIEW_HOME, [ACTION_RUNS] = VIEW_RUNS, [ACTION_DAG] = VIEW_DAG,
		[ACTION_WORKERS] = VIEW_WORKERS,
	};
	int x = 0;

	for (size_t i = 0; i < key_count; i++) {
		const struct key_row *row = &key_table[i];
		enum view view;

		if (row->view != VIEW_ANY || row->code < '0' || row->code > '9')
			continue;
		view = views[row->action];
		x = pane_printf(pane, x, 0,
			    view == app->view ? theme_style(&app->theme, COLOUR_DEFAULT, STYLE_REVERSE) : dim,
			    "%s %s", row->shown, view_names[view]) +
		    2;
	}
	if (app->view == VIEW_LOG)
		pane_str(pane, x, 0, theme_style(&app->theme, COLOUR_DEFAULT, STYLE_REVERSE), "Log");
	pane_right(pane, pane.width - 7, 0, 7, dim, "? Help");
}

static bool applies(const struct key_row *row, enum view view)
{
	return row->shown[0] != '\0' && (row->view == VIEW_ANY || row->view == view);
}

void hints_draw(struct app *app, struct pane pane)
{
	struct style key = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_BOLD);
	struct style dim = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM);
	int x = 0;

	/* Keys of this view first, then those of all views. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < key_count; i++) {
			const struct key_row *row = &key_table[i];
			int room = (int)(strlen(row->shown) + strlen(row->hint)) + 1;

			if (!applies(row, app->view) || row->hint[0] == '\0' ||
				(row->view == VIEW_ANY) != (pass == 1) || x + room > pane.width)
				continue;
			x = pane_str(pane, x, 0, key, row->shown);
			x = pane_str(pane, x + 1, 0, dim, row->hint) + 2;
		}
	}
}

static int help_line(
	struct app *app, struct pane pane, int *line, struct style style, int x, const char *text)
{
	int y = *line - app->help_top;

	if (y >= 0 && y < pane.height)
		pane_str(pane, x, y, style, text);
	return y;
}

void help_draw(struct app *app, struct pane pane)
{
	struct style bold = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_BOLD), plain = { 0 };
	struct pane body = pane_cut(pane, 2, 1, pane.width - 4, pane.height - 1);
	int most = app->help_lines > body.height ? app->help_lines - body.height : 0;
	char title[64];
	int line = 0;

	snprintf(title, sizeof title, "HELP: keys in %s (arrows scroll, Esc closes)", view_names[app->view]);
	pane_clear(pane, plain);
	pane_title(pane, 0, bold, app->theme.ascii, title);
	app->help_top = app->help_top > most ? most : app->help_top;
	app->help_page = body.height;
	for (int group = 0; group < GROUP_COUNT; group++) {
		bool first = true;

		for (size_t i = 0; i < key_count; i++) {
			const struct key_row *row = &key_table[i];

			if (row->group != (enum key_group)group || !applies(row, app->view))
				continue;
			if (first)
				help_line(app, body, &line, bold, 0, key_group_names[group]);
			first = false;
			help_line(app, body, &line, bold, 6, row->shown);
			help_line(app, body, &line, plain, 16, row->help);
			line++;
		}
	}
	app->help_lines = line;
}
