/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Named concurrency groups. A job that names a group counts there while it is active or unknown. A run that names one
 * counts from its first attempt until all its jobs have ended. Jobs and runs have separate counters: a run keeps its
 * place while its jobs wait for theirs, and with a single counter they could wait for each other for ever.
 *
 * A group's limit is the one that a person set; else the lowest that a live run states; else 1.
 */
#include "core/queue/queue.h"

#include "base/planted.h"
#include "base/text.h"
#include "core/graph/graph.h"
#include "core/queue/internal.h"

#define LIMIT_DEFAULT 1

bool concurrency_read(struct slice text, struct slice *ret_name, uint32_t *ret_stated)
{
	const uint8_t *equals = text.len ? memchr(text.data, '=', text.len) : NULL;
	size_t len = equals ? (size_t)(equals - text.data) : text.len;
	uint64_t stated = 0;

	if (!text_is_name(slice_make(text.data, len)))
		return false;
	if (equals && (!text_parse_u64(slice_make(equals + 1, text.len - len - 1), &stated) || stated == 0 ||
		       stated >= LIMIT_RUN_JOBS_MAX))
		return false;
	*ret_name = slice_make(text.data, len);
	*ret_stated = (uint32_t)stated;
	return true;
}

struct group *group_of(struct core *core, struct slice name)
{
	struct group *group = name_map_get(&core->groups, name);

	if (group)
		return group;
	group = mem_zalloc(sizeof(*group));
	group->jobs = (struct bound){ .kind = BOUND_GROUP, .limit = LIMIT_DEFAULT };
	group->runs = (struct bound){ .kind = BOUND_RUNS, .limit = LIMIT_DEFAULT };
	group->name = mem_text(name);
	name_map_put(&core->groups, slice_str(group->name), group);
	return group;
}

static void group_free(struct group *group)
{
	bound_free(&group->jobs);
	bound_free(&group->runs);
	mem_free(group->stated);
	mem_free(group->name);
	mem_free(group);
}

static void group_tidy(struct core *core, struct group *group)
{
	if (group->set || group->users > 0)
		return;
	name_map_remove(&core->groups, slice_str(group->name));
	group_free(group);
}

void groups_free(struct core *core)
{
	size_t cursor = 0;
	struct slice name;
	void *value;

	while (name_map_next(&core->groups, &cursor, &name, &value))
		group_free(value);
	name_map_free(&core->groups);
}

/* --- its limit --- */

uint32_t group_limit(const struct group *group)
{
	uint32_t limit = group->set;

	for (size_t i = 0; i < group->stated_count && group->set == 0; i++)
		if (limit == 0 || (group->stated[i].limit < limit) != PLANTED(group_takes_the_largest_limit))
			limit = group->stated[i].limit;
	return limit ? limit : LIMIT_DEFAULT;
}

static void group_relimit(struct core *core, struct group *group)
{
	uint32_t limit = group_limit(group);
	bool wider = limit > group->jobs.limit;

	group->jobs.limit = limit;
	group->runs.limit = limit;
	if (!wider)
		return;
	bound_widened(core, &group->runs);
	bound_widened(core, &group->jobs);
}

/* Add or remove a stated limit. A limit of 0 (as in a lock's claim) states none. */
static void group_state(struct core *core, struct group *group, uint32_t limit, bool on)
{
	size_t at = 0;

	if (limit == 0)
		return;
	while (at < group->stated_count && group->stated[at].limit != limit)
		at++;
	if (at == group->stated_count) {
		CHECK(on);
		group->stated = mem_resize(group->stated, at + 1, sizeof(*group->stated));
		group->stated[group->stated_count++] = (struct stated){ .limit = limit };
	}
	group->stated[at].count += on ? 1 : UINT32_MAX;
	if (group->stated[at].count == 0)
		group->stated[at] = group->stated[--group->stated_count];
	group_relimit(core, group);
}

static struct group *claim_group(struct claim *claim)
{
	return (struct group *)claim->bound;     /* bound is the first member of struct group */
}

void claim_begin(struct core *core, struct claim *claim, bool counted)
{
	if (claim->bound->kind == BOUND_LOCK) {
		((struct lock *)claim->bound)->users++;
		return;
	}
	claim_group(claim)->users++;
	if (counted)
		group_state(core, claim_group(claim), claim->stated, true);
}

void claim_end(struct core *core, struct claim *claim, bool counted)
{
	if (claim->bound->kind == BOUND_LOCK) {
		((struct lock *)claim->bound)->users--;
		lock_tidy(core, (struct lock *)claim->bound);
		return;
	}
	if (counted)
		group_state(core, claim_group(claim), claim->stated, false);
	claim_group(claim)->users--;
	group_tidy(core, claim_group(claim));
}

/*
 * Count or stop counting the limits that a run states. An ended run's limits don't count, even while it is in memory.
 */
