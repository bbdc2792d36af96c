/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loop's side of the logs: two locked lists, one of work for the log thread and one of its answers. All else
 * belongs to the thread (logs_thread.c).
 */
#include "master/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/io.h"
#include "base/mem.h"
#include "master/logs_thread.h"
#include "proto/limits.h"

#define FDS_LEAST 16
#define FDS_MOST  1024

/* Most log files that may be open: a part of the process's descriptors, because most are for connections. */
static size_t fds_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < 4 * FDS_LEAST)
		return FDS_LEAST;
	return limit.rlim_cur / 4 < FDS_MOST ? (size_t)limit.rlim_cur / 4 : FDS_MOST;
}

enum err logs_open(const char *dir, void (*wake_cb)(void *arg), void *arg, struct logs **ret_logs,
		   struct error *error)
{
	struct logs *logs;
	pthread_condattr_t attributes;
	sigset_t all, old;
	int dir_fd, result = io_make_dirs(dir, 0700);

	if (result < 0)
		return error_dir(error, -result, "the directory of logs", dir);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return error_dir(error, errno, "the directory of logs", dir);
	logs = mem_zalloc(sizeof(*logs));
	logstore_init(&logs->logstore, dir_fd, fds_max(), logs_answer_cb, logs);
	logprune_init(&logs->prune, dir_fd, logs_answer_cb, logs);
	logs->wake_cb = wake_cb;
	logs->wake_arg = arg;
	pthread_mutex_init(&logs->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&logs->more, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	result = pthread_create(&logs->thread, NULL, logs_thread_run, logs);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (result != 0) {
		logstore_free(&logs->logstore);
		mem_free(logs);
		return error_system(error, result, "can't start the thread that writes logs");
	}
	*ret_logs = logs;
	return ERR_NONE;
}

void logs_close(struct logs *logs)
{
	struct log_answer *left;

	if (!logs)
		return;
	pthread_mutex_lock(&logs->lock);
	logs->ending = true;
	pthread_cond_signal(&logs->more);
	pthread_mutex_unlock(&logs->lock);
	pthread_join(logs->thread, NULL);
	while ((left = logs_take(logs)))
		log_answer_free(left);
	logprune_free(&logs->prune);
	logstore_free(&logs->logstore);
	map_free(&logs->queued_by);
	pthread_cond_destroy(&logs->more);
	pthread_mutex_destroy(&logs->lock);
	mem_free(logs);
}

static void give_work(struct logs *logs, struct log_work *work, bool wake)
{
	pthread_mutex_lock(&logs->lock);
	if (logs->last)
		logs->last->next = work;
	else
		logs->first = work;
	logs->last = work;
	logs_count(logs, work->conn, work->bytes);
	if (wake)
		pthread_cond_signal(&logs->more);
	pthread_mutex_unlock(&logs->lock);
}

static enum err check_item(const struct rec_output *item, struct error *error)
{
	if (item->stream < 1 || item->stream > 2)
		return error_set(error, ERR_INVALID, "output names stream %llu; only 1 and 2 exist",
				 (unsigned long long)item->stream);
	if (item->data.len > LIMIT_OUTPUT_CHUNK)
		return error_set(error, ERR_TOO_LARGE, "a piece of output has %zu bytes; at most %d are allowed", item->data.len,
				 LIMIT_OUTPUT_CHUNK);
	if (item->offset > INT64_MAX)
		return error_set(error, ERR_INVALID, "a piece of output has an impossible offset");
	return ERR_NONE;
}

/* Check the pieces and leave out those of attempts that aren't wanted. */
static enum err check_items(struct rec_output *items, size_t *count,
			    bool (*wanted_cb)(const struct rec_output *item, void *arg), void *arg, struct error *error)
{
	size_t kept = 0;
	enum err err = ERR_NONE;

	for (size_t i = 0; err == ERR_NONE && i < *count; i++) {
		err = check_item(&items[i], error);
		if (err == ERR_NONE && wanted_cb(&items[i], arg))
			items[kept++] = items[i];
	}
	*count = kept;
	return err;
}

enum err logs_append(struct logs *logs, uint64_t conn, struct slice body,
		     bool (*wanted_cb)(const struct rec_output *item, void *arg), void *arg, struct error *error)
{
	struct log_work *work = mem_zalloc(sizeof(*work));
	enum err err;

	work->kind = WORK_APPEND;
	work->conn = conn;
	work->bytes = body.len;
	err = message_decode(OP_OUTPUT, arena_copy(&work->arena, body), &work->arena, &work->output, error);
	if (err == ERR_NONE)
		err = check_items(work->output.items.at, &work->output.items.n, wanted_cb, arg, error);
	if (err == ERR_NONE)
		err = check_items(work->output.live_tail.at, &work->output.live_tail.n, wanted_cb, arg, error);
	if (err != ERR_NONE || work->output.items.n + work->output.live_tail.n == 0) {
		logs_work_free(work);
		return err;
	}
	give_work(logs, work, true);
	return ERR_NONE;
}

void logs_read(struct logs *logs, uint64_t conn, const struct msg_log_read *msg)
{
	struct log_work *work = mem_zalloc(sizeof(*work));

	work->kind = WORK_READ;
	work->conn = conn;
	work->read = *msg;
	give_work(logs, work, true);
}

void logs_ended(struct logs *logs, const struct rec_done *items, size_t count)
{
	struct log_work *work = mem_zalloc(sizeof(*work));

	work->kind = WORK_ENDED;
	work->ended = arena_alloc(&work->arena, (count + 1) * sizeof(*items));
	/* An attempt that wrote nothing has no file. */
	for (size_t i = 0; i < count; i++)
		if (items[i].out_bytes > 0)
			work->ended[work->ended_count++] = items[i];
	/* The thread isn't woken for this work, which can wait until the next sync. */
	if (work->ended_count > 0)
		give_work(logs, work, false);
	else
		logs_work_free(work);
}

void logs_run_ended(struct logs *logs, uint64_t run)
{
	struct log_work *work = mem_zalloc(sizeof(*work));

	work->kind = WORK_RUN_ENDED;
	work->runs = arena_alloc(&work->arena, sizeof(*work->runs));
	work->runs[0] = run;
	give_work(logs, work, true);
}

void logs_resume(struct logs *logs, const uint64_t *live, size_t count)
{
	struct log_work *work = mem_zalloc(sizeof(*work));

	work->kind = WORK_RESUME;
	work->runs = arena_alloc(&work->arena, (count + 1) * sizeof(*work->runs));
	if (count > 0)
		memcpy(work->runs, live, count * sizeof(*live));
	work->run_count = count;
	give_work(logs, work, true);
}

void logs_stats(struct logs *logs, struct squeeze_stats *ret_stats)
{
	pthread_mutex_lock(&logs->lock);
	*ret_stats = logs->stats;
	pthread_mutex_unlock(&logs->lock);
}

void logs_remove(struct logs *logs, uint64_t run)
{
	struct log_work *work = mem_zalloc(sizeof(*work));

	work->kind = WORK_REMOVE;
	work->run = run;
	give_work(logs, work, true);
}

void logs_measure(struct logs *logs)
{
	struct log_work *work = mem_zalloc(sizeof(*work));

	work->kind = WORK_MEASURE;
	give_work(logs, work, true);
}

size_t logs_queued(struct logs *logs)
{
	size_t queued;

	pthread_mutex_lock(&logs->lock);
	queued = logs->queued;
	pthread_mutex_unlock(&logs->lock);
	return queued;
}

size_t logs_queued_by(struct logs *logs, uint64_t conn)
{
	size_t queued;

	pthread_mutex_lock(&logs->lock);
	queued = (size_t)(uintptr_t)map_get(&logs->queued_by, conn);
	pthread_mutex_unlock(&logs->lock);
	return queued;
}

struct log_answer *logs_take(struct logs *logs)
{
	struct log_answer *taken;

	pthread_mutex_lock(&logs->lock);
	taken = logs->answers;
	if (taken) {
		logs->answers = taken->next;
		if (!logs->answers)
			logs->last_answer = NULL;
	}
	pthread_mutex_unlock(&logs->lock);
	return taken;
}

void log_answer_free(struct log_answer *answer)
{
	if (!answer)
		return;
	buf_free(&answer->frames);
	mem_free(answer->sizes);
	mem_free(answer);
}
