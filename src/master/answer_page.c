/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages of an answer: as many whole rows as fit into one frame, by an estimate of their sizes. */
#include "master/sight.h"

#define LEFT_OUT_MAX (4 * LIMIT_QUERY_ROWS_MAX)  /* most rows that a page may leave out */

void page_begin(struct answer_page *page, struct arena *arena, const struct query *query)
{
	*page = (struct answer_page){ .arena = arena, .limit = LIMIT_QUERY_ROWS_MAX };
	if (query->limit > 0 && query->limit < page->limit)
		page->limit = (size_t)query->limit;
	page->snapshot.id = query->id;
	page->sight = &query->sight;
}

/*
 * Count a row that the asker may not see, and leave it out. A page examines a limited number of such rows, so that no
 * answer takes long. False: the limit is reached, and the row goes to the next page.
 */
static bool leave_out(struct answer_page *page)
{
	return ++page->left_out <= LEFT_OUT_MAX;
}

/* May the asker see this run? The result for the last run is kept, because rows of a page are mostly of one run. */
static bool sees(struct answer_page *page, uint64_t run)
{
	if (run != 0 && run == page->seen)
		return true;
	page->seen = sight_run(page->sight, run) ? run : 0;
	return page->seen != 0 || page->sight->all;
}

/* Has the page room for a row of this size? The first row always fits. */
static bool page_has_room(struct answer_page *page, size_t bytes, size_t nodes)
{
	if (page->rows > 0 && (page->bytes + bytes > REPLY_BYTES_MAX || page->nodes + nodes > REPLY_NODES_MAX))
		return false;
	page->bytes += bytes;
	page->nodes += nodes;
	page->rows++;
	return true;
}

#define PAGE_ADD(page, list, row)                                                                     \
	do {                                                                                          \
		if (!(page)->snapshot.list.at)                                                        \
			(page)->snapshot.list.at =                                                    \
				arena_alloc((page)->arena, (page)->limit * sizeof(*(row)));           \
		(page)->snapshot.list.at[(page)->snapshot.list.n++] = *(row);                         \
	} while (0)

static size_t texts_len(const struct slice_list *texts)
{
	size_t len = 5 * texts->n;

	for (size_t i = 0; i < texts->n; i++)
		len += texts->at[i].len;
	return len;
}

/* Rows of series aren't counted against the limit one by one: the cluster's come together, and so do those of a worker. */
bool page_has_series_room(struct answer_page *page, size_t count, size_t samples)
{
	if (page->series_workers == page->limit || !page_has_room(page, count * (64 + 3 * samples), count * (12 + samples)))
		return false;
	page->series_workers++;
	return true;
}

void page_add_series(struct answer_page *page, const struct rec_series_row *row)
{
	if (page->snapshot.series.n == page->series_cap) {
		size_t cap = page->series_cap ? page->series_cap * 2 : 16;
		struct rec_series_row *rows = arena_alloc(page->arena, cap * sizeof(*rows));

		if (page->series_cap > 0)
			memcpy(rows, page->snapshot.series.at, page->series_cap * sizeof(*rows));
		page->snapshot.series.at = rows;
		page->series_cap = cap;
	}
	page->snapshot.series.at[page->snapshot.series.n++] = *row;
}

bool page_add_decision(struct answer_page *page, const struct rec_decision *row)
{
	if (!sees(page, row->run))
		return leave_out(page);
	if (page->snapshot.decisions.n == page->limit ||
	    !page_has_room(page, 64 + row->name.len + row->person.len + row->reason.len + row->target.len, 20))
		return false;
	PAGE_ADD(page, decisions, row);
	return true;
}

bool page_add_try(struct answer_page *page, const struct rec_try_row *row)
{
	if (!page_has_room(page, 128 + row->worker.len, 20))
		return false;
	PAGE_ADD(page, tries, row);
	return true;
}

bool page_add_part(struct answer_page *page, const struct rec_graph_part *row)
{
	size_t schedule = row->schedule.n > 0 ? 64 + row->schedule.at[0].cron.len + row->schedule.at[0].zone.len : 0;

	if (page->snapshot.parts.n == page->limit || !page_has_room(page, 256 + row->jobs.len + row->context.len + schedule, 40))
		return false;
	PAGE_ADD(page, parts, row);
	return true;
}

