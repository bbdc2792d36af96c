/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the log files. The first failed write of a file is logged, the file's bytes are counted as lost, and everything
 * else goes on. logcredit.c tells the workers what was stored.
 */
#include "master/logstore.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "master/logcredit.h"
#include "master/logread_answer.h"
#include "proto/limits.h"

#define FILES_MAX       16384            /* most files whose state is kept in memory */
#define CREDIT_EVERY    1048576          /* bytes written after which credit is given */

/* ---- files ---- */

static void list_remove(struct logstore *logstore, struct file *file)
{
	*(file->newer ? &file->newer->older : &logstore->newest) = file->older;
	*(file->older ? &file->older->newer : &logstore->oldest) = file->newer;
	file->newer = NULL;
	file->older = NULL;
}

static void list_front(struct logstore *logstore, struct file *file)
{
	file->older = logstore->newest;
	if (logstore->newest)
		logstore->newest->newer = file;
	logstore->newest = file;
	if (!logstore->oldest)
		logstore->oldest = file;
}

static void close_fd(struct logstore *logstore, struct file *file)
{
	if (file->log.fd < 0)
		return;
	logfile_close(&file->log);
	logstore->fd_count--;
}

void file_forget(struct logstore *logstore, struct file *file)
{
	struct file *first = map_get(&logstore->files, file->log.job), **at = &first;

	CHECK(!file->touched && !file->listed_dirty);
	close_fd(logstore, file);
	logfile_free(&file->log);
	live_tail_clear(&logstore->live_tail, &file->live_tail);
	list_remove(logstore, file);
	while (*at != file)
		at = &(*at)->chain;
	*at = file->chain;
	if (first)
		map_put(&logstore->files, file->log.job, first);
	else
		map_remove(&logstore->files, file->log.job);
	logstore->file_count--;
	mem_free(file);
}

void file_complain(struct file *file, int result, const char *what)
{
	if (!file->complained)
		log_error_limited("%s the log of job %llu of run %llu: %s; %s", what, (unsigned long long)file->log.job,
				  (unsigned long long)file->log.run, strerror(-result),
				  file->log.stuck ? "the job waits until the log can be written again" : "the master counts the lost bytes");
	file->complained = true;
}

static void evict(struct logstore *logstore)
{
	struct file *file, *newer;

	if (logstore->fd_count <= logstore->fds_max && logstore->file_count <= FILES_MAX)
		return;
	logstore_sync(logstore);
	for (file = logstore->oldest; file && logstore->fd_count > logstore->fds_max / 2; file = file->newer)
		if (!file->listed_dirty || file->retry_ns > 0)
			close_fd(logstore, file);
	for (file = logstore->oldest; file && logstore->file_count > FILES_MAX; file = newer) {
		newer = file->newer;
		if (!file->listed_dirty && !file->touched && !file->log.stuck)
			file_forget(logstore, file);
	}
}

/* Find the file of an attempt. run 0 matches any run: the report of an attempt's end doesn't name the run. */
static struct file *find(const struct logstore *logstore, uint64_t run, uint64_t job, uint64_t epoch)
{
	struct file *file = map_get(&logstore->files, job);

	while (file && (file->log.epoch != epoch || (run != 0 && file->log.run != run)))
		file = file->chain;
	return file;
}

/* Find or make the state of a file, and open the file; it is open if *ret_result is 0. */
static struct file *take_file(struct logstore *logstore, uint64_t run, uint64_t job, uint64_t epoch, bool create,
			      int *ret_result)
{
	struct file *file = find(logstore, run, job, epoch);

	if (!file) {
		file = mem_zalloc(sizeof(*file));
		logfile_init(&file->log, run, job, epoch);
		file->chain = map_get(&logstore->files, job);
		map_put(&logstore->files, job, file);
		logstore->file_count++;
	} else {
		list_remove(logstore, file);
	}
	list_front(logstore, file);
	*ret_result = 0;
	if (file->log.fd < 0) {
		*ret_result = logfile_open(&file->log, logstore->dir_fd, create);
		logstore->fd_count += file->log.fd >= 0;
	}
	return file;
}

/* ---- work ---- */

