/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Following a run: what is printed, which state the command believes, and its exit status. */
#include "cli/follow/exit_status.h"

#include <errno.h>

#include "cli_rig.h"
#include "greatest.h"
#include "proto/reasons.h"

/*
 * Characters that must not reach a terminal: ESC, C1, right-to-left override, zero width, byte order mark, invalid
 * UTF-8.
 */
#define EVIL "E\x1b[2J\xc2\x9b" "2J\xe2\x80\xaeR\xe2\x80\x8bZ\xef\xbb\xbf\xff"

static struct rec_job_row rows[4];

/* ---- the exit status ---- */

static struct rec_job_row ended(enum outcome outcome, uint64_t code, int64_t ended_ms)
{
	return (struct rec_job_row){ .state = STATE_FAILED, .outcome = outcome, .code = code, .ended_ms = ended_ms };
}

TEST propagate_takes_the_code_of_the_first_failed_job(void)
{
	rows[0] = ended(OUTCOME_EXIT, 7, 5000);
	rows[1] = ended(OUTCOME_EXIT, 9, 4000);
	rows[2] = ended(OUTCOME_EXIT, 5, 4500);
	ASSERT_EQ(9, first_exit_code(rows, 3));
	ASSERT_EQ(7, first_exit_code(rows, 1));
	ASSERT_EQ(0, first_exit_code(rows, 0));
	PASS();
}

TEST propagate_passes_over_forgiven_and_other_ends(void)
{
	rows[0] = ended(OUTCOME_EXIT, 7, 1000);
	rows[0].forgiven = true;
	rows[1] = ended(OUTCOME_EXIT, 8, 2000);
	rows[1].state = STATE_TIMED_OUT;
	rows[2] = ended(OUTCOME_LOST, 2, 3000);
	rows[3] = ended(OUTCOME_EXIT, 9, 4000);
	ASSERT_EQ(9, first_exit_code(rows, 4));
	ASSERT_EQ(0, first_exit_code(rows, 3));
	PASS();
}

TEST propagate_says_what_a_shell_says_of_a_command_that_cant_be_started(void)
{
	rows[0] = ended(OUTCOME_SPAWN, ENOENT, 1000);
	ASSERT_EQ(127, first_exit_code(rows, 1));
	rows[0] = ended(OUTCOME_SPAWN, EACCES, 1000);
	ASSERT_EQ(126, first_exit_code(rows, 1));
	PASS();
}

TEST propagate_adds_128_to_a_signal(void)
{
	rows[0] = ended(OUTCOME_SIGNAL, 9, 1000);
	ASSERT_EQ(137, first_exit_code(rows, 1));
	rows[0] = ended(OUTCOME_SIGNAL, 15, 1000);
	ASSERT_EQ(143, first_exit_code(rows, 1));
	PASS();
}

TEST propagate_takes_no_code_that_is_none(void)
{
	rows[0] = ended(OUTCOME_EXIT, 0, 1000);
	ASSERT_EQ(0, first_exit_code(rows, 1));
	rows[0] = ended(OUTCOME_EXIT, 256, 1000);
	ASSERT_EQ(0, first_exit_code(rows, 1));
	rows[0] = ended(OUTCOME_EXIT, 255, 1000);
	ASSERT_EQ(255, first_exit_code(rows, 1));
	PASS();
}

static int status_of(uint64_t denied, uint64_t failed, uint64_t timed_out, uint64_t quarantined)
{
	uint64_t counts[STATE_COUNT] = {
		[STATE_DENIED] = denied, [STATE_FAILED] = failed, [STATE_TIMED_OUT] = timed_out, [STATE_QUARANTINED] = quarantined,
	};
	const struct rec_run_row run = { .run = 4, .counts = { counts, STATE_COUNT } };

	return failed_run_status(&run, NULL, 0);
}

TEST refusal_ends_with_3_unless_something_failed(void)
{
	ASSERT_EQ(3, err_exit_status(ERR_DENIED));
	ASSERT_EQ(3, status_of(1, 0, 0, 0));
	ASSERT_EQ(3, status_of(2, 0, 0, 0));
	ASSERT_EQ(1, status_of(1, 1, 0, 0));
	ASSERT_EQ(1, status_of(1, 0, 1, 0));
	ASSERT_EQ(1, status_of(1, 0, 0, 1));
	ASSERT_EQ(1, status_of(0, 1, 0, 0));
	PASS();
}

