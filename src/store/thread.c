/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store's thread: commits turns in batches, answers queries, makes copies, and checkpoints the log into the
 * database file. The mutex is never held during I/O. If the disk is full, the same batch is tried again. Any other
 * failure ends the process, because then it is unknown whether the batch is on disk.
 */
#include "store/thread.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "proto/limits.h"

/* limit on a batch, so that with many turns the first doesn't wait too long for the last */
#define BATCH_ROWS_MAX  32768
#define RETRY_NS        (100 * NS_PER_MS)
#define COMPLAIN_NS     NS_PER_S
#define COPY_PAGES      128              /* pages of a copy made between two commits */
#define COPY_SPARE      (1 << 20)        /* bytes that a copy leaves free on the store's disk */
#define LOOK_OUT_NS     (NS_PER_MS / 5)
#define IDLE_NS         NS_PER_S         /* time without work after which the log is checkpointed */

static _Noreturn void give_up(struct store *store, const char *doing)
{
	struct error error;

	database_error(&store->database, ERR_STORE, &error, doing);
	log_error("%s", error.text);
	log_error("the master stops: everything acknowledged is on disk, later changes may be lost. Check the disk, "
		"then start again: titan up");
	abort();
}

static bool is_no_room(int result)
{
	return (result & 0xff) == SQLITE_FULL || (result & 0xff) == SQLITE_BUSY;
}

static void wait_until(struct store *store, int64_t until_ns)
{
	struct timespec until = { .tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S };

	pthread_cond_timedwait(&store->changed, &store->mutex, &until);
}

/* ---- queries ---- */

/* Answer all queries asked so far. The caller holds the mutex; it is released while reading. */
static void answer(struct store *store)
{
	struct store_query *query = store->asked;
	bool any = query != NULL;

	store->asked = NULL;
	store->asked_end = &store->asked;
	while (query) {
		struct store_query *next = query->next;

		pthread_mutex_unlock(&store->mutex);
		if (read_answer(&store->database, query) != SQLITE_OK)
			give_up(store, "can't be read");
		pthread_mutex_lock(&store->mutex);
		query->next = NULL;
		*store->answered_end = query;
		store->answered_end = &query->next;
		query = next;
	}
	if (any) {
		pthread_mutex_unlock(&store->mutex);
		store->wake_cb(store->wake_arg);
		pthread_mutex_lock(&store->mutex);
	}
}

/* ---- copies ---- */

static bool lacks_ballast(const struct store *store)
{
	return store->ballast.state == BALLAST_GIVEN_UP || store->last.state == BALLAST_GIVEN_UP;
}

/* How much room a copy must leave free: also enough to make a ballast file again that was given up. */
static int64_t copy_spare(const struct store *store)
{
	return lacks_ballast(store) ? LIMIT_STORE_BALLAST : COPY_SPARE;
}

/* Copy some more pages. False: the copy has ended; copy->error tells whether it succeeded. */
static bool copy_on(struct store *store, struct store_copy *copy)
{
	int result;

	if (!store->copying) {
		store->copying = true;
		if (backup_begin(&store->backup, store->database.handle, copy->part, copy_spare(store),
				 &copy->error) != ERR_NONE)
			return false;
	}
	result = backup_step(&store->backup, COPY_PAGES);
	if (result == SQLITE_OK)
		return true;
	if (result == SQLITE_DONE)
		backup_end(&store->backup, &copy->error);
	else
		backup_error(&store->backup, result, &copy->error);
	return false;
}

/* Continue with the first copy in the list. The caller holds the mutex; it is released for the I/O. */
static void copy_some(struct store *store)
{
	struct store_copy *copy = store->copies;

	if (!copy)
		return;
	if (store->stop) {
		error_set(&copy->error, ERR_BUSY, "the master ends");
	} else {
		bool more;

		pthread_mutex_unlock(&store->mutex);
		more = copy_on(store, copy);
		pthread_mutex_lock(&store->mutex);
		if (more)
			return;
	}
	backup_abandon(&store->backup);
	store->copying = false;
	store->copies = copy->next;
	if (!store->copies)
		store->copies_end = &store->copies;
	copy->next = NULL;
	*store->copied_end = copy;
	store->copied_end = &copy->next;
	pthread_mutex_unlock(&store->mutex);
	store->wake_cb(store->wake_arg);
	pthread_mutex_lock(&store->mutex);
}

/* ---- turns ---- */

static void checkpoint(struct store *store)
{
	int result;

	pthread_mutex_unlock(&store->mutex);
	result = database_checkpoint(&store->database, SQLITE_CHECKPOINT_PASSIVE);
	/* A full disk does no harm here: everything is in the log. */
	if (result != SQLITE_OK && !is_no_room(result))
		give_up(store, "checkpoint failed");
	pthread_mutex_lock(&store->mutex);
	store->stats.checkpoints++;
}

