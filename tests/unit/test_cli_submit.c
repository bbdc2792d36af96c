/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What titan run makes of its arguments, and what reaches the master, also when connections are lost. */
#include "cli/graph/submit.h"

#include "cli_rig.h"
#include "greatest.h"

#define KEY "00112233445566778899aAbBcCdDeEfF"
#define KEYS_MAX 8

static struct {
	uint8_t keys[KEYS_MAX][SUBMIT_KEY_SIZE];
	uint64_t count, into, again;
	char name[64];
	struct arena arena;
	struct rec_job_spec jobs[8];     /* jobs of the last graph that the fake master received */
} came;

static void setup_cb(void *data)
{
	arena_free(&came.arena);
	memset(&came, 0, sizeof(came));
	rig_setup_cb(data);
}

/* ---- the master's part ---- */

static void keep(const struct msg_submit *msg, int nth)
{
	struct slice jobs = arena_copy(&came.arena, msg->jobs);
	struct error error;

	if (nth >= KEYS_MAX || msg->key.len != SUBMIT_KEY_SIZE)
		abort();
	memcpy(came.keys[nth], msg->key.data, SUBMIT_KEY_SIZE);
	came.count = msg->count;
	came.into = msg->into;
	came.again = msg->again;
	snprintf(came.name, sizeof(came.name), "%.*s", (int)msg->name.len, (const char *)msg->name.data);
	for (size_t i = 0; i < msg->count && i < 8; i++)
		if (record_decode(REC_job_spec, &jobs, &came.arena, &came.jobs[i], &error) != ERR_NONE)
			abort();
}

static bool accept_all(struct rig_peer *peer, const struct msg_submit *msg, int nth)
{
	const struct msg_accepted accepted = { .id = msg->id, .run = 4, .jobs = msg->count };

	keep(msg, nth);
	rig_say(peer, OP_ACCEPTED, &accepted);
	return true;
}

/* Lose the connection after the graph was received and before the answer is sent. */
static bool lose_twice(struct rig_peer *peer, const struct msg_submit *msg, int nth)
{
	keep(msg, nth);
	return nth >= 2 && accept_all(peer, msg, nth);
}

static bool lose_always(struct rig_peer *peer, const struct msg_submit *msg, int nth)
{
	(void)peer;
	keep(msg, nth);
	return false;
}

static bool refuse_all(struct rig_peer *peer, const struct msg_submit *msg, int nth)
{
	keep(msg, nth);
	rig_refuse(peer, msg->id + 1, ERR_BUSY, "of another request");
	rig_refuse(peer, msg->id, ERR_KEY_REUSED, "the key has another graph");
	return true;
}

/* ---- the submit ---- */

TEST submit_says_the_number_of_the_run(void)
{
	rig.submitted_cb = accept_all;
	ASSERT_EQ(0, rig_run("run -e a->b;a=x;b=y --plain"));
	ASSERT_EQ(2, came.count);
	ASSERT(slice_eq(came.jobs[1].name, slice_str("b")));
	ASSERT_EQ(1, came.jobs[1].needs.n);
	ASSERT_EQ(0, came.jobs[1].needs.at[0]);
	ASSERT_EQ(rig_out(), strstr(rig_out(), "4"));
	PASS();
}

TEST submit_repeats_its_key_after_a_lost_connection(void)
{
	rig.submitted_cb = lose_twice;
	ASSERT_EQ(0, rig_run("run -e a=x --timeout 20s"));
	ASSERT_EQ(3, rig.submits);
	ASSERT_MEM_EQ(came.keys[0], came.keys[1], SUBMIT_KEY_SIZE);
	ASSERT_MEM_EQ(came.keys[0], came.keys[2], SUBMIT_KEY_SIZE);
	ASSERT_EQ(1, came.count);
	ASSERT(slice_eq(came.jobs[0].name, slice_str("a")));
	PASS();
}

TEST submit_gives_up_after_five_tries(void)
{
	rig.submitted_cb = lose_always;
	ASSERT_EQ(err_exit_status(ERR_UNREACHABLE), rig_run("run -e a=x --timeout 20s"));
	ASSERT_EQ(5, rig.submits);
	PASS();
}

TEST submit_that_is_refused_isnt_repeated(void)
{
	rig.submitted_cb = refuse_all;
	ASSERT_EQ(err_exit_status(ERR_KEY_REUSED), rig_run("run -e a=x --timeout 20s"));
	ASSERT_EQ(1, rig.submits);
	ASSERT(strstr(rig_err(), "the key has another graph") != NULL);
	PASS();
}

TEST two_submits_have_two_keys_unless_one_is_given(void)
{
	static const uint8_t given[] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };

	rig.submitted_cb = accept_all;
	ASSERT_EQ(0, rig_run("run -q -e a=x"));
	ASSERT_EQ(0, rig_run("run -q -e a=x"));
	ASSERT(memcmp(came.keys[0], came.keys[1], SUBMIT_KEY_SIZE) != 0);
	ASSERT_EQ(0, rig_run("run -q -e a=x --submit-key " KEY));
	ASSERT_MEM_EQ(given, came.keys[2], SUBMIT_KEY_SIZE);
	PASS();
}

/* ---- options for every job of the run ---- */

