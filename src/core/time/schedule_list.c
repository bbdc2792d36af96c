/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of schedules: create, find, write, load, check and show them. */
#include "core/time/time.h"

#include "base/planted.h"
#include "base/text.h"
#include "core/time/internal.h"
#include "core/view/view.h"

#define CRON_MAX 4096                    /* bytes; naming every minute of an hour takes 300 */

struct schedule *schedule_find(const struct core *core, struct slice name)
{
	return name_map_get(&core->schedule_names, name);
}

struct schedule *schedule_by_stamp(const struct core *core, uint64_t stamp)
{
	return map_get(&core->schedule_stamps, stamp);
}

void schedule_parts_release(struct schedule *schedule)
{
	for (size_t i = 0; i < schedule->part_count; i++)
		blob_release(schedule->parts[i].body);
	mem_free(schedule->parts);
	schedule->parts = NULL;
	schedule->part_count = 0;
}

static void schedule_free(struct schedule *schedule)
{
	schedule_parts_release(schedule);
	blob_release(schedule->spec);
	blob_release(schedule->context);
	mem_free(schedule->name);
	mem_free(schedule->owner);
	mem_free(schedule->tenant);
	mem_free(schedule->concurrency);
	mem_free(schedule);
}

/* Remove the schedule at this index; the last one takes its place. */
void schedule_drop(struct core *core, size_t at)
{
	struct schedule *schedule = core->schedules[at];

	name_map_remove(&core->schedule_names, slice_str(schedule->name));
	core->schedules[at] = core->schedules[--core->schedule_count];
	schedule_free(schedule);
}

void schedules_free(struct core *core)
{
	while (core->schedule_count > 0)
		schedule_drop(core, core->schedule_count - 1);
	mem_free(core->schedules);
	name_map_free(&core->schedule_names);
	map_free(&core->schedule_stamps);
}

struct schedule *schedule_new(struct core *core, struct slice name, struct slice owner)
{
	struct schedule *schedule = mem_zalloc(sizeof(*schedule));

	schedule->name = mem_text(name);
	schedule->owner = mem_text(owner);
	schedule->tenant = mem_text(slice_make(NULL, 0));
	schedule->concurrency = mem_text(slice_make(NULL, 0));
	GROW(core->schedules, core->schedule_count, core->schedule_cap);
	core->schedules[core->schedule_count++] = schedule;
	name_map_put(&core->schedule_names, slice_str(schedule->name), schedule);
	return schedule;
}

/* Count the live runs of this schedule's name. Runs of a removed schedule count for the next one of the same name. */
uint64_t schedule_count_live(const struct core *core, const struct schedule *schedule)
{
	uint64_t live = 0;

	for (size_t at = core->runs.head; at < core->runs.count; at++) {
		const struct run *run = core->runs.at[at].run;

		live += run && run->ended_ms == 0 && run->schedule && strcmp(run->schedule, schedule->name) == 0;
	}
	return live;
}

/* Take a specification into the schedule's blob; the decoded texts point into that blob. */
enum err schedule_take_spec(struct core *core, struct schedule *schedule, struct slice bytes, struct error *error)
{
	struct rec_schedule_spec spec;
	struct cron cron;
	struct blob *blob = blob_make(bytes);
	struct slice rest = blob_slice(blob);
	size_t at, len;
	const char *why;
	enum err err;

