/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Credit: tells workers which output was written, is on disk, or must be sent again. Files are synced in groups. A
 * worker keeps its copy of the output until it is told that the master's is on disk, so a crash loses nothing and no
 * write waits for a sync.
 */
#include "master/logcredit.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#define SYNC_AFTER_NS   (100 * NS_PER_MS)
#define CREDITS_MAX     8192             /* most credits in a frame */
#define AGAIN_NS        NS_PER_S         /* time between two tries to write when the disk was full */

struct credit {
	uint64_t conn;
	bool again;
	struct rec_credit credit;
};

/* ---- gathering and sending credits ---- */

struct credit *credit_add(struct logstore *logstore, const struct file *file, int stream, bool synced)
{
	struct credit *credit;

	if (logstore->credit_count == logstore->credit_cap) {
		logstore->credit_cap = logstore->credit_cap ? logstore->credit_cap * 2 : 64;
		logstore->credits = mem_resize(logstore->credits, logstore->credit_cap, sizeof(*logstore->credits));
	}
	credit = &logstore->credits[logstore->credit_count++];
	credit->conn = file->conn;
	credit->again = false;
	credit->credit = (struct rec_credit){
		.job = file->log.job,
		.epoch = file->log.epoch,
		.stream = (uint64_t)stream + 1,
		.offset = file->log.received[stream],
		.synced = synced,
	};
	return credit;
}

static int compare_credit_cb(const void *a, const void *b)
{
	const struct credit *left = a, *right = b;

	if (left->conn == right->conn)
		return left->again - right->again;
	return left->conn < right->conn ? -1 : 1;
}

/* Send the gathered credits, grouped in frames by connection. */
static void send_credits(struct logstore *logstore)
{
	struct rec_credit *items = mem_array(logstore->credit_count + 1, sizeof(*items));
	size_t at = 0, end;

	qsort(logstore->credits, logstore->credit_count, sizeof(*logstore->credits), compare_credit_cb);
	for (size_t i = 0; i < logstore->credit_count; i++)
		items[i] = logstore->credits[i].credit;
	for (; at < logstore->credit_count; at = end) {
		struct log_answer *frame = mem_zalloc(sizeof(*frame));
		struct msg_credit msg;

		for (end = at; end < logstore->credit_count && logstore->credits[end].conn == logstore->credits[at].conn &&
		     logstore->credits[end].again == logstore->credits[at].again && end - at < CREDITS_MAX;)
			end++;
		if (logstore->credits[at].again)
			msg = (struct msg_credit){ .again = { items + at, end - at } };
		else
			msg = (struct msg_credit){ .items = { items + at, end - at } };
		frame->conn = logstore->credits[at].conn;
		message_encode(&frame->frames, OP_CREDIT, &msg);
		logstore->answer_cb(logstore->arg, frame);
	}
	logstore->credit_count = 0;
	mem_free(items);
}

void logstore_credit(struct logstore *logstore)
{
	logstore->written = 0;
	while (logstore->touched) {
		struct file *file = logstore->touched;

		logstore->touched = file->touched_next;
		file->touched = false;
		for (int stream = 0; stream < 2; stream++) {
			if (file->credit_due[stream])
				credit_add(logstore, file, stream, false);
			file->credit_due[stream] = false;
		}
		if (file->ended && !file->listed_dirty && !file->log.stuck)
			file_forget(logstore, file);
	}
	if (logstore->credit_count > 0)
		send_credits(logstore);
}

void credit_stuck(struct logstore *logstore)
{
	if (logstore->again_due_ns == TIME_NEVER)
		logstore->again_due_ns = clock_mono_ns() + AGAIN_NS;
}

/*
 * Sync a file, and the directory if the file's name is new. Consecutive files of one run share a sync of the directory.
 */
