/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a batch of turns in one transaction. The rows of a table are written in the order of the turns. If several
 * rows put or delete the same key, only the last is written, because each row replaces everything that was stored for
 * its key. Puts are collected until there are enough of a table for one statement: for most statements, starting and
 * ending takes longer than the row itself. After a failure no transaction is left open.
 */
#include "store/database.h"

#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"

static enum err prepare_put(struct database *database, enum row_table table, size_t rows, bool replace,
			    sqlite3_stmt **ret_statement, struct error *error)
{
	struct buf sql = { 0 };
	enum err err;

	sql_put(&sql, table, rows, replace);
	err = database_prepare(database, buf_cstr(&sql), ret_statement, error);
	buf_free(&sql);
	return err;
}

static enum err prepare_text(struct database *database, void (*text)(struct buf *out, enum row_table table),
			     enum row_table table, sqlite3_stmt **ret_statement, struct error *error)
{
	struct buf sql = { 0 };
	enum err err;

	text(&sql, table);
	err = database_prepare(database, buf_cstr(&sql), ret_statement, error);
	buf_free(&sql);
	return err;
}

enum err write_prepare(struct database *database, struct error *error)
{
	enum err err = database_prepare(database, "BEGIN IMMEDIATE", &database->begin, error);

	if (err == ERR_NONE)
		err = database_prepare(database, "COMMIT", &database->commit, error);
	if (err == ERR_NONE)
		err = database_prepare(database, "ROLLBACK", &database->rollback, error);
	for (int table = 0; table < TABLE_COUNT && err == ERR_NONE; table++) {
		bool appends = table_appends(table);

		err = prepare_put(database, table, 1, !appends, &database->put[table], error);
		if (err == ERR_NONE && !appends)
			err = prepare_put(database, table, PUT_GROUP, true, &database->put_group[table], error);
		if (err == ERR_NONE && (appends || table_counts(table)))
			err = prepare_put(database, table, PUT_GROUP, false, &database->put_new_group[table], error);
		if (err == ERR_NONE)
			err = prepare_text(database, sql_delete, table, &database->delete[table], error);
		if (err == ERR_NONE && table_range_keys(table) > 0)
			err = prepare_text(database, sql_delete_range, table, &database->delete_range[table], error);
	}
	return err;
}

/* ---- the latest row of each key ---- */

static uint64_t hash_key(const struct row *row)
{
	const struct store_table *table = &table_list[row->table];
	const struct table_column *columns = table->columns();
	uint64_t hash = row->table;

	for (size_t i = 0; i < table->key_count; i++) {
		if (columns[i].type == COLUMN_INT) {
			hash = hash_u64(hash ^ (uint64_t)row_int(row, &columns[i]));
		} else {
			struct slice value = row_slice(row, &columns[i]);

			hash = hash_bytes(value.data, value.len, hash);
		}
	}
	return hash;
}

static bool same_key(const struct row *a, const struct row *b)
{
	const struct store_table *table = &table_list[a->table];
	const struct table_column *columns = table->columns();

	if (a->table != b->table)
		return false;
	for (size_t i = 0; i < table->key_count; i++) {
		if (columns[i].type == COLUMN_INT) {
			if (row_int(a, &columns[i]) != row_int(b, &columns[i]))
				return false;
		} else if (!slice_eq(row_slice(a, &columns[i]), row_slice(b, &columns[i]))) {
			return false;
		}
	}
	return true;
}

/* Find the hash slot of this row's key; it holds the latest row with that key, or NULL. */
static const struct row **slot_of(struct write_batch *batch, const struct row *row)
{
	size_t mask = batch->latest_size - 1;
	size_t at = hash_key(row) & mask;

	while (batch->latest[at] && !same_key(batch->latest[at], row))
		at = (at + 1) & mask;
	return &batch->latest[at];
}

/* Can a later put of the same key replace this row? Not if the row deletes a range, which covers other keys too. */
static bool has_own_key(const struct row *row)
{
	return !table_appends(row->table) && row->until == 0;
}

static void note_latest(struct write_batch *batch)
{
	size_t want = 64;

	while (want < batch->rows * 2)
		want *= 2;
	if (want > batch->latest_cap) {
		mem_free(batch->latest);
		batch->latest = mem_array(want, sizeof(*batch->latest));
		batch->latest_cap = want;
	} else {
		memset(batch->latest, 0, want * sizeof(*batch->latest));
	}
	batch->latest_size = want;
	for (size_t i = 0; i < batch->count; i++)
		for (size_t j = 0; j < batch->turns[i]->row_count; j++) {
			const struct row *row = &batch->turns[i]->rows[j];

			if (has_own_key(row))
				*slot_of(batch, row) = row;
		}
}

/* ---- writing ---- */

/*
 * Bind a column's value. The statement uses the value's memory until the transaction ends. An empty value is '', not
 * NULL.
 */
int write_bind(sqlite3_stmt *statement, int place, const struct row *row, const struct table_column *column)
{
	struct slice value;
	const char *data;

	if (column->type == COLUMN_INT)
		return sqlite3_bind_int64(statement, place, row_int(row, column));
	value = row_slice(row, column);
	data = value.len > 0 ? (const char *)value.data : "";
	if (column->type == COLUMN_TEXT)
		return sqlite3_bind_text64(statement, place, data, value.len, SQLITE_STATIC, SQLITE_UTF8);
	return sqlite3_bind_blob64(statement, place, data, value.len, SQLITE_STATIC);
}