	arena_reset(&core->scratch);
	err = record_decode(REC_schedule_spec, &rest, &core->scratch, &spec, error);
	if (err == ERR_NONE && spec.cron.len > CRON_MAX)
		err = error_set(error, ERR_TOO_LARGE, "cron: longer than %d bytes", CRON_MAX);
	else if (err == ERR_NONE && (why = cron_parse(spec.cron, &cron, &at, &len)) != NULL)
		err = error_set(error, ERR_INVALID, "cron: %s", why);
	else if (err == ERR_NONE && (!zone_is_valid(spec.zone) || spec.zone_name.len > 64))
		err = error_set(error, ERR_INVALID, "tz: the name is longer than 64 bytes, or the changes aren't in "
			"order and at least a day apart");
	else if (err == ERR_NONE && (spec.overlap > OVERLAP_ALLOW || spec.catchup > CATCHUP_SPAN))
		err = error_set(error, ERR_INVALID, "unknown overlap or catchup");
	else if (err == ERR_NONE && spec.catchup_ms / 1000 > LIMIT_SPAN_MAX_S)
		err = error_set(error, ERR_TOO_LARGE, "catchup: longer than ten years");
	if (err != ERR_NONE) {
		blob_release(blob);
		return err;
	}
	blob_release(schedule->spec);
	schedule->spec = blob;
	schedule->cron = cron;
	schedule->said = spec;
	return ERR_NONE;
}

void schedule_row_put(struct core *core, const struct schedule *schedule)
{
	struct arena *arena = &core->outbox->arena;
	struct row *row = outbox_row(core->outbox, TABLE_schedule);

	row->schedule = (struct row_schedule){
		.schedule = arena_copy(arena, slice_str(schedule->name)),
		.owner = arena_copy(arena, slice_str(schedule->owner)), .principal = (int64_t)schedule->principal,
		.tenant = arena_copy(arena, slice_str(schedule->tenant)),
		.concurrency = arena_copy(arena, slice_str(schedule->concurrency)),
		.spec = outbox_hold(core->outbox, schedule->spec), .max_jobs = schedule->max_jobs,
		.paused = schedule->paused, .next_ms = schedule->next_ms, .last_ms = schedule->last_ms,
		.last_run = (int64_t)schedule->last_run, .queued = schedule->queued,
		.fired = (int64_t)schedule->fired, .skipped = (int64_t)schedule->skipped,
		.skip_why = schedule->skip_why, .skip_ms = schedule->skip_ms,
	};
	if (schedule->context)
		row->schedule.context = outbox_hold(core->outbox, schedule->context);
	if (!schedule->keyed)
		return;
	row->schedule.submit_key = arena_copy(arena, slice_make(schedule->key, sizeof(schedule->key)));
	row->schedule.digest = arena_copy(arena, slice_make(schedule->digest, sizeof(schedule->digest)));
}

void schedule_parts_rows(struct core *core, const struct schedule *schedule, size_t count, bool deleted)
{
	for (size_t i = 0; i < count; i++) {
		struct row *row = outbox_row(core->outbox, TABLE_schedule_part);

		row->deleted = deleted;
		row->schedule_part.schedule = arena_copy(&core->outbox->arena, slice_str(schedule->name));
		row->schedule_part.part = (int64_t)i;
		if (deleted)
			continue;
		row->schedule_part.count = schedule->parts[i].count;
		row->schedule_part.body = outbox_hold(core->outbox, schedule->parts[i].body);
	}
}

void schedules_check(const struct core *core)
{
	size_t stamps = 0;

	for (size_t i = 0; i < core->schedule_count; i++) {
		const struct schedule *schedule = core->schedules[i];
		uint64_t live = schedule_count_live(core, schedule);

		CHECK(schedule->live == live);
		CHECK((schedule->stamp != 0) == (!schedule->paused && schedule->next_ms != 0));
		CHECK(schedule_find(core, slice_str(schedule->name)) == schedule);
		CHECK(!schedule->stamp || schedule_by_stamp(core, schedule->stamp) == schedule);
		CHECK(!schedule->queue_stamp || schedule_by_stamp(core, schedule->queue_stamp) == schedule);
		stamps += (schedule->stamp != 0) + (schedule->queue_stamp != 0);
		CHECK(!schedule_next_may_begin(schedule) || schedule->queue_stamp);
	}
	CHECK(core->schedule_names.count == core->schedule_count && core->schedule_stamps.count == stamps);
}

