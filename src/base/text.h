/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text from outside on its way to a terminal. text_escape is the one function through which every
 * sink (screen, CLI, logs, error text) passes what jobs, names and peers wrote: C0, C1, ESC, DEL,
 * bidirectional and zero-width characters, and bytes that are no UTF-8, become visible
 * (\x1b, \u202e, \xff). Widths are in terminal cells, by utf8proc.
 */
#ifndef TITAN_BASE_TEXT_H
#define TITAN_BASE_TEXT_H

#include "base/buf.h"

enum text_keep {
	TEXT_KEEP_NONE = 0,
	TEXT_KEEP_NEWLINE = 1,      /* \n stays */
	TEXT_KEEP_TAB = 2,          /* \t stays */
	TEXT_KEEP_COLOUR = 4,       /* SGR sequences stay, re-made from their parsed values */
};

void text_escape(struct buf *out, struct slice text, unsigned keep);
bool text_is_hidden(uint32_t code);                      /* controls, bidirectional, zero-width, unassigned */
size_t text_width(struct slice text);                    /* of already escaped text */
size_t text_clip(struct slice text, size_t cells, size_t *ret_width);   /* bytes that fit */
/* One character: its bytes (1..4; an invalid byte counts as one) and width; ret_code is U+FFFD if invalid. */
size_t text_next(struct slice text, uint32_t *ret_code, int *ret_width);
bool text_parse_u64(struct slice text, uint64_t *ret_value);   /* decimal digits and nothing else */
bool text_is_name(struct slice text);                    /* [A-Za-z0-9_][A-Za-z0-9_.-]*, at most 128 bytes */
bool text_is_job_name(struct slice text);                /* a name, or a name and [digits]: a fan-out's job */
size_t text_near(size_t len);    /* a word of this length has its neighbours below this distance */
size_t text_distance(struct slice a, struct slice b, size_t give_up);   /* edits, for "did you mean" */
const char *text_nearest(const char *word, const char *const *words, size_t count); /* NULL: none is near */
/* Split a command without shell syntax into words, each with a NUL behind it; false when it needs a shell. */
bool text_split_plain(struct slice command, struct buf *ret_words, size_t *ret_count);

/* A span for people: 4.2s, 42s, 4m02s, 3h15m, 2d04h. */
void text_add_span(struct buf *out, int64_t ms);

#endif