static size_t job_bytes(const struct rec_job_row *row)
{
	const struct slice texts[] = {
		row->name, row->worker, row->command, row->gate_message, row->when, row->needs_text, row->loop_until,
		row->pushback, row->why, row->digest, row->dir,
	};
	const struct slice_list lists[] = {
		row->unblocks, row->will, row->gate_from, row->gate_shown, row->approvers, row->labels, row->asks, row->placing, row->concurrency,
		row->locks,
	};
	size_t bytes = 256 + 5 * (row->needs.n + row->triggers.n);

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		bytes += texts[i].len;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		bytes += texts_len(&lists[i]);
	return bytes;
}

bool page_add_job(struct answer_page *page, const struct rec_job_row *row)
{
	size_t values = row->needs.n + row->triggers.n + row->unblocks.n + row->will.n + row->gate_from.n + row->gate_shown.n + row->approvers.n +
			row->labels.n + row->asks.n + row->placing.n + row->concurrency.n + row->locks.n;

	if (!sees(page, row->run))
		return leave_out(page);
	if (page->snapshot.jobs.n == page->limit || !page_has_room(page, job_bytes(row), 72 + values))
		return false;
	PAGE_ADD(page, jobs, row);
	sight_job_words(page->sight, &page->snapshot.jobs.at[page->snapshot.jobs.n - 1]);
	return true;
}

bool page_add_run(struct answer_page *page, const struct rec_run_row *row)
{
	if (!sight_sees(page->sight, row->run, row->owner))
		return leave_out(page);
	if (page->snapshot.runs.n == page->limit ||
	    !page_has_room(page, 192 + row->name.len + row->owner.len + row->tenant.len + row->schedule.len + row->concurrency.len +
				 row->parent_job.len + row->why.len + 5 * row->counts.n, 42 + row->counts.n))
		return false;
	PAGE_ADD(page, runs, row);
	sight_run_words(page->sight, &page->snapshot.runs.at[page->snapshot.runs.n - 1]);
	return true;
}

bool page_add_worker(struct answer_page *page, const struct rec_worker_row *row)
{
	size_t bytes = 192 + row->name.len + row->pool.len + row->labels.n * LIMIT_NAME_MAX_LEN + row->offers.n * 64 +
		       texts_len(&row->stuck_jobs);

	if (page->snapshot.workers.n == page->limit ||
	    !page_has_room(page, bytes, 56 + row->labels.n + row->offers.n + row->used.n + row->stuck_jobs.n))
		return false;
	PAGE_ADD(page, workers, row);
	sight_worker_words(page->sight, &page->snapshot.workers.at[page->snapshot.workers.n - 1]);
	return true;
}

bool page_add_dead(struct answer_page *page, const struct rec_dead_row *row)
{
	if (!sight_sees(page->sight, row->run, row->owner))
		return leave_out(page);
	if (page->snapshot.dead.n == page->limit ||
	    !page_has_room(page, 256 + row->name.len + row->run_name.len + row->owner.len + row->worker.len + row->spec.len, 40))
		return false;
	PAGE_ADD(page, dead, row);
	return true;
}

bool page_add_pool(struct answer_page *page, const struct rec_pool_row *row)
{
	if (page->snapshot.pools.n == page->limit || !page_has_room(page, 64 + row->name.len + texts_len(&row->provides), 18 + row->provides.n))
		return false;
	PAGE_ADD(page, pools, row);
	return true;
}

bool page_add_topic(struct answer_page *page, const struct rec_topic_row *row)
{
	if (page->snapshot.topics.n == page->limit || !page_has_room(page, 16 + row->topic.len + row->pool.len, 4))
		return false;
	PAGE_ADD(page, topics, row);
	return true;
}

bool page_add_asset(struct answer_page *page, const struct rec_asset_row *row)
{
	if (!sight_own(page->sight, row->owner))
		return leave_out(page);
	if (page->snapshot.assets.n == page->limit || !page_has_room(page, 128 + row->asset.len + row->owner.len, 22))
		return false;
	PAGE_ADD(page, assets, row);
	return true;
}

