/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What pools provide and jobs require; topics of jobs and the pools to which they are mapped. */
#include "tests/unit/core_place.h"
#include "tests/unit/core_why.h"

#include "base/text.h"

static void map(struct rig *rig, const char *pattern, const char *pool)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TOPIC, .verb = pool ? SET_PUT : SET_REMOVE, .name = slice_str(pattern),
				       .text = slice_str(pool ? pool : "") });
}

static void provide(struct rig *rig, const char *pool, const char *capabilities)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_POOL, .verb = SET_PUT, .name = slice_str(pool), .flag = true,
				       .words = words(rig, capabilities) });
}

static uint64_t submit(struct rig *rig, const char *topic, const char *requires)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");

	job->topic = slice_str(topic);
	job->requires = words(rig, requires);
	return rig_submit(rig, &graph);
}

static const struct { const char *pattern, *text; bool matches; } globs[] = {
	{ "", "", true }, { "*", "", true }, { "?", "", false }, { "a", "a", true }, { "a", "ab", false }, { "a*", "a", true },
	{ "a*c", "abbc", true }, { "a*c", "abcb", false }, { "*a*a*", "xaya", true }, { "*a*a*", "xay", false }, { "a?c", "abc", true },
	{ "a?c", "ac", false }, { "**", "x", true }, { "*.mix", "film.cut.mix", true }, { "f*t?", "film.cuts", true }, { "f*t?", "film.cut", false },
};

TEST patterns_match_whole_texts(void)
{
	for (size_t i = 0; i < sizeof(globs) / sizeof(globs[0]); i++)
		ASSERT_EQm(globs[i].pattern, globs[i].matches, text_glob(slice_str(globs[i].pattern), slice_str(globs[i].text)));
	PASS();
}

/* Many stars and a long text that doesn't match take no exponential time. */
TEST hostile_pattern_is_quick(void)
{
	char text[129] = "", pattern[129];

	memset(text, 'a', sizeof(text) - 1);
	for (size_t i = 0; i + 1 < sizeof(pattern); i += 2)
		memcpy(pattern + i, "*a", 2);
	memcpy(pattern + 126, "*b", 3);
	ASSERT(!text_glob(slice_str(pattern), slice_str(text)));
	PASS();
}

