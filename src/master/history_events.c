/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns the rows of events into answers, with the names of jobs, runs and workers instead of their numbers. A
 * follower's query waits here while there are no new events, and is asked again when a turn with events is durable. An
 * answer says where to continue: the turn, and how many of its events were already sent. So no event is sent twice or
 * left out, also after a restart of the master.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "master/history.h"

struct event_answer {                    /* an answer that is being made */
	struct master *master;
	const struct query *query;
	const struct store_query *answer;
	size_t event_count;              /* number of rows of events; rows of acts follow them */
	struct answer_page page;
	uint64_t turn, told;             /* where to continue: the turn, and how many of its events were sent */
	uint64_t looked;                 /* records so far */
	bool full;
};

static int compare_jobs_cb(const void *a, const void *b)
{
	const struct store_job *left = a, *right = b;

	return (left->row.job > right->row.job) - (left->row.job < right->row.job);
}

static const struct store_job *job_of(const struct store_query *answer, uint64_t job)
{
	const struct store_job key = { .row.job = (int64_t)job };

	return answer->job_count ? bsearch(&key, answer->jobs, answer->job_count, sizeof(key), compare_jobs_cb) : NULL;
}

static void job_event(const struct event_answer *making, const struct rec_event *event, struct rec_event_row *row)
{
	const struct store_job *job = job_of(making->answer, event->job);
	struct rec_worker_row worker;

	row->job = event->job;
	row->from = event->from;
	row->event = event->event;
	row->to = event->to;
	row->epoch = event->epoch;
	if (event->worker > 0 && view_worker(making->master->core, event->worker, NULL, &worker))
		row->worker = worker.name;
	if (!job)
		return;
	row->run = (uint64_t)job->row.run;
	row->name = job->name;
	/* The job's row only has the end of the latest attempt. */
	if ((uint64_t)job->row.epoch == event->epoch && job->row.outcome > 0 && event->from != STATE_WAITING &&
	    event->from != STATE_READY && (state_terminal((enum job_state)event->to) || event->to == STATE_DELAYED)) {
		row->outcome = (uint64_t)job->row.outcome;
		row->code = (uint64_t)job->row.code;
	}
}

static void act_event(struct event_answer *making, uint64_t number, struct rec_event_row *row)
{
	const struct store_query *answer = making->answer;

	for (size_t i = making->event_count; i < answer->row_count; i++) {
		const struct row_act *act = &answer->rows[i].act;

		if ((uint64_t)act->act != number)
			continue;
		row->run = (uint64_t)act->run;
		row->act.at = arena_alloc(making->page.arena, sizeof(*row->act.at));
		row->act.n = 1;
		history_act_row(act, row->act.at);
	}
}

static void other_event(struct event_answer *making, const struct rec_happening *happening, struct rec_event_row *row)
{
	row->kind = happening->kind;
	row->name = happening->name;
	row->detail = happening->detail;
	switch (happening->kind) {
	case HAPPENED_RUN_BEGAN:
	case HAPPENED_RUN_ENDED:
	case HAPPENED_RUN_PRUNED:
	case HAPPENED_SCHEDULE_FIRED:
		row->run = happening->number;
		break;
	case HAPPENED_ACT:
		act_event(making, happening->number, row);
		break;
	case HAPPENED_MASTER_BEGAN:
		row->detail = happening->number;
		break;
	case HAPPENED_CRASH_LOOP:
		row->job = happening->number;
		row->run = happening->detail;
		row->detail = 0;
		break;
	default:
		break;
	}
}

static bool event_wanted(const struct query *query, const struct rec_event_row *row)
{
	const struct query_filter *filter = query->filter;

	if (query->run != 0 && row->run != query->run)
		return false;
	if (row->wall_ms < query->since_ms)
		return false;
	return !filter || filter->kinds == 0 || (row->kind < 64 && filter->kinds >> row->kind & 1);
}

