/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Computes the rows as they were at an earlier turn. If later turns changed a key, its row is the one that the first of
 * those turns recorded as being there before; all other rows are the present ones. Tables are read in key order, and
 * the changed keys are merged in.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/database.h"

struct before {                          /* a key, and its row as it was before a turn */
	struct row row;
	bool there;
	size_t place;                    /* order in which turns recorded rows for the key; the first one counts */
};

struct past_replay_state {
	struct database *database;
	struct arena arena;              /* memory of the bodies of `change` */
	struct before *befores;
	size_t count, cap;
	bool live;                       /* pass on only the rows that a core loads */
	struct map runs;                 /* numbers of the runs that were live at the turn */
	int64_t act;                     /* number of the latest act up to the turn; 0: none, or it was pruned */
	store_load_cb *load_cb;
	void *arg;
};

/* ---- reading the changes of later turns ---- */

static int compare_slices(struct slice a, struct slice b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len > 0 ? memcmp(a.data, b.data, len) : 0;

	return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* Compare two keys in SQLite's order. */
static int compare_keys(const struct row *a, const struct row *b)
{
	const struct store_table *table = &table_list[a->table];
	int order = (a->table > b->table) - (a->table < b->table);

	for (size_t i = 0; i < table->key_count && order == 0; i++) {
		const struct table_column *column = &table->columns()[i];

		if (column->type == COLUMN_INT)
			order = (row_int(a, column) > row_int(b, column)) - (row_int(a, column) < row_int(b, column));
		else
			order = compare_slices(row_slice(a, column), row_slice(b, column));
	}
	return order;
}

static int compare_befores_cb(const void *a, const void *b)
{
	const struct before *one = a, *other = b;
	int order = compare_keys(&one->row, &other->row);

	return order != 0 ? order : (one->place > other->place) - (one->place < other->place);
}

static enum err unsound(const struct database *database, long long turn, struct error *error)
{
	return error_set(error, ERR_STORE_TRUST, "%s: the changes of turn %lld can't be read", database->path, turn);
}

static bool entries_of(struct slice *body)
{
	if (body->len < PAST_TOTAL_SIZE)
		return false;
	*body = slice_make(body->data + PAST_TOTAL_SIZE, body->len - PAST_TOTAL_SIZE);
	return true;
}

static enum err befores_take(struct past_replay_state *replay, const struct row_change *change, struct error *error)
{
	struct slice body = arena_copy(&replay->arena, change->body);
	bool sound = entries_of(&body);

	while (sound) {
		struct before before = { .place = replay->count };

		if (!past_next(&body, &before.row, &before.there, &sound))
			break;
		if (replay->count == replay->cap) {
			replay->cap = replay->cap ? replay->cap * 2 : 256;
			replay->befores = mem_resize(replay->befores, replay->cap, sizeof(*replay->befores));
		}
		replay->befores[replay->count++] = before;
	}
	return sound ? ERR_NONE : unsound(replay->database, (long long)change->turn, error);
}

static void befores_sort(struct past_replay_state *replay)
{
	size_t kept = 0;

	if (replay->count > 1)
		qsort(replay->befores, replay->count, sizeof(*replay->befores), compare_befores_cb);
	for (size_t i = 0; i < replay->count; i++)
		if (kept == 0 || compare_keys(&replay->befores[kept - 1].row, &replay->befores[i].row) != 0)
			replay->befores[kept++] = replay->befores[i];
	replay->count = kept;
}

/* Called for each row of `change` from a turn on, in rising order. */
typedef enum err change_cb(struct past_replay_state *replay, const struct row_change *change, struct error *error);

static enum err changes_read(struct past_replay_state *replay, uint64_t from, change_cb *each_cb, struct error *error)
{
	struct database *database = replay->database;
	sqlite3_stmt *statement = NULL;
	int result = SQLITE_DONE;
	enum err err = database_prepare(database, "SELECT turn, wall_ms, body FROM change WHERE turn >= ?1 ORDER BY turn", &statement,
					error);

	if (err == ERR_NONE)
		sqlite3_bind_int64(statement, 1, (int64_t)from);
	while (err == ERR_NONE && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		struct row row;

		read_row(statement, TABLE_change, NULL, &row);
		err = each_cb(replay, &row.change, error);
	}
	if (err == ERR_NONE && result != SQLITE_DONE)
		err = database_error(database, ERR_STORE, error, "can't be read");
	sqlite3_finalize(statement);
	return err;
}

static enum err number_read(struct database *database, const char *sql, int64_t bound, int64_t *ret_number, struct error *error)
{
	sqlite3_stmt *statement = NULL;
	enum err err = database_prepare(database, sql, &statement, error);
	int result;

	if (err != ERR_NONE)
		return err;
	sqlite3_bind_int64(statement, 1, bound);
	result = sqlite3_step(statement);
	*ret_number = result == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		err = database_error(database, ERR_STORE, error, "can't be read");
	sqlite3_finalize(statement);
	return err;
}

/* ---- passing on the rows of the earlier turn ---- */

static bool is_of_live_run(const struct past_replay_state *replay, const struct row *row)
{
	switch (row->table) {
	case TABLE_spec:
		return map_get(&replay->runs, (uint64_t)row->spec.run) != NULL;
	case TABLE_job:
		return map_get(&replay->runs, (uint64_t)row->job.run) != NULL;
	case TABLE_decision:
		return map_get(&replay->runs, (uint64_t)row->decision.run) != NULL;
	default:
		return row->table != TABLE_dead && row->table != TABLE_attempt;
	}
}

/* Pass a row on. stored: the row is still in its table, so its run wasn't pruned. */
static enum err row_give(struct past_replay_state *replay, const struct row *row, bool stored, struct error *error)
{
	if (replay->live && row->table == TABLE_run) {
		if (row->run.ended_ms != 0 || !stored)
			return ERR_NONE;
		map_put(&replay->runs, (uint64_t)row->run.run, replay);
	} else if (replay->live && row->table == TABLE_meta && slice_eq(row->meta.name, slice_str("acts")) &&
		   row->meta.value != replay->act) {
		return ERR_NONE;         /* the latest act was pruned, so the chain of acts can't be continued */
	} else if (replay->live && !is_of_live_run(replay, row)) {
		return ERR_NONE;
	}
	return replay->load_cb(row, replay->arg, error);
}

static enum err table_give(struct past_replay_state *replay, enum row_table table, size_t *at, struct error *error)
{
	struct database *database = replay->database;
	sqlite3_stmt *statement = NULL;
	struct buf sql = { 0 };
	struct row row;
	int result = SQLITE_DONE;
	enum err err;

	buf_add_str(&sql, "SELECT ");
	sql_columns(&sql, table, false);
	buf_addf(&sql, " FROM %s ORDER BY ", table_list[table].name);
	for (size_t i = 0; i < table_list[table].key_count; i++)
		buf_addf(&sql, "%s%s", i ? ", " : "", table_list[table].columns()[i].name);
	err = database_prepare(database, buf_cstr(&sql), &statement, error);
	buf_free(&sql);
	while (err == ERR_NONE && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		const struct before *before;
		int order = 1;

		read_row(statement, table, NULL, &row);
		for (; err == ERR_NONE && *at < replay->count; ++*at) {
			before = &replay->befores[*at];
			order = compare_keys(&before->row, &row);
			if (order >= 0)
				break;
			if (before->there)
				err = row_give(replay, &before->row, false, error);
		}
		if (err == ERR_NONE && (*at == replay->count || order > 0)) {
			err = row_give(replay, &row, true, error);
		} else if (err == ERR_NONE) {
			before = &replay->befores[(*at)++];
			if (before->there && table == TABLE_spec)
				/* pass on the row of the table, because it has the graph's body */
				err = row_give(replay, &row, true, error);
			else if (before->there)
				err = row_give(replay, &before->row, true, error);
		}
	}
	if (err == ERR_NONE && result != SQLITE_DONE)
		err = database_error(database, ERR_STORE, error, "can't be read");
	sqlite3_finalize(statement);
	for (; err == ERR_NONE && *at < replay->count && replay->befores[*at].row.table == table; ++*at)
		if (replay->befores[*at].there)
			err = row_give(replay, &replay->befores[*at].row, false, error);
	return err;
}

enum err past_has_gap(struct database *database, bool *ret_gap, struct error *error)
{
	int64_t newest = 0, latest = 0;
	enum err err = number_read(database, "SELECT coalesce(max(turn), 0) FROM change WHERE ?1 = 0", 0, &newest, error);

	if (err == ERR_NONE)
		err = number_read(database, "SELECT value FROM meta WHERE name = 'turn' AND ?1 = 0", 0, &latest, error);
	*ret_gap = newest < latest;
	return err;
}

/* Check that `change` has a row for every turn after this one, because these rows say what was there before. */
static enum err window_check(struct database *database, uint64_t turn, struct error *error)
{
	int64_t first = 0, latest = 0;
	bool gap = false;
	enum err err = number_read(database, "SELECT coalesce(min(turn), 0) FROM change WHERE ?1 = 0", 0, &first, error);

	if (err == ERR_NONE)
		err = number_read(database, "SELECT value FROM meta WHERE name = 'turn' AND ?1 = 0", 0, &latest, error);
	if (err == ERR_NONE)
		err = past_has_gap(database, &gap, error);
	first = gap ? 0 : first;
	if (err != ERR_NONE || turn >= (uint64_t)latest || (first > 0 && turn + 1 >= (uint64_t)first))
		return err;
	error_set(error, ERR_NOT_FOUND, "%s: the store doesn't keep the rows of turn %llu; the first turn that it keeps is %lld",
		  database->path, (unsigned long long)turn, (long long)(first > 0 ? first - 1 : latest));
	return error->code;
}

/* Pass on the act that was the latest at this turn. */
static enum err act_give(struct past_replay_state *replay, struct error *error)
{
	sqlite3_stmt *statement = replay->database->read[READ_ACTS];
	struct row row;
	int result;

	if (replay->act == 0)
		return ERR_NONE;
	sqlite3_bind_int64(statement, 2, replay->act);
	sqlite3_bind_int64(statement, 3, 1);
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW) {
		enum err err;

		read_row(statement, TABLE_act, NULL, &row);
		err = replay->load_cb(&row, replay->arg, error);
		sqlite3_reset(statement);
		return err;
	}
	sqlite3_reset(statement);
	return result == SQLITE_DONE ? ERR_NONE : database_error(replay->database, ERR_STORE, error, "can't be read");
}

