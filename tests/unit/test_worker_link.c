/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The link; the test plays both its keeper and its master. */
#include "link_rig.h"

#include "base/host.h"
#include "greatest.h"
#include "proto/spec.h"

GREATEST_MAIN_DEFS();

/* --- tests --- */

TEST hello_says_what_is_held(void)
{
	struct msg_hello hello;
	struct msg_inventory inventory;
	struct slice body;
	struct error error;

	for (uint64_t job = 1; job <= 4100; job++)
		tell_held(job | UINT64_C(1) << 60, job % 2 ? PHASE_RUNNING : PHASE_ENDED);
	tell_held(0, 0);
	ASSERT(accept_link());
	ASSERT_EQ(OP_HELLO, hear(false, &body));
	ASSERT(body.len <= LIMIT_FRAME_MAX_UNAUTH);
	ASSERT_EQ(ERR_NONE, message_decode(OP_HELLO, body, &arena, &hello, &error));
	ASSERT_EQ(PROTOCOL_BEFORE, hello.version);
	ASSERT_EQ(PROTOCOL_VERSION, hello.newest);
	ASSERT_EQ(PEER_WORKER, hello.kind);
	ASSERT(slice_eq(hello.name, slice_str("w1")));
	ASSERT_EQ(16, hello.instance.len);
	ASSERT_EQ(15, hello.instance.data[15]);
	ASSERT_EQ(3, hello.slots);
	ASSERT_EQ(4711, hello.pid);
	ASSERT_EQ(50, hello.held.n);
	ASSERT(hello.more);
	ASSERT_EQ(hello.held.at[0].job % 2 ? PHASE_RUNNING : PHASE_ENDED, hello.held.at[0].phase);
	ASSERT(expect(OP_INVENTORY, &inventory));
	ASSERT_EQ(4000, inventory.held.n);
	ASSERT(inventory.more);
	ASSERT(expect(OP_INVENTORY, &inventory));
	ASSERT_EQ(50, inventory.held.n);
	ASSERT_FALSE(inventory.more);
	PASS();
}

TEST lease_counts_from_the_sending(void)
{
	int64_t before_ns = clock_mono_ns();
	struct msg_heartbeat beat;
	struct msg_hello hello;
	struct ipc_lease lease;
	struct slice body;

	tell_held(0, 0);
	ASSERT(accept_link());
	ASSERT(expect(OP_HELLO, &hello));
	int64_t after_ns = clock_mono_ns();

	usleep(20000);
	welcome(20);
	ASSERT(told(IPC_LEASE, &body));
	memcpy(&lease, body.data, sizeof(lease));
	ASSERT(lease.until_ns >= before_ns + LEASE_MS * NS_PER_MS && lease.until_ns <= after_ns + LEASE_MS * NS_PER_MS);
	for (int i = 0; i < 3; i++) {
		ASSERT(expect(OP_HEARTBEAT, &beat));
		ASSERT(beat.mem_permille > 0 && beat.mem_permille <= 1000 && beat.cpu_permille <= 1000);
		usleep(5000);
		say(OP_HEARTBEAT, &beat);
		ASSERT(told(IPC_LEASE, &body));
		memcpy(&lease, body.data, sizeof(lease));
		ASSERT_EQ(beat.sent_ns + LEASE_MS * NS_PER_MS, lease.until_ns);
	}
	PASS();
}

TEST leaving_keeper_hears_when_no_attempt_follows(void)
{
	struct msg_heartbeat beat = { 0 };
	struct msg_hello hello;
	struct slice body;

	tell_held(0, 0);
	ASSERT(accept_link());
	ASSERT(expect(OP_HELLO, &hello));
	welcome(20);
	tell(IPC_LEAVING, NULL, 0);
	while (!beat.leaving)
		ASSERT(expect(OP_HEARTBEAT, &beat));
	say(OP_HEARTBEAT, &beat);
	ASSERT(told(IPC_LEFT, &body));
	PASS();
}

