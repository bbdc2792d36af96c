/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accepting many connections at once, and accepting when no descriptor is left. */
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"
#include "base/statedir.h"
#include "greatest.h"
#include "net/listen.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/message.h"
#include "scratch.h"

#define MANY 200

static char home[SCRATCH_SIZE];
static struct statedir statedir;
static struct ev_loop *loop;
static struct listener *listener;
static int accepted[MANY + 8];
static int accepted_count;

static void accept_cb(int fd, void *owner)
{
	if (owner != &accepted || accepted_count == MANY + 8)
		abort();
	if (!(fcntl(fd, F_GETFL) & O_NONBLOCK) || !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
		abort();
	accepted[accepted_count++] = fd;
}

static void setup_cb(void *data)
{
	int fd;

	(void)data;
	scratch_new("listen", home);
	if (setenv("TITAN_STATE", home, 1) != 0 || statedir_find("blue", &statedir) != 0 ||
	    statedir_make(&statedir) != 0 || statedir_socket_listen(&statedir, &fd) != 0)
		abort();
	loop = ev_loop_new(EVFLAG_AUTO);
	accepted_count = 0;
	listener = listener_new(loop, fd, &accepted, accept_cb);
}

static void teardown_cb(void *data)
{
	(void)data;
	while (accepted_count > 0)
		close(accepted[--accepted_count]);
	listener_free(listener);
	ev_loop_destroy(loop);
	if (io_remove_tree(AT_FDCWD, home) != 0)
		abort();
}

TEST many_are_accepted(void)
{
	int fds[MANY];

	for (int i = 0; i < MANY; i++)
		ASSERT_EQ_FMT(0, statedir_socket_connect(&statedir, &fds[i]), "%d");
	for (int i = 0; i < 8; i++)
		ev_run(loop, EVRUN_NOWAIT);
	ASSERT_EQ_FMT(MANY, accepted_count, "%d");
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	PASS();
}

/* Was this connection answered BUSY? Then the others still wait. */
static bool is_told_busy(int fd)
{
	struct arena arena = { 0 };
	struct msg_error told = { 0 };
	struct frame frame;
	struct error error;
	uint8_t bytes[4096];
	size_t size;
	ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (got > 0 && frame_read(slice_make(bytes, (size_t)got), LIMIT_FRAME_MAX, &frame, &size, &error) ==
	    FRAME_WHOLE && frame.opcode == OP_ERROR)
		message_decode(OP_ERROR, frame.body, &arena, &told, &error);
	arena_free(&arena);
	return told.code == ERR_BUSY;
}

TEST without_descriptors_it_rests_and_recovers(void)
{
	struct rlimit before, tight;
	int waiting[4], fd, told = 0;
	unsigned passes;

	for (int i = 0; i < 4; i++)
		ASSERT_EQ_FMT(0, statedir_socket_connect(&statedir, &waiting[i]), "%d");
	/* The loop makes its own descriptors in its first pass. */
	ev_run(loop, EVRUN_NOWAIT);
	for (int i = 0; i < 8; i++)
		ev_run(loop, EVRUN_NOWAIT);
	while (accepted_count > 0)
		close(accepted[--accepted_count]);
	for (int i = 0; i < 4; i++) {
		close(waiting[i]);
		ASSERT_EQ_FMT(0, statedir_socket_connect(&statedir, &waiting[i]), "%d");
	}
	ASSERT_EQ_FMT(0, getrlimit(RLIMIT_NOFILE, &before), "%d");
	fd = dup(0);
	ASSERT(fd >= 0);
	close(fd);
	/* All descriptors from the lowest free one on are over the limit. */
	tight = (struct rlimit){ .rlim_cur = (rlim_t)fd, .rlim_max = before.rlim_max };
	ASSERT_EQ_FMT(0, setrlimit(RLIMIT_NOFILE, &tight), "%d");
	passes = ev_iteration(loop);
	ev_run(loop, EVRUN_ONCE);        /* the listener finds no free descriptor and stops accepting for a while */
	ev_run(loop, EVRUN_ONCE);        /* the listener sleeps until its pause is over */
	ev_run(loop, EVRUN_ONCE);
	ASSERT_EQ_FMT(0, setrlimit(RLIMIT_NOFILE, &before), "%d");
	ASSERT_EQ_FMT(0, accepted_count, "%d");
	ASSERT_EQ_FMT(3u, ev_iteration(loop) - passes, "%u");
	for (int i = 0; i < 4; i++)
		told += is_told_busy(waiting[i]);
	ASSERT(told >= 1 && told <= 2);
	while (accepted_count < 4 - told)
		ev_run(loop, EVRUN_ONCE);
	for (int i = 0; i < 4; i++)
		close(waiting[i]);
	PASS();
}

/* Lower the limit so that the lowest free descriptor and all above it can't be used; none: the limit is 3. */
static bool limit_descriptors(struct rlimit *before, bool none)
{
	struct rlimit tight;
	int fd = dup(0);

	close(fd);
	if (getrlimit(RLIMIT_NOFILE, before) < 0)
		return false;
	tight = (struct rlimit){ .rlim_cur = none ? 3 : (rlim_t)fd, .rlim_max = before->rlim_max };
	return setrlimit(RLIMIT_NOFILE, &tight) == 0;
}

/*
 * The listener lost its spare descriptor in the first shortage and opened it again; in the next shortage a peer is
 * answered BUSY again.
 */
TEST spare_descriptor_is_had_again_after_a_rest(void)
{
	struct rlimit before;
	int fds[2];

	ev_run(loop, EVRUN_NOWAIT);
	ASSERT_EQ_FMT(0, statedir_socket_connect(&statedir, &fds[0]), "%d");
	ASSERT(limit_descriptors(&before, true));
	ev_run(loop, EVRUN_ONCE);
	ASSERT_EQ_FMT(0, setrlimit(RLIMIT_NOFILE, &before), "%d");
	ASSERT_EQ_FMT(0, accepted_count, "%d");
	ASSERT_FALSE(is_told_busy(fds[0]));
	while (accepted_count == 0)
		ev_run(loop, EVRUN_ONCE);
	ASSERT_EQ_FMT(0, statedir_socket_connect(&statedir, &fds[1]), "%d");
	ASSERT(limit_descriptors(&before, false));
	ev_run(loop, EVRUN_ONCE);
	ASSERT_EQ_FMT(0, setrlimit(RLIMIT_NOFILE, &before), "%d");
	ASSERT_EQ_FMT(1, accepted_count, "%d");
	ASSERT(is_told_busy(fds[1]));
	close(fds[0]);
	close(fds[1]);
	PASS();
}

SUITE(net_listen)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(many_are_accepted);
	RUN_TEST(without_descriptors_it_rests_and_recovers);
	RUN_TEST(spare_descriptor_is_had_again_after_a_rest);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(net_listen);
	GREATEST_MAIN_END();
}
