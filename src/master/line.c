/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of questions. Each connection has its own line, and connections are answered in turn, one question
 * each, so a peer with many questions delays only itself. A turn answers as many questions as the budget allows
 * (budget.h), separately for people and jobs; the rest wait for the next turn, after all other input.
 *
 * A connection is in one list at most: in its class's line, or in held until the store or the logs have less to do.
 * A connection with too many unread answers is in no list until it has read them. The questions of a peer that has
 * hung up are dropped. A log reading that finds no room waits here, too.
 */
#include "master/internal.h"

#include "base/check.h"
#include "base/mem.h"
#include "master/logs.h"
#include "master/sight.h"

static bool reader_is_free(const struct askers *askers, enum reader reader)
{
	return askers->under_way[reader] < askers->budget.under_way[reader];
}

static bool has_room(const struct askers *askers)
{
	return askers->unread < askers->budget.unread_bytes;
}

/* ---- lists of sessions ---- */

static void list_remove(struct peer_session *session)
{
	struct session_list *list = session->list;

	if (!list)
		return;
	*(session->list_prev ? &session->list_prev->list_next : &list->first) = session->list_next;
	*(session->list_next ? &session->list_next->list_prev : &list->last) = session->list_prev;
	session->list = NULL;
	session->list_prev = session->list_next = NULL;
}

static void list_move(struct peer_session *session, struct session_list *list)
{
	list_remove(session);
	session->list = list;
	session->list_prev = list->last;
	*(list->last ? &list->last->list_next : &list->first) = session;
	list->last = session;
}

/* ---- in line ---- */

static void rested_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct master *master = timer->data;

	(void)loop;
	(void)events;
	master->asked = true;
}

void line_init(struct master *master)
{
	static const struct budget budgets[ASKERS_CLASSES] = { BUDGET_PEOPLE, BUDGET_JOBS };

	for (int i = 0; i < ASKERS_CLASSES; i++) {
		master->askers[i].budget = budgets[i];
		ev_init(&master->askers[i].rest_timer, rested_cb);
		master->askers[i].rest_timer.data = master;
	}
}

void line_open(struct peer_session *session)
{
	session->askers = &session->master->askers[session->caller.job != 0 ? ASKERS_JOBS : ASKERS_PEOPLE];
	conn_set_tally(session->conn, &session->askers->unread);
	conn_set_frames_at_once(session->conn, session->askers->budget.frames);
}

void line_go_on(struct peer_session *session)
{
	if (!session->asked || session->list)
		return;
	list_move(session, &session->askers->line);
	session->master->asked = true;
}

void line_add(struct peer_session *session, struct query *query)
{
	query->next = NULL;
	*(session->asked ? &session->asked_last->next : &session->asked) = query;
	session->asked_last = query;
	line_go_on(session);
}

static void put_first(struct peer_session *session, struct query *query)
{
	query->next = session->asked;
	session->asked = query;
	if (!query->next)
		session->asked_last = query;
}

void line_add_first(struct master *master, struct query *query)
{
	struct peer_session *session = session_find(master, query->conn);

	if (!session) {
		query_free(master, query);
		return;
	}
	put_first(session, query);
	list_move(session, &session->askers->line);
	master->asked = true;
}

static struct query *take(struct peer_session *session, struct query **at)
{
	struct query *query = *at;

	*at = query->next;
	query->next = NULL;
	session->asked_last = session->asked;
	while (session->asked_last && session->asked_last->next)
		session->asked_last = session->asked_last->next;
	return query;
}

void line_forget(struct peer_session *session)
{
	list_remove(session);
	history_forget_waiting(session);
	while (session->asked)
		query_free(session->master, take(session, &session->asked));
}

/* ---- readers: the store, and the thread of the logs ---- */

bool line_take_reader(struct master *master, struct query *query, enum reader reader)
{
	struct askers *askers = query->askers;
	struct peer_session *session = session_find(master, query->conn);

	if (reader_is_free(askers, reader)) {
		askers->under_way[reader]++;
		return true;
	}
	CHECK(session);
	put_first(session, query);
	list_move(session, &askers->held[reader]);
	return false;
}

void line_reader_done(struct master *master, struct askers *askers, enum reader reader)
{
	CHECK(askers->under_way[reader] > 0);
	askers->under_way[reader]--;
	if (askers->held[reader].first)
		master->asked = true;
}

/* Pass a read to the logs. They answer in order, so a ring of classes tells which class each answer is for. */
static void read_log(struct master *master, struct askers *askers, uint64_t conn, const struct msg_log_read *msg)
{
	CHECK(master->log_reader_count < LOG_READERS_MAX);
	master->log_readers[(master->log_reader_first + master->log_reader_count++) % LOG_READERS_MAX] = askers;
	logs_read(master->logs, conn, msg);
}

void line_log_answered(struct master *master)
{
	struct askers *askers = master->log_readers[master->log_reader_first];

	CHECK(master->log_reader_count > 0);
	master->log_reader_first = (master->log_reader_first + 1) % LOG_READERS_MAX;
	master->log_reader_count--;
	line_reader_done(master, askers, READER_LOGS);
}