TEST leaving_keeper_doesnt_wait_for_an_older_master(void)
{
	struct msg_hello hello;
	struct slice body;

	tell_held(0, 0);
	ASSERT(accept_link());
	ASSERT(expect(OP_HELLO, &hello));
	welcome_with(PROTOCOL_BEFORE, 20);
	ASSERT(told(IPC_LEASE, &body));
	tell(IPC_LEAVING, NULL, 0);
	ASSERT(told(IPC_LEFT, &body));
	PASS();
}

TEST leaving_keeper_without_a_master_gets_no_attempt(void)
{
	struct slice body;

	tell_held(0, 0);
	ASSERT(accept_link());
	tell(IPC_LEAVING, NULL, 0);
	ASSERT(told(IPC_LEFT, &body));
	PASS();
}

TEST heartbeats_wait_for_the_keepers_answer(void)
{
	struct ipc_numbers numbers = { 1, 0 };
	struct msg_heartbeat beat;
	struct msg_started started;
	struct msg_hello hello;
	struct slice body;
	int64_t asked_ns;

	keeper_silent = true;
	tell_held(0, 0);
	ASSERT(accept_link());
	ASSERT(told(IPC_PING, &body));
	/* HELLO waits for the keeper's PONG, so it contains a start that became known after the PING. */
	tell_started(9, 5);
	tell(IPC_PONG, NULL, 0);
	ASSERT(expect(OP_HELLO, &hello));
	ASSERT_EQ(1, hello.held.n);
	welcome(10);
	ASSERT(expect(OP_STARTED, &started));
	for (; numbers.running < 4; numbers.running++) {
		/*
		 * A lease makes the link ask the keeper. Until the answer, the heartbeats of the last answer may go on.
		 */
		ASSERT(told(IPC_LEASE, &body));
		asked_ns = clock_mono_ns();
		/* Several heartbeats become due in this time. */
		usleep(50000);
		tell(IPC_NUMBERS, &numbers, sizeof(numbers));
		tell(IPC_PONG, NULL, 0);
		do {
			ASSERT(expect(OP_HEARTBEAT, &beat));
			ASSERT(beat.running == numbers.running || beat.sent_ns <= asked_ns);
		} while (beat.running != numbers.running);
		say(OP_HEARTBEAT, &beat);
	}
	PASS();
}

static void assign(uint64_t job, const struct rec_job_spec *spec, struct slice raw)
{
	assign_sharing(job, spec, raw, 0);
}

TEST assign_becomes_spawn(void)
{
	struct slice words[] = { slice_str("ls"), slice_str("-l"), slice_make("a\0b", 3) };
	struct rec_job_spec spec = { .name = slice_str("a"), .argv = { words, 2 }, .dir = slice_str("/tmp") };

	ASSERT(connected());
	spec.env.at = words;
	spec.env.n = 1;
	assign(1, &spec, slice_str(""));
	ASSERT(told_spawn(1, 2, 1, "ls\0-l\0ls\0/tmp", 14));
	spec = (struct rec_job_spec){ .name = slice_str("a"), .script = slice_str("a | b") };
	assign(2, &spec, slice_str(""));
	ASSERT(told_spawn(2, 3, 0, "/bin/sh\0-c\0a | b\0", 18));
	spec.interpreter = slice_str("bash");
	assign(6, &spec, slice_str(""));
	ASSERT(told_spawn(6, 5, 0, "bash\0-eu\0-o\0pipefail\0a | b\0", 28));
	spec.interpreter = slice_str("/opt/perl");
	assign(7, &spec, slice_str(""));
	ASSERT(told_spawn(7, 2, 0, "/opt/perl\0a | b\0", 17));
	spec.stdin_text = slice_str("in\nput");
	assign(9, &spec, slice_str(""));
	ASSERT(told_spawn(9, 3, 0, "/opt/perl\0a | b\0in\nput\0", 24));
	spec.stdin_text = slice_str("");
	spec.interpreter = slice_str("perl");
	assign(8, &spec, slice_str(""));
	ASSERT(told_spawn(8, 0, 0, "", 1));
	spec.interpreter = slice_str("");
	assign(3, NULL, slice_str("\xc1 nonsense"));
	ASSERT(told_spawn(3, 0, 0, "", 1));
	spec.argv.at = words;
	spec.argv.n = 3;
	spec.script = slice_str("");
	assign(4, &spec, slice_str(""));
	ASSERT(told_spawn(4, 0, 0, "", 1));
	spec.argv.n = 0;
	assign(5, &spec, slice_str(""));
	ASSERT(told_spawn(5, 0, 0, "", 1));
	PASS();
}

