/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log thread: what it guarantees to lossless jobs when the disk is full, and to watchers of the live tail. */
#include "master/logstore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "master/logcredit.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/greatest.h"
#include "scratch.h"

static char dir[SCRATCH_SIZE];
static struct logstore logstore;
static struct log_answer *answers, **answers_end;
static struct arena arena;

/* number of the next calls of each kind that fail with EIO */
static unsigned failing_syncs, failing_cuts, failing_names;

static int call(unsigned *failing, long number, long first, long second)
{
	if (*failing > 0) {
		(*failing)--;
		errno = EIO;
		return -1;
	}
	return (int)syscall(number, first, second);
}

int fdatasync(int fd)
{
	return call(&failing_syncs, SYS_fdatasync, fd, 0);
}

static char synced_names[256];           /* directories whose names were synced, such as /1/2 */

int fsync(int fd)
{
	char link[64], path[PATH_MAX] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) > 0 && strlen(synced_names) + 32 < sizeof(synced_names))
		strncat(synced_names, strrchr(path, '/'), 31);
	return call(&failing_names, SYS_fsync, fd, 0);
}

int ftruncate(int fd, off_t size)
{
	return call(&failing_cuts, SYS_ftruncate, fd, size);
}

static void answer_cb(void *arg, struct log_answer *answer)
{
	(void)arg;
	*answers_end = answer;
	answers_end = &answer->next;
}

