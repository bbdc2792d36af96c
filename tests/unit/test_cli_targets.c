/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words that select runs and jobs: one of them, a range, all, or those that meet a condition. */
#include "cli/ask/targets.h"

#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli_rig.h"
#include "greatest.h"

static struct cli cli;

static void setup_cb(void *data)
{
	rig_setup_cb(data);
	rig_cli_begin(&cli);
}

static void teardown_cb(void *data)
{
	rig_cli_end(&cli);
	rig_teardown_cb(data);
}

/* What the words select, such as "4 5/a"; or the error's name and text. */
static const char *targets_of(const char *words, enum reach reach)
{
	static char text[2048], copy[256];
	const char *list[8];
	char *rest = copy;
	struct targets targets;
	size_t count = 0, len = 0;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word; (word = strsep(&rest, " ")) != NULL && count < 8;)
		list[count++] = word;
	text[0] = '\0';
	if (cli_targets(&cli, list, count, reach, &targets) != ERR_NONE) {
		snprintf(text, sizeof(text), "%s: %s",
			 cli.error.code == ERR_NOT_FOUND ? "not found" : cli.error.code == ERR_USAGE ? "usage" : "other", cli.error.text);
		return text;
	}
	for (size_t i = 0; i < targets.count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%llu%s%.*s", i ? " " : "", (unsigned long long)targets.at[i].run,
					targets.at[i].job.len ? "/" : "", (int)targets.at[i].job.len, (const char *)targets.at[i].job.data);
	if (targets.bulk)
		snprintf(text + len, sizeof(text) - len, " (bulk)");
	return text;
}

/* Run 7 is live, 6 failed, 5 succeeded, 4 is live. */
static void make_runs(void)
{
	static struct slice gpu[] = { { (const uint8_t *)"gpu", 3 }, { (const uint8_t *)"fast", 4 } };
	struct rec_job_row *job;

	rig_add_run(7, RUN_RUNNING)->name = slice_str("nightly");
	job = rig_add_job("e[0]", STATE_RUNNING);
	job->labels = (struct slice_list){ gpu, 2 };
	job->worker = slice_str("w1");
	job = rig_add_job("e[1]", STATE_SUCCEEDED);
	job->labels = (struct slice_list){ gpu, 1 };
	rig_add_job("extra", STATE_FAILED)->worker = slice_str("w2");
	rig_add_run(6, RUN_FAILED)->owner = slice_str("bert");
	rig_add_job("a", STATE_FAILED);
	rig_add_job("b", STATE_TIMED_OUT);
	rig.runs[1].tenant = slice_str("anna");
	rig_add_run(5, RUN_SUCCEEDED);
	rig_add_job("a", STATE_SUCCEEDED);
	rig_add_run(4, RUN_WAITING)->owner = slice_str("bert");
	rig_add_job("a", STATE_READY);
}

/* ---- one ---- */

TEST selector_is_a_run_a_job_or_last(void)
{
	struct selector selector;

	make_runs();
	ASSERT_EQ(ERR_NONE, cli_select(&cli, "4127", &selector));
	ASSERT_EQ(4127, selector.run);
	ASSERT_EQ(0, selector.job.len);
	ASSERT_EQ(ERR_NONE, cli_select(&cli, "12/load", &selector));
	ASSERT_EQ(12, selector.run);
	ASSERT(slice_eq(selector.job, slice_str("load")));
	ASSERT_EQ(ERR_NONE, cli_select(&cli, "12/a/b", &selector));
	ASSERT(slice_eq(selector.job, slice_str("a/b")));
	ASSERT_EQ(ERR_NONE, cli_select(&cli, "last", &selector));
	ASSERT_EQ(7, selector.run);
	ASSERT_EQ(ERR_NONE, cli_select(&cli, "last/a", &selector));
	ASSERT_EQ(7, selector.run);
	ASSERT(slice_eq(selector.job, slice_str("a")));
	PASS();
}

