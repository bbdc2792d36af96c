/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of keys. */
#include "tui/keys.h"

const struct key_row key_table[] = {
#define VIEW(NAME, name, code, shown, word, traits, help) \
	{ VIEW_ANY, code, ACTION_GO_##NAME, GROUP_GO, shown, "", help },
#include "tui/views.def"
#undef VIEW
#define KEY(view, code, action, group, shown, hint, help) \
	{ VIEW_##view, code, ACTION_##action, GROUP_##group, shown, hint, help },
#include "tui/keys.def"
#undef KEY
};

const size_t key_count = sizeof key_table / sizeof key_table[0];

const char *const key_group_names[GROUP_COUNT] = { "Move", "Go", "Find", "Look", "Act", "Misc" };

enum action key_action(enum view view, uint32_t code)
{
	for (size_t i = 0; i < key_count; i++)
		if (key_table[i].code == code && (key_table[i].view == VIEW_ANY || key_table[i].view == view))
			return key_table[i].action;
	return ACTION_NONE;
}
