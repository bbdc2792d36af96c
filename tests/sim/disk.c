/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated store: rows that survive a crash, put and deleted by key, one outbox at a time, like in the real
 * store.
 */
#include "sim.h"

#include <stdlib.h>

#include "base/mem.h"

/*
 * Copy the texts and blobs of a row into the arena, and append the bytes of the row's key to key. Generated from
 * rows.def.
 */
static void row_copy(struct arena *arena, struct row *row, struct buf *key)
{
	uint8_t table = (uint8_t)row->table;

	buf_add(key, &table, 1);
#define COPY_INT(field) (void)arena
#define COPY_TEXT(field) field = arena_copy(arena, field)
#define COPY_BLOB(field) field = arena_copy(arena, field)
#define KEY_INT(field) buf_add(key, &field, sizeof(field))
#define KEY_TEXT(field) buf_add_slice(key, field)
#define KEY_BLOB(field) buf_add_slice(key, field)
#define TABLE(table, what) case TABLE_##table: { struct row_##table *at = &row->table;
#define KEY(type, name, what) COPY_##type(at->name); KEY_##type(at->name);
#define COLUMN(type, name, check, what) COPY_##type(at->name);
#define END(table) break; }
	switch (row->table) {
#include "core/rows/rows.def"
	case TABLE_COUNT:
		break;
	}
#undef TABLE
#undef KEY
#undef COLUMN
#undef END
}

static void disk_put(struct disk *disk, const struct row *row)
{
	struct disk_row *copy = mem_zalloc(sizeof(*copy));
	struct buf key = { 0 };
	struct disk_row *old;

	copy->row = *row;
	row_copy(&copy->arena, &copy->row, &key);
	old = name_map_remove(&disk->rows, buf_slice(&key));
	if (old) {
		arena_free(&old->arena);
		*old = *copy;
		mem_free(copy);
	} else {
		if (disk->count == disk->cap) {
			disk->cap = disk->cap ? disk->cap * 2 : 64;
			disk->order = mem_resize(disk->order, disk->cap, sizeof(struct disk_row *));
		}
		old = disk->order[disk->count++] = copy;
	}
	name_map_put(&disk->rows, arena_copy(&old->arena, buf_slice(&key)), old);
	buf_free(&key);
}

/* Keep a row that was pruned: the core doesn't see it any more, but the oracle still needs its content. */
static void bury(struct disk *disk, struct disk_row *old, struct slice key)
{
	name_map_put(&disk->buried, arena_copy(&old->arena, key), old);
}

static void disk_delete(struct disk *disk, const struct row *row, bool pruned)
{
	struct row copy = *row;
	struct arena arena = { 0 };
	struct buf key = { 0 };
	struct disk_row *old;

	row_copy(&arena, &copy, &key);
	old = name_map_remove(&disk->rows, buf_slice(&key));
	for (size_t i = 0; old && i < disk->count; i++) {
		if (disk->order[i] != old)
			continue;
		memmove(&disk->order[i], &disk->order[i + 1], (disk->count - i - 1) * sizeof(struct disk_row *));
		disk->count--;
		break;
	}
	if (old && pruned) {
		bury(disk, old, buf_slice(&key));
	} else if (old) {
		arena_free(&old->arena);
		mem_free(old);
	}
	arena_free(&arena);
	buf_free(&key);
}

static void disk_delete_range(struct disk *disk, const struct row *row)
{
	for (size_t i = disk->count; i > 0; i--)
		if (row_in_range(row, &disk->order[i - 1]->row))
			disk_delete(disk, &disk->order[i - 1]->row, true);
}

void disk_apply(struct disk *disk, const struct outbox *outbox, uint64_t hash_after, struct now now)
{
	for (size_t i = 0; i < outbox->row_count; i++) {
		if (outbox->rows[i].until != 0)
			disk_delete_range(disk, &outbox->rows[i]);
		else if (outbox->rows[i].deleted)
			disk_delete(disk, &outbox->rows[i], outbox->rows[i].table == TABLE_run);
		else
			disk_put(disk, &outbox->rows[i]);
	}
	disk->restored = false;
	disk->turn = outbox->turn;
	disk->hash_after = hash_after;
	disk->now = now;
}

void disk_copy(const struct disk *from, struct disk *ret)
{
	*ret = (struct disk){ .turn = from->turn, .hash_after = from->hash_after, .now = from->now };
	for (size_t i = 0; i < from->count; i++)
		disk_put(ret, &from->order[i]->row);
}