void line_log_read(struct peer_session *session, const struct msg_log_read *msg)
{
	struct master *master = session->master;
	struct askers *askers = session->askers;
	struct sight sight = sight_of(session);
	struct query *query;

	/* Read at once if there is room; this works even while the disk is full. */
	if (!session->asked && !askers->held[READER_LOGS].first && has_room(askers) && reader_is_free(askers, READER_LOGS) &&
	    sight_run(&sight, msg->run)) {
		askers->under_way[READER_LOGS]++;
		master->stats.questions++;
		read_log(master, askers, session->id, msg);
		return;
	}
	query = query_new(session, msg->id, QUERY_IS_LOG_READ);
	query->log_read = *msg;
	query->run = msg->run;
}

/* ---- answers ---- */

/* Drop the session's queries. Acts and submits among them are still carried out. */
static void drop_questions(struct peer_session *session)
{
	struct query **at = &session->asked;

	while (*at) {
		if ((*at)->what == QUERY_IS_ACT || (*at)->what == QUERY_IS_AGAIN)
			at = &(*at)->next;
		else
			query_free(session->master, take(session, at));
	}
}

/* Take the next session that has a query which may be answered now out of its list; NULL: none. */
static struct peer_session *next_asker(struct askers *askers)
{
	for (;;) {
		struct peer_session *session = askers->line.first;

		for (int reader = 0; reader < READER_COUNT; reader++)
			if (askers->held[reader].first && reader_is_free(askers, (enum reader)reader))
				session = askers->held[reader].first;
		if (!session)
			return NULL;
		list_remove(session);
		if (conn_peer_gone(session->conn))
			drop_questions(session);
		/* A session with too many unread answers is put back when it has read them. */
		if (!session->closing && session->asked && session_queued(session) <= QUERY_QUEUE_MAX)
			return session;
	}
}

static bool may_hurry(const struct query *query)
{
	return query->what == QUERY_IS_LOG_READ || (query_may_hurry(query->what) && query->of_sub == 0);
}

/* Answer the session's next query; in a hurried turn, the next one that needs no commit. False: there is none. */
static bool answer_one(struct master *master, struct master_turn *turn, struct peer_session *session)
{
	struct query **at = &session->asked, *query = NULL;

	while (turn->hurried && *at && !may_hurry(*at))
		at = &(*at)->next;
	if (*at)
		query = take(session, at);
	if (session->asked)
		list_move(session, &session->askers->line);
	if (!query)
		return false;
	master->stats.questions++;
	if (query->what != QUERY_IS_LOG_READ) {
		query_run(master, turn, query);
	} else if (!sight_answers(master, turn, query) && line_take_reader(master, query, READER_LOGS)) {
		read_log(master, query->askers, query->conn, &query->log_read);
		query_free(master, query);
	}
	return true;
}

/* Could another query be answered now? */
static bool has_more(const struct askers *askers)
{
	bool any = askers->line.first;

	for (int reader = 0; reader < READER_COUNT; reader++)
		any |= askers->held[reader].first && reader_is_free(askers, (enum reader)reader);
	return any && has_room(askers);
}

/* Jobs have used their share of the loop's time: start the timer that ends their pause. */
static void rest(struct master *master, struct askers *askers, int64_t now_ns)
{
	if (ev_is_active(&askers->rest_timer) || !has_more(askers))
		return;
	ev_now_update(master->loop);
	ev_timer_set(&askers->rest_timer, (double)(askers->rest_until_ns - now_ns) / 1e9, 0.);
	ev_timer_start(master->loop, &askers->rest_timer);
}

static void run_class(struct master *master, struct master_turn *turn, struct askers *askers)
{
	int64_t began_ns = clock_mono_ns(), now_ns = began_ns;
	size_t count = 0, most = askers->budget.turn_questions;
	bool any = false;

	/* Look at each connection only once: some have no query that may be answered without a commit. */
	if (turn->hurried && most > master->sessions.count)
		most = master->sessions.count;
	if (began_ns < askers->rest_until_ns) {
		rest(master, askers, began_ns);
		return;
	}
	while (count < most && now_ns - began_ns < askers->budget.turn_ns && has_room(askers)) {
		struct peer_session *session = next_asker(askers);

		if (!session)
			break;
		any |= answer_one(master, turn, session);
		now_ns = clock_mono_ns();
		count++;
	}
	askers->rest_until_ns = now_ns + askers->budget.rest * (now_ns - began_ns);
	if (askers->rest_until_ns > now_ns)
		rest(master, askers, now_ns);
	else if (any && has_more(askers))
		master_stay_awake(master);
}

void line_run(struct master *master, struct master_turn *turn)
{
	master->asked = false;
	for (int i = 0; i < ASKERS_CLASSES; i++)
		run_class(master, turn, &master->askers[i]);
}

/*
 * Answer the most important queries while the disk is full: in a normal turn their answers would wait for a commit that
 * can't happen. Such an answer comes from memory: what it shows may be lost if the master ends before there is room.
 */
void line_run_hurried(struct master *master)
{
	struct master_turn *answers;

	if (!store_is_stuck(master->store))
		return;
	answers = turn_new(master);
	answers->outbox.turn = master->commits.durable;
	answers->hurried = true;
	for (int i = 0; i < ASKERS_CLASSES; i++)
		run_class(master, answers, &master->askers[i]);
	reveal_send(master, answers);
	turn_free(master, answers);
	arena_reset(&master->scratch);
}