static int sync_file(struct logstore *logstore, struct file *file, uint64_t *synced_run)
{
	int result = 0;

	if (file->log.fd < 0) {
		result = logfile_open(&file->log, logstore->dir_fd, false);
		logstore->fd_count += file->log.fd >= 0;
	}
	if (result == 0)
		result = logfile_mend(&file->log, logstore->dir_fd);
	if (result == 0)
		result = logfile_sync(&file->log);
	if (result == 0 && file->log.fresh && *synced_run != file->log.run) {
		result = logfile_sync_name(&file->log, logstore->dir_fd);
		*synced_run = file->log.run;
	}
	if (result == 0)
		file->log.fresh = false;
	return result;
}

static void list_dirty(struct logstore *logstore, struct file *file, int64_t due_ns)
{
	if (!file->listed_dirty) {
		file->listed_dirty = true;
		file->dirty_next = logstore->dirty;
		logstore->dirty = file;
	}
	if (due_ns < logstore->sync_due_ns)
		logstore->sync_due_ns = due_ns;
}

void credit_unlist(struct logstore *logstore, struct file *file)
{
	struct file **at = &logstore->dirty;

	if (!file->listed_dirty)
		return;
	while (*at != file)
		at = &(*at)->dirty_next;
	*at = file->dirty_next;
	file->listed_dirty = false;
}

/*
 * Handle a failed sync. The kernel reports it only once, so the unsynced bytes are removed from the file and are never
 * credited as on disk; the rest is synced later.
 */
static void sync_failed(struct logstore *logstore, struct file *file, int result)
{
	if (!file->log.broken && file->log.fd >= 0)
		(void)logfile_unsync(&file->log, logstore->dir_fd);
	file_complain(file, result, "can't sync");
	if (file->log.stuck)
		credit_stuck(logstore);
	file->retry_ns = clock_mono_ns() + AGAIN_NS;
	list_dirty(logstore, file, file->retry_ns);
}

void logstore_sync(struct logstore *logstore)
{
	int64_t now_ns = clock_mono_ns();
	struct file *dirty = logstore->dirty;
	uint64_t synced_run = UINT64_MAX;

	logstore->dirty = NULL;
	logstore->sync_due_ns = TIME_NEVER;
	for (struct file *file = dirty; file && file->dirty_next; file = file->dirty_next)
		logfile_start_sync(&file->log);
	while (dirty) {
		struct file *file = dirty;
		int result;

		dirty = file->dirty_next;
		file->listed_dirty = false;
		if (file->retry_ns > now_ns) {
			list_dirty(logstore, file, file->retry_ns);
			continue;
		}
		result = sync_file(logstore, file, &synced_run);
		if (result < 0) {
			sync_failed(logstore, file, result);
			continue;
		}
		file->retry_ns = 0;
		for (int stream = 0; stream < 2; stream++)
			if (file->log.received[stream] > 0)
				credit_add(logstore, file, stream, true);
		if (file->ended && !file->touched && !file->log.stuck)
			file_forget(logstore, file);
	}
	if (logstore->credit_count > 0)
		send_credits(logstore);
}

void credit_mark(struct logstore *logstore, struct file *file, const struct rec_output *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		file->credit_due[items[i].stream - 1] = true;
	if (!file->touched) {
		file->touched = true;
		file->touched_next = logstore->touched;
		logstore->touched = file;
	}
	if (file->log.dirty && !file->listed_dirty)
		list_dirty(logstore, file, clock_mono_ns() + SYNC_AFTER_NS);
}

/* Ask workers to send again the output of lossless jobs that couldn't be written for lack of room. */
void credit_ask_again(struct logstore *logstore)
{
	bool any = false;

	for (const struct file *file = logstore->newest; file; file = file->older) {
		if (!file->log.stuck)
			continue;
		any = true;
		for (int stream = 0; stream < 2; stream++)
			credit_add(logstore, file, stream, false)->again = true;
	}
	logstore->again_due_ns = any ? clock_mono_ns() + AGAIN_NS : TIME_NEVER;
	if (any)
		send_credits(logstore);
}
