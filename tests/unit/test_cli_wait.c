/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan wait: no end of a run is missed between a query and a subscription, nor when a subscription is lost. */
#include "cli_rig.h"
#include "greatest.h"

/* ---- the master's part ---- */

/* Send the first snapshot of a subscription. */
static bool tell_runs(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	const struct msg_snapshot snapshot = { .id = msg->id, .turn = 1, .runs = { rig.runs, rig.run_count } };

	(void)nth;
	rig_say(peer, OP_SNAPSHOT, &snapshot);
	return true;
}

static void tell_delta(struct rig_peer *peer, uint64_t id, size_t from, size_t count, bool cut)
{
	const struct msg_delta delta = { .id = id, .turn = 2, .runs = { rig.runs + from, count }, .cut = cut };

	rig_say(peer, OP_DELTA, &delta);
}

static void end_run(size_t at, enum run_state state)
{
	rig.runs[at].state = state;
	rig.runs[at].ended_ms = 5000;
}

/*
 * Wait until the command has sent this many queries beside its subscription; only then may the fake master send the
 * end.
 */
static void wait_for_questions(int count)
{
	struct timespec pause = { .tv_nsec = 5 * 1000000 };

	while (rig.questions < count && !rig.over) {
		pthread_mutex_unlock(&rig.lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&rig.lock);
	}
}

static bool end_in_delta(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	tell_runs(peer, msg, nth);
	wait_for_questions(1);
	end_run(0, RUN_SUCCEEDED);
	tell_delta(peer, msg->id, 0, 1, false);
	return true;
}

/* The delta with the run's end was dropped; only the answer to a query says that the run has ended. */
static bool end_in_cut(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	tell_runs(peer, msg, nth);
	wait_for_questions(1);
	end_run(0, RUN_FAILED);
	tell_delta(peer, msg->id, 0, 0, true);
	return true;
}

static bool end_while_lost(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	if (nth > 0)
		return true;
	tell_runs(peer, msg, nth);
	wait_for_questions(1);
	end_run(0, RUN_CANCELLED);
	return false;
}

static bool end_one_by_one(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	tell_runs(peer, msg, nth);
	wait_for_questions(3);
	end_run(2, RUN_FAILED);
	tell_delta(peer, msg->id, 2, 1, false);
	end_run(0, RUN_SUCCEEDED);
	tell_delta(peer, msg->id, 0, 1, false);
	end_run(1, RUN_CANCELLED);
	tell_delta(peer, msg->id, 1, 1, false);
	return true;
}

static bool refuse_others(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	rig_refuse(peer, msg->id + 1000, ERR_STORE, "of another request");
	return end_in_delta(peer, msg, nth);
}

static bool refuse_this(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	(void)nth;
	rig_refuse(peer, msg->id, ERR_DENIED, "not for you");
	return true;
}

static bool stay_silent(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	return tell_runs(peer, msg, nth);
}

static bool interrupt(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	tell_runs(peer, msg, nth);
	kill(getpid(), SIGTERM);
	return true;
}

/* ---- wait ---- */

TEST wait_ends_with_the_delta_that_says_so(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig.subscribed_cb = end_in_delta;
	ASSERT_EQ(0, rig_run("wait 4 --timeout 20s"));
	ASSERT_EQ(1, rig.subscriptions);
	ASSERT_STR_EQ("", rig_out());
	PASS();
}

TEST wait_ends_when_a_cut_subscription_dropped_the_end(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig.subscribed_cb = end_in_cut;
	ASSERT_EQ(1, rig_run("wait 4 --plain --timeout 20s"));
	ASSERT_STR_EQ("4\tfailed\n", rig_out());
	PASS();
}

TEST wait_ends_when_the_run_did_while_the_master_was_gone(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig.subscribed_cb = end_while_lost;
	ASSERT_EQ(1, rig_run("wait 4 --plain --timeout 20s"));
	ASSERT_STR_EQ("4\tcancelled\n", rig_out());
	PASS();
}

TEST wait_returns_at_once_for_a_run_that_ended_long_ago(void)
{
	rig_add_run(4, RUN_SUCCEEDED);
	rig.subscribed_cb = stay_silent;
	ASSERT_EQ(0, rig_run("wait 4 --timeout 20s"));
	PASS();
}

