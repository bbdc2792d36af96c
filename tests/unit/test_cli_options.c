/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parsing of arguments by the command table, and settings from flags, environment and titan.conf. */
#include <ctype.h>
#include <stdlib.h>

#include "cli/commands/prune.h"
#include "cli/session/guesses.h"
#include "cli/session/options.h"
#include "greatest.h"

static struct arena arena;
static struct invocation invocation;
static struct error error;

/* Parse a command line; line holds the words after "titan", divided by blanks. */
static enum err parse(const char *line)
{
	static char copy[512];
	char *argv[32] = { copy };
	int argc = 1;

	snprintf(copy, sizeof(copy), "titan %s", line);
	for (char *at = copy; *at != '\0'; at++) {
		if (*at != ' ')
			continue;
		*at = '\0';
		if (at[1] != ' ' && at[1] != '\0')
			argv[argc++] = at + 1;
	}
	error = (struct error){ 0 };
	invocation = (struct invocation){ 0 };
	arena_free(&arena);
	return invocation_parse(argc, argv, &arena, &invocation, &error);
}

TEST options_stand_anywhere(void)
{
	static const char *const lines[] = {
		"-C x run -e a->b --name n -fq", "run -C x -qfe a->b --name=n", "-q --cluster x run -ea->b -f --name n",
		"--cluster=x run --expression=a->b --follow -q --name n",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ASSERT_EQ(ERR_NONE, parse(lines[i]));
		ASSERT_EQ(COMMAND_run, invocation.command->id);
		ASSERT_STR_EQ("a->b", option_value(&invocation, OPT_run_expression));
		ASSERT_STR_EQ("x", option_value(&invocation, OPT_cluster));
		ASSERT_STR_EQ("n", option_value(&invocation, OPT_run_name));
		ASSERT(option_given(&invocation, OPT_run_follow));
		ASSERT(option_given(&invocation, OPT_quiet));
		ASSERT_FALSE(option_given(&invocation, OPT_run_wait));
		ASSERT_EQ_FMT((size_t)0, invocation.arg_count, "%zu");
	}
	ASSERT_EQ(ERR_NONE, parse("wait 1 --timeout 5s 2"));
	ASSERT_EQ_FMT((size_t)2, invocation.arg_count, "%zu");
	ASSERT_STR_EQ("2", invocation.args[1]);
	ASSERT_EQ(ERR_NONE, parse("wait -q -- -1 --json"));
	ASSERT_EQ_FMT((size_t)2, invocation.arg_count, "%zu");
	ASSERT_STR_EQ("--json", invocation.args[1]);
	ASSERT_FALSE(option_given(&invocation, OPT_json));
	ASSERT_EQ(ERR_NONE, parse("wait -- --"));
	ASSERT_EQ_FMT((size_t)1, invocation.arg_count, "%zu");
	ASSERT_EQ(ERR_NONE, parse("run -"));
	ASSERT_STR_EQ("-", invocation.args[0]);
	ASSERT_EQ(ERR_NONE, parse(""));
	ASSERT_EQ(NULL, invocation.command);
	PASS();
}

struct refused {
	const char *line, *text, *next;
};

static const struct refused refusals[] = {
	{ "rnu", "did you mean 'run'", "titan --help" },
	{ "lst", "did you mean 'ls'", "titan --help" },
	{ "frobnicate", "unknown command 'frobnicate'", "titan --help" },
	{ "kill 4127", "titan cancel ends runs and jobs", "titan cancel --help" },
	{ "rm 4127", "titan prune removes ended ones", "titan help" },
	{ "submit a.yaml", "titan run submits jobs", "titan run --help" },
	{ "run --expresion x", "did you mean --expression", "titan run --help" },
	{ "run --zzzzzz", "no option --zzzzzz", "titan run --help" },
	{ "run --exp x", "option --exp", "titan run --help" },
	{ "run -Q", "no option -Q", "titan run --help" },
	{ "-e x run", "options of a command must come after the command's name", "titan --help" },
	{ "run --follow=yes", "takes no argument", "" },
	{ "run -e", "needs an argument", "titan run --help" },
	{ "run --name", "needs an argument", "titan run --help" },
	{ "show", "needs RUN", "titan show --help" },
	{ "watch 1 2", "unexpected argument '2'", "titan watch --help" },
	{ "version 1", "unexpected argument '1'", "titan version --help" },
	{ "ls -f", "no option -f", "titan ls --help" },
};

