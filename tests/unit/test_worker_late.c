/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts that hang: a lease on the job's program blocks its exec, like a file system that doesn't answer. */
#include "keeper_rig.h"

#include <errno.h>
#include <fcntl.h>

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct rig *rig;
static char tool[PATH_MAX + 8];
static int lease_fd = -1;

static void setup_cb(void *data)
{
	(void)data;
	rig = rig_new(2);
}

static void let_go(void)
{
	if (lease_fd >= 0)
		close(lease_fd);
	lease_fd = -1;
}

static void teardown_cb(void *data)
{
	(void)data;
	let_go();
	rig_free(rig);
}

/*
 * Make the program and take a lease on it, so that opening it blocks. False: leases don't work here. The program is
 * open for reading only: while a descriptor open for writing is being closed, an exec that no longer waits would fail
 * with ETXTBSY.
 */
static bool begin_with(const char *text)
{
	if (!rig_start(rig))
		abort();
	rig_lease(rig);
	snprintf(tool, sizeof(tool), "%s/tool", rig->options.statedir.dir);
	if (io_write_file(AT_FDCWD, tool, text, strlen(text), 0700) < 0)
		abort();
	signal(SIGIO, SIG_IGN);
	lease_fd = open(tool, O_RDONLY | O_CLOEXEC);
	return lease_fd >= 0 && fcntl(lease_fd, F_SETLEASE, F_WRLCK) == 0;
}

static bool begin(void)
{
	return begin_with("#!/bin/sh\nexit 4\n");
}

static void spawn(uint64_t job, const char *program)
{
	const char *const argv[] = { program, NULL };

	rig_spawn_in(rig, job, 1, argv, NULL, "");
}

TEST hanging_start_holds_up_no_other_job(void)
{
	struct ipc_started started;
	struct ipc_exited exited;

	if (!begin())
		SKIPm("no leases on files");
	spawn(1, tool);
	for (uint64_t job = 2; job < 12; job++) {
		spawn(job, "true");
		ASSERT(rig_exited(rig, job, &exited));
		ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
		ASSERT_EQ(0, exited.done.code);
	}
	for (size_t i = 0; i < rig->queued; i++) {
		if (rig->queue[i].type != IPC_STARTED)
			continue;
		memcpy(&started, rig->queue[i].body.data, sizeof(started));
		ASSERT(started.job != 1);
	}
	let_go();
	ASSERT(rig_started(rig, 1, &started));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT_EQ(4, exited.done.code);
	PASS();
}

TEST hanging_start_that_fails_says_why(void)
{
	struct ipc_exited exited;

	if (!begin_with("#!/no/sh\n"))
		SKIPm("no leases on files");
	spawn(1, tool);
	spawn(2, "true");
	ASSERT(rig_exited(rig, 2, &exited));
	let_go();
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_SPAWN, exited.done.outcome);
	ASSERT_EQ(ENOENT, (int)exited.done.code);
	ASSERT_EQ(0, exited.done.started_ms);
	PASS();
}

TEST hanging_start_ends_at_once_when_asked(void)
{
	struct ipc_exited exited;

	if (!begin())
		SKIPm("no leases on files");
	spawn(1, tool);
	spawn(2, "true");
	ASSERT(rig_exited(rig, 2, &exited));
	rig_stop(rig, 1, 1, 600000);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	let_go();
	spawn(3, tool);
	ASSERT(rig_exited(rig, 3, &exited));
	ASSERT_EQ(4, exited.done.code);
	PASS();
}

TEST two_hanging_starts_go_on_together(void)
{
	struct ipc_started started;
	struct ipc_exited exited;

	rig->options.slots = 3;
	if (!begin())
		SKIPm("no leases on files");
	spawn(1, tool);
	spawn(2, tool);
	spawn(3, "true");
	ASSERT(rig_exited(rig, 3, &exited));
	let_go();
	for (uint64_t job = 1; job <= 2; job++) {
		ASSERT(rig_started(rig, job, &started));
		ASSERT(rig_exited(rig, job, &exited));
		ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
		ASSERT_EQ(4, exited.done.code);
	}
	PASS();
}

TEST hanging_start_is_given_up_at_its_limit(void)
{
	struct ipc_exited exited;

	rig->options.start_ns = NS_PER_S / 5;
	if (!begin())
		SKIPm("no leases on files");
	spawn(1, tool);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_SPAWN, exited.done.outcome);
	ASSERT_EQ(ETIMEDOUT, (int)exited.done.code);
	let_go();
	spawn(2, tool);
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT_EQ(4, exited.done.code);
	PASS();
}

TEST keeper_ends_beside_a_hanging_start(void)
{
	const struct ipc_quit quit = { 600000 };
	struct ipc_exited exited;
	int status;

	if (!begin())
		SKIPm("no leases on files");
	spawn(1, tool);
	spawn(2, "true");
	ASSERT(rig_exited(rig, 2, &exited));
	rig_send(rig, IPC_QUIT, &quit, sizeof(quit));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	rig_name(rig, IPC_SPOOL_ACK, 1, 1);
	rig_name(rig, IPC_SPOOL_ACK, 2, 1);
	status = rig_wait_keeper(rig);
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	PASS();
}

static void run_all(void)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(hanging_start_holds_up_no_other_job);
	RUN_TEST(hanging_start_that_fails_says_why);
	RUN_TEST(hanging_start_ends_at_once_when_asked);
	RUN_TEST(two_hanging_starts_go_on_together);
	RUN_TEST(hanging_start_is_given_up_at_its_limit);
	RUN_TEST(keeper_ends_beside_a_hanging_start);
}

SUITE(with_subreaper)
{
	rig_containment = CONTAIN_SUBREAPER;
	run_all();
}

SUITE(with_cgroup)
{
	rig_containment = CONTAIN_CGROUP;
	run_all();
}

SUITE(with_pids)
{
	rig_containment = CONTAIN_PIDS;
	run_all();
}

int main(int argc, char **argv)
{
	rig_stub(argc, argv);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(with_subreaper);
	if (rig_can_contain(CONTAIN_CGROUP))
		RUN_SUITE(with_cgroup);
	if (rig_can_contain(CONTAIN_PIDS))
		RUN_SUITE(with_pids);
	GREATEST_MAIN_END();
}
