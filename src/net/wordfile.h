/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small private files of settings: a line for each, "WORD VALUE". An empty line ends the text. */
#ifndef TITAN_NET_WORDFILE_H
#define TITAN_NET_WORDFILE_H

#include <stddef.h>

#include "base/buf.h"
#include "proto/error.h"

struct word_field {
	const char *word;
	char *at;                        /* the value, with a NUL; empty: not there */
	size_t size;
};

/* Read a text into the fields; those it doesn't name become empty. what: where the text is from, for errors. */
enum err words_read(struct slice text, const struct word_field *fields, size_t count, const char *what, struct error *error);
/* Write the fields that aren't empty. */
void words_write(const struct word_field *fields, size_t count, struct buf *out);
/* The same with a file of mode 0600. Writing replaces the file at once or not at all. */
enum err words_read_file(const char *path, const struct word_field *fields, size_t count, struct error *error);
enum err words_write_file(const char *path, const struct word_field *fields, size_t count, struct error *error);

#endif
