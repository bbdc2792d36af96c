/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values (I19): each request takes effect at one moment, whole or not at all, in the order of turns; what was answered
 * stays, over every crash; a request that is repeated with its key is done once. No two changes share a revision, and each is
 * larger than those before it, also over a restore. A watcher has each change once, in order, and in the end knows every key;
 * after a restore it is told that it must begin anew.
 *
 * The moments are the steps of the core; what each request must find and leave is computed from its operations (values_model.c).
 */
#include "oracle.h"
#include "values.h"

#include <inttypes.h>

#include "base/mem.h"

#define REBOOT_MS 10                     /* clocks are read in whole milliseconds, before and after the reboot */

/* ---- requests and answers ---- */

static void change_add(struct sim_values *values, unsigned space, unsigned key, uint64_t revision)
{
	struct sim_value_model *model = &values->decided;

	if (model->change_count == values->change_cap) {
		values->change_cap = values->change_cap ? values->change_cap * 2 : 64;
		values->changes = mem_resize(values->changes, values->change_cap, sizeof(*values->changes));
	}
	values->changes[model->change_count] = (struct sim_value_change){ space, key, model->at[space][key] };
	values->changes[model->change_count++].value.version = revision;
	model->revision = revision;
}

static void check_revision(struct sim_world *world, uint64_t revision)
{
	const struct sim_values *values = world->values;

	if (revision <= values->decided.revision || revision <= values->revealed)
		world_fail(world, "I19: a change has revision %" PRIx64 ", and %" PRIx64 " was given before", revision,
			   values->decided.revision > values->revealed ? values->decided.revision : values->revealed);
	if (revision >> VALUE_REVISION != values->restores)
		world_fail(world, "I19: a change has revision %" PRIx64 " after %u restores", revision, (unsigned)values->restores);
}

static void check_answer(struct sim_world *world, const struct sim_ask *ask, const struct msg_valued *valued)
{
	if (valued->rows.n != ask->row_count || valued->more)
		world_fail(world, "I19: an answer has %zu rows instead of %zu", valued->rows.n, ask->row_count);
	if (ask->changed && valued->revision != ask->revision)
		world_fail(world, "I19: an answer has revision %" PRIx64 " instead of %" PRIx64, valued->revision, ask->revision);
	for (size_t i = 0; i < ask->row_count; i++) {
		const struct rec_value_row *row = &valued->rows.at[i];
		const struct sim_value_result *want = &ask->rows[i];
		/* a repeated request is answered without what it read */
		bool read = want->read && !ask->again;

		if (!slice_eq(row->key, slice_str(sim_value_keys[want->key])) || row->kind != want->value.kind ||
		    row->version != want->value.version || row->number != want->number || row->bytes != want->value.len ||
		    row->value.len != (read ? want->value.len : 0) || (read && want->value.len > 0 && memcmp(row->value.data, want->value.bytes, want->value.len) != 0))
			world_fail(world, "I19: operation %zu on key '%s' finds or leaves kind %u, revision %" PRIx64 ", %u bytes, number %d; it must be kind "
				   "%u, revision %" PRIx64 ", %u bytes, number %d", i + 1, sim_value_keys[want->key], (unsigned)row->kind, row->version,
				   (unsigned)row->bytes, (int)row->number, (unsigned)want->value.kind, want->value.version, (unsigned)want->value.len,
				   (int)want->number);
	}
}

/* Of a run that has ended or was pruned the master refuses requests; when that is, other checks say. */
static bool run_is_over(struct sim_values *values, const struct sim_ask *ask, enum err code)
{
	if (ask->space != SIM_SPACE_RUN || (code != ERR_PRUNED && code != ERR_TERMINAL))
		return false;
	values->decided.gone = values->decided.gone || code == ERR_PRUNED;
	return true;
}

static void done_before(struct sim_world *world, struct sim_ask *ask, const struct sim_ask *done)
{
	(void)world;
	ask->again = ask->changed = true;
	ask->code = ERR_NONE;
	ask->turn = done->turn;
	ask->revision = done->revision;
	ask->row_count = done->row_count;
	memcpy(ask->rows, done->rows, sizeof(ask->rows));
}