static int thaw(struct logstore *logstore, struct file *file)
{
	int result;

	logstore->fd_count--;
	result = logfile_thaw(&file->log, logstore->dir_fd);
	logstore->fd_count += file->log.fd >= 0;
	return result;
}

/* Write pieces. If the log is already compressed and there is new output after all, make it plain first. */
static int write_pieces(struct logstore *logstore, struct file *file, const struct rec_output *items, size_t count)
{
	int result = 0;

	if (file->log.fd >= 0 && file->log.pack && !logfile_wants(&file->log, items, count))
		return 0;
	if (file->log.fd >= 0 && file->log.pack)
		result = thaw(logstore, file);
	squeeze_written(&logstore->squeeze, file->log.run, file->log.job, file->log.epoch);
	if (result == 0 && file->log.fd >= 0)
		return logfile_append(&file->log, items, count);
	logfile_lose(&file->log, items, count);
	return result;
}

static void append(struct logstore *logstore, uint64_t conn, uint64_t max, const struct rec_output *items, size_t count)
{
	struct file *file;
	int opened, result;

	file = take_file(logstore, items->run, items->job, items->epoch, true, &opened);
	file->conn = conn;
	file->log.cap = max;
	result = write_pieces(logstore, file, items, count);
	/* Sync even if all of the output had come before: it may not have been synced then. */
	file->log.dirty |= file->log.fd >= 0;
	if (opened < 0 || result < 0)
		file_complain(file, opened < 0 ? opened : result, "can't write");
	if (file->log.stuck)
		credit_stuck(logstore);
	credit_mark(logstore, file, items, count);
	/* The file can't be opened, so its bytes are lost: credit them, so that the worker drops its copy. */
	for (int stream = 0; stream < 2 && file->log.fd < 0 && !file->log.stuck; stream++)
		credit_add(logstore, file, stream, true);
	for (size_t i = 0; i < count; i++)
		logstore->written += items[i].data.len;
	evict(logstore);
	if (logstore->written >= CREDIT_EVERY)
		logstore_credit(logstore);
}

static uint64_t bound_of(const struct msg_output *output, const struct rec_output *item)
{
	for (size_t i = 0; i < output->bounds.n; i++)
		if (output->bounds.at[i].job == item->job && output->bounds.at[i].epoch == item->epoch)
			return output->bounds.at[i].max;
	return LIMIT_LOG_JOB_MAX;
}

void logstore_append(struct logstore *logstore, uint64_t conn, const struct msg_output *output)
{
	const struct rec_output *items = output->items.at;
	size_t at = 0, end, count = output->items.n;

	for (; at < count; at = end) {
		for (end = at + 1; end < count && items[end].job == items[at].job &&
		     items[end].epoch == items[at].epoch && items[end].run == items[at].run;)
			end++;
		append(logstore, conn, bound_of(output, &items[at]), items + at, end - at);
	}
	for (size_t i = 0; i < output->live_tail.n; i++) {
		const struct rec_output *item = &output->live_tail.at[i];
		struct file *file = find(logstore, item->run, item->job, item->epoch);

		if (file && !file->ended)
			live_tail_add(&logstore->live_tail, &file->live_tail, item);
	}
}

void logstore_read(struct logstore *logstore, uint64_t conn, const struct msg_log_read *read)
{
	struct log_answer *reply = mem_zalloc(sizeof(*reply));
	struct msg_log_data data = { .id = read->id, .offset = read->offset };
	struct arena arena = { 0 };
	struct file *file;
	int result;

	reply->conn = conn;
	reply->is_read = true;
	file = take_file(logstore, read->run, read->job, read->epoch, false, &result);
	if (result == 0)
		result = logread_pieces(&file->log, &file->live_tail, read, &arena, &data);
	if (result == -ENOENT) {
		/* The attempt wrote nothing, or never existed; the client knows which. */
		data.end = true;
		data.offset = 0;
		result = 0;
	}
	data.dropped = file->log.dropped;
	if (result < 0)
		logread_refuse(reply, read, result);
	else
		message_encode(&reply->frames, OP_LOG_DATA, &data);
	arena_free(&arena);
	if (!file->log.known && file->log.dropped == 0 && !file->touched && !file->log.stuck)
		file_forget(logstore, file);
	evict(logstore);
	logstore->answer_cb(logstore->arg, reply);
}

