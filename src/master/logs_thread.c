/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log thread: takes all queued work, does it in order, and sleeps when there is none. */
#include "master/logs_thread.h"

#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

void logs_answer_cb(void *arg, struct log_answer *answer)
{
	struct logs *logs = arg;

	pthread_mutex_lock(&logs->lock);
	if (logs->last_answer)
		logs->last_answer->next = answer;
	else
		logs->answers = answer;
	logs->last_answer = answer;
	pthread_mutex_unlock(&logs->lock);
	logs->wake_cb(logs->wake_arg);
}

static void do_work(struct logs *logs, struct log_work *work)
{
	switch (work->kind) {
	case WORK_APPEND:
		logstore_append(&logs->logstore, work->conn, &work->output);
		break;
	case WORK_READ:
		/*
		 * Write and credit the output that came before this read, so that the credit is sent before the answer.
		 */
		logstore_credit(&logs->logstore);
		logstore_read(&logs->logstore, work->conn, &work->read);
		break;
	case WORK_ENDED:
		logstore_ended(&logs->logstore, work->ended, work->ended_count);
		break;
	case WORK_RUN_ENDED:
		squeeze_add(&logs->logstore.squeeze, work->runs[0]);
		break;
	case WORK_RESUME:
		squeeze_add_all(&logs->logstore.squeeze, work->runs, work->run_count);
		break;
	case WORK_REMOVE:
		logstore_drop(&logs->logstore, work->run);
		logprune_remove(&logs->prune, work->run);
		break;
	case WORK_MEASURE:
		logprune_measure(&logs->prune);
		break;
	}
}

void logs_work_free(struct log_work *work)
{
	arena_free(&work->arena);
	mem_free(work);
}

/* Wait for work and take all of it; NULL: the log store has work that is due, or the logs are being closed. */
static struct log_work *wait_for_work(struct logs *logs, bool *ret_ending)
{
	struct timespec until;
	struct log_work *list = NULL;

	pthread_mutex_lock(&logs->lock);
	while (!logs->first && !logs->ending && !logprune_busy(&logs->prune)) {
		int64_t due_ns = logstore_due(&logs->logstore);

		if (due_ns == TIME_NEVER) {
			pthread_cond_wait(&logs->more, &logs->lock);
			continue;
		}
		if (due_ns <= clock_mono_ns())
			break;
		until.tv_sec = due_ns / NS_PER_S;
		until.tv_nsec = due_ns % NS_PER_S;
		pthread_cond_timedwait(&logs->more, &logs->lock, &until);
	}
	list = logs->first;
	logs->first = NULL;
	logs->last = NULL;
	logs->stats = logs->logstore.squeeze.stats;
	*ret_ending = logs->ending;
	pthread_mutex_unlock(&logs->lock);
	return list;
}

void logs_count(struct logs *logs, uint64_t conn, size_t more)
{
	size_t now = (size_t)(uintptr_t)map_get(&logs->queued_by, conn) + more;

	if (more == 0)
		return;
	logs->queued += more;
	if (now > 0)
		map_put(&logs->queued_by, conn, (void *)(uintptr_t)now);
	else
		map_remove(&logs->queued_by, conn);
}

void *logs_thread_run(void *arg)
{
	struct logs *logs = arg;
	bool ending = false;

	/* Work that is taken together with the ending flag is the last. */
	while (!ending) {
		struct log_work *list = wait_for_work(logs, &ending);
		bool busy = list != NULL || ending;

		while (list) {
			struct log_work *work = list;
			size_t bytes = work->bytes;
			uint64_t conn = work->conn;

			list = work->next;
			do_work(logs, work);
			logs_work_free(work);
			pthread_mutex_lock(&logs->lock);
			logs_count(logs, conn, 0 - bytes);
			pthread_mutex_unlock(&logs->lock);
			if (!list)
				logstore_credit(&logs->logstore);
		}
		/* Don't compress while measuring, because a log would be counted in both forms. */
		logstore_wake(&logs->logstore, busy || logprune_busy(&logs->prune));
		if (!ending && logprune_busy(&logs->prune))
			logprune_some(&logs->prune);
	}
	logstore_sync(&logs->logstore);
	return NULL;
}
