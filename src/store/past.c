/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the rows of `change` in the transaction of their turn. The old rows of the last few thousand written keys are
 * in memory; others are read from their tables. Several turns in one transaction have a row each.
 */
#include "store/past.h"

#include <endian.h>

#include "base/map.h"
#include "base/mem.h"
#include "store/database.h"

#define KEEP_ENTRIES 8192
#define KEEP_BYTES   (4 << 20)

struct past_entry {
	uint32_t key_len, len, cap;
	uint8_t bytes[];
};

static enum err prepare(struct database *database, enum row_table table, void (*where)(struct buf *out, enum row_table table),
			sqlite3_stmt **ret_statement, struct error *error)
{
	struct buf sql = { 0 };
	enum err err;

	buf_add_str(&sql, "SELECT ");
	sql_columns(&sql, table, table == TABLE_spec);
	buf_addf(&sql, " FROM %s WHERE ", table_list[table].name);
	where(&sql, table);
	err = database_prepare(database, buf_cstr(&sql), ret_statement, error);
	buf_free(&sql);
	return err;
}

/* Read the total size of all bodies so far from the newest row of `change`. */
static enum err total_read(struct database *database, struct error *error)
{
	struct past *past = &database->past;
	sqlite3_stmt *statement = NULL;
	enum err err = database_prepare(database, "SELECT body FROM change ORDER BY turn DESC LIMIT 1", &statement, error);

	if (err == ERR_NONE && sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_bytes(statement, 0) >= PAST_TOTAL_SIZE)
		memcpy(&past->durable_total, sqlite3_column_blob(statement, 0), PAST_TOTAL_SIZE);
	past->durable_total = le64toh(past->durable_total);
	past->total = past->durable_total;
	sqlite3_finalize(statement);
	if (err == ERR_NONE)
		err = past_has_gap(database, &past->gap, error);
	return err;
}

static enum err highest_read(struct database *database, enum row_table table, struct error *error)
{
	sqlite3_stmt *statement = NULL;
	struct buf sql = { 0 };
	enum err err;

	buf_addf(&sql, "SELECT coalesce(max(%s), 0) FROM %s", table_list[table].columns()[0].name, table_list[table].name);
	err = database_prepare(database, buf_cstr(&sql), &statement, error);
	if (err == ERR_NONE && sqlite3_step(statement) == SQLITE_ROW)
		database->past.highest[table] = sqlite3_column_int64(statement, 0);
	else if (err == ERR_NONE)
		err = database_error(database, ERR_STORE, error, "can't be read");
	sqlite3_finalize(statement);
	buf_free(&sql);
	return err;
}

enum err past_prepare(struct database *database, struct error *error)
{
	enum err err = total_read(database, error);

	for (int table = 0; table < TABLE_COUNT && err == ERR_NONE; table++) {
		if (!past_covers(table))
			continue;
		err = prepare(database, table, sql_where_key, &database->past.get[table], error);
		if (err == ERR_NONE && table_counts(table))
			err = highest_read(database, table, error);
		if (err == ERR_NONE && table_range_keys(table) > 0)
			err = prepare(database, table, sql_where_range, &database->past.range[table], error);
	}
	return err;
}

/* ---- cache of recently written rows ---- */

static void entries_clear(struct past *past)
{
	arena_reset(&past->arena);
	if (past->cap > 0)
		memset(past->slots, 0, past->cap * sizeof(*past->slots));
	memset(past->of_table, 0, sizeof(past->of_table));
	past->count = 0;
	past->bytes = 0;
}

void past_free(struct past *past)
{
	for (int table = 0; table < TABLE_COUNT; table++) {
		sqlite3_finalize(past->get[table]);
		sqlite3_finalize(past->range[table]);
	}
	arena_free(&past->arena);
	mem_free(past->slots);
	buf_free(&past->body);
	buf_free(&past->row);
	memset(past, 0, sizeof(*past));
}