/* Add the hashes of the schedules up: the order of the list depends on its history. */
uint64_t schedules_hash(const struct core *core)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < core->schedule_count; i++) {
		const struct schedule *schedule = core->schedules[i];
		uint64_t hash = hash_bytes(schedule->name, strlen(schedule->name), schedule->principal);
		const int64_t values[] = { schedule->next_ms, schedule->last_ms, (int64_t)schedule->last_run,
					   schedule->queued, (int64_t)schedule->fired, (int64_t)schedule->skipped,
					   schedule->skip_why, schedule->skip_ms, schedule->paused, schedule->max_jobs,
					   (int64_t)schedule->live };

		hash = hash_bytes(values, sizeof(values), hash);
		hash = hash_bytes(schedule->owner, strlen(schedule->owner), hash);
		hash = hash_bytes(schedule->tenant, strlen(schedule->tenant), hash);
		hash = hash_bytes(schedule->concurrency, strlen(schedule->concurrency), hash);
		hash = hash_bytes(schedule->spec->data, schedule->spec->len, hash);
		if (schedule->context)
			hash = hash_bytes(schedule->context->data, schedule->context->len, hash);
		for (size_t part = 0; part < schedule->part_count; part++)
			hash = hash_bytes(schedule->parts[part].body->data, schedule->parts[part].body->len, hash);
		sum += hash;
	}
	return sum;
}

bool view_schedule(const struct core *core, size_t at, size_t most, struct arena *arena, struct rec_schedule_row *ret_row)
{
	const struct schedule *schedule = at < core->schedule_count ? core->schedules[at] : NULL;
	uint64_t *next;
	size_t count = 0;

	if (!schedule)
		return false;
	next = arena_zalloc(arena, most + 1, sizeof(*next));
	for (int64_t ms = schedule->next_ms; ms != 0 && count < most; ms = schedule_next_after(schedule, ms))
		next[count++] = (uint64_t)ms;
	*ret_row = (struct rec_schedule_row){
		.name = slice_str(schedule->name), .owner = slice_str(schedule->owner), .cron = schedule->said.cron,
		.zone_name = schedule->said.zone_name, .overlap = schedule->said.overlap,
		.catchup = schedule->said.catchup, .catchup_ms = schedule->said.catchup_ms, .paused = schedule->paused,
		.next_ms = { .at = next, .n = count }, .last_ms = schedule->last_ms, .last_run = schedule->last_run,
		.live = schedule->live, .queued = schedule->queued, .fired = schedule->fired,
		.skipped = schedule->skipped, .skip_why = schedule->skip_why, .skip_ms = schedule->skip_ms,
	};
	for (size_t i = 0; i < schedule->part_count; i++)
		ret_row->jobs += schedule->parts[i].count;
	return true;
}

bool view_schedule_graph(const struct core *core, struct slice name, struct view_schedule_graph *ret)
{
	const struct schedule *schedule = schedule_find(core, name);

	if (!schedule)
		return false;
	*ret = (struct view_schedule_graph){
		.owner = slice_str(schedule->owner), .tenant = slice_str(schedule->tenant),
		.concurrency = slice_str(schedule->concurrency), .context = blob_slice(schedule->context),
		.revision = schedule_revision(schedule), .spec = schedule->said, .max_jobs = schedule->max_jobs,
		.parts = schedule->parts, .part_count = schedule->part_count,
	};
	return true;
}

struct slice schedule_revision(const struct schedule *schedule)
{
	/* A schedule that an older titan stored has a digest of zeros until somebody replaces the schedule. */
	return slice_make(schedule->digest, sizeof(schedule->digest));
}

int64_t schedule_next_after(const struct schedule *schedule, int64_t wall_ms)
{
	int64_t next = cron_next(&schedule->cron, schedule->said.zone, wall_ms);

	return next == INT64_MAX ? 0 : next;
}

bool schedule_next_may_begin(const struct schedule *schedule)
{
	return schedule->queued > 0 && schedule->live == 0 &&
	       (!schedule->paused || PLANTED(schedule_line_goes_on_in_a_pause));
}