static int step(sqlite3_stmt *statement)
{
	int result;

	sqlite3_step(statement);
	result = sqlite3_reset(statement);
	return result;
}

static int delete_range(struct database *database, const struct row *row)
{
	const struct table_column *columns = table_list[row->table].columns();
	sqlite3_stmt *statement = database->delete_range[row->table];
	size_t keys = table_range_keys(row->table);
	int result = SQLITE_OK;

	CHECK(row->deleted && statement);
	for (size_t i = 0; i < keys && result == SQLITE_OK; i++)
		result = sqlite3_bind_int64(statement, (int)i + 1, row_int(row, &columns[i]));
	if (result == SQLITE_OK)
		result = sqlite3_bind_int64(statement, (int)keys + 1, row->until);
	return result == SQLITE_OK ? step(statement) : result;
}

/* Bind the first columns of a row to parameters, the first to number `place`. */
static int bind_row(sqlite3_stmt *statement, int place, const struct row *row, size_t count)
{
	const struct table_column *columns = table_list[row->table].columns();
	int result = SQLITE_OK;

	for (size_t i = 0; i < count && result == SQLITE_OK; i++)
		result = write_bind(statement, place + (int)i, row, &columns[i]);
	return result;
}

int write_row(struct database *database, const struct row *row)
{
	const struct store_table *table = &table_list[row->table];
	sqlite3_stmt *statement = row->deleted ? database->delete[row->table] : database->put[row->table];
	int result;

	if (row->until != 0)
		return delete_range(database, row);
	result = bind_row(statement, 1, row, row->deleted ? table->key_count : table->column_count);
	return result == SQLITE_OK ? step(statement) : result;
}

static int write_group(struct database *database, enum row_table table)
{
	struct put_group *group = &database->groups[table];
	sqlite3_stmt *statement = (group->replaces ? database->put_group : database->put_new_group)[table];
	size_t columns = table_list[table].column_count, count = group->count;
	int result = SQLITE_OK;

	group->count = 0;
	group->replaces = false;
	if (count < PUT_GROUP) {
		for (size_t i = 0; i < count && result == SQLITE_OK; i++)
			result = write_row(database, group->rows[i]);
		return result;
	}
	for (size_t i = 0; i < count && result == SQLITE_OK; i++)
		result = bind_row(statement, 1 + (int)(i * columns), group->rows[i], columns);
	return result == SQLITE_OK ? step(statement) : result;
}

/* Write a row now or with others of its table. A delete, and a read that it needs, come after all earlier rows. */
static int write_later(struct database *database, const struct row *row, bool is_new)
{
	struct put_group *group = &database->groups[row->table];

	if (row->deleted)
		return write_row(database, row);
	group->rows[group->count++] = row;
	group->replaces = group->replaces || !is_new;
	return group->count == PUT_GROUP ? write_group(database, row->table) : SQLITE_OK;
}

static int write_groups(struct database *database)
{
	int result = SQLITE_OK;

	for (int table = 0; table < TABLE_COUNT && result == SQLITE_OK; table++)
		result = write_group(database, table);
	return result;
}

static void forget_groups(struct database *database)
{
	for (int table = 0; table < TABLE_COUNT; table++)
		database->groups[table] = (struct put_group){ 0 };
}

static int write_rows(struct database *database, struct write_batch *batch)
{
	bool several = batch->count > 1;
	int past;

	batch->written = 0;
	if (several)
		note_latest(batch);
	for (size_t i = 0; i < batch->count; i++) {
		const struct outbox *turn = batch->turns[i];

		for (size_t j = 0; j < turn->row_count; j++) {
			const struct row *row = &turn->rows[j];
			bool is_new = false;
			int result;

			result = row->deleted ? write_group(database, row->table) : SQLITE_OK;
			if (result == SQLITE_OK)
				result = past_row(database, row, &is_new);
			if (result != SQLITE_OK)
				return result;
			if (several && has_own_key(row) && *slot_of(batch, row) != row)
				continue;
			result = write_later(database, row, is_new);
			if (result != SQLITE_OK)
				return result;
			batch->written++;
		}
		if ((past = past_turn_end(database, turn->turn, turn->wall_ms)) != SQLITE_OK)
			return past;
	}
	return write_groups(database);
}

int batch_write(struct database *database, struct write_batch *batch)
{
	int result;

	if (batch->rows == 0)
		return SQLITE_OK;
	result = step(database->begin);
	if (result == SQLITE_OK)
		result = write_rows(database, batch);
	forget_groups(database);
	if (result == SQLITE_OK)
		result = step(database->commit);
	past_batch_end(&database->past, result);
	/* Roll back unless SQLite has already ended the transaction itself. The first result is the one to return. */
	if (result != SQLITE_OK && !sqlite3_get_autocommit(database->handle))
		step(database->rollback);
	return result;
}

void batch_add(struct write_batch *batch, struct outbox *outbox)
{
	if (batch->count == batch->cap) {
		batch->cap = batch->cap ? batch->cap * 2 : 64;
		batch->turns = mem_resize(batch->turns, batch->cap, sizeof(*batch->turns));
	}
	batch->turns[batch->count++] = outbox;
	batch->rows += outbox->row_count;
}

void batch_clear(struct write_batch *batch)
{
	batch->count = 0;
	batch->rows = 0;
}

void batch_free(struct write_batch *batch)
{
	mem_free(batch->turns);
	mem_free(batch->latest);
	memset(batch, 0, sizeof(*batch));
}
