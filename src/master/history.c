/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers about runs that have left memory, read from the store by key, one page at a time, while the loop goes on. The
 * rows of an ended run change only if somebody opens a new round, so such answers are sent at once. A page of runs goes
 * back to the queries, because some of its runs may be live. For a new round the whole run is read and passed to the
 * core as an input; only one such read of a run may be under way, because a second would bring outdated rows.
 */
#include "master/history.h"

#include "base/mem.h"
#include "master/sight.h"

#define SPECS_KEPT (64u << 20)           /* most bytes of a graph kept in memory for the next page */

void history_free_answer(struct store_query *answer)
{
	if (!answer)
		return;
	arena_free(&answer->arena);
	mem_free(answer);
}

static void answers_free(struct store_query *answer)
{
	while (answer) {
		struct store_query *next = answer->next;

		history_free_answer(answer);
		answer = next;
	}
}

bool history_of_one(const struct query *query)
{
	return query->what == QUERY_JOB || query->what == QUERY_EXPLAIN;
}

static bool reopens(const struct query *query)
{
	return query->what == QUERY_IS_ACT &&
	       (query->verb == ACT_RETRY || query->verb == ACT_REQUEUE || query->verb == ACT_DISCARD ||
		query->verb == ACT_REINSTATE);
}

static void specs_release(struct specs *specs)
{
	if (!specs || --specs->holders > 0)
		return;
	history_free_answer(specs->answer);
	mem_free(specs);
}

void history_forget(struct history *history)
{
	*history->at = history->next;
	if (history->next)
		history->next->at = history->at;
	history_free_answer(history->run);
	answers_free(history->jobs);
	mem_free(history->rows);
	specs_release(history->specs);
	mem_free(history);
}

static void ask(struct master *master, struct history *history, enum stage stage, enum store_what what,
		uint64_t from, uint64_t limit)
{
	struct store_query *question = mem_zalloc(sizeof(*question));

	history->stage = stage;
	history->question = question;
	question->what = what;
	question->run = history->query->run;
	question->from = from;
	question->limit = limit;
	question->owner = history;
	if (what == READ_EVENTS) {
		question->since_ms = history->query->since_ms;
		question->skip = history->query->filter ? history->query->filter->skip : 0;
	}
	if (what == READ_RUNS)
		question->run = history->query->cursor;
	question->wants_owners = !history->query->sight.all && (what == READ_EVENTS || what == READ_ACTS_DOWN);
	store_ask(master->store, question);
}

static size_t page_limit(const struct query *query)
{
	return query->limit > 0 && query->limit < LIMIT_QUERY_ROWS_MAX ? (size_t)query->limit : LIMIT_QUERY_ROWS_MAX;
}

void history_ask(struct master *master, struct query *query)
{
	struct history *history;

	if (!query->under_way && !line_take_reader(master, query, READER_STORE))
		return;
	query->under_way = true;
	history = mem_zalloc(sizeof(*history));
	history->query = query;
	history->next = master->histories;
	history->at = &master->histories;
	if (history->next)
		history->next->at = &history->next;
	master->histories = history;
	if (sight_asks_first(query))
		ask(master, history, STAGE_RUN, READ_RUN, 0, 1);
	else if (query->what == QUERY_DEAD)
		ask(master, history, STAGE_DEAD, READ_DEAD, query->cursor ? query->cursor : INT64_MAX, page_limit(query));
	else if (query->what == QUERY_DECISIONS)
		ask(master, history, STAGE_DECISIONS, READ_DECISIONS, query->cursor ? query->cursor : INT64_MAX, 0);
	else if (query->what == QUERY_ACTS)
		ask(master, history, STAGE_ACTS, READ_ACTS_DOWN, query->cursor ? query->cursor : INT64_MAX,
		    query->filter || query->run || query->until_ms ? 0 : page_limit(query));
	else if (query->what == QUERY_EVENTS)
		ask(master, history, STAGE_EVENTS, READ_EVENTS, query->cursor, 0);
	else if (query->what == QUERY_PRUNED)
		ask(master, history, STAGE_PRUNED, READ_PRUNED_DOWN, query->cursor ? query->cursor : INT64_MAX, page_limit(query));
	else if (query->what == QUERY_TRIES)
		ask(master, history, STAGE_TRIES, READ_ATTEMPTS, query->cursor, page_limit(query));
	else if (query->what == QUERY_RUNS)
		/* An asker who sees few of the runs would need many pages, so more rows are read at once. */
		ask(master, history, STAGE_RUNS, READ_RUNS, 0, query->sight.all ? page_limit(query) : LIMIT_QUERY_ROWS_MAX);
	else
		ask(master, history, STAGE_RUN, READ_RUN, 0, 1);
}

/* ---- answers ---- */

