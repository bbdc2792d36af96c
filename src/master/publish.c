/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Subscriptions: first a snapshot in pages, then changed rows, always whole (publish_delta.c). A subscription keeps
 * only the numbers of changed things, so a slow subscriber costs a limited amount of memory. A subscriber that doesn't
 * read is cut. When it reads again, or resumes over another connection, it gets the changes since then if recent.c
 * still knows them; otherwise a new snapshot.
 */
#include "master/publish.h"

#include "base/mem.h"
#include "master/sight.h"

#define SWEEP_NS   NS_PER_S              /* longest time that ended runs stay in memory for subscribers */
#define IDS_MAX    (1u << 20)            /* most changes kept for a slow subscriber; with more it is cut */

/* ---- subscriptions ---- */

bool sub_has_changes(const struct sub *sub)
{
	return sub->runs.n > 0 || sub->jobs.n > 0 || sub->workers.n > 0;
}

static void drop_changes(struct sub *sub)
{
	sub->runs.n = 0;
	sub->jobs.n = 0;
	sub->workers.n = 0;
}

static void sub_free(struct sub *sub)
{
	ids_free(&sub->runs);
	ids_free(&sub->jobs);
	ids_free(&sub->workers);
	mem_free(sub);
}

struct publisher *publisher_new(const struct master_options *options)
{
	struct publisher *publisher = mem_zalloc(sizeof(*publisher));

	publisher->recent = recent_new(options->recent_changes);
	publisher->queue_max = options->sub_queue ? options->sub_queue : LIMIT_SUB_QUEUE_MAX;
	return publisher;
}

void publisher_free(struct publisher *publisher)
{
	if (!publisher)
		return;
	while (publisher->subs) {
		struct sub *sub = publisher->subs;

		publisher->subs = sub->next;
		sub_free(sub);
	}
	recent_free(publisher->recent);
	mem_free(publisher);
}

static struct sub *find(const struct master *master, const struct query *query)
{
	struct sub *sub = master->publisher->subs;

	while (sub && sub->stamp != query->of_sub)
		sub = sub->next;
	return sub;
}

bool publish_wants(const struct master *master, const struct query *query)
{
	return query->of_sub == 0 || find(master, query);
}

void sub_begin_snapshot(struct master *master, struct sub *sub)
{
	sub->paging = true;
	sub->page_out = false;
	sub->live_only = false;
	sub->cut = false;
	sub->more = false;
	sub->resumed = false;
	sub->cursor = 0;
	sub->began = recent_turn(master->publisher->recent);
	sub->told = 0;
	drop_changes(sub);
	master_stay_awake(master);
}

static void collect(struct sub *sub, const struct changed *changed)
{
	bool runs = sub->what == QUERY_RUNS;

	switch (changed->kind) {
	case CHANGED_RUN_ENDED:
		sub->hurry |= changed->id == sub->run;
		/* fall through */
	case CHANGED_RUN:
		if (sub->run == 0 ? !sight_hides(&sub->sight, changed->id) : changed->id == sub->run)
			ids_add(&sub->runs, changed->id);
		break;
	case CHANGED_JOB:
		if (!runs && changed->run == sub->run)
			ids_add(&sub->jobs, changed->id);
		break;
	case CHANGED_WORKER:
		if (runs && sub->run == 0)
			ids_add(&sub->workers, changed->id);
		break;
	}
}

bool sub_resume(struct master *master, struct sub *sub, uint64_t mark)
{
	const struct recent *recent = master->publisher->recent;
	const struct changed *changed;
	struct rec_run_row run;
	uint64_t turn;
	size_t back = 0;

	if (mark == 0 || !recent_knows(recent, mark, &turn) ||
	    (sub->run != 0 && (!view_run(master->core, sub->run, &master->scratch, &run) || !sight_run(&sub->sight, sub->run))))
		return false;
	while ((changed = recent_before(recent, turn, &back)))
		collect(sub, changed);
	sub->cut = false;
	sub->resumed = true;
	sub->told = mark;
	master_stay_awake(master);
	return true;
}

enum err publish_subscribe(struct peer_session *session, const struct msg_subscribe *msg, struct error *error)
{
	struct master *master = session->master;
	struct sub *sub;
	size_t count = 0;

