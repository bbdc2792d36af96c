/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed (compressed) logs: they read as before, wherever packing was interrupted, and damage is reported. */
#include "master/logstore.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "master/logfile.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/greatest.h"
#include "scratch.h"

#define PIECE 3000u

static char dir[SCRATCH_SIZE];
static int dir_fd;
static struct squeeze squeeze;
static bool busy;

static bool release_cb(void *arg, uint64_t run, uint64_t job, uint64_t epoch)
{
	(void)arg;
	(void)run;
	(void)job;
	(void)epoch;
	return !busy;
}

static void setup_cb(void *data)
{
	(void)data;
	scratch_new("logpack", dir);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	squeeze_init(&squeeze, dir_fd, release_cb, NULL);
	busy = false;
}

static void teardown_cb(void *data)
{
	(void)data;
	squeeze_free(&squeeze);
	close(dir_fd);
	if (io_remove_tree(AT_FDCWD, dir) != 0)
		abort();
}

/* Make piece number i of a stream; its text is its number. */
static struct rec_output piece(uint64_t job, uint64_t stream, uint64_t i, uint8_t bytes[PIECE])
{
	for (size_t at = 0; at < PIECE; at++)
		bytes[at] = (uint8_t)('a' + (i * 7 + at / 13 + stream) % 26);
	snprintf((char *)bytes, PIECE, "%llu.%llu", (unsigned long long)stream, (unsigned long long)i);
	return (struct rec_output){ .job = job, .epoch = 3, .run = 7, .stream = stream, .offset = i * PIECE, .wall_ms = 9,
				    .data = slice_make(bytes, PIECE) };
}

/* Write a log of this job with this many pieces of each stream, and a note. */
static void write_log(uint64_t job, uint64_t pieces)
{
	struct logfile file;
	uint8_t bytes[PIECE];

	logfile_init(&file, 7, job, 3);
	file.cap = pieces * 2 * PIECE - 100;
	if (logfile_open(&file, dir_fd, true) < 0)
		abort();
	for (uint64_t i = 0; i < pieces; i++)
		for (uint64_t stream = 1; stream <= 2; stream++) {
			struct rec_output item = piece(job, stream, i, bytes);

			if (logfile_append(&file, &item, 1) < 0)
				abort();
		}
	logfile_free(&file);
}

static bool exists(const char *name)
{
	struct stat info;

	return fstatat(dir_fd, name, &info, 0) == 0;
}

/* Do all steps of packing. */
static void squeeze_all(void)
{
	while (squeeze.due_ns != TIME_NEVER && (squeeze.now || squeeze.run_count > 0))
		squeeze_step(&squeeze);
}

/* Is the log of this job complete from the offset on? *ret_read: bytes of output that were read. */
static bool reads_well(struct logfile *file, uint64_t from, uint64_t *ret_read)
{
	struct arena arena = { 0 };
	uint64_t at = from, next, seen = 0;
	uint8_t bytes[PIECE];
	bool good = true;

	while (good && at < file->size) {
		struct rec_output *pieces;
		size_t count;

		arena_reset(&arena);
		if (logfile_read(file, at, UINT64_MAX, 262144, &arena, &pieces, &count, &next) < 0 || next <= at)
			good = false;
		for (size_t i = 0; good && i < count; i++) {
			struct rec_output wanted = piece(file->job, pieces[i].stream, pieces[i].offset / PIECE, bytes);

			good = pieces[i].wall_ms == 9 && memcmp(wanted.data.data, pieces[i].data.data, pieces[i].data.len) == 0;
			seen += pieces[i].data.len;
		}
		at = next;
	}
	arena_free(&arena);
	*ret_read = seen;
	return good;
}

static bool log_is_whole(uint64_t job, uint64_t pieces)
{
	struct logfile file;
	uint64_t read = 0;
	bool good;

	logfile_init(&file, 7, job, 3);
	good = logfile_open(&file, dir_fd, false) == 0 && reads_well(&file, 0, &read) && read == pieces * 2 * PIECE - 100 &&
	       file.kept == read && file.dropped == 100 && file.received[0] == pieces * PIECE &&
	       file.received[1] == pieces * PIECE;
	logfile_free(&file);
	return good;
}

