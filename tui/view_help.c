/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the texts of keys.def: tabs, hints, the help overlay. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "tui/views.h"

void tabs_draw(struct app *app, struct pane pane)
{
	int x = 0;

	for (enum view view = VIEW_ANY + 1; view < VIEW_COUNT; view++) {
		const struct view_row *row = view_row(view);
		struct style style = styled(app, view == app->view ? LOOK_TAB_HERE : LOOK_TAB);

		if ((row->traits & TRAIT_COUNT_GATES) && model_gates_waiting(&app->model) > 0)
			x = pane_printf(pane, x, 0, style, "%s %s(%" PRIu64 ")", row->shown, row->word, model_gates_waiting(&app->model)) + 2;
		else if (row->shown[0])
			x = pane_printf(pane, x, 0, style, "%s %s", row->shown, row->word) + 2;
		else if (view == app->view)
			x = pane_str(pane, x, 0, style, row->word) + 2;
	}
	pane_right(pane, pane.width - 7, 0, 7, styled(app, LOOK_TAB), "? Help");
}

static bool applies(const struct key_row *row, enum view view)
{
	return row->shown[0] != '\0' && (row->view == VIEW_ANY || row->view == view);
}

void hints_draw(struct app *app, struct pane pane)
{
	struct style key = styled(app, LOOK_HINT_KEY);
	struct style dim = styled(app, LOOK_HINT_WORD);
	int x = 0;

	/* Keys of this view first, then those of all views. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < key_count; i++) {
			const struct key_row *row = &key_table[i];
			int room = (int)(strlen(row->shown) + strlen(row->hint)) + 1;

			if (!applies(row, app->view) || row->hint[0] == '\0' || !view_row(app->view)->offers(app, row->action) ||
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
	struct style bold = styled(app, LOOK_TEXT_STRONG), plain = { 0 };
	struct pane body = pane_cut(pane, 2, 1, pane.width - 4, pane.height - 1);
	int most = app->help_lines > body.height ? app->help_lines - body.height : 0;
	char title[64];
	int line = 0;

	snprintf(title, sizeof title, "HELP: keys in %s (arrows scroll, Esc closes)", view_row(app->view)->word);
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
