/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that connect to the master through their worker: which may, how many at once, and for how long. */
#include "greatest.h"
#include "link_rig.h"
#include "worker/job_token.h"

GREATEST_MAIN_DEFS();

/* Open a connection as a job does; -1: failed. */
static int call(void)
{
	int fd;

	return statedir_connect_in(below("worker/w1"), JOB_TOKEN_SOCKET, &fd) == 0 ? fd : -1;
}

static bool say_hello(int fd, uint64_t job, uint64_t epoch)
{
	uint8_t secret[JOB_TOKEN_SECRET];
	char token[JOB_TOKEN_TEXT];
	struct msg_hello hello = { .version = 2, .kind = PEER_CLIENT };
	struct buf frame = { 0 };
	int dir_fd = open(below("worker/w1"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool said = dir_fd >= 0 && job_token_secret(dir_fd, secret) == 0;

	job_token_write(secret, job, epoch, token);
	hello.token = slice_str(token);
	message_encode(&frame, OP_HELLO, &hello);
	said = said && io_write_all(fd, frame.data, frame.len) == 0;
	buf_free(&frame);
	if (dir_fd >= 0)
		close(dir_fd);
	return said;
}

/* The code of the error with which a caller is refused; ERR_NONE: another message came, or the end. */
static enum err refusal(int fd)
{
	struct msg_error told = { 0 };
	struct frame frame;
	struct error error;
	uint8_t bytes[4096];
	size_t size;
	ssize_t got = readable(fd) ? recv(fd, bytes, sizeof(bytes), 0) : 0;

	if (got <= 0 || frame_read(slice_make(bytes, (size_t)got), LIMIT_FRAME_MAX, &frame, &size, &error) != FRAME_WHOLE ||
	    frame.opcode != OP_ERROR || message_decode(OP_ERROR, frame.body, &arena, &told, &error) != ERR_NONE)
		return ERR_NONE;
	return (enum err)told.code;
}

static bool is_closed(int fd)
{
	char byte;

	return readable(fd) && recv(fd, &byte, 1, 0) == 0;
}

static void tell_epoch_started(uint64_t epoch, uint64_t space)
{
	const struct ipc_started item = { .job = 1, .epoch = epoch, .run = 7, .wall_ms = 5, .pid = 99, .space = space };

	tell(IPC_STARTED, &item, sizeof(item));
}

static void tell_epoch_ended(uint64_t epoch, uint64_t space)
{
	const struct ipc_exited item = { .run = 7, .space = space,
					 .done = { .job = 1, .epoch = epoch, .outcome = OUTCOME_EXIT } };

	tell(IPC_EXITED, &item, sizeof(item));
}

/* Wait until the master is told of a channel of this attempt; return its number, or 0. */
static uint64_t heard_channel(uint64_t epoch)
{
	struct msg_relay relay;

	return expect(OP_RELAY, &relay) && relay.job == 1 && relay.epoch == epoch ? relay.channel : 0;
}

static bool running(uint64_t epoch, uint64_t space)
{
	struct msg_started started;

	tell_epoch_started(epoch, space);
	return expect(OP_STARTED, &started);
}

TEST end_of_an_attempt_closes_its_own_channels_alone(void)
{
	struct msg_relay relay;
	struct msg_done done;
	uint64_t older, newer;
	int fds[2];

	ASSERT(connected());
	ASSERT(running(1, 5) && running(2, 6));
	fds[0] = call();
	ASSERT(say_hello(fds[0], 1, 1));
	older = heard_channel(1);
	fds[1] = call();
	ASSERT(say_hello(fds[1], 1, 2));
	newer = heard_channel(2);
	ASSERT(older > 0 && newer > older);
	tell_epoch_ended(1, 5);
	ASSERT(expect(OP_RELAY, &relay));
	ASSERT(relay.end && relay.channel == older);
	ASSERT(expect(OP_DONE, &done));
	ASSERT(is_closed(fds[0]));
	/* The job's other channel still passes bytes on. */
	ASSERT_EQ(0, io_write_all(fds[1], "more", 4));
	ASSERT(expect(OP_RELAY, &relay));
	ASSERT_EQ(newer, relay.channel);
	ASSERT_FALSE(relay.end);
	ASSERT(slice_eq(relay.data, slice_str("more")));
	close(fds[0]);
	close(fds[1]);
	PASS();
}

TEST attempt_that_has_ended_or_is_none_is_refused(void)
{
	struct msg_done done;
	int fd;

	ASSERT(connected());
	ASSERT(running(1, 5));
	tell_epoch_ended(1, 5);
	ASSERT(expect(OP_DONE, &done));
	fd = call();
	ASSERT(say_hello(fd, 1, 1));
	ASSERT_EQ(ERR_STALE, refusal(fd));
	close(fd);
	fd = call();
	ASSERT(say_hello(fd, 1, 2));
	ASSERT_EQ(ERR_STALE, refusal(fd));
	close(fd);
	PASS();
}

TEST attempt_has_as_many_connections_as_the_limit(void)
{
	int fds[LIMIT_RELAY_JOB_MAX + 2];

	ASSERT(connected());
	ASSERT(running(1, 5) && running(2, 6));
	for (int i = 0; i < LIMIT_RELAY_JOB_MAX; i++) {
		fds[i] = call();
		ASSERT(say_hello(fds[i], 1, 1));
		ASSERT(heard_channel(1) > 0);
	}
	fds[LIMIT_RELAY_JOB_MAX] = call();
	ASSERT(say_hello(fds[LIMIT_RELAY_JOB_MAX], 1, 1));
	ASSERT_EQ(ERR_BUSY, refusal(fds[LIMIT_RELAY_JOB_MAX]));
	/* Another attempt's connections have a limit of their own. */
	fds[LIMIT_RELAY_JOB_MAX + 1] = call();
	ASSERT(say_hello(fds[LIMIT_RELAY_JOB_MAX + 1], 1, 2));
	ASSERT(heard_channel(2) > 0);
	for (int i = 0; i < LIMIT_RELAY_JOB_MAX + 2; i++)
		close(fds[i]);
	PASS();
}

static bool connect_all(int fds[LIMIT_RELAY_JOB_MAX])
{
	for (int i = 0; i < LIMIT_RELAY_JOB_MAX; i++) {
		fds[i] = call();
		if (!say_hello(fds[i], 1, 1) || heard_channel(1) == 0)
			return false;
	}
	return true;
}

/* Callers leave in any order; a place is free once the master has been told. */
TEST callers_leave_their_places_in_any_order(void)
{
	static const int orders[2][2] = { { 0, 1 }, { LIMIT_RELAY_JOB_MAX - 1, -1 } };
	int fds[LIMIT_RELAY_JOB_MAX];
	struct msg_relay relay;

	ASSERT(connected());
	ASSERT(running(1, 5));
	for (int round = 0; round < 4; round++) {
		ASSERT(connect_all(fds));
		for (int i = 0; i < LIMIT_RELAY_JOB_MAX; i++) {
			close(fds[orders[round % 2][0] + i * orders[round % 2][1]]);
			ASSERT(expect(OP_RELAY, &relay));
			ASSERT(relay.end);
		}
	}
	PASS();
}

/* All places are taken by callers that send nothing: the oldest is closed, and the new one is let in. */
TEST oldest_silent_caller_makes_room(void)
{
	int fds[LIMIT_RELAY_WORKER_MAX + 1];
	const int last = LIMIT_RELAY_WORKER_MAX;

	ASSERT(connected());
	ASSERT(running(1, 5));
	for (int i = 0; i <= last; i++) {
		fds[i] = call();
		ASSERT(fds[i] >= 0);
	}
	ASSERT_EQ(ERR_BUSY, refusal(fds[0]));
	ASSERT(say_hello(fds[last], 1, 1));
	ASSERT(heard_channel(1) > 0);
	ASSERT(say_hello(fds[1], 1, 1));
	ASSERT(heard_channel(1) > 0);
	for (int i = 0; i <= last; i++)
		close(fds[i]);
	PASS();
}

TEST caller_that_says_nothing_is_refused_in_time(void)
{
	int fd;

	ASSERT(connected());
	fd = call();
	ASSERT(fd >= 0);
	ASSERT_EQ(ERR_TIMEOUT, refusal(fd));
	ASSERT(is_closed(fd));
	close(fd);
	PASS();
}

SUITE(worker_callers)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(end_of_an_attempt_closes_its_own_channels_alone);
	RUN_TEST(attempt_that_has_ended_or_is_none_is_refused);
	RUN_TEST(attempt_has_as_many_connections_as_the_limit);
	RUN_TEST(callers_leave_their_places_in_any_order);
	RUN_TEST(oldest_silent_caller_makes_room);
	RUN_TEST(caller_that_says_nothing_is_refused_in_time);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(worker_callers);
	GREATEST_MAIN_END();
}
