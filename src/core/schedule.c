/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Schedules: graphs that begin at times of cron's fields. A schedule's next time is in its row, and moves on in the
 * turn that begins its run: each time comes once. A time that nobody was there for is late by more than a minute;
 * what becomes of those is the schedule's choice. Times are of the wall clock; set back by more than three hours it
 * begins anew, by less nothing comes twice. Each time counts once: as a run that began, in line, or passed over.
 */
#include "core/internal.h"

#include "base/text.h"
#include "core/view.h"

#define LATE_MS 60000
#define HOUR_MS INT64_C(3600000)
#define BACK_MS (3 * HOUR_MS)
#define WORK_MAX 200                     /* in a turn: schedules that are due, runs that they begin */
#define MISSED_COST 16                   /* times that cost as much */
#define MISSED_MAX 1000                  /* counted; more are passed over in silence */
#define CRON_MAX 4096                    /* bytes; every minute of an hour by its name is 300 */
#define CATCH_UP_MAX 100                 /* runs at once, or waiting in line */

struct schedule *schedule_find(const struct core *core, struct slice name)
{
	return name_map_get(&core->schedule_names, name);
}

struct schedule *schedule_by_stamp(const struct core *core, uint64_t stamp)
{
	return map_get(&core->schedule_stamps, stamp);
}

static void parts_release(struct schedule *schedule)
{
	for (size_t i = 0; i < schedule->part_count; i++)
		blob_release(schedule->parts[i].body);
	mem_free(schedule->parts);
	schedule->parts = NULL;
	schedule->part_count = 0;
}

static void schedule_free(struct schedule *schedule)
{
	parts_release(schedule);
	blob_release(schedule->spec);
	mem_free(schedule->name);
	mem_free(schedule->owner);
	mem_free(schedule->tenant);
	mem_free(schedule->concurrency);
	mem_free(schedule);
}

/* At its place in the list; the last one takes it. */
static void schedule_drop(struct core *core, size_t at)
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

/* Runs outlive a schedule that is removed, and are those of the next one of its name. */
uint64_t schedule_count_live(const struct core *core, const struct schedule *schedule)
{
	uint64_t live = 0;

	for (size_t at = core->runs.head; at < core->runs.count; at++) {
		const struct run *run = core->runs.at[at].run;

		live += run && run->ended_ms == 0 && run->schedule && strcmp(run->schedule, schedule->name) == 0;
	}
	return live;
}

/* What it says, in its blob; the record's texts point into it. */
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
		err = error_set(error, ERR_TOO_LARGE, "cron: over %d bytes", CRON_MAX);
	else if (err == ERR_NONE && (why = cron_parse(spec.cron, &cron, &at, &len)) != NULL)
		err = error_set(error, ERR_INVALID, "cron: %s", why);
	else if (err == ERR_NONE && (!zone_is_valid(spec.zone) || spec.zone_name.len > 64))
		err = error_set(error, ERR_INVALID, "tz: its changes are out of order");
	else if (err == ERR_NONE && (spec.overlap > OVERLAP_ALLOW || spec.catchup > CATCHUP_SPAN))
		err = error_set(error, ERR_INVALID, "an unknown overlap or catchup");
	else if (err == ERR_NONE && spec.catchup_ms / 1000 > LIMIT_SPAN_MAX_S)
		err = error_set(error, ERR_TOO_LARGE, "catchup: over ten years");
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

static void row_put(struct core *core, const struct schedule *schedule)
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
	if (!schedule->keyed)
		return;
	row->schedule.submit_key = arena_copy(arena, slice_make(schedule->key, sizeof(schedule->key)));
	row->schedule.digest = arena_copy(arena, slice_make(schedule->digest, sizeof(schedule->digest)));
}

static void parts_rows(struct core *core, const struct schedule *schedule, size_t count, bool deleted)
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

static uint64_t stamp_new(struct core *core, struct schedule *schedule)
{
	map_put(&core->schedule_stamps, ++core->schedule_stamp, schedule);
	return core->schedule_stamp;
}

static void stamp_end(struct core *core, uint64_t *stamp)
{
	map_remove(&core->schedule_stamps, *stamp);
	*stamp = 0;
}

/* Its timer is left to be found stale. */
static void disarm(struct core *core, uint64_t *stamp)
{
	if (*stamp == 0)
		return;
	timer_stale(core);
	stamp_end(core, stamp);
}

/* Its next time. */
static void arm(struct core *core, struct schedule *schedule)
{
	disarm(core, &schedule->stamp);
	if (schedule->paused || schedule->next_ms == 0)
		return;
	schedule->stamp = stamp_new(core, schedule);
	timer_add_date(core, TIMER_SCHEDULE, schedule->stamp, schedule->next_ms);
}

