/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store's thread and what it shares with its owner: what is to be committed and asked, what is durable
 * and answered, all under one mutex that is never held during I/O. A batch is retried unchanged when
 * there is no room; any other failure ends the process, because whether it is on disk isn't known then.
 */
#include "store/store.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "proto/limits.h"
#include "store/backup.h"
#include "store/ballast.h"
#include "store/database.h"
#include "store/mark.h"
#include "store/ring.h"

#define BATCH_ROWS_MAX  32768            /* so that the first turn of a flood isn't late for the last */
#define COMPANY_ROWS    64               /* from here on a commit's cost is shared well enough */
#define RETRY_NS        (100 * NS_PER_MS)
#define COMPLAIN_NS     NS_PER_S
#define COPY_PAGES      128              /* of a copy, between two commits */
#define LOOK_OUT_NS     (NS_PER_MS / 5)
#define IDLE_NS         NS_PER_S         /* then what is in the log goes to the database file */

struct store {
	/* the thread's */
	struct database database;
	struct batch batch;
	struct mark mark;
	struct ballast ballast;
	int64_t ballast_ns;              /* when it is tried to take it again */
	int64_t complained_ns;
	int64_t linger_ns;
	struct backup backup;            /* of the first of copies, when that has begun */
	bool copying;
	pthread_t thread;
	bool started;
	void (*wake_cb)(void *arg);
	void *wake_arg;

	/* everybody's, under the mutex */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct ring inbox;               /* of struct outbox: to be committed */
	struct ring durable;
	size_t inbox_rows;
	struct store_query *asked, **asked_end;
	struct store_query *answered, **answered_end;
	struct store_copy *copies, **copies_end;
	struct store_copy *copied, **copied_end;
	struct store_stats stats;
	bool may_linger;
	bool lingers;                    /* the thread waits for company */
	bool stop;
	bool watched;                    /* the owner is awake and looks: it needn't be woken */
	atomic_bool settled;             /* since it began to look */
	bool looks;                      /* likewise the thread, for what comes next */
	atomic_bool handed;
};

