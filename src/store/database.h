/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one SQLite connection with its statements. Used by one thread at a time: the opener's until
 * store_start, the store thread from then on. Functions that return int return SQLite's result codes.
 */
#ifndef TITAN_STORE_DATABASE_H
#define TITAN_STORE_DATABASE_H

#include <sqlite3.h>

#include "store/past.h"
#include "store/store.h"
#include "store/tables.h"

#define READ_COUNT (READ_TURNS + 1)

struct database {
	sqlite3 *handle;
	char *path;
	bool inspect;                    /* nothing is changed */
	int version;                     /* of its tables */
	sqlite3_stmt *begin, *commit, *rollback;
	sqlite3_stmt *put[TABLE_COUNT];
	sqlite3_stmt *delete[TABLE_COUNT];
	sqlite3_stmt *delete_range[TABLE_COUNT];         /* NULL: of tables that have none */
	sqlite3_stmt *read[READ_COUNT];
	struct past past;
	int log_pages;                   /* in the write-ahead log, since it began anew */
	int copied_pages;                /* of those, in the database file */
};

/* database.c */
enum err database_open(struct database *database, const char *path, bool inspect, struct error *error);
enum err database_agrees(struct database *database, struct error *error);        /* with its mark */
enum err database_check(struct database *database, struct error *error);         /* all of it, slowly */
void database_close(struct database *database);          /* half-built is fine */
int database_checkpoint(struct database *database, int mode);
/* What SQLite says about its latest failure, as an error: database must not be used in between. */
enum err database_error(struct database *database, enum err code, struct error *error, const char *doing);
#define DATABASE_RESTORE_SUFFIX "-restoring"     /* of a file that is there while a restore is under way */
enum err database_sync_dir(const char *path, struct error *error);       /* in which path is */
enum err database_prepare(struct database *database, const char *sql, sqlite3_stmt **ret_statement,
			  struct error *error);

/* migrate.c */
enum err database_migrate(struct database *database, struct error *error);       /* to the newest version */
/* Compare its tables with the frozen schema of this version. */
enum err database_check_tables(struct database *database, int version, struct error *error);

/* write.c */
struct write_batch {
	struct outbox **turns;
	size_t count, cap;
	size_t rows;                     /* of all turns */
	size_t written;                  /* by the last try: without those that a later one replaced */
	const struct row **latest;       /* hash table over the rows: the latest of each key */
	size_t latest_size;              /* of it, in use for this batch: a power of two */
	size_t latest_cap;
};

enum err write_prepare(struct database *database, struct error *error);
int batch_write(struct database *database, struct write_batch *batch);         /* one transaction, or none of it */
int write_row(struct database *database, const struct row *row);
/* Borrowed memory, which outlives the transaction. */
int write_bind(sqlite3_stmt *statement, int place, const struct row *row, const struct table_column *column);
void batch_add(struct write_batch *batch, struct outbox *outbox);
void batch_clear(struct write_batch *batch);
void batch_free(struct write_batch *batch);

/* read.c */
/* The row under the statement; its slices live until the next step, or in the arena where given. */
void read_row(sqlite3_stmt *statement, enum row_table which, struct arena *arena, struct row *ret_row);
enum err read_prepare(struct database *database, struct error *error);
enum err read_check_letters(struct database *database, struct error *error);
enum err read_check_acts(struct database *database, struct error *error);
enum err read_live(struct database *database, store_load_cb *load_cb, void *arg, struct error *error);
int read_answer(struct database *database, struct store_query *query);

#endif
