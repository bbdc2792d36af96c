/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the files of output and what their workers are owed. Files are synced in groups: a worker keeps its copy
 * until it hears that ours is on disk, so a crash loses nothing and nobody waits for a sync. What can't be
 * written is counted, said once, and never stops anything.
 */
#include "master/logkeep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "master/logfile.h"
#include "master/logread.h"
#include "proto/limits.h"

#define FILES_MAX       16384            /* whose state is kept in memory */
#define SYNC_AFTER_NS   (100 * NS_PER_MS)
#define CREDIT_EVERY    1048576          /* bytes written */
#define CREDITS_MAX     8192             /* in a frame */
#define AGAIN_NS        NS_PER_S         /* between two tries to write what there was no room for */

struct file {
	struct logfile log;
	uint64_t conn;                   /* that sent the latest piece */
	bool credit_due[2];              /* for stdout, stderr */
	bool ended;                      /* forget it once it is synced */
	struct passing passing;
	bool complained;
	struct file *chain;              /* other attempts of the same job */
	struct file *newer, *older;      /* by use */
	struct file *touched_next;       /* has credit to give */
	bool touched;
	struct file *dirty_next;
	bool listed_dirty;
};

struct credit {
	uint64_t conn;
	bool again;
	struct rec_credit credit;
};

/* ---- credit ---- */

static struct credit *add_credit(struct keeper *keeper, const struct file *file, int stream, bool synced)
{
	struct credit *credit;