TEST forgiven_failure_beside_a_refusal_ends_with_3(void)
{
	uint64_t counts[STATE_COUNT] = { [STATE_DENIED] = 1, [STATE_FAILED] = 1 };
	struct rec_run_row run = { .run = 4, .forgiven = 1, .counts = { counts, STATE_COUNT } };

	rows[0] = (struct rec_job_row){ .state = STATE_DENIED };
	rows[1] = ended(OUTCOME_EXIT, 1, 1000);
	rows[1].forgiven = true;
	ASSERT_EQ(3, failed_run_status(&run, rows, 2));
	counts[STATE_FAILED] = 2;
	ASSERT_EQ(1, failed_run_status(&run, rows, 2));
	/* One denied gate that is forgiven, and one failed job that isn't: the failure decides the exit status. */
	counts[STATE_FAILED] = 1;
	rows[0].forgiven = true;
	rows[1].forgiven = false;
	ASSERT_EQ(1, failed_run_status(&run, rows, 2));
	PASS();
}

TEST counts_of_a_strange_master_are_passed_over(void)
{
	uint64_t counts[STATE_COUNT + 3] = { [STATE_COUNT] = 9, [STATE_DENIED] = 1 };
	const struct rec_run_row run = { .counts = { counts, STATE_COUNT + 3 } }, none = { 0 };

	rows[0] = (struct rec_job_row){ .state = 99, .forgiven = true };
	ASSERT_EQ(3, failed_run_status(&run, rows, 1));
	ASSERT_EQ(1, failed_run_status(&none, rows, 1));
	PASS();
}

/* ---- a subscription ---- */

/* Send all rows that the fake master has now. */
static bool tell_all(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	const struct msg_snapshot snapshot = {
		.id = msg->id, .turn = 1, .runs = { rig.runs, rig.run_count }, .jobs = { rig.jobs, rig.job_count },
		.total = rig.job_count, .resume = 77,
	};

	(void)nth;
	rig_say(peer, OP_SNAPSHOT, &snapshot);
	return true;
}

/* Send all rows, then close the connection with an error. */
static bool tell_all_and_fail(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	tell_all(peer, msg, nth);
	rig_refuse(peer, msg->id, ERR_BUSY, "enough");
	return true;
}

static void tell_job(struct rig_peer *peer, uint64_t id, size_t job, uint64_t resume)
{
	const struct msg_delta delta = {
		.id = id, .turn = 2, .runs = { rig.runs, rig.run_count }, .jobs = { &rig.jobs[job], 1 }, .resume = resume,
	};

	rig_say(peer, OP_DELTA, &delta);
}

/* Count how often the words occur in the command's output. */
static int said(const char *words)
{
	int count = 0;

	for (const char *at = rig_out(); (at = strstr(at, words)) != NULL; at++)
		count++;
	return count;
}