TEST words_behind_a_script_are_its_own(void)
{
	static const struct { const char *line; size_t args, plain_from; bool follow; } given[] = {
		{ "run -f ./x -f --no-such -- y", 5, SIZE_MAX, true }, { "run ./x -f", 2, SIZE_MAX, false },
		{ "run -- ls -f", 2, 0, false }, { "run -f -- ls -- -f", 3, 0, true }, { "run x.yaml -f", 1, SIZE_MAX, true },
		{ "run - -f", 1, SIZE_MAX, true }, { "run ./x.yml -f -- y", 2, 1, true }, { "run --", 0, 0, false },
		{ "show ./x -q", 1, SIZE_MAX, false },
	};

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		ASSERT_EQm(given[i].line, ERR_NONE, parse(given[i].line));
		ASSERT_EQm(given[i].line, given[i].args, invocation.arg_count);
		ASSERT_EQm(given[i].line, given[i].plain_from, invocation.plain_from);
		ASSERT_EQm(given[i].line, given[i].follow, option_given(&invocation, OPT_run_follow));
	}
	ASSERT_EQ(ERR_USAGE, parse("run x.yaml --no-such"));
	PASS();
}

TEST mistakes_are_named(void)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		enum err err = parse(refusals[i].line);

		if (err != ERR_USAGE || strstr(error.text, refusals[i].text) == NULL ||
		    strcmp(error.next, refusals[i].next) != 0) {
			printf("\n%s: %s: %s, next: %s\n", refusals[i].line, err_name(err), error.text, error.next);
			FAIL();
		}
		ASSERT_EQ(NULL, invocation.command);
	}
	/* --help is accepted without the required arguments */
	ASSERT_EQ(ERR_NONE, parse("show --help"));
	PASS();
}

TEST likeness_proposes_nothing_that_destroys(void)
{
	static const char *const lines[] = { "cancl", "prne", "restor", "rejct", "settl", "dwn", "drian" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ASSERT_EQ(ERR_USAGE, parse(lines[i]));
		for (int id = 1; id < COMMAND_COUNT; id++) {
			char proposed[64];

			snprintf(proposed, sizeof(proposed), "did you mean '%s'", command_table[id].verb);
			if (guess_destroys(command_table[id].verb) && strstr(error.text, proposed) != NULL)
				FAILm(error.text);
		}
	}
	PASS();
}

TEST each_command_has_two_examples(void)
{
	for (int id = 1; id < COMMAND_COUNT; id++) {
		const char *const *examples = command_table[id].examples;

		if (examples[0] == NULL || examples[1] == NULL)
			FAILm(command_table[id].verb);
		for (; *examples != NULL; examples++)
			ASSERT(strstr(*examples, command_table[id].verb) != NULL);
	}
	PASS();
}

/* Every word after "titan " in a hint must be a command; otherwise the hint leads nowhere. */
static bool names_commands(const char *text)
{
	for (const char *at = text; (at = strstr(at, "titan ")) != NULL;) {
		char verb[32];
		size_t len;

		at += strlen("titan ");
		len = strspn(at, "abcdefghijklmnopqrstuvwxyz");
		snprintf(verb, sizeof(verb), "%.*s", (int)len, at);
		if (len > 0 && strcmp(verb, "needs") != 0 && command_find(verb) == NULL) {
			printf("\n%s: %s isn't a command\n", text, verb);
			return false;
		}
	}
	return true;
}

TEST guesses_lead_to_commands(void)
{
#define GUESS(word, next, text) \
	if (command_find(word) != NULL) \
		FAILm(word " is a command"); \
	ASSERT(names_commands(next)); \
	ASSERT(names_commands(text));
#define SAME(word, verb)
#define DESTROYS(word)
#include "proto/guesses.def"
#undef GUESS
#undef SAME
#undef DESTROYS
	PASS();
}