static bool next_in_line_may_begin(const struct schedule *schedule)
{
	return schedule->queued > 0 && schedule->live == 0 && !schedule->paused;
}

static void arm_queue(struct core *core, struct schedule *schedule)
{
	if (schedule->queue_stamp || !next_in_line_may_begin(schedule))
		return;
	schedule->queue_stamp = stamp_new(core, schedule);
	timer_add(core, TIMER_SCHEDULE, schedule->queue_stamp, schedule->queue_stamp, 0);
}

static int64_t next_after(const struct schedule *schedule, int64_t wall_ms)
{
	int64_t next = cron_next(&schedule->cron, schedule->said.zone, wall_ms);

	return next == INT64_MAX ? 0 : next;
}

static bool has_come(const struct core *core, int64_t ms)
{
	return ms != 0 && ms <= core->now.wall_ms;
}

/* --- runs --- */

static void skip(struct core *core, struct schedule *schedule, enum skip_why why, uint64_t count)
{
	schedule->skipped += count;
	schedule->skip_why = (uint8_t)why;
	schedule->skip_ms = core->now.wall_ms;
}

static enum err begin(struct core *core, struct schedule *schedule, int64_t due_ms, struct error *error)
{
	struct input_submit submit = {
		.principal = schedule->principal, .owner = slice_str(schedule->owner),
		.name = slice_str(schedule->name), .parts = schedule->parts, .part_count = schedule->part_count,
		.max_jobs = schedule->max_jobs, .tenant = slice_str(schedule->tenant),
		.concurrency = slice_str(schedule->concurrency),
	};
	struct run *run;
	enum err err = submit_run(core, &submit, &(struct run_origin){ .schedule = schedule->name }, &run, error);

	if (err != ERR_NONE) {
		skip(core, schedule, SKIP_REFUSED, 1);
		return err;
	}
	core->schedule_work++;
	schedule->live++;
	schedule->fired++;
	schedule->last_ms = due_ms;
	schedule->last_run = run->number;
	return ERR_NONE;
}

/* Those that come together are all wanted: where two may not live at once they wait for each other. */
static void come(struct core *core, struct schedule *schedule, int64_t due_ms, bool together)
{
	bool in_line = together || schedule->said.overlap == OVERLAP_QUEUE;
	struct error error;

	if (schedule->live == 0 || schedule->said.overlap == OVERLAP_ALLOW)
		begin(core, schedule, due_ms, &error);
	else if (in_line && schedule->queued < CATCH_UP_MAX)
		schedule->queued++;
	else
		skip(core, schedule, SKIP_OVERLAP, 1);
}

/* How many of those that came until now begin, the last of them being this one. */
static uint64_t wanted(const struct core *core, const struct schedule *schedule, uint64_t came, int64_t last_ms)
{
	int64_t age_ms = core->now.wall_ms - last_ms;

	if (schedule->said.catchup == CATCHUP_ALL)
		return came < CATCH_UP_MAX ? came : CATCH_UP_MAX;
	if (age_ms <= LATE_MS || schedule->said.catchup == CATCHUP_ONE)
		return 1;
	return schedule->said.catchup == CATCHUP_SPAN && age_ms <= (int64_t)schedule->said.catchup_ms;
}

/* Of more than are counted: looked for in ever longer spans, or else from the last that was counted on. */
static int64_t last_until_now(const struct core *core, const struct schedule *schedule, int64_t last_ms)
{
	static const int64_t spans_h[] = { 1, 24, 32 * 24, 366 * 24 };
	int64_t ms = last_ms;

	for (size_t i = 0; i < sizeof(spans_h) / sizeof(spans_h[0]); i++) {
		int64_t first_ms = next_after(schedule, core->now.wall_ms - spans_h[i] * HOUR_MS);

		if (has_come(core, first_ms)) {
			ms = first_ms;
			break;
		}
	}
	for (; has_come(core, ms); ms = next_after(schedule, ms))
		last_ms = ms;
	return last_ms;
}

static void times_come(struct core *core, struct schedule *schedule)
{
	int64_t last_ms = schedule->next_ms, next_ms = schedule->next_ms;
	uint64_t came = 0, runs;

	while (has_come(core, next_ms) && came < MISSED_MAX) {
		came++;
		last_ms = next_ms;
		next_ms = next_after(schedule, next_ms);
	}
	if (has_come(core, next_ms)) {
		last_ms = last_until_now(core, schedule, last_ms);
		next_ms = next_after(schedule, core->now.wall_ms);
	}
	core->schedule_work += came / MISSED_COST;
	runs = wanted(core, schedule, came, last_ms);
	if (came > runs)
		skip(core, schedule, SKIP_MISSED, came - runs);
	schedule->next_ms = next_ms;
	for (uint64_t i = 0; i < runs; i++)
		come(core, schedule, last_ms, runs > 1);
	row_put(core, schedule);
	arm(core, schedule);
}