/* The worker has sent everything that it will, but the job wrote more: count the rest as dropped. */
static void complete(struct logstore *logstore, struct file *file, const struct rec_done *done)
{
	int result;

	take_file(logstore, file->log.run, done->job, done->epoch, true, &result);
	if (result == 0 && file->log.pack)
		result = thaw(logstore, file);
	if (result == 0)
		result = logfile_complete(&file->log, done->out_bytes, done->ended_ms);
	if (result < 0)
		file_complain(file, result, "can't write");
	credit_mark(logstore, file, NULL, 0);
	evict(logstore);
}

void logstore_ended(struct logstore *logstore, const struct rec_done *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct file *file = find(logstore, 0, items[i].job, items[i].epoch);

		if (!file)
			continue;
		file->ended = true;
		live_tail_clear(&logstore->live_tail, &file->live_tail);
		/* A lossless log isn't complete yet: the worker will send the missing part again. */
		if (file->log.stuck)
			continue;
		if (items[i].out_bytes > file->log.kept + file->log.dropped)
			complete(logstore, file, &items[i]);
		if (!file->listed_dirty && !file->touched)
			file_forget(logstore, file);
	}
}

/* ---- work that the log store delays ---- */

static bool release_cb(void *arg, uint64_t run, uint64_t job, uint64_t epoch)
{
	struct logstore *logstore = arg;
	struct file *file = find(logstore, run, job, epoch);

	if (!file)
		return true;
	if (file->touched || file->listed_dirty || file->log.stuck || file->live_tail.first)
		return false;
	file_forget(logstore, file);
	return true;
}

int64_t logstore_due(const struct logstore *logstore)
{
	int64_t due_ns = logstore->sync_due_ns;

	due_ns = logstore->again_due_ns < due_ns ? logstore->again_due_ns : due_ns;
	return logstore->squeeze.due_ns < due_ns ? logstore->squeeze.due_ns : due_ns;
}

void logstore_wake(struct logstore *logstore, bool busy)
{
	int64_t now_ns = clock_mono_ns();

	if (logstore->sync_due_ns <= now_ns)
		logstore_sync(logstore);
	if (logstore->again_due_ns <= now_ns)
		credit_ask_again(logstore);
	if (!busy && logstore->squeeze.due_ns <= now_ns)
		squeeze_step(&logstore->squeeze);
}

void logstore_drop(struct logstore *logstore, uint64_t run)
{
	squeeze_drop(&logstore->squeeze, run);
	for (struct file *file = logstore->newest, *older; file; file = older) {
		older = file->older;
		if (file->log.run != run)
			continue;
		if (file->touched || (file->listed_dirty && file->retry_ns == 0)) {
			logstore_credit(logstore);
			logstore_sync(logstore);
			older = logstore->newest;  /* start again: both calls may have removed files from the list */
			continue;
		}
		credit_unlist(logstore, file);
		file_forget(logstore, file);
	}
}

/* ---- opening and closing ---- */

void logstore_init(struct logstore *logstore, int dir_fd, size_t fds_max,
		 void (*answer_cb)(void *arg, struct log_answer *answer), void *arg)
{
	*logstore = (struct logstore){
		.dir_fd = dir_fd, .fds_max = fds_max, .answer_cb = answer_cb, .arg = arg, .sync_due_ns = TIME_NEVER,
		.again_due_ns = TIME_NEVER, .live_tail.number = (uint64_t)clock_wall_ms() << 20,
	};
	squeeze_init(&logstore->squeeze, dir_fd, release_cb, logstore);
}

void logstore_free(struct logstore *logstore)
{
	squeeze_free(&logstore->squeeze);
	while (logstore->newest) {
		logstore->newest->touched = false;
		logstore->newest->listed_dirty = false;
		file_forget(logstore, logstore->newest);
	}
	map_free(&logstore->files);
	mem_free(logstore->credits);
	close(logstore->dir_fd);
}