static void refuse(struct master *master, struct history *history, const struct error *error)
{
	struct peer_session *session = session_find(master, history->query->conn);

	if (session && publish_wants(master, history->query))
		session_refuse(session, history->query->id, error);
	if (history->query->of_sub)
		publish_refused(master, history->query);
	query_free(master, history->query);
	history_forget(history);
}

/* Refuse an act on a run that has ended and left memory. spec: the specification of the named job, or NULL. */
static void refuse_ended(struct master *master, struct history *history, const struct rec_job_spec *spec)
{
	const struct query *query = history->query;
	unsigned long long run = query->run;
	struct error error;

	if (spec && spec->gate_count == 0 && (query->verb == ACT_APPROVE || query->verb == ACT_REJECT || query->verb == ACT_PUSHBACK)) {
		error_set(&error, ERR_INVALID, "job %llu/%.*s is no gate, so nobody can decide on it", run,
			  (int)query->job_len, (const char *)query->job);
		error_next(&error, "titan approvals");
	} else {
		error_set(&error, ERR_TERMINAL, "run %llu has already ended", run);
		error_next(&error, "titan show %llu", run);
	}
	refuse(master, history, &error);
}

static void act_with_specs(struct master *master, struct history *history)
{
	const struct query *query = history->query;
	struct arena arena = { 0 };
	struct rec_job_spec spec;
	struct error error;

	if (walk_find(history->specs->answer, query, &history->index)) {
		struct graph_walk walk = { .specs = history->specs->answer };

		refuse_ended(master, history, walk_to(&walk, history->index, &arena, &spec) ? &spec : NULL);
	} else {
		query_no_job(&error, query);
		refuse(master, history, &error);
	}
	arena_free(&arena);
}

static void with_specs(struct master *master, struct history *history)
{
	const struct query *query = history->query;
	struct graph_serials serials;
	struct error error;

	if (query->what == QUERY_IS_AGAIN) {
		graphs_again(master, query, &history->run->rows[0].run, history->specs->answer);
		query_free(master, history->query);
		history_forget(history);
		return;
	}
	if (query->what == QUERY_SPECS) {
		history_specs(master, history);
		return;
	}
	if (reopens(query)) {
		ask(master, history, STAGE_JOBS, READ_JOBS, 0, 0);
		return;
	}
	if (query->what == QUERY_IS_ACT) {
		act_with_specs(master, history);
		return;
	}
	if (history_of_one(query) && !walk_find(history->specs->answer, query, &history->index)) {
		query_no_job(&error, query);
		refuse(master, history, &error);
		return;
	}
	serials_begin(&serials, history->specs->answer, (uint64_t)history->run->rows[0].run.first);
	ask(master, history, STAGE_JOBS, READ_JOBS, serials_of(&serials, history->index),
	    history_of_one(query) ? 1 : page_limit(query));
}

/* ---- a new round of a run that has left memory ---- */

static bool reopen_under_way(const struct master *master, const struct history *history)
{
	for (const struct history *other = master->histories; other; other = other->next)
		if (other != history && reopens(other->query) && other->query->run == history->query->run)
			return true;
	return false;
}

static size_t rows_copy(struct row *rows, size_t count, const struct store_query *answer)
{
	memcpy(rows + count, answer->rows, answer->row_count * sizeof(*rows));
	return count + answer->row_count;
}

/* Pass the rows to the core. The memory that they point to is kept until the turn is over. */
static void reopen(struct master *master, struct history *history)
{
	const struct query *query = history->query;
	const struct peer_session *session = session_find(master, query->conn);
	struct store_query *pages = NULL;
	size_t count = 1 + history->specs->answer->row_count;
	struct core_input *input;

	while (history->jobs) {
		struct store_query *page = history->jobs;

		history->jobs = page->next;
		page->next = pages;
		pages = page;
		count += page->row_count;
	}
	history->jobs = pages;
	history->question = NULL;
	history->rows = mem_array(count, sizeof(*history->rows));
	count = rows_copy(history->rows, 0, history->run);
	count = rows_copy(history->rows, count, history->specs->answer);
	for (const struct store_query *page = pages; page; page = page->next)
		count = rows_copy(history->rows, count, page);
	input = inbox_add(master, INPUT_REOPEN, session, query->id, count * sizeof(*history->rows));
	input->reopen = (struct input_reopen){
		.act = { .verb = query->verb, .run = query->run, .value = query->value },
		.rows = history->rows, .row_count = count, .owner = history,
	};
	/* If the client is gone, so is the name that limits the act to its own runs; "?" matches no owner. */
	if (query->own_only)
		input->reopen.act.own_only = arena_copy(&master->inbox.arena, slice_str(session ? session->principal.name : "?"));
	input->reopen.act.job = arena_copy(&master->inbox.arena, slice_make(query->job, query->job_len));
	master_stay_awake(master);
}