void run_states(struct core *core, struct run *run, bool live)
{
	if (run->counted == live)
		return;
	run->counted = live;
	if (run->concurrency)
		group_state(core, run->concurrency, run->stated, live);
	for (size_t i = 0; i < run->lane_count; i++)
		for (size_t at = 0; at < run->lanes[i]->claim_count; at++)
			group_state(core, claim_group(&run->lanes[i]->claims[at]), run->lanes[i]->claims[at].stated, live);
}

/* --- runs as a whole --- */

bool run_join_concurrency(struct core *core, struct run *run, struct slice text)
{
	struct slice name;

	if (text.len == 0)
		return true;
	if (!concurrency_read(text, &name, &run->stated))
		return false;
	run->concurrency = group_of(core, name);
	run->concurrency->users++;
	return true;
}

void run_leave_concurrency(struct core *core, struct run *run)
{
	if (!run->concurrency)
		return;
	CHECK(!run->seated);
	run->concurrency->users--;
	group_tidy(core, run->concurrency);
	run->concurrency = NULL;
}

struct slice run_concurrency(const struct run *run, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	if (!run->concurrency)
		return slice_make(NULL, 0);
	buf_add_str(&text, run->concurrency->name);
	if (run->stated)
		buf_addf(&text, "=%u", run->stated);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

/*
 * Give a run its place in its group when its first attempt begins. None of its jobs waits for the group any longer,
 * and the next run may have a place.
 */
void run_seat(struct core *core, struct run *run)
{
	struct bound *runs = &run->concurrency->runs;

	run->seated = true;
	runs->active++;
	run_touch(core, run, true);
	run_freed(core, run, runs);
	bound_offer(core, runs);
}

void run_over(struct core *core, struct run *run)
{
	run_states(core, run, false);
	if (!run->seated)
		return;
	run->seated = false;
	run->concurrency->runs.active--;
	run_touch(core, run, true);
	bound_offer(core, &run->concurrency->runs);
}

/* --- what people set --- */

static void group_row_put(struct core *core, const struct group *group)
{
	struct row *row = outbox_row(core->outbox, TABLE_job_group);

	row->deleted = group->set == 0;
	row->job_group = (struct row_job_group){
		.name = arena_copy(&core->outbox->arena, slice_str(group->name)), .most = group->set,
	};
}

enum err group_set(struct core *core, const struct msg_set *set, uint64_t *ret_changed, struct error *error)
{
	struct group *group = name_map_get(&core->groups, set->name);
	int len = (int)(set->name.len > LIMIT_NAME_MAX_LEN ? LIMIT_NAME_MAX_LEN : set->name.len);

	if (!text_is_name(set->name))
		return error_set(error, ERR_INVALID, "the name of a group may have letters, digits, _ . -, at most "
			"%d", LIMIT_NAME_MAX_LEN);
	if (set->verb != SET_PUT && set->verb != SET_REMOVE)
		return error_set(error, ERR_INVALID, "unknown change of a group: %llu", (unsigned long long)set->verb);
	if (set->verb == SET_PUT && (set->number == 0 || set->number >= LIMIT_RUN_JOBS_MAX))
		return error_set(error, ERR_INVALID, "group %.*s: the limit must be from 1 to %d", len,
				 (const char *)set->name.data, LIMIT_RUN_JOBS_MAX - 1);
	if (set->verb == SET_REMOVE && (!group || group->set == 0)) {
		error_set(error, ERR_NOT_FOUND, "nobody has set a limit of group %.*s", len, (const char *)set->name.data);
		return error_next(error, "titan group ls");
	}
	group = group_of(core, set->name);
	group->set = set->verb == SET_PUT ? (uint32_t)set->number : 0;
	group_row_put(core, group);
	group_relimit(core, group);
	group_tidy(core, group);
	*ret_changed = 1;
	return ERR_NONE;
}

enum err load_group(struct core *core, const struct row_job_group *row, struct error *error)
{
	if (!text_is_name(row->name) || name_map_get(&core->groups, row->name) || row->most < 1 ||
	    row->most >= LIMIT_RUN_JOBS_MAX)
		return error_set(error, ERR_STORE_TRUST, "a group has a bad name or limit, or is stored twice");
	group_of(core, row->name)->set = PLANTED(group_limit_forgotten_at_load) ? 0 : (uint32_t)row->most;
	group_relimit(core, group_of(core, row->name));
	return ERR_NONE;
}

uint64_t groups_hash(const struct core *core)
{
	uint64_t sum = 0;
	size_t cursor = 0;
	struct slice name;
	void *value;

	while (name_map_next(&core->groups, &cursor, &name, &value)) {
		const struct group *group = value;

		if (group->set)
			sum += hash_u64(hash_bytes(name.data, name.len, 8) + group->set);
	}
	return sum;
}
