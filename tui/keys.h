/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Key codes, and keys.def as tables. A character's code is its code point; other keys have codes above. */
#ifndef TITAN_TUI_KEYS_H
#define TITAN_TUI_KEYS_H

#include <stddef.h>
#include <stdint.h>

#define TUI_CTRL(letter) ((letter) & 0x1f)

enum {
	TUI_KEY_ENTER = 0x0d,
	TUI_KEY_ESCAPE = 0x1b,
	TUI_KEY_BACKSPACE = 0x7f,
	TUI_KEY_UP = 0x110000,
	TUI_KEY_DOWN,
	TUI_KEY_LEFT,
	TUI_KEY_RIGHT,
	TUI_KEY_HOME,
	TUI_KEY_END,
	TUI_KEY_PAGE_UP,
	TUI_KEY_PAGE_DOWN,
	TUI_KEY_DELETE,
	TUI_KEY_NONE,                    /* no key */
	TUI_KEY_PASTED = 0x1000000,      /* flag: the key came from a paste, so it triggers no action */
};

enum view {
	VIEW_ANY,
#define VIEW(NAME, name, code, shown, word, traits, help) VIEW_##NAME,
#include "tui/views.def"
#undef VIEW
	VIEW_COUNT
};

/* The actions that lead to a view come first, and have its number. */
enum action {
	ACTION_NONE,
#define VIEW(NAME, name, code, shown, word, traits, help) ACTION_GO_##NAME,
#include "tui/views.def"
#undef VIEW
	ACTION_UP, ACTION_DOWN, ACTION_PAGE_UP, ACTION_PAGE_DOWN, ACTION_FIRST, ACTION_LAST, ACTION_LEFT, ACTION_RIGHT,
	ACTION_OPEN, ACTION_BACK, ACTION_PARENT, ACTION_CHILD, ACTION_FIND, ACTION_NEXT, ACTION_PREVIOUS, ACTION_FAILURES,
	ACTION_FOLD, ACTION_LOG, ACTION_FREEZE, ACTION_CANCEL, ACTION_APPROVE, ACTION_REJECT, ACTION_PUSHBACK, ACTION_HELP,
	ACTION_REDRAW, ACTION_SUSPEND, ACTION_COMMAND, ACTION_WRAP, ACTION_TIME, ACTION_COPY, ACTION_PAGER,
	ACTION_TRY_BEFORE, ACTION_TRY_AFTER, ACTION_PANE, ACTION_RETRY, ACTION_HOLD,
	ACTION_RELEASE, ACTION_DISCARD, ACTION_CORDON, ACTION_UNCORDON, ACTION_DRAIN, ACTION_WHY, ACTION_INFO, ACTION_UNDO, ACTION_QUIT
};

enum key_group { GROUP_MOVE, GROUP_GO, GROUP_FIND, GROUP_LOOK, GROUP_ACT, GROUP_MISC, GROUP_COUNT };

struct key_row {
	enum view view;
	uint32_t code;
	enum action action;
	enum key_group group;
	const char *shown, *hint, *help;
};

extern const struct key_row key_table[];
extern const size_t key_count;
extern const char *const key_group_names[GROUP_COUNT];

enum action key_action(enum view view, uint32_t code);

#endif
