/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A keeper punches holes into its jobs' files for bytes that nobody will read any more, and for nothing else. */
#include "keeper_rig.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

#define MIB ((uint64_t)1 << 20)

static struct rig *rig;
static char path[PATH_MAX + 64];

static void setup_cb(void *data)
{
	(void)data;
	rig = rig_new(2);
	if (!rig_start(rig))
		abort();
	rig_lease(rig);
}

static void teardown_cb(void *data)
{
	(void)data;
	rig_free(rig);
}

static uint64_t used(void)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : UINT64_MAX;
}

/* A file system takes some blocks for itself. */
static bool is_about(uint64_t bytes)
{
	return used() >= bytes && used() <= bytes + 65536;
}

static bool used_becomes(uint64_t bytes)
{
	for (int i = 0; i < RIG_WAIT_MS / 5 && !is_about(bytes); i++)
		usleep(5000);
	return is_about(bytes);
}

/* Start a job that writes eight MiB of x and stays alive. */
static bool written(struct ipc_started *ret_started)
{
	rig_sh(rig, 1, 1, "head -c 8388608 /dev/zero | tr '\\0' x; sleep 600");
	if (!rig_started(rig, 1, ret_started))
		return false;
	snprintf(path, sizeof(path), "%s/worker/w1/attempts/%llu.out", rig->options.statedir.dir,
		 (unsigned long long)ret_started->space);
	return used_becomes(8 * MIB);
}

static char byte_at(uint64_t at)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte = '?';

	if (pread(fd, &byte, 1, (off_t)at) != 1)
		byte = '!';
	close(fd);
	return byte;
}

TEST what_is_synced_and_the_middle_become_holes(void)
{
	struct ipc_room room = { .job = 1, .epoch = 1, .synced = { MIB + 100 }, .from = { 3 * MIB - 100 },
				 .until = { 7 * MIB + 100 } };
	struct ipc_started started;

	ASSERT(written(&started));
	rig_send(rig, IPC_ROOM, &room, sizeof(room));
	ASSERT(used_becomes(3 * MIB));
	ASSERT_EQ('x', byte_at(MIB));
	ASSERT_EQ('x', byte_at(3 * MIB - 1));
	ASSERT_EQ('x', byte_at(7 * MIB));
	ASSERT_EQ(0, byte_at(7 * MIB - 1));
	PASS();
}

TEST a_new_link_is_told_what_was_given_back(void)
{
	struct ipc_room room = { .job = 1, .epoch = 1, .synced = { MIB + 100 } };
	struct ipc_started started;
	struct {
		struct ipc_exited exited;
		uint64_t synced[2];
	} end;

	ASSERT(written(&started));
	ASSERT_EQ_FMT(0ul, started.synced[0], "%lu");
	rig_send(rig, IPC_ROOM, &room, sizeof(room));
	ASSERT(used_becomes(7 * MIB));
	/* The same keeper knows exactly what it gave back; another keeper sees that in the file's holes. */
	ASSERT(rig_accept(rig));
	ASSERT(rig_started(rig, 1, &started));
	ASSERT_EQ_FMT(MIB + 100, started.synced[0], "%lu");
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	ASSERT(rig_start(rig));
	ASSERT(rig_started(rig, 1, &started));
	ASSERT_EQ_FMT(MIB, started.synced[0], "%lu");
	kill((pid_t)started.pid, SIGKILL);
	ASSERT(rig_wait(rig, IPC_EXITED, 1, &end, sizeof(end)));
	ASSERT_EQ_FMT(8 * MIB, end.exited.sizes[0], "%lu");
	ASSERT_EQ_FMT(MIB, end.synced[0], "%lu");
	PASS();
}

/*
 * The master's disk has half a block of a lossless job's output: the block must not become a hole, because its other
 * half is still to be sent.
 */
TEST hole_of_a_lossless_job_ends_in_front_of_unsynced_bytes(void)
{
	struct ipc_room room = { .job = 1, .epoch = 1, .synced = { MIB + 100 } };
	struct ipc_started started;

	rig->log_max = LOG_LOSSLESS;
	ASSERT(written(&started));
	rig_send(rig, IPC_ROOM, &room, sizeof(room));
	ASSERT(used_becomes(7 * MIB));
	ASSERT_EQ(0, byte_at(MIB - 1));
	ASSERT_EQ('x', byte_at(MIB));
	ASSERT_EQ('x', byte_at(MIB + 100));
	ASSERT_EQ('x', byte_at(MIB + 4095));
	PASS();
}

/* The space of an ended job may be used by another attempt, so no hole is punched. */
TEST of_one_that_has_ended_nothing_is_given_back(void)
{
	struct ipc_room room = { .job = 1, .epoch = 1, .synced = { MIB }, .from = { 3 * MIB }, .until = { 7 * MIB } };
	struct ipc_started started;
	struct ipc_exited exited;

	ASSERT(written(&started));
	kill((pid_t)started.pid, SIGKILL);
	ASSERT(rig_exited(rig, 1, &exited));
	rig_send(rig, IPC_ROOM, &room, sizeof(room));
	rig_sh(rig, 2, 1, "exit 0");
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT(is_about(8 * MIB));
	PASS();
}

SUITE(worker_room)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(what_is_synced_and_the_middle_become_holes);
	RUN_TEST(a_new_link_is_told_what_was_given_back);
	RUN_TEST(hole_of_a_lossless_job_ends_in_front_of_unsynced_bytes);
	RUN_TEST(of_one_that_has_ended_nothing_is_given_back);
}

int main(int argc, char **argv)
{
	rig_stub(argc, argv);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(worker_room);
	GREATEST_MAIN_END();
}
