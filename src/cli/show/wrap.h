/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that fits the terminal: cut with an ellipsis, or broken into lines. The text is escaped already. */
#ifndef TITAN_CLI_WRAP_H
#define TITAN_CLI_WRAP_H

#include "base/buf.h"
#include "cli/show/look.h"

/*
 * Return how many bytes of the text stand on its first line, which ends at a space or behind a comma where it can. *ret_next:
 * where the next line begins. A word longer than a line is broken, unless words are whole.
 */
size_t wrap_line(struct slice text, size_t cells, bool whole_words, size_t *ret_next);
/*
 * Write a text that begins in the column at of its line. It goes on below, from the column indent on, and no word is
 * broken. In a terminal that is too narrow, or in none, it stays one line.
 */
void wrap_add(const struct look *look, struct slice text, size_t at, size_t indent, struct buf *out);
/* Write as much of the text as fits into so many cells. */
void wrap_cut(const struct look *look, struct slice text, size_t cells, struct buf *out);

#endif
