/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output of jobs as titan logs prints it: to programs byte for byte, to people line by line. */
#include "cli/ask/logread.h"

#include "cli_rig.h"
#include "greatest.h"

/* ---- programs ---- */

TEST logs_are_the_bytes_as_they_were_written(void)
{
	static const char bytes[] = "a\0b\x1b[2J\xff\r\nno end";
	const size_t len = sizeof(bytes) - 1;

	rig_add_run(4, RUN_SUCCEEDED);
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = len;
	rig.log = slice_make(bytes, len);
	for (rig.page = 0; rig.page < 6; rig.page++) {
		ASSERT_EQ(0, rig_run("logs 4/a"));
		ASSERT_EQ(len, rig.out.len);
		ASSERT_MEM_EQ(bytes, rig.out.data, len);
	}
	PASS();
}

TEST tail_is_the_last_lines_whatever_the_pages(void)
{
	static const struct { const char *lines, *printed; } tails[] = {
		{ "1", "eeee" }, { "2", "dd\neeee" }, { "4", "b\n\ndd\neeee" }, { "5", "a\nb\n\ndd\neeee" }, { "99", "a\nb\n\ndd\neeee" }, { "0", "" },
	};
	char line[64];

	rig_add_run(4, RUN_SUCCEEDED);
	rig.log = slice_str("a\nb\n\ndd\neeee");
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = rig.log.len;
	for (rig.page = 0; rig.page < 4; rig.page++)
		for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
			snprintf(line, sizeof(line), "logs 4/a -n %s", tails[i].lines);
			ASSERT_EQ(0, rig_run(line));
			ASSERT_STR_EQ(tails[i].printed, rig_out());
		}
	PASS();
}

TEST tail_counts_a_last_line_with_an_end_once(void)
{
	rig_add_run(4, RUN_SUCCEEDED);
	rig.log = slice_str("a\nb\nc\n");
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = rig.log.len;
	ASSERT_EQ(0, rig_run("logs 4/a -n 1"));
	ASSERT_STR_EQ("c\n", rig_out());
	ASSERT_EQ(0, rig_run("logs 4/a -n 2"));
	ASSERT_STR_EQ("b\nc\n", rig_out());
	PASS();
}

/* Far more than a page of the reader's own, in lines of odd lengths. */
TEST tail_of_a_long_log_is_exact(void)
{
	struct buf text = { 0 };
	size_t from;

	for (int i = 0; i < 30000; i++)
		buf_addf(&text, "%d%.*s\n", i, i % 13, "xxxxxxxxxxxxx");
	from = (size_t)(strstr(buf_cstr(&text), "\n9999xx") + 1 - buf_cstr(&text));
	rig_add_run(4, RUN_SUCCEEDED);
	rig.log = buf_slice(&text);
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = text.len;
	ASSERT_EQ(0, rig_run("logs 4/a -n 20001"));
	ASSERT_EQ(text.len - from, rig.out.len);
	ASSERT_MEM_EQ(text.data + from, rig.out.data, rig.out.len);
	rig.log = slice_make(NULL, 0);
	buf_free(&text);
	PASS();
}

/* The reader looks back by pages of 65536 bytes, which begin within a line. */
TEST tail_never_begins_within_a_line(void)
{
	struct buf text = { 0 };
	char line[64];

	for (int i = 0; i < 2000; i++)
		buf_addf(&text, "%099d\n", i);
	rig_add_run(4, RUN_SUCCEEDED);
	rig.log = buf_slice(&text);
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = text.len;
	for (int lines = 653; lines < 659; lines++) {
		snprintf(line, sizeof(line), "logs 4/a -n %d", lines);
		ASSERT_EQ(0, rig_run(line));
		ASSERT_EQ((size_t)lines * 100, rig.out.len);
	}
	rig.log = slice_make(NULL, 0);
	buf_free(&text);
	PASS();
}

/* ---- people ---- */

TEST logs_on_a_terminal_are_escaped_line_by_line(void)
{
	rig_add_run(4, RUN_SUCCEEDED);
	rig.log = slice_str("E\x1b[2J\xc2\x9b" "2J\xe2\x80\xaeR\xff\ttab\nno end");
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = rig.log.len;
	rig.session.out.terminal = true;
	ASSERT_EQ(0, rig_run("logs 4/a --color never"));
	ASSERT_STR_EQ("E\\x1b[2J\\u009b2J\\u202eR\\xff\ttab\nno end\n", rig_out());
	PASS();
}

