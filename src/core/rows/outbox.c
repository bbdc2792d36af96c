/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outbox of a turn. It owns its lists, its arena, and a reference to each of its blobs. Its contents never change
 * after the turn has ended.
 */
#include "core/rows/outbox.h"

#include "base/mem.h"

static void outbox_release_blobs(struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->blob_count; i++)
		blob_release(outbox->blobs[i]);
	outbox->blob_count = 0;
}

void outbox_clear(struct outbox *outbox)
{
	outbox_release_blobs(outbox);
	arena_reset(&outbox->arena);
	outbox->row_count = 0;
	outbox->frame_count = 0;
	outbox->change_count = 0;
	outbox->turn = 0;
	outbox->wall_ms = 0;
	outbox->next = NULL;
}

void outbox_free(struct outbox *outbox)
{
	outbox_release_blobs(outbox);
	arena_free(&outbox->arena);
	mem_free(outbox->rows);
	mem_free(outbox->frames);
	mem_free(outbox->changes);
	mem_free(outbox->blobs);
	*outbox = (struct outbox){ 0 };
}

static void *list_room(void *list, size_t count, size_t *cap, size_t size)
{
	if (count < *cap)
		return list;
	*cap = *cap ? *cap * 2 : 16;
	return mem_resize(list, *cap, size);
}

struct row *outbox_row(struct outbox *outbox, enum row_table table)
{
	struct row *row;

	outbox->rows = list_room(outbox->rows, outbox->row_count, &outbox->row_cap, sizeof(*row));
	row = &outbox->rows[outbox->row_count++];
	*row = (struct row){ .table = table };
	return row;
}

void outbox_own(struct outbox *outbox, struct row *row)
{
#define OWN_INT(field)  (void)(field)
#define OWN_TEXT(field) (field) = arena_copy(&outbox->arena, (field))
#define OWN_BLOB(field) OWN_TEXT(field)
#define TABLE(table, what) case TABLE_##table: { struct row_##table *at = &row->table;
#define KEY(type, name, what) OWN_##type(at->name);
#define COLUMN(type, name, check, what) OWN_##type(at->name);
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

struct outgoing *outbox_frame(struct outbox *outbox, uint64_t conn, enum opcode op)
{
	struct outgoing *frame;

	outbox->frames = list_room(outbox->frames, outbox->frame_count, &outbox->frame_cap, sizeof(*frame));
	frame = &outbox->frames[outbox->frame_count++];
	*frame = (struct outgoing){ .conn = conn, .op = op };
	return frame;
}

void outbox_changed(struct outbox *outbox, enum changed_kind kind, uint64_t id, uint64_t run)
{
	outbox->changes = list_room(outbox->changes, outbox->change_count, &outbox->change_cap,
				    sizeof(*outbox->changes));
	outbox->changes[outbox->change_count++] = (struct changed){ .kind = kind, .id = id, .run = run };
}

struct slice outbox_hold(struct outbox *outbox, struct blob *blob)
{
	outbox->blobs = list_room(outbox->blobs, outbox->blob_count, &outbox->blob_cap,
				  sizeof(*outbox->blobs));
	outbox->blobs[outbox->blob_count++] = blob_hold(blob);
	return blob_slice(blob);
}
