/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers queries about runs, jobs and dead letters: live ones from memory, the others from the store. */
#include "master/sight.h"

#include "base/text.h"

#define WHY_STEPS 100000                 /* most jobs examined to say why the runs of a page wait */

/* ---- jobs ---- */

void query_jobs(struct master *master, struct master_turn *turn, struct query *query)
{
	struct answer_page page;
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

		if (job == 0 || !view_job(master->core, job, VIEW_GRAPH, &master->scratch, &row))
			break;
		if (query->reasons)
			view_why_job(master->core, job, &master->scratch, &row);
		if (!page_add_job(&page, &row))
			break;
	}
	page.snapshot.total = run.jobs;
	if (query->of_sub && query->cursor == 0)
		sight_counts(&query->sight, &master->scratch, &page.snapshot.counts);
	query_finish(master, turn, query, &page, index < run.jobs ? index : 0);
}

void query_job(struct master *master, struct master_turn *turn, struct query *query)
{
	struct answer_page page;
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
		query_refuse(master, turn, query, &error);
		return;
	}
	page_begin(&page, &master->scratch, query);
	if (query->what == QUERY_EXPLAIN)
		view_explain(master->core, job, &master->scratch, &row);
	else if (query->reasons)
		view_why_job(master->core, job, &master->scratch, &row);
	page_add_run(&page, &run);
	page_add_job(&page, &row);
	page.snapshot.total = 1;
	query_finish(master, turn, query, &page, 0);
}

void query_gates(struct master *master, struct master_turn *turn, struct query *query)
{
	struct answer_page page;
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
 * Make the row of a run from a row of the store. If the run is in memory, its row comes from there, because the stored
 * row of a live run is incomplete. False: the run was live when the row was read and has left memory since, so it must
 * be read again.
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

static void live_runs(struct master *master, struct master_turn *turn, struct query *query)
{
	struct answer_page page;
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

/* Does the query want this run? *young: set to true unless the run is older than the wanted time. */
static bool run_wanted(const struct query *query, const struct rec_run_row *row, bool *young)
{
	*young = *young || row->submitted_ms >= query->since_ms;
	return row->submitted_ms >= query->since_ms && (query->until_ms == 0 || row->submitted_ms < query->until_ms) &&
	       (query->job_len == 0 || text_matches(slice_make(query->job, query->job_len), row->name));
}

void query_runs(struct master *master, struct master_turn *turn, struct query *query)
{
	const struct store_query *found = query->found;
	const struct peer_session *asker = query->scoped ? session_find(master, query->conn) : NULL;
	struct answer_page page;
	struct rec_run_row row;
	struct error error;
	uint64_t cursor = 0;
	size_t seen = 0, steps = WHY_STEPS;
	bool young = false;

	if (query->live_only) {
		live_runs(master, turn, query);
		return;
	}
	if (!found) {
		history_ask(master, query);
		return;
	}
	page_begin(&page, &master->scratch, query);
	for (; seen < found->row_count; seen++) {
		cursor = (uint64_t)found->rows[seen].run.run;
		if (asker && !scope_has_run(asker, cursor)) {
			young = true;    /* the run's row wasn't read, so its age isn't known */
			continue;
		}
		if ((query->of_sub && query->run && cursor != query->run) || !sight_sees(&query->sight, cursor, found->rows[seen].run.owner)) {
			young = young || found->rows[seen].run.submitted_ms >= query->since_ms;
			continue;
		}
		if (!stored_run(master, &found->rows[seen].run, &row)) {
			history_free_answer(query->found);
			query->found = NULL;
			history_ask(master, query);
			return;
		}
		if (!run_wanted(query, &row, &young))
			continue;
		if (query->reasons)
			view_why_run(master->core, row.run, &master->scratch, &steps, &row);
		if (!page_add_run(&page, &row)) {
			cursor++;
			break;
		}
	}
	if (seen == found->row_count && found->row_count < found->limit)
		cursor = 0;
	/*
	 * Runs are numbered in the order of submits, so a page with only runs that are too old ends the list, even if a
	 * clock was set.
	 */
	if (found->row_count > 0 && !young)
		cursor = 0;
	if (query->of_sub && query->run && !query->sight.all && page.snapshot.runs.n == 0) {
		query_no_run(master, &error, query);
		query_refuse(master, turn, query, &error);
		return;
	}
	if (query->of_sub && query->run)
		/* The subscription is about this one run, so there are no more pages. */
		cursor = 0;
	if (query->of_sub && query->run == 0) {
		sight_counts(&query->sight, &master->scratch, &page.snapshot.counts);
		sight_ended(&query->sight, &master->scratch, &page.snapshot.ended_runs, &page.snapshot.ended_jobs);
		publish_workers(master, query, page_add_workers(master, &page, 0));
	}
	query_finish(master, turn, query, &page, cursor);
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

void query_dead(struct master *master, struct master_turn *turn, struct query *query)
{
	const struct store_query *found = query->found;
	struct answer_page page;
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