TEST stop_recall_quit(void)
{
	struct rec_stop stop = { 1, 2, 3000 };
	struct rec_attempt recall = { 4, 5 };
	const struct msg_stop msg_stop = { .items = { &stop, 1 } };
	const struct msg_recall msg_recall = { .items = { &recall, 1 } };
	const struct msg_quit quit = { 700 };
	struct ipc_attempt attempt;
	struct ipc_stop ipc_stop;
	struct ipc_quit ipc_quit;
	struct slice body;

	ASSERT(connected());
	say(OP_STOP, &msg_stop);
	ASSERT(told(IPC_STOP, &body));
	memcpy(&ipc_stop, body.data, sizeof(ipc_stop));
	ASSERT(ipc_stop.job == 1 && ipc_stop.epoch == 2 && ipc_stop.grace_ms == 3000);
	say(OP_RECALL, &msg_recall);
	ASSERT(told(IPC_RECALL, &body));
	memcpy(&attempt, body.data, sizeof(attempt));
	ASSERT(attempt.job == 4 && attempt.epoch == 5);
	say(OP_QUIT, &quit);
	ASSERT(told(IPC_QUIT, &body));
	memcpy(&ipc_quit, body.data, sizeof(ipc_quit));
	ASSERT_EQ(700, ipc_quit.grace_ms);
	PASS();
}

TEST output_then_done_then_forgotten(void)
{
	struct msg_output output;
	struct msg_started started;
	struct msg_done done;
	struct slice body;

	ASSERT(connected());
	write_stream("5.out", "hello\n");
	write_stream("5.err", "oh\n");
	tell_started(1, 5);
	ASSERT(expect(OP_STARTED, &started));
	ASSERT_EQ(99, started.items.at[0].pid);
	tell_exited(1, 5, 6, 3);
	ASSERT(expect(OP_OUTPUT, &output));
	ASSERT_EQ(2, output.items.n);
	ASSERT_EQ(1, output.items.at[0].stream);
	ASSERT_EQ(7, output.items.at[0].run);
	ASSERT(slice_eq(slice_str("hello\n"), output.items.at[0].data));
	ASSERT_EQ(2, output.items.at[1].stream);
	ASSERT(slice_eq(slice_str("oh\n"), output.items.at[1].data));
	ASSERT(expect(OP_DONE, &done));
	ASSERT_EQ(1, done.items.n);
	ASSERT_EQ(3, done.items.at[0].code);
	ASSERT_EQ(9, done.items.at[0].out_bytes);
	ack(1);
	ASSERT(told(IPC_SPOOL_ACK, &body));
	credit(1, 1, 6, true);
	credit(1, 2, 3, false);
	credit(1, 2, 3, true);
	ASSERT(told(IPC_FILES_DONE, &body));
	tell_exited(2, 6, 0, 0);
	ASSERT(expect(OP_DONE, &done));
	ack(2);
	ASSERT(told(IPC_SPOOL_ACK, &body));
	tell_exited(3, 7, 0, 0);
	ASSERT(expect(OP_DONE, &done));
	ack(3);
	/* The job wrote nothing, so the link has no output files to release. */
	ASSERT(told(IPC_SPOOL_ACK, &body));
	PASS();
}

