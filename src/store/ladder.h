/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All versions of the tables as data: the frozen schema of each version, and what the step to that version does.
 * migrate.c performs the steps. Every store is compared with the schema of the version that it claims to have.
 */
#ifndef TITAN_STORE_LADDER_H
#define TITAN_STORE_LADDER_H

#include "base/buf.h"

/* A table or an index of one version. */
struct object {
	int version;
	const char *name;
	const char *sql;                 /* CREATE statement of the object, as normalised by sql_squeeze */
};

/* A column that a migration step fills or drops. */
struct column_change {
	int version;                     /* the version to which the step leads */
	const char *table;
	/* "": the step drops the whole table; "*": the step deletes all rows of a table that stays */
	const char *column;
	const char *value;               /* SQL expression over the old row; NULL: the column or table is dropped */
};

struct ladder {
	int newest;
	const struct object *objects;
	size_t object_count;
	const struct column_change *changes;
	size_t change_count;
};

/* The steps in use, made from steps.def and frozen.def. Only tests replace them. */
extern const struct ladder *store_ladder;

const struct object *ladder_find(int version, const char *name); /* NULL: the version has no such table or index */
/*
 * Find what the step to this version does with a column, or with the table if column is "". gone: look for a drop
 * instead of a fill. NULL: the step does nothing.
 */
const struct column_change *ladder_change(int version, const char *table, const char *column, bool gone);
bool object_is_table(const struct object *object);

/* Normalise an SQL statement: remove comments, turn each stretch of whitespace into one space. */
void sql_squeeze(struct buf *out, const char *sql);
/* Write the tables of rows.def as lines for frozen.def. */
void ladder_freeze(struct buf *out);

#endif
