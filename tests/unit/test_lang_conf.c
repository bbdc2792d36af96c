/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan.conf: which settings each file may have, their forms, and the places that errors point at. */
#include "lang/conf.h"

#include <inttypes.h>
#include <stdio.h>

#include "greatest.h"
#include "proto/limits.h"

static struct arena arena;
static struct conf conf;
static struct dag_spot spot;
static struct error error;

static enum err parse(const char *text, enum conf_place place)
{
	arena_free(&arena);
	error = (struct error){ 0 };
	conf = (struct conf){ 0 };
	return conf_parse(slice_str(text), place, &arena, &conf, &spot, &error);
}

TEST values_are_the_texts_of_options(void)
{
	ASSERT_EQ(ERR_NONE, parse("# ours\ncluster: lab\ncolor: 'never'\ntimeout: 5m\nslots: 4\nlabels: [gpu, big]\npool: night\n"
				  "heartbeat: 1s\nlease: 4s\ngrace: 1m\nkeep_runs: 0\nkeep_for: 90d\nkeep_logs: 20G\n"
				  "keep_history: 0\nprune_every: 2m\n", FROM_USER));
	ASSERT_STR_EQ("lab", conf.values[CONF_cluster]);
	ASSERT_STR_EQ("never", conf.values[CONF_color]);
	ASSERT_STR_EQ("5m", conf.values[CONF_timeout]);
	ASSERT_STR_EQ("4", conf.values[CONF_slots]);
	ASSERT_STR_EQ("gpu,big", conf.values[CONF_labels]);
	ASSERT_STR_EQ("20G", conf.values[CONF_keep_logs]);
	ASSERT_STR_EQ("0", conf.values[CONF_keep_history]);
	ASSERT_EQ(NULL, conf.values[CONF_listen]);
	ASSERT_EQ(ERR_NONE, parse("labels: gpu", FROM_SYSTEM));
	ASSERT_STR_EQ("gpu", conf.values[CONF_labels]);
	ASSERT_EQ(ERR_NONE, parse("labels: []", FROM_CLUSTER));
	ASSERT_STR_EQ("", conf.values[CONF_labels]);
	PASS();
}

TEST teams_have_members(void)
{
	ASSERT_EQ(ERR_NONE, parse("teams:\n  release: [anna, bert]\n  qa: cid\n  none: []\n", FROM_CLUSTER));
	ASSERT_STR_EQ("release: anna, bert; qa: cid; none: nobody", conf.values[CONF_teams]);
	ASSERT_EQ(3, conf.team_count);
	ASSERT(slice_eq(conf.teams[0].name, slice_str("release")) && conf.teams[0].members.n == 2);
	ASSERT(slice_eq(conf.teams[0].members.at[1], slice_str("bert")));
	ASSERT(conf.teams[1].members.n == 1 && conf.teams[2].members.n == 0);
	ASSERT_EQ(ERR_NONE, parse("teams: {}\n", FROM_SYSTEM));
	ASSERT_EQ(0, conf.team_count);
	PASS();
}

TEST clusters_are_shared(void)
{
	ASSERT_EQ(ERR_NONE, parse("share:\n  socket: /run/titan/lab.sock\n  group: ops\n  users: {anna: [approver, viewer], 1002: submitter}\n",
				  FROM_CLUSTER));
	ASSERT_STR_EQ("/run/titan/lab.sock, group ops; anna: viewer, approver; 1002: submitter", conf.values[CONF_share]);
	ASSERT(slice_eq(conf.share.socket, slice_str("/run/titan/lab.sock")) && slice_eq(conf.share.group, slice_str("ops")));
	ASSERT_EQ(2, conf.share.user_count);
	ASSERT(slice_eq(conf.share.users[1].name, slice_str("1002")) && conf.share.users[1].roles == ROLE_BIT(SUBMITTER));
	ASSERT_EQ(ERR_NONE, parse("share: {}\n", FROM_USER));
	ASSERT_EQ(0, conf.share.socket.len);
	PASS();
}

TEST numbers_have_both_their_ends(void)
{
	char text[64];

	ASSERT_EQ(ERR_INVALID, parse("slots: 0", FROM_USER));
	ASSERT_EQ(ERR_NONE, parse("slots: 1", FROM_USER));
	snprintf(text, sizeof(text), "slots: %d", LIMIT_SLOTS_MAX);
	ASSERT_EQ(ERR_NONE, parse(text, FROM_USER));
	snprintf(text, sizeof(text), "slots: %d", LIMIT_SLOTS_MAX + 1);
	ASSERT_EQ(ERR_INVALID, parse(text, FROM_USER));
	PASS();
}

TEST an_empty_file_says_nothing(void)
{
	static const char *const empty[] = { "", "\n\n", "# nothing\n", "---\n", "{}" };

	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		ASSERT_EQ_FMT(ERR_NONE, parse(empty[i], FROM_PROJECT), "%d");
		for (size_t key = 0; key < CONF_COUNT; key++)
			ASSERT_EQ(NULL, conf.values[key]);
	}
	PASS();
}

