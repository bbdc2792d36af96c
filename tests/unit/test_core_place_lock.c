/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order at locks and in the queue: writers of several classes, reopened runs, places of groups. */
#include "tests/unit/core_grow.h"
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

/*
 * The best of the waiting jobs that want a lock alone keeps out the jobs behind it in rank, in whatever order they
 * came.
 */
TEST best_writer_keeps_out_the_jobs_ranked_behind(uint64_t first, uint64_t second, uint64_t sharer, bool goes)
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

/* The lock's row says whether a job shares the lock or has it alone. */
TEST lock_row_shows_how_a_job_has_the_lock(bool shared)
{
	struct rig *rig = rig_new();
	struct rec_lock_row rows[4];
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	wants(rig, shared ? "db=shared" : "db");
	ASSERT_EQ(1, given_run(rig, &attempt));
	ASSERT_EQ(1, lock_rows(rig, rows));
	ASSERT(rows[0].job == attempt.job && rows[0].shared == shared);
	rig_free(rig);
	PASS();
}

/* Entries that a run left in the queue when it left memory aren't used when it is reopened. */
TEST reopened_run_queues_once(size_t before)
{
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000, .request = 7 };
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct row rows[3];
	uint64_t run;

	for (size_t i = 0; i < before; i++)
		at_lock(rig, "", "", 60);
	run = at_lock(rig, "", "", 50);
	at_lock(rig, "", "", 50);
	rig_cancel(rig, run, "");
	core_sweep(rig->core, rig->out.turn);
	ASSERT(rig_run_row(rig, (int64_t)run)->run.ended_ms > 0);
	rows[0] = *rig_run_row(rig, (int64_t)run);
	rows[1] = rig->tables[TABLE_spec].at[before].row;
	rows[2] = rig->tables[TABLE_job].at[0].row;
	ASSERT(rows[1].spec.run == (int64_t)run && rows[2].job.run == (int64_t)run);
	input.reopen = (struct input_reopen){ .act = { .verb = ACT_RETRY, .run = run, .value = RETRY_FAILED },
		.rows = rows, .row_count = 3 };
	rig_step(rig, &input);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "j"));
	rig_hello(rig, "w", 9);
	for (uint64_t other = 1; other <= before; other++)
		ASSERT_EQ(other, given_run(rig, &attempt));
	ASSERT_EQ(run, given_run(rig, &attempt));
	ASSERT_EQ(run + 1, given_run(rig, &attempt));
	ASSERT_EQ(0, given_run(rig, &attempt));
	rig_free(rig);
	PASS();
}

/*
 * Two places of a group become free at once: the first waiting run takes one of them for all its jobs, not one for each
 * job.
 */
TEST free_places_of_a_group_go_to_as_many_runs(void)
{
	struct rig *rig = rig_new();
	struct rec_done done[2] = { 0 };
	struct core_input input = { .kind = INPUT_DONE };
	uint64_t runs[4];

	input.conn = rig_hello(rig, "w", 9);
	rig->concurrency = "g=2";
	for (size_t i = 0; i < 4; i++) {
		struct graph graph = { 0 };

		graph_job(&graph, "a", "");
		if (i == 2)
			graph_job(&graph, "b", "");
		runs[i] = rig_submit(rig, &graph);
	}
	for (size_t i = 0; i < 2; i++) {
		struct rig_attempt attempt = rig_must_take(rig);

		rig_started(rig, attempt);
		done[i] = (struct rec_done){ .job = attempt.job, .epoch = attempt.epoch, .outcome = OUTCOME_EXIT };
	}
	ASSERT_STR_EQ("ready", rig_state_named(rig, runs[2], "a"));
	input.done.at = done;
	input.done.n = 2;
	rig_step(rig, &input);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, runs[2], "a"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, runs[2], "b"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, runs[3], "a"));
	rig_free(rig);
	PASS();
}

/* Added jobs that form a cycle, one of which needs an existing job, are refused by name. */
TEST added_jobs_in_a_cycle_are_refused_with_their_names(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	graph_job(&graph, "old", "");
	run = rig_submit(rig, &graph);
	job = added(&graph, "a", 0, TRIGGER_OK);
	job->triggers.at[job->triggers.n++] = TRIGGER_OK;
	job->needs.at[job->needs.n++] = 1;
	graph_job(&graph, "b", "a");
	ASSERT_EQ(0, grow(rig, run, &graph, "old"));
	ASSERT(rig_error_says(rig, ERR_CYCLE, "b -> a -> b"));
	rig_free(rig);
	PASS();
}

SUITE(turns)
{
	RUN_TESTp(best_writer_keeps_out_the_jobs_ranked_behind, 30, 70, 50, false);
	RUN_TESTp(best_writer_keeps_out_the_jobs_ranked_behind, 70, 30, 50, false);
	RUN_TESTp(best_writer_keeps_out_the_jobs_ranked_behind, 30, 40, 50, true);
	RUN_TESTp(lock_row_shows_how_a_job_has_the_lock, false);
	RUN_TESTp(lock_row_shows_how_a_job_has_the_lock, true);
	RUN_TESTp(reopened_run_queues_once, 0);
	RUN_TESTp(reopened_run_queues_once, 1);
	RUN_TEST(free_places_of_a_group_go_to_as_many_runs);
	RUN_TEST(added_jobs_in_a_cycle_are_refused_with_their_names);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(turns);
	GREATEST_MAIN_END();
}