	if (keeper->credit_count == keeper->credit_cap) {
		keeper->credit_cap = keeper->credit_cap ? keeper->credit_cap * 2 : 64;
		keeper->credits = mem_resize(keeper->credits, keeper->credit_cap, sizeof(*keeper->credits));
	}
	credit = &keeper->credits[keeper->credit_count++];
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

/* One frame for each connection. */
static void send_credits(struct keeper *keeper)
{
	struct rec_credit *items = mem_array(keeper->credit_count + 1, sizeof(*items));
	size_t at = 0, end;

	qsort(keeper->credits, keeper->credit_count, sizeof(*keeper->credits), compare_credit_cb);
	for (size_t i = 0; i < keeper->credit_count; i++)
		items[i] = keeper->credits[i].credit;
	for (; at < keeper->credit_count; at = end) {
		struct log_answer *frame = mem_zalloc(sizeof(*frame));
		struct msg_credit msg;

		for (end = at; end < keeper->credit_count && keeper->credits[end].conn == keeper->credits[at].conn &&
		     keeper->credits[end].again == keeper->credits[at].again && end - at < CREDITS_MAX;)
			end++;
		if (keeper->credits[at].again)
			msg = (struct msg_credit){ .again = { items + at, end - at } };
		else
			msg = (struct msg_credit){ .items = { items + at, end - at } };
		frame->conn = keeper->credits[at].conn;
		message_encode(&frame->frames, OP_CREDIT, &msg);
		keeper->answer_cb(keeper->arg, frame);
	}
	keeper->credit_count = 0;
	mem_free(items);
}

/* ---- files ---- */

static void list_remove(struct keeper *keeper, struct file *file)
{
	*(file->newer ? &file->newer->older : &keeper->newest) = file->older;
	*(file->older ? &file->older->newer : &keeper->oldest) = file->newer;
	file->newer = NULL;
	file->older = NULL;
}

static void list_front(struct keeper *keeper, struct file *file)
{
	file->older = keeper->newest;
	if (keeper->newest)
		keeper->newest->newer = file;
	keeper->newest = file;
	if (!keeper->oldest)
		keeper->oldest = file;
}

static void close_fd(struct keeper *keeper, struct file *file)
{
	if (file->log.fd < 0)
		return;
	logfile_close(&file->log);
	keeper->fd_count--;
}

static void forget(struct keeper *keeper, struct file *file)
{
	struct file *first = map_get(&keeper->files, file->log.job), **at = &first;

	CHECK(!file->touched && !file->listed_dirty);
	close_fd(keeper, file);
	logfile_free(&file->log);
	passing_clear(&keeper->passing, &file->passing);
	list_remove(keeper, file);
	while (*at != file)
		at = &(*at)->chain;
	*at = file->chain;
	if (first)
		map_put(&keeper->files, file->log.job, first);
	else
		map_remove(&keeper->files, file->log.job);
	keeper->file_count--;
	mem_free(file);
}

static void complain(struct file *file, int result, const char *what)
{
	if (!file->complained)
		log_error("%s the log of job %llu of run %llu: %s; %s", what, (unsigned long long)file->log.job,
			  (unsigned long long)file->log.run, strerror(-result),
			  file->log.stuck ? "the job waits until that is over" : "what is lost is counted");
	file->complained = true;
}

void keeper_credit(struct keeper *keeper)
{
	keeper->written = 0;
	while (keeper->touched) {
		struct file *file = keeper->touched;

		keeper->touched = file->touched_next;
		file->touched = false;
		for (int stream = 0; stream < 2; stream++) {
			if (file->credit_due[stream])
				add_credit(keeper, file, stream, false);
			file->credit_due[stream] = false;
		}
		if (file->ended && !file->listed_dirty && !file->log.stuck)
			forget(keeper, file);
	}
	if (keeper->credit_count > 0)
		send_credits(keeper);
}

/* It isn't lost: in a while its worker is asked for it again, and until then its job waits. */
static void mark_stuck(struct keeper *keeper)
{
	if (keeper->again_due_ns == TIME_NEVER)
		keeper->again_due_ns = clock_mono_ns() + AGAIN_NS;
}

/* The names of new files are on disk with their run's directory: one sync for all that come in a row. */
static int sync_file(struct keeper *keeper, struct file *file, uint64_t *synced_run)
{
	int result = logfile_sync(&file->log);

	if (result == 0 && file->log.fresh && *synced_run != file->log.run) {
		result = logfile_sync_name(&file->log, keeper->dir_fd);
		*synced_run = file->log.run;
	}
	if (result == 0)
		file->log.fresh = false;
	return result;
}

/* A failed sync is told once by the kernel: these bytes are never said to be on disk, and not tried again. */
void keeper_sync(struct keeper *keeper)
{
	struct file *dirty = keeper->dirty;
	uint64_t synced_run = UINT64_MAX;

	keeper->dirty = NULL;
	keeper->sync_due_ns = TIME_NEVER;
	for (struct file *file = dirty; file && file->dirty_next; file = file->dirty_next)
		logfile_start_sync(&file->log);
	while (dirty) {
		struct file *file = dirty;
		int result = sync_file(keeper, file, &synced_run);

		dirty = file->dirty_next;
		file->listed_dirty = false;
		file->log.dirty = false;
		if (result < 0) {
			logfile_unsync(&file->log);
			complain(file, result, "can't sync");
			if (file->log.stuck)
				mark_stuck(keeper);
		}
		for (int stream = 0; stream < 2 && result == 0; stream++)
			if (file->log.received[stream] > 0)
				add_credit(keeper, file, stream, true);
		if (file->ended && !file->touched && !file->log.stuck)
			forget(keeper, file);
	}
	if (keeper->credit_count > 0)
		send_credits(keeper);
}

static void evict(struct keeper *keeper)
{
	struct file *file, *newer;

	if (keeper->fd_count <= keeper->fds_max && keeper->file_count <= FILES_MAX)
		return;
	keeper_sync(keeper);
	for (file = keeper->oldest; file && keeper->fd_count > keeper->fds_max / 2; file = file->newer)
		if (!file->listed_dirty)
			close_fd(keeper, file);
	for (file = keeper->oldest; file && keeper->file_count > FILES_MAX; file = newer) {
		newer = file->newer;
		if (!file->listed_dirty && !file->touched && !file->log.stuck)
			forget(keeper, file);
	}
}

/* Run 0 is any: who says that an attempt has ended doesn't name its run. */
static struct file *find(const struct keeper *keeper, uint64_t run, uint64_t job, uint64_t epoch)
{
	struct file *file = map_get(&keeper->files, job);

