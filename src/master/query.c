/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions, answered at the end of a turn's decisions: they see its state, and the answer leaves with it, so
 * nothing is shown that could still be lost. What has left memory is asked of the store. An answer is a
 * page: whole rows that fit one frame, and a cursor for the rest.
 */
#include "master/internal.h"

#include "base/mem.h"

/* ---- pages ---- */

void page_begin(struct page *page, struct arena *arena, const struct query *query)
{
	*page = (struct page){ .arena = arena, .limit = LIMIT_QUERY_ROWS_MAX };
	if (query->limit > 0 && query->limit < page->limit)
		page->limit = (size_t)query->limit;
	page->snapshot.id = query->id;
}

/* Room for a row of this size? The first row always has it. */
static bool page_has_room(struct page *page, size_t bytes, size_t nodes)
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

bool page_add_decision(struct page *page, const struct rec_decision *row)
{
	if (page->snapshot.decisions.n == page->limit ||
	    !page_has_room(page, 64 + row->name.len + row->person.len + row->reason.len + row->target.len, 20))
		return false;
	PAGE_ADD(page, decisions, row);
	return true;
}

bool page_add_job(struct page *page, const struct rec_job_row *row)
{
	size_t numbers = row->needs.n + row->triggers.n;

	if (page->snapshot.jobs.n == page->limit ||
	    !page_has_room(page, 256 + row->name.len + row->worker.len + row->command.len + row->gate_message.len + row->when.len + row->needs_text.len +
					 row->pushback.len + texts_len(&row->unblocks) + texts_len(&row->will) +
					 texts_len(&row->gate_from) + texts_len(&row->labels) + texts_len(&row->asks) + texts_len(&row->placing) + 5 * numbers,
			   60 + numbers + row->unblocks.n + row->will.n + row->gate_from.n + row->labels.n + row->asks.n + row->placing.n))
		return false;
	PAGE_ADD(page, jobs, row);
	return true;
}

bool page_add_run(struct page *page, const struct rec_run_row *row)
{
	if (page->snapshot.runs.n == page->limit ||
	    !page_has_room(page, 128 + row->name.len + row->owner.len + row->tenant.len + 5 * row->counts.n, 20 + row->counts.n))
		return false;
	PAGE_ADD(page, runs, row);
	return true;
}

bool page_add_worker(struct page *page, const struct rec_worker_row *row)
{
	size_t bytes = 192 + row->name.len + row->pool.len + row->labels.n * LIMIT_NAME_MAX_LEN + row->offers.n * 64;

	if (page->snapshot.workers.n == page->limit ||
	    !page_has_room(page, bytes, 40 + row->labels.n + row->offers.n + row->used.n))
		return false;
	PAGE_ADD(page, workers, row);
	return true;
}

static bool page_add_dead(struct page *page, const struct rec_dead_row *row)
{
	if (page->snapshot.dead.n == page->limit ||
	    !page_has_room(page, 256 + row->name.len + row->run_name.len + row->owner.len + row->worker.len + row->spec.len, 40))
		return false;
	PAGE_ADD(page, dead, row);
	return true;
}

static bool page_add_pool(struct page *page, const struct rec_pool_row *row)
{
	if (page->snapshot.pools.n == page->limit || !page_has_room(page, 64 + row->name.len, 16))
		return false;
	PAGE_ADD(page, pools, row);
	return true;
}

bool page_add_tenant(struct page *page, const struct rec_tenant_row *row)
{
	if (page->snapshot.tenants.n == page->limit || !page_has_room(page, 64 + row->name.len, 18))
		return false;
	PAGE_ADD(page, tenants, row);
	return true;
}

bool page_add_group(struct page *page, const struct rec_group_row *row)
{
	if (page->snapshot.groups.n == page->limit || !page_has_room(page, 64 + row->name.len, 14))
		return false;
	PAGE_ADD(page, groups, row);
	return true;
}

bool page_add_lock(struct page *page, const struct rec_lock_row *row)
{
	if (page->snapshot.locks.n == page->limit ||
	    !page_has_room(page, 128 + row->name.len + row->owner.len + row->person.len + row->reason.len + row->job_name.len, 28))
		return false;
	PAGE_ADD(page, locks, row);
	return true;
}

static bool page_add_schedule(struct page *page, const struct rec_schedule_row *row)
{
	if (page->snapshot.schedules.n == page->limit ||
	    !page_has_room(page, 384 + row->name.len + row->owner.len + row->cron.len, 48))
		return false;
	PAGE_ADD(page, schedules, row);
	return true;
}

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
	if (query->of_sub)
		page->snapshot.resume = publish_page(master, query, cursor);
	reveal_add(master, turn, query->conn, OP_SNAPSHOT, &page->snapshot);
	query_free(master, query);
}

