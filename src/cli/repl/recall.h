/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the console remembers of typed lines: no secrets, nothing twice. Its file is $XDG_STATE_HOME/titan/history with
 * mode 0600: one entry per line, a newline within it as \n. Several consoles add to the same file.
 */
#ifndef TITAN_CLI_REPL_RECALL_H
#define TITAN_CLI_REPL_RECALL_H

#include "base/buf.h"

/*
 * Write what may be kept of a line to ret: values of options and variables with TOKEN, SECRET, PASSWORD or KEY in their
 * name become ***. False: nothing may be kept, because the line is empty or begins with a space.
 */
bool recall_clean(const char *line, struct buf *ret);

struct recall_entry {
	char *line;
	uint64_t hash;
};

struct recall {
	struct recall_entry *entries;   /* the oldest first, each once */
	size_t count, room;
};

/* Add a line as the newest; an equal one before it is forgotten. */
void recall_add(struct recall *recall, const char *line);
void recall_free(struct recall *recall);
/* Read and write the text of the file. */
void recall_decode(struct recall *recall, const char *text);
void recall_encode(const char *line, struct buf *out);

/*
 * Read the file, and write it anew if it has lines twice or too many. A file that can't be read or made is as good as
 * none.
 */
void recall_load(struct recall *recall);
void recall_save(const char *line);     /* add a line to the file */

#endif
