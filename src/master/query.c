/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions, answered at the end of a turn's decisions: they see its state, and the answer leaves with it, so
 * nothing is shown that could still be lost. An answer is a page and a cursor for the rest. Here they stand in line,
 * and find who answers; also the answers about the cluster: workers, pools, schedules.
 */
#include "master/internal.h"

#include "base/mem.h"

/* ---- in line ---- */

void query_again(struct master *master, struct query *query)
{
	query->next = NULL;
	if (!master->queries)
		master->queries_end = &master->queries;
	*master->queries_end = query;
	master->queries_end = &query->next;
}

struct query *query_new(struct master *master, uint64_t conn, uint64_t id, uint64_t what)
{
	struct query *query = mem_zalloc(sizeof(*query));
	struct session *session = session_find(master, conn);

	query->conn = conn;
	query->id = id;
	query->what = what;
	query_again(master, query);
	if (session && ++session->queries >= QUERIES_MAX)
		session_pause(session, PAUSE_QUERIES, true);
	return query;
}

void query_free(struct master *master, struct query *query)
{
	struct session *session = session_find(master, query->conn);

	if (session && --session->queries < QUERIES_MAX)
		session_pause(session, PAUSE_QUERIES, false);
	history_free_answer(query->found);
	mem_free(query);
}

void query_undefer(struct master *master)
{
	struct query *query;

	while ((query = master->deferred)) {
		master->deferred = query->next;
		query_again(master, query);
	}
}

void query_drop_all(struct master *master)
{
	struct query *query;

	query_undefer(master);
	while ((query = master->queries)) {
		master->queries = query->next;
		query_free(master, query);
	}
}

/* ---- answers ---- */

void query_no_run(const struct master *master, struct error *error, uint64_t run)
{
	char when[CLOCK_TEXT_SIZE];
	int64_t wall_ms;

	if (view_pruned(master->core, run, &wall_ms))
		error_set(error, ERR_PRUNED, "run %llu was pruned on %.10s", (unsigned long long)run,
			  clock_format_utc(wall_ms, when));
	else
		error_set(error, ERR_NOT_FOUND, "there is no run %llu", (unsigned long long)run);
	error_next(error, "titan ls");
}

void query_no_job(struct error *error, const struct query *query)
{
	error_set(error, ERR_NOT_FOUND, "run %llu has no job '%.*s'", (unsigned long long)query->run,
		  (int)query->job_len, (const char *)query->job);
	error_next(error, "titan show %llu", (unsigned long long)query->run);
}

struct u64_list query_counts(struct master *master)
{
	struct core_totals totals;
	struct u64_list counts = { .n = STATE_COUNT };

	view_totals(master->core, &totals);
	counts.at = arena_alloc(&master->scratch, sizeof(totals.counts));
	memcpy(counts.at, totals.counts, sizeof(totals.counts));
	return counts;
}

/* Answered: the page goes with the turn. */
void query_finish(struct master *master, struct master_turn *turn, struct query *query, struct page *page,
		  uint64_t cursor)
{
	page->snapshot.turn = turn->outbox.turn;
	page->snapshot.cursor = cursor;
	page->snapshot.stuck = turn->hurried;
	if (query->of_sub)
		page->snapshot.resume = publish_page(master, query, cursor);
	reveal_add(master, turn, query->conn, OP_SNAPSHOT, &page->snapshot);
	query_free(master, query);
}

void query_refuse(struct master *master, struct master_turn *turn, struct query *query, const struct error *error)
{
	reveal_error(master, turn, query->conn, query->id, error);
	if (query->of_sub)
		publish_refused(master, query);
	query_free(master, query);
}

static void run_status(struct master *master, struct master_turn *turn, struct query *query)
{
	struct page page;
	struct store_stats stats;
	struct core_totals totals;
	uint64_t cursor;

	page_begin(&page, &master->scratch, query);
	cursor = page_add_workers(master, &page, query->cursor);
	view_totals(master->core, &totals);
	page.snapshot.counts = query_counts(master);
	page.snapshot.total = totals.live_jobs;
	store_stats(master->store, &stats);
	page.snapshot.full = stats.full;
	query_finish(master, turn, query, &page, cursor);
}

static void run_pools(struct master *master, struct master_turn *turn, struct query *query)
{
	struct rec_pool_row row;
	struct page page;
	size_t at = (size_t)query->cursor;

	page_begin(&page, &master->scratch, query);
	while (view_pool(master->core, at, &row) && page_add_pool(&page, &row))
		at++;
	query_finish(master, turn, query, &page, view_pool(master->core, at, &row) ? at : 0);
}