TEST numbers_and_spans(void)
{
	uint64_t number = 5;
	int64_t span = 7;

	ASSERT_EQ(ERR_NONE, parse("run --retry 3 --job-timeout 2m"));
	ASSERT_EQ(ERR_NONE, option_number(&invocation, OPT_run_priority, 0, 100, &number, &error));
	ASSERT_EQ(5, number);
	ASSERT_EQ(ERR_NONE, option_number(&invocation, OPT_run_retry, 0, 100, &number, &error));
	ASSERT_EQ(3, number);
	ASSERT_EQ(ERR_USAGE, option_number(&invocation, OPT_run_retry, 4, 100, &number, &error));
	ASSERT(strstr(error.text, "--retry") != NULL);
	ASSERT_EQ(ERR_NONE, option_span(&invocation, OPT_run_job_timeout, &span, &error));
	ASSERT_EQ(120000, span);
	ASSERT_EQ(ERR_NONE, parse("run --retry -3 --job-timeout soon"));
	ASSERT_EQ(ERR_USAGE, option_number(&invocation, OPT_run_retry, 0, 100, &number, &error));
	ASSERT_EQ(ERR_USAGE, option_span(&invocation, OPT_run_job_timeout, &span, &error));
	ASSERT_EQ(3, number);
	ASSERT_EQ(120000, span);
	PASS();
}

TEST flags_come_before_the_environment(void)
{
	struct settings settings;
	struct intervals intervals;

	setenv("TITAN_CLUSTER", "env", 1);
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	ASSERT_EQ(ERR_NONE, parse("ls"));
	ASSERT_EQ(ERR_NONE, settings_read(&invocation, &settings, &error));
	ASSERT_STR_EQ("env", settings.cluster);
	ASSERT_EQ(STYLE_HUMAN, settings.style);
	ASSERT_EQ(COLOUR_AUTO, settings.colour);
	ASSERT_EQ(-1, settings.timeout_ms);
	ASSERT_EQ(ERR_NONE, parse("ls -C flag --json --timeout 0 -y"));
	ASSERT_EQ(ERR_NONE, settings_read(&invocation, &settings, &error));
	ASSERT_STR_EQ("flag", settings.cluster);
	ASSERT_EQ(STYLE_JSON, settings.style);
	ASSERT_EQ(0, settings.timeout_ms);
	ASSERT(settings.yes);
	setenv("NO_COLOR", "1", 1);
	ASSERT_EQ(ERR_NONE, settings_read(&invocation, &settings, &error));
	ASSERT_EQ(COLOUR_NEVER, settings.colour);
	ASSERT_EQ(ERR_NONE, parse("ls --color always"));
	ASSERT_EQ(ERR_NONE, settings_read(&invocation, &settings, &error));
	ASSERT_EQ(COLOUR_ALWAYS, settings.colour);
	ASSERT_EQ(ERR_NONE, parse("ls --color some"));
	ASSERT_EQ(ERR_USAGE, settings_read(&invocation, &settings, &error));
	ASSERT_EQ(ERR_NONE, parse("ls --json --plain"));
	ASSERT_EQ(ERR_USAGE, settings_read(&invocation, &settings, &error));

	setenv("TITAN_GRACE", "70s", 1);
	ASSERT_EQ(ERR_NONE, parse("master"));
	ASSERT_EQ(ERR_NONE, intervals_read(&invocation, &intervals, &error));
	ASSERT_EQ(70000, intervals.grace_ms);
	ASSERT_EQ(0, intervals.lease_ms);
	ASSERT_EQ(0, intervals.heartbeat_ms);
	ASSERT_EQ(ERR_NONE, parse("master --grace 30s"));
	ASSERT_EQ(ERR_NONE, intervals_read(&invocation, &intervals, &error));
	ASSERT_EQ(30000, intervals.grace_ms);
	unsetenv("TITAN_GRACE");
	PASS();
}

/* The configuration files of a cluster, a project and a user. */
static const struct conf_files *three_files(void)
{
	static struct conf_files files;

	files = (struct conf_files){ .count = 3 };
	files.files[0].conf.values[CONF_grace] = "90s";
	files.files[1].conf.values[CONF_cluster] = "project";
	files.files[2].conf.values[CONF_cluster] = "user";
	files.files[2].conf.values[CONF_color] = "always";
	files.files[2].conf.values[CONF_timeout] = "2s";
	files.files[2].conf.values[CONF_slots] = "3";
	files.files[2].conf.values[CONF_grace] = "80s";
	files.files[2].conf.values[CONF_lease] = "30s";
	return &files;
}

