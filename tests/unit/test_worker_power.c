/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Power cuts under a worker's spool. Starts, results and acknowledgements are spooled as a keeper does, and every
 * write, truncate, sync and rename is recorded. The state found after a cut must be that after one of the records, not
 * older than the latest synced result.
 *
 * CHAOS_CUTS: number of cuts (1000). CHAOS_SEED: seed of the first walk (1).
 */
#include "power_cuts.h"

#include "base/clock.h"
#include "worker/spool.h"

GREATEST_MAIN_DEFS();

#define STEPS 500
#define JOBS  4096

static struct walk {
	struct spool *spool;
	struct rand_state rand;
	enum attempt { NEVER, STARTED, ENDED, ACKED } jobs[JOBS];
	uint64_t number_of[JOBS];        /* number of the job's result in the order of results */
	uint64_t started, results;
	uint64_t hash;
	uint64_t history[JOBS * 4];      /* hash of the spool's state after each record */
	size_t count;
} walk;

struct mark {
	size_t op, count; /* before this operation of the disk, this many records were written or promised */
};

static struct mark written[JOBS * 4], promised[JOBS * 4];
static size_t written_count, promised_count;
static int dir_fd;

static uint64_t mix(uint64_t job, enum attempt state)
{
	uint64_t value = job * 4 + state;

	if (state == NEVER || state == ACKED)
		return 0;
	value = (value ^ value >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	return (value ^ value >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static void move(enum attempt *jobs, uint64_t *hash, uint64_t job, enum attempt state)
{
	*hash ^= mix(job, jobs[job]) ^ mix(job, state);
	jobs[job] = state;
}

static void put(uint64_t job, enum attempt state)
{
	struct spool_started started = { .job = job, .epoch = 1 };
	struct ipc_exited exited = { .done = { .job = job, .epoch = 1 } };
	struct ipc_attempt acked = { job, 1 };

	if (state == STARTED)
		spool_add(walk.spool, SPOOL_STARTED, &started, sizeof(started));
	else if (state == ENDED)
		spool_add(walk.spool, SPOOL_ENDED, &exited, sizeof(exited));
	else
		spool_add(walk.spool, SPOOL_ACKED, &acked, sizeof(acked));
}

static void add(uint64_t job, enum attempt state)
{
	put(job, state);
	move(walk.jobs, &walk.hash, job, state);
	walk.history[++walk.count] = walk.hash;
}

static void mark(struct mark *marks, size_t *count)
{
	marks[(*count)++] = (struct mark){ power_op_count, walk.count };
}

static void flush(void)
{
	uint64_t oldest = walk.results + 1;

	CHECK(spool_flush(walk.spool) == 0);
	mark(written, &written_count);
	for (uint64_t job = 1; job <= walk.started; job++)
		if (walk.jobs[job] == ENDED && walk.number_of[job] < oldest)
			oldest = walk.number_of[job];
	spool_note(walk.spool, walk.results, oldest);
}

/* A random attempt in this state; 0: none. */
static uint64_t some(enum attempt state)
{
	uint64_t from = rand_below(&walk.rand, walk.started + 1);

	for (uint64_t i = 0; i < walk.started; i++) {
		uint64_t job = (from + i) % walk.started + 1;

		if (walk.jobs[job] == state)
			return job;
	}
	return 0;
}

static bool end_one(void)
{
	uint64_t job = some(STARTED);

	if (job == 0)
		return false;
	walk.number_of[job] = ++walk.results;
	add(job, ENDED);
	return true;
}

/* Wait until an unacknowledged result has been synced. */
static void wait_for_sync(void)
{
	int64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;
	size_t before = power_op_count;
	bool synced = false;

	if (!end_one())
		return;
	flush();
	while (!synced) {
		/* A sync after the record's write is meant, not an earlier one. */
		for (size_t i = before + 1; i < power_op_count; i++)
			synced = synced || power_ops[i].kind == POWER_SYNC;
		CHECK(clock_mono_ns() < end_ns);
		usleep(500);
	}
	mark(promised, &promised_count);
}

static void rewrite(void)
{
	spool_rewrite_begin(walk.spool);
	for (uint64_t job = 1; job <= walk.started; job++)
		if (walk.jobs[job] == STARTED || walk.jobs[job] == ENDED)
			put(job, walk.jobs[job]);
	mark(written, &written_count);
	CHECK(spool_rewrite_end(walk.spool) == 0);
	mark(promised, &promised_count);
}

struct found {
	enum attempt jobs[JOBS];
	uint64_t hash;
	bool strange;
};

static void record_cb(enum spool_type type, struct slice body, void *owner)
{
	struct found *found = owner;
	struct ipc_exited exited;
	uint64_t job = 0;

	if (type == SPOOL_ENDED && body.len == sizeof(exited)) {
		memcpy(&exited, body.data, sizeof(exited));
		job = exited.done.job;
	} else if (body.len >= sizeof(job)) {
		memcpy(&job, body.data, sizeof(job));
	}
	if (job == 0 || job >= JOBS || type < SPOOL_STARTED || type > SPOOL_ACKED)
		found->strange = true;
	else
		move(found->jobs, &found->hash, job,
		     type == SPOOL_STARTED ? STARTED : type == SPOOL_ENDED ? ENDED : ACKED);
}

static struct spool *reopen(int fd, struct found *found)
{
	struct spool *spool = NULL;
	struct error error;
	size_t torn;

	memset(found, 0, sizeof(*found));
	return spool_open(fd, record_cb, found, &spool, &torn, &error) == ERR_NONE ? spool : NULL;
}

static void end_life(void)
{
	spool_close(walk.spool);
	mark(written, &written_count);
	mark(promised, &promised_count);
}

static void step(void)
{
	static struct found found;
	uint64_t dice = rand_below(&walk.rand, 100), job;

	if (dice < 35 && walk.started + 1 < JOBS)
		add(++walk.started, STARTED);
	else if (dice < 65)
		end_one();
	else if (dice < 85 && (job = some(ENDED)) != 0)
		add(job, ACKED);
	if (rand_below(&walk.rand, 10) < 6)
		flush();
	if (dice >= 97) {
		rewrite();
	} else if (dice >= 95) {
		end_life();
		walk.spool = reopen(dir_fd, &found);
		CHECK(walk.spool && found.hash == walk.hash);
	} else if (dice >= 89) {
		wait_for_sync();
	}
}

static void record_walk(uint64_t seed)
{
	static struct found found;

	memset(&walk, 0, sizeof(walk));
	written_count = promised_count = 0;
	files_reset();
	snprintf(files_root, sizeof(files_root), "%s/seed-%llu", cuts_base, (unsigned long long)seed);
	CHECK(mkdir(files_root, 0700) == 0);
	dir_fd = open(files_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rand_seed(&walk.rand, seed);
	walk.spool = reopen(dir_fd, &found);
	CHECK(walk.spool);
	mark(promised, &promised_count);
	for (int i = 0; i < STEPS; i++)
		step();
	end_life();
	close(dir_fd);
}

/* NULL: every promise was kept. */
static const char *look(int fd, size_t cut)
{
	static struct found found;
	struct spool *spool = reopen(fd, &found);
	size_t least = 0, most = 0;

	if (!spool)
		return "it can't be opened";
	spool_close(spool);
	if (found.strange)
		return "a record that nobody wrote";
	for (size_t i = 0; i < promised_count && promised[i].op <= cut; i++)
		least = promised[i].count;
	/* A record that was being written at the cut may already be there. */
	for (size_t i = 0; i < written_count; i++) {
		most = written[i].count;
		if (written[i].op > cut)
			break;
	}
	for (size_t i = least; i <= most; i++)
		if (walk.history[i] == found.hash)
			return NULL;
	return "the state is none of those that it may be";
}

static const enum power_loss losses[] = { LOSS_ALL, LOSS_NONE, LOSS_SOME, LOSS_TORN, LOSS_ORDER, LOSS_SECTORS };
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
			power_ops[i] = (struct power_op){ POWER_WRITE, power_ops[i].which, NULL, 0, 0 };
	ASSERT_EQ_FMT((size_t)1, cuts_broken(&part, 1, CUTS_OF_A_WALK, true), "%zu");
	PASS();
}

TEST a_name_that_is_not_synced_is_caught(void)
{
	files_no_dir_sync = true;
	record_walk(1);
	files_no_dir_sync = false;
	ASSERT_EQ_FMT((size_t)1, cuts_broken(&part, 1, CUTS_OF_A_WALK, true), "%zu");
	PASS();
}

SUITE(worker_power)
{
	SET_SETUP(cuts_setup_cb, NULL);
	SET_TEARDOWN(cuts_teardown_cb, NULL);
	RUN_TEST(power_may_go_at_any_moment);
	RUN_TEST(a_disk_that_lies_is_caught);
	RUN_TEST(a_name_that_is_not_synced_is_caught);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(worker_power);
	GREATEST_MAIN_END();
}
