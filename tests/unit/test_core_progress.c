/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress that jobs report: kept in memory while the attempt lives, never in a row. */
#include "tests/unit/core_place.h"

static struct rig *rig;
static struct rig_attempt attempt;

static void begin(uint64_t retry_max)
{
	rig = rig_new();
	rig_hello(rig, "w", 1);
	given(rig, (struct rec_job_spec){ .retry_max = retry_max });
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
}

/* Report progress; did the core accept it? */
static bool say(uint64_t job, uint64_t epoch, uint64_t done, uint64_t total, const char *text)
{
	struct core_input input = {
		.kind = INPUT_PROGRESS, .conn = 900, .request = 7,
		.progress = { { job, epoch }, done, total, slice_str(text) },
	};

	rig_turn_begin(rig);
	core_step(rig->core, &input);
	rig_turn_end(rig);
	ASSERT_EQ(0, rig->out.row_count);
	return rig_frames(rig, OP_OK, NULL) == 1;
}

TEST the_latest_word_is_in_the_row(void)
{
	begin(0);
	ASSERT_EQ(0, rig_job(rig, attempt.job).progress);
	ASSERT(say(attempt.job, attempt.epoch, 0, 0, ""));
	ASSERT_EQ(1, rig_job(rig, attempt.job).progress);
	ASSERT(say(attempt.job, attempt.epoch, 3, 12, "unpacking"));
	ASSERT_EQ(4, rig_job(rig, attempt.job).progress);
	ASSERT_EQ(12, rig_job(rig, attempt.job).progress_of);
	ASSERT(slice_eq(rig_job(rig, attempt.job).progress_text, slice_str("unpacking")));
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(0, rig_job(rig, attempt.job).progress);
	rig_free(rig);
	PASS();
}

TEST only_the_present_attempt_is_heard(void)
{
	begin(1);
	ASSERT_FALSE(say(attempt.job, attempt.epoch + 1, 5, 0, ""));
	ASSERT_FALSE(say(attempt.job + 1000, attempt.epoch, 5, 0, ""));
	ASSERT(say(attempt.job, attempt.epoch, 5, 0, ""));
	rig_done(rig, attempt, OUTCOME_EXIT, 1);
	ASSERT_EQ(0, rig_job(rig, attempt.job).progress);
	ASSERT_FALSE(say(attempt.job, attempt.epoch, 5, 0, ""));
	ASSERT(rig_error_says(rig, ERR_STALE, "old attempt"));
	rig_free(rig);
	PASS();
}

TEST a_restarted_master_waits_for_the_next_word(void)
{
	begin(0);
	ASSERT(say(attempt.job, attempt.epoch, 5, 0, "before"));
	rig_restart(rig);
	ASSERT_EQ(0, rig_job(rig, attempt.job).progress);
	ASSERT(say(attempt.job, attempt.epoch, 6, 0, "after"));
	ASSERT_EQ(7, rig_job(rig, attempt.job).progress);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_latest_word_is_in_the_row);
	RUN_TEST(only_the_present_attempt_is_heard);
	RUN_TEST(a_restarted_master_waits_for_the_next_word);
	GREATEST_MAIN_END();
}
