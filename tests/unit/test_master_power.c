/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Power cuts under the log of an attempt. Pieces arrive, some of them twice; the file is synced at times, closed and
 * opened again. What is found after a cut has every byte in its place, has everything that was synced, and counts what
 * was dropped. Appended bytes are lost from the end, as file systems do it: there are no holes among those that weren't
 * synced.
 *
 * CHAOS_CUTS: number of cuts (1000). CHAOS_SEED: seed of the first walk (1).
 */
#include "power_cuts.h"

#include "base/arena.h"
#include "master/logfile.h"
#include "proto/limits.h"

GREATEST_MAIN_DEFS();

#define STEPS 300
#define PIECE 3000

struct promise {
	size_t op;                       /* bytes that had been synced before this operation */
	uint64_t received[2];
};

static struct promise promises[STEPS + 1];
static size_t promise_count;
static struct logfile file;
static uint64_t cap;
static int dir_fd;

static uint8_t byte_at(uint64_t stream, uint64_t offset)
{
	return (uint8_t)((offset * UINT64_C(0x9e3779b97f4a7c15) >> 40) + stream);
}

static void open_file(int fd, bool create)
{
	logfile_init(&file, 7, 42, 3);
	file.cap = cap;
	if (logfile_open(&file, fd, create) != 0)
		file.fd = -1;
}

/*
 * Send output from the present offset, or from a little before it, as a worker does that doesn't know how much arrived.
 */
static void append(struct rand_state *rand)
{
	static uint8_t bytes[2 * PIECE];
	uint64_t stream = 1 + rand_below(rand, 2), at = file.received[stream - 1], back;
	struct rec_output item = { .job = 42, .epoch = 3, .run = 7, .stream = stream, .wall_ms = 1000 };

	back = rand_below(rand, 4) == 0 ? rand_below(rand, PIECE) : 0;
	item.offset = at > back ? at - back : 0;
	item.data = slice_make(bytes, 1 + rand_below(rand, rand_below(rand, 3) ? 100 : PIECE));
	for (size_t i = 0; i < item.data.len; i++)
		bytes[i] = byte_at(stream, item.offset + i);
	CHECK(logfile_append(&file, &item, 1) == 0);
}

static void sync_file(void)
{
	CHECK(logfile_sync(&file) == 0);
	if (file.fresh)
		CHECK(logfile_sync_name(&file, dir_fd) == 0);
	file.fresh = false;
	promises[promise_count++] = (struct promise){ power_op_count, { file.received[0], file.received[1] } };
}

static void record_walk(uint64_t seed)
{
	struct rand_state rand;

	promise_count = 0;
	files_reset();
	rand_seed(&rand, seed);
	snprintf(files_root, sizeof(files_root), "%s/seed-%llu", cuts_base, (unsigned long long)seed);
	CHECK(mkdir(files_root, 0700) == 0);
	dir_fd = open(files_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cap = rand_below(&rand, 2) ? 20000 : LIMIT_LOG_JOB_MAX;
	open_file(dir_fd, true);
	for (int i = 0; i < STEPS; i++) {
		uint64_t dice = rand_below(&rand, 100);

		append(&rand);
		if (dice < 10)
			sync_file();
		if (dice >= 95) {
			/*
			 * The master was killed: what it wrote is in the file, but the next master remembers nothing.
			 */
			logfile_free(&file);
			open_file(dir_fd, false);
			CHECK(file.fd >= 0);
		}
	}
	logfile_free(&file);
	close(dir_fd);
}

/* NULL: every promise was kept. */
static const char *look(int fd, size_t cut)
{
	struct arena arena = { 0 };
	struct rec_output *pieces;
	const struct promise *promise = NULL;
	uint64_t at = 0, next, kept = 0;
	const char *problem = NULL;
	size_t count;

	for (size_t i = 0; i < promise_count && promises[i].op <= cut; i++)
		promise = &promises[i];
	open_file(fd, false);
	if (file.fd < 0)
		return promise ? "it isn't there" : NULL;
	for (int i = 0; promise && i < 2; i++)
		if (file.received[i] < promise->received[i])
			problem = "what was synced is lost";
	while (!problem && at < file.size) {
		if (logfile_read(&file, at, UINT64_MAX, 65536, &arena, &pieces, &count, &next) < 0 || next == at)
			problem = "it can't be read";
		for (size_t i = 0; !problem && i < count; i++)
			for (size_t place = 0; place < pieces[i].data.len; place++, kept++)
				if (pieces[i].data.data[place] != byte_at(pieces[i].stream, pieces[i].offset + place))
					problem = "a byte is wrong";
		at = next;
		arena_reset(&arena);
	}
	if (!problem && kept + file.dropped != file.received[0] + file.received[1])
		problem = "bytes are neither kept nor counted";
	arena_free(&arena);
	logfile_free(&file);
	return problem;
}

static const enum power_loss losses[] = { LOSS_ALL, LOSS_NONE, LOSS_TORN };
static const struct power_part part = { record_walk, look, losses, sizeof(losses) / sizeof(losses[0]) };

TEST power_may_go_at_any_moment(void)
{
	ASSERT_EQ_FMT((size_t)0, cuts_of_many_walks(&part), "%zu");
	PASS();
}

/* With a disk that ignores syncs, the check must find a broken promise. */
TEST a_disk_that_lies_is_caught(void)
{
	record_walk(1);
	for (size_t i = 0; i < power_op_count; i++)
		if (power_ops[i].kind == POWER_SYNC)
			power_ops[i].kind = POWER_NAME;
	ASSERT_EQ_FMT((size_t)1, cuts_broken(&part, 1, CUTS_OF_A_WALK, true), "%zu");
	PASS();
}

SUITE(master_power)
{
	SET_SETUP(cuts_setup_cb, NULL);
	SET_TEARDOWN(cuts_teardown_cb, NULL);
	RUN_TEST(power_may_go_at_any_moment);
	RUN_TEST(a_disk_that_lies_is_caught);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_power);
	GREATEST_MAIN_END();
}