TEST what_is_not_acknowledged_is_sent_again(void)
{
	struct msg_output output;
	struct msg_hello hello;
	struct msg_started started;
	struct msg_done done;
	struct slice body;

	ASSERT(connected());
	write_stream("5.out", "0123456789");
	write_stream("5.err", "");
	tell_started(2, 6);
	ASSERT(expect(OP_STARTED, &started));
	tell_exited(1, 5, 10, 0);
	ASSERT(expect(OP_OUTPUT, &output));
	ASSERT(expect(OP_DONE, &done));
	credit(1, 1, 4, true);
	credit(1, 1, 10, false);
	ack(9);
	say(OP_RECALL, &(struct msg_recall){ .items = { &(struct rec_attempt){ 8, 8 }, 1 } });
	ASSERT(told(IPC_RECALL, &body));
	ASSERT(accept_link());
	ASSERT(expect(OP_HELLO, &hello));
	ASSERT_EQ(2, hello.held.n);
	for (size_t i = 0; i < 2; i++)
		ASSERT_EQ(hello.held.at[i].job == 1 ? PHASE_ENDED : PHASE_RUNNING, hello.held.at[i].phase);
	welcome(600000);
	ASSERT(expect(OP_OUTPUT, &output));
	ASSERT_EQ(4, output.items.at[0].offset);
	ASSERT(slice_eq(slice_str("456789"), output.items.at[0].data));
	ASSERT(expect(OP_STARTED, &started));
	ASSERT_EQ(2, started.items.at[0].job);
	ASSERT(expect(OP_DONE, &done));
	ASSERT_EQ(1, done.items.at[0].job);
	ack(1);
	ASSERT(told(IPC_SPOOL_ACK, &body));
	ASSERT(accept_link());
	ASSERT(expect(OP_HELLO, &hello));
	ASSERT_EQ(1, hello.held.n);
	PASS();
}

static void tell_epoch_exited(uint64_t epoch, uint64_t space)
{
	const struct ipc_exited item = {
		.run = 7, .space = space, .sizes = { 5, 0 },
		.done = { .job = 1, .epoch = epoch, .outcome = OUTCOME_EXIT, .code = epoch, .out_bytes = 5 },
	};

	tell(IPC_EXITED, &item, sizeof(item));
}

static bool sends_epoch(uint64_t epoch, const char *output)
{
	struct msg_output msg;
	struct msg_done done;

	return expect(OP_OUTPUT, &msg) && msg.items.n == 1 && msg.items.at[0].epoch == epoch &&
	       msg.items.at[0].offset == 0 && slice_eq(msg.items.at[0].data, slice_str(output)) &&
	       expect(OP_DONE, &done) && done.items.n == 1 && done.items.at[0].epoch == epoch &&
	       done.items.at[0].code == epoch;
}

/* Acknowledge everything of this attempt as the master. */
static void acknowledge_epoch(uint64_t epoch)
{
	struct rec_credit credit_item = { .job = 1, .epoch = epoch, .stream = 1, .offset = 5, .synced = true };
	struct rec_attempt ack_item = { 1, epoch };

	say(OP_CREDIT, &(struct msg_credit){ .items = { &credit_item, 1 } });
	say(OP_ACK, &(struct msg_ack){ .items = { &ack_item, 1 } });
}

static bool told_epoch(enum ipc_type type, uint64_t epoch)
{
	struct ipc_attempt attempt;
	struct slice body;

	if (!told(type, &body) || body.len < sizeof(attempt))
		return false;
	memcpy(&attempt, body.data, sizeof(attempt));
	return attempt.job == 1 && attempt.epoch == epoch;
}