static void setup_cb(void *data)
{
	int fd;

	(void)data;
	scratch_new("logstore", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	answers = NULL;
	answers_end = &answers;
	logstore_init(&logstore, fd, 16, answer_cb, NULL);
	signal(SIGXFSZ, SIG_IGN);
}

/* Take the oldest answer as a message; false: there is none, or it has another opcode. */
static bool answered(enum opcode op, void *ret_msg)
{
	struct log_answer *answer = answers;
	struct frame frame;
	struct error error;
	size_t size;
	bool good;

	if (!answer)
		return false;
	answers = answer->next;
	if (!answers)
		answers_end = &answers;
	good = frame_read(buf_slice(&answer->frames), LIMIT_FRAME_MAX, &frame, &size, &error) == FRAME_WHOLE &&
	       frame.opcode == op &&
	       message_decode(op, arena_copy(&arena, frame.body), &arena, ret_msg, &error) == ERR_NONE;
	log_answer_free(answer);
	return good;
}

static void teardown_cb(void *data)
{
	(void)data;
	while (answers) {
		struct log_answer *next = answers->next;

		log_answer_free(answers);
		answers = next;
	}
	logstore_free(&logstore);
	arena_free(&arena);
	if (io_remove_tree(AT_FDCWD, dir) != 0)
		abort();
}

static void limit_files(rlim_t bytes)
{
	const struct rlimit limit = { bytes, RLIM_INFINITY };

	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		abort();
}

static void append(uint64_t max, uint64_t offset, struct slice data)
{
	struct rec_output item = { .job = 5, .epoch = 2, .run = 1, .stream = 1, .offset = offset, .wall_ms = 1, .data = data };
	struct rec_log_bound bound = { .job = 5, .epoch = 2, .max = max };
	const struct msg_output output = { .items = { &item, 1 }, .bounds = { &bound, 1 } };

	logstore_append(&logstore, 9, &output);
	logstore_credit(&logstore);
}

static bool read_all(struct msg_log_data *ret_data)
{
	const struct msg_log_read read = { .id = 1, .run = 1, .job = 5, .epoch = 2 };

	logstore_read(&logstore, 9, &read);
	return answered(OP_LOG_DATA, ret_data);
}

/*
 * Nothing of a lossless job is dropped: when there is room again, the worker is asked to send from where writing
 * stopped.
 */
TEST a_lossless_job_waits_for_room(void)
{
	uint8_t *bytes = mem_zalloc(20000);
	struct msg_credit credit;
	struct msg_log_data data;
	struct rec_done done = { .job = 5, .epoch = 2, .out_bytes = 20000 };
	uint64_t kept = 0;

	memset(bytes, 'x', 20000);
	append(LOG_LOSSLESS, 0, slice_make(bytes, 5000));
	ASSERT(answered(OP_CREDIT, &credit));
	ASSERT_EQ_FMT(5000ul, credit.items.at[0].offset, "%lu");
	limit_files(8000);
	append(LOG_LOSSLESS, 5000, slice_make(bytes, 10000));
	ASSERT(answered(OP_CREDIT, &credit));
	ASSERT_EQ_FMT(5000ul, credit.items.at[0].offset, "%lu");
	/* Pieces that were sent before the worker knew are ignored, and so is the report of the job's end. */
	append(LOG_LOSSLESS, 15000, slice_make(bytes, 5000));
	ASSERT(answered(OP_CREDIT, &credit));
	ASSERT_EQ_FMT(5000ul, credit.items.at[0].offset, "%lu");
	logstore_ended(&logstore, &done, 1);
	ASSERT(logstore.again_due_ns != TIME_NEVER);
	for (int i = 0; i < 2; i++) {
		logstore.again_due_ns = 0;
		logstore_wake(&logstore, true);
		ASSERTm("it is asked for once more, should that be lost",
			logstore.again_due_ns > 0 && logstore.again_due_ns != TIME_NEVER);
		while (answered(OP_CREDIT, &credit) && credit.again.n == 0)
			;
		ASSERT_EQ_FMT((size_t)2, credit.again.n, "%zu");
		ASSERT_EQ_FMT(5000ul, credit.again.at[0].offset, "%lu");
		ASSERT_EQ_FMT(0ul, credit.again.at[1].offset, "%lu");
		append(LOG_LOSSLESS, 5000, slice_make(bytes, 15000));
		while (answers)
			answered(OP_CREDIT, &credit);
		limit_files(RLIM_INFINITY);
	}
	ASSERT(read_all(&data));
	for (size_t i = 0; i < data.pieces.n; i++)
		kept += data.pieces.at[i].data.len;
	ASSERT_EQ_FMT(20000ul, kept, "%lu");
	ASSERT_EQ_FMT(0ul, data.dropped, "%lu");
	logstore.again_due_ns = 0;
	logstore_wake(&logstore, true);
	ASSERT_EQ(TIME_NEVER, logstore.again_due_ns);
	mem_free(bytes);
	PASS();
}

static void append_to_run(uint64_t run, uint64_t job)
{
	struct rec_output item = { .job = job, .epoch = 1, .run = run, .stream = 1, .wall_ms = 1, .data = slice_str("text") };
	const struct msg_output output = { .items = { &item, 1 } };

	logstore_append(&logstore, 9, &output);
	logstore_credit(&logstore);
}

/* One sync of a run's directory covers all its new files; the directories of other runs are synced too. */
TEST names_of_new_files_are_synced_in_every_run(void)
{
	append_to_run(1, 5);
	append_to_run(2, 6);
	append_to_run(3, 7);
	synced_names[0] = '\0';
	logstore_sync(&logstore);
	ASSERT(strstr(synced_names, "/1") && strstr(synced_names, "/2") && strstr(synced_names, "/3"));
	append_to_run(2, 6);
	synced_names[0] = '\0';
	logstore_sync(&logstore);
	ASSERT_STR_EQ("", synced_names);
	PASS();
}

TEST a_job_may_have_a_bound_of_its_own(void)
{
	uint8_t bytes[6000] = { 'x' };
	struct msg_credit credit;
	struct msg_log_data data;

	append(4096, 0, slice_make(bytes, sizeof(bytes)));
	ASSERT(answered(OP_CREDIT, &credit));
	ASSERT_EQ_FMT(6000ul, credit.items.at[0].offset, "%lu");
	ASSERT(read_all(&data));
	ASSERT_EQ_FMT(4096ul, data.kept, "%lu");
	ASSERT_EQ_FMT(1904ul, data.dropped, "%lu");
	PASS();
}

TEST what_passes_by_is_seen_once_and_not_kept(void)
{
	uint8_t *bytes = mem_zalloc(LIMIT_LIVE_TAIL);
	struct rec_output item = { .job = 5, .epoch = 2, .run = 1, .stream = 2, .offset = 1000000, .wall_ms = 1,
				   .data = slice_str("newest") };
	const struct msg_output output = { .live_tail = { &item, 1 } };
	struct msg_log_read read = { .id = 1, .run = 1, .job = 5, .epoch = 2 };
	struct rec_done done = { .job = 5, .epoch = 2, .out_bytes = 10 };
	struct msg_log_data data;
	struct msg_credit credit;

	append(4096, 0, slice_str("0123456789"));
	ASSERT(answered(OP_CREDIT, &credit));
	logstore_append(&logstore, 9, &output);
	ASSERT(read_all(&data));
	ASSERT_EQ_FMT((size_t)1, data.live_tail.n, "%zu");
	ASSERT(slice_eq(data.live_tail.at[0].data, slice_str("newest")));
	ASSERT_EQ_FMT(10ul, data.kept, "%lu");
	read.newest = data.newest;
	logstore_read(&logstore, 9, &read);
	ASSERT(answered(OP_LOG_DATA, &data));
	ASSERT_EQ_FMT((size_t)0, data.live_tail.n, "%zu");
	ASSERT_EQ_FMT(read.newest, data.newest, "%lu");
	/* Only the newest output stays in the live tail, however much comes. */
	item.data = slice_make(bytes, LIMIT_LIVE_TAIL / 2 + 1);
	for (int i = 0; i < 5; i++)
		logstore_append(&logstore, 9, &output);
	ASSERT_EQ_FMT((size_t)LIMIT_LIVE_TAIL / 2 + 1, logstore.live_tail.bytes, "%zu");
	logstore_read(&logstore, 9, &read);
	ASSERT(answered(OP_LOG_DATA, &data));
	ASSERT_EQ_FMT((size_t)1, data.live_tail.n, "%zu");
	logstore_ended(&logstore, &done, 1);
	ASSERT_EQ_FMT((size_t)0, logstore.live_tail.bytes, "%zu");
	mem_free(bytes);
	PASS();
}

/* Sync now, without waiting for the clock. *ret_synced: bytes of stdout that the answer reports as being on disk. */
static void sync_now(uint64_t *ret_synced)
{
	struct msg_credit credit;

	while (answers)
		(void)answered(OP_CREDIT, &credit);
	for (struct file *file = logstore.newest; file; file = file->older)
		file->retry_ns = file->retry_ns > 0;
	logstore_sync(&logstore);
	*ret_synced = 0;
	while (answers)
		if (answered(OP_CREDIT, &credit))
			for (size_t i = 0; i < credit.items.n; i++)
				if (credit.items.at[i].synced && credit.items.at[i].stream == 1)
					*ret_synced = credit.items.at[i].offset;
}

static bool reads(const char *text, uint64_t dropped)
{
	struct msg_log_data data;
	struct buf all = { 0 };
	bool same = read_all(&data);

	for (size_t i = 0; same && i < data.pieces.n; i++)
		buf_add_slice(&all, data.pieces.at[i].data);
	same = same && slice_eq(buf_slice(&all), slice_str(text)) && data.dropped == dropped;
	if (!same)
		printf("# '%.*s', %llu dropped\n", (int)all.len, (const char *)all.data, (unsigned long long)data.dropped);
	buf_free(&all);
	return same;
}

/* Start another master, which remembers nothing of this one. */
static void restart(void)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	logstore_free(&logstore);
	logstore_init(&logstore, fd, 16, answer_cb, NULL);
}