static void gather(struct store *store)
{
	batch_clear(&store->batch);
	while (store->batch.rows < BATCH_ROWS_MAX) {
		struct outbox *outbox = ring_take(&store->inbox);

		if (!outbox)
			return;
		store->inbox_rows -= outbox->row_count;
		batch_add(&store->batch, outbox);
	}
}

static void complain(struct store *store, int result)
{
	int64_t now_ns = clock_mono_ns();

	if (store->complained_ns != 0 && now_ns - store->complained_ns < COMPLAIN_NS)
		return;
	store->complained_ns = now_ns;
	log_warn("%s: %s; the master acknowledges nothing until there is disk space, and tries again", store->database.path,
		 sqlite3_errstr(result));
}

/* Write the batch. Return SQLITE_OK, or a result that means a full disk; end the process on any other error. */
static int write_or_stop(struct store *store)
{
	int result = batch_write(&store->database, &store->batch);

	if (result != SQLITE_OK && !is_no_room(result))
		give_up(store, "commit failed");
	return result;
}

/* Checkpoint the log, so that the next commit overwrites it from its beginning instead of making it longer. */
static void reset_log(struct store *store)
{
	int64_t now_ns = clock_mono_ns();
	int result;

	if (now_ns < store->reset_ns)
		return;
	result = database_checkpoint(&store->database, SQLITE_CHECKPOINT_PASSIVE);
	if (result != SQLITE_OK && !is_no_room(result))
		give_up(store, "checkpoint failed");
	/* If the database file has no room for the pages, don't copy them again at every try. */
	if (result != SQLITE_OK)
		store->reset_ns = now_ns + NS_PER_S;
}

/* The disk is full: give up the ballast, or the last reserve if allowed. False: nothing is left to give up. */
static bool make_room(struct store *store, bool use_reserve)
{
	bool ballast = ballast_give_up(&store->ballast);

	if (!ballast && !(use_reserve && ballast_give_up(&store->last)))
		return false;
	store->ballast_ns = 0;
	log_warn("%s: the disk is full: the %sreserve of %d MiB is used up; new runs are refused until there is disk "
		"space",
		 store->database.path, ballast ? "" : "last ",
		 (ballast ? LIMIT_STORE_BALLAST : LIMIT_STORE_LAST_RESERVE) >> 20);
	return true;
}

/*
 * Write the batch, giving up ballast if necessary. Return SQLITE_OK, or the result for a disk that is full in spite of
 * that.
 */
static int write_somehow(struct store *store, bool use_reserve)
{
	int result = write_or_stop(store);

	if ((result & 0xff) != SQLITE_FULL)
		return result;
	reset_log(store);
	do
		result = write_or_stop(store);
	while ((result & 0xff) == SQLITE_FULL && make_room(store, use_reserve));
	return result;
}

/* Try to make the ballast files again. The caller holds the mutex; it is released for the I/O. */
static void take_ballast_again(struct store *store)
{
	int64_t now_ns = clock_mono_ns();
	bool was_full = store->ballast.state == BALLAST_GIVEN_UP;
	bool held;

	if (!lacks_ballast(store) || now_ns < store->ballast_ns)
		return;
	store->ballast_ns = now_ns + NS_PER_S;
	pthread_mutex_unlock(&store->mutex);
	ballast_take_again(&store->last);
	held = ballast_take_again(&store->ballast);
	if (held && was_full)
		log_info("%s: there is disk space again", store->database.path);
	pthread_mutex_lock(&store->mutex);
	store->stats.full = !held;
	store->stats.reserve = store->last.state == BALLAST_HELD;
}

/* Record whether the disk was full, and wake the owner if it is. The caller holds the mutex. */
static void note_room(struct store *store, int result)
{
	bool was_stuck = store->stats.stuck;

	store->stats.stuck = result != SQLITE_OK;
	store->stats.full = store->stats.stuck || store->ballast.state == BALLAST_GIVEN_UP;
	store->stats.reserve = store->last.state == BALLAST_HELD;
	if (was_stuck || !store->stats.stuck)
		return;
	pthread_mutex_unlock(&store->mutex);
	store->wake_cb(store->wake_arg);
	pthread_mutex_lock(&store->mutex);
}

/*
 * May this commit use the last reserve? The first commit of a start may as well: without it the master can't free any
 * room.
 */
static bool may_use_reserve(const struct store *store)
{
	return store->stats.commits == 0 || clock_mono_ns() < store->reserve_until_ns;
}

/* Commit the batch, waiting for room as long as necessary. False: the thread was told to stop before there was room. */
static bool commit(struct store *store)
{
	for (;;) {
		bool use_reserve = may_use_reserve(store);
		int64_t until_ns;
		int result;

		store->hurry = false;
		pthread_mutex_unlock(&store->mutex);
		result = write_somehow(store, use_reserve);
		if (result != SQLITE_OK)
			complain(store, result);
		pthread_mutex_lock(&store->mutex);
		note_room(store, result);
		if (result == SQLITE_OK)
			return true;
		until_ns = clock_mono_ns() + RETRY_NS;
		while (!store->stop && !store->hurry && clock_mono_ns() < until_ns) {
			answer(store);
			copy_some(store);
			if (!store->copies)
				wait_until(store, until_ns);
		}
		if (store->stop)
			return false;
	}
}