TEST job_waits_until_its_topic_is_mapped(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	join(rig, "g", 1, "", "", "gpu");
	join(rig, "c", 1, "", "", "cpu");
	run = submit(rig, "film.cut", "");
	ASSERT_STR_EQ("no_pool_mapping: the topic film.cut is mapped to no pool; to map it: titan topic set film.cut POOL", why(rig, run, "a"));
	map(rig, "film.mix", "gpu");
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	map(rig, "film.*", "cpu");
	ASSERT_STR_EQ("c", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST topic_itself_counts_before_the_longest_pattern(void)
{
	struct rig *rig = rig_new();

	for (int i = 0; i < 4; i++)
		join(rig, ((const char *[]){ "a", "b", "c", "d" })[i], 9, "", "", ((const char *[]){ "pa", "pb", "pc", "pd" })[i]);
	map(rig, "*", "pa");
	ASSERT_STR_EQ("a", holder(rig, submit(rig, "film.cut", ""), "a"));
	map(rig, "fil*", "pb");
	ASSERT_STR_EQ("b", holder(rig, submit(rig, "film.cut", ""), "a"));
	map(rig, "film.cut", "pc");
	map(rig, "f*i*l*m*.*c*u*t*", "pd");
	ASSERT_STR_EQ("c", holder(rig, submit(rig, "film.cut", ""), "a"));
	map(rig, "film.cut", NULL);
	ASSERT_STR_EQ("d", holder(rig, submit(rig, "film.cut", ""), "a"));
	rig_restart(rig);
	join(rig, "b", 9, "", "", "pb");
	map(rig, "f*i*l*m*.*c*u*t*", NULL);
	ASSERT_STR_EQ("b", holder(rig, submit(rig, "film.cut", ""), "a"));
	rig_free(rig);
	PASS();
}

/* A job that was sent ahead of a free slot, and hasn't started, comes back and goes to the other pool. */
TEST change_of_a_mapping_takes_back_what_has_not_started(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	join(rig, "g", 1, "", "", "gpu");
	join(rig, "c", 1, "", "", "cpu");
	map(rig, "film", "gpu");
	run = submit(rig, "film", "");
	ASSERT_STR_EQ("g", holder(rig, run, "a"));
	map(rig, "film", "cpu");
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

TEST job_runs_where_all_that_it_requires_is_provided(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	join(rig, "g", 1, "", "", "gpu");
	join(rig, "c", 1, "", "", "cpu");
	run = submit(rig, "", "render cuda");
	provide(rig, "gpu", "cuda");
	ASSERT_STR_EQ("no_pool_provides: no pool with a suitable connected worker provides cuda, render; pool gpu comes nearest; to let it "
		      "provide the rest: titan pool set gpu --provide cuda,render", why(rig, run, "a"));
	provide(rig, "cpu", "render");
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	provide(rig, "gpu", "tpu render cuda");
	ASSERT_STR_EQ("g", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST pool_keeps_what_it_provides_over_a_restart_until_it_is_removed(void)
{
	struct rig *rig = rig_new();
	struct rec_pool_row row;

	provide(rig, "gpu", "b a b");
	rig_set(rig, (struct msg_set){ .kind = OBJECT_POOL, .verb = SET_DRAIN, .name = slice_str("gpu") });
	rig_restart(rig);
	ASSERT(view_pool(rig->core, 0, &row) && slice_eq(row.name, slice_str("gpu")));
	ASSERT(row.provides.n == 2 && slice_eq(row.provides.at[0], slice_str("a")) && row.state == POOL_DRAINING);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_POOL, .verb = SET_PUT, .name = slice_str("gpu"), .number = POOL_ACTIVE + 1 });
	ASSERT(view_pool(rig->core, 0, &row) && row.provides.n == 2 && row.state == POOL_ACTIVE);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_POOL, .verb = SET_REMOVE, .name = slice_str("gpu") });
	rig_restart(rig);
	ASSERT(!view_pool(rig->core, 0, &row));
	rig_free(rig);
	PASS();
}

TEST bad_names_are_refused(void)
{
	struct rig *rig = rig_new();

	map(rig, "a b", "gpu");
	ASSERT(rig_error_says(rig, ERR_INVALID, "a topic, or a pattern of topics, may have letters, digits, _ . - * ?"));
	map(rig, "a", "g*");
	ASSERT(rig_error_says(rig, ERR_INVALID, "the name of a pool may have"));
	map(rig, "nothing", NULL);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "there is no mapping 'nothing'"));
	provide(rig, "gpu", "a/b");
	ASSERT(rig_error_says(rig, ERR_INVALID, "a capability may have letters, digits"));
	provide(rig, "gpu", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17");
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "a pool may provide at most 16 capabilities"));
	submit(rig, "a*", "");
	ASSERT(rig_error_says(rig, ERR_INVALID, "topic: a topic may only have letters"));
	submit(rig, "", "a/b");
	ASSERT(rig_error_says(rig, ERR_INVALID, "requires: a capability may only have letters"));
	rig_free(rig);
	PASS();
}

SUITE(core_topic)
{
	RUN_TEST(patterns_match_whole_texts);
	RUN_TEST(hostile_pattern_is_quick);
	RUN_TEST(job_waits_until_its_topic_is_mapped);
	RUN_TEST(topic_itself_counts_before_the_longest_pattern);
	RUN_TEST(change_of_a_mapping_takes_back_what_has_not_started);
	RUN_TEST(job_runs_where_all_that_it_requires_is_provided);
	RUN_TEST(pool_keeps_what_it_provides_over_a_restart_until_it_is_removed);
	RUN_TEST(bad_names_are_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_topic);
	GREATEST_MAIN_END();
}