	while (file && (file->log.epoch != epoch || (run != 0 && file->log.run != run)))
		file = file->chain;
	return file;
}

/* Its state, with the file open when ret_result is 0. */
static struct file *take_file(struct keeper *keeper, uint64_t run, uint64_t job, uint64_t epoch, bool create,
			      int *ret_result)
{
	struct file *file = find(keeper, run, job, epoch);

	if (!file) {
		file = mem_zalloc(sizeof(*file));
		logfile_init(&file->log, run, job, epoch);
		file->chain = map_get(&keeper->files, job);
		map_put(&keeper->files, job, file);
		keeper->file_count++;
	} else {
		list_remove(keeper, file);
	}
	list_front(keeper, file);
	*ret_result = 0;
	if (file->log.fd < 0) {
		*ret_result = logfile_open(&file->log, keeper->dir_fd, create);
		keeper->fd_count += file->log.fd >= 0;
	}
	return file;
}

/* ---- work ---- */

static void mark_touched(struct keeper *keeper, struct file *file, const struct rec_output *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		file->credit_due[items[i].stream - 1] = true;
	if (!file->touched) {
		file->touched = true;
		file->touched_next = keeper->touched;
		keeper->touched = file;
	}
	if (file->log.dirty && !file->listed_dirty) {
		file->listed_dirty = true;
		file->dirty_next = keeper->dirty;
		keeper->dirty = file;
		if (keeper->sync_due_ns == TIME_NEVER)
			keeper->sync_due_ns = clock_mono_ns() + SYNC_AFTER_NS;
	}
}

static int thaw(struct keeper *keeper, struct file *file)
{
	int result;

	keeper->fd_count--;
	result = logfile_thaw(&file->log, keeper->dir_fd);
	keeper->fd_count += file->log.fd >= 0;
	return result;
}

/* What was compressed, and has more to come after all, is made plain first. */
static int write_pieces(struct keeper *keeper, struct file *file, const struct rec_output *items, size_t count)
{
	int result = 0;

	if (file->log.fd >= 0 && file->log.pack && !logfile_wants(&file->log, items, count))
		return 0;
	if (file->log.fd >= 0 && file->log.pack)
		result = thaw(keeper, file);
	squeeze_written(&keeper->squeeze, file->log.run, file->log.job, file->log.epoch);
	if (result == 0 && file->log.fd >= 0)
		return logfile_append(&file->log, items, count);
	logfile_lose(&file->log, items, count);
	return result;
}

static void append(struct keeper *keeper, uint64_t conn, uint64_t max, const struct rec_output *items, size_t count)
{
	struct file *file;
	int opened, result;

	file = take_file(keeper, items->run, items->job, items->epoch, true, &opened);
	file->conn = conn;
	file->log.cap = max;
	result = write_pieces(keeper, file, items, count);
	/* Even when all of it had come before: whether that was synced, nobody may know any more. */
	file->log.dirty |= file->log.fd >= 0;
	if (opened < 0 || result < 0)
		complain(file, opened < 0 ? opened : result, "can't write");
	if (file->log.stuck)
		mark_stuck(keeper);
	mark_touched(keeper, file, items, count);
	/* There is nothing to wait for: the worker may drop what is lost here. */
	for (int stream = 0; stream < 2 && file->log.fd < 0 && !file->log.stuck; stream++)
		add_credit(keeper, file, stream, true);
	for (size_t i = 0; i < count; i++)
		keeper->written += items[i].data.len;
	evict(keeper);
	if (keeper->written >= CREDIT_EVERY)
		keeper_credit(keeper);
}

static uint64_t bound_of(const struct msg_output *output, const struct rec_output *item)
{
	for (size_t i = 0; i < output->bounds.n; i++)
		if (output->bounds.at[i].job == item->job && output->bounds.at[i].epoch == item->epoch)
			return output->bounds.at[i].max;
	return LIMIT_LOG_JOB_MAX;
}

void keeper_append(struct keeper *keeper, uint64_t conn, const struct msg_output *output)
{
	const struct rec_output *items = output->items.at;
	size_t at = 0, end, count = output->items.n;

	for (; at < count; at = end) {
		for (end = at + 1; end < count && items[end].job == items[at].job &&
		     items[end].epoch == items[at].epoch && items[end].run == items[at].run;)
			end++;
		append(keeper, conn, bound_of(output, &items[at]), items + at, end - at);
	}
	for (size_t i = 0; i < output->passing.n; i++) {
		const struct rec_output *item = &output->passing.at[i];
		struct file *file = find(keeper, item->run, item->job, item->epoch);

		if (file && !file->ended)
			passing_add(&keeper->passing, &file->passing, item);
	}
}

void keeper_read(struct keeper *keeper, uint64_t conn, const struct msg_log_read *read)
{
	struct log_answer *reply = mem_zalloc(sizeof(*reply));
	struct msg_log_data data = { .id = read->id, .offset = read->offset };
	struct arena arena = { 0 };
	struct file *file;
	int result;

	reply->conn = conn;
	reply->is_read = true;
	file = take_file(keeper, read->run, read->job, read->epoch, false, &result);
	if (result == 0)
		result = logread_pieces(&file->log, &file->passing, read, &arena, &data);
	if (result == -ENOENT) {
		/* It has written nothing, or never existed: the asker knows which. */
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
		forget(keeper, file);
	evict(keeper);
	keeper->answer_cb(keeper->arg, reply);
}

/* All that its worker would send has come, and it is less than the job wrote. */
static void complete(struct keeper *keeper, struct file *file, const struct rec_done *done)
{
	int result;

	take_file(keeper, file->log.run, done->job, done->epoch, true, &result);
	if (result == 0 && file->log.pack)
		result = thaw(keeper, file);
	if (result == 0)
		result = logfile_complete(&file->log, done->out_bytes, done->ended_ms);
	if (result < 0)
		complain(file, result, "can't write");
	mark_touched(keeper, file, NULL, 0);
	evict(keeper);
}

void keeper_ended(struct keeper *keeper, const struct rec_done *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct file *file = find(keeper, 0, items[i].job, items[i].epoch);

		if (!file)
			continue;
		file->ended = true;
		passing_clear(&keeper->passing, &file->passing);
		/* What it has to send again is all that is missing. */
		if (file->log.stuck)
			continue;
		if (items[i].out_bytes > file->log.kept + file->log.dropped)
			complete(keeper, file, &items[i]);
		if (!file->listed_dirty && !file->touched)
			forget(keeper, file);
	}
}

/* ---- what can wait ---- */

/* Lossless jobs whose output there was no room for: from where they are to send it again. */
static void ask_again(struct keeper *keeper)
{
	bool any = false;

	for (const struct file *file = keeper->newest; file; file = file->older) {
		if (!file->log.stuck)
			continue;
		any = true;
		for (int stream = 0; stream < 2; stream++)
			add_credit(keeper, file, stream, false)->again = true;
	}
	keeper->again_due_ns = any ? clock_mono_ns() + AGAIN_NS : TIME_NEVER;
	if (any)
		send_credits(keeper);
}

static bool release_cb(void *arg, uint64_t run, uint64_t job, uint64_t epoch)
{
	struct keeper *keeper = arg;
	struct file *file = find(keeper, run, job, epoch);

	if (!file)
		return true;
	if (file->touched || file->listed_dirty || file->log.stuck || file->passing.first)
		return false;
	forget(keeper, file);
	return true;
}

int64_t keeper_due(const struct keeper *keeper)
{
	int64_t due_ns = keeper->sync_due_ns;

	due_ns = keeper->again_due_ns < due_ns ? keeper->again_due_ns : due_ns;
	return keeper->squeeze.due_ns < due_ns ? keeper->squeeze.due_ns : due_ns;
}

void keeper_wake(struct keeper *keeper, bool busy)
{
	int64_t now_ns = clock_mono_ns();

	if (keeper->sync_due_ns <= now_ns)
		keeper_sync(keeper);
	if (keeper->again_due_ns <= now_ns)
		ask_again(keeper);
	if (!busy && keeper->squeeze.due_ns <= now_ns)
		squeeze_step(&keeper->squeeze);
}

void keeper_drop(struct keeper *keeper, uint64_t run)
{
	squeeze_drop(&keeper->squeeze, run);
	for (struct file *file = keeper->newest, *older; file; file = older) {
		older = file->older;
		if (file->log.run != run)
			continue;
		if (file->touched || file->listed_dirty) {
			keeper_credit(keeper);
			keeper_sync(keeper);
			older = keeper->newest;  /* either may have forgotten some */
			continue;
		}
		forget(keeper, file);
	}
}

/* ---- beginning and end ---- */

void keeper_init(struct keeper *keeper, int dir_fd, size_t fds_max,
		 void (*answer_cb)(void *arg, struct log_answer *answer), void *arg)
{
	*keeper = (struct keeper){
		.dir_fd = dir_fd, .fds_max = fds_max, .answer_cb = answer_cb, .arg = arg, .sync_due_ns = TIME_NEVER,
		.again_due_ns = TIME_NEVER, .passing.number = (uint64_t)clock_wall_ms() << 20,
	};
	squeeze_init(&keeper->squeeze, dir_fd, release_cb, keeper);
}

void keeper_free(struct keeper *keeper)
{
	squeeze_free(&keeper->squeeze);
	while (keeper->newest) {
		keeper->newest->touched = false;
		keeper->newest->listed_dirty = false;
		forget(keeper, keeper->newest);
	}
	map_free(&keeper->files);
	mem_free(keeper->credits);
	close(keeper->dir_fd);
}
