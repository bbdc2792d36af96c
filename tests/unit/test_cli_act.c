/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands that act on runs and jobs: which act each sends to the master, and what it prints. */
#include "cli_rig.h"
#include "greatest.h"

#define ACTS_MAX 8

static struct {
	size_t count;
	struct {
		uint64_t verb, run, value;
		char job[32], text[64], target[32];
		uint8_t digest[40];
		size_t digest_len;
	} at[ACTS_MAX];
} acts;

static uint64_t changed;                 /* number of jobs that the fake master says each act changed */
static uint64_t refused_run;

static void copy_text(char *ret, size_t room, struct slice text)
{
	snprintf(ret, room, "%.*s", (int)text.len, (const char *)text.data);
}

static bool take_act(struct rig_peer *peer, const struct msg_act *act)
{
	const struct msg_ok ok = { .id = act->id, .count = changed };

	if (acts.count == ACTS_MAX || act->digest.len > sizeof(acts.at[0].digest))
		abort();
	acts.at[acts.count].verb = act->verb;
	acts.at[acts.count].run = act->run;
	acts.at[acts.count].value = act->value;
	copy_text(acts.at[acts.count].job, sizeof(acts.at[0].job), act->job);
	copy_text(acts.at[acts.count].text, sizeof(acts.at[0].text), act->text);
	copy_text(acts.at[acts.count].target, sizeof(acts.at[0].target), act->target);
	if (act->digest.len > 0)
		memcpy(acts.at[acts.count].digest, act->digest.data, act->digest.len);
	acts.at[acts.count].digest_len = act->digest.len;
	acts.count++;
	if (act->run == refused_run)
		rig_refuse(peer, act->id, ERR_DENIED, "not yours");
	else
		rig_say(peer, OP_OK, &ok);
	return true;
}

static void setup_cb(void *data)
{
	rig_setup_cb(data);
	memset(&acts, 0, sizeof(acts));
	changed = 1;
	refused_run = 0;
	rig.acted_cb = take_act;
	rig_add_run(6, RUN_RUNNING);
	rig_add_job("e[0]", STATE_RUNNING);
	rig_add_job("e[1]", STATE_RUNNING);
	rig_add_run(5, RUN_FAILED);
	rig_add_job("a", STATE_FAILED);
	rig_add_job("qa", STATE_APPROVAL)->digest = slice_make("0123456789abcdef0123456789abcdef", 32);
	rig_add_run(4, RUN_RUNNING);
	rig_add_job("a", STATE_UNKNOWN);
}

/* Act number at, as "VERB RUN JOB VALUE". */
static const char *act_at(size_t at)
{
	static char text[128];

	snprintf(text, sizeof(text), "%llu %llu %s %llu", (unsigned long long)acts.at[at].verb, (unsigned long long)acts.at[at].run,
		 acts.at[at].job, (unsigned long long)acts.at[at].value);
	return text;
}

static const char *act_text(enum act_verb verb, uint64_t run, const char *job, uint64_t value)
{
	static char text[128];

	snprintf(text, sizeof(text), "%u %llu %s %llu", (unsigned)verb, (unsigned long long)run, job, (unsigned long long)value);
	return text;
}

#define ASSERT_ACT(at, verb, run, job, value) ASSERT_STR_EQ(act_text(verb, run, job, value), act_at(at))

TEST retry_is_of_what_failed_unless_more_is_said(void)
{
	ASSERT_EQ(0, rig_run("retry 5"));
	ASSERT_EQ(0, rig_run("retry 5 --failed"));
	ASSERT_EQ(0, rig_run("retry 5 --all"));
	ASSERT_EQ(0, rig_run("retry 5 --from a"));
	ASSERT_EQ(0, rig_run("retry 5 --only a"));
	ASSERT_EQ(0, rig_run("retry 5/a"));
	ASSERT_ACT(0, ACT_RETRY, 5, "", RETRY_FAILED);
	ASSERT_ACT(1, ACT_RETRY, 5, "", RETRY_FAILED);
	ASSERT_ACT(2, ACT_RETRY, 5, "", RETRY_ALL);
	ASSERT_ACT(3, ACT_RETRY, 5, "a", RETRY_FROM);
	ASSERT_ACT(4, ACT_RETRY, 5, "a", RETRY_ONLY);
	ASSERT_ACT(5, ACT_RETRY, 5, "a", RETRY_FROM);
	PASS();
}

