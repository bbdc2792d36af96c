/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The spool: added records are read back, a torn or damaged end is cut off and nothing else, and a rewrite replaces the
 * file.
 */
#include "worker/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "greatest.h"
#include "scratch.h"

GREATEST_MAIN_DEFS();

#define RECORDS 5u

static char dir[SCRATCH_SIZE];
static int dir_fd;
static struct {
	unsigned count;
	unsigned types[64];
	uint64_t jobs[64];
} seen;

/* number of the next calls of each kind that fail with EIO; a failing write writes half */
static atomic_uint failing_syncs, failing_writes, failing_cuts;
static atomic_uint syncs;

static bool fails(atomic_uint *failing)
{
	if (*failing == 0)
		return false;
	(*failing)--;
	errno = EIO;
	return true;
}

int fdatasync(int fd)
{
	syncs++;
	return fails(&failing_syncs) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate(int fd, off_t size)
{
	return fails(&failing_cuts) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

ssize_t write(int fd, const void *data, size_t len)
{
	if (failing_writes == 1 && fails(&failing_writes))
		return -1;
	if (failing_writes == 2) {
		failing_writes = 1;
		len /= 2;
	}
	return syscall(SYS_write, fd, data, len);
}

static void setup_cb(void *data)
{
	(void)data;
	failing_syncs = failing_writes = failing_cuts = 0;
	scratch_new("spool", dir);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void teardown_cb(void *data)
{
	(void)data;
	close(dir_fd);
	io_remove_tree(AT_FDCWD, dir);
}

static void record_cb(enum spool_type type, struct slice body, void *owner)
{
	(void)owner;
	if (seen.count == 64 || body.len < sizeof(uint64_t))
		abort();
	seen.types[seen.count] = type;
	memcpy(&seen.jobs[seen.count++], body.data, sizeof(uint64_t));
}

static struct spool *reopen(size_t *ret_torn)
{
	struct spool *spool = NULL;
	struct error error;

	memset(&seen, 0, sizeof(seen));
	if (spool_open(dir_fd, record_cb, NULL, &spool, ret_torn, &error))
		return NULL;
	return spool;
}

static void add(struct spool *spool, enum spool_type type, uint64_t job)
{
	const struct ipc_attempt attempt = { job, 1 };

	spool_add(spool, type, &attempt, sizeof(attempt));
}

static void fill(void)
{
	size_t torn;
	struct spool *spool = reopen(&torn);

	for (unsigned i = 0; i < RECORDS; i++)
		add(spool, i % 2 ? SPOOL_ACKED : SPOOL_SHIPPED, 100 + i);
	spool_close(spool);
}

static struct buf content(void)
{
	struct buf data = { 0 };

	if (io_read_file(dir_fd, "spool", 1 << 20, &data) < 0)
		abort();
	return data;
}

static void put(const void *data, size_t len)
{
	if (io_write_file(dir_fd, "spool", data, len, 0600) < 0)
		abort();
}

TEST comes_back_in_order(void)
{
	size_t torn = 1;
	struct spool *spool;

	fill();
	spool = reopen(&torn);
	ASSERT(spool);
	ASSERT_EQ(0, torn);
	ASSERT_EQ_FMT(RECORDS, seen.count, "%u");
	for (unsigned i = 0; i < RECORDS; i++) {
		ASSERT_EQ(100 + i, seen.jobs[i]);
		ASSERT_EQ(i % 2 ? SPOOL_ACKED : SPOOL_SHIPPED, seen.types[i]);
	}
	add(spool, SPOOL_ACKED, 7);
	ASSERT_EQ(0, spool_flush(spool));
	spool_close(spool);
	spool = reopen(&torn);
	ASSERT_EQ_FMT(RECORDS + 1, seen.count, "%u");
	ASSERT_EQ(7, seen.jobs[RECORDS]);
	spool_close(spool);
	PASS();
}

TEST written_by_flush_alone(void)
{
	size_t torn;
	struct spool *spool = reopen(&torn);
	struct buf before = content(), after;

	add(spool, SPOOL_ACKED, 7);
	after = content();
	ASSERT_EQ(before.len, after.len);
	buf_free(&after);
	ASSERT_EQ(0, spool_flush(spool));
	after = content();
	ASSERT(after.len > before.len);
	buf_free(&before);
	buf_free(&after);
	spool_close(spool);
	PASS();
}

TEST torn_at_every_byte(void)
{
	struct buf data;
	size_t record;

	fill();
	data = content();
	record = (data.len - 16) / RECORDS;
	for (size_t len = 0; len <= data.len; len++) {
		size_t torn, whole = len < 16 ? 0 : (len - 16) / record;
		struct spool *spool;

		put(data.data, len);
		spool = reopen(&torn);
		ASSERT(spool);
		ASSERT_EQ_FMT((unsigned)whole, seen.count, "%u");
		ASSERT_EQ_FMT(len < 16 ? len : len - 16 - whole * record, torn, "%zu");
		add(spool, SPOOL_ACKED, 9);
		spool_close(spool);
		spool = reopen(&torn);
		ASSERT_EQ(0, torn);
		ASSERT_EQ_FMT((unsigned)whole + 1, seen.count, "%u");
		ASSERT_EQ(9, seen.jobs[whole]);
		spool_close(spool);
	}
	buf_free(&data);
	PASS();
}

TEST every_flipped_byte_is_seen(void)
{
	struct buf data;
	size_t record;

	fill();
	data = content();
	record = (data.len - 16) / RECORDS;
	for (size_t at = 0; at < data.len; at++) {
		size_t torn, whole = at < 16 ? 0 : (at - 16) / record;
		struct spool *spool;

		data.data[at] ^= 0x40;
		put(data.data, data.len);
		data.data[at] ^= 0x40;
		spool = reopen(&torn);
		ASSERT(spool);
		ASSERT_EQ_FMT((unsigned)whole, seen.count, "%u");
		ASSERT(torn > 0);
		spool_close(spool);
	}
	buf_free(&data);
	PASS();
}

/* A power cut may lose one write and keep the next: zeros stand where the lost one was, and end the spool. */
TEST zeros_end_it(void)
{
	size_t torn, record;
	struct spool *spool;
	struct buf data;

	fill();
	data = content();
	record = (data.len - 16) / RECORDS;
	for (unsigned lost = 0; lost < RECORDS; lost++) {
		struct buf holed = { 0 };

		buf_add(&holed, data.data, data.len);
		memset(holed.data + 16 + lost * record, 0, record);
		put(holed.data, holed.len);
		buf_free(&holed);
		spool = reopen(&torn);
		ASSERT_EQ_FMT(lost, seen.count, "%u");
		ASSERT_EQ_FMT((RECORDS - lost) * record, torn, "%zu");
		spool_close(spool);
	}
	buf_free(&data);
	PASS();
}

TEST rewrite_replaces(void)
{
	size_t torn;
	struct spool *spool;

	fill();
	spool = reopen(&torn);
	add(spool, SPOOL_ACKED, 1);
	spool_note(spool, 1, 1);
	spool_rewrite_begin(spool);
	add(spool, SPOOL_ACKED, 2);
	ASSERT_EQ(0, spool_rewrite_end(spool));
	add(spool, SPOOL_ACKED, 3);
	spool_close(spool);
	spool = reopen(&torn);
	ASSERT_EQ(0, torn);
	ASSERT_EQ_FMT(2u, seen.count, "%u");
	ASSERT_EQ(2, seen.jobs[0]);
	ASSERT_EQ(3, seen.jobs[1]);
	spool_close(spool);
	PASS();
}

TEST a_failed_rewrite_changes_nothing(void)
{
	size_t torn;
	struct spool *spool;

	fill();
	spool = reopen(&torn);
	add(spool, SPOOL_ACKED, 1);
	ASSERT_EQ(0, mkdirat(dir_fd, "spool.new", 0700));
	spool_rewrite_begin(spool);
	add(spool, SPOOL_ACKED, 2);
	ASSERT(spool_rewrite_end(spool) < 0);
	spool_close(spool);
	spool = reopen(&torn);
	ASSERT_EQ_FMT(RECORDS + 1, seen.count, "%u");
	ASSERT_EQ(1, seen.jobs[RECORDS]);
	spool_close(spool);
	PASS();
}

TEST gets_long(void)
{
	size_t torn;
	struct spool *spool = reopen(&torn);

	ASSERT_FALSE(spool_wants_rewrite(spool, 0, 0));
	for (unsigned i = 0; i < 40000; i++)
		add(spool, SPOOL_ACKED, i + 1);
	ASSERT_EQ(0, spool_flush(spool));
	ASSERT(spool_wants_rewrite(spool, 1, 0));
	ASSERT_FALSE(spool_wants_rewrite(spool, 1000, 0));
	spool_close(spool);
	PASS();
}

static ino_t inode(void)
{
	struct stat st;

	return fstatat(dir_fd, "spool", &st, 0) == 0 ? st.st_ino : 0;
}

static bool wants_rewrite(struct spool *spool)
{
	for (int64_t end_ns = clock_mono_ns() + 20 * NS_PER_S; clock_mono_ns() < end_ns; usleep(1000))
		if (spool_wants_rewrite(spool, 1, 0))
			return true;
	return false;
}

/*
 * The kernel reports a failed sync once: a second sync of the same file would succeed and prove nothing, so the file is
 * replaced.
 */
TEST a_file_whose_sync_failed_is_not_synced_but_replaced(void)
{
	size_t torn;
	struct spool *spool = reopen(&torn);
	ino_t before = inode();
	unsigned count;

	failing_syncs = 1;
	add(spool, SPOOL_ACKED, 7);
	ASSERT_EQ(0, spool_flush(spool));
	spool_note(spool, 1, 1);
	ASSERT(wants_rewrite(spool));
	count = syncs;
	spool_note(spool, 2, 1);
	usleep(50000);
	ASSERT_EQ_FMT(count, (unsigned)syncs, "%u");
	ASSERT(spool_owes(spool));
	spool_rewrite_begin(spool);
	add(spool, SPOOL_ACKED, 7);
	ASSERT_EQ(0, spool_rewrite_end(spool));
	ASSERT(inode() != before);
	ASSERT_FALSE(spool_owes(spool));
	ASSERT_FALSE(spool_wants_rewrite(spool, 1, 0));
	spool_close(spool);
	PASS();
}

TEST a_rewrite_that_failed_is_wanted_again_later(void)
{
	size_t torn;
	struct spool *spool = reopen(&torn);

	failing_syncs = 2;
	add(spool, SPOOL_ACKED, 7);
	ASSERT_EQ(0, spool_flush(spool));
	spool_note(spool, 1, 1);
	ASSERT(wants_rewrite(spool));
	spool_rewrite_begin(spool);
	add(spool, SPOOL_ACKED, 7);
	ASSERT(spool_rewrite_end(spool) < 0);
	ASSERT_FALSE(spool_wants_rewrite(spool, 1, 0));
	ASSERT(spool_owes(spool));
	ASSERT(wants_rewrite(spool));
	spool_close(spool);
	PASS();
}

TEST half_a_record_that_cant_be_cut_off_is_not_written_behind(void)
{
	size_t torn;
	struct spool *spool = reopen(&torn);

	add(spool, SPOOL_ACKED, 1);
	ASSERT_EQ(0, spool_flush(spool));
	add(spool, SPOOL_ACKED, 2);
	failing_writes = failing_cuts = 2;
	ASSERT(spool_flush(spool) < 0);
	ASSERT(spool_wants_rewrite(spool, 1, 0));
	ASSERT(spool_flush(spool) < 0);
	ASSERT_EQ(0, spool_flush(spool));
	add(spool, SPOOL_ACKED, 3);
	ASSERT_EQ(0, spool_flush(spool));
	spool_close(spool);
	spool = reopen(&torn);
	ASSERT_EQ(0, torn);
	ASSERT_EQ_FMT(3u, seen.count, "%u");
	ASSERT_EQ(2, seen.jobs[1]);
	ASSERT_EQ(3, seen.jobs[2]);
	spool_close(spool);
	PASS();
}

TEST a_link_in_its_place_is_refused(void)
{
	struct spool *spool = NULL;
	struct error error = { 0 };
	size_t torn;

	ASSERT_EQ(0, symlinkat("elsewhere", dir_fd, "spool"));
	ASSERT_NEQ(ERR_NONE, spool_open(dir_fd, record_cb, NULL, &spool, &torn, &error));
	ASSERT_EQ(NULL, spool);
	ASSERT(strstr(error.text, "spool"));
	PASS();
}

SUITE(spool_suite)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(comes_back_in_order);
	RUN_TEST(written_by_flush_alone);
	RUN_TEST(torn_at_every_byte);
	RUN_TEST(every_flipped_byte_is_seen);
	RUN_TEST(zeros_end_it);
	RUN_TEST(rewrite_replaces);
	RUN_TEST(a_failed_rewrite_changes_nothing);
	RUN_TEST(gets_long);
	RUN_TEST(a_file_whose_sync_failed_is_not_synced_but_replaced);
	RUN_TEST(a_rewrite_that_failed_is_wanted_again_later);
	RUN_TEST(half_a_record_that_cant_be_cut_off_is_not_written_behind);
	RUN_TEST(a_link_in_its_place_is_refused);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(spool_suite);
	GREATEST_MAIN_END();
}