TEST word_about_an_old_epoch_changes_nothing_of_the_new_one(void)
{
	struct msg_hello hello;

	ASSERT(connected());
	write_stream("5.out", "older");
	write_stream("6.out", "newer");
	tell_epoch_exited(1, 5);
	ASSERT(sends_epoch(1, "older"));
	tell_epoch_exited(2, 6);
	ASSERT(sends_epoch(2, "newer"));
	acknowledge_epoch(1);
	ASSERT(told_epoch(IPC_SPOOL_ACK, 1));
	ASSERT(told_epoch(IPC_FILES_DONE, 1));
	/* A repeated acknowledgement is about an attempt that the link has forgotten. */
	acknowledge_epoch(1);
	ASSERT(accept_link());
	ASSERT(expect(OP_HELLO, &hello));
	ASSERT_EQ(1, hello.held.n);
	ASSERT_EQ(2, hello.held.at[0].epoch);
	welcome(600000);
	ASSERT(sends_epoch(2, "newer"));
	acknowledge_epoch(2);
	ASSERT(told_epoch(IPC_SPOOL_ACK, 2));
	ASSERT(told_epoch(IPC_FILES_DONE, 2));
	PASS();
}

TEST a_running_job_is_followed(void)
{
	struct msg_output output;
	struct msg_started started;
	struct msg_done done;

	ASSERT(connected());
	write_stream("5.out", "");
	write_stream("5.err", "");
	tell_started(1, 5);
	ASSERT(expect(OP_STARTED, &started));
	write_stream("5.out", "one");
	ASSERT(expect(OP_OUTPUT, &output));
	ASSERT_EQ(0, output.items.at[0].offset);
	ASSERT(slice_eq(slice_str("one"), output.items.at[0].data));
	for (int i = 0; i < 3; i++) {
		write_stream("5.out", "two");
		ASSERT(expect(OP_OUTPUT, &output));
		ASSERT_EQ(3 + 3 * (uint64_t)i, output.items.at[0].offset);
		ASSERT(slice_eq(slice_str("two"), output.items.at[0].data));
	}
	write_stream("5.err", "bad");
	ASSERT(expect(OP_OUTPUT, &output));
	ASSERT_EQ(2, output.items.at[0].stream);
	tell_exited(1, 5, 12, 3);
	ASSERT(expect(OP_DONE, &done));
	PASS();
}

static void make_sparse(const char *name, off_t size)
{
	char path[64];

	write_stream(name, "");
	snprintf(path, sizeof(path), "worker/w1/attempts/%s", name);
	if (truncate(below(path), size) < 0)
		abort();
}

/* Take output until DONE comes, or until the window is full when no credit is given. Return the number of bytes. */
static uint64_t drain_end[2];            /* end of the last piece of each stream */

static uint64_t drain(bool with_credit, bool *ret_done)
{
	struct msg_output output;
	struct error error;
	struct slice body;
	uint64_t bytes = 0;
	unsigned op;

	*ret_done = false;
	while (with_credit || bytes < LIMIT_OUTPUT_WINDOW) {
		arena_reset(&arena);
		op = hear(false, &body);
		*ret_done = op == OP_DONE;
		if (op != OP_OUTPUT || message_decode(OP_OUTPUT, body, &arena, &output, &error))
			break;
		for (size_t i = 0; i < output.items.n; i++) {
			const struct rec_output *item = &output.items.at[i];

			bytes += item->data.len;
			drain_end[item->stream - 1] = item->offset + item->data.len;
			if (with_credit)
				credit(item->job, item->stream, item->offset + item->data.len, false);
		}
	}
	return bytes;
}

