/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The owner's side of the store: opens, checks and loads it before the thread starts; then hands outboxes and queries
 * to the thread and takes back durable outboxes and answered queries.
 */
#include "store/store.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "proto/limits.h"
#include "store/thread.h"

#define GIVE_UP_NS (100 * NS_PER_MS) /* time given to the thread to release the last reserve and try the batch again */

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
	ballast_init(&store->last, options->path, BALLAST_LAST_SUFFIX, LIMIT_STORE_LAST_RESERVE);
	ballast_init(&store->ballast, options->path, BALLAST_SUFFIX, LIMIT_STORE_BALLAST);
	store->stats.full = store->ballast.state == BALLAST_GIVEN_UP;
	store->stats.reserve = store->last.state == BALLAST_HELD;
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

	/* In a store of an older version only the pages are checked, not the rows. */
	if (err == ERR_NONE && store->database.version == STORE_VERSION)
		err = read_check_letters(&store->database, error);
	if (err == ERR_NONE && store->database.version == STORE_VERSION)
		err = read_check_acts(&store->database, error);
	if (err == ERR_NONE && store->database.version == STORE_VERSION)
		err = past_check(&store->database, error);
	return err;
}

enum err store_past(struct store *store, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error)
{
	CHECK(!store->started);
	return past_replay(&store->database, turn, load_cb, arg, error);
}

enum err store_past_live(struct store *store, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error)
{
	CHECK(!store->started);
	return past_replay_live(&store->database, turn, load_cb, arg, error);
}

enum err store_past_turn(struct store *store, int64_t wall_ms, uint64_t *ret_turn, struct error *error)
{
	CHECK(!store->started);
	return past_turn(&store->database, wall_ms, ret_turn, error);
}

enum err store_rewind(const char *path, const struct store_moment *wanted, struct store_moment *ret, struct error *error)
{
	struct database database = { 0 };
	enum err err = database_open(&database, path, false, error);

	if (err == ERR_NONE)
		err = past_rewind(&database, wanted, ret, error);
	/* With a log left, the next open would take the store for one that crashed, and read all of it to check it. */
	if (err == ERR_NONE && database_checkpoint(&database, SQLITE_CHECKPOINT_TRUNCATE) != SQLITE_OK)
		err = database_error(&database, ERR_STORE, error, "can't be written");
	database_close(&database);
	return err;
}

enum err store_acts(struct store *store, store_load_cb *act_cb, void *arg, uint64_t *ret_counted, struct error *error)
{
	CHECK(!store->started);
	return read_acts(&store->database, act_cb, arg, ret_counted, error);
}

enum err store_artifacts(struct store *store, store_load_cb *job_cb, void *arg, struct error *error)
{
	CHECK(!store->started);
	return read_artifacts(&store->database, job_cb, arg, error);
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
	/* Signals belong to the owner: block all of them on this thread. */
	sigfillset(&all);
	CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	CHECK(pthread_create(&store->thread, NULL, store_thread_run, store) == 0);
	CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

void store_commit(struct store *store, struct outbox *outbox)
{
	bool wake;

	pthread_mutex_lock(&store->mutex);
	ring_add(&store->inbox, outbox);
	store->inbox_rows += outbox->row_count;
	/* While the thread waits for more rows, wake it only when enough have gathered. */
	wake = !store->looks && (!store->lingers || store->inbox_rows >= COMPANY_ROWS);
	store->handed = true;
	pthread_mutex_unlock(&store->mutex);
	/* Signal after the unlock: the thread would otherwise wake only to wait for the mutex. */
	if (wake)
		pthread_cond_signal(&store->changed);
}

void store_watch(struct store *store, int64_t until_ns)
{
	pthread_mutex_lock(&store->mutex);
	store->watched = store->durable.count == 0;
	store->batch_durable = !store->watched;
	pthread_mutex_unlock(&store->mutex);
	while (!store->batch_durable && clock_mono_ns() < until_ns)
		sched_yield();
	/* From here on, durable batches wake the owner; it takes the earlier ones now. */
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

bool store_is_stuck(struct store *store)
{
	bool stuck;

	pthread_mutex_lock(&store->mutex);
	stuck = store->stats.stuck;
	pthread_mutex_unlock(&store->mutex);
	return stuck;
}

bool store_use_reserve(struct store *store)
{
	int64_t until_ns = clock_mono_ns() + GIVE_UP_NS;
	bool stuck, reserve;

	pthread_mutex_lock(&store->mutex);
	store->reserve_until_ns = clock_mono_ns() + RESERVE_NS;
	stuck = store->stats.stuck;
	reserve = store->stats.reserve;
	store->hurry = stuck && reserve;
	if (store->hurry)
		pthread_cond_signal(&store->changed);
	pthread_mutex_unlock(&store->mutex);
	while (stuck && reserve && clock_mono_ns() < until_ns) {
		sched_yield();
		pthread_mutex_lock(&store->mutex);
		stuck = store->stats.stuck;
		reserve = store->stats.reserve;
		pthread_mutex_unlock(&store->mutex);
	}
	return !stuck;
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
	bool full;

	if (!store)
		return;
	database = &store->database;
	store_stop(store);
	/* On a full disk the log stays: the next master can overwrite it, which needs no new space. */
	full = store->ballast.state == BALLAST_GIVEN_UP;
	/* If this checkpoint fails, the next start repeats it: everything is in the log. */
	if (database->begin &&
	    database_checkpoint(database, full ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE) != SQLITE_OK)
		log_warn("%s: SQLite didn't remove the write-ahead log: %s", database->path, sqlite3_errmsg(database->handle));
	database_close(database);
	mark_close(&store->mark);
	ballast_free(&store->ballast);
	ballast_free(&store->last);
	batch_free(&store->batch);
	ring_free(&store->inbox);
	ring_free(&store->durable);
	pthread_cond_destroy(&store->changed);
	pthread_mutex_destroy(&store->mutex);
	mem_free(store);
}
