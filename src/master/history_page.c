/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns rows read from the store into answers: runs, jobs with their part of the graph, decisions. A page of an ended
 * run is sent at once, without waiting for a turn.
 */
#include "master/history.h"

#include "proto/frame.h"
#include "proto/reasons.h"

/* ---- rows ---- */

void history_run_row(const struct row_run *row, struct arena *arena, struct rec_run_row *ret_row)
{
	struct rec_run_row run = {
		.run = (uint64_t)row->run,
		.name = arena_copy(arena, row->name),
		.state = (uint64_t)row->state,
		.jobs = (uint64_t)row->jobs,
		.submitted_ms = row->submitted_ms,
		.ended_ms = row->ended_ms,
		.owner = arena_copy(arena, row->owner), .schedule = arena_copy(arena, row->schedule),
		.tenant = arena_copy(arena, row->tenant),
		.concurrency = arena_copy(arena, row->concurrency), .seated = row->seated != 0,
		.parent_run = (uint64_t)row->parent_run, .parent_job = arena_copy(arena, row->parent_name),
		.first = (uint64_t)row->first,
		.forgiven = (uint64_t)row->forgiven,
		.dead = (uint64_t)row->dead, .logs_gone_ms = row->logs_gone_ms,
	};

	run.counts.n = row->counts.len / 4;
	run.counts.at = arena_alloc(arena, (run.counts.n + 1) * sizeof(uint64_t));
	for (size_t i = 0; i < run.counts.n; i++) {
		const uint8_t *at = row->counts.data + 4 * i;

		run.counts.at[i] = (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
				   (uint64_t)at[3] << 24;
	}
	*ret_row = run;
}

static void job_row(struct master *master, const struct row_job *row, uint64_t index, struct rec_job_row *ret_row)
{
	struct rec_worker_row worker;

	*ret_row = (struct rec_job_row){
		.job = (uint64_t)row->job,
		.run = (uint64_t)row->run,
		.index = index,
		.state = (uint64_t)row->state,
		.epoch = (uint64_t)row->epoch,
		.tries = (uint64_t)row->tries,
		.crashes = (uint64_t)row->crashes,
		.interrupted = (uint64_t)row->interrupted,
		.round = (uint64_t)row->round,
		.outcome = (uint64_t)row->outcome,
		.code = (uint64_t)row->code,
		.started_ms = row->started_ms,
		.ended_ms = row->ended_ms,
		.cause = (uint64_t)row->cause,
		.cpu_us = (uint64_t)row->cpu_us,
		.rss_kib = (uint64_t)row->rss_kib,
		.out_bytes = (uint64_t)row->out_bytes,
		.child = (uint64_t)row->child,
		.dead = (row->flags & ROW_JOB_DEAD) != 0,
		.stop_cause = row->state == STATE_TIMED_OUT ? (uint64_t)row->stop_cause : 0,
		.ended_by = row->stop_cause == EVENT_CANCEL ? 0 : (uint64_t)row->stop_cause,
		.condition_false = (row->flags & ROW_JOB_CONDITION_FALSE) != 0,
	};
	if (row->worker > 0 && view_worker(master->core, (uint64_t)row->worker, NULL, &worker))
		ret_row->worker = worker.name;
}

/* ---- specifications ---- */

static bool walk_skip(struct graph_walk *walk, uint64_t index)
{
	size_t size;

	while (walk->in_part && walk->index < index && walk->index < walk->part_end) {
		if (frame_check(walk->rest, &size, NULL) != ERR_NONE)
			return false;
		walk->rest = slice_make(walk->rest.data + size, walk->rest.len - size);
		walk->index++;
	}
	return true;
}

bool walk_to(struct graph_walk *walk, uint64_t index, struct arena *arena, struct rec_job_spec *ret_spec)
{
	for (;;) {
		if (!walk_skip(walk, index))
			return false;
		if (walk->in_part && walk->index < walk->part_end)
			break;
		if (walk->in_part)
			walk->part++;
		if (walk->part >= walk->specs->row_count)
			return false;
		walk->in_part = false;
		walk->part_end = walk->index + (uint64_t)walk->specs->rows[walk->part].spec.count;
		if (walk->part_end <= index) {
			walk->index = walk->part_end;
			walk->part++;
			continue;
		}
		walk->rest = walk->specs->rows[walk->part].spec.body;
		walk->in_part = true;
	}
	walk->index++;
	return record_decode(REC_job_spec, &walk->rest, arena, ret_spec, NULL) == ERR_NONE;
}

bool walk_find(const struct store_query *specs, const struct query *query, uint64_t *ret_index)
{
	struct graph_walk walk = { .specs = specs };
	struct arena arena = { 0 };
	struct rec_job_spec spec;
	bool found = false;
	uint64_t index;

	for (index = 0; !found && walk_to(&walk, index, &arena, &spec); index++) {
		found = slice_eq(spec.name, slice_make(query->job, query->job_len));
		if (found)
			*ret_index = index;
		arena_reset(&arena);
	}
	arena_free(&arena);
	return found;
}

/* ---- pages ---- */

void history_jobs(struct master *master, struct history *history, struct store_query *answer)
{
	const struct row_run *stored = &history->run->rows[0].run;
	enum view_detail detail = history_of_one(history->query) ? VIEW_FULL : VIEW_GRAPH;
	bool wanted = publish_wants(master, history->query);
	struct peer_session *session = wanted ? session_find(master, history->query->conn) : NULL;
	struct graph_walk walk = { .specs = history->specs->answer };
	uint64_t next = history->index, index;
	struct rec_run_row run;
	struct graph_serials serials;
	struct answer_page page;

	serials_begin(&serials, history->specs->answer, (uint64_t)stored->first);

	page_begin(&page, &answer->arena, history->query);
	history_run_row(stored, &answer->arena, &run);
	if (history->query->cursor == 0)
		page_add_run(&page, &run);
	for (size_t i = 0; i < answer->row_count; i++) {
		struct rec_job_row row;
		struct rec_job_spec spec;

		if (!serials_index(&serials, (uint64_t)answer->rows[i].job.job, &index) || index >= run.jobs || !walk_to(&walk, index, &answer->arena, &spec))
			break;
		job_row(master, &answer->rows[i].job, index, &row);
		row.name = spec.name;
		view_spec(&spec, detail, &answer->arena, &row);
		row.pass = spec.loop_max > 0 ? (uint64_t)answer->rows[i].job.passes + 1 : 0;
		row.priority = (uint64_t)answer->rows[i].job.priority + 1;
		if (detail >= VIEW_FULL)
			row.outputs = answer->rows[i].job.outputs;
		row.artifacts = view_artifacts(answer->rows[i].job.artifacts, &row, &answer->arena);
		row.log_gone_ms = view_log_gone(run.logs_gone_ms, row.ended_ms);
		row.forgiven = view_forgiven(&spec, (enum job_state)row.state);
		if (history->query->what == QUERY_EXPLAIN) {
			row.why_code = REASON_ENDED;
			row.why = slice_str(reason_text(REASON_ENDED));
		}
		if (!page_add_job(&page, &row))
			break;
		next = index + 1;
	}
	page.snapshot.turn = master->commits.durable;
	page.snapshot.total = detail == VIEW_FULL ? 1 : run.jobs;
	if (detail == VIEW_GRAPH && next > history->index && next < run.jobs)
		page.snapshot.cursor = next;
	if (history->query->of_sub)
		page.snapshot.resume = publish_page(master, history->query, page.snapshot.cursor);
	if (session)
		session_send(session, OP_SNAPSHOT, &page.snapshot);
	query_free(master, history->query);
	history_forget(history);
	history_free_answer(answer);
}

/* Send a page of decisions. The votes on a job stay together on one page, unless they fill more than a page. */
void history_decisions(struct master *master, struct history *history, struct store_query *answer)
{
	const struct query *query = history->query;
	struct slice name = slice_make(query->job, query->job_len);
	struct peer_session *session = session_find(master, query->conn);
	bool full = answer->row_count == LIMIT_QUERY_ROWS_MAX;
	size_t count = answer->row_count;
	struct answer_page page;

	while (full && count > 1 && answer->rows[count - 1].decision.job == answer->rows[answer->row_count - 1].decision.job &&
	       answer->rows[0].decision.job != answer->rows[answer->row_count - 1].decision.job)
		count--;
	page_begin(&page, &answer->arena, query);
	page.snapshot.turn = master->commits.durable;
	for (size_t i = 0; i < count; i++) {
		const struct row_decision *row = &answer->rows[i].decision;
		struct rec_decision decision = {
			.run = (uint64_t)row->run, .job = (uint64_t)row->job, .name = row->job_name,
			.round = (uint64_t)row->round & UINT16_MAX, .person = row->name, .reason = row->reason,
			.verdict = (uint64_t)row->verdict, .wall_ms = row->wall_ms, .target = row->target_name,
			.self = row->self != 0, .given = row->given,
		};

		if (name.len > 0 && !slice_eq(name, row->job_name))
			continue;
		if (!page_add_decision(&page, &decision)) {
			full = true;
			break;
		}
		page.snapshot.cursor = decision.job;
	}
	if (!full)
		page.snapshot.cursor = 0;
	else if (page.snapshot.decisions.n == 0)
		page.snapshot.cursor = (uint64_t)answer->rows[count - 1].decision.job;
	if (session)
		session_send(session, OP_SNAPSHOT, &page.snapshot);
	query_free(master, history->query);
	history_forget(history);
	history_free_answer(answer);
}

/* Send a page of tries. The tries of a job stay together: at most LIMIT_TRIES_KEPT, and those of older generations. */
void history_tries(struct master *master, struct history *history, struct store_query *answer)
{
	const struct query *query = history->query;
	struct peer_session *session = session_find(master, query->conn);
	bool full = answer->row_count == LIMIT_QUERY_ROWS_MAX;
	size_t count = answer->row_count;
	struct answer_page page;

	while (full && count > 1 && answer->rows[count - 1].attempt.job == answer->rows[answer->row_count - 1].attempt.job &&
	       answer->rows[0].attempt.job != answer->rows[answer->row_count - 1].attempt.job)
		count--;
	page_begin(&page, &answer->arena, query);
	page.snapshot.turn = master->commits.durable;
	for (size_t i = 0; i < count; i++) {
		const struct row_attempt *row = &answer->rows[i].attempt;
		struct rec_worker_row worker = { 0 };
		struct rec_try_row tried = {
			.job = (uint64_t)row->job, .epoch = (uint64_t)row->epoch, .round = (uint64_t)row->round,
			.pass = (uint64_t)row->pass, .try_no = (uint64_t)row->try, .outcome = (uint64_t)row->outcome,
			.code = (uint64_t)row->code, .stop_cause = (uint64_t)row->stop_cause, .started_ms = row->started_ms,
			.ended_ms = row->ended_ms, .cpu_us = (uint64_t)row->cpu_us, .rss_kib = (uint64_t)row->rss_kib,
			.out_bytes = (uint64_t)row->out_bytes, .child = (uint64_t)row->child,
		};

		if (row->worker > 0 && view_worker(master->core, (uint64_t)row->worker, NULL, &worker))
			tried.worker = worker.name;
		if (!page_add_try(&page, &tried)) {
			full = true;
			page.snapshot.cursor = tried.job;
			while (page.snapshot.tries.n > 1 && page.snapshot.tries.at[page.snapshot.tries.n - 1].job == tried.job)
				page.snapshot.tries.n--;
			break;
		}
		page.snapshot.cursor = tried.job + 1;
	}
	if (!full)
		page.snapshot.cursor = 0;
	if (session)
		session_send(session, OP_SNAPSHOT, &page.snapshot);
	query_free(master, history->query);
	history_forget(history);
	history_free_answer(answer);
}