TEST it_reads_as_before(void)
{
	struct stat before, after;
	struct logfile file;
	uint64_t start, read, size;

	write_log(42, 500);
	ASSERT_EQ(0, fstatat(dir_fd, "7/42.3", &before, 0));
	squeeze_add(&squeeze, 7);
	squeeze_all();
	ASSERT_FALSE(exists("7/42.3"));
	ASSERT_EQ(0, fstatat(dir_fd, "7/42.3.zst", &after, 0));
	ASSERT(after.st_size * 4 < before.st_size);
	ASSERT(log_is_whole(42, 500));
	ASSERT_EQ_FMT(1ul, squeeze.stats.files, "%lu");
	ASSERT_EQ_FMT((uint64_t)before.st_size, squeeze.stats.bytes_before, "%lu");
	ASSERT_EQ_FMT((uint64_t)after.st_size, squeeze.stats.bytes_after, "%lu");
	ASSERT(squeeze.stats.files_waiting == 0 && squeeze.stats.runs_waiting == 0);
	/* Read by the offsets of the unpacked log, and from near the end without reading the rest. */
	logfile_init(&file, 7, 42, 3);
	ASSERT_EQ(0, logfile_open(&file, dir_fd, false));
	size = file.size;
	ASSERT_EQ_FMT((uint64_t)before.st_size, size, "%lu");
	ASSERT(reads_well(&file, 100 * (PIECE + LOGFILE_HEADER), &read));
	ASSERT_EQ_FMT(900ul * PIECE - 100, read, "%lu");
	ASSERT_EQ(0, logfile_back(&file, UINT64_MAX, 65536, &start));
	ASSERT(start >= size - 65536 && start < size - 65536 + PIECE + LOGFILE_HEADER);
	ASSERT(reads_well(&file, start, &read));
	ASSERT(read > 60000 && read < 65536);
	ASSERT_EQ(0, logfile_back(&file, start, UINT64_MAX, &start));
	ASSERT_EQ_FMT(0ul, start, "%lu");
	logfile_free(&file);
	PASS();
}

TEST the_plain_one_is_read_from_near_its_end(void)
{
	struct logfile file;
	uint64_t start, read;

	write_log(42, 500);
	logfile_init(&file, 7, 42, 3);
	ASSERT_EQ(0, logfile_open(&file, dir_fd, false));
	ASSERT(file.mark_count > 5);
	for (uint64_t back = 1; back < file.size + 100000; back += 100003) {
		uint64_t target = back < file.size ? file.size - back : 0;

		ASSERT_EQ(0, logfile_back(&file, UINT64_MAX, back, &start));
		ASSERT(start < file.size && start + PIECE + LOGFILE_HEADER > target && start < target + PIECE + LOGFILE_HEADER);
		ASSERT(reads_well(&file, start, &read));
	}
	logfile_free(&file);
	PASS();
}

TEST small_ones_and_those_of_living_runs_stay(void)
{
	const uint64_t live[] = { 5, 7, 9 };

	write_log(1, 1);
	write_log(2, 100);
	squeeze_add_all(&squeeze, live, 3);
	squeeze_all();
	ASSERT(exists("7/1.3") && exists("7/2.3"));
	squeeze_add_all(&squeeze, live, 1);
	squeeze_all();
	ASSERT(exists("7/1.3") && !exists("7/1.3.zst"));
	ASSERT(exists("7/2.3.zst") && !exists("7/2.3"));
	ASSERT(log_is_whole(2, 100));
	PASS();
}

TEST what_is_being_written_waits(void)
{
	write_log(42, 100);
	busy = true;
	squeeze_add(&squeeze, 7);
	squeeze_all();
	ASSERT(exists("7/42.3") && !exists("7/42.3.zst"));
	ASSERT(squeeze.due_ns != TIME_NEVER && squeeze.later_count == 1);
	busy = false;
	squeeze_step(&squeeze);
	squeeze_all();
	ASSERT(exists("7/42.3.zst") && !exists("7/42.3"));
	PASS();
}

