/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts of an attempt. */
#include "tests/unit/core_rig.h"

static struct rig *rig_running(struct rig_attempt *ret_attempt, uint64_t retry_max)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->retry_max = retry_max;
	rig_submit(rig, &graph);
	*ret_attempt = rig_must_take(rig);
	return rig;
}

/* Of an attempt that just began nothing is known, whatever the one before it came to. */
TEST facts_are_of_one_attempt(void)
{
	struct rig_attempt attempt;
	struct rig *rig = rig_running(&attempt, 1);
	struct rec_job_row row;

	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 7);
	row = rig_job(rig, attempt.job);
	ASSERT_EQ(STATE_DELAYED, row.state);
	ASSERT(row.started_ms > 0 && row.code == 7 && row.cpu_us == 11 && row.rss_kib == 22 && row.out_bytes == 33);
	rig_pass(rig, 2000);
	row = rig_job(rig, attempt.job);
	ASSERT_EQ(STATE_ASSIGNED, row.state);
	ASSERT_EQ(OUTCOME_NONE, row.outcome);
	ASSERT(row.started_ms == 0 && row.code == 0 && row.cpu_us == 0 && row.rss_kib == 0 && row.out_bytes == 0);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(facts_are_of_one_attempt);
	GREATEST_MAIN_END();
}
