/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the console remembers of typed lines, without secrets and without duplicates. The file is
 * $XDG_STATE_HOME/titan/history with mode 0600: one entry per line, with a newline in an entry written as \n. Several
 * consoles may append to the same file.
 */
#ifndef TITAN_CLI_REPL_RECALL_H
#define TITAN_CLI_REPL_RECALL_H

#include "base/buf.h"

/*
 * Write what may be kept of a line to ret: values of options and variables with TOKEN, SECRET, PASSWORD or KEY in their
 * names become ***. False: keep nothing, because the line is empty or begins with a space.
 */
bool recall_clean(const char *line, struct buf *ret);

struct recall_entry {
	char *line;
	uint64_t hash;
};

struct recall {
	struct recall_entry *entries;   /* the oldest first, without duplicates */
	size_t count, room;
};

/* Add a line as the newest; an equal older one is removed. */
void recall_add(struct recall *recall, const char *line);
void recall_free(struct recall *recall);
/* Parse the text of the file. */
void recall_decode(struct recall *recall, const char *text);
void recall_encode(const char *line, struct buf *out);

/*
 * Read the file, and write it anew if it has duplicates or too many lines. Errors are ignored, as if there were no
 * file.
 */
void recall_load(struct recall *recall);
void recall_save(const char *line);     /* add a line to the file */

#endif
