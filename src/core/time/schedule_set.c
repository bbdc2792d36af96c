/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acts of people on schedules: put, pause, fire and remove. */
#include "core/time/time.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/rows/durable.h"
#include "core/time/internal.h"

/* Times that have come by now count by the schedule as it was before the change. */
static void before_change(struct core *core, struct schedule *schedule)
{
	if (!schedule->paused && schedule_has_come(core, schedule->next_ms))
		schedule_times_come(core, schedule);
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

/* Refuse to replace the schedule if it has changed since it was shown to the person. */
static enum err revision_check(const struct schedule *schedule, const struct input_submit *submit, struct error *error)
{
	int len = (int)submit->name.len;

	if (submit->revision.len == 0 || (schedule && slice_eq(schedule_revision(schedule), submit->revision)))
		return ERR_NONE;
	error_set(error, ERR_CHANGED, "schedule '%.*s' was %s meanwhile", len, (const char *)submit->name.data,
		  schedule ? "changed" : "removed");
	return error_next(error, schedule ? "titan schedule edit %.*s" : "titan schedule ls", len, (const char *)submit->name.data);
}

static enum err schedule_put(struct core *core, const struct input_submit *submit, struct error *error)
{
	struct schedule *schedule = schedule_find(core, submit->name), *made = NULL;
	enum err err = submit_check(core, submit, &(struct run_origin){ 0 }, error);
	uint8_t id[24];

	if (err == ERR_NONE && schedule)
		err = owner_check(schedule->owner, submit->own_only, error, "schedule '%s'", schedule->name);
	if (err == ERR_NONE)
		err = revision_check(schedule, submit, error);
	if (err == ERR_NONE && !schedule && core->schedule_count >= LIMIT_SCHEDULES_MAX)
		err = error_set(error, ERR_FULL, "there are already %d schedules, and no more are allowed", LIMIT_SCHEDULES_MAX);
	if (err != ERR_NONE)
		return err;
	if (schedule && !PLANTED(schedule_time_lost_in_a_change))
		before_change(core, schedule);
	if (!schedule)
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
	/* From now on, runs of the schedule belong to the person who submitted this graph. */
	schedule->principal = submit->principal;
	mem_free(schedule->owner);
	schedule->owner = mem_text(submit->owner);
	mem_free(schedule->tenant);
	schedule->tenant = mem_text(submit->tenant);
	mem_free(schedule->concurrency);
	schedule->concurrency = mem_text(submit->concurrency);
	schedule->max_jobs = submit->max_jobs;
	blob_release(schedule->context);
	schedule->context = blob_make(submit->context);
	schedule_parts_rows(core, schedule, schedule->part_count, true);
	schedule_parts_release(schedule);
	schedule->parts = mem_array(submit->part_count, sizeof(*schedule->parts));
	for (size_t i = 0; i < submit->part_count; i++)
		schedule->parts[i] = (struct graph_part){ blob_hold(submit->parts[i].body), submit->parts[i].count };
	schedule->part_count = submit->part_count;
	schedule_parts_rows(core, schedule, schedule->part_count, false);
	schedule->next_ms = schedule_next_after(schedule, core->now.wall_ms);
	schedule_row_put(core, schedule);
	schedule_arm(core, schedule);
	schedule_arm_queue(core, schedule);
	return ERR_NONE;
}

uint64_t schedule_step(struct core *core, const struct core_input *input)
{
	const struct submit_key *key = key_find(core, &input->submit);
	struct error error = { 0 };
	bool known = key != NULL;
	enum err err;

	/* If the key is that of the latest change, this is a repeated request: answer again, change nothing. */
	err = key ? key_agrees(key, &input->submit, &error) : schedule_put(core, &input->submit, &error);
	if (err != ERR_NONE)
		error_send(core, input->conn, input->request, &error, false);
	else if (input->conn != 0)
		outbox_frame(core->outbox, input->conn, OP_OK)->ok = (struct msg_ok){ .id = input->request, .count = 1 };
	return err != ERR_NONE ? STEP_REFUSED : !known;
}

static void schedule_remove(struct core *core, struct schedule *schedule)
{
	struct row *row = outbox_row(core->outbox, TABLE_schedule);
	size_t at = 0;

	row->deleted = true;
	row->schedule.schedule = arena_copy(&core->outbox->arena, slice_str(schedule->name));
	schedule_parts_rows(core, schedule, schedule->part_count, true);
	key_forget(core, schedule);
	schedule_disarm(core, &schedule->stamp);
	schedule_disarm(core, &schedule->queue_stamp);
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
	if (PLANTED(schedule_line_lost_in_a_pause) && pause)
		schedule->queued = 0;
	/* Times that came during the pause are dropped. */
	if (!pause && !PLANTED(schedule_comes_after_a_pause))
		schedule->next_ms = schedule_next_after(schedule, core->now.wall_ms);
	schedule_row_put(core, schedule);
	schedule_arm(core, schedule);
	schedule_arm_queue(core, schedule);
	return 1;
}

enum err schedule_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error)
{
	const struct msg_set *set = &input->set;
	struct schedule *schedule = schedule_find(core, set->name);
	enum err err = ERR_NONE;

	if (!schedule) {
		error_set(error, ERR_NOT_FOUND, "there is no schedule '%.*s'",
			  (int)(set->name.len < LIMIT_NAME_MAX_LEN ? set->name.len : LIMIT_NAME_MAX_LEN),
			  (const char *)set->name.data);
		return error_next(error, "titan schedule ls");
	}
	if (owner_check(schedule->owner, input->own_only, error, "schedule '%s'", schedule->name) != ERR_NONE)
		return ERR_DENIED;
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
		err = schedule_begin(core, schedule, core->now.wall_ms, error);
		schedule_row_put(core, schedule);
		*ret_changed = schedule->last_run;
		return err;
	default:
		return error_set(error, ERR_INVALID, "unknown change of a schedule: %llu", (unsigned long long)set->verb);
	}
}
