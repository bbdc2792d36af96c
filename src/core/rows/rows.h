/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.def as structs, and the row with its operation that an outbox holds. */
#ifndef TITAN_CORE_ROWS_H
#define TITAN_CORE_ROWS_H

#include "base/slice.h"

#define ROW_CTYPE_INT  int64_t
#define ROW_CTYPE_TEXT struct slice
#define ROW_CTYPE_BLOB struct slice

#define TABLE(name, what) struct row_##name {
#define KEY(type, name, what) ROW_CTYPE_##type name;
#define COLUMN(type, name, check, what) ROW_CTYPE_##type name;
#define END(name) };
#include "core/rows/rows.def"
#undef TABLE
#undef KEY
#undef COLUMN
#undef END

/* Bits of job.flags. */
enum { ROW_JOB_HELD = 1, ROW_JOB_LOOSE = 2, ROW_JOB_PASSED = 4, ROW_JOB_DEAD = 8, ROW_JOB_LATE = 32, ROW_JOB_UNTAKEN = 64, ROW_JOB_FLAGS = 111 };

enum row_table {
#define TABLE(name, what) TABLE_##name,
#define KEY(type, name, what)
#define COLUMN(type, name, check, what)
#define END(name)
#include "core/rows/rows.def"
#undef TABLE
#undef KEY
#undef COLUMN
#undef END
	TABLE_COUNT
};

struct row {
	enum row_table table;
	bool deleted;            /* delete by key instead of put */
	int64_t until;           /* of a delete, not 0: of all keys from this one's number on and below until */
	union {
#define TABLE(name, what) struct row_##name name;
#define KEY(type, name, what)
#define COLUMN(type, name, check, what)
#define END(name)
#include "core/rows/rows.def"
#undef TABLE
#undef KEY
#undef COLUMN
#undef END
	};
};

/*
 * A delete with until goes by one number of the key: what stands before it there is equal, what stands behind it
 * doesn't matter. Tables that have no such deletes have none.
 */
static inline const int64_t *row_number(const struct row *row)
{
	switch (row->table) {
	case TABLE_spec:
		return &row->spec.part;
	case TABLE_job:
		return &row->job.job;
	case TABLE_decision:
		return &row->decision.job;
	case TABLE_dead:
		return &row->dead.job;
	case TABLE_event:
		return &row->event.turn;
	case TABLE_act:
		return &row->act.act;
	case TABLE_change:
		return &row->change.turn;
	default:
		return NULL;
	}
}

static inline bool row_in_range(const struct row *deletion, const struct row *row)
{
	return row->table == deletion->table && *row_number(row) >= *row_number(deletion) &&
	       *row_number(row) < deletion->until && (row->table != TABLE_spec || row->spec.run == deletion->spec.run);
}

#endif
