/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which bytes of a job's output leave its worker: both ends if there is too much, the live tail, and everything of a
 * lossless job.
 */
#include "link_rig.h"

#include "base/mem.h"
#include "greatest.h"

GREATEST_MAIN_DEFS();

#define MAX  65536u /* limit of a log: HEAD bytes of the beginning are kept, the rest from the end */
#define HEAD (MAX / 4 * 3)

static void started(uint64_t job, uint64_t space, uint64_t log_max)
{
	const struct ipc_started item = {
		.job = job, .epoch = 1, .run = 7, .wall_ms = 5, .pid = 99, .space = space, .log_max = log_max,
	};

	tell(IPC_STARTED, &item, sizeof(item));
}

static void exited(uint64_t job, uint64_t space, uint64_t out_size, uint64_t err_size, uint64_t log_max)
{
	const struct ipc_exited item = {
		.run = 7, .space = space, .sizes = { out_size, err_size }, .log_max = log_max,
		.done = { .job = job, .epoch = 1, .outcome = OUTCOME_EXIT, .out_bytes = out_size + err_size },
	};

	tell(IPC_EXITED, &item, sizeof(item));
}

static void grow(const char *name, off_t size)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "worker/w1/attempts/%s", name);
	fd = open(below(path), O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, size) < 0)
		abort();
	close(fd);
}

struct span {
	uint64_t from, to;
};

/*
 * Take pieces of a stream until one ends at to. Return the range that consecutive pieces cover, or what came in
 * between.
 */
static struct span cover(uint64_t stream, uint64_t to, bool give_credit)
{
	struct span span = { UINT64_MAX, 0 };
	struct msg_output output;

	while (span.to < to) {
		if (!expect(OP_OUTPUT, &output))
			return (struct span){ 0, 0 };
		for (size_t i = 0; i < output.items.n; i++) {
			const struct rec_output *item = &output.items.at[i];

			if (give_credit)
				credit(item->job, item->stream, item->offset + item->data.len, false);
			if (item->stream != stream)
				continue;
			if (span.from == UINT64_MAX)
				span.from = item->offset;
			else if (item->offset != span.to)
				return (struct span){ span.to, item->offset };
			span.to = item->offset + item->data.len;
		}
	}
	return span;
}

static bool reconnected(void)
{
	struct msg_hello hello;

	if (!accept_link() || !expect(OP_HELLO, &hello))
		return false;
	welcome(600000);
	return true;
}

static bool heard_started(void)
{
	struct msg_started message;

	return expect(OP_STARTED, &message);
}

/* Bytes that a stream left out don't count as sent: the other stream still has room for its beginning. */
TEST a_reconnect_in_the_kept_end_leaves_the_other_stream_its_room(void)
{
	const uint64_t out_head = HEAD - 4000, end = (MAX - HEAD) / 2, size = 100000, err_size = 20000;
	struct span span;

	ASSERT(connected());
	grow("5.err", 4000);
	grow("5.out", (off_t)out_head);
	started(1, 5, MAX);
	ASSERT(heard_started());
	span = cover(1, out_head, true);
	ASSERT_EQ_FMT(out_head, span.to, "%lu");
	grow("5.out", (off_t)size);
	grow("5.err", (off_t)err_size);
	usleep(100000);
	exited(1, 5, size, err_size, MAX);
	span = cover(2, err_size, true);
	ASSERT_EQ_FMT(err_size - end, span.from, "%lu");
	/* The master has synced part of one stream's end, and of the other not even its beginning. */
	credit(1, 2, err_size - end + 192, true);
	credit(1, 1, 30000, true);
	usleep(50000);
	ASSERT(reconnected());
	/* 30000 and 4000 + 192 bytes count; the rest of the beginning's room goes to the stream that is still in it. */
	span = cover(1, HEAD - 4192, false);
	ASSERT_EQ_FMT(30000ul, span.from, "%lu");
	ASSERT_EQ_FMT(HEAD - 4192ul, span.to, "%lu");
	credit(1, 1, span.to, false);
	span = cover(1, size, false);
	ASSERT_EQ_FMT(size - end, span.from, "%lu");
	PASS();
}

/* inotify watches are limited for each user, and other programs may use them all. */
TEST what_cant_be_watched_is_looked_at_again(void)
{
	struct span span;
	char attempts[PATH_MAX], elsewhere[PATH_MAX];

	ASSERT(connected());
	snprintf(attempts, sizeof(attempts), "%s", below("worker/w1/attempts"));
	snprintf(elsewhere, sizeof(elsewhere), "%s", below("worker/w1/elsewhere"));
	write_stream("5.out", "first\n");
	write_stream("5.err", "");
	ASSERT_EQ(0, rename(attempts, elsewhere));
	started(1, 5, LOG_LOSSLESS);
	ASSERT(heard_started());
	span = cover(1, 6, true);
	ASSERT_EQ_FMT(6ul, span.to, "%lu");
	ASSERT_EQ(0, rename(elsewhere, attempts));
	write_stream("5.out", "second\n");
	span = cover(1, 13, true);
	ASSERT_EQ_FMT(13ul, span.to, "%lu");
	PASS();
}