static enum err replay_run(struct past_replay_state *replay, uint64_t turn, struct error *error)
{
	size_t at = 0;
	enum err err = window_check(replay->database, turn, error);

	if (err == ERR_NONE && replay->live)
		err = number_read(replay->database, "SELECT act FROM act WHERE turn <= ?1 ORDER BY act DESC LIMIT 1",
				  turn < INT64_MAX ? (int64_t)turn : INT64_MAX, &replay->act, error);
	if (err == ERR_NONE)
		err = changes_read(replay, turn + 1, befores_take, error);
	befores_sort(replay);
	for (int table = 0; table < TABLE_COUNT && err == ERR_NONE; table++)
		if (past_covers(table))
			err = table_give(replay, table, &at, error);
	if (err == ERR_NONE && replay->live)
		err = act_give(replay, error);
	mem_free(replay->befores);
	map_free(&replay->runs);
	arena_free(&replay->arena);
	return err;
}

enum err past_replay(struct database *database, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error)
{
	struct past_replay_state replay = { .database = database, .load_cb = load_cb, .arg = arg };

	return replay_run(&replay, turn, error);
}

enum err past_replay_live(struct database *database, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error)
{
	struct past_replay_state replay = { .database = database, .load_cb = load_cb, .arg = arg, .live = true };