	if (msg->what != QUERY_RUNS && msg->what != QUERY_JOBS)
		return error_set(error, ERR_INVALID, "SUBSCRIBE: what must be RUNS or JOBS, not %llu",
				 (unsigned long long)msg->what);
	for (sub = master->publisher->subs; sub; sub = sub->next) {
		if (sub->conn == session->id && sub->id == msg->id)
			return error_set(error, ERR_DUPLICATE, "there already is a subscription %llu on this "
				"connection",
					 (unsigned long long)msg->id);
		count += sub->conn == session->id;
	}
	if (count >= SUBS_MAX)
		return error_set(error, ERR_FULL, "a connection may have at most %d subscriptions", SUBS_MAX);
	sub = mem_zalloc(sizeof(*sub));
	sub->conn = session->id;
	sub->id = msg->id;
	sub->stamp = ++master->publisher->stamps;
	sub->what = msg->what;
	sub->run = msg->run;
	sub->sight = sight_of(session);
	sub->next = master->publisher->subs;
	master->publisher->subs = sub;
	if (!sub_resume(master, sub, msg->since))
		sub_begin_snapshot(master, sub);
	return ERR_NONE;
}

/* Remove a subscription, or with all set, all of the connection. */
static bool unsubscribe(struct master *master, uint64_t conn, uint64_t id, bool all)
{
	struct sub **at = &master->publisher->subs;
	bool any = false;

	while (*at) {
		struct sub *sub = *at;

		if (sub->conn == conn && (all || sub->id == id)) {
			*at = sub->next;
			sub_free(sub);
			any = true;
		} else {
			at = &sub->next;
		}
	}
	return any;
}

bool publish_unsubscribe(struct peer_session *session, uint64_t id)
{
	return unsubscribe(session->master, session->id, id, false);
}

void publish_forget(struct master *master, uint64_t conn)
{
	unsubscribe(master, conn, 0, true);
}

/* ---- snapshots ---- */

bool sub_has_room(const struct master *master, const struct peer_session *session)
{
	return session_queued(session) <= master->publisher->queue_max / 2;
}

void publish_ask(struct master *master)
{
	for (struct sub *sub = master->publisher->subs; sub; sub = sub->next) {
		struct peer_session *session = session_find(master, sub->conn);
		struct query *query;

		if (!sub->paging || sub->page_out || !session || !sub_has_room(master, session))
			continue;
		query = query_new(session, sub->id, sub->what);
		query->run = sub->run;
		query->cursor = sub->cursor;
		if (sub->what == QUERY_RUNS && sub->run) {
			query->cursor = sub->run + 1;
			query->limit = 1;
		}
		query->live_only = sub->live_only;
		query->of_sub = sub->stamp;
		sub->page_out = true;
	}
}

uint64_t publish_page(struct master *master, const struct query *query, uint64_t cursor)
{
	struct sub *sub = find(master, query);

	if (!sub)
		return 0;
	sub->page_out = false;
	sub->cursor = cursor;
	sub->live_only = sub->what == QUERY_RUNS;
	sub->paging = cursor != 0;
	if (sub->paging)
		master_stay_awake(master);
	else if (!sub->more)
		sub->told = recent_mark(master->publisher->recent, sub->began);
	return sub->told;
}

void publish_refused(struct master *master, const struct query *query)
{
	if (find(master, query))
		unsubscribe(master, query->conn, query->id, false);
}

void publish_workers(struct master *master, const struct query *query, uint64_t after)
{
	struct sub *sub = find(master, query);

	if (!sub || after == 0)
		return;
	sub->more = true;
	while ((after = view_worker_after(master->core, after)))
		ids_add(&sub->workers, after);
}

/* ---- changes ---- */

void sub_cut(struct master *master, struct sub *sub)
{
	sub->cut = true;
	master->stats.sub_cuts++;
	master->stats.sub_drops += sub->runs.n + sub->jobs.n + sub->workers.n;
	drop_changes(sub);
}

void publish_collect(struct master *master, const struct outbox *outbox)
{
	recent_add(master->publisher->recent, outbox);
	for (struct sub *sub = master->publisher->subs; sub; sub = sub->next) {
		for (size_t i = 0; !sub->cut && i < outbox->change_count; i++)
			collect(sub, &outbox->changes[i]);
		if (sub->runs.n + sub->jobs.n + sub->workers.n <= IDS_MAX)
			continue;
		sub_cut(master, sub);
	}
}

bool publish_may_sweep(struct master *master)
{
	struct publisher *publisher = master->publisher;

	for (const struct sub *sub = publisher->subs; sub; sub = sub->next)
		if ((sub->paging || sub_has_changes(sub)) && master->now.mono_ns - publisher->swept_ns < SWEEP_NS)
			return false;
	publisher->swept_ns = master->now.mono_ns;
	return true;
}