TEST wait_for_several_waits_for_the_last_of_them(void)
{
	rig_add_run(6, RUN_RUNNING);
	rig_add_run(5, RUN_RUNNING);
	rig_add_run(4, RUN_RUNNING);
	rig.subscribed_cb = end_one_by_one;
	ASSERT_EQ(1, rig_run("wait 4 6 5 --plain --timeout 20s"));
	ASSERT_STR_EQ("4\tfailed\n6\tsucceeded\n5\tcancelled\n", rig_out());
	PASS();
}

TEST wait_takes_a_run_that_is_named_twice(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig.subscribed_cb = end_in_delta;
	ASSERT_EQ(0, rig_run("wait 4 4 --plain --timeout 20s"));
	ASSERT_STR_EQ("4\tsucceeded\n4\tsucceeded\n", rig_out());
	PASS();
}

TEST wait_ends_with_the_status_of_a_run_that_failed_beside_one_that_succeeded(void)
{
	rig_add_run(5, RUN_SUCCEEDED);
	rig_add_run(4, RUN_FAILED);
	rig_add_job("qa", STATE_DENIED);
	rig.subscribed_cb = stay_silent;
	ASSERT_EQ(0, rig_run("wait 5 --timeout 20s"));
	ASSERT_EQ(3, rig_run("wait 4 --timeout 20s"));
	ASSERT_EQ(3, rig_run("wait 4 5 --timeout 20s"));
	ASSERT_EQ(3, rig_run("wait 5 4 --timeout 20s"));
	PASS();
}

TEST wait_passes_over_errors_of_other_requests(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig.subscribed_cb = refuse_others;
	ASSERT_EQ(0, rig_run("wait 4 --timeout 20s"));
	PASS();
}

TEST wait_ends_with_the_error_of_its_own_request(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig.subscribed_cb = refuse_this;
	ASSERT_EQ(3, rig_run("wait 4 --timeout 20s"));
	ASSERT_STR_EQ("titan: not for you\n   try: titan ls\n", rig_err());
	PASS();
}

TEST wait_of_an_unknown_run_says_so(void)
{
	rig_add_run(4, RUN_RUNNING);
	rig.subscribed_cb = stay_silent;
	ASSERT_EQ(err_exit_status(ERR_NOT_FOUND), rig_run("wait 9 --timeout 20s"));
	ASSERT(strstr(rig_err(), "there is no run 9") != NULL);
	PASS();
}

TEST wait_with_timeout_0_looks_once_and_subscribes_to_nothing(void)
{
	rig_add_run(5, RUN_RUNNING);
	rig_add_run(4, RUN_SUCCEEDED);
	ASSERT_EQ(0, rig_run("wait 4 --timeout 0"));
	ASSERT_EQ(err_exit_status(ERR_PENDING), rig_run("wait 4 5 --plain --timeout 0"));
	ASSERT_STR_EQ("4\tsucceeded\n5\trunning\n", rig_out());
	ASSERT_STR_EQ("", rig_err());
	ASSERT_EQ(0, rig.subscriptions);
	PASS();
}

TEST wait_whose_time_is_over_says_how_to_come_back(void)
{
	rig_add_run(5, RUN_RUNNING);
	rig_add_run(4, RUN_SUCCEEDED);
	rig.subscribed_cb = stay_silent;
	ASSERT_EQ(err_exit_status(ERR_TIMEOUT), rig_run("wait 5 4 --timeout 50ms"));
	ASSERT(strstr(rig_err(), "still running: titan watch 5, stop: titan cancel 5\n") != NULL);
	PASS();
}

TEST wait_that_is_interrupted_leaves_the_run_and_no_signal_blocked(void)
{
	sigset_t before, after;

	sigprocmask(SIG_SETMASK, NULL, &before);
	rig_add_run(4, RUN_RUNNING);
	rig.subscribed_cb = interrupt;
	ASSERT_EQ(err_exit_status(ERR_INTERRUPTED), rig_run("wait 4 --timeout 20s"));
	ASSERT_STR_EQ("still running: titan watch 4, stop: titan cancel 4\n", rig_err());
	sigprocmask(SIG_SETMASK, NULL, &after);
	ASSERT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
	PASS();
}

/* ---- cancel --wait ---- */

static int acts;
static uint64_t act_value;
static char act_job[32];