	return replay_run(&replay, turn, error);
}

enum err past_turn(struct database *database, int64_t wall_ms, uint64_t *ret_turn, struct error *error)
{
	int64_t turn = 0;
	enum err err = number_read(database, "SELECT turn FROM change WHERE wall_ms <= ?1 ORDER BY turn DESC LIMIT 1", wall_ms, &turn,
				   error);

	*ret_turn = (uint64_t)turn;
	return err;
}

/* ---- putting a whole store back ---- */

/* The run with which a row is pruned; 0: the row doesn't belong to a run. */
static int64_t run_of_row(const struct row *row)
{
	switch (row->table) {
	case TABLE_job:
		return row->job.run;
	case TABLE_decision:
		return row->decision.run;
	case TABLE_dead:
		return row->dead.run;
	case TABLE_submit_key:
		return row->submit_key.run;
	default:
		return 0;
	}
}

/*
 * The graph of a run that was pruned since is lost: leave out its jobs, and also the run itself if it was live at the
 * turn.
 */
static bool is_lost(const struct past_replay_state *replay, const struct row *row)
{
	if (row->table == TABLE_run)
		return row->run.ended_ms == 0 && map_get(&replay->runs, (uint64_t)row->run.run);
	return row->table == TABLE_spec || (run_of_row(row) != 0 && map_get(&replay->runs, (uint64_t)run_of_row(row)));
}

