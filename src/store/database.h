/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only SQLite connection and its statements. One thread at a time uses it: the one that opens the store until
 * store_start, then the store thread. Functions that return int return SQLite's result codes.
 */
#ifndef TITAN_STORE_DATABASE_H
#define TITAN_STORE_DATABASE_H

#include <sqlite3.h>

#include "store/past.h"
#include "store/store.h"
#include "store/tables.h"

#define READ_COUNT READ_LIMIT

#define PUT_GROUP 8                      /* number of rows of a table that one SQL statement puts */

struct put_group {                       /* rows of a table that the batch has collected and not written yet */
	const struct row *rows[PUT_GROUP];
	size_t count;
	bool replaces;                   /* the table may already have rows with these keys */
};

struct database {
	sqlite3 *handle;
	char *path;
	bool inspect;                    /* the database is open for reading only */
	int version;                     /* version of the store's tables */
	sqlite3_stmt *begin, *commit, *rollback;
	sqlite3_stmt *put[TABLE_COUNT];
	sqlite3_stmt *put_group[TABLE_COUNT];            /* NULL for a table whose rows are put only once */
	sqlite3_stmt *put_new_group[TABLE_COUNT];        /* NULL for a table in which a new key can't be recognized */
	sqlite3_stmt *delete[TABLE_COUNT];
	sqlite3_stmt *delete_range[TABLE_COUNT];         /* NULL for a table without range deletes */
	sqlite3_stmt *read[READ_COUNT];
	struct put_group groups[TABLE_COUNT];
	struct past past;
	struct job_names *job_names;     /* names of jobs from recent reads; NULL: none */
	int log_pages;                   /* pages in the write-ahead log since it last started at its beginning */
	int copied_pages;                /* how many of log_pages are in the database file */
};

/* database.c */
enum err database_open(struct database *database, const char *path, bool inspect, struct error *error);
/* Check that the store has every turn up to the one in its mark file. */
enum err database_agrees(struct database *database, struct error *error);
/* checks every page of the database; slow */
enum err database_check(struct database *database, struct error *error);
/* close a database, even if opening it failed halfway */
void database_close(struct database *database);
int database_checkpoint(struct database *database, int mode);
/* Make an error of SQLite's latest failure. Call it before anything else uses the database. */
enum err database_error(struct database *database, enum err code, struct error *error, const char *doing);
#define DATABASE_RESTORE_SUFFIX "-restoring"     /* suffix of a file that exists while a restore is under way */
enum err database_sync_dir(const char *path, struct error *error);       /* syncs the directory that contains path */
enum err database_prepare(struct database *database, const char *sql, sqlite3_stmt **ret_statement,
			  struct error *error);

/* migrate.c */
/* migrates the store to the newest version */
enum err database_migrate(struct database *database, struct error *error);
/* Compare the database's tables with the frozen schema of this version. */
enum err database_check_tables(struct database *database, int version, struct error *error);

/* write.c */
struct write_batch {
	struct outbox **turns;
	size_t count, cap;
	size_t rows;                     /* number of rows in all turns of the batch */
	size_t written; /* number of rows that the last try wrote; rows replaced by a later one aren't written */
	const struct row **latest;       /* hash table over the rows: the latest row of each key */
	size_t latest_size;              /* slots of the hash table used for this batch: a power of two */
	size_t latest_cap;
};

enum err write_prepare(struct database *database, struct error *error);
/* write the batch in one transaction; on error nothing is written */
int batch_write(struct database *database, struct write_batch *batch);
int write_row(struct database *database, const struct row *row);
/* Bind a column's value without copying it: the memory must stay valid until the transaction ends. */
int write_bind(sqlite3_stmt *statement, int place, const struct row *row, const struct table_column *column);
void batch_add(struct write_batch *batch, struct outbox *outbox);
void batch_clear(struct write_batch *batch);
void batch_free(struct write_batch *batch);

/* read.c */
/* Read the statement's current row. Its slices are valid until the next step, or live in the arena if one is given. */
void read_row(sqlite3_stmt *statement, enum row_table which, struct arena *arena, struct row *ret_row);
enum err read_prepare(struct database *database, struct error *error);
enum err read_check_letters(struct database *database, struct error *error);
enum err read_check_acts(struct database *database, struct error *error);
enum err read_live(struct database *database, store_load_cb *load_cb, void *arg, struct error *error);
int read_answer(struct database *database, struct store_query *query);
/* Read one row into the arena by a prepared statement. *ret_found: the row exists. */
int read_one(struct database *database, enum store_what what, uint64_t run, uint64_t from, struct arena *arena, struct row *ret_row,
	     bool *ret_found);

enum err read_artifacts(struct database *database, store_load_cb *job_cb, void *arg, struct error *error);
enum err read_acts(struct database *database, store_load_cb *act_cb, void *arg, uint64_t *ret_counted, struct error *error);

/* read_events.c */
/* Add the owners of the runs that the answer's rows name. */
int owners_read(struct database *database, struct store_query *query);
/* Add the acts and jobs that the rows of a READ_EVENTS answer refer to. */
int events_complete(struct database *database, struct store_query *query);
/* Find the first turn with kept history at or after this time; 0: there is none. */
int events_turn_at(struct database *database, int64_t wall_ms, int64_t *ret_turn);

/* job_names.c */
/* Find a job's name by its run's number and its own. Empty: the run was pruned. The name is copied to the arena. */
int job_name_read(struct database *database, uint64_t run, uint64_t job, struct arena *arena, struct slice *ret_name);
void job_names_free(struct job_names *names);

#endif