TEST bytes_of_a_failed_sync_are_counted_as_dropped(void)
{
	uint64_t synced;

	append(1000, 0, slice_str("kept "));
	sync_now(&synced);
	ASSERT_EQ_FMT(5ul, synced, "%lu");
	append(1000, 5, slice_str("lost "));
	failing_syncs = 1;
	sync_now(&synced);
	ASSERT_EQ_FMT(0ul, synced, "%lu");
	ASSERT(reads("kept ", 5));
	append(1000, 10, slice_str("later"));
	sync_now(&synced);
	ASSERT_EQ_FMT(15ul, synced, "%lu");
	ASSERT(reads("kept later", 5));
	restart();
	ASSERT(reads("kept later", 5));
	PASS();
}

/*
 * The job writes nothing more, so the failed sync must be repeated without a new piece; only then may the worker drop
 * its bytes.
 */
TEST a_failed_sync_is_tried_again_by_itself(void)
{
	uint64_t synced;

	append(1000, 0, slice_str("kept "));
	sync_now(&synced);
	append(1000, 5, slice_str("lost"));
	failing_syncs = failing_cuts = 2;
	sync_now(&synced);
	ASSERT(logstore_due(&logstore) != TIME_NEVER);
	/* The cut of the file fails for now, so nothing may be written to it. */
	append(1000, 9, slice_str("too"));
	sync_now(&synced);
	ASSERT_EQ_FMT(0ul, synced, "%lu");
	failing_syncs = failing_cuts = 0;
	sync_now(&synced);
	ASSERT_EQ_FMT(12ul, synced, "%lu");
	restart();
	ASSERT(reads("kept ", 7));
	PASS();
}

