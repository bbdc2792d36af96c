/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of views, from views.def. */
#include "tui/views.h"

static const struct view_row table[VIEW_COUNT] = {
#define VIEW(NAME, name, code, shown, word, traits, help) \
	[VIEW_##NAME] = { word, shown, traits, name##_draw, name##_act, name##_offers, name##_find, name##_name },
#include "tui/views.def"
#undef VIEW
};

const struct view_row *view_row(enum view view)
{
	return &table[view > VIEW_ANY && view < VIEW_COUNT ? view : VIEW_HOME];
}
