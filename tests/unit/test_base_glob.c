/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patterns of paths: what they match, and which directories need to be read for them. */
#include "base/glob.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static bool fits(const char *pattern)
{
	return glob_fits(slice_str(pattern));
}

static bool matches(const char *pattern, const char *path)
{
	return glob_matches(slice_str(pattern), slice_str(path));
}

static bool reaches(const char *pattern, const char *dir)
{
	return glob_reaches(slice_str(pattern), slice_str(dir));
}

TEST patterns_are_relative_and_stay_below(void)
{
	static const char *const good[] = { "a", "*", "**", "a/", "a/**/b", ".hidden", "a.b/..c", "[ab]/?", "...", "a\\*" };
	static const char *const bad[] = { "", "/", "/a", "..", ".", "a/..", "../a", "a/./b", "a//b", "a//", "//" };
	char text[GLOB_MAX + 2];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ASSERTm(good[i], fits(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ASSERT_FALSEm(bad[i], fits(bad[i]));
	ASSERT_FALSE(glob_fits(slice_make("a\0b", 3)));
	memset(text, 'a', sizeof(text));
	ASSERT(glob_fits(slice_make(text, GLOB_MAX)));
	ASSERT_FALSE(glob_fits(slice_make(text, GLOB_MAX + 1)));
	PASS();
}

TEST parts_are_matched_one_by_one(void)
{
	ASSERT(matches("a", "a"));
	ASSERT_FALSE(matches("a", "b"));
	ASSERT_FALSE(matches("a", "ab"));
	ASSERT(matches("*.c", "x.c"));
	ASSERT_FALSE(matches("*.c", "x/y.c"));
	ASSERT(matches("*/y.c", "x/y.c"));
	ASSERT(matches("?[0-9]", "a7"));
	ASSERTm("hidden files are nothing special", matches("*", ".hidden"));
	ASSERT(matches("\\*", "*"));
	ASSERT_FALSE(matches("\\*", "a"));
	PASS();
}

TEST a_directory_stands_for_what_is_in_it(void)
{
	ASSERT(matches("dist", "dist/a/b"));
	ASSERT(matches("dist/", "dist/a"));
	ASSERT(matches("*/lib", "x/lib/y"));
	ASSERT_FALSE(matches("dist/a", "dist"));
	ASSERT_FALSE(matches("dist/a", "dist/b/a"));
	PASS();
}

TEST two_stars_are_any_directories(void)
{
	ASSERT(matches("**", "a"));
	ASSERT(matches("**", ".a/b/c"));
	ASSERT(matches("dist/**", "dist/a/b"));
	ASSERT_FALSEm("not the directory itself", matches("dist/**", "dist"));
	ASSERT(matches("**/x", "x"));
	ASSERT(matches("**/x", "a/b/x"));
	ASSERT(matches("**/x", "a/x/b"));
	ASSERT_FALSE(matches("**/x", "a/xx"));
	ASSERT(matches("a/**/b", "a/b"));
	ASSERT(matches("a/**/b/*.c", "a/x/b/y/b/z.c"));
	ASSERT_FALSE(matches("a/**/b", "b/a"));
	ASSERT(matches("**/a/**/b", "x/a/y/b"));
	ASSERT_FALSE(matches("**/a/**/b", "x/b/y/a"));
	ASSERTm("in a part it is a star", matches("a**", "ab"));
	ASSERT_FALSE(matches("a**", "b/ab"));
	PASS();
}

TEST only_directories_that_matter_are_read(void)
{
	ASSERT(reaches("a/b", ""));
	ASSERT(reaches("a/b", "a"));
	ASSERT(reaches("a/b", "a/b"));
	ASSERT(reaches("a/b", "a/b/c"));
	ASSERT_FALSE(reaches("a/b", "b"));
	ASSERT_FALSE(reaches("a/b", "a/c"));
	ASSERT(reaches("*/b", "x"));
	ASSERT_FALSE(reaches("*.d/b", "x"));
	ASSERT(reaches("**/b", "x/y/z"));
	ASSERT(reaches("a/**", "a/x/y"));
	ASSERT_FALSE(reaches("a/**", "b"));
	PASS();
}

/* Going back for each ** separately would take for ever. */
TEST many_stars_take_little_time(void)
{
	char pattern[60 * 5 + 1], path[1500 * 2 + 1];

	for (int i = 0; i < 60; i++)
		memcpy(pattern + 5 * i, "**/a/", 5);
	pattern[60 * 5] = 'b';
	for (int i = 0; i < 1500; i++)
		memcpy(path + 2 * i, "a/", 2);
	path[1500 * 2] = 'c';
	ASSERT_FALSE(glob_matches(slice_make(pattern, sizeof(pattern)), slice_make(path, sizeof(path))));
	PASS();
}

SUITE(base_glob)
{
	RUN_TEST(patterns_are_relative_and_stay_below);
	RUN_TEST(parts_are_matched_one_by_one);
	RUN_TEST(a_directory_stands_for_what_is_in_it);
	RUN_TEST(two_stars_are_any_directories);
	RUN_TEST(only_directories_that_matter_are_read);
	RUN_TEST(many_stars_take_little_time);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(base_glob);
	GREATEST_MAIN_END();
}