void disk_raise_generation(struct disk *disk, uint64_t generation)
{
	struct row row = { .table = TABLE_meta, .meta = { .name = slice_str("boot") } };

	disk_delete(disk, &row, false);
	row.meta = (struct row_meta){ .name = slice_str("generation"), .value = (int64_t)generation };
	disk_put(disk, &row);
	disk->restored = true;
}

bool disk_is_buried(const struct disk *disk, uint64_t run)
{
	uint8_t bytes[9] = { TABLE_run };

	memcpy(bytes + 1, &run, 8);
	return name_map_get(&disk->buried, slice_make(bytes, sizeof(bytes))) != NULL;
}

const struct row *disk_get(const struct disk *disk, enum row_table table, uint64_t key)
{
	uint8_t bytes[9] = { (uint8_t)table };
	const struct disk_row *found;

	memcpy(bytes + 1, &key, 8);
	found = name_map_get(&disk->rows, slice_make(bytes, sizeof(bytes)));
	if (!found)
		found = name_map_get(&disk->buried, slice_make(bytes, sizeof(bytes)));
	return found ? &found->row : NULL;
}

const struct row *disk_get_text(const struct disk *disk, enum row_table table, struct slice key)
{
	uint8_t number = (uint8_t)table;
	struct buf bytes = { 0 };
	const struct disk_row *found;

	buf_add(&bytes, &number, 1);
	buf_add_slice(&bytes, key);
	found = name_map_get(&disk->rows, buf_slice(&bytes));
	buf_free(&bytes);
	return found ? &found->row : NULL;
}

static bool row_is_live(const struct disk *disk, const struct row *row)
{
	uint64_t run = row->table == TABLE_run ? (uint64_t)row->run.run :
		       row->table == TABLE_spec ? (uint64_t)row->spec.run :
		       row->table == TABLE_job ? (uint64_t)row->job.run :
		       row->table == TABLE_decision ? (uint64_t)row->decision.run : 0;
	const struct row *owner;

	if (row->table == TABLE_event || row->table == TABLE_dead || row->table == TABLE_pruned_run || row->table == TABLE_attempt)
		return false;
	if (run == 0)
		return true;
	owner = disk_get(disk, TABLE_run, run);
	return owner && owner->run.ended_ms == 0;
}

static int row_order(const void *a, const void *b)
{
	const struct row *x = &(*(struct disk_row *const *)a)->row, *y = &(*(struct disk_row *const *)b)->row;
	int64_t p = x->table == TABLE_worker ? x->worker.worker : x->table == TABLE_run ? x->run.run : x->table == TABLE_job ? x->job.job :
		    x->table == TABLE_spec ? x->spec.run * 1000 + x->spec.part :
		    x->table == TABLE_pruned ? x->pruned.first : x->table == TABLE_pruning ? x->pruning.run :
		    x->table == TABLE_act ? x->act.act : 0;
	int64_t q = y->table == TABLE_worker ? y->worker.worker : y->table == TABLE_run ? y->run.run : y->table == TABLE_job ? y->job.job :
		    y->table == TABLE_spec ? y->spec.run * 1000 + y->spec.part :
		    y->table == TABLE_pruned ? y->pruned.first : y->table == TABLE_pruning ? y->pruning.run :
		    y->table == TABLE_act ? y->act.act : 0;

	return p < q ? -1 : p > q;
}

enum err disk_load(const struct disk *disk, struct core *core, struct error *error)
{
	struct disk_row **sorted = mem_array(disk->count + 1, sizeof(struct disk_row *));
	enum err err = ERR_NONE;

	for (int table = 0; table < TABLE_COUNT && err == ERR_NONE; table++) {
		size_t n = 0;

		for (size_t i = 0; i < disk->count; i++)
			if ((int)disk->order[i]->row.table == table && row_is_live(disk, &disk->order[i]->row))
				sorted[n++] = disk->order[i];
		qsort(sorted, n, sizeof(struct disk_row *), row_order);
		for (size_t i = 0; i < n && err == ERR_NONE; i++)
			err = core_load_row(core, &sorted[i]->row, error);
	}
	mem_free(sorted);
	return err;
}

void disk_free(struct disk *disk)
{
	size_t cursor = 0;
	struct slice key;
	void *value;

	for (size_t i = 0; i < disk->count; i++) {
		arena_free(&disk->order[i]->arena);
		mem_free(disk->order[i]);
	}
	mem_free(disk->order);
	name_map_free(&disk->rows);
	while (name_map_next(&disk->buried, &cursor, &key, &value)) {
		arena_free(&((struct disk_row *)value)->arena);
		mem_free(value);
	}
	name_map_free(&disk->buried);
}
