/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares the present state of an act's target with the state that the act recorded. If they differ, something else
 * changed it since, and an undo would take back that change, too.
 */
#include <inttypes.h>

#include "cli/ask/query.h"
#include "cli/commands/undo.h"
#include "cli/show/row_words.h"

static enum err changed_since(struct cli *cli)
{
	return error_set(&cli->error, ERR_CHANGED, "somebody changed the same thing since then");
}

/* ---- runs and jobs ---- */

static enum err check_run(struct cli *cli, struct undo *undo, const struct rec_run_row *run)
{
	struct undo_values before, after;

	if (!undo_read_values(undo->act->before, false, 1, &cli->arena, &before) ||
	    !undo_read_values(undo->act->after, false, 1, &cli->arena, &after))
		return error_set(&cli->error, ERR_INVALID, "the record of the act doesn't say what was there before it");
	if (run->held != (after.at[0] != 0))
		return changed_since(cli);
	undo->step = (struct msg_act){ .verb = before.at[0] ? ACT_HOLD : ACT_RELEASE, .run = undo->run, .expect = undo->act->after };
	return ERR_NONE;
}

/* Ask for the jobs of the run, and keep those that the act was about. */
static enum err ask_named(struct cli *cli, const struct undo *undo, struct rec_job_row **ret, size_t *ret_count)
{
	const struct selector selector = { .run = undo->run, .job = undo->name };
	struct rec_job_row *jobs;
	size_t count = 0, named = 0;
	enum err err = cli_query_jobs(cli, undo->run, SIZE_MAX, &cli->arena, &jobs, &count);

	for (size_t i = 0; err == ERR_NONE && i < count; i++)
		if (selector_names(&selector, jobs[i].name))
			jobs[named++] = jobs[i];
	*ret = jobs;
	*ret_count = named;
	return err;
}

static struct slice present_words(struct cli *cli, const struct rec_job_row *jobs, size_t count, bool priority)
{
	struct buf words = { 0 };
	struct slice copy;

	undo_write_values(jobs, count, priority, &words);
	copy = arena_copy(&cli->arena, buf_slice(&words));
	buf_free(&words);
	return copy;
}

static enum err check_jobs(struct cli *cli, struct undo *undo, bool priority)
{
	struct undo_values before, after;
	struct rec_job_row *jobs;
	size_t named, live = 0, changes = 0;
	enum err err = ask_named(cli, undo, &jobs, &named);

	if (err != ERR_NONE)
		return err;
	if (!undo_read_values(undo->act->before, priority, named, &cli->arena, &before) ||
	    !undo_read_values(undo->act->after, priority, named, &cli->arena, &after))
		return error_set(&cli->error, ERR_CHANGED, "jobs were added to the run since then");
	for (size_t i = 0; i < named; i++) {
		uint64_t now = priority ? jobs[i].priority - 1 : jobs[i].held;

		if (state_terminal(job_state_checked(jobs[i].state))) {
			before.at[i] = now;
			continue;
		}
		live++;
		if (now != after.at[i])
			return changed_since(cli);
		changes += before.at[i] != now;
	}
	if (live == 0)
		return error_set(&cli->error, ERR_TERMINAL, "all jobs of the run have ended");
	if (changes == 0)
		return error_set(&cli->error, ERR_TERMINAL, "the jobs that the act changed have ended");
	undo->step = (struct msg_act){
		.verb = priority ? ACT_PRIORITY : before.same && before.at[0] == 0 ? ACT_RELEASE : ACT_HOLD, .run = undo->run, .job = undo->name,
		.value = priority ? before.at[0] : 0, .expect = present_words(cli, jobs, named, priority),
	};
	if (!before.same || live < named)
		undo->step.each = (struct u64_list){ before.at, named };
	return ERR_NONE;
}

/* Check that as many jobs lack their dead letter as the discard took away, and make the inverse. */
static enum err check_letters(struct cli *cli, struct undo *undo)
{
	struct rec_job_row *jobs;
	size_t named;
	uint64_t gone = 0;
	enum err err = ask_named(cli, undo, &jobs, &named);

	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < named; i++)
		gone += (jobs[i].state == STATE_FAILED || jobs[i].state == STATE_TIMED_OUT) && !jobs[i].dead && !jobs[i].forgiven;
	if (gone != undo->letters)
		return changed_since(cli);
	undo->step = (struct msg_act){ .verb = ACT_REINSTATE, .run = undo->run, .job = undo->name, .value = undo->letters };
	return ERR_NONE;
}

/* ---- objects ---- */

static const char *place_word(uint64_t kind, uint64_t state)
{
	if (state == 0)
		return "active";
	if (kind == OBJECT_POOL)
		return state == POOL_DRAINING ? "draining" : "inactive";
	return state == STANDING_DRAINING ? "draining" : "cordoned";
}

static void pool_words(const struct rec_pool_row *pool, struct buf *out)
{
	buf_add_str(out, place_word(OBJECT_POOL, pool->state));
	for (size_t i = 0; i < pool->provides.n; i++)
		buf_addf(out, "%s%.*s", i ? "," : ", provides ", (int)pool->provides.at[i].len, (const char *)pool->provides.at[i].data);
}