/* Many may be due at once: what doesn't go into this turn goes into one of the next. */
static bool turn_is_full(struct core *core)
{
	if (core->schedule_turn != core->turn)
		core->schedule_work = 0;
	core->schedule_turn = core->turn;
	return core->schedule_work++ >= WORK_MAX;
}

void schedule_fired(struct core *core, struct schedule *schedule, uint64_t stamp)
{
	struct error error;

	if (turn_is_full(core)) {
		timer_add(core, TIMER_SCHEDULE, stamp, stamp, 1);
		return;
	}
	if (stamp == schedule->stamp) {
		stamp_end(core, &schedule->stamp);
		if (has_come(core, schedule->next_ms))
			times_come(core, schedule);
		else
			arm(core, schedule);     /* it waited, and the clock was set back */
		return;
	}
	stamp_end(core, &schedule->queue_stamp);
	if (!next_in_line_may_begin(schedule))
		return;                  /* paused since, or another run began */
	schedule->queued--;
	begin(core, schedule, core->now.wall_ms, &error);
	row_put(core, schedule);
	arm_queue(core, schedule);
}

void schedule_run_counts(struct core *core, const struct run *run, bool live)
{
	struct schedule *schedule = run->schedule ? schedule_find(core, slice_str(run->schedule)) : NULL;

	if (!schedule)
		return;
	if (live) {
		schedule->live++;
		return;
	}
	CHECK(schedule->live > 0);
	schedule->live--;
	arm_queue(core, schedule);
}

/* Set back by much, a wall clock was wrong before: what is next is behind a time that is that far ahead itself. */
static bool was_ahead(const struct core *core, const struct schedule *schedule)
{
	int64_t limit_ms = core->now.wall_ms + BACK_MS, later_ms = next_after(schedule, limit_ms);

	return schedule->last_ms > limit_ms || (later_ms != 0 && later_ms < schedule->next_ms);
}

void schedules_stepped(struct core *core)
{
	for (size_t i = 0; i < core->schedule_count; i++) {
		struct schedule *schedule = core->schedules[i];

		if (schedule->next_ms == 0 || !was_ahead(core, schedule))
			continue;
		schedule->next_ms = next_after(schedule, core->now.wall_ms);
		schedule->last_ms = 0;
		row_put(core, schedule);
		arm(core, schedule);
	}
}

/* --- what people do --- */

/* What has come by now came before the change. */
static void before_change(struct core *core, struct schedule *schedule)
{
	if (!schedule->paused && has_come(core, schedule->next_ms))
		times_come(core, schedule);
}

static void key_forget(struct core *core, struct schedule *schedule)
{
	if (schedule->keyed)
		key_drop(core, schedule->key);
	schedule->keyed = false;
}

void schedule_keep_key(struct core *core, struct schedule *schedule, const uint8_t id[24], const uint8_t digest[32])
{
	key_forget(core, schedule);
	memcpy(schedule->key, id, sizeof(schedule->key));
	memcpy(schedule->digest, digest, sizeof(schedule->digest));
	schedule->keyed = true;
	key_add(core, id, digest, 0, 0);
}

static enum err schedule_put(struct core *core, const struct input_submit *submit, struct error *error)
{
	struct schedule *schedule = schedule_find(core, submit->name), *made = NULL;
	enum err err = submit_check(core, submit, &(struct run_origin){ 0 }, error);
	uint8_t id[24];