static enum err befores_write(struct past_replay_state *replay, struct error *error)
{
	for (size_t i = 0; i < replay->count; i++)
		if (replay->befores[i].there && replay->befores[i].row.table == TABLE_spec)
			map_put(&replay->runs, (uint64_t)replay->befores[i].row.spec.run, replay);
	for (size_t i = 0; i < replay->count; i++) {
		struct row *row = &replay->befores[i].row;

		if (replay->befores[i].there && is_lost(replay, row))
			continue;
		row->deleted = !replay->befores[i].there;
		if (write_row(replay->database, row) != SQLITE_OK)
			return database_error(replay->database, ERR_STORE, error, "can't be written");
	}
	return ERR_NONE;
}

static enum err wall_ms_of(struct database *database, uint64_t turn, int64_t *ret_wall_ms, struct error *error)
{
	return number_read(database, "SELECT wall_ms FROM change WHERE turn <= ?1 ORDER BY turn DESC LIMIT 1", (int64_t)turn, ret_wall_ms,
			   error);
}

/* Remove what came later, and count the remaining acts and starts; a start of the master counts itself. */
static enum err later_remove(struct database *database, uint64_t turn, int64_t wall_ms, struct error *error)
{
	struct buf sql = { 0 };
	int result;

	buf_addf(&sql, "DELETE FROM act WHERE turn > %lld; DELETE FROM event WHERE turn > %lld; DELETE FROM change; "
		 "DELETE FROM pruned_run WHERE wall_ms > %lld; "
		 "UPDATE meta SET value = (SELECT coalesce(max(act), 0) FROM act) WHERE name = 'acts'; "
		 "UPDATE meta SET value = value - 1 WHERE name = 'boot'; "
		 "DELETE FROM meta WHERE name = 'boot' AND value = 0; COMMIT",
		 (long long)turn, (long long)turn, (long long)wall_ms);
	result = sqlite3_exec(database->handle, buf_cstr(&sql), NULL, NULL, NULL);
	buf_free(&sql);
	return result == SQLITE_OK ? ERR_NONE : database_error(database, ERR_STORE, error, "can't be written");
}

enum err past_rewind(struct database *database, const struct store_moment *wanted, struct store_moment *ret, struct error *error)
{
	struct past_replay_state replay = { .database = database };
	int64_t first_ms = 0;
	enum err err = ERR_NONE;

	*ret = *wanted;
	if (wanted->turn == 0)
		err = past_turn(database, wanted->wall_ms, &ret->turn, error);
	if (err == ERR_NONE && (ret->turn == 0 || window_check(database, ret->turn, error) == ERR_NOT_FOUND)) {
		err = number_read(database, "SELECT coalesce(min(wall_ms), 0) FROM change WHERE ?1 = 0", 0, &first_ms, error);
		if (err == ERR_NONE) {
			char when[CLOCK_TEXT_SIZE];

			error_set(error, ERR_NOT_FOUND, "that time is too long ago: the earliest time that can be shown is %s",
				  clock_format_utc(first_ms, when));
			err = error_next(error, "give --at a later time; keep_past of titan.conf(5) says how far back titan can look");
		}
	}
	if (err == ERR_NONE && wanted->turn != 0)
		err = wall_ms_of(database, ret->turn, &ret->wall_ms, error);
	if (err == ERR_NONE)
		err = changes_read(&replay, ret->turn + 1, befores_take, error);
	befores_sort(&replay);
	if (err == ERR_NONE && sqlite3_exec(database->handle, "PRAGMA synchronous = OFF; BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		err = database_error(database, ERR_STORE, error, "can't be written");
	if (err == ERR_NONE)
		err = befores_write(&replay, error);
	if (err == ERR_NONE)
		err = later_remove(database, ret->turn, ret->wall_ms, error);
	mem_free(replay.befores);
	map_free(&replay.runs);
	arena_free(&replay.arena);
	return err;
}

/* ---- checks ---- */

static enum err check_cb(struct past_replay_state *replay, const struct row_change *change, struct error *error)
{
	struct slice body = change->body;
	struct row row;
	bool there, sound = entries_of(&body);

	while (sound && past_next(&body, &row, &there, &sound))
		;
	return sound ? ERR_NONE : unsound(replay->database, (long long)change->turn, error);
}

enum err past_check(struct database *database, struct error *error)
{
	struct past_replay_state replay = { .database = database };

	return changes_read(&replay, 0, check_cb, error);
}
