/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regular expressions of the operator matches: PCRE2 with UTF-8, within limits (limits.def), so that no pattern takes
 * long. Pure: the result depends on pattern and text alone.
 */
#ifndef TITAN_LANG_PATTERN_H
#define TITAN_LANG_PATTERN_H

#include "base/slice.h"

enum pattern_result {
	PATTERN_FOUND, PATTERN_ABSENT,
	PATTERN_TOO_LONG,                /* the text is too long, or the search took too many steps */
	PATTERN_WRONG
};

#define PATTERN_FAULT_SIZE 160

/*
 * Check a pattern. False: it is wrong; ret_at is the place of the mistake in it, and ret_fault describes it.
 */
bool pattern_check(struct slice pattern, size_t *ret_at, char ret_fault[PATTERN_FAULT_SIZE]);
/* Does a part of the text match? A text that isn't UTF-8 matches nothing. */
enum pattern_result pattern_search(struct slice pattern, struct slice text);
/* The same for struct expr_world. */
bool pattern_found(struct slice pattern, struct slice text, bool *ret_spent);

#endif