/* The process dies after this many steps of packing; the next process starts packing anew. */
TEST a_crash_leaves_one_good_copy(void)
{
	int steps = 0;
	bool done = false;

	while (!done) {
		pid_t pid;
		int status;

		io_remove_tree(dir_fd, "7");
		for (uint64_t job = 1; job <= 3; job++)
			write_log(job, 200);
		pid = fork();
		if (pid == 0) {
			squeeze_add(&squeeze, 7);
			for (int i = 0; i < steps && squeeze.due_ns != TIME_NEVER; i++)
				squeeze_step(&squeeze);
			_exit(squeeze.due_ns == TIME_NEVER ? 1 : 0);
		}
		waitpid(pid, &status, 0);
		done = WEXITSTATUS(status) == 1;
		for (uint64_t job = 1; job <= 3; job++)
			ASSERT(log_is_whole(job, 200));
		squeeze_add_all(&squeeze, NULL, 0);
		squeeze_all();
		for (uint64_t job = 1; job <= 3; job++)
			ASSERT(log_is_whole(job, 200));
		ASSERT(exists("7/1.3.zst") && exists("7/2.3.zst") && exists("7/3.3.zst"));
		ASSERT_FALSE(exists("7/1.3") || exists("7/2.3") || exists("7/3.3"));
		ASSERT_FALSE(exists("7/1.3.zst.new") || exists("7/2.3.zst.new") || exists("7/3.3.zst.new"));
		steps++;
	}
	ASSERT(steps > 15);
	PASS();
}