TEST self_is_the_run_of_the_job_that_asks(void)
{
	struct selector selector;

	ASSERT_EQ(ERR_USAGE, cli_select(&cli, "self", &selector));
	cli.settings.own_run = "31";
	ASSERT_EQ(ERR_NONE, cli_select(&cli, "self/x", &selector));
	ASSERT_EQ(31, selector.run);
	cli.settings.own_run = "many";
	ASSERT_EQ(ERR_USAGE, cli_select(&cli, "self", &selector));
	PASS();
}

TEST selector_that_is_none_is_refused(void)
{
	static const char *const words[] = {
		"0", "-1", "", "x", "lasts", "las", "4x", "4/", "/a", "selfs", "18446744073709551615", "9223372036854775808", " 4", "+4",
	};
	struct selector selector;
	uint64_t run;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ASSERT_EQm(words[i], ERR_USAGE, cli_select(&cli, words[i], &selector));
	ASSERT_EQ(ERR_NONE, cli_select(&cli, "9223372036854775807", &selector));
	ASSERT_EQ(ERR_USAGE, cli_select_run(&cli, "4/a", &run));
	ASSERT_STR_EQ("'4/a' is a job, but a run is needed here", cli.error.text);
	PASS();
}

TEST last_is_refused_where_no_run_is(void)
{
	struct selector selector;

	ASSERT_EQ(ERR_NOT_FOUND, cli_select(&cli, "last", &selector));
	ASSERT_STR_EQ("there is no run yet", cli.error.text);
	PASS();
}

static bool names(const char *job, const char *name)
{
	const struct selector selector = { .run = 1, .job = slice_str(job) };

	return selector_names(&selector, slice_str(name));
}

TEST name_of_a_fan_out_names_each_of_its_jobs(void)
{
	ASSERT(names("", "anything"));
	ASSERT(names("e", "e"));
	ASSERT(names("e", "e[0]"));
	ASSERT(names("e[*]", "e[12]"));
	ASSERT_FALSE(names("e[*]", "e"));
	ASSERT_FALSE(names("e", "ex"));
	ASSERT_FALSE(names("e", "ex[0]"));
	ASSERT_FALSE(names("ex", "e"));
	ASSERT(names("e[0]", "e[0]"));
	ASSERT_FALSE(names("e[0]", "e[1]"));
	ASSERT_FALSE(names("[*]", "e[1]"));
	PASS();
}

/* ---- several ---- */

TEST targets_keep_the_order_given(void)
{
	make_runs();
	ASSERT_STR_EQ("6 4/a 5", targets_of("6 4/a 5", REACH_LIVE));
	ASSERT_STR_EQ("7", targets_of("last", REACH_LIVE));
	PASS();
}

TEST all_is_what_the_command_reaches_newest_first(void)
{
	make_runs();
	ASSERT_STR_EQ("7 4 (bulk)", targets_of("all", REACH_LIVE));
	ASSERT_STR_EQ("7 6 (bulk)", targets_of("all", REACH_BAD));
	ASSERT_STR_EQ("7 6 5 4 (bulk)", targets_of("all", REACH_EVERY));
	PASS();
}

TEST all_goes_through_every_page(void)
{
	make_runs();
	for (rig.page = 1; rig.page < 5; rig.page++)
		ASSERT_STR_EQ("7 6 5 4 (bulk)", targets_of("all", REACH_EVERY));
	rig.page = 1;
	ASSERT_STR_EQ("7/e[0] 7/e[1] 7/extra 6/a 6/b 5/a 4/a (bulk)",
		      targets_of("state=running state=succeeded,name=e state=failed,name=extra state=failed,name=a state=timed_out "
				 "state=succeeded,name=a state=ready", REACH_EVERY));
	PASS();
}