TEST what_wont_be_kept_passes_by(void)
{
	struct msg_output output;

	ASSERT(connected());
	grow("5.out", HEAD);
	started(1, 5, MAX);
	ASSERT(heard_started());
	ASSERT_EQ_FMT((uint64_t)HEAD, cover(1, HEAD, true).to, "%lu");
	grow("5.out", 4 << 20);
	write_stream("5.out", "the newest line\n");
	do
		ASSERT(expect(OP_OUTPUT, &output));
	while (output.live_tail.n == 0);
	ASSERT_EQ_FMT((size_t)0, output.items.n, "%zu");
	ASSERT_EQ_FMT(1ul, output.live_tail.at[0].stream, "%lu");
	ASSERT_EQ_FMT((4ul << 20) + 16, output.live_tail.at[0].offset + output.live_tail.at[0].data.len, "%lu");
	ASSERT(output.live_tail.at[0].data.len <= 65536);
	ASSERT_MEM_EQ("the newest line\n", output.live_tail.at[0].data.data + output.live_tail.at[0].data.len - 16, 16);
	PASS();
}

TEST of_a_lossless_job_everything_goes(void)
{
	const uint64_t size = 2 * (uint64_t)LIMIT_OUTPUT_WINDOW;
	struct msg_output output;
	struct ipc_room room;
	struct slice body;
	char *bytes = mem_zalloc(size + 2);
	uint64_t at = 0;

	memset(bytes, 'x', size + 1);
	ASSERT(connected());
	write_stream("5.out", bytes);
	mem_free(bytes);
	started(1, 5, LOG_LOSSLESS);
	ASSERT(heard_started());
	while (at < size + 1) {
		ASSERT(expect(OP_OUTPUT, &output));
		ASSERT_EQ_FMT((size_t)1, output.bounds.n, "%zu");
		ASSERT(output.bounds.at[0].job == 1 && output.bounds.at[0].max == LOG_LOSSLESS);
		for (size_t i = 0; i < output.items.n; i++) {
			ASSERT_EQ_FMT(at, output.items.at[i].offset, "%lu");
			at = output.items.at[i].offset + output.items.at[i].data.len;
		}
		credit(1, 1, at, false);
	}
	/* The master had no room for the last of it. */
	const struct rec_credit again = { .job = 1, .epoch = 1, .stream = 1, .offset = size - 4096 };
	const struct msg_credit msg = { .again = { (struct rec_credit *)(uintptr_t)&again, 1 } };

	say(OP_CREDIT, &msg);
	ASSERT(expect(OP_OUTPUT, &output));
	ASSERT_EQ_FMT(size - 4096, output.items.at[0].offset, "%lu");
	credit(1, 1, size + 1, true);
	ASSERT(told(IPC_ROOM, &body));
	memcpy(&room, body.data, sizeof(room));
	ASSERT_EQ_FMT(size + 1, room.synced[0], "%lu");
	ASSERT_EQ_FMT(0ul, room.synced[1], "%lu");
	PASS();
}

/*
 * A new link doesn't know what an old one sent; bytes that the keeper gave back as a hole were synced, so they aren't
 * sent.
 */
TEST what_was_given_back_isnt_sent(void)
{
	struct msg_output output;

	ASSERT(connected());
	grow("5.out", 1 << 20);
	write_stream("5.out", "the rest");
	exited(1, 5, (1 << 20) + 8, 0, LOG_LOSSLESS);
	ASSERT(expect(OP_OUTPUT, &output));
	ASSERT_EQ_FMT(1ul << 20, output.items.at[0].offset, "%lu");
	ASSERT(slice_eq(output.items.at[0].data, slice_str("the rest")));
	PASS();
}

static bool told_room(struct ipc_room *ret_room)
{
	struct slice body;

	if (!told(IPC_ROOM, &body) || body.len != sizeof(*ret_room))
		return false;
	memcpy(ret_room, body.data, sizeof(*ret_room));
	return true;
}

/*
 * Bytes that are neither the beginning nor possibly the end are given back; the newest are shown as live tail while the
 * job runs.
 */
