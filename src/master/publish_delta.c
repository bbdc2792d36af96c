/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deltas: sends subscribers the rows that changed. Rows are read when they are sent, so even with many changes a
 * subscriber costs one frame each 50 ms; the end of its run is sent at once. Deltas are sent with a turn, like
 * everything else.
 */
#include "master/publish.h"

#include "master/sight.h"

#define FLUSH_NS   (50 * NS_PER_MS)

enum took { TOOK_ALL, TOOK_SOME, TOOK_LOST };    /* TOOK_LOST: one of the rows has left memory */

/* Add the rows with these numbers to the page, as many as fit, and drop their numbers. */
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

/*
 * Make the row of a changed job. If the job hasn't started yet, its part of the graph is included, because it may have
 * been added after the subscriber drew the graph.
 */
static bool view_changed(const struct core *core, const struct sub *sub, uint64_t id, struct arena *arena,
			 struct rec_job_row *job)
{
	/* After a gap, the job may be new to the subscriber although it began long ago. */
	if (sub->resumed)
		return view_job(core, id, VIEW_GRAPH, arena, job);
	if (!view_job(core, id, VIEW_BRIEF, arena, job))
		return false;
	return job->round > 0 || job->tries > 1 || job->started_ms != 0 || view_job(core, id, VIEW_GRAPH, arena, job);
}

static enum took take_rows(struct master *master, struct sub *sub, struct answer_page *page)
{
	struct rec_run_row run;
	struct rec_job_row job;
	struct rec_worker_row worker;

	/* Send runs after jobs: a subscriber that sees the run's end has then seen all of its jobs. */
	TAKE_ROWS(&sub->jobs, view_changed(master->core, sub, id, page->arena, &job), page_add_job(page, &job));
	TAKE_ROWS(&sub->runs, view_run(master->core, id, page->arena, &run), page_add_run(page, &run));
	TAKE_ROWS(&sub->workers, view_worker(master->core, id, page->arena, &worker), page_add_worker(page, &worker));
	return TOOK_ALL;
}

static void send_cut(struct master *master, struct master_turn *turn, struct sub *sub)
{
	struct msg_delta delta = { .id = sub->id, .turn = turn->outbox.turn, .cut = true };

	reveal_add(master, turn, sub->conn, OP_DELTA, &delta);
	sub_begin_snapshot(master, sub);
}

/* End the subscription: its subscriber may not see the run any more, because no decision in it is left to them. */
static void lose(struct master *master, struct master_turn *turn, const struct sub *sub)
{
	const struct query gone = { .conn = sub->conn, .id = sub->id, .of_sub = sub->stamp, .run = sub->run };
	struct error error;

	query_no_run(master, &error, &gone);
	reveal_error(master, turn, sub->conn, sub->id, &error);
	publish_refused(master, &gone);
}

static void send_delta(struct master *master, struct master_turn *turn, struct sub *sub)
{
	struct msg_delta delta = { .id = sub->id, .turn = turn->outbox.turn };
	struct query none = { .id = sub->id, .sight = sub->sight };
	struct answer_page page;
	enum took took;

	if (sub->run != 0 && sight_hides(&sub->sight, sub->run)) {
		lose(master, turn, sub);
		return;
	}
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
	sight_counts(&sub->sight, &master->scratch, &delta.counts);
	if (sub->run == 0)
		sight_ended(&sub->sight, &master->scratch, &delta.ended_runs, &delta.ended_jobs);
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
	for (struct sub *sub = master->publisher->subs, *next; sub; sub = next) {
		const struct peer_session *session = session_find(master, sub->conn);
		int64_t wait_ns = sub->flushed_ns + FLUSH_NS - master->now.mono_ns;

		next = sub->next;
		if (sub->paging || !session)
			continue;
		if (sub->cut) {
			if (!sub_has_room(master, session))
				continue;
			if (sub_resume(master, sub, sub->told))
				send_delta(master, turn, sub);
			else
				send_cut(master, turn, sub);
		} else if (sub->resumed) {
			/* The subscriber may have missed much, so send only as fast as it reads, as with pages. */
			if (sub_has_room(master, session))
				send_delta(master, turn, sub);
		} else if (!sub_has_changes(sub)) {
			continue;
		} else if (session_queued(session) > master->publisher->queue_max) {
			sub_cut(master, sub);
		} else if (wait_ns > 0 && sub->flushed_ns > 0 && !sub->hurry) {
			wait_to_flush(master, wait_ns);
		} else {
			send_delta(master, turn, sub);
		}
	}
}