void oracle_values_asked(struct sim_world *world, size_t index, const struct outgoing *frame)
{
	struct sim_values *values = world->values;
	struct sim_ask *ask = &values->asks[index], *first = &values->asks[ask->first];
	enum err code = frame->op == OP_ERROR ? (enum err)frame->error.code : ERR_NONE;
	struct sim_value_trial trial = { .model = values->decided, .now_ns = world->now_ns };

	ask->stepped = true;
	ask->turn = world->master.deciding->turn;
	trial.revision = frame->op == OP_VALUED ? frame->valued.revision : UINT64_MAX;  /* one that no key has */
	if (first->done_by)
		done_before(world, ask, &values->asks[first->done_by - 1]);
	else if (run_is_over(values, ask, code))
		ask->code = code;
	else
		values_model_do(&trial, ask);
	world_note(world, "client %u's request %u about values: %s", ask->client, (unsigned)index, code == ERR_NONE ? "done" : "refused");
	if (code != ask->code)
		world_fail(world, "I19: a request about values ends with error %d instead of %d: %.*s", (int)code, (int)ask->code,
			   code ? (int)frame->error.text.len : 0, code ? (const char *)frame->error.text.data : "");
	if (code == ERR_NONE && !ask->again && trial.changed) {
		check_revision(world, trial.revision);
		ask->changed = true;
		ask->revision = trial.revision;
		if (ask->keyed)
			first->done_by = index + 1;
		trial.model.change_count = values->decided.change_count;
		values->decided = trial.model;
		for (unsigned key = 0; key < VALUE_KEYS; key++)
			if (trial.touched[key])
				change_add(values, ask->space, key, trial.revision);
	}
	if (code == ERR_NONE)
		check_answer(world, ask, &frame->valued);
}

void oracle_values_revealed(struct sim_world *world, const struct outgoing *frame)
{
	struct sim_values *values = world->values;
	const struct sim_ask *ask = &values->asks[frame->valued.id - VALUE_ASKS];

	check_answer(world, ask, &frame->valued);
	if (ask->changed && ask->turn > world->disk.turn)
		world_fail(world, "I19: a change is answered before it is durable");
	for (size_t i = 0; i < ask->row_count; i++)
		if (ask->rows[i].value.version > values->durable.revision)
			world_fail(world, "I19: an answer shows a revision that isn't durable");
	if (frame->valued.revision > values->revealed)
		values->revealed = frame->valued.revision;
}

/* ---- watchers ---- */

static bool watched(const struct sim_value_change *change, unsigned watcher)
{
	const char *prefix = sim_watch_prefixes[watcher];

	return change->space == watcher && strncmp(sim_value_keys[change->key], prefix, strlen(prefix)) == 0;
}

static bool same(const struct sim_value *one, const struct sim_value *other)
{
	return one->kind == other->kind && one->version == other->version && one->len == other->len && memcmp(one->bytes, other->bytes, one->len) == 0;
}

/* The watcher knows all up to this revision: is it what was there then? */
static void check_mirror(struct sim_world *world, unsigned watcher, uint64_t revision)
{
	const struct sim_values *values = world->values;
	struct sim_value then[VALUE_KEYS] = { 0 };

	for (size_t i = 0; i < values->decided.change_count && values->changes[i].value.version <= revision; i++)
		if (watched(&values->changes[i], watcher))
			then[values->changes[i].key] = values->changes[i].value;
	for (unsigned key = 0; key < VALUE_KEYS; key++) {
		const struct sim_value *mirror = &values->watchers[watcher].mirror[key];

		if (mirror->kind != then[key].kind || (mirror->kind != VALUE_NONE && !same(mirror, &then[key])))
			world_fail(world, "I19: a watcher that was told all up to revision %" PRIx64 " has key '%s' of revision %" PRIx64 ", not %" PRIx64,
				   revision, sim_value_keys[key], mirror->version, then[key].version);
	}
}

static bool was_there(const struct sim_values *values, unsigned watcher, unsigned key, const struct sim_value *value)
{
	for (size_t i = values->decided.change_count; i-- > 0;)
		if (values->changes[i].key == key && watched(&values->changes[i], watcher) && same(&values->changes[i].value, value))
			return true;
	return false;
}

void oracle_values_page(struct sim_world *world, unsigned index, const struct sim_page *page)
{
	struct sim_values *values = world->values;
	struct sim_watcher *watcher = &values->watchers[index];
	uint64_t last = watcher->told;
	/* A page that was under way when the store was put back tells of changes that were lost. */
	bool current = page->revision >> VALUE_REVISION == values->restores;

	world_note(world, "watcher %u is told %zu keys%s", index, page->count, page->compacted ? ": compacted" : "");
	if (page->compacted) {
		if (watcher->told >> VALUE_REVISION >= values->restores)
			world_fail(world, "I19: a watcher must begin anew though nothing was forgotten");
		*watcher = (struct sim_watcher){ 0 };
		return;
	}
	if (page->revision < watcher->told ||
	    (watcher->told && !watcher->paging && page->revision >> VALUE_REVISION != watcher->told >> VALUE_REVISION))
		world_fail(world, "I19: a watch goes on from revision %" PRIx64 " to %" PRIx64, watcher->told, page->revision);
	for (size_t i = 0; i < page->count; i++) {
		const struct sim_value *value = &page->rows[i].value;

		if (value->version < last || value->version <= watcher->told || value->version > page->revision)
			world_fail(world, "I19: a watcher is told revision %" PRIx64 " out of order or again", value->version);
		if (current && !was_there(values, index, page->rows[i].key, value))
			world_fail(world, "I19: a watcher is told a value of key '%s' that it never had", sim_value_keys[page->rows[i].key]);
		last = value->version;
		watcher->mirror[page->rows[i].key] = *value;
	}
	if (current && !page->more)
		check_mirror(world, index, page->revision);
	watcher->told = page->revision;
	watcher->paging = page->more;
}

