/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of rows.def as structs, and struct row: a put or delete as an outbox holds it. */
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

/* Bits of the column job.flags. */
enum { ROW_JOB_HELD = 1, ROW_JOB_LOOSE = 2, ROW_JOB_PASSED = 4, ROW_JOB_DEAD = 8, ROW_JOB_LATE = 32,
       ROW_JOB_CONDITION_FALSE = 64, ROW_JOB_CRASH_LOOP = 128, ROW_JOB_FLAGS = 239 };
enum { ROW_WORKER_ENDED = 4 };         /* a bit of the column standing in a worker's row; the other bits are an enum worker_standing */

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
	bool deleted;            /* true: delete the row of this key; false: put the row */
	/* Of a delete: 0 deletes one key; else all keys from this row's number up to, not including, until. */
	int64_t until;
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
 * Return the key column over whose range a delete with `until` goes. Key columns before it must be equal; columns
 * after it don't matter. NULL for tables without such deletes.
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
	case TABLE_attempt:
		return &row->attempt.job;
	case TABLE_event:
		return &row->event.turn;
	case TABLE_act:
		return &row->act.act;
	case TABLE_change:
		return &row->change.turn;
	case TABLE_pruned_run:
		return &row->pruned_run.run;
	case TABLE_value:
		return &row->value.run;
	default:
		return NULL;
	}
}

/*
 * The body of an event row has records of events, which are arrays, and of happenings, which are maps, so the first byte
 * of a record says which it is.
 */
static inline bool happening_is_next(struct slice body)
{
	return body.len > 0 && (body.data[0] & 0xf0) == 0x80;
}

static inline bool row_in_range(const struct row *deletion, const struct row *row)
{
	return row->table == deletion->table && *row_number(row) >= *row_number(deletion) &&
	       *row_number(row) < deletion->until && (row->table != TABLE_spec || row->spec.run == deletion->spec.run);
}

#endif