/*
 * Write the number of the batch's last turn to the mark; the next start compares it with the store (database_agrees).
 */
static void mark_batch(struct store *store)
{
	for (size_t turn = store->batch.count; turn-- > 0;) {
		const struct outbox *outbox = store->batch.turns[turn];

		for (size_t i = outbox->row_count; i-- > 0;) {
			const struct row *row = &outbox->rows[i];

			if (row->table == TABLE_meta && slice_eq(row->meta.name, slice_str("turn"))) {
				mark_set(&store->mark, (uint64_t)row->meta.value);
				return;
			}
		}
	}
}

static bool commit_batch(struct store *store)
{
	struct write_batch *batch = &store->batch;
	int64_t began_ns = clock_mono_ns();
	int64_t took_ns;
	bool watched;

	past_allow(&store->database.past, !lacks_ballast(store));
	if (!commit(store))
		return false;
	took_ns = clock_mono_ns() - began_ns;
	if (batch->rows > 0) {
		store->stats.commits++;
		store->stats.last_commit_ns = took_ns;
		histogram_add(&store->stats.commit, (uint64_t)took_ns);
		if (took_ns > store->stats.longest_commit_ns)
			store->stats.longest_commit_ns = took_ns;
		store->stats.replaced += batch->rows - batch->written;
	}
	mark_batch(store);
	store->stats.turns += batch->count;
	store->stats.rows += batch->rows;
	for (size_t i = 0; i < batch->count; i++)
		ring_add(&store->durable, batch->turns[i]);
	watched = store->looks = store->watched;
	store->batch_durable = watched;
	if (watched)
		return true;
	pthread_mutex_unlock(&store->mutex);
	store->wake_cb(store->wake_arg);
	pthread_mutex_lock(&store->mutex);
	return true;
}

static void linger(struct store *store)
{
	int64_t until_ns = clock_mono_ns() + store->linger_ns;

	store->lingers = true;
	while (store->may_linger && !store->stop && !store->asked && store->inbox_rows < COMPANY_ROWS &&
	       clock_mono_ns() < until_ns)
		wait_until(store, until_ns);
	store->lingers = false;
}

/* Busy-wait a moment for the owner's next turn: an owner that watched this commit may be about to hand one over. */
static void look_out(struct store *store)
{
	int64_t until_ns = clock_mono_ns() + LOOK_OUT_NS;

	store->handed = store->stop || store->asked || store->copies || store->inbox.count > 0;
	pthread_mutex_unlock(&store->mutex);
	while (!store->handed && clock_mono_ns() < until_ns)
		sched_yield();
	pthread_mutex_lock(&store->mutex);
	store->looks = false;
}

/* Wait until there is work. After a time without any, checkpoint the log. */
static void rest(struct store *store)
{
	bool all_copied = store->database.copied_pages >= store->database.log_pages;
	int64_t until_ns = clock_mono_ns() + IDLE_NS;

	if (store->looks)
		look_out(store);
	while (!store->stop && !store->asked && !store->copies && store->inbox.count == 0) {
		if (all_copied && !lacks_ballast(store)) {
			pthread_cond_wait(&store->changed, &store->mutex);
		} else if (clock_mono_ns() < until_ns) {
			wait_until(store, until_ns);
		} else {
			if (!all_copied)
				checkpoint(store);
			take_ballast_again(store);
			/* If some pages couldn't be copied now, the checkpoint after the next commit tries again. */
			all_copied = true;
			until_ns = clock_mono_ns() + IDLE_NS;
		}
	}
}

void *store_thread_run(void *arg)
{
	struct store *store = arg;

	pthread_mutex_lock(&store->mutex);
	for (;;) {
		rest(store);
		if (store->linger_ns > 0 && store->inbox.count > 0)
			linger(store);
		gather(store);
		if (store->batch.count > 0 && !commit_batch(store))
			break;
		take_ballast_again(store);
		/* Queries are answered after the commits that were handed over before them. */
		if (store->inbox.count == 0)
			answer(store);
		/* On a nearly full disk checkpoint after each commit: that keeps the log short. */
		if (store->database.log_pages - store->database.copied_pages >= (store->stats.full ? 1 : LIMIT_STORE_CHECKPOINT))
			checkpoint(store);
		copy_some(store);
		if (store->stop && !store->copies && store->inbox.count == 0 && !store->asked)
			break;
	}
	while (store->copies)
		copy_some(store);
	pthread_mutex_unlock(&store->mutex);
	return NULL;
}