TEST options_of_run_are_those_of_every_job(void)
{
	rig.submitted_cb = accept_all;
	ASSERT_EQ(0, rig_run("run -q -e a->b;a=x;b=y --name n --retry 3 --priority 0 --job-timeout 2m --deadline 1h --mode once"));
	ASSERT_STR_EQ("n", came.name);
	for (size_t i = 0; i < 2; i++) {
		const struct rec_job_spec *job = &came.jobs[i];

		ASSERT_EQ(3, job->retry_max);
		ASSERT_EQ(1, job->priority);
		ASSERT_EQ(120000, job->timeout_ms);
		ASSERT_EQ(3600000, job->deadline_ms);
		ASSERT_EQ(EXEC_ONCE, job->mode);
	}
	PASS();
}

TEST options_that_arent_given_say_nothing(void)
{
	rig.submitted_cb = accept_all;
	ASSERT_EQ(0, rig_run("run -q -e a=x"));
	ASSERT_EQ(0, came.jobs[0].retry_max);
	ASSERT_EQ(0, came.jobs[0].priority);
	ASSERT_EQ(0, came.jobs[0].timeout_ms);
	ASSERT_EQ(0, came.jobs[0].deadline_ms);
	PASS();
}

TEST again_and_into_name_their_run(void)
{
	rig_add_run(9, RUN_RUNNING);
	rig_add_run(8, RUN_FAILED);
	rig.submitted_cb = accept_all;
	ASSERT_EQ(0, rig_run("run -q --again 8"));
	ASSERT_EQ(8, came.again);
	ASSERT_EQ(0, came.count);
	ASSERT_EQ(0, rig_run("run -q --into last -e a=x"));
	ASSERT_EQ(9, came.into);
	ASSERT_EQ(0, came.again);
	PASS();
}

/* ---- options that exclude each other ---- */

TEST words_that_dont_go_together_are_refused(void)
{
	static const struct { const char *line, *why; } refused[] = {
		{ "run", "give one of FILE, SCRIPT, -- CMD, -e DAG, --lines, --again RUN and -" },
		{ "run -e a=x graph.yaml", "not several" }, { "run -e a=x --again 4", "not several" },
		{ "run -e a=x --follow --wait", "leave out --wait" }, { "run -e a=x --propagate", "--propagate" },
		{ "run -e a=x -p A=1", "-p works only with a pipeline; elsewhere use variables of the shell" },
		{ "run -e a=x --keep-order", "--keep-order needs --wait or --follow" }, { "run -w --keep-order --into 4 -e a=x", "--keep-order" },
		{ "run -j 2 -- x", "--max-jobs" }, { "run --into 4 -j 2 -e a=x", "--max-jobs" }, { "run --", "no command behind --" },
		{ "run --lines -- x", "not several" }, { "run --again 4 -j 2", "only --name, --submit-key" },
		{ "run --gpus none -e a=x", "--gpus: 'none'" }, { "run -l a/b -e a=x", "--label: 'a/b' isn't a key of a label" },
		{ "run --again 4 --retry 1", "only --name, --submit-key" }, { "run --again 4 --env A=1", "only --name, --submit-key" },
		{ "run --again 4 --into 5", "only --name, --submit-key" }, { "run -e a=x --into 4 --tenant t", "--tenant" },
		{ "run -e a=x --into 4 --name n", "--name" }, { "run -e a=x --env NOT_SET", "variable NOT_SET isn't set in this shell" },
		{ "run -e a=x --env =A", "must have the form" }, { "run -e a=x --env TITAN_RUN=1", "reserved for titan" },
		{ "run -e a=x --private --dir /", "--private and --dir exclude each other" }, { "run --again 4 --private", "only --name, --submit-key" },
		{ "run -e a=x --mode twice", "'twice'" }, { "run -e a=x --priority 101", "--priority" },
		{ "run -e a=x --retry -1", "--retry" }, { "run -e a=x --dir no/such/place", "--dir" },
		{ "run -e a=x --submit-key 0011", "hex digits" }, { "run -e a=x --submit-key 0" KEY, "hex digits" },
		{ "run -e a=x --submit-key g0112233445566778899aabbccddeeff", "hex digits" },
	};

	rig.submitted_cb = accept_all;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		ASSERT_EQm(refused[i].line, err_exit_status(ERR_USAGE), rig_run(refused[i].line));
		ASSERTm(rig_err(), strstr(rig_err(), refused[i].why) != NULL);
	}
	ASSERT_EQ(0, rig.submits);
	PASS();
}

SUITE(cli_submit)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(rig_teardown_cb, NULL);
	RUN_TEST(submit_says_the_number_of_the_run);
	RUN_TEST(submit_repeats_its_key_after_a_lost_connection);
	RUN_TEST(submit_gives_up_after_five_tries);
	RUN_TEST(submit_that_is_refused_isnt_repeated);
	RUN_TEST(two_submits_have_two_keys_unless_one_is_given);
	RUN_TEST(options_of_run_are_those_of_every_job);
	RUN_TEST(options_that_arent_given_say_nothing);
	RUN_TEST(again_and_into_name_their_run);
	RUN_TEST(words_that_dont_go_together_are_refused);
	arena_free(&came.arena);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	setenv("LC_ALL", "C", 1);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_submit);
	GREATEST_MAIN_END();
}