void past_batch_end(struct past *past, int result)
{
	bool written = result == SQLITE_OK;

	if (!written || past->count > KEEP_ENTRIES || past->bytes > KEEP_BYTES)
		entries_clear(past);
	if ((result & 0xff) == SQLITE_FULL)
		past->off = past->gap = true;
	past->gap = past->gap && !(written && past->gap_gone);
	past->gap_gone = false;
	past->durable_total = past->total = written ? past->total : past->durable_total;
	buf_clear(&past->body);
}

void past_allow(struct past *past, bool room)
{
	past->off = !room;
	past->gap = past->gap || !room;
	if (!room)
		entries_clear(past);
}

static void slots_grow(struct past *past)
{
	size_t cap = past->cap ? past->cap * 2 : 1024;
	struct past_slot *slots = mem_array(cap, sizeof(*slots));

	for (size_t i = 0; i < past->cap; i++) {
		size_t at;

		if (!past->slots[i].entry)
			continue;
		for (at = past->slots[i].hash & (cap - 1); slots[at].entry; at = (at + 1) & (cap - 1))
			;
		slots[at] = past->slots[i];
	}
	mem_free(past->slots);
	past->slots = slots;
	past->cap = cap;
}

/*
 * Find the cache slot of a key. In the first byte one bit says whether the row exists; that bit isn't part of the key.
 */
static struct past_slot *slot_of(struct past *past, const uint8_t *bytes, size_t key_len)
{
	uint64_t hash = hash_bytes(bytes + 1, key_len - 1, bytes[0] & 0x7f);
	size_t at;

	if (past->count * 2 >= past->cap)
		slots_grow(past);
	for (at = hash & (past->cap - 1); past->slots[at].entry; at = (at + 1) & (past->cap - 1)) {
		const struct past_entry *entry = past->slots[at].entry;

		if (past->slots[at].hash == hash && entry->key_len == key_len && !((entry->bytes[0] ^ bytes[0]) & 0x7f) &&
		    memcmp(entry->bytes + 1, bytes + 1, key_len - 1) == 0)
			break;
	}
	past->slots[at].hash = hash;
	return &past->slots[at];
}

static void entry_put(struct past *past, struct past_slot *slot, size_t key_len, struct slice bytes)
{
	struct past_entry *entry = slot->entry;

	if (!entry || entry->cap < bytes.len) {
		size_t cap = (bytes.len + 47) & ~(size_t)31;

		past->count += entry == NULL;
		past->of_table[bytes.data[0] & 0x7f] += entry == NULL;
		past->bytes += sizeof(*entry) + cap;
		entry = slot->entry = arena_alloc(&past->arena, sizeof(*entry) + cap);
		*entry = (struct past_entry){ .key_len = (uint32_t)key_len, .cap = (uint32_t)cap };
	}
	memcpy(entry->bytes, bytes.data, bytes.len);
	entry->len = (uint32_t)bytes.len;
}

/* ---- the row before a change ---- */

static int bind_key(sqlite3_stmt *statement, const struct row *row, size_t count)
{
	const struct table_column *columns = table_list[row->table].columns();
	int result = SQLITE_OK;

	for (size_t i = 0; i < count && result == SQLITE_OK; i++)
		result = write_bind(statement, (int)i + 1, row, &columns[i]);
	return result;
}

/*
 * Add the row as its table has it. That is also its state within the batch, because every row that the batch put or
 * deleted so far has a cache entry and isn't read here.
 */
static int add_stored(struct database *database, const struct row *row)
{
	struct past *past = &database->past;
	sqlite3_stmt *statement = past->get[row->table];
	struct row stored;
	int result = bind_key(statement, row, table_list[row->table].key_count);

	if (result != SQLITE_OK)
		return result;
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW)
		read_row(statement, row->table, NULL, &stored);
	past_add(&past->body, result == SQLITE_ROW ? &stored : row, result == SQLITE_ROW);
	result = sqlite3_reset(statement);
	return result;
}

/* Can no row have this key so far? Also records that now there is one. */
static bool is_first(struct past *past, const struct row *row)
{
	int64_t number;

	if (!table_counts(row->table) || row->deleted)
		return false;
	number = row_int(row, table_list[row->table].columns());
	if (number <= past->highest[row->table])
		return false;
	past->highest[row->table] = number;
	return true;
}

