/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log file of an attempt: repeated pieces, pieces that don't fit, torn records; what was dropped is counted. */
#include "master/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "tests/greatest.h"
#include "scratch.h"

static char dir[SCRATCH_SIZE];
static int dir_fd;
static struct logfile file;
static size_t write_most;                /* bytes that one pwritev writes at most; 0: all */

ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t at)
{
	struct iovec part[64];
	size_t left = write_most ? write_most : SIZE_MAX;
	int used = 0;

	for (; used < count && used < 64 && left > 0; used++) {
		part[used] = iov[used];
		part[used].iov_len = iov[used].iov_len < left ? iov[used].iov_len : left;
		left -= part[used].iov_len;
	}
	return syscall(SYS_pwritev, fd, part, (long)used, (long)at, 0L);
}

static void setup_cb(void *data)
{
	(void)data;
	write_most = 0;
	scratch_new("logfile", dir);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	logfile_init(&file, 7, 42, 3);
}

static void teardown_cb(void *data)
{
	(void)data;
	logfile_free(&file);
	close(dir_fd);
	if (io_remove_tree(AT_FDCWD, dir) != 0)
		abort();
}

static int append(uint64_t stream, uint64_t offset, const char *text)
{
	struct rec_output item = {
		.job = 42, .epoch = 3, .run = 7, .stream = stream, .offset = offset, .wall_ms = 1000,
		.data = slice_str(text),
	};

	return logfile_append(&file, &item, 1);
}

/* The text of a stream, read back from the file in pages; "?" if it can't be read. */
static const char *content(uint64_t stream)
{
	static struct buf text;
	struct arena arena = { 0 };
	uint64_t at = 0, next;
	struct rec_output *pieces;
	size_t count;

	buf_clear(&text);
	do {
		if (logfile_read(&file, at, UINT64_MAX, 1, &arena, &pieces, &count, &next) < 0)
			return "?";
		for (size_t i = 0; i < count; i++)
			if (pieces[i].stream == stream)
				buf_add_slice(&text, pieces[i].data);
		if (next == at)
			break;
		at = next;
	} while (at < file.size);
	arena_free(&arena);
	buf_cstr(&text);
	buf_add_byte(&text, 0);
	return (const char *)text.data;
}

static bool reopen(void)
{
	uint64_t cap = file.cap;

	logfile_free(&file);
	logfile_init(&file, 7, 42, 3);
	file.cap = cap;
	return logfile_open(&file, dir_fd, false) == 0;
}

TEST it_is_made_at_the_first_byte(void)
{
	struct stat info;

	ASSERT_EQ_FMT(-ENOENT, logfile_open(&file, dir_fd, false), "%d");
	ASSERT_EQ(-1, fstatat(dir_fd, "7", &info, 0));
	ASSERT_EQ_FMT(0, logfile_open(&file, dir_fd, true), "%d");
	ASSERT_EQ(0, append(1, 0, "hello"));
	ASSERT_EQ(0, fstatat(dir_fd, "7/42.3", &info, 0));
	ASSERT_EQ_FMT(LOGFILE_HEADER + 5, (int)info.st_size, "%d");
	ASSERT_EQ_FMT(0600, (int)(info.st_mode & 0777), "%o");
	ASSERT(file.dirty && file.fresh);
	ASSERT_EQ(0, logfile_sync(&file));
	ASSERT_EQ(0, logfile_sync_name(&file, dir_fd));
	ASSERT_FALSE(file.dirty);
	PASS();
}

TEST the_format_is_as_written_down(void)
{
	static const uint8_t expected[] = {
		2, 0, 0x6f, 0x74, 2, 0, 0, 0, 0xe8, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'h', 'i',
	};
	struct buf bytes = { 0 };

	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	ASSERT_EQ(0, append(2, 0, "hi"));
	ASSERT_EQ(0, io_read_file(dir_fd, "7/42.3", 1000, &bytes));
	ASSERT_EQ_FMT(sizeof(expected), bytes.len, "%zu");
	ASSERT_MEM_EQ(expected, bytes.data, sizeof(expected));
	buf_free(&bytes);
	PASS();
}

TEST what_comes_twice_is_kept_once(void)
{
	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	ASSERT_EQ(0, append(1, 0, "abcdef"));
	ASSERT_EQ(0, append(2, 0, "xyz"));
	ASSERT_EQ(0, append(1, 0, "abcdef"));
	ASSERT_EQ(0, append(1, 1, "bcd"));
	ASSERT_EQ(0, append(1, 4, "efgh"));
	ASSERT(reopen());
	ASSERT_EQ(0, append(1, 6, "ghij"));
	ASSERT_EQ(0, append(2, 1, "yz"));
	ASSERT_STR_EQ("abcdefghij", content(1));
	ASSERT_STR_EQ("xyz", content(2));
	ASSERT_EQ_FMT(10ull, (unsigned long long)file.received[0], "%llu");
	ASSERT_EQ_FMT(0ull, (unsigned long long)file.dropped, "%llu");
	PASS();
}