TEST the_environment_comes_before_files(void)
{
	struct settings settings;
	struct intervals intervals;
	uint64_t slots = 0;

	unsetenv("TITAN_CLUSTER");
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	ASSERT_EQ(ERR_NONE, parse("worker"));
	invocation.conf = three_files();
	ASSERT_EQ(ERR_NONE, settings_read(&invocation, &settings, &error));
	ASSERT_STR_EQ("project", settings.cluster);
	ASSERT_EQ(COLOUR_ALWAYS, settings.colour);
	ASSERT_EQ(2000, settings.timeout_ms);
	ASSERT_EQ(ERR_NONE, setting_number_value(&invocation, OPT_worker_slots, CONF_slots, 1, 9, &slots, &error));
	ASSERT_EQ(3, slots);
	ASSERT_EQ(ERR_NONE, intervals_read(&invocation, &intervals, &error));
	ASSERT_EQ(90000, intervals.grace_ms);
	ASSERT_EQ(30000, intervals.lease_ms);

	setenv("TITAN_CLUSTER", "env", 1);
	setenv("NO_COLOR", "1", 1);
	setenv("TITAN_GRACE", "70s", 1);
	ASSERT_EQ(ERR_NONE, settings_read(&invocation, &settings, &error));
	ASSERT_STR_EQ("env", settings.cluster);
	ASSERT_EQ(COLOUR_NEVER, settings.colour);
	ASSERT_EQ(ERR_NONE, intervals_read(&invocation, &intervals, &error));
	ASSERT_EQ(70000, intervals.grace_ms);

	ASSERT_EQ(ERR_NONE, parse("worker -C flag --color auto --timeout 9s --slots 5"));
	invocation.conf = three_files();
	ASSERT_EQ(ERR_NONE, settings_read(&invocation, &settings, &error));
	ASSERT_STR_EQ("flag", settings.cluster);
	ASSERT_EQ(COLOUR_AUTO, settings.colour);
	ASSERT_EQ(9000, settings.timeout_ms);
	ASSERT_EQ(ERR_NONE, setting_number_value(&invocation, OPT_worker_slots, CONF_slots, 1, 9, &slots, &error));
	ASSERT_EQ(5, slots);
	unsetenv("TITAN_CLUSTER");
	unsetenv("TITAN_GRACE");
	unsetenv("NO_COLOR");
	PASS();
}

TEST an_empty_cluster_is_the_default_one(void)
{
	struct settings settings;

	setenv("TITAN_CLUSTER", "", 1);
	ASSERT_EQ(ERR_NONE, parse("ls"));
	invocation.conf = three_files();
	ASSERT_EQ(ERR_NONE, settings_read(&invocation, &settings, &error));
	ASSERT_STR_EQ("project", settings.cluster);
	ASSERT_EQ(ERR_NONE, parse("ls --cluster="));
	invocation.conf = three_files();
	ASSERT_EQ(ERR_NONE, settings_read(&invocation, &settings, &error));
	ASSERT_EQ(NULL, settings.cluster);
	unsetenv("TITAN_CLUSTER");
	PASS();
}

TEST a_job_keeps_its_cluster_in_any_project(void)
{
	struct settings settings;

	unsetenv("TITAN_CLUSTER");
	unsetenv("TITAN_STATE");
	setenv("TITAN_SOCKET", "/s", 1);
	setenv("TITAN_TOKEN", "t", 1);
	ASSERT_EQ(ERR_NONE, parse("ls"));
	invocation.conf = three_files();
	ASSERT_EQ(ERR_NONE, settings_read(&invocation, &settings, &error));
	ASSERT_EQ(NULL, settings.cluster);
	ASSERT_STR_EQ("/s", settings.socket);
	unsetenv("TITAN_SOCKET");
	unsetenv("TITAN_TOKEN");
	PASS();
}

/* Checks between intervals: heartbeats must renew the lease in time, and the grace must outlast the lease. */
TEST intervals_go_together(void)
{
	struct intervals intervals;

	ASSERT_EQ(ERR_NONE, parse("master --lease 2s"));
	ASSERT_EQ(ERR_NONE, intervals_read(&invocation, &intervals, &error));
	ASSERT_EQ(500, intervals.heartbeat_ms);
	ASSERT_EQ(ERR_NONE, parse("master --lease 2s --heartbeat 1s --grace 3s"));
	ASSERT_EQ(ERR_NONE, intervals_read(&invocation, &intervals, &error));
	ASSERT_EQ(1000, intervals.heartbeat_ms);
	ASSERT_EQ(ERR_NONE, parse("master --lease 2s --heartbeat 2s"));
	ASSERT_EQ(ERR_USAGE, intervals_read(&invocation, &intervals, &error));
	ASSERT_EQ(ERR_NONE, parse("master --lease 2s --grace 2s"));
	ASSERT_EQ(ERR_USAGE, intervals_read(&invocation, &intervals, &error));
	ASSERT_EQ(ERR_NONE, parse("master --grace 20s"));
	ASSERT_EQ(ERR_USAGE, intervals_read(&invocation, &intervals, &error));
	PASS();
}

