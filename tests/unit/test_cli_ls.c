/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan ls: which runs it lists, in which order, and what it says about runs that it leaves out. */
#include "cli_rig.h"
#include "greatest.h"

static void make_runs(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct rec_run_row *run = rig_add_run(count - i, i % 2 ? RUN_WAITING : RUN_SUCCEEDED);

		run->name = slice_str(i % 3 ? "nightly" : "build");
		run->submitted_ms = 1000 * (int64_t)(count - i);
		run->ended_ms = run->ended_ms ? 100000 - run->submitted_ms : 0;
	}
}

/* The first field of each printed line, joined by blanks. */
static const char *numbers(void)
{
	static char text[1024];
	const char *line = rig_out();
	size_t len = 0;

	text[0] = '\0';
	while (*line) {
		int width = (int)strcspn(line, "\t\n");

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s", len ? " " : "", width, line);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return text;
}

TEST limit_cuts_the_list_and_says_so(void)
{
	make_runs(12);
	ASSERT_EQ(0, rig_run("ls --plain --limit 3"));
	ASSERT_STR_EQ("12 11 10", numbers());
	ASSERT_STR_EQ("there are more than these 3 runs: titan ls --limit 12\n", rig_err());
	ASSERT_EQ(0, rig_run("ls --plain --limit 1 --name * -q"));
	ASSERT_STR_EQ("", rig_err());
	ASSERT_EQ(0, rig_run("ls --plain --limit 1 --name *"));
	ASSERT_STR_EQ("there is more than this one run: titan ls --name '*' --limit 4\n", rig_err());
	ASSERT_EQ(0, rig_run("ls --plain --limit 12"));
	ASSERT_STR_EQ("", rig_err());
	PASS();
}

TEST people_get_fifty_and_programs_all(void)
{
	static char *const styles[] = { "ls --plain", "ls --json", "ls --format {run}" };

	make_runs(16);
	rig.page = 5;
	rig.repeat = 4;                  /* 64 runs */
	ASSERT_EQ(0, rig_run("ls"));
	ASSERT_STR_EQ("there are more than these 50 runs: titan ls --limit 200\n", rig_err());
	for (size_t i = 0; i < 3; i++) {
		ASSERT_EQ(0, rig_run(styles[i]));
		ASSERT_STR_EQm(styles[i], "", rig_err());
	}
	ASSERT_EQ(0, rig_run("ls --all"));
	ASSERT_STR_EQ("", rig_err());
	PASS();
}

TEST sort_takes_a_key_or_a_title(void)
{
	make_runs(4);                    /* 4: OK, ended after 96 s; 3: waits; 2: OK, ended after 98 s; 1: waits */
	ASSERT_EQ(0, rig_run("ls --plain --sort ended"));
	ASSERT_STR_EQ("4 2 3 1", numbers());
	ASSERT_EQ(0, rig_run("ls --plain --sort -ended"));
	ASSERT_STR_EQ("2 4 3 1", numbers());
	ASSERT_EQ(0, rig_run("ls --plain --sort PIPELINE --limit 3"));
	ASSERT_STR_EQ("4 1 3", numbers());
	ASSERT_STR_EQ("there are more than these 3 runs: titan ls --sort PIPELINE --limit 12\n", rig_err());
	ASSERT_EQ(0, rig_run("ls --plain --sort state"));
	ASSERT_STR_EQ("3 1 4 2", numbers());
	ASSERT_EQ(2, rig_run("ls --sort size"));
	ASSERT(strstr(rig_err(), "--sort: there is no column 'size'; the columns are: "));
	PASS();
}

TEST times_and_names_are_asked_of_the_master(void)
{
	make_runs(2);
	ASSERT_EQ(0, rig_run("ls --name n* --since 1970-01-01T00:00:02Z --until 1970-01-01T00:00:05Z"));
	ASSERT(slice_eq(rig.asked.name, slice_str("n*")));
	ASSERT_EQ(2000, rig.asked.since_ms);
	ASSERT_EQ(5000, rig.asked.until_ms);
	ASSERT(rig.asked.reasons);
	ASSERT_EQ(2, rig_run("ls --since soon"));
	ASSERT(strstr(rig_err(), "--since: 'soon' isn't a time; use 2h (two hours ago), "));
	ASSERT_EQ(2, rig_run("ls --since 1h --until 2h"));
	ASSERT(strstr(rig_err(), "--until must be later than --since"));
	PASS();
}

TEST named_runs_are_filtered_here(void)
{
	make_runs(4);
	ASSERT_EQ(0, rig_run("ls --plain 1 2 3 4 --name b*"));
	ASSERT_STR_EQ("1 4", numbers());
	ASSERT_EQ(0, rig_run("ls --plain 1-4 --since 1970-01-01T00:00:03Z"));
	ASSERT_STR_EQ("4 3", numbers());
	ASSERT_EQ(0, rig_run("ls --plain 1-4 --limit 1"));
	ASSERT_STR_EQ("there is more than this one run: titan ls 1-4 --limit 4\n", rig_err());
	PASS();
}

TEST reason_of_the_master_is_the_why(void)
{
	struct rec_run_row *run = rig_add_run(4, RUN_WAITING);

	run->why = slice_str("a: no worker is connected");
	run->why_code = 8;
	ASSERT_EQ(0, rig_run("ls --format {why}|{reason}|{ended}"));
	ASSERT_STR_EQ("a: no worker is connected|no_worker_up|\n", rig_out());
	PASS();
}

SUITE(ls_suite)
{
	SET_SETUP(rig_setup_cb, NULL);
	SET_TEARDOWN(rig_teardown_cb, NULL);
	RUN_TEST(limit_cuts_the_list_and_says_so);
	RUN_TEST(people_get_fifty_and_programs_all);
	RUN_TEST(sort_takes_a_key_or_a_title);
	RUN_TEST(times_and_names_are_asked_of_the_master);
	RUN_TEST(named_runs_are_filtered_here);
	RUN_TEST(reason_of_the_master_is_the_why);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	setenv("LC_ALL", "C", 1);
	setenv("TZ", "UTC", 1);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(ls_suite);
	GREATEST_MAIN_END();
}
