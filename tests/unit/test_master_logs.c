/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output that a worker sends to a living master: kept, credited, read back, and kept through kill -9. */
#include "master_box.h"

#include "tests/greatest.h"

static bool send_output(struct peer *worker, uint64_t job, uint64_t stream, uint64_t offset, struct slice data)
{
	struct rec_output item = {
		.job = job, .epoch = 9, .run = 1, .stream = stream, .offset = offset, .wall_ms = 1, .data = data,
	};
	struct msg_output msg = { .items = { .at = &item, .n = 1 } };

	return peer_send(worker, OP_OUTPUT, &msg);
}

/* Waits for the credit of everything before offset. */
static bool credited(struct peer *worker, uint64_t job, uint64_t stream, uint64_t offset, bool synced)
{
	struct frame frame;
	struct msg_credit credit;

	while (peer_frame(worker, &frame)) {
		if (frame.opcode != OP_CREDIT)
			continue;
		arena_reset(&worker->arena);
		if (message_decode(OP_CREDIT, frame.body, &worker->arena, &credit, NULL) != ERR_NONE)
			return false;
		for (size_t i = 0; i < credit.items.n; i++) {
			const struct rec_credit *item = &credit.items.at[i];

			if (item->job == job && item->epoch == 9 && item->stream == stream && item->offset >= offset &&
			    (item->synced || !synced))
				return item->offset == offset;
		}
	}
	return false;
}

/* All of a stream, asked for until the end. */
static bool read_log(struct peer *client, uint64_t job, uint64_t stream, struct buf *ret_text, uint64_t *ret_dropped)
{
	struct msg_log_read read = { .run = 1, .job = job, .epoch = 9 };
	struct msg_log_data data;

	buf_clear(ret_text);
	do {
		read.id = ++client->last_id;
		if (!peer_send(client, OP_LOG_READ, &read) || !peer_expect(client, OP_LOG_DATA, &data) ||
		    data.id != read.id)
			return false;
		for (size_t i = 0; i < data.pieces.n; i++)
			if (data.pieces.at[i].stream == stream)
				buf_add_slice(ret_text, data.pieces.at[i].data);
		read.offset = data.offset;
	} while (!data.end);
	*ret_dropped = data.dropped;
	return true;
}