static void refuse(struct master *master, struct master_turn *turn, struct query *query, const struct error *error)
{
	reveal_error(master, turn, query->conn, query->id, error);
	if (query->of_sub)
		publish_refused(master, query);
	query_free(master, query);
}

/* The cursor to go on with, or 0. */
static uint64_t add_workers(struct master *master, struct page *page, uint64_t after)
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

static void run_status(struct master *master, struct master_turn *turn, struct query *query)
{
	struct page page;
	struct core_totals totals;
	uint64_t cursor;

	page_begin(&page, &master->scratch, query);
	cursor = add_workers(master, &page, query->cursor);
	view_totals(master->core, &totals);
	page.snapshot.counts = query_counts(master);
	page.snapshot.total = totals.live_jobs;
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
	cursor = add_workers(master, &page, query->cursor);
	view_totals(master->core, &totals);
	page.snapshot.total = totals.workers;
	query_finish(master, turn, query, &page, cursor);
}

/* ---- jobs ---- */

static void run_jobs(struct master *master, struct master_turn *turn, struct query *query)
{
	struct page page;
	struct rec_run_row run;
	struct rec_job_row row;
	uint64_t index = query->cursor;

	if (!view_run(master->core, query->run, &master->scratch, &run)) {
		history_ask(master, query);
		return;
	}
	page_begin(&page, &master->scratch, query);
	if (query->cursor == 0)
		page_add_run(&page, &run);
	for (; index < run.jobs; index++) {
		uint64_t job = view_job_at(master->core, query->run, index);

		if (job == 0 || !view_job(master->core, job, VIEW_GRAPH, &master->scratch, &row) ||
		    !page_add_job(&page, &row))
			break;
	}
	page.snapshot.total = run.jobs;
	if (query->of_sub && query->cursor == 0)
		page.snapshot.counts = query_counts(master);
	query_finish(master, turn, query, &page, index < run.jobs ? index : 0);
}

static void run_job(struct master *master, struct master_turn *turn, struct query *query)
{
	struct page page;
	struct rec_run_row run;
	struct rec_job_row row;
	struct error error;
	uint64_t job;

	if (!view_run(master->core, query->run, &master->scratch, &run)) {
		history_ask(master, query);
		return;
	}
	job = view_job_named(master->core, query->run, slice_make(query->job, query->job_len));
	if (job == 0 || !view_job(master->core, job, VIEW_FULL, &master->scratch, &row)) {
		query_no_job(&error, query);
		refuse(master, turn, query, &error);
		return;
	}
	page_begin(&page, &master->scratch, query);
	if (query->what == QUERY_EXPLAIN)
		view_explain(master->core, job, &master->scratch, &row);
	page_add_run(&page, &run);
	page_add_job(&page, &row);
	page.snapshot.total = 1;
	query_finish(master, turn, query, &page, 0);
}

static void run_gates(struct master *master, struct master_turn *turn, struct query *query)
{
	struct page page;
	struct rec_job_row row;
	uint64_t job = query->cursor, next;

	page_begin(&page, &master->scratch, query);
	while ((next = view_gate_after(master->core, job))) {
		if (!view_job(master->core, next, VIEW_FULL, &master->scratch, &row) || !page_add_job(&page, &row))
			break;
		job = next;
	}
	query_finish(master, turn, query, &page, next ? job : 0);
}

/* ---- runs ---- */

/*
 * A row of the store is a run's number and, when the run has left memory, all that is known of it. False:
 * it was live when it was read and isn't any more, so it has to be read again.
 */
static bool stored_run(struct master *master, const struct row_run *stored, struct rec_run_row *ret_row)
{
	if (view_run(master->core, (uint64_t)stored->run, &master->scratch, ret_row))
		return true;
	if (stored->ended_ms == 0)
		return false;
	history_run_row(stored, &master->scratch, ret_row);
	return true;
}

static void run_live_runs(struct master *master, struct master_turn *turn, struct query *query)
{
	struct page page;
	struct rec_run_row row;
	uint64_t run = query->cursor, next;

	page_begin(&page, &master->scratch, query);
	while ((next = view_run_before(master->core, run))) {
		if (view_run(master->core, next, &master->scratch, &row) && !page_add_run(&page, &row))
			break;
		run = next;
	}
	query_finish(master, turn, query, &page, next ? run : 0);
}