	if (err == ERR_NONE && !schedule && core->schedule_count >= LIMIT_SCHEDULES_MAX)
		err = error_set(error, ERR_FULL, "there are %d schedules, and no room for more", LIMIT_SCHEDULES_MAX);
	if (err != ERR_NONE)
		return err;
	if (schedule)
		before_change(core, schedule);
	else
		schedule = made = schedule_new(core, submit->name, submit->owner);
	if (made)
		made->live = schedule_count_live(core, made);
	err = schedule_take_spec(core, schedule, submit->schedule, error);
	if (err != ERR_NONE) {
		if (made)
			schedule_drop(core, core->schedule_count - 1);
		return err;
	}
	key_id(id, submit->principal, submit->key);
	schedule_keep_key(core, schedule, id, submit->digest);
	/* Whose graph it is, theirs are its runs from now on. */
	schedule->principal = submit->principal;
	mem_free(schedule->owner);
	schedule->owner = mem_text(submit->owner);
	mem_free(schedule->tenant);
	schedule->tenant = mem_text(submit->tenant);
	mem_free(schedule->concurrency);
	schedule->concurrency = mem_text(submit->concurrency);
	schedule->max_jobs = submit->max_jobs;
	parts_rows(core, schedule, schedule->part_count, true);
	parts_release(schedule);
	schedule->parts = mem_array(submit->part_count, sizeof(*schedule->parts));
	for (size_t i = 0; i < submit->part_count; i++)
		schedule->parts[i] = (struct graph_part){ blob_hold(submit->parts[i].body), submit->parts[i].count };
	schedule->part_count = submit->part_count;
	parts_rows(core, schedule, schedule->part_count, false);
	schedule->next_ms = next_after(schedule, core->now.wall_ms);
	row_put(core, schedule);
	arm(core, schedule);
	arm_queue(core, schedule);
	return ERR_NONE;
}

void schedule_step(struct core *core, const struct core_input *input)
{
	const struct submit_key *key = key_find(core, &input->submit);
	struct error error = { 0 };
	enum err err;

	/* The same key with the same content changes nothing, however often and late it comes. */
	err = key ? key_agrees(key, &input->submit, &error) : schedule_put(core, &input->submit, &error);
	if (err != ERR_NONE)
		error_send(core, input->conn, input->request, &error, false);
	else if (input->conn != 0)
		outbox_frame(core->outbox, input->conn, OP_OK)->ok = (struct msg_ok){ .id = input->request, .count = 1 };
}

static void schedule_remove(struct core *core, struct schedule *schedule)
{
	struct row *row = outbox_row(core->outbox, TABLE_schedule);
	size_t at = 0;

	row->deleted = true;
	row->schedule.schedule = arena_copy(&core->outbox->arena, slice_str(schedule->name));
	parts_rows(core, schedule, schedule->part_count, true);
	key_forget(core, schedule);
	disarm(core, &schedule->stamp);
	disarm(core, &schedule->queue_stamp);
	while (core->schedules[at] != schedule)
		at++;
	schedule_drop(core, at);
}

static uint64_t schedule_pause(struct core *core, struct schedule *schedule, bool pause)
{
	if (schedule->paused == pause)
		return 0;
	before_change(core, schedule);
	schedule->paused = pause;
	/* What came in the pause was not wanted. */
	if (!pause)
		schedule->next_ms = next_after(schedule, core->now.wall_ms);
	row_put(core, schedule);
	arm(core, schedule);
	arm_queue(core, schedule);
	return 1;
}

enum err schedule_set(struct core *core, const struct msg_set *set, uint64_t *ret_changed, struct error *error)
{
	struct schedule *schedule = schedule_find(core, set->name);
	enum err err = ERR_NONE;

	if (!schedule) {
		error_set(error, ERR_NOT_FOUND, "there is no schedule '%.*s'",
			  (int)(set->name.len < LIMIT_NAME_MAX_LEN ? set->name.len : LIMIT_NAME_MAX_LEN),
			  (const char *)set->name.data);
		return error_next(error, "titan schedule ls");
	}
	*ret_changed = 1;
	switch ((enum set_verb)set->verb) {
	case SET_REMOVE:
		schedule_remove(core, schedule);
		return ERR_NONE;
	case SET_PAUSE:
	case SET_RESUME:
		*ret_changed = schedule_pause(core, schedule, set->verb == SET_PAUSE);
		return ERR_NONE;
	case SET_FIRE:
		err = begin(core, schedule, core->now.wall_ms, error);
		row_put(core, schedule);
		*ret_changed = schedule->last_run;
		return err;
	default:
		return error_set(error, ERR_INVALID, "a schedule can't be asked that: %llu", (unsigned long long)set->verb);
	}
}

/* --- loading, checking, showing --- */

void schedules_resume(struct core *core)
{
	for (size_t i = 0; i < core->schedule_count; i++) {
		struct schedule *schedule = core->schedules[i];

		arm(core, schedule);
		arm_queue(core, schedule);
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
		CHECK(!next_in_line_may_begin(schedule) || schedule->queue_stamp);
	}
	CHECK(core->schedule_names.count == core->schedule_count && core->schedule_stamps.count == stamps);
}

/* A sum: the order of the list depends on how it came to be. */
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
	for (int64_t ms = schedule->next_ms; ms != 0 && count < most; ms = next_after(schedule, ms))
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