void history_reopened(struct master *master, struct history *history)
{
	query_free(master, history->query);
	history_forget(history);
}

/* Take a page of jobs. The run's number of jobs tells whether more pages follow. */
static void on_reopen_jobs(struct master *master, struct history *history, struct store_query *answer)
{
	const struct row_run *run = &history->run->rows[0].run;
	struct graph_serials serials;
	bool more;

	serials_begin(&serials, history->specs->answer, (uint64_t)run->first);
	more = answer->row_count > 0 && (uint64_t)answer->rows[answer->row_count - 1].job.job <
					       serials_of(&serials, (uint64_t)run->jobs - 1);
	answer->next = history->jobs;
	history->jobs = answer;
	if (more)
		ask(master, history, STAGE_JOBS, READ_JOBS,
		    (uint64_t)answer->rows[answer->row_count - 1].job.job + 1, 0);
	else
		reopen(master, history);
}

/* Put the query back in its line: it waited only to find out what its asker may see. */
static void back_in_line(struct master *master, struct history *history)
{
	line_reader_done(master, history->query->askers, READER_STORE);
	history->query->under_way = false;
	line_add_first(master, history->query);
	history_forget(history);
}

static void on_run(struct master *master, struct history *history, struct store_query *answer)
{
	struct query *query = history->query;
	bool asks_first = sight_asks_first(query);
	struct error error;

	history->run = answer;
	if (!sight_finds(master, query, answer->row_count > 0 ? &answer->rows[0].run : NULL) && !asks_first) {
		query_no_run(master, &error, query);
		refuse(master, history, &error);
		return;
	}
	if (asks_first) {
		back_in_line(master, history);
		return;
	}
	if (reopens(query) && reopen_under_way(master, history)) {
		error_set(&error, ERR_BUSY, "run %llu is being loaded for another retry; try again",
			  (unsigned long long)query->run);
		refuse(master, history, &error);
		return;
	}
	if (query->what == QUERY_IS_ACT && !reopens(query) && query->job_len == 0) {
		refuse_ended(master, history, NULL);
		return;
	}
	history->index = query->cursor;
	/* The kept graph may be outdated: the run may have been opened again since and have more jobs now. */
	if (master->specs && master->specs->run == query->run && master->specs->jobs == (uint64_t)answer->rows[0].run.jobs) {
		history->specs = master->specs;
		history->specs->holders++;
		with_specs(master, history);
	} else {
		ask(master, history, STAGE_SPECS, READ_SPECS, 0, 0);
	}
}

static void on_specs(struct master *master, struct history *history, struct store_query *answer)
{
	uint64_t jobs = 0;
	size_t bytes = 0;

	for (size_t i = 0; i < answer->row_count; i++) {
		bytes += answer->rows[i].spec.body.len;
		jobs += (uint64_t)answer->rows[i].spec.count;
	}
	history->specs = mem_zalloc(sizeof(*history->specs));
	*history->specs = (struct specs){ .holders = 1, .run = history->query->run, .jobs = jobs, .answer = answer };
	if (bytes <= SPECS_KEPT) {
		specs_release(master->specs);
		master->specs = history->specs;
		master->specs->holders++;
	}
	with_specs(master, history);
}

void history_answers(struct master *master)
{
	struct store_query *answer;

	while ((answer = store_answer(master->store))) {
		struct history *history = answer->owner;

		if (answer->owner == master->pruner) {
			prune_answer(master, answer);
			continue;
		}
		switch (history->stage) {
		case STAGE_DEAD:
		case STAGE_RUNS:
			history->query->found = answer;
			line_add_first(master, history->query);
			history_forget(history);
			break;
		case STAGE_DECISIONS:
			history_decisions(master, history, answer);
			break;
		case STAGE_ACTS:
			history_acts(master, history, answer);
			break;
		case STAGE_PRUNED:
			history_pruned(master, history, answer);
			break;
		case STAGE_EVENTS:
			history_events(master, history, answer);
			break;
		case STAGE_TRIES:
			history_tries(master, history, answer);
			break;
		case STAGE_RUN:
			on_run(master, history, answer);
			break;
		case STAGE_SPECS:
			on_specs(master, history, answer);
			break;
		case STAGE_JOBS:
			if (reopens(history->query))
				on_reopen_jobs(master, history, answer);
			else
				history_jobs(master, history, answer);
			break;
		}
	}
}

/* Free everything. The store is closed, so this file owns the queries that the store had. */
void history_free(struct master *master)
{
	while (master->histories) {
		struct history *history = master->histories;

		history_free_answer(history->question);
		query_free(master, history->query);
		history_forget(history);
	}
	specs_release(master->specs);
	master->specs = NULL;
}
