/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Queries, answered when a turn has been decided: they see the new state, and the answer is sent with the turn, so
 * nothing is shown that could still be lost. An answer is a page, with a cursor for the rest. This file passes each
 * query whose turn has come (line.c) to the function that answers it, and answers those about the cluster: workers,
 * pools, schedules.
 */
#include "master/sight.h"

#include "base/mem.h"

struct query *query_new(struct peer_session *session, uint64_t id, uint64_t what)
{
	struct query *query = mem_zalloc(sizeof(*query));

	query->conn = session->id;
	query->id = id;
	query->what = what;
	query->askers = session->askers;
	query->sight = sight_of(session);
	line_add(session, query);
	if (++session->queries >= QUERIES_MAX)
		session_pause(session, PAUSE_QUERIES, true);
	return query;
}

void query_free(struct master *master, struct query *query)
{
	struct peer_session *session = session_find(master, query->conn);

	if (session && --session->queries < QUERIES_MAX)
		session_pause(session, PAUSE_QUERIES, false);
	if (query->under_way)
		line_reader_done(master, query->askers, READER_STORE);
	history_free_answer(query->found);
	mem_free(query->filter);
	mem_free(query);
}

/* ---- answers ---- */

void query_no_run(const struct master *master, struct error *error, const struct query *query)
{
	uint64_t run = query->run;
	char when[CLOCK_TEXT_SIZE];
	int64_t wall_ms;

	/* The owner of a pruned run is known only to the store, so this short answer is for those who see all runs. */
	if (query->sight.all && view_pruned(master->core, run, &wall_ms))
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

/* Send the page with the turn and free the query. */
void query_finish(struct master *master, struct master_turn *turn, struct query *query, struct answer_page *page,
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
	struct answer_page page;
	struct store_stats stats;
	uint64_t cursor;

	page_begin(&page, &master->scratch, query);
	cursor = page_add_workers(master, &page, query->cursor);
	page.snapshot.total = sight_counts(&query->sight, &master->scratch, &page.snapshot.counts);
	sight_ended(&query->sight, &master->scratch, &page.snapshot.ended_runs, &page.snapshot.ended_jobs);
	store_stats(master->store, &stats);
	page.snapshot.full = stats.full;
	query_finish(master, turn, query, &page, cursor);
}

static void run_pools(struct master *master, struct master_turn *turn, struct query *query)
{
	struct rec_pool_row row;
	struct answer_page page;
	size_t at = (size_t)query->cursor;

	page_begin(&page, &master->scratch, query);
	while (view_pool(master->core, at, &row) && page_add_pool(&page, &row))
		at++;
	query_finish(master, turn, query, &page, view_pool(master->core, at, &row) ? at : 0);
}

static void run_topics(struct master *master, struct master_turn *turn, struct query *query)
{
	struct rec_topic_row row;
	struct answer_page page;
	size_t at = (size_t)query->cursor;

	page_begin(&page, &master->scratch, query);
	while (view_topic(master->core, at, &row) && page_add_topic(&page, &row))
		at++;
	query_finish(master, turn, query, &page, view_topic(master->core, at, &row) ? at : 0);
}

static void run_assets(struct master *master, struct master_turn *turn, struct query *query)
{
	struct slice wanted = slice_make(query->job, query->job_len);
	uint64_t cursor = query->cursor, next;
	struct rec_asset_row row;
	struct answer_page page;

	page_begin(&page, &master->scratch, query);
	while ((next = view_asset(master->core, wanted, cursor, &row)) && page_add_asset(&page, &row))
		cursor = next;
	query_finish(master, turn, query, &page, next ? cursor : 0);
}

static void run_workers(struct master *master, struct master_turn *turn, struct query *query)
{
	struct answer_page page;
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
	struct answer_page page;
	struct rec_schedule_row row;
	size_t at = (size_t)query->cursor;

	page_begin(&page, &master->scratch, query);
	/* Computing the next times takes a while, so it is done only for schedules that are wanted. */
	for (; view_schedule(master->core, at, 0, &master->scratch, &row); at++) {
		if (wanted.len > 0 && !slice_eq(wanted, row.name))
			continue;
		view_schedule(master->core, at, 5, &master->scratch, &row);
		if (!page_add_schedule(&page, &row))
			break;
	}
	query_finish(master, turn, query, &page, view_schedule(master->core, at, 0, &master->scratch, &row) ? at : 0);
}

static void refuse_unknown(struct master *master, struct master_turn *turn, struct query *query)
{
	struct error error;

	error_set(&error, ERR_INVALID, "unknown question number %llu", (unsigned long long)query->what);
	query_refuse(master, turn, query, &error);
}

/* The store has the answer; specifications of schedules are in memory. */
static void ask_history(struct master *master, struct master_turn *turn, struct query *query)
{
	if (query->what == QUERY_SPECS && query->run == 0)
		query_schedule_specs(master, turn, query);
	else
		history_ask(master, query);
}

static void run_metrics(struct master *master, struct master_turn *turn, struct query *query)
{
	metrics_answer(master, turn, query);
	query_free(master, query);
}

typedef void answer_fn(struct master *master, struct master_turn *turn, struct query *query);

static void answer(struct master *master, struct master_turn *turn, struct query *query)
{
	static answer_fn *const answers[] = {
		[QUERY_STATUS] = run_status, [QUERY_RUNS] = query_runs, [QUERY_JOBS] = query_jobs, [QUERY_JOB] = query_job,
		[QUERY_EXPLAIN] = query_job, [QUERY_WORKERS] = run_workers, [QUERY_GATES] = query_gates, [QUERY_POOLS] = run_pools,
		[QUERY_TENANTS] = query_tenants, [QUERY_GROUPS] = query_groups, [QUERY_LOCKS] = query_locks,
		[QUERY_SCHEDULES] = run_schedules, [QUERY_DEAD] = query_dead, [QUERY_METRICS] = run_metrics,
		[QUERY_TOKENS] = query_tokens, [QUERY_NAMES] = query_names, [QUERY_TOPICS] = run_topics, [QUERY_ASSETS] = run_assets,
		[QUERY_SERIES] = query_series, [QUERY_DECISIONS] = ask_history, [QUERY_ACTS] = ask_history,
		[QUERY_EVENTS] = ask_history, [QUERY_PRUNED] = ask_history, [QUERY_TRIES] = ask_history, [QUERY_SPECS] = ask_history,
		[QUERY_IS_ACT] = ask_history, [QUERY_IS_AGAIN] = ask_history,
	};

	if (query->what < sizeof(answers) / sizeof(answers[0]) && answers[query->what])
		answers[query->what](master, turn, query);
	else
		refuse_unknown(master, turn, query);
}

void query_run(struct master *master, struct master_turn *turn, struct query *query)
{
	if (!publish_wants(master, query))
		query_free(master, query);
	else if (!sight_answers(master, turn, query))
		answer(master, turn, query);
}

bool query_may_hurry(uint64_t what)
{
	return what == QUERY_STATUS || what == QUERY_RUNS || what == QUERY_WORKERS;
}