TEST range_has_both_its_ends(void)
{
	make_runs();
	ASSERT_STR_EQ("6 5 (bulk)", targets_of("5-6", REACH_EVERY));
	ASSERT_STR_EQ("5 (bulk)", targets_of("5-5", REACH_EVERY));
	ASSERT_STR_EQ("7 6 5 4 (bulk)", targets_of("1-9000", REACH_EVERY));
	ASSERT_STR_EQ("4 (bulk)", targets_of("4-6", REACH_LIVE));
	ASSERT_STR_EQ("6 (bulk)", targets_of("4-6", REACH_BAD));
	rig.page = 1;
	ASSERT_STR_EQ("6 5 (bulk)", targets_of("5-6", REACH_EVERY));
	ASSERT(strstr(targets_of("6-5", REACH_EVERY), "the smaller number must come first") != NULL);
	ASSERT(strstr(targets_of("5-", REACH_EVERY), "usage") != NULL);
	PASS();
}

TEST words_that_stand_for_nothing_are_told(void)
{
	make_runs();
	ASSERT_EQ(0, strncmp(targets_of("8-9", REACH_EVERY), "not found: ", 11));
	ASSERT(strstr(targets_of("5-6", REACH_LIVE), "still live") != NULL);
	ASSERT(strstr(targets_of("4-5", REACH_BAD), "ended badly") != NULL);
	ASSERT_EQ(0, strncmp(targets_of("4 label=none", REACH_LIVE), "not found: ", 11));
	PASS();
}

/* ---- conditions ---- */

TEST condition_on_jobs_looks_at_live_runs(void)
{
	make_runs();
	ASSERT_STR_EQ("7/e[0] 7/e[1] (bulk)", targets_of("label=gpu", REACH_LIVE));
	ASSERT_STR_EQ("7/e[0] (bulk)", targets_of("label=gpu,label=fast", REACH_LIVE));
	ASSERT_STR_EQ("7/e[0] (bulk)", targets_of("label=gpu,state=running", REACH_LIVE));
	ASSERT_STR_EQ("7/extra (bulk)", targets_of("worker=w2", REACH_LIVE));
	ASSERT_STR_EQ("4/a (bulk)", targets_of("name=a", REACH_LIVE));
	ASSERT_STR_EQ("7/e[0] 7/e[1] (bulk)", targets_of("name=e", REACH_LIVE));
	PASS();
}

TEST condition_on_a_state_looks_at_ended_runs_where_the_command_reaches_them(void)
{
	make_runs();
	ASSERT_STR_EQ("7/extra (bulk)", targets_of("state=failed", REACH_LIVE));
	ASSERT_STR_EQ("7/extra 6/a (bulk)", targets_of("state=failed", REACH_BAD));
	ASSERT_STR_EQ("7/extra 6/a 6/b (bulk)", targets_of("state=failed,state=timed_out", REACH_EVERY));
	ASSERT_STR_EQ("7/e[1] 5/a (bulk)", targets_of("state=succeeded", REACH_EVERY));
	ASSERT_STR_EQ("4/a (bulk)", targets_of("name=a", REACH_EVERY));
	PASS();
}

TEST words_of_screens_are_conditions(void)
{
	make_runs();
	rig_add_run(3, RUN_WAITING);
	rig_add_job("soon", STATE_DELAYED);
	rig_add_job("again", STATE_DELAYED)->tries = 1;
	rig_add_job("back", STATE_READY)->held = true;
	rig_add_job("lost", STATE_FAILED)->dead = true;
	ASSERT_STR_EQ("7/extra 6/a 3/lost (bulk)", targets_of("FAIL", REACH_EVERY));
	ASSERT_STR_EQ("7/extra 6/a 3/lost (bulk)", targets_of("state=FAIL", REACH_EVERY));
	ASSERT_STR_EQ("7/extra 6/a 3/lost (bulk)", targets_of("state=fail", REACH_EVERY));
	ASSERT_STR_EQ("6/b (bulk)", targets_of("TIME", REACH_BAD));
	ASSERT_STR_EQ("3/soon 3/again (bulk)", targets_of("RETRY", REACH_LIVE));
	ASSERT_STR_EQ("3/soon (bulk)", targets_of("LATER", REACH_LIVE));
	ASSERT_STR_EQ("3/back (bulk)", targets_of("HOLD", REACH_LIVE));
	ASSERT_STR_EQ("3/lost (bulk)", targets_of("DEAD", REACH_EVERY));
	ASSERT_STR_EQ("6/a (bulk)", targets_of("FAIL,owner=bert", REACH_EVERY));
	/* A held run has a flag of its own, apart from its jobs. */
	rig.runs[4].held = true;
	ASSERT_STR_EQ("3 (bulk)", targets_of("HOLD", REACH_LIVE));
	ASSERT_STR_EQ("3/back (bulk)", targets_of("HOLD,name=back", REACH_LIVE));
	ASSERT_EQ(0, strncmp(targets_of("BROKEN", REACH_LIVE), "usage: ", 7));
	ASSERT_EQ(0, strncmp(targets_of("fail", REACH_LIVE), "usage: ", 7));
	PASS();
}