static int past_key(struct database *database, const struct row *row, bool first)
{
	struct past *past = &database->past;
	bool added = table_appends(row->table) && !row->deleted;
	struct past_slot *slot;
	size_t key_len;
	int result = SQLITE_OK;

	if (added && past->of_table[row->table] == 0) {
		past_add(&past->body, row, false);
		return SQLITE_OK;
	}
	buf_clear(&past->row);
	key_len = past_add(&past->row, row, !row->deleted);
	slot = slot_of(past, past->row.data, key_len);
	if (slot->entry) {
		if (!slice_eq(slice_make(slot->entry->bytes, slot->entry->len), buf_slice(&past->row)))
			buf_add(&past->body, slot->entry->bytes, slot->entry->len);
	} else if (added) {
		past_add(&past->body, row, false);
		return SQLITE_OK;        /* a row of this table is never put again, so it isn't worth a cache entry */
	} else if (first) {
		past_add(&past->body, row, false);
	} else {
		result = add_stored(database, row);
	}
	if (result == SQLITE_OK)
		entry_put(past, slot, key_len, buf_slice(&past->row));
	return result;
}

/*
 * Add the rows of a range that are in the cache, where they may be newer than in the table, and mark them as deleted.
 */
static void range_of_entries(struct past *past, const struct row *row)
{
	for (size_t i = 0; i < past->cap; i++) {
		struct past_entry *entry = past->slots[i].entry;
		struct slice bytes;
		struct row known;
		bool there, sound;

		if (!entry || (entry->bytes[0] & 0x7f) != (uint8_t)row->table)
			continue;
		bytes = slice_make(entry->bytes, entry->len);
		if (!past_next(&bytes, &known, &there, &sound) || !there || !row_in_range(row, &known))
			continue;
		buf_add(&past->body, entry->bytes, entry->len);
		entry->bytes[0] |= 0x80;
		entry->len = entry->key_len;
	}
}

static int past_range(struct database *database, const struct row *row)
{
	struct past *past = &database->past;
	sqlite3_stmt *statement = past->range[row->table];
	size_t keys = table_range_keys(row->table);
	int result = bind_key(statement, row, keys);

	if (result == SQLITE_OK)
		result = sqlite3_bind_int64(statement, (int)keys + 1, row->until);
	if (result != SQLITE_OK)
		return result;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		struct row stored;
		size_t key_len;

		read_row(statement, row->table, NULL, &stored);
		buf_clear(&past->row);
		key_len = past_add(&past->row, &stored, true);
		if (!slot_of(past, past->row.data, key_len)->entry)
			buf_add_slice(&past->body, buf_slice(&past->row));
	}
	result = sqlite3_reset(statement);
	range_of_entries(past, row);
	return result;
}

int past_row(struct database *database, const struct row *row, bool *ret_new)
{
	static const uint8_t unknown[PAST_TOTAL_SIZE];
	bool first = past_covers(row->table) && is_first(&database->past, row);

	*ret_new = first || table_appends(row->table);
	if (!past_covers(row->table))
		return SQLITE_OK;
	if (database->past.off)
		return SQLITE_OK;
	if (database->past.body.len == 0)
		buf_add(&database->past.body, unknown, PAST_TOTAL_SIZE);
	return row->until != 0 ? past_range(database, row) : past_key(database, row, first);
}

int past_turn_end(struct database *database, uint64_t turn, int64_t wall_ms)
{
	struct past *past = &database->past;
	struct row row = { .table = TABLE_change };
	uint64_t total;
	int result;

	if (past->body.len <= PAST_TOTAL_SIZE)
		return SQLITE_OK;
	if (past->gap && !past->gap_gone) {
		result = sqlite3_exec(database->handle, "DELETE FROM change", NULL, NULL, NULL);
		if (result != SQLITE_OK)
			return result;
		past->gap_gone = true;
	}
	past->total += past->body.len;
	total = htole64(past->total);
	memcpy(past->body.data, &total, PAST_TOTAL_SIZE);
	row.change = (struct row_change){ .turn = (int64_t)turn, .wall_ms = wall_ms, .body = buf_slice(&past->body) };
	result = write_row(database, &row);
	buf_clear(&past->body);
	return result;
}