bool page_add_token(struct answer_page *page, const struct rec_token_row *row)
{
	if (!sight_own(page->sight, row->name))
		return leave_out(page);
	if (page->snapshot.tokens.n == page->limit ||
	    !page_has_room(page, 96 + row->id.len + row->name.len + row->made_by.len, 18))
		return false;
	PAGE_ADD(page, tokens, row);
	return true;
}

bool page_add_tenant(struct answer_page *page, const struct rec_tenant_row *row)
{
	if (!sight_tenant(page->sight, row->name))
		return leave_out(page);
	if (page->snapshot.tenants.n == page->limit || !page_has_room(page, 64 + row->name.len, 18))
		return false;
	PAGE_ADD(page, tenants, row);
	return true;
}

bool page_add_group(struct answer_page *page, const struct rec_group_row *row)
{
	if (!sight_group(page->sight, row->name))
		return leave_out(page);
	if (page->snapshot.groups.n == page->limit || !page_has_room(page, 64 + row->name.len, 14))
		return false;
	PAGE_ADD(page, groups, row);
	return true;
}

bool page_add_lock(struct answer_page *page, const struct rec_lock_row *row)
{
	if (!sight_lock(page->sight, row))
		return leave_out(page);
	if (page->snapshot.locks.n == page->limit ||
	    !page_has_room(page, 128 + row->name.len + row->owner.len + row->person.len + row->reason.len + row->job_name.len, 28))
		return false;
	PAGE_ADD(page, locks, row);
	sight_lock_words(page->sight, &page->snapshot.locks.at[page->snapshot.locks.n - 1]);
	return true;
}

bool page_add_schedule(struct answer_page *page, const struct rec_schedule_row *row)
{
	if (!sight_own(page->sight, row->owner))
		return leave_out(page);
	if (page->snapshot.schedules.n == page->limit ||
	    !page_has_room(page, 384 + row->name.len + row->owner.len + row->cron.len, 48))
		return false;
	PAGE_ADD(page, schedules, row);
	return true;
}

bool page_add_act(struct answer_page *page, const struct rec_act_row *row)
{
	size_t bytes = 128 + row->name.len + row->origin.len + row->verb.len + row->target.len + row->before.len + row->after.len +
		       row->reason.len;

	if (!sight_act(page->sight, page->past, row))
		return leave_out(page);
	if (page->snapshot.acts.n == page->limit || !page_has_room(page, bytes, 28))
		return false;
	PAGE_ADD(page, acts, row);
	return true;
}

bool page_add_event(struct answer_page *page, const struct rec_event_row *row)
{
	size_t bytes = 96 + row->name.len + row->worker.len, nodes = 32;

	for (size_t i = 0; i < row->act.n; i++) {
		const struct rec_act_row *act = &row->act.at[i];

		bytes += 128 + act->name.len + act->origin.len + act->verb.len + act->target.len + act->before.len + act->after.len +
			 act->reason.len;
		nodes += 28;
	}
	if (!sight_event(page->sight, page->past, row))
		return leave_out(page);
	if (page->snapshot.events.n == page->limit || !page_has_room(page, bytes, nodes))
		return false;
	PAGE_ADD(page, events, row);
	return true;
}

bool page_add_pruned(struct answer_page *page, const struct rec_pruned_row *row)
{
	if (!sight_own(page->sight, row->owner))
		return leave_out(page);
	if (page->snapshot.pruned_runs.n == page->limit ||
	    !page_has_room(page, 96 + row->name.len + row->owner.len + row->schedule.len + row->person.len, 22))
		return false;
	PAGE_ADD(page, pruned_runs, row);
	return true;
}

uint64_t page_add_workers(struct master *master, struct answer_page *page, uint64_t after)
{
	struct rec_worker_row row;
	uint64_t worker;

	while ((worker = view_worker_after(master->core, after))) {
		if (view_worker(master->core, worker, page->arena, &row) && !page_add_worker(page, &row))
			return after;
		after = worker;
	}
	return 0;
}
