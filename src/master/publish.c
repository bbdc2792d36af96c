/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Subscriptions: a snapshot in pages, then whole changed rows. Each one keeps only the ids that changed, and
 * their rows are read when they leave, so a fast cluster costs a subscriber one frame each 50 ms (the end of its
 * run comes at once) and a slow subscriber costs a bounded set. Who doesn't read is cut. When it does again, or comes back
 * over another connection, it is told what changed since, where the last changes are remembered that far (recent.c);
 * otherwise it gets a fresh snapshot. Deltas leave with a turn, as everything does.
 */
#include "master/internal.h"

#include <stdlib.h>

#include "base/mem.h"

#define FLUSH_NS   (50 * NS_PER_MS)
#define SWEEP_NS   NS_PER_S              /* finished runs wait this long for subscribers, and no longer */
#define IDS_MAX    (1u << 20)            /* changes kept for one that is slow; then it is cut */

struct ids {                             /* numbers, not sorted until they are read */
	uint64_t *at;
	size_t n, cap;
};

struct sub {
	uint64_t conn, id;
	uint64_t what, run;
	bool paging;                     /* its snapshot is on the way */
	bool page_out;                   /* ... and a page of it was asked for */
	bool live_only;                  /* RUNS: the first page has the newest; then those in memory */
	bool hurry;                      /* its run has ended: somebody waits for that */
	bool cut;                        /* it doesn't read; what changes isn't kept */
	bool more;                       /* its snapshot lacks what a delta will bring */
	bool resumed;                    /* it waits for a delta, even an empty one */
	uint64_t cursor;
	uint64_t began;                  /* the turn after which its changes were kept */
	uint64_t told;                   /* the mark up to which it was sent all; 0: none */
	int64_t flushed_ns;
	struct ids runs, jobs, workers;  /* that changed since it was told */
	struct sub *next;
};

struct publisher {
	struct sub *subs;
	struct recent *recent;
	size_t queue_max;                /* bytes waiting for one before it is cut */
	int64_t swept_ns;
};

/* ---- ids ---- */

