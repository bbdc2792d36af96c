/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated master's part of values: requests go into the core, watchers are sent what changed, as in
 * src/master/values.c. A backup is a copy of the disk; a restore puts it back with a higher generation, as in src/store/restore.c.
 */
#include "values.h"

#include "base/mem.h"

#define PAGE_ROWS (LIMIT_VALUE_OPS_MAX + VALUE_OPS)      /* few, so that there are several pages */

static struct msg_values space_of(const struct sim_values *values, unsigned space)
{
	return (struct msg_values){
		.space = space == SIM_SPACE_RUN ? SPACE_RUN : space == SIM_SPACE_CLUSTER ? SPACE_CLUSTER : SPACE_DEFINITION,
		.run = space == SIM_SPACE_RUN ? values->run : 0, .definition = slice_str(space == SIM_SPACE_DEFINITION ? "nightly" : ""),
	};
}

void values_master_ask(struct sim_world *world, const struct event *event)
{
	const struct outbox *outbox = world->master.deciding;
	size_t index = event->message->request - VALUE_ASKS, frames = outbox->frame_count, acts = 0, rows = outbox->row_count;
	const struct sim_ask *ask = &world->values->asks[index];
	uint64_t key[2] = { 1, ask->first };
	struct rec_value_op ops[VALUE_OPS] = { 0 };
	struct core_input input = { .kind = INPUT_VALUES, .conn = event->a, .request = event->message->request };

	for (size_t i = 0; i < ask->count; i++)
		ops[i] = (struct rec_value_op){
			.verb = ask->ops[i].verb, .key = slice_str(sim_value_keys[ask->ops[i].key]), .value = slice_str(ask->ops[i].text),
			.version = ask->ops[i].version, .by = ask->ops[i].by, .ttl_ms = ask->ops[i].ttl_ms,
		};
	input.values.msg = space_of(world->values, ask->space);
	input.values.msg.id = input.request;
	input.values.msg.ops.at = ops;
	input.values.msg.ops.n = ask->count;
	if (ask->keyed)
		input.values.msg.request = slice_make(key, sizeof(key));
	sim_master_ask(world, &input, 1 + ask->client);
	if (outbox->frame_count != frames + 1)
		world_fail(world, "I19: a request about values has %zu answers", outbox->frame_count - frames);
	oracle_values_asked(world, index, &outbox->frames[frames]);
	for (; rows < outbox->row_count; rows++)
		acts += outbox->rows[rows].table == TABLE_act;
	if (acts != (ask->changed && !ask->again && ask->space != SIM_SPACE_RUN))
		world_fail(world, "I20: a request about values has %zu acts", acts);
}

/* ---- watches ---- */

void values_master_watch(struct sim_world *world, const struct event *event)
{
	struct sim_values *values = world->values;
	uint64_t since = event->message->number, now = view_revision(world->master.core);
	unsigned watcher = event->who - SIM_WORKERS_MAX - 1 - VALUE_CLIENTS;

	/* What comes late on an older connection tells only a peer that has left. */
	if (event->a < values->watches[watcher].conn)
		return;
	values->watches[watcher].conn = event->a;
	values->watches[watcher].told = since - 1;
	values->watches[watcher].began = since > 1 ? since - 1 : now;
	values->watches[watcher].due = true;
}

void values_master_gone(struct sim_world *world, uint64_t conn)
{
	for (size_t i = 0; i < VALUE_WATCHERS; i++)
		if (world->values->watches[i].conn == conn)
			world->values->watches[i].conn = 0;
}

static unsigned key_index(struct sim_world *world, struct slice key)
{
	for (unsigned i = 0; i < VALUE_KEYS; i++)
		if (slice_eq(key, slice_str(sim_value_keys[i])))
			return i;
	world_fail(world, "I19: a watcher is told a key that nobody ever set");
}

static struct message *page_of(struct sim_world *world, const struct msg_values_changed *changed)
{
	struct message *message = message_make(OP_VALUES_CHANGED);
	struct sim_page *page = message->page = mem_zalloc(sizeof(*page));

	page->revision = changed->revision;
	page->compacted = changed->compacted;
	page->more = changed->more;
	if (changed->rows.n > VALUE_KEYS)
		world_fail(world, "I19: a watcher is told %zu keys at once", changed->rows.n);
	for (; page->count < changed->rows.n; page->count++) {
		const struct rec_value_row *row = &changed->rows.at[page->count];
		struct sim_value *value = &page->rows[page->count].value;

		page->rows[page->count].key = key_index(world, row->key);
		*value = (struct sim_value){ .kind = (enum value_kind)row->kind, .version = row->version, .len = row->value.len };
		memcpy(value->bytes, row->value.len ? (const char *)row->value.data : "", row->value.len < VALUE_SIZE ? row->value.len : VALUE_SIZE);
	}
	return message;
}

bool values_master_flush(struct sim_world *world, struct sim_turn *turn)
{
	struct sim_values *values = world->values;
	const struct core *core = world->master.core;
	bool more = false;

	for (unsigned i = 0; i < VALUE_WATCHERS; i++) {
		struct msg_values_changed changed = { 0 };
		struct arena arena = { 0 };
		bool news;

		if (values->watches[i].conn == 0 || (!values->watches[i].due && values->watches[i].told >= view_revision(core)))
			continue;
		news = view_values_after(core, 0, slice_str(i == 0 ? "" : "nightly"), slice_str(sim_watch_prefixes[i]), values->watches[i].told,
					 values->watches[i].began, PAGE_ROWS, &arena, &changed);
		values->watches[i].told = changed.revision;
		if (news || values->watches[i].due) {
			turn->pages[i].conn = values->watches[i].conn;
			turn->pages[i].message = page_of(world, &changed);
		}
		values->watches[i].due = false;
		if (changed.compacted)
			values->watches[i].conn = 0;
		more = more || changed.more;
		arena_free(&arena);
	}
	return more;
}

/* ---- restores ---- */

void values_backup(struct sim_world *world)
{
	struct sim_values *values = world->values;

	if (values->backup.made)
		disk_free(&values->backup.disk);
	values->backup.made = true;
	disk_copy(&world->disk, &values->backup.disk);
	values->backup.model = values->durable;
	values->backup.act = world->oracle.act;
	memcpy(values->backup.act_hash, world->oracle.act_hash, SHA256_SIZE);
	values->backup.wall_offset_ms = world->oracle.wall_offset_ms;
	values->backup.boots = world->boots;
	world_note(world, "the store is backed up");
}

void values_restore(struct sim_world *world)
{
	struct sim_values *values = world->values;

	sim_master_crash(world);
	disk_free(&world->disk);
	disk_copy(&values->backup.disk, &world->disk);
	values->restores++;
	disk_raise_generation(&world->disk, values->restores + 1);
	world->oracle.act = values->backup.act;
	memcpy(world->oracle.act_hash, values->backup.act_hash, SHA256_SIZE);
	/* Over a reboot since the backup only the wall clock tells how much time passed. */
	world->oracle.wall_offset_ms = values->backup.wall_offset_ms;
	if (values->backup.boots != world->boots && values->backup.wall_offset_ms != world->wall_offset_ms)
		world->oracle.wrong_ns = world->now_ns;
	values->durable = values->backup.model;
	oracle_crashed(world);
	world_note(world, "the store is put back to the backup of turn %u", (unsigned)world->disk.turn);
}