TEST last_of_an_option_counts(void)
{
	uint64_t number = 0;

	ASSERT_EQ(ERR_NONE, parse("run -e a --retry 3 --name x --retry 5"));
	ASSERT_STR_EQ("5", option_value(&invocation, OPT_run_retry));
	ASSERT_EQ(ERR_NONE, option_number(&invocation, OPT_run_retry, 0, 5, &number, &error));
	ASSERT_EQ(5, number);
	ASSERT_EQ(ERR_USAGE, option_number(&invocation, OPT_run_retry, 0, 4, &number, &error));
	ASSERT_EQ(ERR_USAGE, option_number(&invocation, OPT_run_retry, 6, 9, &number, &error));
	PASS();
}

TEST number_is_digits_within_its_bounds(void)
{
	static const char *const wrong[] = { "", "x", "1x", " 1", "1 ", "+1", "-1", "1.0", "0x1", "18446744073709551616", "-" };
	uint64_t number = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ASSERT_EQm(wrong[i], ERR_USAGE, parse_number(wrong[i], "N", 0, UINT64_MAX, &number, &error));
	ASSERT_EQ(7, number);
	ASSERT_EQ(ERR_NONE, parse_number("18446744073709551615", "N", 0, UINT64_MAX, &number, &error));
	ASSERT_EQ(UINT64_MAX, number);
	ASSERT_EQ(ERR_USAGE, parse_number("101", "the priority", 0, 100, &number, &error));
	ASSERT_STR_EQ("the priority: 101 must be between 0 and 100", error.text);
	PASS();
}

TEST choice_is_the_place_of_its_word(void)
{
	uint64_t choice = 9;

	ASSERT_EQ(ERR_NONE, parse("worker"));
	ASSERT_EQ(ERR_NONE, option_choice(&invocation, OPT_worker_containment, &choice, &error));
	ASSERT_EQ(9, choice);
	ASSERT_EQ(ERR_NONE, parse("worker --containment auto"));
	ASSERT_EQ(ERR_NONE, option_choice(&invocation, OPT_worker_containment, &choice, &error));
	ASSERT_EQ(0, choice);
	ASSERT_EQ(ERR_NONE, parse("worker --containment subreaper"));
	ASSERT_EQ(ERR_NONE, option_choice(&invocation, OPT_worker_containment, &choice, &error));
	ASSERT_EQ(3, choice);
	for (const char *const *wrong = (const char *const[]){ "worker --containment au", "worker --containment autos",
							       "worker --containment auto|cgroup", "worker --containment=", NULL };
	     *wrong; wrong++) {
		ASSERT_EQ(ERR_NONE, parse(*wrong));
		ASSERT_EQm(*wrong, ERR_USAGE, option_choice(&invocation, OPT_worker_containment, &choice, &error));
	}
	PASS();
}

TEST setting_names_where_it_is_said(void)
{
	char what[SETTING_NAME_SIZE];

	unsetenv("TITAN_GRACE");
	ASSERT_EQ(ERR_NONE, parse("master"));
	ASSERT_EQ(NULL, setting_value(&invocation, OPT_master_grace, CONF_grace, what));
	invocation.conf = three_files();
	ASSERT_STR_EQ("90s", setting_value(&invocation, OPT_master_grace, CONF_grace, what));
	ASSERT_STR_EQ("grace in titan.conf", what);
	setenv("TITAN_GRACE", "", 1);
	ASSERT_STR_EQ("90s", setting_value(&invocation, OPT_master_grace, CONF_grace, what));
	setenv("TITAN_GRACE", "70s", 1);
	ASSERT_STR_EQ("70s", setting_value(&invocation, OPT_master_grace, CONF_grace, what));
	ASSERT_STR_EQ("TITAN_GRACE", what);
	ASSERT_EQ(ERR_NONE, parse("master --grace 60s"));
	ASSERT_STR_EQ("60s", setting_value(&invocation, OPT_master_grace, CONF_grace, what));
	ASSERT_STR_EQ("--grace", what);
	unsetenv("TITAN_GRACE");
	PASS();
}

