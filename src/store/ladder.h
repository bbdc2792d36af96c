/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The versions of the tables that ever were, as data: each version's frozen schema, and what the step to it does.
 * migrate.c climbs it; every store is checked against the schema of the version that it says it has.
 */
#ifndef TITAN_STORE_LADDER_H
#define TITAN_STORE_LADDER_H

#include "base/buf.h"

/* A table or an index of one version. */
struct object {
	int version;
	const char *name;
	const char *sql;                 /* its CREATE statement, as sql_squeeze makes it */
};

/* A column that a step fills or drops. */
struct column_change {
	int version;                     /* that the step leads to */
	const char *table;
	const char *column;              /* empty: the whole table is dropped */
	const char *value;               /* SQL over the old row; NULL: the column, or the table, is dropped */
};

struct ladder {
	int newest;
	const struct object *objects;
	size_t object_count;
	const struct column_change *changes;
	size_t change_count;
};

/* The ladder that is climbed: of steps.def and frozen.def. Only a test puts another one here. */
extern const struct ladder *store_ladder;

const struct object *ladder_find(int version, const char *name);         /* NULL: that version has none */
/* What the step to the version says about the column (or, with "", about the table); NULL: nothing. */
const struct column_change *ladder_change(int version, const char *table, const char *column, bool gone);
bool object_is_table(const struct object *object);

/* An SQL statement without comments, and with one space where there was whitespace. */
void sql_squeeze(struct buf *out, const char *sql);
/* The tables of rows.def as lines of frozen.def. */
void ladder_freeze(struct buf *out);

#endif
