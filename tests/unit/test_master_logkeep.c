/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the thread of the logs owes: to lossless jobs when there is no room, to who looks at what passes by. */
#include "master/logkeep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/greatest.h"

static char dir[64];
static struct keeper keeper;
static struct log_answer *answers, **answers_end;
static struct arena arena;

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
	strcpy(dir, "/tmp/titan-test-logkeep-XXXXXX");
	if (!mkdtemp(dir))
		abort();
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	answers = NULL;
	answers_end = &answers;
	keeper_init(&keeper, fd, 16, answer_cb, NULL);
	signal(SIGXFSZ, SIG_IGN);
}

/* The oldest answer as a message; false: there is none, or it is another. */
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
	keeper_free(&keeper);
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

	keeper_append(&keeper, 9, &output);
	keeper_credit(&keeper);
}

static bool read_all(struct msg_log_data *ret_data)
{
	const struct msg_log_read read = { .id = 1, .run = 1, .job = 5, .epoch = 2 };

	keeper_read(&keeper, 9, &read);
	return answered(OP_LOG_DATA, ret_data);
}

/* Nothing of it is dropped: it is asked for again from where it could no longer be written. */
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
	/* What was on its way is passed over, and the job's end changes nothing. */
	append(LOG_LOSSLESS, 15000, slice_make(bytes, 5000));
	ASSERT(answered(OP_CREDIT, &credit));
	ASSERT_EQ_FMT(5000ul, credit.items.at[0].offset, "%lu");
	keeper_ended(&keeper, &done, 1);
	ASSERT(keeper.again_due_ns != TIME_NEVER);
	for (int i = 0; i < 2; i++) {
		keeper.again_due_ns = 0;
		keeper_wake(&keeper, true);
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
	keeper.again_due_ns = 0;
	keeper_wake(&keeper, true);
	ASSERT_EQ(TIME_NEVER, keeper.again_due_ns);
	mem_free(bytes);
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
	uint8_t *bytes = mem_zalloc(LIMIT_LOG_PASSING);
	struct rec_output item = { .job = 5, .epoch = 2, .run = 1, .stream = 2, .offset = 1000000, .wall_ms = 1,
				   .data = slice_str("newest") };
	const struct msg_output output = { .passing = { &item, 1 } };
	struct msg_log_read read = { .id = 1, .run = 1, .job = 5, .epoch = 2 };
	struct rec_done done = { .job = 5, .epoch = 2, .out_bytes = 10 };
	struct msg_log_data data;
	struct msg_credit credit;

	append(4096, 0, slice_str("0123456789"));
	ASSERT(answered(OP_CREDIT, &credit));
	keeper_append(&keeper, 9, &output);
	ASSERT(read_all(&data));
	ASSERT_EQ_FMT((size_t)1, data.passing.n, "%zu");
	ASSERT(slice_eq(data.passing.at[0].data, slice_str("newest")));
	ASSERT_EQ_FMT(10ul, data.kept, "%lu");
	read.newest = data.newest;
	keeper_read(&keeper, 9, &read);
	ASSERT(answered(OP_LOG_DATA, &data));
	ASSERT_EQ_FMT((size_t)0, data.passing.n, "%zu");
	ASSERT_EQ_FMT(read.newest, data.newest, "%lu");
	/* Only the newest of it stays, however much that is. */
	item.data = slice_make(bytes, LIMIT_LOG_PASSING / 2 + 1);
	for (int i = 0; i < 5; i++)
		keeper_append(&keeper, 9, &output);
	ASSERT_EQ_FMT((size_t)LIMIT_LOG_PASSING / 2 + 1, keeper.passing.bytes, "%zu");
	keeper_read(&keeper, 9, &read);
	ASSERT(answered(OP_LOG_DATA, &data));
	ASSERT_EQ_FMT((size_t)1, data.passing.n, "%zu");
	keeper_ended(&keeper, &done, 1);
	ASSERT_EQ_FMT((size_t)0, keeper.passing.bytes, "%zu");
	mem_free(bytes);
	PASS();
}

SUITE(master_logkeep)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(a_lossless_job_waits_for_room);
	RUN_TEST(a_job_may_have_a_bound_of_its_own);
	RUN_TEST(what_passes_by_is_seen_once_and_not_kept);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_logkeep);
	GREATEST_MAIN_END();
}