/* Has the turn come after the end of the wanted time? Then so have all later ones. */
static bool is_over(const struct query *query, const struct row_event *stored)
{
	return query->until_ms != 0 && stored->wall_ms >= query->until_ms;
}

/* Add the events of a turn, except the first ones that were sent before. */
static void turn_tell(struct event_answer *making, const struct row_event *stored, uint64_t skip)
{
	struct slice body = stored->body;
	uint64_t at;

	making->turn = (uint64_t)stored->turn;
	making->told = 0;
	for (at = 0; body.len > 0; at++) {
		struct rec_event_row row = { .turn = (uint64_t)stored->turn, .wall_ms = stored->wall_ms };
		bool other = happening_is_next(body);
		struct rec_happening happening;
		struct rec_event event;

		if (making->looked == EVENTS_MOST)
			making->full = true;
		if (making->full)
			break;
		if (record_decode(other ? REC_happening : REC_event, &body, making->page.arena, other ? (void *)&happening : &event,
				  NULL) != ERR_NONE)
			break;
		if (at < skip)
			continue;
		if (other)
			other_event(making, &happening, &row);
		else
			job_event(making, &event, &row);
		if (event_wanted(making->query, &row) && !page_add_event(&making->page, &row)) {
			making->full = true;
			break;
		}
		making->looked++;
	}
	if (making->full) {
		making->told = at;
		return;
	}
	making->turn = (uint64_t)stored->turn + 1;
}

/* Keep the query until there are events; it continues behind the events that it has examined. */
static void wait_for_events(struct master *master, struct query *query, const struct event_answer *making)
{
	query->cursor = making->turn;
	query->filter->skip = making->told;
	query->since_ms = making->turn > 0 ? 0 : query->since_ms;
	line_reader_done(master, query->askers, READER_STORE);
	query->under_way = false;
	query->next = master->waiting;
	master->waiting = query;
}

void history_events(struct master *master, struct history *history, struct store_query *answer)
{
	struct query *query = history->query;
	struct event_answer making = { .master = master, .query = query, .answer = answer, .turn = answer->from };
	struct peer_session *session = session_find(master, query->conn);
	uint64_t skip = query->filter ? query->filter->skip : 0;
	bool more, over = false;

	page_begin(&making.page, &answer->arena, query);
	making.page.past = answer;
	while (making.event_count < answer->row_count && answer->rows[making.event_count].table == TABLE_event)
		making.event_count++;
	for (size_t i = 0; i < making.event_count && !making.full && !over; i++) {
		over = is_over(query, &answer->rows[i].event);
		if (!over)
			turn_tell(&making, &answer->rows[i].event, (uint64_t)answer->rows[i].event.turn == query->cursor ? skip : 0);
	}
	more = !over && (making.full || answer->more);
	if (session && query->filter && query->filter->wait && making.page.snapshot.events.n == 0) {
		wait_for_events(master, query, &making);
		history_forget(history);
		history_free_answer(answer);
		/* A turn may have become durable since the store was read. */
		if (more || master->events_turn >= query->cursor)
			history_events_came(master);
		return;
	}
	making.page.snapshot.turn = master->commits.durable;
	making.page.snapshot.next_turn = making.turn;
	making.page.snapshot.skip = making.told;
	making.page.snapshot.cursor = more ? making.turn : 0;
	if (session)
		session_send(session, OP_SNAPSHOT, &making.page.snapshot);
	query_free(master, query);
	history_forget(history);
	history_free_answer(answer);
}

void history_events_came(struct master *master)
{
	while (master->waiting) {
		struct query *query = master->waiting;

		master->waiting = query->next;
		query->next = NULL;
		line_add_first(master, query);
	}
}

void history_forget_waiting(const struct peer_session *session)
{
	struct query **at = &session->master->waiting;

	while (*at) {
		struct query *query = *at;

		if (query->conn != session->id) {
			at = &query->next;
			continue;
		}
		*at = query->next;
		query_free(session->master, query);
	}
}