TEST the_middle_of_too_much_is_given_back(void)
{
	const uint64_t size = 10 << 20, more = 20 << 20, shown = 65536;
	struct ipc_room room;

	ASSERT(connected());
	grow("5.err", 4000);
	grow("5.out", HEAD - 4000);
	started(1, 5, MAX);
	ASSERT(heard_started());
	ASSERT_EQ_FMT(HEAD - 4000ul, cover(1, HEAD - 4000, true).to, "%lu");
	grow("5.out", (off_t)size);
	ASSERT(told_room(&room));
	ASSERT(room.job == 1 && room.epoch == 1);
	ASSERT_EQ_FMT(0ul, room.synced[0], "%lu");
	/* The other stream's bytes aren't synced yet, so its part of the beginning may still become this stream's. */
	ASSERT_EQ_FMT((uint64_t)HEAD, room.from[0], "%lu");
	ASSERT_EQ_FMT(size - shown, room.until[0], "%lu");
	ASSERT_EQ_FMT(0ul, room.until[1], "%lu");
	credit(1, 1, 30000, true);
	credit(1, 2, 4000, true);
	usleep(50000);
	grow("5.out", (off_t)more);
	ASSERT(told_room(&room));
	ASSERT_EQ_FMT(30000ul, room.synced[0], "%lu");
	ASSERT_EQ_FMT(4000ul, room.synced[1], "%lu");
	ASSERT_EQ_FMT(HEAD - 4000ul, room.from[0], "%lu");
	ASSERT_EQ_FMT(more - shown, room.until[0], "%lu");
	PASS();
}

/* The link tells the keeper of room only in steps, however small the master's credits are. */
TEST room_is_told_in_steps(void)
{
	const uint64_t step = 1 << 20;
	struct ipc_room room;
	uint64_t at = 0;

	ASSERT(connected());
	grow("5.out", (off_t)(4 * step));
	started(1, 5, 16 * step);
	ASSERT(heard_started());
	at = cover(1, 4 * step, true).to;
	for (uint64_t synced = step; synced < step + 20; synced++)
		credit(1, 1, synced, true);
	ASSERT(told_room(&room));
	ASSERT_EQ_FMT(step, room.synced[0], "%lu");
	credit(1, 1, 2 * step, true);
	ASSERT(told_room(&room));
	ASSERT_EQ_FMT(2 * step, room.synced[0], "%lu");
	ASSERT(at >= 2 * step);
	PASS();
}

TEST without_a_master_the_middle_is_given_back_too(void)
{
	struct ipc_room room;

	tell_held(0, 0);
	grow("5.err", 0);
	for (int i = 1; i <= 3; i++) {
		grow("5.out", (off_t)i * 2 * LIMIT_LOG_JOB_MAX);
		if (i == 1)
			started(1, 5, 0);
		ASSERT(told_room(&room));
		ASSERT_EQ_FMT(0ul, room.synced[0], "%lu");
		ASSERT_EQ_FMT((uint64_t)LIMIT_LOG_JOB_HEAD, room.from[0], "%lu");
		ASSERT_EQ_FMT((uint64_t)i * 2 * LIMIT_LOG_JOB_MAX - (LIMIT_LOG_JOB_MAX - LIMIT_LOG_JOB_HEAD), room.until[0], "%lu");
	}
	PASS();
}

/* The keeper tells which holes it made: holes that a job made itself are output. */
TEST a_new_link_goes_on_behind_what_was_given_back(void)
{
	struct ipc_started item = { .job = 1, .epoch = 1, .run = 7, .wall_ms = 5, .pid = 99, .space = 5,
				    .synced = { 4096, 0 } };
	struct span span;

	ASSERT(connected());
	grow("5.err", 0);
	grow("5.out", 20000);
	tell(IPC_STARTED, &item, sizeof(item));
	ASSERT(heard_started());
	span = cover(1, 20000, false);
	ASSERT_EQ_FMT(4096ul, span.from, "%lu");
	grow("5.err", 5000);
	span = cover(2, 5000, false);
	ASSERT_EQ_FMT(0ul, span.from, "%lu");
	PASS();
}

SUITE(ship_suite)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(a_reconnect_in_the_kept_end_leaves_the_other_stream_its_room);
	RUN_TEST(what_cant_be_watched_is_looked_at_again);
	RUN_TEST(what_wont_be_kept_passes_by);
	RUN_TEST(of_a_lossless_job_everything_goes);
	RUN_TEST(what_was_given_back_isnt_sent);
	RUN_TEST(the_middle_of_too_much_is_given_back);
	RUN_TEST(room_is_told_in_steps);
	RUN_TEST(without_a_master_the_middle_is_given_back_too);
	RUN_TEST(a_new_link_goes_on_behind_what_was_given_back);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(ship_suite);
	GREATEST_MAIN_END();
}