/* In a prune rule 0 means "no rule", so the protocol sends the configured value plus one. */
TEST rules_of_pruning_are_none_unless_said(void)
{
	struct prune_rules rules;

	ASSERT_EQ(ERR_NONE, parse("master"));
	ASSERT_EQ(ERR_NONE, prune_rules_read(&invocation, &rules, &error));
	ASSERT(rules.keep == 0 && rules.older_ms == 0 && rules.log_bytes == 0 && rules.history_ms == 0);
	ASSERT_EQ(60000, rules.every_ms);
	ASSERT_EQ(ERR_NONE, parse("master --keep-runs 0 --keep-for 0 --keep-logs 0 --keep-history 0 --prune-every 1ms"));
	ASSERT_EQ(ERR_NONE, prune_rules_read(&invocation, &rules, &error));
	ASSERT(rules.keep == 1 && rules.older_ms == 1 && rules.log_bytes == 1 && rules.history_ms == 1);
	ASSERT_EQ(100, rules.every_ms);
	ASSERT_EQ(ERR_NONE, parse("master --keep-runs 100 --keep-for 30d --keep-logs 20G --keep-history 2h --prune-every 5m"));
	ASSERT_EQ(ERR_NONE, prune_rules_read(&invocation, &rules, &error));
	ASSERT_EQ(101, rules.keep);
	ASSERT_EQ(UINT64_C(30) * 86400000 + 1, rules.older_ms);
	ASSERT_EQ((UINT64_C(20) << 30) + 1, rules.log_bytes);
	ASSERT_EQ(7200001, rules.history_ms);
	ASSERT_EQ(300000, rules.every_ms);
	ASSERT_EQ(ERR_NONE, parse("master --keep-logs many"));
	ASSERT_EQ(ERR_USAGE, prune_rules_read(&invocation, &rules, &error));
	ASSERT(strstr(error.text, "--keep-logs: ") == error.text);
	PASS();
}

/* No command may use an option letter twice, or a letter of a global option. */
TEST the_table_is_unambiguous(void)
{
	for (int id = 1; id < COMMAND_COUNT; id++) {
		const struct command_info *command = &command_table[id];

		ASSERT_EQ((int)command->id, id);
		ASSERT(command->help[0] != '\0' && islower((unsigned char)command->help[0]));
		ASSERT(command->least <= command->most || command->most < 0);
		for (const struct option_info *a = command->options; a->id != OPT_none; a++) {
			for (const struct option_info *b = command->options; b != a; b++) {
				ASSERT(a->letter == 0 || a->letter != b->letter);
				ASSERT(strcmp(a->word, b->word) != 0);
			}
			for (const struct option_info *b = global_options; b->id != OPT_none; b++) {
				ASSERT(a->letter == 0 || a->letter != b->letter);
				ASSERT(strcmp(a->word, b->word) != 0);
			}
		}
	}
	PASS();
}

SUITE(cli_options)
{
	RUN_TEST(options_stand_anywhere);
	RUN_TEST(words_behind_a_script_are_its_own);
	RUN_TEST(mistakes_are_named);
	RUN_TEST(likeness_proposes_nothing_that_destroys);
	RUN_TEST(guesses_lead_to_commands);
	RUN_TEST(each_command_has_two_examples);
	RUN_TEST(numbers_and_spans);
	RUN_TEST(flags_come_before_the_environment);
	RUN_TEST(the_environment_comes_before_files);
	RUN_TEST(an_empty_cluster_is_the_default_one);
	RUN_TEST(a_job_keeps_its_cluster_in_any_project);
	RUN_TEST(intervals_go_together);
	RUN_TEST(last_of_an_option_counts);
	RUN_TEST(number_is_digits_within_its_bounds);
	RUN_TEST(choice_is_the_place_of_its_word);
	RUN_TEST(setting_names_where_it_is_said);
	RUN_TEST(rules_of_pruning_are_none_unless_said);
	RUN_TEST(the_table_is_unambiguous);
	arena_free(&arena);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_options);
	GREATEST_MAIN_END();
}