static void run_runs(struct master *master, struct master_turn *turn, struct query *query)
{
	const struct store_query *found = query->found;
	const struct session *asker = query->scoped ? session_find(master, query->conn) : NULL;
	struct page page;
	struct rec_run_row row;
	uint64_t cursor = 0;
	size_t seen = 0;

	if (query->live_only) {
		run_live_runs(master, turn, query);
		return;
	}
	if (!found) {
		history_ask(master, query);
		return;
	}
	page_begin(&page, &master->scratch, query);
	for (; seen < found->row_count; seen++) {
		cursor = (uint64_t)found->rows[seen].run.run;
		if (asker && !scope_has_run(asker, cursor))
			continue;
		if (!stored_run(master, &found->rows[seen].run, &row)) {
			history_free_answer(query->found);
			query->found = NULL;
			history_ask(master, query);
			return;
		}
		if (!page_add_run(&page, &row)) {
			cursor++;
			break;
		}
	}
	if (seen == found->row_count && found->row_count < page.limit)
		cursor = 0;
	if (query->of_sub && query->run)
		cursor = 0;                      /* of this one run there is no more */
	if (query->of_sub && query->run == 0) {
		page.snapshot.counts = query_counts(master);
		publish_workers(master, query, add_workers(master, &page, 0));
	}
	query_finish(master, turn, query, &page, cursor);
}

static void run_schedules(struct master *master, struct master_turn *turn, struct query *query)
{
	struct slice wanted = slice_make(query->job, query->job_len);
	struct page page;
	struct rec_schedule_row row;
	size_t at = (size_t)query->cursor;

	page_begin(&page, &master->scratch, query);
	for (; view_schedule(master->core, at, 5, &master->scratch, &row); at++)
		if ((wanted.len == 0 || slice_eq(wanted, row.name)) && !page_add_schedule(&page, &row))
			break;
	query_finish(master, turn, query, &page, view_schedule(master->core, at, 0, &master->scratch, &row) ? at : 0);
}

/* ---- dead letters: only the store has them ---- */

static void dead_row(const struct row_dead *stored, struct rec_dead_row *ret_row)
{
	*ret_row = (struct rec_dead_row){
		.job = (uint64_t)stored->job, .run = (uint64_t)stored->run, .run_name = stored->run_name,
		.owner = stored->owner, .name = stored->name, .index = (uint64_t)stored->place,
		.reason = (uint64_t)stored->reason, .died_ms = stored->died_ms, .state = (uint64_t)stored->state,
		.round = (uint64_t)stored->round, .tries = (uint64_t)stored->tries, .crashes = (uint64_t)stored->crashes,
		.outcome = (uint64_t)stored->outcome, .code = (uint64_t)stored->code, .epoch = (uint64_t)stored->epoch,
		.worker = stored->worker, .priority = (uint64_t)stored->priority,
	};
}

static void run_dead(struct master *master, struct master_turn *turn, struct query *query)
{
	const struct store_query *found = query->found;
	struct page page;
	uint64_t cursor = 0;

	if (!found) {
		history_ask(master, query);
		return;
	}
	page_begin(&page, &master->scratch, query);
	for (size_t i = 0; i < found->row_count; i++) {
		struct rec_dead_row row;

		dead_row(&found->rows[i].dead, &row);
		if (query->limit == 1)
			row.spec = found->rows[i].dead.spec;
		if (!page_add_dead(&page, &row))
			break;
		cursor = row.job;
	}
	if (page.snapshot.dead.n == found->row_count && found->row_count < page.limit)
		cursor = 0;
	query_finish(master, turn, query, &page, cursor);
}

static void run_one(struct master *master, struct master_turn *turn, struct query *query)
{
	struct error error;
	const struct session *session = session_find(master, query->conn);

	query->next = NULL;
	if (!session) {
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
		run_runs(master, turn, query);
		break;
	case QUERY_JOBS:
		run_jobs(master, turn, query);
		break;
	case QUERY_JOB:
	case QUERY_EXPLAIN:
		run_job(master, turn, query);
		break;
	case QUERY_POOLS:
		run_pools(master, turn, query);
		break;
	case QUERY_WORKERS:
		run_workers(master, turn, query);
		break;
	case QUERY_GATES:
		run_gates(master, turn, query);
		break;
	case QUERY_SCHEDULES:
		run_schedules(master, turn, query);
		break;
	case QUERY_DEAD:
		run_dead(master, turn, query);
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
		refuse(master, turn, query, &error);
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
