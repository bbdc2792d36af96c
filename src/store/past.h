/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each turn changed. Each turn leaves one row of `change`: for every key that it put or deleted, the row as it was
 * before, or a note that there was none. The rows at an earlier turn are the present rows with later turns undone,
 * newest first. Old rows of `change` can simply be deleted: nothing refers to them.
 *
 * `change` leaves out history (`event`, `act`) and the bodies of graphs (table `spec`). A body never changes while its
 * run exists.
 */
#ifndef TITAN_STORE_PAST_H
#define TITAN_STORE_PAST_H

#include <sqlite3.h>

#include "base/arena.h"
#include "base/buf.h"
#include "store/store.h"
#include "store/tables.h"

struct database;

struct past_slot {
	uint64_t hash;                   /* hash of the entry's table and key; a look-up compares it before it reads an entry */
	struct past_entry *entry;        /* NULL: the slot is free */
};

/* A cache of recently written rows by key, so that few rows must be read before they are replaced. */
struct past {
	struct past_slot *slots;
	size_t of_table[TABLE_COUNT];    /* number of cached rows of each table */
	size_t count, cap;
	struct arena arena;              /* holds the cache entries */
	size_t bytes;
	struct buf body;                 /* body of `change` for the current turn */
	/* bytes of all bodies of `change` ever written; of those that were committed */
	uint64_t total, durable_total;
	struct buf row;
	bool off;                        /* the disk is full: turns are written without rows of `change` */
	/* the newest turns have no row of `change`, so all older ones are useless and are deleted in the next turn */
	bool gap;
	bool gap_gone;                   /* the useless rows were deleted in the present batch */
	sqlite3_stmt *get[TABLE_COUNT], *range[TABLE_COUNT];
	/* for tables whose key is a number: no row ever had a higher key */
	int64_t highest[TABLE_COUNT];
};

enum err past_prepare(struct database *database, struct error *error);
void past_free(struct past *past);
/*
 * Call it before the row is written, even if a later row of the batch replaces that. *ret_new: no row with this key
 * exists, in the table or earlier in the batch.
 */
int past_row(struct database *database, const struct row *row, bool *ret_new);
int past_turn_end(struct database *database, uint64_t turn, int64_t wall_ms);
/*
 * After a batch: if it failed, drop from the cache what wasn't written; if the disk was full, stop writing rows of
 * `change`.
 */
void past_batch_end(struct past *past, int result);
/* Stop writing rows of `change` when the disk has no room, and start anew when it has. */
void past_allow(struct past *past, bool room);

/* past_body.c: a body begins with the total size up to its end, eight bytes little-endian; then its entries follow */
#define PAST_TOTAL_SIZE 8

bool past_covers(enum row_table table);
/* Add an entry: the whole row, or only its key if !there. Return the number of its bytes for table and key. */
size_t past_add(struct buf *out, const struct row *row, bool there);
/* Read the next entry; its slices point into the body. False: the body has ended, or is damaged (*ret_sound false). */
bool past_next(struct slice *body, struct row *ret_row, bool *ret_there, bool *ret_sound);

/* past_replay.c */
/* Check that every body of every turn can be read. */
enum err past_check(struct database *database, struct error *error);
/* The work of store_past, store_past_live and store_past_turn; see store.h. */
enum err past_replay(struct database *database, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error);
enum err past_replay_live(struct database *database, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error);
/* Set *ret_gap if the newest turn has no row of `change`: it was written without room, or by an older version. */
enum err past_has_gap(struct database *database, bool *ret_gap, struct error *error);
/* The work of store_rewind; see store.h. */
enum err past_rewind(struct database *database, const struct store_moment *wanted, struct store_moment *ret, struct error *error);
enum err past_turn(struct database *database, int64_t wall_ms, uint64_t *ret_turn, struct error *error);

#endif
