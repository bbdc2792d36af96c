/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text from outside on its way to a terminal. Every output (screen, CLI, logs, errors) passes what jobs, names and
 * peers wrote through text_escape. It makes visible (\x1b, \u202e, \xff): C0, C1, ESC, DEL, bidirectional and
 * zero-width characters, and bytes that aren't UTF-8. Widths are in terminal cells, as utf8proc gives them.
 */
#ifndef TITAN_BASE_TEXT_H
#define TITAN_BASE_TEXT_H

#include "base/buf.h"

enum text_keep {
	TEXT_KEEP_NONE = 0,
	TEXT_KEEP_NEWLINE = 1,      /* text_escape leaves \n as it is */
	TEXT_KEEP_TAB = 2,          /* text_escape leaves \t as it is */
	TEXT_KEEP_COLOUR = 4,       /* colour sequences (SGR) stay, rebuilt from their parsed values */
};

void text_escape(struct buf *out, struct slice text, unsigned keep);
/*
 * Write a JSON string. Control, bidirectional and zero-width characters become \u escapes, and bytes that aren't UTF-8 become
 * U+FFFD.
 */
void text_add_json(struct buf *out, struct slice text);
/* Is this a control, bidirectional, zero-width or unassigned character? */
bool text_is_hidden(uint32_t code);
size_t text_width(struct slice text);                    /* returns the width of text that is already escaped */
/* Number of bytes of the text that fit into this many cells. */
size_t text_clip(struct slice text, size_t cells, size_t *ret_width);
/*
 * Read one character: return its number of bytes (1 to 4; an invalid byte counts as one), its code and width. *ret_code
 * is U+FFFD if it is invalid.
 */
size_t text_next(struct slice text, uint32_t *ret_code, int *ret_width);
bool text_parse_u64(struct slice text, uint64_t *ret_value);   /* parses a number of decimal digits only */
/* true: the text is [A-Za-z0-9_][A-Za-z0-9_.-]* with at most 128 bytes */
bool text_is_name(struct slice text);
/* Does the text match the pattern, in which * stands for any characters and ? for one? */
bool text_glob(struct slice pattern, struct slice text);
/* true: the text names a person, NAME, or a team of people, @NAME */
bool text_is_person(struct slice text);
bool text_is_team(struct slice text);    /* true: the text begins with @ */
/* true: the text is a name, or NAME[digits] as in a fan-out */
bool text_is_job_name(struct slice text);
size_t text_near(size_t len);    /* returns the distance below which a word of this length counts as similar */
/* Return the number of edits between two words, for "did you mean"; give_up + 1 if it is more than give_up. */
size_t text_distance(struct slice a, struct slice b, size_t give_up);
/* Return the most similar word; NULL: none is similar. */
const char *text_nearest(const char *word, const char *const *words, size_t count);
/* Does the whole text match the pattern? * stands for any bytes, ? for one. Takes at most pattern times text steps. */
bool text_matches(struct slice pattern, struct slice text);
/* Split a command without shell syntax into words, each with a NUL after it; false: it needs a shell. */
bool text_split_plain(struct slice command, struct buf *ret_words, size_t *ret_count);

/* Append a duration for people: 4.2s, 42s, 4m02s, 3h15m, 2d04h. */
void text_add_span(struct buf *out, int64_t ms);

#endif
