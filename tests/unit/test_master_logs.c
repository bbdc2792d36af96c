/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output that a worker sends to a running master: stored, credited, read back, and kept through kill -9. */
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

/* Make run 1 with this many jobs that the worker has ended, so that the worker may send output of them. */
static bool ended_jobs(struct peer *worker, size_t count)
{
	struct peer client;
	struct frame frame;
	struct msg_assign assign;
	struct msg_ack ack;
	size_t acked = 0;

	if (!peer_hello(&client) || !peer_submit(&client, "0123456789abcdef", "r", count, false))
		return false;
	while (acked < count && peer_frame(worker, &frame)) {
		arena_reset(&worker->arena);
		if (frame.opcode == OP_ACK && message_decode(OP_ACK, frame.body, &worker->arena, &ack, NULL) == ERR_NONE)
			acked += ack.items.n;
		if (frame.opcode != OP_ASSIGN || message_decode(OP_ASSIGN, frame.body, &worker->arena, &assign, NULL))
			continue;
		for (size_t i = 0; i < assign.items.n; i++)
			if (!peer_done(worker, assign.items.at[i].job, assign.items.at[i].epoch, 0))
				return false;
	}
	peer_close(&client);
	return acked == count;
}

/* Wait until everything before the offset is credited. */
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

/* Read a whole stream with queries until its end. */
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
	ASSERT(ended_jobs(&worker, 5));
	/* The job wrote nothing, so the log is empty. */
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
	ASSERT(ended_jobs(&worker, 5));
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

/* More jobs write than files are kept open; each writes twice. */
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
	ASSERT(ended_jobs(&worker, 300));
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
	ASSERT(ended_jobs(&worker, 5));
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
	ASSERT(ended_jobs(&worker, 5));
	ASSERT(send_output(&worker, 5, 1, 0, slice_str("head")));
	/* The end of the attempt is reported twice, and the missing output counted once. */
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
	ASSERT(ended_jobs(&worker, 5));
	ASSERT(send_output(&worker, 5, 3, 0, slice_str("x")));
	ASSERT_EQ(ERR_INVALID, peer_error(&worker));
	peer_close(&worker);
	PASS();
}

static bool speaks(struct peer *worker, struct rec_output item)
{
	struct msg_output msg = { .items = { .at = &item, .n = 1 } };

	return peer_send(worker, OP_OUTPUT, &msg);
}

/* Expect a CREDIT that says that this piece must not be sent again. */
static bool turned_down(struct peer *worker, uint64_t job, uint64_t offset)
{
	struct frame frame;
	struct msg_credit credit;

	do
		if (!peer_frame(worker, &frame))
			return false;
	while (frame.opcode != OP_CREDIT);
	arena_reset(&worker->arena);
	return message_decode(OP_CREDIT, frame.body, &worker->arena, &credit, NULL) == ERR_NONE &&
	       credit.items.n == 1 && credit.items.at[0].job == job && credit.items.at[0].offset == offset &&
	       credit.items.at[0].synced;
}

TEST nobody_writes_into_the_logs_of_others(void)
{
	struct peer client, worker, other;
	struct msg_assign assign;
	struct msg_log_read read = { .id = 1, .run = 1 };
	struct msg_log_data data;
	struct rec_output item = { .run = 1, .stream = 1, .data = slice_str("false") };
	char path[PATH_MAX + 16];

	ASSERT(box_start());
	ASSERT(peer_hello(&client) && peer_submit(&client, "0123456789abcdef", "r", 1, false));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(peer_expect(&worker, OP_ASSIGN, &assign));
	item.job = read.job = assign.items.at[0].job;
	item.epoch = read.epoch = assign.items.at[0].epoch;
	ASSERT(peer_worker(&other, "w2", 1, NULL, 0));
	ASSERT(speaks(&other, item));
	ASSERT(turned_down(&other, item.job, 5));
	/* Output is refused if the run, the attempt or the job is wrong. */
	item.run = 7;
	ASSERT(speaks(&worker, item) && turned_down(&worker, item.job, 5));
	item.run = 1;
	item.epoch++;
	ASSERT(speaks(&worker, item) && turned_down(&worker, item.job, 5));
	item.job = 4711;
	item.run = 4711;
	ASSERT(speaks(&worker, item) && turned_down(&worker, item.job, 5));
	ASSERT_EQ(-1, access(statedir_path(&box_place, "logs/4711", path), F_OK));
	ASSERT(peer_expect(&client, OP_ACCEPTED, &(struct msg_accepted){ 0 }));
	ASSERT(peer_send(&client, OP_LOG_READ, &read) && peer_expect(&client, OP_LOG_DATA, &data));
	ASSERT(data.end);
	ASSERT_EQ_FMT((size_t)0, data.pieces.n, "%zu");
	item = (struct rec_output){ .job = read.job, .epoch = read.epoch, .run = 1, .stream = 1,
				    .data = slice_str("true") };
	ASSERT(speaks(&worker, item));
	ASSERT(peer_expect(&worker, OP_CREDIT, &(struct msg_credit){ 0 }));
	ASSERT(peer_send(&client, OP_LOG_READ, &read) && peer_expect(&client, OP_LOG_DATA, &data));
	ASSERT_EQ_FMT((size_t)1, data.pieces.n, "%zu");
	peer_close(&client);
	peer_close(&worker);
	peer_close(&other);
	PASS();
}

TEST logs_that_cant_be_written_dont_stop_the_master(void)
{
	struct peer client, worker;
	struct msg_snapshot snapshot;
	char path[PATH_MAX + 16];
	struct buf text = { 0 };
	uint64_t dropped;
	int fd;

	ASSERT(box_start());
	/* A file stands where the run's directory should be. */
	fd = open(statedir_path(&box_place, "logs/1", path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ASSERT(fd >= 0);
	close(fd);
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(ended_jobs(&worker, 5));
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

/* Output of a pruned run that a worker still sends is refused: the worker is told to drop it, and no log appears. */
TEST late_output_of_a_pruned_run_is_refused(void)
{
	struct msg_prune prune = { .id = 900, .keep = 1 };
	struct peer client, worker;
	struct msg_snapshot answer;
	char path[PATH_MAX + 16];

	ASSERT(box_start());
	ASSERT(peer_hello(&client));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(ended_jobs(&worker, 5));
	ASSERT(send_output(&worker, 5, 1, 0, slice_str("kept\n")));
	ASSERT(credited(&worker, 5, 1, 5, true));
	snprintf(path, sizeof(path), "%s/logs/1", box_place.dir);
	ASSERT_EQ(0, access(path, F_OK));
	ASSERT(peer_send(&client, OP_PRUNE, &prune));
	ASSERT(peer_expect(&client, OP_SNAPSHOT, &answer));
	ASSERT(answer.id == 900 && answer.pruned.n == 1);
	ASSERT_EQ(1, answer.pruned.at[0].runs);
	ASSERT(access(path, F_OK) < 0);
	ASSERT(send_output(&worker, 5, 1, 5, slice_str("late\n")));
	ASSERT(credited(&worker, 5, 1, 10, true));
	ASSERT(access(path, F_OK) < 0);
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
	RUN_TEST(nobody_writes_into_the_logs_of_others);
	RUN_TEST(late_output_of_a_pruned_run_is_refused);
	RUN_TEST(logs_that_cant_be_written_dont_stop_the_master);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_logs);
	GREATEST_MAIN_END();
}