static const struct refused {
	const char *text;
	enum conf_place place;
	size_t line, column;
	enum err code;
	const char *says, *next;
} refusals[] = {
	{ "color: never\nlsiten: x\n", FROM_USER, 2, 1, ERR_UNKNOWN_NAME, "unknown key 'lsiten'", "" },
	{ "colour: never\n", FROM_USER, 1, 1, ERR_UNKNOWN_NAME, "unknown key 'colour'", "did you mean 'color'?" },
	{ "keep-runs: 5\n", FROM_USER, 1, 1, ERR_UNKNOWN_NAME, "unknown key 'keep-runs'", "did you mean 'keep_runs'?" },
	{ "keep_run: 5\n", FROM_PROJECT, 1, 1, ERR_UNKNOWN_NAME, "known here: cluster, color, timeout", "" },
	{ "\nlisten: 0.0.0.0:80\n", FROM_PROJECT, 2, 1, ERR_DENIED, "key 'listen' isn't allowed in a project's titan.conf",
	  "it is allowed in a cluster's, a user's and the system's" },
	{ "{color: never, share: all}", FROM_PROJECT, 1, 16, ERR_DENIED, "key 'share' isn't allowed in a project's", "" },
	{ "state: /elsewhere\n", FROM_PROJECT, 1, 1, ERR_DENIED, "key 'state' isn't allowed in a project's", "a user's and the system's" },
	{ "keep_runs: 0\n", FROM_PROJECT, 1, 1, ERR_DENIED, "key 'keep_runs' isn't allowed in a project's", "" },
	{ "cluster: x\n", FROM_CLUSTER, 1, 1, ERR_DENIED, "key 'cluster' isn't allowed in a cluster's titan.conf", "" },
	{ "listen: [a:1, 'b c']\n", FROM_USER, 1, 15, ERR_INVALID, "key listen must be one address or a list of addresses such as 10.0.0.1:7484", "" },
	{ "share: x\n", FROM_USER, 1, 8, ERR_INVALID, "key share must have socket, group and users", "" },
	{ "share: {socket: /run/x.sock, group: ops}\n", FROM_USER, 1, 8, ERR_INVALID, "key share must have socket, group and users", "" },
	{ "share: {sock: /run/x.sock}\n", FROM_USER, 1, 9, ERR_UNKNOWN_NAME, "unknown key 'sock'; share has socket, group and users", "" },
	{ "share: {socket: x.sock}\n", FROM_USER, 1, 17, ERR_INVALID, "socket must be a path from the root", "" },
	{ "share: {group: 'a b'}\n", FROM_USER, 1, 16, ERR_INVALID, "group must be the name or number of a group", "" },
	{ "share: {users: [anna]}\n", FROM_USER, 1, 16, ERR_INVALID, "users must be a map from users to roles", "" },
	{ "share: {users: {anna: [boss]}}\n", FROM_USER, 1, 24, ERR_INVALID, "a user has roles: admin, operator, submitter, approver or viewer", "" },
	{ "share: {users: {anna: worker}}\n", FROM_USER, 1, 23, ERR_INVALID, "a user has roles", "" },
	{ "share: {users: {anna: []}}\n", FROM_USER, 1, 23, ERR_INVALID, "anna has no role", "" },
	{ "share: {users: {'a;b': viewer}}\n", FROM_USER, 1, 17, ERR_INVALID, "a user must be a name", "" },
	{ "teams: {a: [b]}\n", FROM_PROJECT, 1, 1, ERR_DENIED, "key 'teams' isn't allowed in a project's titan.conf", "" },
	{ "teams: [a]\n", FROM_USER, 1, 8, ERR_INVALID, "key teams must be a map of teams, such as teams: {release: [anna, bert]}", "" },
	{ "teams: {a: [b, @a]}\n", FROM_USER, 1, 16, ERR_INVALID, "a team has people as members, not teams; name the members of @a here", "" },
	{ "teams: {a: [b, '\033[2Jx']}\n", FROM_USER, 1, 17, ERR_SYNTAX, "control characters are not allowed", "" },
	{ "teams: {a: [b, 'x y']}\n", FROM_USER, 1, 16, ERR_INVALID, "a member of a team must be a name", "" },
	{ "teams: {a: [b, [c]]}\n", FROM_USER, 1, 16, ERR_INVALID, "a member of a team must be a name", "" },
	{ "teams: {a: [b, c, b]}\n", FROM_USER, 1, 19, ERR_DUPLICATE, "'b' is named twice", "" },
	{ "teams: {'@a': [b]}\n", FROM_USER, 1, 9, ERR_INVALID, "the name of a team may have letters, digits and _ . - and has no @ here", "" },
	{ "teams: {a: [b], a: [c]}\n", FROM_USER, 1, 17, ERR_DUPLICATE, "key 'a' is given twice", "" },
	{ "color: blue\n", FROM_USER, 1, 8, ERR_INVALID, "key color must be one of auto|always|never, not 'blue'", "" },
	{ "color:\n", FROM_USER, 1, 7, ERR_INVALID, "has no value; it must be", "" },
	{ "color: [never]\n", FROM_USER, 1, 8, ERR_INVALID, "not a list", "" },
	{ "cluster: a b\n", FROM_USER, 1, 10, ERR_INVALID, "key cluster must be a name of letters, digits and _ . -, not 'a b'", "" },
	{ "slots: 0\n", FROM_USER, 1, 8, ERR_INVALID, "key slots must be a number from 1 to 65536, not '0'", "" },
	{ "slots: -1\n", FROM_USER, 1, 8, ERR_INVALID, "not '-1'", "" },
	{ "labels: [a, 'b,c']\n", FROM_USER, 1, 13, ERR_INVALID, "key labels must be one label or a list of labels, KEY or KEY=VALUE, not 'b,c'", "" },
	{ "labels: [a, []]\n", FROM_USER, 1, 13, ERR_INVALID, "not a list", "" },
	{ "timeout: 0\n", FROM_USER, 1, 10, ERR_INVALID, "a time span above 0", "" },
	{ "keep_for: soon\n", FROM_USER, 1, 11, ERR_INVALID, "key keep_for must be a time span such as 500ms, 30s, 5m, 2h or 1d, not 'soon'", "" },
	{ "keep_logs: much\n", FROM_USER, 1, 12, ERR_INVALID, "a number of bytes such as 500M or 20G", "" },
	{ "color: never\ncolor: auto\n", FROM_USER, 2, 1, ERR_DUPLICATE, "key 'color' is given twice", "" },
	{ "- color\n", FROM_USER, 1, 1, ERR_INVALID, "titan.conf must have one setting on each line, such as color: never", "" },
	{ "color: never\n---\ncolor: auto\n", FROM_USER, 2, 1, ERR_INVALID, "a second document", "" },
	{ "color: *x\n", FROM_USER, 1, 8, ERR_INVALID, "aliases", "" },
	{ "color: {\n", FROM_USER, 2, 1, ERR_SYNTAX, "this isn't valid YAML: while parsing a flow node: did not find expected node content", "" },
};