TEST over_the_cap_every_byte_is_counted(void)
{
	uint64_t size;

	file.cap = 10;
	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	ASSERT_EQ(0, append(1, 0, "1234567"));
	ASSERT_EQ(0, append(2, 0, "abcdef"));
	ASSERT_EQ_FMT(3ull, (unsigned long long)file.dropped, "%llu");
	size = file.size;
	ASSERT_EQ(0, append(1, 7, "more"));
	ASSERT_EQ(0, append(1, 7, "more"));
	ASSERT_EQ_FMT(7ull, (unsigned long long)file.dropped, "%llu");
	/* The note about dropped bytes is rewritten in place, so the file doesn't grow. */
	ASSERT_EQ(size, file.size);
	ASSERT(reopen());
	ASSERT_EQ_FMT(7ull, (unsigned long long)file.dropped, "%llu");
	ASSERT_EQ_FMT(11ull, (unsigned long long)file.received[0], "%llu");
	ASSERT_EQ_FMT(6ull, (unsigned long long)file.received[1], "%llu");
	ASSERT_EQ(0, append(1, 11, "!"));
	ASSERT_EQ_FMT(8ull, (unsigned long long)file.dropped, "%llu");
	ASSERT_EQ(size, file.size);
	ASSERT_STR_EQ("1234567", content(1));
	ASSERT_STR_EQ("abc", content(2));
	PASS();
}

TEST a_gap_is_counted_and_what_follows_kept(void)
{
	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	ASSERT_EQ(0, append(1, 0, "ab"));
	ASSERT_EQ(0, append(1, 5, "fg"));
	ASSERT_EQ_FMT(3ull, (unsigned long long)file.dropped, "%llu");
	ASSERT_EQ(0, append(1, 7, "h"));
	ASSERT(reopen());
	ASSERT_EQ_FMT(3ull, (unsigned long long)file.dropped, "%llu");
	ASSERT_EQ_FMT(8ull, (unsigned long long)file.received[0], "%llu");
	ASSERT_STR_EQ("abfgh", content(1));
	PASS();
}

/*
 * The facts learned from the records, as packing does, equal what the file knows: each note counts everything dropped
 * so far.
 */
TEST records_of_two_gaps_say_what_was_dropped(void)
{
	struct logpack_facts facts = { 0 };
	struct arena arena = { 0 };
	struct slice records;

	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	ASSERT_EQ(0, append(1, 0, "ab"));
	ASSERT_EQ(0, append(1, 5, "fg"));
	ASSERT_EQ(0, append(1, 10, "kl"));
	ASSERT_EQ(0, append(2, 1, "y"));
	ASSERT_EQ_FMT(7ul, (unsigned long)file.dropped, "%lu");
	ASSERT_EQ(0, logfile_records(&file, 0, &arena, &records));
	ASSERT_EQ_FMT((size_t)file.size, records.len, "%zu");
	logfile_learn(records, &facts);
	ASSERT_EQ_FMT(file.dropped, facts.dropped, "%lu");
	ASSERT_EQ_FMT(file.kept, facts.kept, "%lu");
	ASSERT_EQ_FMT(12ul, facts.received[0], "%lu");
	ASSERT_EQ_FMT(2ul, facts.received[1], "%lu");
	arena_free(&arena);
	PASS();
}

TEST a_torn_end_is_cut_off_wherever_it_tore(void)
{
	uint64_t whole;

	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	ASSERT_EQ(0, append(1, 0, "whole"));
	whole = file.size;
	for (off_t extra = 1; extra < LOGFILE_HEADER + 4; extra++) {
		ASSERT_EQ(0, append(1, 5, "torn"));
		ASSERT_EQ(0, ftruncate(file.fd, (off_t)whole + extra));
		ASSERT(reopen());
		ASSERT_EQ_FMT((unsigned long long)whole, (unsigned long long)file.size, "%llu");
		ASSERT_EQ_FMT(5ull, (unsigned long long)file.received[0], "%llu");
		ASSERT_STR_EQ("whole", content(1));
	}
	/* Blocks that were allocated but never written read as zeros. */
	ASSERT_EQ(0, ftruncate(file.fd, (off_t)whole + 4096));
	ASSERT(reopen());
	ASSERT_EQ_FMT((unsigned long long)whole, (unsigned long long)file.size, "%llu");
	PASS();
}

TEST many_pieces_are_read_in_pages(void)
{
	struct rec_output items[100];
	char expected[101] = "";

	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	for (size_t i = 0; i < 100; i++) {
		items[i] = (struct rec_output){
			.job = 42, .epoch = 3, .run = 7, .stream = 1, .offset = i, .data = slice_make(&"0123456789"[i % 10], 1),
		};
		expected[i] = (char)('0' + i % 10);
	}
	ASSERT_EQ(0, logfile_append(&file, items, 100));
	ASSERT_STR_EQ(expected, content(1));
	ASSERT_EQ_FMT(100 * (LOGFILE_HEADER + 1), (int)file.size, "%d");
	PASS();
}