static bool cancel_all_but_the_last(struct rig_peer *peer, const struct msg_act *act)
{
	const struct msg_ok ok = { .id = act->id, .count = 2 };

	acts++;
	act_value = act->value;
	snprintf(act_job, sizeof(act_job), "%.*s", (int)act->job.len, (const char *)act->job.data);
	rig.jobs[0].state = STATE_CANCELLED;
	rig.jobs[1].state = STATE_STOPPING;
	rig.questions = 0;
	rig_say(peer, OP_OK, &ok);
	return true;
}

static void *end_when_asked(void *arg)
{
	pthread_mutex_lock(&rig.lock);
	wait_for_questions(*(int *)arg);
	rig.jobs[1].state = STATE_CANCELLED;
	pthread_mutex_unlock(&rig.lock);
	return NULL;
}

/* One look takes four queries: two about names that no job has, one about the run, one about its jobs. */
TEST cancel_waits_for_every_job_of_a_fan_out(void)
{
	pthread_t thread;
	int questions = 8;
	bool all_ended;

	acts = 0;
	rig_add_run(4, RUN_RUNNING);
	rig_add_job("e[0]", STATE_RUNNING);
	rig_add_job("e[1]", STATE_RUNNING);
	rig_add_job("other", STATE_RUNNING);
	rig.acted_cb = cancel_all_but_the_last;
	rig.questions = -1000;
	ASSERT_EQ(0, pthread_create(&thread, NULL, end_when_asked, &questions));
	ASSERT_EQ(0, rig_run("-y cancel 4/e --wait --timeout 20s"));
	pthread_mutex_lock(&rig.lock);
	all_ended = rig.jobs[1].state == STATE_CANCELLED;
	rig.over = true;
	pthread_mutex_unlock(&rig.lock);
	pthread_join(thread, NULL);
	ASSERT(all_ended);
	ASSERT_EQ(1, acts);
	ASSERT_STR_EQ("e", act_job);
	PASS();
}

static bool refuse_first(struct rig_peer *peer, const struct msg_act *act)
{
	const struct msg_ok ok = { .id = act->id, .count = 1 };

	acts++;
	act_value = act->value;
	if (act->run == 5)
		rig_refuse(peer, act->id, ERR_TERMINAL, "run 5 has ended");
	else
		rig_say(peer, OP_OK, &ok);
	return true;
}

TEST cancel_goes_on_after_a_refusal_and_ends_with_its_status(void)
{
	acts = 0;
	rig_add_run(5, RUN_SUCCEEDED);
	rig_add_run(4, RUN_RUNNING);
	rig.acted_cb = refuse_first;
	ASSERT_EQ(err_exit_status(ERR_TERMINAL), rig_run("cancel 5 4 --all --plain"));
	ASSERT_EQ(2, acts);
	ASSERT_EQ(CANCEL_ALL, act_value);
	ASSERT_STR_EQ("4\t1\n", rig_out());
	ASSERT(strstr(rig_err(), "run 5 has ended") != NULL);
	PASS();
}

SUITE(cli_wait)
{
	SET_SETUP(rig_setup_cb, NULL);
	SET_TEARDOWN(rig_teardown_cb, NULL);
	RUN_TEST(wait_ends_with_the_delta_that_says_so);
	RUN_TEST(wait_ends_when_a_cut_subscription_dropped_the_end);
	RUN_TEST(wait_ends_when_the_run_did_while_the_master_was_gone);
	RUN_TEST(wait_returns_at_once_for_a_run_that_ended_long_ago);
	RUN_TEST(wait_for_several_waits_for_the_last_of_them);
	RUN_TEST(wait_takes_a_run_that_is_named_twice);
	RUN_TEST(wait_ends_with_the_status_of_a_run_that_failed_beside_one_that_succeeded);
	RUN_TEST(wait_passes_over_errors_of_other_requests);
	RUN_TEST(wait_ends_with_the_error_of_its_own_request);
	RUN_TEST(wait_of_an_unknown_run_says_so);
	RUN_TEST(wait_with_timeout_0_looks_once_and_subscribes_to_nothing);
	RUN_TEST(wait_whose_time_is_over_says_how_to_come_back);
	RUN_TEST(wait_that_is_interrupted_leaves_the_run_and_no_signal_blocked);
	RUN_TEST(cancel_waits_for_every_job_of_a_fan_out);
	RUN_TEST(cancel_goes_on_after_a_refusal_and_ends_with_its_status);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	setenv("LC_ALL", "C", 1);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_wait);
	GREATEST_MAIN_END();
}