TEST errors_have_their_place(void)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refused *row = &refusals[i];
		enum err err = parse(row->text, row->place);
		uint64_t line, column;

		dagline_place(slice_str(row->text), &spot, &line, &column);
		if (err != row->code || line != row->line || column != row->column || strstr(error.text, row->says) == NULL ||
		    strstr(error.next, row->next) == NULL) {
			printf("\n%s%" PRIu64 ":%" PRIu64 ": %s: %s; %s\n", row->text, line, column, err_name(err), error.text, error.next);
			FAIL();
		}
	}
	PASS();
}

TEST a_large_file_is_refused(void)
{
	static char text[CONF_MAX + 2];

	memset(text, '#', sizeof(text) - 1);
	ASSERT_EQ(ERR_TOO_LARGE, parse(text, FROM_USER));
	text[CONF_MAX] = '\0';
	ASSERT_EQ(ERR_NONE, parse(text, FROM_USER));
	PASS();
}

/*
 * Every key says whether a project's file may set it, so that a new key can't let a project change somebody's machine.
 */
TEST a_project_says_nothing_about_the_machine(void)
{
	for (size_t key = 0; key < CONF_COUNT; key++) {
		const struct conf_info *info = &conf_table[key];

		ASSERT(info->places != 0 && info->text[0] != '\0');
		ASSERT_FALSE((info->places & FROM_PROJECT) && (info->places & FROM_CLUSTER));
		for (size_t other = 0; other < key; other++)
			ASSERT(strcmp(info->word, conf_table[other].word) != 0);
	}
	ASSERT_FALSE(conf_table[CONF_listen].places & FROM_PROJECT);
	ASSERT_FALSE(conf_table[CONF_share].places & FROM_PROJECT);
	ASSERT_FALSE(conf_table[CONF_state].places & FROM_PROJECT);
	PASS();
}

TEST the_first_file_counts(void)
{
	struct conf_files files = { .count = 2 };

	files.files[0].conf.values[CONF_labels] = "";
	files.files[1].conf.values[CONF_labels] = "gpu";
	files.files[1].conf.values[CONF_pool] = "night";
	ASSERT_STR_EQ("", conf_value(&files, CONF_labels));
	ASSERT_STR_EQ("night", conf_value(&files, CONF_pool));
	ASSERT_EQ(NULL, conf_value(&files, CONF_slots));
	ASSERT_EQ(NULL, conf_value(NULL, CONF_slots));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(values_are_the_texts_of_options);
	RUN_TEST(teams_have_members);
	RUN_TEST(clusters_are_shared);
	RUN_TEST(numbers_have_both_their_ends);
	RUN_TEST(an_empty_file_says_nothing);
	RUN_TEST(errors_have_their_place);
	RUN_TEST(a_large_file_is_refused);
	RUN_TEST(a_project_says_nothing_about_the_machine);
	RUN_TEST(the_first_file_counts);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
