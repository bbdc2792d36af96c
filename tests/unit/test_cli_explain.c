/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan explain: why a job is in its state, and for an ended job the details of its end. */
#include "cli_rig.h"
#include "greatest.h"
#include "proto/dead.h"
#include "proto/reasons.h"

static struct rec_job_row *job;          /* 4/a */

static void setup_cb(void *data)
{
	rig_setup_cb(data);
	rig_add_run(4, RUN_RUNNING);
	job = rig_add_job("a", STATE_FAILED);
	rig_add_job("b", STATE_SKIPPED);
}

/* The value of one field of job 4/a. */
static const char *said(const char *field)
{
	char line[64];

	snprintf(line, sizeof(line), "explain 4/a --format {%s}", field);
	if (rig_run(line) != 0)
		return rig_err();
	if (rig.out.len > 0 && rig.out.data[rig.out.len - 1] == '\n')
		buf_cut(&rig.out, rig.out.len - 1);
	return rig_out();
}

TEST explain_of_a_job_that_goes_on_is_what_the_master_says(void)
{
	job->state = STATE_READY;
	job->outcome = OUTCOME_NONE;
	job->why = slice_str("no worker is connected");
	job->why_code = REASON_NO_WORKER_UP;
	ASSERT_STR_EQ("no worker is connected", said("why"));
	ASSERT_STR_EQ("no_worker_up", said("reason"));
	ASSERT_STR_EQ("titan up", said("next"));
	ASSERT_STR_EQ("4/a", said("job"));
	ASSERT_STR_EQ("ready", said("state"));
	PASS();
}

TEST explain_of_a_failure_has_its_outcome_and_tries(void)
{
	char wanted[128];

	job->code = 7;
	job->tries = 1;
	job->retry_max = 0;
	snprintf(wanted, sizeof(wanted), "%s (exit 7, 1 try)", state_table[STATE_FAILED].fact);
	ASSERT_STR_EQ(wanted, said("why"));
	ASSERT_STR_EQ("ended", said("reason"));
	ASSERT_STR_EQ("titan retry 4/a", said("next"));
	job->tries = 3;
	job->retry_max = 2;
	snprintf(wanted, sizeof(wanted), "%s (exit 7, 3 tries)", state_table[STATE_FAILED].fact);
	ASSERT_STR_EQ(wanted, said("why"));
	job->retry_max = 3;
	ASSERT_STR_EQ("the job's retry policy doesn't cover this kind of failure (exit 7, 3 tries)", said("why"));
	/* Attempts that were ended by their worker don't use up the job's retry budget. */
	job->retry_max = 1;
	job->interrupted = 2;
	ASSERT_STR_EQ("the job's retry policy doesn't cover this kind of failure (exit 7, 3 tries); 2 earlier attempts were ended by their workers", said("why"));
	PASS();
}

TEST explain_of_a_crash_limit_says_so(void)
{
	char wanted[128];

	job->outcome = OUTCOME_LOST;
	job->crash_limit = 3;
	job->crashes = 3;
	job->tries = 3;
	snprintf(wanted, sizeof(wanted), "%s (lost, 3 tries)", dead_text(DEAD_CRASH_LIMIT));
	ASSERT_STR_EQ(wanted, said("why"));
	job->crashes = 2;
	snprintf(wanted, sizeof(wanted), "%s (lost, 3 tries)", state_table[STATE_FAILED].fact);
	ASSERT_STR_EQ(wanted, said("why"));
	PASS();
}

TEST explain_of_what_never_ran_claims_no_process(void)
{
	job->outcome = OUTCOME_NONE;
	job->tries = 0;
	job->state = STATE_CANCELLED;
	ASSERT_STR_EQ("somebody cancelled the job before it started", said("why"));
	job->cause = 402;
	ASSERT_STR_EQ("another job of its fan-out failed, so this job was cancelled", said("why"));
	job->cause = 0;
	job->state = STATE_TIMED_OUT;
	ASSERT_STR_EQ("the job ran out of time before it started", said("why"));
	job->state = STATE_CANCELLED;
	job->tries = 1;
	job->outcome = OUTCOME_LOST;
	ASSERT_EQ(said("why"), strstr(said("why"), "somebody cancelled the job; its worker was lost"));
	PASS();
}

TEST explain_of_a_loop_that_ended_early_has_its_condition(void)
{
	job->state = STATE_SUCCEEDED;
	job->ended_by = EVENT_ENOUGH;
	job->pass = 2;
	job->loop_max = 5;
	job->loop_until = slice_str("load < 3");
	ASSERT(strstr(said("why"), ": pass 2 of 5, until load < 3") != NULL);
	PASS();
}

TEST explain_of_a_skipped_job_names_its_cause(void)
{
	job->state = STATE_SKIPPED;
	job->outcome = OUTCOME_NONE;
	job->tries = 0;
	job->cause = 402;
	rig.jobs[1].state = STATE_FAILED;
	ASSERT_STR_EQ("because b failed", said("cause"));
	ASSERT_STR_EQ("titan retry 4", said("next"));
	job->condition_false = true;
	job->cause = 0;
	job->when = slice_str("x");
	ASSERT_STR_EQ("the job's condition was false: x", said("cause"));
	ASSERT_STR_EQ("condition", said("reason"));
	PASS();
}

