/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --where EXPR: which rows of a list are wanted. The names in the expression are the keys that the rows have with --json,
 * with the types of fields.def; a key that ends in _ms is a time span, and may be written without its unit.
 */
#ifndef TITAN_CLI_WHERE_H
#define TITAN_CLI_WHERE_H

#include "cli/show/records.h"
#include "lang/dagline.h"

struct where {
	struct slice text;               /* empty: every row is wanted */
	struct slice code;
	bool spent;                      /* a row took too many steps, so it counts as not wanted */
};

/* Read an expression over these columns. On an error *ret_spot is its place in the text. */
enum err where_read(struct where *where, const char *text, const struct column *columns, size_t column_count, int64_t now_ms,
		    struct arena *arena, struct dag_spot *ret_spot, struct error *error);
/* Is the row that was added last wanted? If not, it is dropped. */
bool where_keeps(struct where *where, struct records *records);

struct where_alias {
	const char *word, *key;
};

/* Other words for fields. */
extern const struct where_alias where_aliases[];
extern const size_t where_alias_count;

#endif