TEST retry_refuses_scopes_that_contradict(void)
{
	static const char *const lines[] = {
		"retry 5 --all --failed", "retry 5 --from a --only a", "retry 5/a --all", "retry 5/a --only b", "retry 5 4/a", "retry 5/a 4",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ASSERT_EQm(lines[i], 2, rig_run(lines[i]));
	ASSERT_EQ(0, acts.count);
	PASS();
}

TEST retry_of_several_jobs_names_each_of_them(void)
{
	ASSERT_EQ(0, rig_run("retry 5/a 4/b --plain"));
	ASSERT_ACT(0, ACT_RETRY, 5, "a", RETRY_FROM);
	ASSERT_ACT(1, ACT_RETRY, 4, "b", RETRY_FROM);
	ASSERT_STR_EQ("5/a\t1\n4/b\t1\n", rig_out());
	PASS();
}

TEST act_of_all_goes_to_live_runs_alone(void)
{
	ASSERT_EQ(0, rig_run("-y hold all --plain"));
	ASSERT_EQ(2, acts.count);
	ASSERT_ACT(0, ACT_HOLD, 6, "", 0);
	ASSERT_ACT(1, ACT_HOLD, 4, "", 0);
	ASSERT_EQ(0, rig_run("-y retry all"));
	ASSERT_EQ(3, acts.count);
	ASSERT_ACT(2, ACT_RETRY, 5, "", RETRY_FAILED);
	PASS();
}

TEST act_on_more_than_was_named_needs_a_yes(void)
{
	ASSERT_EQ(2, rig_run("hold all"));
	ASSERT(strstr(rig_err(), "hold of 2 runs (6, 4) must be confirmed, but there is no terminal to ask on") != NULL);
	ASSERT_EQ(2, rig_run("hold 6/e"));
	ASSERT(strstr(rig_err(), "hold of 2 jobs (e[0], e[1]) must be confirmed") != NULL);
	ASSERT_EQ(2, rig_run("hold 6/e[*]"));
	ASSERT_EQ(0, acts.count);
	ASSERT_EQ(0, rig_run("hold 6/e[1]"));
	ASSERT_ACT(0, ACT_HOLD, 6, "e[1]", 0);
	ASSERT_EQ(0, rig_run("-y hold 6/e"));
	ASSERT_ACT(1, ACT_HOLD, 6, "e", 0);
	PASS();
}

/* If one of the words is wrong, no act is sent for any of them. */
TEST act_does_nothing_where_one_of_its_words_is_wrong(void)
{
	ASSERT_EQ(2, rig_run("hold 6 5x"));
	ASSERT_EQ(4, rig_run("-y hold 6 8-9"));
	ASSERT_EQ(2, rig_run("hold 4 6/e"));
	ASSERT_EQ(2, rig_run("hold 6 --format {nope}"));
	ASSERT_EQ(0, acts.count);
	PASS();
}

TEST act_that_is_refused_keeps_nobody_from_the_rest(void)
{
	refused_run = 6;
	ASSERT_EQ(3, rig_run("release 6 5 4 --plain"));
	ASSERT_EQ(3, acts.count);
	ASSERT_STR_EQ("5\t1\n4\t1\n", rig_out());
	ASSERT_STR_EQ("titan: not yours\n   try: titan ls\n", rig_err());
	PASS();
}

TEST act_that_changed_nothing_says_so(void)
{
	changed = 0;
	ASSERT_EQ(0, rig_run("hold 4"));
	ASSERT_STR_EQ("4: nothing changed, because no job was held back\n", rig_err());
	ASSERT_EQ(0, rig_run("hold 4 --json"));
	ASSERT_STR_EQ("", rig_err());
	ASSERT_STR_EQ("[{\"target\":\"4\",\"changed\":0,\"run\":4,\"job\":null,\"name\":null,\"dry_run\":false}]\n", rig_out());
	PASS();
}

TEST act_says_to_people_how_much_it_changed(void)
{
	rig.session.out.terminal = true;
	ASSERT_EQ(0, rig_run("hold 4"));
	ASSERT_STR_EQ("4: 1 job held back\n", rig_err());
	changed = 12;
	ASSERT_EQ(0, rig_run("hold 4"));
	ASSERT_STR_EQ("4: 12 jobs held back\n", rig_err());
	ASSERT_EQ(0, rig_run("hold 4 -q"));
	ASSERT_STR_EQ("", rig_err());
	PASS();
}

TEST priority_is_a_number_up_to_100(void)
{
	ASSERT_EQ(0, rig_run("priority 4 0"));
	ASSERT_EQ(0, rig_run("priority 4/a 100"));
	ASSERT_ACT(0, ACT_PRIORITY, 4, "", 0);
	ASSERT_ACT(1, ACT_PRIORITY, 4, "a", 100);
	ASSERT_EQ(2, rig_run("priority 4 101"));
	ASSERT_EQ(2, rig_run("priority 4 high"));
	ASSERT_EQ(2, acts.count);
	PASS();
}

/* ---- decisions ---- */

TEST decision_carries_the_digest_of_what_was_shown(void)
{
	ASSERT_EQ(0, rig_run("approve 5/qa"));
	ASSERT_ACT(0, ACT_APPROVE, 5, "qa", 0);
	ASSERT_EQ(32, acts.at[0].digest_len);
	ASSERT_MEM_EQ("0123456789abcdef0123456789abcdef", acts.at[0].digest, 32);
	ASSERT_EQ(0, rig_run("approve 5/qa --digest 00112233445566FF -m fine"));
	ASSERT_EQ(8, acts.at[1].digest_len);
	ASSERT_MEM_EQ("\x00\x11\x22\x33\x44\x55\x66\xff", acts.at[1].digest, 8);
	ASSERT_STR_EQ("fine", acts.at[1].text);
	PASS();
}

/*
 * Without a digest from the list, the command must send a wrong one: an empty digest would approve the gate in whatever
 * state it is by then.
 */
TEST decision_about_a_job_without_a_digest_carries_a_wrong_one(void)
{
	ASSERT_EQ(0, rig_run("approve 5/a"));
	ASSERT_GT(acts.at[0].digest_len, (size_t)0);
	PASS();
}

TEST digest_that_is_none_is_refused(void)
{
	static const char *const digests[] = { "0011223344556", "00112233445566", "001122334455667", "00112233445566zz", "00112233445566778" };
	char line[128];

	for (size_t i = 0; i < sizeof(digests) / sizeof(digests[0]); i++) {
		snprintf(line, sizeof(line), "approve 5/qa --digest %s", digests[i]);
		ASSERT_EQm(line, 2, rig_run(line));
	}
	ASSERT_EQ(0, acts.count);
	PASS();
}

TEST refusal_and_push_back_have_a_reason(void)
{
	ASSERT_EQ(2, rig_run("reject 5/qa"));
	ASSERT_EQ(2, rig_run("reject 5/qa --message="));
	ASSERT_EQ(2, rig_run("pushback 5/qa --to a"));
	ASSERT_EQ(2, rig_run("pushback 5/qa -m why"));
	ASSERT_EQ(2, rig_run("reject 5 -m why"));
	ASSERT(strstr(rig_err(), "'5' is a run; name one of its jobs") != NULL);
	ASSERT_EQ(0, acts.count);
	ASSERT_EQ(0, rig_run("reject 5/qa -m ugly"));
	ASSERT_EQ(0, rig_run("pushback 5/qa --to a -m again"));
	ASSERT_ACT(0, ACT_REJECT, 5, "qa", 0);
	ASSERT_STR_EQ("ugly", acts.at[0].text);
	ASSERT_ACT(1, ACT_PUSHBACK, 5, "qa", 0);
	ASSERT_STR_EQ("a", acts.at[1].target);
	ASSERT_STR_EQ("again", acts.at[1].text);
	PASS();
}

TEST settlement_is_one_of_three_words(void)
{
	ASSERT_EQ(0, rig_run("settle 4/a done -m seen"));
	ASSERT_EQ(0, rig_run("settle 4/a failed -m seen"));
	ASSERT_EQ(0, rig_run("settle 4/a retry -m seen"));
	ASSERT_ACT(0, ACT_SETTLE, 4, "a", SETTLE_DONE);
	ASSERT_ACT(1, ACT_SETTLE, 4, "a", SETTLE_FAILED);
	ASSERT_ACT(2, ACT_SETTLE, 4, "a", SETTLE_RETRY);
	ASSERT_EQ(2, rig_run("settle 4/a maybe -m seen"));
	ASSERT(strstr(rig_err(), "'maybe' must be done, failed or retry") != NULL);
	ASSERT_EQ(2, rig_run("settle 4/a done"));
	ASSERT_EQ(3, acts.count);
	PASS();
}

SUITE(cli_act)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(rig_teardown_cb, NULL);
	RUN_TEST(retry_is_of_what_failed_unless_more_is_said);
	RUN_TEST(retry_refuses_scopes_that_contradict);
	RUN_TEST(retry_of_several_jobs_names_each_of_them);
	RUN_TEST(act_of_all_goes_to_live_runs_alone);
	RUN_TEST(act_on_more_than_was_named_needs_a_yes);
	RUN_TEST(act_does_nothing_where_one_of_its_words_is_wrong);
	RUN_TEST(act_that_is_refused_keeps_nobody_from_the_rest);
	RUN_TEST(act_that_changed_nothing_says_so);
	RUN_TEST(act_says_to_people_how_much_it_changed);
	RUN_TEST(priority_is_a_number_up_to_100);
	RUN_TEST(decision_carries_the_digest_of_what_was_shown);
	RUN_TEST(decision_about_a_job_without_a_digest_carries_a_wrong_one);
	RUN_TEST(digest_that_is_none_is_refused);
	RUN_TEST(refusal_and_push_back_have_a_reason);
	RUN_TEST(settlement_is_one_of_three_words);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	setenv("LC_ALL", "C", 1);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_act);
	GREATEST_MAIN_END();
}