static int compare_cb(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void ids_sort(struct ids *ids)
{
	size_t kept = 0;

	if (ids->n == 0)
		return;
	qsort(ids->at, ids->n, sizeof(*ids->at), compare_cb);
	for (size_t i = 0; i < ids->n; i++)
		if (kept == 0 || ids->at[kept - 1] != ids->at[i])
			ids->at[kept++] = ids->at[i];
	ids->n = kept;
}

static void ids_add(struct ids *ids, uint64_t id)
{
	if (ids->n > 0 && ids->at[ids->n - 1] == id)
		return;
	if (ids->n == ids->cap) {
		/* Mostly the same ones again: grow only when sorting them makes no room. */
		ids_sort(ids);
		if (ids->n >= ids->cap / 2) {
			ids->cap = ids->cap ? ids->cap * 2 : 64;
			ids->at = mem_resize(ids->at, ids->cap, sizeof(*ids->at));
		}
	}
	ids->at[ids->n++] = id;
}

static void ids_drop(struct ids *ids, size_t count)
{
	ids->n -= count;
	if (ids->n > 0)
		memmove(ids->at, ids->at + count, ids->n * sizeof(*ids->at));
}

static void ids_free(struct ids *ids)
{
	mem_free(ids->at);
	*ids = (struct ids){ 0 };
}

/* ---- subscriptions ---- */

static bool has_changes(const struct sub *sub)
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

static struct sub *find(const struct master *master, uint64_t conn, uint64_t id)
{
	struct sub *sub = master->publisher->subs;

	while (sub && (sub->conn != conn || sub->id != id))
		sub = sub->next;
	return sub;
}

static void begin_snapshot(struct master *master, struct sub *sub)
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
		if (sub->run == 0 || changed->id == sub->run)
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

/* From that mark on, if all that changed since is known; what is no longer in memory shows when rows are read. */
static bool resume(struct master *master, struct sub *sub, uint64_t mark)
{
	const struct recent *recent = master->publisher->recent;
	const struct changed *changed;
	struct rec_run_row run;
	uint64_t turn;
	size_t back = 0;

	if (mark == 0 || !recent_knows(recent, mark, &turn) ||
	    (sub->run != 0 && !view_run(master->core, sub->run, &master->scratch, &run)))
		return false;
	while ((changed = recent_before(recent, turn, &back)))
		collect(sub, changed);
	sub->cut = false;
	sub->resumed = true;
	sub->told = mark;
	master_stay_awake(master);
	return true;
}

enum err publish_subscribe(struct session *session, const struct msg_subscribe *msg, struct error *error)
{
	struct master *master = session->master;
	struct sub *sub;
	size_t count = 0;

	if (msg->what != QUERY_RUNS && msg->what != QUERY_JOBS)
		return error_set(error, ERR_INVALID, "runs or the jobs of one run can be subscribed to, not %llu",
				 (unsigned long long)msg->what);
	for (sub = master->publisher->subs; sub; sub = sub->next) {
		if (sub->conn == session->id && sub->id == msg->id)
			return error_set(error, ERR_DUPLICATE, "there is a subscription %llu on this connection",
					 (unsigned long long)msg->id);
		count += sub->conn == session->id;
	}
	if (count >= SUBS_MAX)
		return error_set(error, ERR_FULL, "a connection has at most %d subscriptions", SUBS_MAX);
	sub = mem_zalloc(sizeof(*sub));
	sub->conn = session->id;
	sub->id = msg->id;
	sub->what = msg->what;
	sub->run = msg->run;
	sub->next = master->publisher->subs;
	master->publisher->subs = sub;
	if (!resume(master, sub, msg->since))
		begin_snapshot(master, sub);
	return ERR_NONE;
}

/* With id 0: all of the connection. */
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

bool publish_unsubscribe(struct session *session, uint64_t id)
{
	return unsubscribe(session->master, session->id, id, false);
}

void publish_forget(struct master *master, uint64_t conn)
{
	unsubscribe(master, conn, 0, true);
}

/* ---- snapshots ---- */

static bool has_room(const struct master *master, const struct session *session)
{
	return session_queued(session) <= master->publisher->queue_max / 2;
}

void publish_ask(struct master *master)
{
	for (struct sub *sub = master->publisher->subs; sub; sub = sub->next) {
		const struct session *session = session_find(master, sub->conn);
		struct query *query;

		if (!sub->paging || sub->page_out || !session || !has_room(master, session))
			continue;
		query = query_new(master, sub->conn, sub->id, sub->what);
		query->run = sub->run;
		query->cursor = sub->cursor;
		if (sub->what == QUERY_RUNS && sub->run) {
			query->cursor = sub->run + 1;
			query->limit = 1;
		}
		query->live_only = sub->live_only;
		query->of_sub = true;
		sub->page_out = true;
	}
}

uint64_t publish_page(struct master *master, const struct query *query, uint64_t cursor)
{
	struct sub *sub = find(master, query->conn, query->id);

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
	unsubscribe(master, query->conn, query->id, false);
}

void publish_workers(struct master *master, const struct query *query, uint64_t after)
{
	struct sub *sub = find(master, query->conn, query->id);

	if (!sub || after == 0)
		return;
	sub->more = true;
	while ((after = view_worker_after(master->core, after)))
		ids_add(&sub->workers, after);
}

/* ---- deltas ---- */

/* It doesn't read: what changes from now on isn't kept for it, and what was kept isn't any more. */
static void cut(struct master *master, struct sub *sub)
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
		cut(master, sub);
	}
}

enum took { TOOK_ALL, TOOK_SOME, TOOK_LOST };    /* LOST: one has left memory */

/* The rows of these ids that fit the page, which are then dropped. */
#define TAKE_ROWS(ids, view, add)                                             \
	do {                                                                  \
		size_t took = 0;                                              \
		enum took how = TOOK_ALL;                                     \
		ids_sort(ids);                                                \
		while (how == TOOK_ALL && took < (ids)->n) {                  \
			uint64_t id = (ids)->at[took];                        \
			if (!(view))                                          \
				how = TOOK_LOST;                              \
			else if (!(add))                                      \
				how = TOOK_SOME;                              \
			else                                                  \
				took++;                                       \
		}                                                             \
		ids_drop(ids, took);                                          \
		if (how != TOOK_ALL)                                          \
			return how;                                           \
	} while (0)

