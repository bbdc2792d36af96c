/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each turn changed. Beside its rows a turn leaves one row of `change`: of every key that it put or deleted the row as it
 * was before, or that there was none. So the rows of any turn that is kept follow from the present ones, by taking back
 * the turns after it, the newest first; and what is old is forgotten by deleting it.
 *
 * Not in it: history (`event`, `act`) and the graphs of runs, whose rows of `spec` are told without their bodies. A body
 * never changes while its run is there.
 */
#ifndef TITAN_STORE_PAST_H
#define TITAN_STORE_PAST_H

#include <sqlite3.h>

#include "base/arena.h"
#include "base/buf.h"
#include "store/store.h"
#include "store/tables.h"

struct database;

/* The rows that were written last, by key, so that few have to be read before they are replaced. */
struct past {
	struct past_entry **slots;
	size_t count, cap;
	struct arena arena;              /* of the entries */
	size_t bytes;
	struct buf body;                 /* of the turn under way */
	struct buf row;
	sqlite3_stmt *get[TABLE_COUNT], *range[TABLE_COUNT];
};

enum err past_prepare(struct database *database, struct error *error);
void past_free(struct past *past);
int past_row(struct database *database, const struct row *row);  /* before it is written, or would be */
int past_turn_end(struct database *database, uint64_t turn, int64_t wall_ms);
void past_batch_end(struct past *past, bool written);    /* what wasn't written isn't remembered */

/* past_body.c */
bool past_covers(enum row_table table);
/* Its key alone where it isn't there; returns how many bytes of it are table and key. */
size_t past_add(struct buf *out, const struct row *row, bool there);
/* The next entry; its slices are the body's. False: the body is over, or, with *ret_sound false, none. */
bool past_next(struct slice *body, struct row *ret_row, bool *ret_there, bool *ret_sound);

/* past_replay.c */
/* Every body of every turn can be read. */
enum err past_check(struct database *database, struct error *error);
/* As store_past and its like say. */
enum err past_replay(struct database *database, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error);
enum err past_replay_live(struct database *database, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error);
enum err past_turn(struct database *database, int64_t wall_ms, uint64_t *ret_turn, struct error *error);

#endif