/* Add the object's present state in the words of an act's text, if the page has the object. */
static void object_words(const struct msg_set *set, const struct msg_snapshot *page, struct buf *out)
{
	for (size_t i = 0; i < page->workers.n; i++)
		if (slice_eq(page->workers.at[i].name, set->name))
			buf_add_str(out, place_word(OBJECT_WORKER, page->workers.at[i].standing));
	for (size_t i = 0; i < page->pools.n; i++)
		if (slice_eq(page->pools.at[i].name, set->name))
			pool_words(&page->pools.at[i], out);
	for (size_t i = 0; i < page->topics.n; i++)
		if (slice_eq(page->topics.at[i].topic, set->name))
			buf_addf(out, "pool %.*s", (int)page->topics.at[i].pool.len, (const char *)page->topics.at[i].pool.data);
	for (size_t i = 0; i < page->tenants.n; i++) {
		const struct rec_tenant_row *row = &page->tenants.at[i];

		if (row->set && slice_eq(row->name, set->name))
			buf_addf(out, "weight %" PRIu64 ", jobs %" PRIu64 ", queued %" PRIu64, row->weight, row->max_jobs, row->max_queued);
	}
	for (size_t i = 0; i < page->groups.n; i++)
		if (page->groups.at[i].set && slice_eq(page->groups.at[i].name, set->name))
			buf_addf(out, "limit %" PRIu64, page->groups.at[i].limit);
	for (size_t i = 0; i < page->schedules.n; i++)
		if (slice_eq(page->schedules.at[i].name, set->name))
			buf_add_str(out, page->schedules.at[i].paused ? "paused" : "active");
	for (size_t i = 0; i < page->locks.n; i++) {
		const struct rec_lock_row *row = &page->locks.at[i];

		if (row->job == 0 && slice_eq(row->name, set->name) && slice_eq(row->owner, set->text))
			buf_add_str(out, "held");
	}
}

/* Return the words of the state that the inverse requires. Of a schedule or lock only those before the first comma count. */
static struct slice expected(const struct undo *undo)
{
	struct slice words = undo->act->after;
	const uint8_t *comma = words.len > 0 ? memchr(words.data, ',', words.len) : NULL;

	if (words.len == 0)
		return slice_str(undo->set.kind == OBJECT_POOL ? "active" : "none");
	if (comma && (undo->set.kind == OBJECT_SCHEDULE || undo->set.kind == OBJECT_LOCK))
		words.len = (size_t)(comma - words.data);
	return words;
}

static enum err check_object(struct cli *cli, struct undo *undo)
{
	static const enum query_what lists[] = {
		[OBJECT_WORKER] = QUERY_WORKERS, [OBJECT_POOL] = QUERY_POOLS, [OBJECT_TENANT] = QUERY_TENANTS,
		[OBJECT_GROUP] = QUERY_GROUPS, [OBJECT_LOCK] = QUERY_LOCKS, [OBJECT_SCHEDULE] = QUERY_SCHEDULES,
		[OBJECT_TOPIC] = QUERY_TOPICS,
	};
	struct msg_query query = { .what = lists[undo->set.kind] };
	struct slice then = undo->act->after;
	struct msg_snapshot page;
	struct buf now = { 0 };
	enum err err;

	do {
		err = cli_query(cli, query, &cli->arena, &page);
		if (err == ERR_NONE)
			object_words(&undo->set, &page, &now);
		query.cursor = page.cursor;
	} while (err == ERR_NONE && query.cursor != 0);
	/*
	 * For a schedule and a lock, compare only the first word, because the rest changes by itself. A pool that isn't
	 * listed is active.
	 */
	if (undo->set.kind == OBJECT_SCHEDULE || undo->set.kind == OBJECT_LOCK)
		then.len = then.len < 4 ? then.len : undo->set.kind == OBJECT_LOCK ? 4 : 6;
	if (undo->set.kind == OBJECT_POOL && now.len == 0)
		buf_add_str(&now, "active");
	if (undo->set.kind == OBJECT_POOL && then.len == 0)
		then = slice_str("active");
	if (err == ERR_NONE && !slice_eq(buf_slice(&now), then))
		err = changed_since(cli);
	undo->set.expect = expected(undo);
	buf_free(&now);
	return err;
}

enum err undo_check(struct cli *cli, struct undo *undo)
{
	bool priority = slice_eq(undo->act->verb, slice_str("priority"));
	struct rec_run_row run;
	enum err err;

	if (!undo->of_run)
		return check_object(cli, undo);
	if (undo->letters > 0)
		return check_letters(cli, undo);
	err = cli_query_run(cli, undo->run, &cli->arena, &run);
	if (err != ERR_NONE)
		return err;
	if (run.ended_ms != 0)
		return error_set(&cli->error, ERR_TERMINAL, "run %" PRIu64 " has ended", undo->run);
	return undo->name.len == 0 && !priority ? check_run(cli, undo, &run) : check_jobs(cli, undo, priority);
}