TEST no_more_than_a_window(void)
{
	const uint64_t size = 2 * LIMIT_OUTPUT_WINDOW + 5;
	struct pollfd wait;
	bool done;

	ASSERT(connected());
	make_sparse("5.out", (off_t)size);
	write_stream("5.err", "");
	tell_exited(1, 5, size, 0);
	ASSERT_EQ(LIMIT_OUTPUT_WINDOW, drain(false, &done));
	ASSERT_FALSE(done);
	wait = (struct pollfd){ .fd = master_fd, .events = POLLIN };
	ASSERT_EQ(0, in.len);
	ASSERT_EQ(0, poll(&wait, 1, 100));
	credit(1, 1, LIMIT_OUTPUT_WINDOW, false);
	ASSERT_EQ_FMT(size - LIMIT_OUTPUT_WINDOW, drain(true, &done), "%lu");
	ASSERT(done);
	PASS();
}

TEST no_more_than_the_cap(void)
{
	const uint64_t size = 2 * (uint64_t)LIMIT_LOG_JOB_MAX + 12345;
	bool done;

	ASSERT(connected());
	make_sparse("5.out", (off_t)size);
	make_sparse("5.err", 777);
	tell_exited(1, 5, size, 777);
	ASSERT_EQ_FMT((uint64_t)LIMIT_LOG_JOB_MAX, drain(true, &done), "%lu");
	ASSERT(done);
	/* The end of the output is among the bytes that were sent. */
	ASSERT_EQ_FMT(size, drain_end[0], "%lu");
	ASSERT_EQ_FMT((uint64_t)777, drain_end[1], "%lu");
	PASS();
}

TEST both_ends_share_what_is_kept(void)
{
	const uint64_t size = LIMIT_LOG_JOB_MAX;
	bool done;

	ASSERT(connected());
	make_sparse("5.out", (off_t)size);
	make_sparse("5.err", (off_t)size);
	tell_exited(1, 5, size, size);
	ASSERT_EQ_FMT((uint64_t)LIMIT_LOG_JOB_MAX, drain(true, &done), "%lu");
	ASSERT(done);
	ASSERT_EQ_FMT(size, drain_end[0], "%lu");
	ASSERT_EQ_FMT(size, drain_end[1], "%lu");
	PASS();
}

TEST ends_with_its_keeper(void)
{
	int status;

	ASSERT(connected());
	ipc_close(&keeper);
	waitpid(link_pid, &status, 0);
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	link_pid = fork();
	if (link_pid == 0)
		_exit(0);
	PASS();
}

TEST nonsense_closes_the_connection(void)
{
	struct msg_error error;
	struct msg_hello hello;

	ASSERT(connected());
	say(OP_SHUTDOWN, &(struct msg_shutdown){ .id = 1 });
	ASSERT(expect(OP_ERROR, &error));
	ASSERT_EQ(ERR_NOT_EXPECTED, error.code);
	ASSERT(accept_link());
	ASSERT(expect(OP_HELLO, &hello));
	PASS();
}

SUITE(link_suite)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(hello_says_what_is_held);
	RUN_TEST(lease_counts_from_the_sending);
	RUN_TEST(leaving_keeper_hears_when_no_attempt_follows);
	RUN_TEST(leaving_keeper_doesnt_wait_for_an_older_master);
	RUN_TEST(leaving_keeper_without_a_master_gets_no_attempt);
	RUN_TEST(heartbeats_wait_for_the_keepers_answer);
	RUN_TEST(assign_becomes_spawn);
	RUN_TEST(stop_recall_quit);
	RUN_TEST(output_then_done_then_forgotten);
	RUN_TEST(what_is_not_acknowledged_is_sent_again);
	RUN_TEST(word_about_an_old_epoch_changes_nothing_of_the_new_one);
	RUN_TEST(a_running_job_is_followed);
	RUN_TEST(no_more_than_a_window);
	RUN_TEST(no_more_than_the_cap);
	RUN_TEST(both_ends_share_what_is_kept);
	RUN_TEST(ends_with_its_keeper);
	RUN_TEST(nonsense_closes_the_connection);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(link_suite);
	GREATEST_MAIN_END();
}