static void run_workers(struct master *master, struct master_turn *turn, struct query *query)
{
	struct page page;
	struct core_totals totals;
	uint64_t cursor;

	page_begin(&page, &master->scratch, query);
	cursor = page_add_workers(master, &page, query->cursor);
	view_totals(master->core, &totals);
	page.snapshot.total = totals.workers;
	query_finish(master, turn, query, &page, cursor);
}

static void run_schedules(struct master *master, struct master_turn *turn, struct query *query)
{
	struct slice wanted = slice_make(query->job, query->job_len);
	struct page page;
	struct rec_schedule_row row;
	size_t at = (size_t)query->cursor;

	page_begin(&page, &master->scratch, query);
	/* The next times cost something: only of those that are wanted. */
	for (; view_schedule(master->core, at, 0, &master->scratch, &row); at++) {
		if (wanted.len > 0 && !slice_eq(wanted, row.name))
			continue;
		view_schedule(master->core, at, 5, &master->scratch, &row);
		if (!page_add_schedule(&page, &row))
			break;
	}
	query_finish(master, turn, query, &page, view_schedule(master->core, at, 0, &master->scratch, &row) ? at : 0);
}

static void run_one(struct master *master, struct master_turn *turn, struct query *query)
{
	struct error error;
	const struct session *session = session_find(master, query->conn);

	query->next = NULL;
	if (!session || !publish_wants(master, query)) {
		query_free(master, query);
		return;
	}
	if (session_queued(session) > QUERY_QUEUE_MAX) {
		query->next = master->deferred;
		master->deferred = query;
		return;
	}
	switch (query->what) {
	case QUERY_STATUS:
		run_status(master, turn, query);
		break;
	case QUERY_RUNS:
		query_runs(master, turn, query);
		break;
	case QUERY_JOBS:
		query_jobs(master, turn, query);
		break;
	case QUERY_JOB:
	case QUERY_EXPLAIN:
		query_job(master, turn, query);
		break;
	case QUERY_POOLS:
		run_pools(master, turn, query);
		break;
	case QUERY_WORKERS:
		run_workers(master, turn, query);
		break;
	case QUERY_GATES:
		query_gates(master, turn, query);
		break;
	case QUERY_SCHEDULES:
		run_schedules(master, turn, query);
		break;
	case QUERY_DEAD:
		query_dead(master, turn, query);
		break;
	case QUERY_METRICS:
		metrics_answer(master, turn, query);
		query_free(master, query);
		break;
	case QUERY_TENANTS:
		query_tenants(master, turn, query);
		break;
	case QUERY_GROUPS:
		query_groups(master, turn, query);
		break;
	case QUERY_LOCKS:
		query_locks(master, turn, query);
		break;
	case QUERY_DECISIONS:
	case QUERY_IS_ACT:
	case QUERY_IS_AGAIN:
		history_ask(master, query);
		break;
	default:
		error_set(&error, ERR_INVALID, "an unknown question: %llu", (unsigned long long)query->what);
		query_refuse(master, turn, query, &error);
	}
}

void query_run_all(struct master *master, struct master_turn *turn)
{
	struct query *list = master->queries;

	master->queries = NULL;
	while (list) {
		struct query *query = list;

		list = query->next;
		run_one(master, turn, query);
	}
}

/* ---- while the store has no room ---- */

bool query_may_hurry(uint64_t what)
{
	return what == QUERY_STATUS || what == QUERY_RUNS || what == QUERY_WORKERS;
}

/*
 * A turn that can't become durable would keep its answers for as long. What a person needs to see then is answered from
 * memory: it may show what the last turns decided, and lose it again if the master ends before there is room.
 */
void query_run_hurried(struct master *master)
{
	struct query *list = master->queries;
	struct master_turn *answers;
	struct store_stats stats;

	store_stats(master->store, &stats);
	if (!stats.stuck)
		return;
	master->queries = NULL;
	answers = turn_new(master);
	answers->outbox.turn = master->pipeline.durable;
	answers->hurried = true;
	while (list) {
		struct query *query = list;

		list = query->next;
		if (query_may_hurry(query->what) && query->of_sub == 0)
			run_one(master, answers, query);
		else
			query_again(master, query);
	}
	reveal_send(master, answers);
	turn_free(master, answers);
	arena_reset(&master->scratch);
}
