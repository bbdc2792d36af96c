/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small private files of settings, with a line "WORD VALUE" for each. An empty line ends the text. */
#ifndef TITAN_NET_WORDFILE_H
#define TITAN_NET_WORDFILE_H

#include <stddef.h>

#include "base/buf.h"
#include "proto/error.h"

struct word_field {
	const char *word;
	char *at;                        /* the value, with a NUL; empty: the file doesn't have the word */
	size_t size;
};

/* Parse a text into the fields; fields that it doesn't name become empty. what: where the text is from, for errors. */
enum err words_read(struct slice text, const struct word_field *fields, size_t count, const char *what, struct error *error);
/* Write the fields that aren't empty. */
void words_write(const struct word_field *fields, size_t count, struct buf *out);
/* Like words_read and words_write, for a file of mode 0600. Writing replaces the whole file or leaves it unchanged. */
enum err words_read_file(const char *path, const struct word_field *fields, size_t count, struct error *error);
enum err words_write_file(const char *path, const struct word_field *fields, size_t count, struct error *error);

#endif