TEST logs_of_a_job_that_wrote_nothing_say_so_to_people_alone(void)
{
	rig_add_run(4, RUN_SUCCEEDED);
	rig_add_job("a", STATE_SUCCEEDED);
	ASSERT_EQ(0, rig_run("logs 4/a"));
	ASSERT_STR_EQ("", rig_out());
	ASSERT_STR_EQ("", rig_err());
	rig.session.out.terminal = true;
	ASSERT_EQ(0, rig_run("logs 4/a"));
	ASSERT_STR_EQ("[the job wrote nothing]\n", rig_err());
	PASS();
}

/* ---- whose output ---- */

TEST logs_of_a_run_are_those_of_its_only_or_its_only_failed_job(void)
{
	rig_add_run(4, RUN_FAILED);
	rig.log = slice_str("x\n");
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = 2;
	ASSERT_EQ(0, rig_run("logs 4"));
	ASSERT_STR_EQ("x\n", rig_out());
	rig_add_job("b", STATE_SUCCEEDED)->out_bytes = 2;
	ASSERT_EQ(err_exit_status(ERR_USAGE), rig_run("logs 4"));
	ASSERT(strstr(rig_err(), "run 4 has 2 jobs; name one of them: a b\n") != NULL);
	ASSERT(strstr(rig_err(), "try: titan logs 4/a\n") != NULL);
	rig_add_job("c", STATE_TIMED_OUT)->out_bytes = 2;
	ASSERT_EQ(0, rig_run("logs 4"));
	rig_add_job("d", STATE_FAILED)->out_bytes = 2;
	ASSERT_EQ(err_exit_status(ERR_USAGE), rig_run("logs 4"));
	PASS();
}

TEST logs_that_arent_there_say_why(void)
{
	struct rec_job_row *job;

	rig_add_run(4, RUN_FAILED);
	job = rig_add_job("a", STATE_FAILED);
	job->log_gone_ms = 86400000;
	ASSERT_EQ(err_exit_status(ERR_PRUNED), rig_run("logs 4/a"));
	ASSERT(strstr(rig_err(), "the output of 4/a was pruned on 1970-01-02\n") != NULL);
	job->child_jobs = 3;
	job->child = 9;
	ASSERT_EQ(err_exit_status(ERR_INVALID), rig_run("logs 4/a"));
	ASSERT(strstr(rig_err(), "try: titan show 9\n") != NULL);
	ASSERT_EQ(err_exit_status(ERR_USAGE), rig_run("logs 4/a --stdout --stderr"));
	ASSERT_EQ(err_exit_status(ERR_USAGE), rig_run("logs 4/a --json"));
	PASS();
}

/* ---- a reader ---- */

TEST reader_has_all_when_what_is_kept_and_dropped_is_what_was_written(void)
{
	struct log_reader reader = { .kept = 60, .dropped = 40 };

	ASSERT(log_read_all(&reader, 100));
	ASSERT(log_read_all(&reader, 99));
	ASSERT_FALSE(log_read_all(&reader, 101));
	PASS();
}

SUITE(cli_logs)
{
	SET_SETUP(rig_setup_cb, NULL);
	SET_TEARDOWN(rig_teardown_cb, NULL);
	RUN_TEST(logs_are_the_bytes_as_they_were_written);
	RUN_TEST(tail_is_the_last_lines_whatever_the_pages);
	RUN_TEST(tail_counts_a_last_line_with_an_end_once);
	RUN_TEST(tail_of_a_long_log_is_exact);
	RUN_TEST(tail_never_begins_within_a_line);
	RUN_TEST(logs_on_a_terminal_are_escaped_line_by_line);
	RUN_TEST(logs_of_a_job_that_wrote_nothing_say_so_to_people_alone);
	RUN_TEST(logs_of_a_run_are_those_of_its_only_or_its_only_failed_job);
	RUN_TEST(logs_that_arent_there_say_why);
	RUN_TEST(reader_has_all_when_what_is_kept_and_dropped_is_what_was_written);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	setenv("LC_ALL", "C", 1);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_logs);
	GREATEST_MAIN_END();
}
