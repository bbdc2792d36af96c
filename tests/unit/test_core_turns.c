/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose turn it is: at a lock, among jobs that want different workers; in the queue, of what was there before. */
#include "tests/unit/core_lock.h"
#include "tests/unit/core_place.h"

static uint64_t at_lock(struct rig *rig, const char *lock, const char *label, uint64_t priority)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "j", "");

	job->mode = EXEC_EXCLUSIVE;
	job->locks = words(rig, lock);
	job->labels = words(rig, label);
	job->priority = priority + 1;
	return rig_submit(rig, &graph);
}

/* The best of those that want a lock alone keeps out who ranks behind it, whoever came first. */
TEST the_best_at_a_lock_whoever_came_first(uint64_t first, uint64_t second, uint64_t sharer, bool goes)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t run;

	join(rig, "a", 8, "gpu", "", "");
	join(rig, "b", 8, "", "", "");
	lock_act(rig, SET_TAKE, "db", "", true, 0);
	at_lock(rig, "db", "gpu", first);
	at_lock(rig, "db", "", second);
	run = at_lock(rig, "db=shared", "", sharer);
	ASSERT_EQ(goes ? run : 0, given_run(rig, &attempt));
	rig_free(rig);
	PASS();
}

/* What a run left in the queue when it left memory is not its own when it comes back. */
TEST a_run_that_comes_back_queues_once(void)
{
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000, .request = 7 };
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct row rows[3];
	uint64_t run = at_lock(rig, "", "", 50);

	at_lock(rig, "", "", 50);
	rig_cancel(rig, run, "");
	core_sweep(rig->core, rig->out.turn);
	ASSERT(rig_run_row(rig, (int64_t)run)->run.ended_ms > 0);
	rows[0] = *rig_run_row(rig, (int64_t)run);
	rows[1] = rig->tables[TABLE_spec].at[0].row;
	rows[2] = rig->tables[TABLE_job].at[0].row;
	ASSERT(rows[1].spec.run == (int64_t)run && rows[2].job.run == (int64_t)run);
	input.reopen = (struct input_reopen){ .act = { .verb = ACT_RETRY, .run = run, .value = RETRY_FAILED },
		.rows = rows, .row_count = 3 };
	rig_step(rig, &input);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "j"));
	rig_hello(rig, "w", 9);
	ASSERT_EQ(run, given_run(rig, &attempt));
	ASSERT_EQ(run + 1, given_run(rig, &attempt));
	ASSERT_EQ(0, given_run(rig, &attempt));
	rig_free(rig);
	PASS();
}

SUITE(turns)
{
	RUN_TESTp(the_best_at_a_lock_whoever_came_first, 30, 70, 50, false);
	RUN_TESTp(the_best_at_a_lock_whoever_came_first, 70, 30, 50, false);
	RUN_TESTp(the_best_at_a_lock_whoever_came_first, 30, 40, 50, true);
	RUN_TEST(a_run_that_comes_back_queues_once);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(turns);
	GREATEST_MAIN_END();
}