/* ---- turns ---- */

static void value_ends(struct sim_world *world, const struct row_value *row, unsigned space, unsigned key)
{
	struct sim_values *values = world->values;
	struct sim_value *value = &values->decided.at[space][key];
	bool known = world->oracle.wrong_ns == 0 || world->oracle.wrong_ns < value->since_ns;
	int64_t unsure_ms = world->boots && world->boot_ns >= value->since_ns ? REBOOT_MS : 0;

	if (value->kind == VALUE_NONE || value->ttl_ms == 0 || (known && world->now_ns < value->since_ns + (value->ttl_ms - unsure_ms) * MS))
		world_fail(world, "I19: key '%s' ends before its time", sim_value_keys[key]);
	check_revision(world, (uint64_t)row->version);
	*value = (struct sim_value){ 0 };
	change_add(values, space, key, (uint64_t)row->version);
}

static void note_row(struct sim_world *world, const struct row *row)
{
	struct sim_values *values = world->values;
	unsigned space = row->value.run ? SIM_SPACE_RUN : row->value.definition.len ? SIM_SPACE_DEFINITION : SIM_SPACE_CLUSTER;

	if (row->until) {
		if ((uint64_t)row->value.run == values->run) {
			memset(values->decided.at[SIM_SPACE_RUN], 0, sizeof(values->decided.at[SIM_SPACE_RUN]));
			values->decided.gone = true;
		}
		return;
	}
	for (unsigned key = 0; key < VALUE_KEYS && row->value.kind == VALUE_NONE && !row->deleted; key++) {
		bool known = !slice_eq(row->value.name, slice_str(sim_value_keys[key]));

		for (size_t i = values->decided.change_count; i-- > 0 && !known;)
			known = values->changes[i].value.version == (uint64_t)row->value.version && values->changes[i].key == key;
		if (!known)
			value_ends(world, &row->value, space, key);
	}
}

static void values_turn(struct sim_world *world, const struct outbox *outbox)
{
	struct sim_values *values = world->values;
	const struct sim_value_model *before;

	if (!values)
		return;
	for (size_t i = 0; i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_value)
			note_row(world, &outbox->rows[i]);
	before = values->turn_count ? &values->turns[values->turn_count - 1].model : &values->durable;
	if (before->change_count == values->decided.change_count && before->gone == values->decided.gone)
		return;
	values->changed_ns = world->now_ns;
	if (values->turn_count == values->turn_cap) {
		values->turn_cap = values->turn_cap ? values->turn_cap * 2 : 16;
		values->turns = mem_resize(values->turns, values->turn_cap, sizeof(*values->turns));
	}
	values->turns[values->turn_count].turn = outbox->turn;
	values->turns[values->turn_count++].model = values->decided;
}

static void values_committed(struct sim_world *world, const struct outbox *outbox)
{
	struct sim_values *values = world->values;
	size_t count = 0;

	while (values && count < values->turn_count && values->turns[count].turn <= outbox->turn)
		values->durable = values->turns[count++].model;
	if (count == 0)
		return;
	values->turn_count -= count;
	memmove(values->turns, values->turns + count, values->turn_count * sizeof(*values->turns));
}

static void values_crash(struct sim_world *world)
{
	struct sim_values *values = world->values;

	if (!values)
		return;
	values->decided = values->durable;
	values->turn_count = 0;
	memset(values->watches, 0, sizeof(values->watches));
	for (size_t i = 0; i < values->ask_count; i++) {
		size_t done = values->asks[i].done_by;

		/* A change that the crash or the restore took back can be done once more. */
		if (done && values->asks[done - 1].revision > values->durable.revision)
			values->asks[i].done_by = 0;
	}
}

static void values_rest(struct sim_world *world)
{
	for (unsigned i = 0; world->values && i < VALUE_WATCHERS; i++)
		check_mirror(world, i, UINT64_MAX);
}

const struct oracle_check oracle_values = { .turn = values_turn, .committed = values_committed, .crash = values_crash, .rest = values_rest };