TEST condition_on_runs_finds_runs(void)
{
	make_runs();
	ASSERT_STR_EQ("7 (bulk)", targets_of("run=nightly", REACH_LIVE));
	ASSERT_STR_EQ("4 (bulk)", targets_of("owner=bert", REACH_LIVE));
	ASSERT_STR_EQ("6 4 (bulk)", targets_of("owner=bert", REACH_EVERY));
	/* A run without a tenant of its own belongs to its owner's tenant. */
	ASSERT_STR_EQ("7 6 5 (bulk)", targets_of("tenant=anna", REACH_EVERY));
	ASSERT_STR_EQ("4 (bulk)", targets_of("tenant=bert", REACH_EVERY));
	ASSERT_STR_EQ("6/a (bulk)", targets_of("owner=bert,state=failed", REACH_EVERY));
	PASS();
}

TEST condition_that_is_none_is_refused(void)
{
	make_runs();
	ASSERT(strstr(targets_of("colour=red", REACH_LIVE), "usage: 'colour='") != NULL);
	ASSERT(strstr(targets_of("state=happy", REACH_LIVE), "jobs have no such state") != NULL);
	ASSERT(strstr(targets_of("state=", REACH_LIVE), "': expected KEY=VALUE, such as state=FAIL") != NULL);
	ASSERT(strstr(targets_of("=failed", REACH_LIVE), "': expected KEY=VALUE, such as state=FAIL") != NULL);
	ASSERT(strstr(targets_of("state=failed,,name=a", REACH_LIVE), "': expected KEY=VALUE, such as state=FAIL") != NULL);
	PASS();
}

/* ---- a person's yes ---- */

static const char *question_about(const char *words, enum reach reach)
{
	struct targets targets;
	const char *list[] = { words };
	struct invocation invocation = { .command = &command_table[COMMAND_cancel] };

	buf_clear(&rig.err);
	cli.invocation = &invocation;
	cli.session->asks = true;
	if (cli_targets(&cli, list, 1, reach, &targets) != ERR_NONE || targets_confirm(&cli, &targets, "cancel") == ERR_NONE)
		return "not asked";
	return rig_err();
}

TEST more_than_was_named_takes_a_yes(void)
{
	char evil[] = "x\x1b[2J";

	make_runs();
	ASSERT_STR_EQ("not asked", question_about("4", REACH_LIVE));
	ASSERT_STR_EQ("cancel of 2 runs (7, 4)? [y/N] ", question_about("all", REACH_LIVE));
	ASSERT_STR_EQ("cancel of 1 run (4)? [y/N] ", question_about("4-5", REACH_LIVE));
	ASSERT_STR_EQ("cancel of 2 jobs (7/e[0], 7/e[1])? [y/N] ", question_about("name=e", REACH_LIVE));
	rig.jobs[2].name = slice_str(evil);
	ASSERT_STR_EQ("cancel of 1 job (7/x\\x1b[2J)? [y/N] ", question_about("worker=w2", REACH_LIVE));
	rig_add_run(3, RUN_RUNNING);
	rig_add_run(2, RUN_RUNNING);
	ASSERT_STR_EQ("cancel of 6 runs (7, 6, 5, 4, 3, ...)? [y/N] ", question_about("all", REACH_EVERY));
	cli.settings.yes = true;
	ASSERT_STR_EQ("not asked", question_about("all", REACH_LIVE));
	PASS();
}