TEST without_room_it_stays_plain(void)
{
	struct rlimit limit = { 20000, RLIM_INFINITY };
	int status;
	pid_t pid;

	write_log(42, 800);
	pid = fork();
	if (pid == 0) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		squeeze_add(&squeeze, 7);
		squeeze_all();
		_exit(squeeze.stats.files == 0 && squeeze.stats.files_waiting == 0 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ASSERT(exists("7/42.3") && !exists("7/42.3.zst") && !exists("7/42.3.zst.new"));
	ASSERT(log_is_whole(42, 800));
	PASS();
}

TEST more_output_makes_it_plain_again(void)
{
	struct rec_output item;
	struct logfile file;
	uint8_t bytes[PIECE];

	write_log(42, 200);
	squeeze_add(&squeeze, 7);
	squeeze_all();
	logfile_init(&file, 7, 42, 3);
	file.cap = UINT64_MAX - 1;
	ASSERT_EQ(0, logfile_open(&file, dir_fd, true));
	ASSERT(file.pack != NULL);
	item = piece(42, 1, 199, bytes);
	ASSERT_FALSE(logfile_wants(&file, &item, 1));
	item = piece(42, 1, 200, bytes);
	ASSERT(logfile_wants(&file, &item, 1));
	ASSERT_EQ(0, logfile_thaw(&file, dir_fd));
	ASSERT(exists("7/42.3") && !exists("7/42.3.zst"));
	ASSERT_EQ(0, logfile_append(&file, &item, 1));
	ASSERT_EQ_FMT(201ul * PIECE, file.received[0], "%lu");
	ASSERT_EQ_FMT(401ul * PIECE - 100, file.kept, "%lu");
	ASSERT_EQ_FMT(100ul, file.dropped, "%lu");
	logfile_free(&file);
	/* A packed file that was left over is ignored while the plain file exists. */
	ASSERT_EQ(0, io_write_file(dir_fd, "7/42.3.zst", "rubbish", 7, 0600));
	logfile_init(&file, 7, 42, 3);
	ASSERT_EQ(0, logfile_open(&file, dir_fd, false));
	ASSERT_EQ_FMT(201ul * PIECE, file.received[0], "%lu");
	logfile_free(&file);
	PASS();
}

static void flip(off_t at)
{
	int fd = openat(dir_fd, "7/42.3.zst", O_RDWR);
	uint8_t byte;

	if (fd < 0 || pread(fd, &byte, 1, at) != 1)
		abort();
	byte ^= 0x10;
	if (pwrite(fd, &byte, 1, at) != 1)
		abort();
	close(fd);
}

static struct log_answer *last_answer;

static void answer_cb(void *arg, struct log_answer *answer)
{
	(void)arg;
	log_answer_free(last_answer);
	last_answer = answer;
}

/* A flipped bit costs the frame that it is in, which is reported, and nothing else. */
TEST what_is_damaged_is_said_and_the_rest_read(void)
{
	struct msg_log_read read = { .id = 1, .run = 7, .job = 42, .epoch = 3 };
	struct arena arena = { 0 };
	struct msg_log_data data;
	struct logstore logstore;
	struct frame frame;
	struct error error;
	struct logfile file;
	uint64_t seen = 0, lost = 0, at_damage;
	size_t size;
	int damages = 0;

	write_log(42, 500);
	squeeze_add(&squeeze, 7);
	squeeze_all();
	logfile_init(&file, 7, 42, 3);
	ASSERT_EQ(0, logfile_open(&file, dir_fd, false));
	ASSERT(file.pack->count > 5);
	lost = file.pack->frames[3].offset - file.pack->frames[2].offset;
	at_damage = file.pack->frames[2].at + 40;
	flip((off_t)at_damage);
	logfile_free(&file);
	logstore_init(&logstore, fcntl(dir_fd, F_DUPFD_CLOEXEC, 3), 16, answer_cb, NULL);
	do {
		logstore_read(&logstore, 1, &read);
		ASSERT_EQ(FRAME_WHOLE, frame_read(buf_slice(&last_answer->frames), LIMIT_FRAME_MAX, &frame, &size, &error));
		ASSERT_EQ(OP_LOG_DATA, (int)frame.opcode);
		ASSERT_EQ(ERR_NONE, message_decode(OP_LOG_DATA, frame.body, &arena, &data, &error));
		for (size_t i = 0; i < data.pieces.n; i++)
			seen += data.pieces.at[i].data.len + LOGFILE_HEADER;
		damages += data.damage.len > 0;
		if (data.damage.len > 0)
			ASSERT(memmem(data.damage.data, data.damage.len, "logs/7/42.3.zst", 15) != NULL);
		ASSERT(data.offset > read.offset);
		read.offset = data.offset;
	} while (!data.end);
	ASSERT_EQ(1, damages);
	ASSERT_EQ_FMT(read.offset - lost - LOGFILE_HEADER - LOGFILE_NOTE, seen, "%lu");
	logstore_free(&logstore);
	/* A packed log without its index is read by the sizes in its frames. */
	struct stat info;

	flip((off_t)at_damage);
	ASSERT_EQ(0, fstatat(dir_fd, "7/42.3.zst", &info, 0));
	for (off_t at = 1; at < 120; at += 23) {
		flip(info.st_size - at);
		ASSERT(log_is_whole(42, 500));
		flip(info.st_size - at);
	}
	/* With its first frame and its index damaged, nothing of the packed log can be read. */
	flip(0);
	flip(info.st_size - 1);
	logstore_init(&logstore, fcntl(dir_fd, F_DUPFD_CLOEXEC, 3), 16, answer_cb, NULL);
	read.offset = 0;
	logstore_read(&logstore, 1, &read);
	ASSERT_EQ(FRAME_WHOLE, frame_read(buf_slice(&last_answer->frames), LIMIT_FRAME_MAX, &frame, &size, &error));
	ASSERT_EQ(OP_ERROR, (int)frame.opcode);
	ASSERT(memmem(frame.body.data, frame.body.len, "logs/7/42.3.zst", 15) != NULL);
	logstore_free(&logstore);
	log_answer_free(last_answer);
	last_answer = NULL;
	arena_free(&arena);
	PASS();
}

SUITE(master_logpack)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(the_plain_one_is_read_from_near_its_end);
	if (!logpack_able())
		return;
	RUN_TEST(it_reads_as_before);
	RUN_TEST(small_ones_and_those_of_living_runs_stay);
	RUN_TEST(what_is_being_written_waits);
	RUN_TEST(a_crash_leaves_one_good_copy);
	RUN_TEST(without_room_it_stays_plain);
	RUN_TEST(more_output_makes_it_plain_again);
	RUN_TEST(what_is_damaged_is_said_and_the_rest_read);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_logpack);
	GREATEST_MAIN_END();
}
