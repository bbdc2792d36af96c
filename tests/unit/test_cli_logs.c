/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Job output in titan logs: byte for byte for programs, line by line for people. */
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
			snprintf(line, sizeof(line), "logs 4/a --tail %s", tails[i].lines);
			ASSERT_EQ(0, rig_run(line));
			ASSERT_STR_EQ(tails[i].printed, rig_out());
		}
	PASS();
}

/* The lines in the rig's logs are of 1 January 1970, which isn't today. */
TEST times_of_another_day_have_its_date(void)
{
	rig_add_run(4, RUN_SUCCEEDED);
	rig.log = slice_str("a\nb\n");
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = rig.log.len;
	ASSERT_EQ(0, rig_run("logs -t 4/a"));
	ASSERT_EQ(2 * strlen("1970-01-01 00:00:00 a\n"), rig.out.len);
	ASSERT_EQ('-', rig.out.data[4]);
	ASSERT_EQ(0, rig_run("logs -t 4"));
	ASSERT_EQ('-', rig.out.data[4]);
	PASS();
}

TEST tail_counts_a_last_line_with_an_end_once(void)
{
	rig_add_run(4, RUN_SUCCEEDED);
	rig.log = slice_str("a\nb\nc\n");
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = rig.log.len;
	ASSERT_EQ(0, rig_run("logs 4/a --tail 1"));
	ASSERT_STR_EQ("c\n", rig_out());
	ASSERT_EQ(0, rig_run("logs 4/a --tail 2"));
	ASSERT_STR_EQ("b\nc\n", rig_out());
	PASS();
}

/* The log has many pages, and its lines have odd lengths. */
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
	ASSERT_EQ(0, rig_run("logs 4/a --tail 20001"));
	ASSERT_EQ(text.len - from, rig.out.len);
	ASSERT_MEM_EQ(text.data + from, rig.out.data, rig.out.len);
	rig.log = slice_make(NULL, 0);
	buf_free(&text);
	PASS();
}

/* titan logs --tail reads backwards in pages of 65536 bytes, which begin in the middle of a line. */
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
		snprintf(line, sizeof(line), "logs 4/a --tail %d", lines);
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

TEST logs_of_a_run_are_marked_unless_it_has_one_job(void)
{
	rig_add_run(4, RUN_FAILED);
	rig.log = slice_str("x\x1b\n");
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = 3;
	ASSERT_EQ(0, rig_run("logs 4"));
	ASSERT_STR_EQ("x\x1b\n", rig_out());
	rig_add_job("bcd", STATE_SUCCEEDED)->out_bytes = 3;
	rig_add_job("quiet", STATE_FAILED);
	ASSERT_EQ(0, rig_run("logs 4"));
	ASSERT_STR_EQ("a     | x\x1b\nbcd   | x\x1b\n", rig_out());
	ASSERT_EQ(0, rig_run("logs 4/a 4/bcd 4/a"));
	ASSERT_STR_EQ("a   | x\x1b\nbcd | x\x1b\n", rig_out());
	ASSERT_EQ(0, rig_run("logs 4 --failed"));
	ASSERT_STR_EQ("", rig_out());
	rig.session.out.terminal = true;
	ASSERT_EQ(0, rig_run("logs 4 --color never"));
	ASSERT_STR_EQ("a     | x\\x1b\nbcd   | x\\x1b\n", rig_out());
	ASSERT_EQ(0, rig_run("logs 4 --color always"));
	ASSERT(strstr(rig_out(), "m | ") == NULL && strstr(rig_out(), "bcd   |\x1b[0m x\\x1b\n") != NULL);
	PASS();
}

