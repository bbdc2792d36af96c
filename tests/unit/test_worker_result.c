/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a keeper reports about an attempt's end: its last output, and what it used. */
#include "keeper_rig.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct rig *rig;

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

/* Does this process have a stopped child? */
static bool has_stopped_child(uint64_t pid)
{
	struct pid_list list = { 0 };
	struct tree_stat stat;
	bool found = false;

	tree_processes(&list);
	for (size_t i = 0; i < list.n && !found; i++)
		found = tree_stat(list.at[i], &stat) && stat.parent == (pid_t)pid && stat.state == 'T';
	pid_list_free(&list);
	return found;
}

/* The job stopped itself and its whole group, so it must be continued to receive SIGTERM and write its last output. */
TEST stopped_job_says_its_last_words_when_it_is_cancelled(void)
{
	struct ipc_started started;
	struct ipc_exited exited;
	struct buf text = { 0 };

	rig_sh(rig, 1, 1, "trap 'echo last words; exit 3' TERM; sh -c 'kill -STOP 0; exec sleep 600'; :");
	ASSERT(rig_started(rig, 1, &started));
	for (int i = 0; i < RIG_WAIT_MS / 5 && !has_stopped_child(started.pid); i++)
		usleep(5000);
	ASSERT(has_stopped_child(started.pid));
	rig_stop(rig, 1, 1, 5000);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	ASSERT_EQ_FMT((uint64_t)3, exited.done.code, "%lu");
	ASSERT_STR_EQ("last words\n", rig_output(rig, exited.space, "out", &text));
	buf_free(&text);
	PASS();
}

/* The job is busy until its limit of a second signals it, and a little longer; the shell itself prints what it used. */
TEST cpu_of_a_busy_job_is_what_it_used(void)
{
	struct ipc_exited exited;
	struct buf text = { 0 };
	unsigned minutes[2];
	double seconds[2], used_s, reported_s;

	rig_sh(rig, 1, 1, "ulimit -S -t 1; busy=1; trap 'busy=' XCPU; while [ $busy ]; do :; done;"
	       "i=0; while [ $i -lt 3000000 ]; do i=$((i + 1)); done; times");
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT_EQ(4, sscanf(rig_output(rig, exited.space, "out", &text), "%um%lfs %um%lfs", &minutes[0], &seconds[0],
			    &minutes[1], &seconds[1]));
	buf_free(&text);
	used_s = 60 * (minutes[0] + minutes[1]) + seconds[0] + seconds[1];
	reported_s = (double)exited.done.cpu_us / 1e6;
	ASSERT(used_s > 1.15);
	ASSERT_IN_RANGE(used_s, reported_s, 0.1);
	PASS();
}

static void result_tests(void)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(stopped_job_says_its_last_words_when_it_is_cancelled);
	RUN_TEST(cpu_of_a_busy_job_is_what_it_used);
}

SUITE(with_subreaper)
{
	rig_containment = CONTAIN_SUBREAPER;
	result_tests();
}

SUITE(with_cgroup)
{
	rig_containment = CONTAIN_CGROUP;
	result_tests();
}

SUITE(with_pids)
{
	rig_containment = CONTAIN_PIDS;
	result_tests();
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