/* Whoever drew the graph may not know one that was added since, nor what it needs. */
static bool view_changed(const struct core *core, const struct sub *sub, uint64_t id, struct arena *arena,
			 struct rec_job_row *job)
{
	if (sub->resumed)                /* it may have begun long since, too */
		return view_job(core, id, VIEW_GRAPH, arena, job);
	if (!view_job(core, id, VIEW_BRIEF, arena, job))
		return false;
	return job->round > 0 || job->tries > 1 || job->started_ms != 0 || view_job(core, id, VIEW_GRAPH, arena, job);
}

static enum took take_rows(struct master *master, struct sub *sub, struct page *page)
{
	struct rec_run_row run;
	struct rec_job_row job;
	struct rec_worker_row worker;

	/* The run last: who sees that it has ended has seen all of its jobs. */
	TAKE_ROWS(&sub->jobs, view_changed(master->core, sub, id, page->arena, &job), page_add_job(page, &job));
	TAKE_ROWS(&sub->runs, view_run(master->core, id, page->arena, &run), page_add_run(page, &run));
	TAKE_ROWS(&sub->workers, view_worker(master->core, id, page->arena, &worker), page_add_worker(page, &worker));
	return TOOK_ALL;
}

static void send_cut(struct master *master, struct master_turn *turn, struct sub *sub)
{
	struct msg_delta delta = { .id = sub->id, .turn = turn->outbox.turn, .cut = true };

	reveal_add(master, turn, sub->conn, OP_DELTA, &delta);
	begin_snapshot(master, sub);
}

static void send_delta(struct master *master, struct master_turn *turn, struct sub *sub)
{
	struct msg_delta delta = { .id = sub->id, .turn = turn->outbox.turn };
	struct query none = { .id = sub->id };
	struct page page;
	enum took took;

	page_begin(&page, &master->scratch, &none);
	took = take_rows(master, sub, &page);
	if (took == TOOK_LOST) {
		send_cut(master, turn, sub);
		return;
	}
	delta.runs.at = page.snapshot.runs.at;
	delta.runs.n = page.snapshot.runs.n;
	delta.jobs.at = page.snapshot.jobs.at;
	delta.jobs.n = page.snapshot.jobs.n;
	delta.workers.at = page.snapshot.workers.at;
	delta.workers.n = page.snapshot.workers.n;
	delta.counts = query_counts(master);
	if (took == TOOK_SOME) {
		master_stay_awake(master);
	} else {
		delta.resume = sub->told = recent_mark(master->publisher->recent, turn->outbox.turn);
		sub->flushed_ns = master->now.mono_ns;
		sub->hurry = false;
		master->stats.sub_resumes += sub->resumed;
		sub->resumed = false;
	}
	reveal_add(master, turn, sub->conn, OP_DELTA, &delta);
}

static void wait_to_flush(struct master *master, int64_t wait_ns)
{
	if (ev_is_active(&master->publish_timer))
		return;
	ev_timer_set(&master->publish_timer, (double)wait_ns / 1e9, 0.);
	ev_timer_start(master->loop, &master->publish_timer);
}

void publish_flush(struct master *master, struct master_turn *turn)
{
	for (struct sub *sub = master->publisher->subs; sub; sub = sub->next) {
		const struct session *session = session_find(master, sub->conn);
		int64_t wait_ns = sub->flushed_ns + FLUSH_NS - master->now.mono_ns;

		if (sub->paging || !session)
			continue;
		if (sub->cut) {
			if (!has_room(master, session))
				continue;
			if (resume(master, sub, sub->told))
				send_delta(master, turn, sub);
			else
				send_cut(master, turn, sub);
		} else if (sub->resumed) {
			/* What it missed may be much. As with pages, its reading sets the pace. */
			if (has_room(master, session))
				send_delta(master, turn, sub);
		} else if (!has_changes(sub)) {
			continue;
		} else if (session_queued(session) > master->publisher->queue_max) {
			cut(master, sub);
		} else if (wait_ns > 0 && sub->flushed_ns > 0 && !sub->hurry) {
			wait_to_flush(master, wait_ns);
		} else {
			send_delta(master, turn, sub);
		}
	}
}

bool publish_may_sweep(struct master *master)
{
	struct publisher *publisher = master->publisher;

	for (const struct sub *sub = publisher->subs; sub; sub = sub->next)
		if ((sub->paging || has_changes(sub)) && master->now.mono_ns - publisher->swept_ns < SWEEP_NS)
			return false;
	publisher->swept_ns = master->now.mono_ns;
	return true;
}