/* Pieces written with many short writes make the same file, byte for byte. */
TEST short_write_goes_on_where_it_stopped(void)
{
	static const char *const words[] = { "a", "bcdefghijklmnopqrstuvwxyz", "0123456789", "", "last" };
	struct rec_output items[5];
	struct buf whole = { 0 }, bytes = { 0 };
	uint64_t offset = 0;
	char name[32];

	for (size_t i = 0; i < 5; i++) {
		items[i] = (struct rec_output){ .job = 42, .epoch = 1, .run = 7, .stream = 1, .offset = offset, .wall_ms = 1000,
						.data = slice_str(words[i]) };
		offset += items[i].data.len;
	}
	for (size_t most = 0; most < 90; most++) {
		logfile_free(&file);
		logfile_init(&file, 7, 42, most + 1);
		ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
		write_most = most;
		ASSERT_EQ(0, logfile_append(&file, items, 5));
		write_most = 0;
		snprintf(name, sizeof(name), "7/42.%zu", most + 1);
		buf_clear(&bytes);
		ASSERT_EQ(0, io_read_file(dir_fd, name, 65536, most ? &bytes : &whole));
		if (most > 0)
			ASSERT(bytes.len == whole.len && memcmp(bytes.data, whole.data, whole.len) == 0);
		ASSERT_STR_EQ("abcdefghijklmnopqrstuvwxyz0123456789last", content(1));
	}
	buf_free(&whole);
	buf_free(&bytes);
	PASS();
}

TEST reading_begins_at_records_only(void)
{
	struct arena arena = { 0 };
	struct rec_output *pieces;
	size_t count;
	uint64_t next;

	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	ASSERT_EQ(0, append(1, 0, "hello"));
	ASSERT_EQ_FMT(-EINVAL, logfile_read(&file, 1, UINT64_MAX, 100, &arena, &pieces, &count, &next), "%d");
	ASSERT_EQ_FMT(-EINVAL, logfile_read(&file, file.size + 1, UINT64_MAX, 100, &arena, &pieces, &count, &next), "%d");
	ASSERT_EQ_FMT(0, logfile_read(&file, file.size, UINT64_MAX, 100, &arena, &pieces, &count, &next), "%d");
	ASSERT(count == 0 && next == file.size);
	arena_free(&arena);
	PASS();
}

TEST what_cant_be_opened_is_counted(void)
{
	struct rec_output item = { .stream = 1, .data = slice_str("lost") };

	logfile_lose(&file, &item, 1);
	logfile_lose(&file, &item, 1);
	ASSERT_EQ_FMT(4ull, (unsigned long long)file.dropped, "%llu");
	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	ASSERT_EQ(0, append(1, 2, "stand"));
	ASSERT_EQ_FMT(4ull, (unsigned long long)file.dropped, "%llu");
	ASSERT_STR_EQ("and", content(1));
	ASSERT(reopen());
	ASSERT_EQ_FMT(4ull, (unsigned long long)file.dropped, "%llu");
	PASS();
}

/* After a failed sync a lossless log is cut off at its last sync, and the worker is asked for the rest again. */
TEST a_lossless_one_goes_back_to_its_last_sync(void)
{
	file.cap = UINT64_MAX;
	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	ASSERT_EQ(0, append(1, 0, "synced"));
	ASSERT_EQ(0, append(2, 0, "too"));
	ASSERT_EQ(0, logfile_sync(&file));
	ASSERT_EQ(0, append(1, 6, " gone"));
	ASSERT_EQ(0, append(2, 3, " gone"));
	ASSERT_EQ(0, logfile_unsync(&file, dir_fd));
	ASSERT(file.stuck);
	ASSERT_EQ_FMT(6ul, file.received[0], "%lu");
	ASSERT_EQ_FMT(3ul, file.received[1], "%lu");
	ASSERT_STR_EQ("synced", content(1));
	/* A piece that was on its way when the file was cut isn't taken for a gap. */
	ASSERT_EQ(0, append(1, 11, " later"));
	ASSERT_EQ(0, append(1, 6, " again"));
	ASSERT_EQ(0, append(1, 12, " later"));
	ASSERT_FALSE(file.stuck);
	ASSERT_STR_EQ("synced again later", content(1));
	ASSERT_EQ_FMT(0ul, file.dropped, "%lu");
	ASSERT(reopen());
	ASSERT_STR_EQ("synced again later", content(1));
	ASSERT_STR_EQ("too", content(2));
	PASS();
}

SUITE(master_logfile)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(it_is_made_at_the_first_byte);
	RUN_TEST(the_format_is_as_written_down);
	RUN_TEST(what_comes_twice_is_kept_once);
	RUN_TEST(over_the_cap_every_byte_is_counted);
	RUN_TEST(a_gap_is_counted_and_what_follows_kept);
	RUN_TEST(records_of_two_gaps_say_what_was_dropped);
	RUN_TEST(a_torn_end_is_cut_off_wherever_it_tore);
	RUN_TEST(many_pieces_are_read_in_pages);
	RUN_TEST(short_write_goes_on_where_it_stopped);
	RUN_TEST(reading_begins_at_records_only);
	RUN_TEST(what_cant_be_opened_is_counted);
	RUN_TEST(a_lossless_one_goes_back_to_its_last_sync);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_logfile);
	GREATEST_MAIN_END();
}