/* ---- questions ---- */

TEST query_of_jobs_joins_its_pages_and_keeps_the_limit(void)
{
	struct arena arena = { 0 };
	struct rec_job_row *jobs;
	size_t count;

	make_runs();
	ASSERT_EQ(ERR_NONE, cli_connect(&cli));
	for (rig.page = 1; rig.page < 4; rig.page++) {
		ASSERT_EQ(ERR_NONE, cli_query_jobs(&cli, 7, SIZE_MAX, &arena, &jobs, &count));
		ASSERT_EQ(3, count);
		for (size_t i = 0; i < count; i++)
			ASSERT_EQ(700 + i, jobs[i].job);
	}
	rig.page = 0;
	ASSERT_EQ(ERR_NONE, cli_query_jobs(&cli, 7, 2, &arena, &jobs, &count));
	ASSERT_EQ(2, count);
	ASSERT_EQ(ERR_NOT_FOUND, cli_query_jobs(&cli, 99, SIZE_MAX, &arena, &jobs, &count));
	arena_free(&arena);
	PASS();
}

TEST query_of_a_job_that_is_none_says_what_there_is(void)
{
	struct arena arena = { 0 };
	struct rec_job_row job;
	struct selector selector = { .run = 7, .job = slice_str("nobody") };

	make_runs();
	ASSERT_EQ(ERR_NONE, cli_connect(&cli));
	ASSERT_EQ(ERR_NOT_FOUND, cli_query_job(&cli, &selector, &arena, &job));
	ASSERT_STR_EQ("no job 7/nobody", cli.error.text);
	ASSERT_STR_EQ("titan show 7", cli.error.next);
	selector.job = slice_str("e");
	ASSERT_EQ(ERR_NOT_FOUND, cli_query_job(&cli, &selector, &arena, &job));
	ASSERT_STR_EQ("7/e is a fan-out; name one of its jobs, such as 7/e[0]", cli.error.text);
	selector.run = 99;
	ASSERT_EQ(ERR_NOT_FOUND, cli_query_job(&cli, &selector, &arena, &job));
	ASSERT_STR_EQ("there is no run 99", cli.error.text);
	ASSERT_STR_EQ("titan ls", cli.error.next);
	arena_free(&arena);
	PASS();
}

SUITE(targets_suite)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(selector_is_a_run_a_job_or_last);
	RUN_TEST(self_is_the_run_of_the_job_that_asks);
	RUN_TEST(selector_that_is_none_is_refused);
	RUN_TEST(last_is_refused_where_no_run_is);
	RUN_TEST(name_of_a_fan_out_names_each_of_its_jobs);
	RUN_TEST(targets_keep_the_order_given);
	RUN_TEST(all_is_what_the_command_reaches_newest_first);
	RUN_TEST(all_goes_through_every_page);
	RUN_TEST(range_has_both_its_ends);
	RUN_TEST(words_that_stand_for_nothing_are_told);
	RUN_TEST(condition_on_jobs_looks_at_live_runs);
	RUN_TEST(condition_on_a_state_looks_at_ended_runs_where_the_command_reaches_them);
	RUN_TEST(words_of_screens_are_conditions);
	RUN_TEST(condition_on_runs_finds_runs);
	RUN_TEST(condition_that_is_none_is_refused);
	RUN_TEST(more_than_was_named_takes_a_yes);
	RUN_TEST(query_of_jobs_joins_its_pages_and_keeps_the_limit);
	RUN_TEST(query_of_a_job_that_is_none_says_what_there_is);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	setenv("LC_ALL", "C", 1);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(targets_suite);
	GREATEST_MAIN_END();
}