TEST explain_of_a_fan_out_counts_those_that_havent_succeeded(void)
{
	char names[14][8];

	rig_add_run(3, RUN_RUNNING);
	for (int i = 0; i < 14; i++) {
		snprintf(names[i], sizeof(names[i]), "e[%d]", i);
		rig_add_job(names[i], i < 2 ? STATE_SUCCEEDED : STATE_FAILED);
	}
	rig_add_job("extra", STATE_FAILED);
	ASSERT_EQ(0, rig_run("explain 3/e --format {count}|{alike}|{next}"));
	ASSERT_EQ(rig_out(), strstr(rig_out(), "12|3/e[2],3/e[3],"));
	ASSERT(strstr(rig_out(), ",3/e[13]|titan retry 3\n") != NULL);
	ASSERT_EQ(0, rig_run("explain 3/e"));
	ASSERT_STR_EQ("2 of 14 jobs of run 3 have succeeded\n", rig_err());
	ASSERT(strstr(rig_out(), "3/e[2],3/e[3],3/e[4],3/e[5],3/e[6],3/e[7] +6") != NULL);
	PASS();
}

TEST explain_of_a_run_has_a_row_for_each_reason(void)
{
	static const char *const names[] = { "q1", "q2", "w", "g" };
	struct rec_job_row *added;

	rig_add_run(3, RUN_RUNNING);
	rig_add_job("ok", STATE_SUCCEEDED);
	rig_add_job("r", STATE_RUNNING);
	for (size_t i = 0; i < 4; i++) {
		added = rig_add_job(names[i], i < 2 ? STATE_READY : i == 2 ? STATE_WAITING : STATE_APPROVAL);
		added->why_code = i < 2 ? REASON_NO_WORKER_LABELS : i == 2 ? REASON_WAITS_FOR_DEPENDENCY : REASON_APPROVAL;
		added->why = slice_str(i == 0 ? "no worker has gpu" : i == 1 ? "no worker has ssd" : i == 2 ? "the job waits for r" : "0 of 1");
	}
	ASSERT_EQ(0, rig_run("explain 3 --format {count}|{state}|{reason}|{why}|{alike}|{next}"));
	ASSERT_STR_EQ("1|running|running|the job is running|3/r|\n"
		      "2|ready|no_worker_labels|no connected worker meets the job's requirements on labels|3/q1,3/q2|titan worker ls\n"
		      "1|waiting|waits_for_dependency|the job waits for r|3/w|titan show 3\n"
		      "1|approval|approval|0 of 1|3/g|titan approve 3/g\n",
		      rig_out());
	/* Several words, or a condition that several jobs meet, may be given; the jobs may be of several runs. */
	ASSERT_EQ(0, rig_run("explain 3/w 3/g --format {alike}"));
	ASSERT_STR_EQ("3/w\n3/g\n", rig_out());
	ASSERT_EQ(0, rig_run("explain QUEUE --format {alike}"));
	ASSERT_STR_EQ("3/q1,3/q2\n", rig_out());
	ASSERT_EQ(0, rig_run("explain 3/g --json"));
	ASSERT_EQ(rig_out(), strstr(rig_out(), "[{\"job\":\"3/g\",\"count\":1,"));
	PASS();
}

TEST explain_of_nothing_says_what_is_expected(void)
{
	ASSERT_EQ(4, rig_run("explain 4/nobody"));
	ASSERT_STR_EQ("titan: no job 4/nobody\n   try: titan show 4\n", rig_err());
	ASSERT_EQ(4, rig_run("explain 9/a"));
	ASSERT(strstr(rig_err(), "   try: titan ls\n") != NULL);
	ASSERT_EQ(4, rig_run("explain 9"));
	ASSERT(strstr(rig_err(), "   try: titan ls\n") != NULL);
	PASS();
}

SUITE(cli_explain)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(rig_teardown_cb, NULL);
	RUN_TEST(explain_of_a_job_that_goes_on_is_what_the_master_says);
	RUN_TEST(explain_of_a_failure_has_its_outcome_and_tries);
	RUN_TEST(explain_of_a_crash_limit_says_so);
	RUN_TEST(explain_of_what_never_ran_claims_no_process);
	RUN_TEST(explain_of_a_loop_that_ended_early_has_its_condition);
	RUN_TEST(explain_of_a_skipped_job_names_its_cause);
	RUN_TEST(explain_of_a_fan_out_counts_those_that_havent_succeeded);
	RUN_TEST(explain_of_a_run_has_a_row_for_each_reason);
	RUN_TEST(explain_of_nothing_says_what_is_expected);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	setenv("LC_ALL", "C", 1);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_explain);
	GREATEST_MAIN_END();
}