TEST output_is_credited_and_read_back(void)
{
	struct peer client, worker;
	struct buf text = { 0 };
	uint64_t dropped;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	/* Nothing was written: nothing is there. */
	ASSERT(read_log(&client, 5, 1, &text, &dropped));
	ASSERT_EQ_FMT((size_t)0, text.len, "%zu");
	ASSERT(send_output(&worker, 5, 1, 0, slice_str("one\n")));
	ASSERT(send_output(&worker, 5, 2, 0, slice_str("err\n")));
	ASSERT(send_output(&worker, 5, 1, 4, slice_str("two\n")));
	ASSERT(credited(&worker, 5, 1, 8, true));
	ASSERT(read_log(&client, 5, 1, &text, &dropped));
	ASSERT(slice_eq(buf_slice(&text), slice_str("one\ntwo\n")));
	ASSERT(read_log(&client, 5, 2, &text, &dropped));
	ASSERT(slice_eq(buf_slice(&text), slice_str("err\n")));
	ASSERT_EQ(0, dropped);
	buf_free(&text);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

TEST a_worker_that_repeats_itself_is_credited_too(void)
{
	struct peer client, worker;
	struct buf text = { 0 };
	uint64_t dropped;

	ASSERT(box_start());
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(send_output(&worker, 5, 1, 0, slice_str("abc")));
	ASSERT(credited(&worker, 5, 1, 3, false));
	ASSERT_EQ_FMT(-1, box_stop(SIGKILL), "%d");
	peer_close(&worker);
	ASSERT(box_start());
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(send_output(&worker, 5, 1, 0, slice_str("abc")));
	ASSERT(credited(&worker, 5, 1, 3, true));
	ASSERT(send_output(&worker, 5, 1, 2, slice_str("cdef")));
	ASSERT(credited(&worker, 5, 1, 6, true));
	ASSERT(peer_hello(&client));
	ASSERT(read_log(&client, 5, 1, &text, &dropped));
	ASSERT(slice_eq(buf_slice(&text), slice_str("abcdef")));
	buf_free(&text);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

/* More jobs than descriptors are kept open; each speaks twice. */
TEST many_jobs_write_in_turn(void)
{
	struct peer client, worker;
	struct buf text = { 0 };
	uint64_t dropped;
	char line[32];

	box_fd_limit = 64;
	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	for (uint64_t round = 0; round < 2; round++) {
		for (uint64_t job = 1; job <= 300; job++) {
			snprintf(line, sizeof(line), "%03u", (unsigned)job);
			ASSERT(send_output(&worker, job, 1, round * 3, slice_str(line)));
		}
	}
	ASSERT(credited(&worker, 300, 1, 6, true));
	for (uint64_t job = 1; job <= 300; job++) {
		snprintf(line, sizeof(line), "%03u%03u", (unsigned)job, (unsigned)job);
		ASSERT(read_log(&client, job, 1, &text, &dropped));
		ASSERT(slice_eq(buf_slice(&text), slice_str(line)));
	}
	buf_free(&text);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

TEST over_the_cap_the_count_is_exact(void)
{
	const size_t chunk = LIMIT_OUTPUT_CHUNK, extra = 100000;
	uint8_t *bytes = mem_zalloc(chunk);
	struct peer client, worker;
	struct msg_log_read read = { .id = 1, .run = 1, .job = 5, .epoch = 9 };
	struct msg_log_data data;
	uint64_t offset = 0, total = 0;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	for (; offset < LIMIT_LOG_JOB_MAX; offset += chunk) {
		ASSERT(send_output(&worker, 5, 1, offset, slice_make(bytes, chunk)));
		if (offset >= LIMIT_OUTPUT_WINDOW)
			ASSERT(peer_frame(&worker, &(struct frame){ 0 }));
	}
	ASSERT(send_output(&worker, 5, 1, offset, slice_make(bytes, extra)));
	ASSERT(send_output(&worker, 5, 2, 0, slice_make(bytes, extra)));
	ASSERT(credited(&worker, 5, 2, extra, true));
	do {
		ASSERT(peer_send(&client, OP_LOG_READ, &read));
		ASSERT(peer_expect(&client, OP_LOG_DATA, &data));
		for (size_t i = 0; i < data.pieces.n; i++)
			total += data.pieces.at[i].data.len;
		read.offset = data.offset;
	} while (!data.end);
	ASSERT_EQ_FMT((unsigned long long)LIMIT_LOG_JOB_MAX, (unsigned long long)total, "%llu");
	ASSERT_EQ_FMT(2ull * extra, (unsigned long long)data.dropped, "%llu");
	mem_free(bytes);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

TEST what_the_worker_kept_back_is_counted(void)
{
	struct rec_done done = { .job = 5, .epoch = 9, .outcome = OUTCOME_EXIT, .ended_ms = 1, .out_bytes = 10 };
	struct msg_done ends = { .items = { .at = &done, .n = 1 } };
	struct peer client, worker;
	struct buf text = { 0 };
	struct frame frame;
	uint64_t dropped;

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(send_output(&worker, 5, 1, 0, slice_str("head")));
	/* Said twice, counted once. */
	for (int i = 0; i < 2; i++) {
		ASSERT(peer_send(&worker, OP_DONE, &ends));
		do
			ASSERT(peer_frame(&worker, &frame));
		while (frame.opcode != OP_ACK);
	}
	ASSERT(read_log(&client, 5, 1, &text, &dropped));
	ASSERT(slice_eq(buf_slice(&text), slice_str("head")));
	ASSERT_EQ_FMT(6ull, (unsigned long long)dropped, "%llu");
	buf_free(&text);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

TEST bad_output_closes_its_sender(void)
{
	struct peer worker;

	ASSERT(box_start());
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(send_output(&worker, 5, 3, 0, slice_str("x")));
	ASSERT_EQ(ERR_INVALID, peer_error(&worker));
	peer_close(&worker);
	PASS();
}

TEST logs_that_cant_be_written_dont_stop_the_master(void)
{
	struct peer client, worker;
	struct msg_snapshot snapshot;
	char path[PATH_MAX];
	struct buf text = { 0 };
	uint64_t dropped;
	int fd;

	ASSERT(box_start());
	/* A file where the run's directory ought to be. */
	fd = open(place_path(&box_place, "logs/1", path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ASSERT(fd >= 0);
	close(fd);
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(send_output(&worker, 5, 1, 0, slice_str("lost")));
	ASSERT(credited(&worker, 5, 1, 4, true));
	ASSERT(peer_query(&client, QUERY_STATUS, 0, "", 0, 0, &snapshot));
	ASSERT(unlink(path) == 0);
	ASSERT(send_output(&worker, 5, 1, 4, slice_str("kept")));
	ASSERT(credited(&worker, 5, 1, 8, true));
	ASSERT(read_log(&client, 5, 1, &text, &dropped));
	ASSERT(slice_eq(buf_slice(&text), slice_str("kept")));
	ASSERT_EQ_FMT(4ull, (unsigned long long)dropped, "%llu");
	buf_free(&text);
	peer_close(&client);
	peer_close(&worker);
	PASS();
}

SUITE(master_logs)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(output_is_credited_and_read_back);
	RUN_TEST(a_worker_that_repeats_itself_is_credited_too);
	RUN_TEST(many_jobs_write_in_turn);
	RUN_TEST(over_the_cap_the_count_is_exact);
	RUN_TEST(what_the_worker_kept_back_is_counted);
	RUN_TEST(bad_output_closes_its_sender);
	RUN_TEST(logs_that_cant_be_written_dont_stop_the_master);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_logs);
	GREATEST_MAIN_END();
}
