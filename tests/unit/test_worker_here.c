/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job whose directory must be a certain one starts there or goes back, with each containment. */
#include "keeper_rig.h"

#include <errno.h>
#include <sys/stat.h>

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

TEST job_goes_back_if_its_directory_is_another_one(void)
{
	const char *const fine[] = { "true", NULL };
	const char *dir = rig->options.statedir.dir;
	struct ipc_exited exited;
	struct stat info;

	ASSERT_EQ(0, stat(dir, &info));
	for (uint64_t job = 1; job <= 4; job++) {
		rig->here_device = info.st_dev + (job == 2);
		rig->here_inode = info.st_ino + (job == 3);
		rig_spawn_in(rig, job, 1, fine, NULL, job == 4 ? "/no/such/directory" : dir);
		ASSERT(rig_exited(rig, job, &exited));
		ASSERT_EQ(job == 1 ? OUTCOME_EXIT : OUTCOME_ELSEWHERE, (enum outcome)exited.done.outcome);
		ASSERT_EQ(job == 1 ? 0 : job == 4 ? ENOENT : ESTALE, (int)exited.done.code);
		ASSERT_EQ(job == 1, exited.done.started_ms > 0);
	}
	rig->here_inode = 0;
	PASS();
}

SUITE(here)
{
	static const enum containment containments[] = { CONTAIN_SUBREAPER, CONTAIN_CGROUP, CONTAIN_PIDS };

	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	for (size_t i = 0; i < sizeof(containments) / sizeof(containments[0]); i++) {
		rig_containment = containments[i];
		if (i == 0 || rig_can_contain(containments[i]))
			RUN_TEST(job_goes_back_if_its_directory_is_another_one);
	}
}

int main(int argc, char **argv)
{
	rig_stub(argc, argv);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(here);
	GREATEST_MAIN_END();
}