/* After a failed sync it isn't known whether bytes of another master are on disk, so they are written to a new file. */
TEST after_a_failed_sync_what_another_master_wrote_is_written_anew(void)
{
	struct stat before, after;
	uint64_t synced;

	append(1000, 0, slice_str("before "));
	restart();
	ASSERT_EQ(0, fstatat(logstore.dir_fd, "1/5.2", &before, 0));
	append(1000, 7, slice_str("lost"));
	failing_syncs = 1;
	sync_now(&synced);
	ASSERT_EQ_FMT(0ul, synced, "%lu");
	sync_now(&synced);
	ASSERT_EQ_FMT(11ul, synced, "%lu");
	ASSERT_EQ(0, fstatat(logstore.dir_fd, "1/5.2", &after, 0));
	ASSERT(before.st_ino != after.st_ino);
	restart();
	ASSERT(reads("before ", 4));
	PASS();
}

TEST a_file_whose_name_cant_be_synced_is_written_anew(void)
{
	struct stat before, after;
	uint64_t synced;

	append(1000, 0, slice_str("text"));
	ASSERT_EQ(0, fstatat(logstore.dir_fd, "1/5.2", &before, 0));
	failing_names = 1;
	sync_now(&synced);
	ASSERT_EQ_FMT(0ul, synced, "%lu");
	sync_now(&synced);
	ASSERT_EQ_FMT(4ul, synced, "%lu");
	ASSERT_EQ(0, fstatat(logstore.dir_fd, "1/5.2", &after, 0));
	ASSERT(before.st_ino != after.st_ino);
	ASSERT(reads("text", 0));
	PASS();
}

TEST a_run_is_removed_though_its_logs_cant_be_synced(void)
{
	uint64_t synced;

	append(1000, 0, slice_str("text"));
	failing_syncs = failing_cuts = 100;
	sync_now(&synced);
	logstore_drop(&logstore, 1);
	failing_syncs = failing_cuts = 0;
	ASSERT_EQ(NULL, logstore.newest);
	ASSERT_EQ(NULL, logstore.dirty);
	PASS();
}

SUITE(master_logstore)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(a_lossless_job_waits_for_room);
	RUN_TEST(names_of_new_files_are_synced_in_every_run);
	RUN_TEST(a_job_may_have_a_bound_of_its_own);
	RUN_TEST(what_passes_by_is_seen_once_and_not_kept);
	RUN_TEST(bytes_of_a_failed_sync_are_counted_as_dropped);
	RUN_TEST(a_failed_sync_is_tried_again_by_itself);
	RUN_TEST(after_a_failed_sync_what_another_master_wrote_is_written_anew);
	RUN_TEST(a_file_whose_name_cant_be_synced_is_written_anew);
	RUN_TEST(a_run_is_removed_though_its_logs_cant_be_synced);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_logstore);
	GREATEST_MAIN_END();
}