TEST follow_says_begin_each_end_and_the_sum(void)
{
	rig_add_run(4, RUN_FAILED);
	rig_add_job("a", STATE_SUCCEEDED)->worker = slice_str("w1");
	rig_add_job("b", STATE_FAILED)->code = 7;
	rig_add_job("c", STATE_SKIPPED)->cause = 402;
	rig.subscribed_cb = tell_all;
	ASSERT_EQ(1, rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(rig_out(), strstr(rig_out(), "#4 start r 3 jobs\n"));
	ASSERT_EQ(1, said("\n#4 a OK worker=w1\n"));
	ASSERT_EQ(1, said("\n#4 b FAIL exit=7\n"));
	ASSERT_EQ(1, said("\n#4 c SKIP because of b\n"));
	ASSERT_EQ(1, said("\n#4 FAIL ok=1 fail=1 skip=1 4.0s    next: titan logs 4/b\n"));
	PASS();
}

TEST follow_names_where_a_chain_of_skipped_jobs_began(void)
{
	rig_add_run(4, RUN_FAILED);
	rig_add_job("a", STATE_FAILED);
	rig_add_job("b", STATE_SKIPPED)->cause = 401;
	rig_add_job("c", STATE_SKIPPED)->cause = 402;
	rig_add_job("d", STATE_SKIPPED)->cause = 403;
	rig.subscribed_cb = tell_all;
	ASSERT_EQ(1, rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(1, said("#4 b SKIP because of a\n"));
	ASSERT_EQ(1, said("#4 c SKIP because of b, as a failed\n"));
	ASSERT_EQ(1, said("#4 d SKIP because of c, as a failed\n"));
	PASS();
}

static bool lose_and_resume(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	if (nth == 0) {
		tell_all(peer, msg, nth);
		return false;
	}
	if (msg->since != 77)
		return false;
	rig.runs[0].ended_ms = 5000;
	rig.jobs[1].state = STATE_SUCCEEDED;
	tell_job(peer, msg->id, 1, 78);
	return true;
}

TEST follow_goes_on_after_a_lost_master_and_says_nothing_twice(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig_add_job("a", STATE_SUCCEEDED);
	rig_add_job("b", STATE_RUNNING);
	rig.subscribed_cb = lose_and_resume;
	ASSERT_EQ(0, rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(2, rig.subscriptions);
	ASSERT_EQ(1, said("start r"));
	ASSERT_EQ(1, said("#4 a OK"));
	ASSERT_EQ(1, said("#4 b OK"));
	ASSERT_EQ(1, said("the connection to the master is lost; waiting for the master\n"));
	ASSERT_EQ(1, said("the master is back\n"));
	PASS();
}

static bool lose_and_tell_all(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	if (nth == 1) {
		rig.runs[0].ended_ms = 5000;
		rig.jobs[1].state = STATE_SUCCEEDED;
	}
	return tell_all(peer, msg, nth) && nth == 1;
}

TEST follow_says_nothing_twice_when_all_rows_come_again(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig_add_job("a", STATE_SUCCEEDED);
	rig_add_job("b", STATE_RUNNING);
	rig.subscribed_cb = lose_and_tell_all;
	ASSERT_EQ(0, rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(1, said("start r"));
	ASSERT_EQ(1, said("#4 a OK"));
	ASSERT_EQ(1, said("#4 b OK"));
	ASSERT_EQ(1, said("ok=2"));
	PASS();
}

/* Send rows that end the run, lose the connection, and then send a snapshot that has one more job. */
static bool cut_then_tell(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	const struct msg_delta cut = { .id = msg->id, .turn = 2, .cut = true };

	tell_all(peer, msg, nth);
	rig_say(peer, OP_DELTA, &cut);
	rig.runs[0].ended_ms = 5000;
	rig.jobs[0].state = STATE_SUCCEEDED;
	tell_job(peer, msg->id, 0, 0);
	rig_add_job("late", STATE_SUCCEEDED);
	tell_all(peer, msg, nth);
	return true;
}

TEST follow_believes_no_end_between_a_cut_and_the_next_snapshot(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig_add_job("a", STATE_RUNNING);
	rig.subscribed_cb = cut_then_tell;
	ASSERT_EQ(0, rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(1, said("#4 late OK"));
	ASSERT_EQ(1, said("ok=2"));
	PASS();
}

/* Every known job has ended, but the run hasn't: more jobs are added. */
static bool add_later(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	tell_all(peer, msg, nth);
	rig_add_job("added", STATE_SUCCEEDED);
	rig.runs[0].ended_ms = 5000;
	tell_job(peer, msg->id, 1, 78);
	return true;
}

TEST follow_waits_for_the_end_of_the_run_not_of_the_jobs_it_knows(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig_add_job("a", STATE_SUCCEEDED);
	rig.subscribed_cb = add_later;
	ASSERT_EQ(0, rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(1, said("#4 added OK"));
	PASS();
}

static bool tell_others_too(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	struct rec_job_row strange = rig.jobs[0];
	const struct msg_delta delta = { .id = msg->id, .turn = 2, .jobs = { &strange, 1 }, .resume = 78 };

	rig_refuse(peer, msg->id + 1000, ERR_STORE, "of another request");
	tell_all(peer, msg, nth);
	strange.run = 5;
	strange.state = STATE_FAILED;
	rig_say(peer, OP_DELTA, &delta);
	strange.run = 4;
	strange.index = UINT64_MAX;
	rig_say(peer, OP_DELTA, &delta);
	rig.runs[0].ended_ms = 5000;
	rig.jobs[0].state = STATE_SUCCEEDED;
	tell_job(peer, msg->id, 0, 79);
	return true;
}

TEST follow_passes_over_other_runs_wild_indices_and_errors_of_other_requests(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig_add_job("a", STATE_RUNNING);
	rig.subscribed_cb = tell_others_too;
	ASSERT_EQ(0, rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(0, said("FAIL"));
	ASSERT_EQ(1, said("ok=1"));
	PASS();
}

TEST follow_shows_ten_failures_and_counts_the_rest(void)
{
	char names[12][8];

	rig_add_run(4, RUN_FAILED);
	for (int i = 0; i < 12; i++) {
		snprintf(names[i], sizeof(names[i]), "j%d", i);
		rig_add_job(names[i], STATE_FAILED)->out_bytes = 6;
	}
	rig.log = slice_str("1\n2\n3\n");
	rig.subscribed_cb = tell_all;
	ASSERT_EQ(1, rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(10, said("last 10 lines ---\n1\n2\n3\n"));
	ASSERT_EQ(1, said("--- j9, last"));
	ASSERT_EQ(0, said("--- j10, last"));
	ASSERT_EQ(1, said("--- and 2 more failed jobs: titan show 4 ---\n"));
	ASSERT_EQ(1, said("next: titan logs 4/j0\n"));
	PASS();
}

/* On a terminal the output of a failure is printed as the job fails, also in a large run, and not again at the end. */
TEST screen_shows_the_output_of_a_failure_once(void)
{
	char names[210][8];

	rig_add_run(4, RUN_FAILED);
	for (int i = 0; i < 210; i++) {
		snprintf(names[i], sizeof(names[i]), "j%d", i);
		rig_add_job(names[i], i == 3 ? STATE_FAILED : STATE_SUCCEEDED)->out_bytes = 5;
	}
	rig.log = slice_str("fire\n");
	rig.subscribed_cb = tell_all;
	rig.session.out.terminal = true;
	ASSERT_EQ(1, rig_run("watch 4 --timeout 20s --color never"));
	ASSERT_EQ(1, said("j3 FAIL"));
	ASSERT_EQ(1, said("fire"));
	PASS();
}

/* Only the first failures of a large run are printed with their output; the others are counted. */
TEST screen_shows_ten_failures_of_a_large_run(void)
{
	char names[220][8];

	rig_add_run(4, RUN_FAILED);
	for (int i = 0; i < 220; i++) {
		snprintf(names[i], sizeof(names[i]), "j%d", i);
		rig_add_job(names[i], STATE_FAILED)->out_bytes = 5;
	}
	rig.log = slice_str("fire\n");
	rig.subscribed_cb = tell_all;
	rig.session.out.terminal = true;
	ASSERT_EQ(1, rig_run("watch 4 --timeout 20s --color never"));
	ASSERT_EQ(10, said("fire"));
	ASSERT_EQ(1, said("--- and 210 more failed jobs: titan show 4 ---\n"));
	PASS();
}

/* titan wait prints failed jobs on standard error, because scripts read data from standard output. */
TEST wait_names_the_failed_jobs_and_ends_their_output(void)
{
	struct rec_job_row *job;

	rig_add_run(4, RUN_FAILED);
	rig_add_job("good", STATE_SUCCEEDED)->out_bytes = 5;
	job = rig_add_job("late", STATE_FAILED);
	job->ended_ms = 6000;
	job = rig_add_job("b\x1b[2J", STATE_FAILED);
	job->out_bytes = 8;
	job->worker = slice_str("w07");
	job->started_ms = 1000;
	rig.log = slice_str("f\x1b[2Jire\n");
	rig.subscribed_cb = tell_all;
	ASSERT_EQ(1, rig_run("wait 4 --timeout 20s"));
	ASSERT_STR_EQ("", rig_out());
	ASSERT_STR_EQ("#4 b\\x1b[2J FAIL exit 1 on w07 after 4.0s\n    f\\x1b[2Jire\n#4 late FAIL exit 1\n", rig_err());
	ASSERT_EQ(1, rig_run("wait 4 --timeout 20s -q"));
	ASSERT_STR_EQ("", rig_err());
	PASS();
}

TEST follow_shows_the_last_ten_lines_of_a_failure(void)
{
	rig_add_run(4, RUN_FAILED);
	rig_add_job("a", STATE_FAILED)->out_bytes = 35;
	rig.log = slice_str("01\n02\n03\n04\n05\n06\n07\n08\n09\n10\n11\nxx");
	rig.subscribed_cb = tell_all;
	ASSERT_EQ(1, rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(1, said("--- a, last 10 lines ---\n03\n04\n05\n06\n07\n08\n09\n10\n11\nxx\n#4"));
	PASS();
}

TEST follow_asks_what_a_gate_waits_for(void)
{
	struct rec_job_row *gate;

	rig_add_run(4, RUN_FAILED);
	gate = rig_add_job("qa", STATE_APPROVAL);
	gate->gate_count = 2;
	gate->gate_have = 1;
	gate->gate_message = slice_str("ship it?");
	rig.subscribed_cb = tell_all_and_fail;
	ASSERT_EQ(err_exit_status(ERR_BUSY), rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(1, said("#4 qa APPR 1/2 approved ship it?    next: titan approve 4/qa\n"));
	PASS();
}

TEST follow_tells_of_tries_and_what_a_person_has_to_look_at(void)
{
	struct rec_job_row *job;

	rig_add_run(4, RUN_RUNNING);
	job = rig_add_job("a", STATE_DELAYED);
	job->tries = 3;
	job->interrupted = 1;
	job->retry_max = 4;
	job->outcome = OUTCOME_EXIT;
	job->code = 75;
	rig_add_job("b", STATE_UNKNOWN)->outcome = OUTCOME_LOST;
	rig_add_job("c", STATE_DELAYED);
	rig.subscribed_cb = tell_all_and_fail;
	ASSERT_EQ(err_exit_status(ERR_BUSY), rig_run("watch 4 --timeout 20s"));
	ASSERT_EQ(1, said("#4 a RETRY exit=75 try=2/5\n"));
	ASSERT_EQ(1, said("#4 b UNKN lost    the job may have run or not; if its worker doesn't come back: titan cancel 4/b\n"));
	ASSERT_EQ(0, said("#4 c "));
	PASS();
}

/* ---- text from jobs and peers is escaped ---- */

/* Does the text consist of visible ASCII characters and newlines only? */
static bool is_clean(struct buf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (text->data[i] != '\n' && (text->data[i] < ' ' || text->data[i] > '~')) {
			printf("# raw byte %02x: %s\n", text->data[i], buf_cstr(text));
			return false;
		}
	return true;
}

static void make_evil(void)
{
	struct rec_job_row *job;

	rig_add_run(4, RUN_FAILED)->name = slice_str("run " EVIL);
	job = rig_add_job("fails " EVIL, STATE_FAILED);
	job->worker = slice_str("worker " EVIL);
	job->out_bytes = 99;
	job->command = slice_str("command " EVIL);
	rig_add_job("first " EVIL, STATE_SKIPPED)->cause = 401;
	rig_add_job("second " EVIL, STATE_SKIPPED)->cause = 402;
	job = rig_add_job("gate " EVIL, STATE_APPROVAL);
	job->gate_message = slice_str("message " EVIL);
	job->gate_count = 1;
	rig_add_job("unknown " EVIL, STATE_UNKNOWN)->outcome = OUTCOME_LOST;
	job = rig_add_job("ready " EVIL, STATE_READY);
	job->why = slice_str("why " EVIL);
	job->why_code = REASON_HELD;
	job->held = true;
	rig.log = slice_str("output " EVIL "\n");
	rig.subscribed_cb = tell_all;
}

/* End the run once the command has asked the master why nothing happens. */
static bool end_when_asked(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	struct timespec pause = { .tv_nsec = 10 * 1000000 };
	int asked = rig.questions;

	tell_all(peer, msg, nth);
	while (rig.questions == asked && !rig.over) {
		pthread_mutex_unlock(&rig.lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&rig.lock);
	}
	rig.runs[0].ended_ms = 5000;
	for (size_t i = 3; i < 6; i++) {
		rig.jobs[i].state = STATE_FAILED;
		tell_job(peer, msg->id, i, 78);
	}
	return true;
}

static const char *const evil_sinks[] = {
	"start run E", " fails E", "worker=worker E", "because of fails E", "because of first E", ", as fails E", "gate E", " message E",
	"titan approve 4/gate E", "unknown E", "titan cancel 4/unknown E", "ready E", " waits: why E", "titan release 4/ready E",
	"--- fails E", "\noutput E", "titan logs 4/fails E",
};

TEST follow_escapes_every_text_from_outside(void)
{
	make_evil();
	rig.subscribed_cb = end_when_asked;
	ASSERT_EQ(1, rig_run("watch 4 --timeout 20s"));
	ASSERT(is_clean(&rig.out));
	ASSERT(is_clean(&rig.err));
	for (size_t i = 0; i < sizeof(evil_sinks) / sizeof(evil_sinks[0]); i++)
		ASSERTm(evil_sinks[i], said(evil_sinks[i]) > 0);
	ASSERT(said("E\\x1b[2J\\u009b2J\\u202eR\\u200bZ\\ufeff\\xff") > 10);
	PASS();
}

TEST follow_escapes_every_text_in_json(void)
{
	make_evil();
	rig.jobs[5].state = rig.jobs[4].state = rig.jobs[3].state = STATE_FAILED;
	ASSERT_EQ(1, rig_run("watch 4 --json --timeout 20s"));
	ASSERT(said("E\\u001b[2J\\u009b2J") > 6);
	for (size_t i = 0; i < rig.out.len; i++)
		ASSERT(rig.out.data[i] == '\n' || rig.out.data[i] >= ' ');
	ASSERT_EQ(0, said("\xc2\x9b"));
	ASSERT_EQ(0, said("\xe2\x80"));
	ASSERT_EQ(1, said("\n{\"run\":4,\"state\":\"failed\"}\n"));
	PASS();
}

static unsigned forty(void *arg)
{
	(void)arg;
	return 40;
}

TEST screen_escapes_every_text_from_outside(void)
{
	make_evil();
	rig.session.out.terminal = true;
	rig.session.out.columns_cb = forty;
	rig_add_job("runs " EVIL, STATE_RUNNING)->worker = slice_str("worker " EVIL);
	rig.subscribed_cb = tell_all_and_fail;
	ASSERT_EQ(err_exit_status(ERR_BUSY), rig_run("watch 4 --color never --timeout 20s"));
	ASSERT(said("> RUN runs E\\x1b[2J") > 0);
	ASSERT_EQ(0, said("\x1b[2J"));
	ASSERT_EQ(0, said("\xc2\x9b"));
	ASSERT_EQ(0, said("\xe2\x80"));
	ASSERT_EQ(0, said("\xef\xbb"));
	PASS();
}

/* ---- leaving ---- */

static bool interrupt(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	tell_all(peer, msg, nth);
	kill(getpid(), SIGINT);
	return true;
}

TEST follow_leaves_at_a_signal_and_says_how_to_come_back(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig_add_job("a", STATE_RUNNING);
	rig.subscribed_cb = interrupt;
	ASSERT_EQ(err_exit_status(ERR_INTERRUPTED), rig_run("watch 4 --timeout 20s"));
	ASSERT_STR_EQ("still running: titan watch 4, stop: titan cancel 4\n", rig_err());
	PASS();
}

static bool refuse(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	(void)nth;
	rig_refuse(peer, msg->id, ERR_NOT_FOUND, "no run " EVIL);
	return true;
}

TEST follow_ends_with_the_error_of_its_own_request(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig.subscribed_cb = refuse;
	ASSERT_EQ(err_exit_status(ERR_NOT_FOUND), rig_run("watch 4 --timeout 20s"));
	ASSERT(strstr(rig_err(), "titan: no run E\\x1b[2J") != NULL);
	ASSERT(strstr(rig_err(), "try: titan ls\n") != NULL);
	ASSERT(is_clean(&rig.err));
	PASS();
}

static bool accept_4(struct rig_peer *peer, const struct msg_submit *msg, int nth)
{
	const struct msg_accepted accepted = { .id = msg->id, .run = 4, .jobs = 2 };

	(void)nth;
	rig_say(peer, OP_ACCEPTED, &accepted);
	return true;
}

TEST run_ends_with_the_code_of_its_job_only_when_asked_to(void)
{
	rig_add_run(4, RUN_FAILED);
	rig_add_job("a", STATE_FAILED)->code = 7;
	rig_add_job("b", STATE_SKIPPED)->cause = 401;
	rig.submitted_cb = accept_4;
	rig.subscribed_cb = tell_all;
	ASSERT_EQ(7, rig_run("run -e x=x -q --follow --propagate --timeout 20s"));
	ASSERT_EQ(7, rig_run("run -e x=x -q --wait --propagate --timeout 20s"));
	ASSERT_EQ(1, rig_run("run -e x=x -q --wait --timeout 20s"));
	rig.runs[0].state = RUN_SUCCEEDED;
	rig.jobs[0].forgiven = true;
	rig.runs[0].forgiven = 1;
	ASSERT_EQ(0, rig_run("run -e x=x -q --wait --propagate --timeout 20s"));
	PASS();
}

TEST watch_of_a_refused_run_asks_which_failures_are_forgiven(void)
{
	rig_add_run(4, RUN_FAILED);
	rig_add_job("a", STATE_FAILED)->forgiven = true;
	rig_add_job("qa", STATE_DENIED);
	rig.runs[0].forgiven = 1;
	rig.subscribed_cb = tell_all;
	ASSERT_EQ(3, rig_run("watch 4 -q --timeout 20s"));
	rig.jobs[0].forgiven = false;
	rig.runs[0].forgiven = 0;
	ASSERT_EQ(1, rig_run("watch 4 -q --timeout 20s"));
	PASS();
}

SUITE(cli_follow)
{
	RUN_TEST(propagate_takes_the_code_of_the_first_failed_job);
	RUN_TEST(propagate_passes_over_forgiven_and_other_ends);
	RUN_TEST(propagate_says_what_a_shell_says_of_a_command_that_cant_be_started);
	RUN_TEST(propagate_adds_128_to_a_signal);
	RUN_TEST(propagate_takes_no_code_that_is_none);
	RUN_TEST(refusal_ends_with_3_unless_something_failed);
	RUN_TEST(forgiven_failure_beside_a_refusal_ends_with_3);
	RUN_TEST(counts_of_a_strange_master_are_passed_over);
	SET_SETUP(rig_setup_cb, NULL);
	SET_TEARDOWN(rig_teardown_cb, NULL);
	RUN_TEST(follow_says_begin_each_end_and_the_sum);
	RUN_TEST(follow_names_where_a_chain_of_skipped_jobs_began);
	RUN_TEST(follow_goes_on_after_a_lost_master_and_says_nothing_twice);
	RUN_TEST(follow_says_nothing_twice_when_all_rows_come_again);
	RUN_TEST(follow_believes_no_end_between_a_cut_and_the_next_snapshot);
	RUN_TEST(follow_waits_for_the_end_of_the_run_not_of_the_jobs_it_knows);
	RUN_TEST(follow_passes_over_other_runs_wild_indices_and_errors_of_other_requests);
	RUN_TEST(follow_shows_ten_failures_and_counts_the_rest);
	RUN_TEST(screen_shows_the_output_of_a_failure_once);
	RUN_TEST(screen_shows_ten_failures_of_a_large_run);
	RUN_TEST(wait_names_the_failed_jobs_and_ends_their_output);
	RUN_TEST(follow_shows_the_last_ten_lines_of_a_failure);
	RUN_TEST(follow_asks_what_a_gate_waits_for);
	RUN_TEST(follow_tells_of_tries_and_what_a_person_has_to_look_at);
	RUN_TEST(follow_escapes_every_text_from_outside);
	RUN_TEST(follow_escapes_every_text_in_json);
	RUN_TEST(screen_escapes_every_text_from_outside);
	RUN_TEST(follow_leaves_at_a_signal_and_says_how_to_come_back);
	RUN_TEST(follow_ends_with_the_error_of_its_own_request);
	RUN_TEST(run_ends_with_the_code_of_its_job_only_when_asked_to);
	RUN_TEST(watch_of_a_refused_run_asks_which_failures_are_forgiven);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	setenv("LC_ALL", "C", 1);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_follow);
	GREATEST_MAIN_END();
}