TEST logs_of_members_of_a_fan_out(void)
{
	static const struct { const char *words, *out; } tries[] = {
		{ "logs 4/e", "e[0]  | x\ne[1]  | x\ne[10] | x\n" }, { "logs 4/e[*]", "e[0]  | x\ne[1]  | x\ne[10] | x\n" },
		{ "logs 4/e[1-9]", "x\n" }, { "logs 4/e[1-10]", "e[1]  | x\ne[10] | x\n" }, { "logs 4/e[0]", "x\n" },
	};

	rig_add_run(4, RUN_SUCCEEDED);
	rig.log = slice_str("x\n");
	rig_add_job("e[0]", STATE_SUCCEEDED)->out_bytes = 2;
	rig_add_job("e[1]", STATE_SUCCEEDED)->out_bytes = 2;
	rig_add_job("e[10]", STATE_SUCCEEDED)->out_bytes = 2;
	rig_add_job("ex", STATE_SUCCEEDED)->out_bytes = 2;
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		ASSERT_EQ(0, rig_run(tries[i].words));
		ASSERT_STR_EQ(tries[i].out, rig_out());
	}
	ASSERT_EQ(4, rig_run("logs 4/e[11-12]"));
	ASSERT_EQ(4, rig_run("logs 4/ex 4/nope"));
	PASS();
}

TEST logs_select_lines(void)
{
	rig_add_run(4, RUN_SUCCEEDED);
	rig.log = slice_str("one\ntwo\nthree");
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = 13;
	rig_add_job("b", STATE_SUCCEEDED)->out_bytes = 13;
	for (rig.page = 0; rig.page < 5; rig.page++) {
		ASSERT_EQ(0, rig_run("logs 4/a --grep ^t|z"));
		ASSERT_STR_EQ("two\nthree\n", rig_out());
		ASSERT_EQ(0, rig_run("logs 4 --grep ^t"));
		ASSERT_STR_EQ("a | two\na | three\nb | two\nb | three\n", rig_out());
		ASSERT_EQ(0, rig_run("logs 4 --grep w --tail 1"));
		ASSERT_STR_EQ("b | two\n", rig_out());
		ASSERT_EQ(0, rig_run("logs 4 --tail 4"));
		ASSERT_STR_EQ("a | three\nb | one\nb | two\nb | three\n", rig_out());
		ASSERT_EQ(0, rig_run("logs 4 --tail 0"));
		ASSERT_STR_EQ("", rig_out());
	}
	/* All log lines of the fake master have times in 1970, so none is from the last hour. */
	ASSERT_EQ(0, rig_run("logs 4 --since 1h"));
	ASSERT_STR_EQ("", rig_out());
	ASSERT_EQ(2, rig_run("logs 4 --since soon"));
	ASSERT_EQ(2, rig_run("logs 4 --grep ("));
	ASSERT(strstr(rig_err(), "no regular expression") != NULL);
	ASSERT_EQ(2, rig_run("logs -f 4 5"));
	PASS();
}

TEST logs_for_programs_have_columns(void)
{
	rig_add_run(4, RUN_SUCCEEDED);
	rig.log = slice_str("a\tb\x1b\n");
	rig_add_job("a", STATE_SUCCEEDED)->out_bytes = 5;
	ASSERT_EQ(0, rig_run("logs 4/a --plain"));
	ASSERT_STR_EQ("1970-01-01T00:00:00.000Z\t4/a\tstdout\ta\\tb\\x1b\n", rig_out());
	ASSERT_EQ(0, rig_run("logs 4/a --json"));
	ASSERT(strstr(rig_out(), "\"job\":\"4/a\",\"stream\":\"stdout\",\"text\":\"a\\tb\\u001b\",\"run\":4,\"serial\":400,\"name\":\"a\",\"try\":1}\n") != NULL);
	ASSERT_EQ(2, rig_run("logs 4/a --format {name}"));
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
	ASSERT_EQ(err_exit_status(ERR_INVALID), rig_run("logs --no-sub 4/a"));
	ASSERT(strstr(rig_err(), "try: titan show 9\n") != NULL);
	ASSERT_EQ(err_exit_status(ERR_USAGE), rig_run("logs 4/a --stdout --stderr"));
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
	RUN_TEST(times_of_another_day_have_its_date);
	RUN_TEST(tail_counts_a_last_line_with_an_end_once);
	RUN_TEST(tail_of_a_long_log_is_exact);
	RUN_TEST(tail_never_begins_within_a_line);
	RUN_TEST(logs_on_a_terminal_are_escaped_line_by_line);
	RUN_TEST(logs_of_a_job_that_wrote_nothing_say_so_to_people_alone);
	RUN_TEST(logs_of_a_run_are_marked_unless_it_has_one_job);
	RUN_TEST(logs_of_members_of_a_fan_out);
	RUN_TEST(logs_select_lines);
	RUN_TEST(logs_for_programs_have_columns);
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