static _Noreturn void give_up(struct store *store, const char *doing)
{
	struct error error;

	database_error(&store->database, ERR_STORE, &error, doing);
	log_error("%s", error.text);
	log_error("stopping: what was acknowledged is safe, the latest turns may or may not be. "
		  "Look at the disk, then start again: titan up");
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

/* ---- the thread: questions ---- */

/* All that were asked until now. The mutex is held outside of reading. */
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

/* ---- the thread: copies ---- */

/* Some pages more. False when the copy has ended, well or not: its error says. */
static bool copy_on(struct store *store, struct store_copy *copy)
{
	int result;

	if (!store->copying) {
		store->copying = true;
		if (backup_begin(&store->backup, store->database.handle, copy->part, &copy->error) != ERR_NONE)
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

/* The mutex is held outside of it. */
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

/* ---- the thread: turns ---- */

static void checkpoint(struct store *store)
{
	int result;

	pthread_mutex_unlock(&store->mutex);
	result = database_checkpoint(&store->database, SQLITE_CHECKPOINT_PASSIVE);
	/* No room to copy to is no harm yet: everything is in the log. */
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
	log_warn("%s: %s; nothing is acknowledged until there is room (trying again)", store->database.path,
		 sqlite3_errstr(result));
}

/* SQLITE_OK, or that there is no room. */
static int write_or_stop(struct store *store)
{
	int result = write_batch(&store->database, &store->batch);

	if (result != SQLITE_OK && !is_no_room(result))
		give_up(store, "commit failed");
	return result;
}

/* No room: what is kept for that is given up. False when that has happened before. */
static bool make_room(struct store *store)
{
	if (!ballast_give_up(&store->ballast))
		return false;
	store->ballast_ns = 0;
	log_warn("%s: the disk is full: its reserve of %d MiB is used up; nothing new is taken until there is room",
		 store->database.path, LIMIT_STORE_BALLAST >> 20);
	return true;
}

/* The mutex is held outside of it. */
static void take_ballast_again(struct store *store)
{
	int64_t now_ns = clock_mono_ns();
	bool held;

	if (store->ballast.state != BALLAST_GIVEN_UP || now_ns < store->ballast_ns)
		return;
	store->ballast_ns = now_ns + NS_PER_S;
	pthread_mutex_unlock(&store->mutex);
	held = ballast_take_again(&store->ballast);
	if (held)
		log_info("%s: there is room again", store->database.path);
	pthread_mutex_lock(&store->mutex);
	store->stats.full = !held;
}

/* False when the end has come before there was room. */
static bool commit(struct store *store)
{
	for (;;) {
		int result;
		int64_t until_ns;

		pthread_mutex_unlock(&store->mutex);
		result = write_or_stop(store);
		if ((result & 0xff) == SQLITE_FULL && make_room(store))
			result = write_or_stop(store);
		if (result != SQLITE_OK)
			complain(store, result);
		pthread_mutex_lock(&store->mutex);
		store->stats.stuck = result != SQLITE_OK;
		store->stats.full = store->stats.stuck || store->ballast.state == BALLAST_GIVEN_UP;
		if (result == SQLITE_OK)
			return true;
		until_ns = clock_mono_ns() + RETRY_NS;
		while (!store->stop && clock_mono_ns() < until_ns) {
			answer(store);
			wait_until(store, until_ns);
		}
		if (store->stop)
			return false;
	}
}

/* The same row is asked for at the next start (database_agrees). It is among the last of a turn. */
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
	struct batch *batch = &store->batch;
	int64_t began_ns = clock_mono_ns();
	int64_t took_ns;
	bool watched;

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
	store->settled = watched;
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

/* Who was awake to see this commit may be about to hand over the next. */
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

/* Nothing to do: after a while without anything new, what is in the log is copied. */
static void rest(struct store *store)
{
	bool all_copied = store->database.copied_pages >= store->database.log_pages;
	int64_t until_ns = clock_mono_ns() + IDLE_NS;

	if (store->looks)
		look_out(store);
	while (!store->stop && !store->asked && !store->copies && store->inbox.count == 0) {
		if (all_copied && store->ballast.state != BALLAST_GIVEN_UP) {
			pthread_cond_wait(&store->changed, &store->mutex);
		} else if (clock_mono_ns() < until_ns) {
			wait_until(store, until_ns);
		} else {
			if (!all_copied)
				checkpoint(store);
			take_ballast_again(store);
			/* What couldn't be copied now is tried after the next commit. */
			all_copied = true;
			until_ns = clock_mono_ns() + IDLE_NS;
		}
	}
}

static void *run_thread(void *arg)
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
		/* A question is answered behind the commits that were before it. */
		if (store->inbox.count == 0)
			answer(store);
		if (store->database.log_pages - store->database.copied_pages >= LIMIT_STORE_CHECKPOINT)
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

/* ---- the owner's side ---- */

enum err store_open(const struct store_options *options, struct store **ret_store, struct error *error)
{
	struct store *store = mem_zalloc(sizeof(*store));
	pthread_condattr_t attributes;
	enum err err;

	store->mark.fd = -1;
	store->linger_ns = options->linger_ns;
	store->asked_end = &store->asked;
	store->answered_end = &store->answered;
	store->copies_end = &store->copies;
	store->copied_end = &store->copied;
	CHECK(pthread_mutex_init(&store->mutex, NULL) == 0);
	CHECK(pthread_condattr_init(&attributes) == 0);
	CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
	CHECK(pthread_cond_init(&store->changed, &attributes) == 0);
	pthread_condattr_destroy(&attributes);
	err = database_open(&store->database, options->path, options->inspect, error);
	if (err != ERR_NONE) {
		store_close(store);
		return err;
	}
	if (options->inspect) {
		*ret_store = store;
		return ERR_NONE;
	}
	err = mark_open(&store->mark, options->path, error);
	if (err != ERR_NONE) {
		store_close(store);
		return err;
	}
	*ret_store = store;
	ballast_init(&store->ballast, options->path);
	store->stats.full = store->ballast.state == BALLAST_GIVEN_UP;
	return ERR_NONE;
}

int store_version(const struct store *store)
{
	return store->database.version;
}

enum err store_check(struct store *store, struct error *error)
{
	enum err err;

	CHECK(!store->started);
	err = database_check(&store->database, error);

	/* An older version's tables are looked at by their pages alone. */
	return err == ERR_NONE && store->database.version == STORE_VERSION ?
	       read_check_letters(&store->database, error) : err;
}

enum err store_agrees(struct store *store, struct error *error)
{
	CHECK(!store->started);
	return database_agrees(&store->database, error);
}

enum err store_load(struct store *store, store_load_cb *load_cb, void *arg, struct error *error)
{
	CHECK(!store->started);
	return read_live(&store->database, load_cb, arg, error);
}

void store_start(struct store *store, void (*wake_cb)(void *arg), void *arg)
{
	sigset_t all, before;

	CHECK(!store->started);
	store->wake_cb = wake_cb;
	store->wake_arg = arg;
	store->started = true;
	/* Signals are the owner's: none is handled on this thread. */
	sigfillset(&all);
	CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	CHECK(pthread_create(&store->thread, NULL, run_thread, store) == 0);
	CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

void store_commit(struct store *store, struct outbox *outbox)
{
	bool wake;

	pthread_mutex_lock(&store->mutex);
	ring_add(&store->inbox, outbox);
	store->inbox_rows += outbox->row_count;
	/* One that lingers is woken only for enough company. */
	wake = !store->looks && (!store->lingers || store->inbox_rows >= COMPANY_ROWS);
	store->handed = true;
	pthread_mutex_unlock(&store->mutex);
	/* Behind it: the thread would wake only to wait for the mutex. */
	if (wake)
		pthread_cond_signal(&store->changed);
}

void store_watch(struct store *store, int64_t until_ns)
{
	pthread_mutex_lock(&store->mutex);
	store->watched = store->durable.count == 0;
	store->settled = !store->watched;
	pthread_mutex_unlock(&store->mutex);
	while (!store->settled && clock_mono_ns() < until_ns)
		sched_yield();
	/* Whatever settles from here on wakes the owner, and what has it takes now. */
	pthread_mutex_lock(&store->mutex);
	store->watched = false;
	pthread_mutex_unlock(&store->mutex);
}

struct outbox *store_take(struct store *store)
{
	struct outbox *outbox;

	pthread_mutex_lock(&store->mutex);
	outbox = ring_take(&store->durable);
	pthread_mutex_unlock(&store->mutex);
	return outbox;
}

void store_may_linger(struct store *store, bool may)
{
	pthread_mutex_lock(&store->mutex);
	if (store->may_linger && !may && store->lingers)
		pthread_cond_signal(&store->changed);
	store->may_linger = may;
	pthread_mutex_unlock(&store->mutex);
}

void store_ask(struct store *store, struct store_query *query)
{
	query->next = NULL;
	pthread_mutex_lock(&store->mutex);
	*store->asked_end = query;
	store->asked_end = &query->next;
	pthread_cond_signal(&store->changed);
	pthread_mutex_unlock(&store->mutex);
}

struct store_query *store_answer(struct store *store)
{
	struct store_query *query;

	pthread_mutex_lock(&store->mutex);
	query = store->answered;
	if (query) {
		store->answered = query->next;
		if (!store->answered)
			store->answered_end = &store->answered;
		query->next = NULL;
	}
	pthread_mutex_unlock(&store->mutex);
	return query;
}

void store_copy(struct store *store, struct store_copy *copy)
{
	copy->next = NULL;
	copy->error.code = ERR_NONE;
	pthread_mutex_lock(&store->mutex);
	*store->copies_end = copy;
	store->copies_end = &copy->next;
	pthread_cond_signal(&store->changed);
	pthread_mutex_unlock(&store->mutex);
}

struct store_copy *store_copied(struct store *store)
{
	struct store_copy *copy;

	pthread_mutex_lock(&store->mutex);
	copy = store->copied;
	if (copy) {
		store->copied = copy->next;
		if (!store->copied)
			store->copied_end = &store->copied;
		copy->next = NULL;
	}
	pthread_mutex_unlock(&store->mutex);
	return copy;
}

void store_stats(struct store *store, struct store_stats *ret_stats)
{
	pthread_mutex_lock(&store->mutex);
	*ret_stats = store->stats;
	pthread_mutex_unlock(&store->mutex);
}

void store_stop(struct store *store)
{
	if (!store || !store->started)
		return;
	pthread_mutex_lock(&store->mutex);
	store->stop = true;
	pthread_cond_signal(&store->changed);
	pthread_mutex_unlock(&store->mutex);
	pthread_join(store->thread, NULL);
	store->started = false;
}

void store_close(struct store *store)
{
	struct database *database;

	if (!store)
		return;
	database = &store->database;
	store_stop(store);
	/* When it can't, the next start does: everything is in the log. */
	if (database->begin && database_checkpoint(database, SQLITE_CHECKPOINT_TRUNCATE) != SQLITE_OK)
		log_warn("%s: its log stays: %s", database->path, sqlite3_errmsg(database->handle));
	database_close(database);
	mark_close(&store->mark);
	ballast_free(&store->ballast);
	batch_free(&store->batch);
	ring_free(&store->inbox);
	ring_free(&store->durable);
	pthread_cond_destroy(&store->changed);
	pthread_mutex_destroy(&store->mutex);
	mem_free(store);
}
