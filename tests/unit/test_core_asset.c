/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assets in the core: versions and their numbers, pins, owners, limits. The rig compares each state with its rows. */
#include "tests/unit/core_rig.h"

#define HASH "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd"

static char hash[sizeof(HASH) + 2];

/* Put content number n; returns the version. */
static uint64_t put(struct rig *rig, const char *name, unsigned n)
{
	snprintf(hash, sizeof(hash), HASH "%02x", n);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_ASSET, .verb = SET_PUT, .name = slice_str(name), .text = slice_str(hash),
				       .weight = ASSET_FILE, .number = 10, .most = 1 });
	return rig->ok.number;
}

static void change(struct rig *rig, enum set_verb verb, const char *name, uint64_t version)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_ASSET, .verb = verb, .name = slice_str(name), .number = version });
}

/* The versions of an asset as text, with * behind pinned ones and ! behind the newest. */
static const char *versions(struct rig *rig, const char *name)
{
	static char text[2048];
	struct rec_asset_row row;
	uint64_t cursor = 0;
	size_t len = 0;

	text[0] = '\0';
	while ((cursor = view_asset(rig->core, slice_str(name), cursor, &row)))
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%llu%s%s ", (unsigned long long)row.version, row.pinned ? "*" : "",
					row.newest ? "!" : "");
	return text;
}

TEST content_of_the_newest_version_makes_no_other(void)
{
	struct rig *rig = rig_new();

	ASSERT_EQ(1, put(rig, "a", 1));
	ASSERT_EQ(1, put(rig, "a", 1));
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(2, put(rig, "a", 2));
	ASSERT_EQ(3, put(rig, "a", 1));
	ASSERT_STR_EQ("1 2 3! ", versions(rig, "a"));
	rig_free(rig);
	PASS();
}

TEST number_of_a_removed_version_is_not_given_again(void)
{
	struct rig *rig = rig_new();

	put(rig, "a", 1);
	put(rig, "a", 2);
	change(rig, SET_REMOVE, "a", 2);
	ASSERT_STR_EQ("1! ", versions(rig, "a"));
	rig_restart(rig);
	ASSERT_EQ(3, put(rig, "a", 3));
	ASSERT_STR_EQ("1 3! ", versions(rig, "a"));
	change(rig, SET_REMOVE, "a", 1);
	ASSERT_STR_EQ("3! ", versions(rig, "a"));
	change(rig, SET_REMOVE, "a", 1);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "asset a has no version 1"));
	change(rig, SET_REMOVE, "a", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("", versions(rig, "a"));
	ASSERT_EQ(1, put(rig, "a", 4));
	rig_free(rig);
	PASS();
}

TEST pinned_version_stays(void)
{
	struct rig *rig = rig_new();

	put(rig, "a", 1);
	put(rig, "a", 2);
	change(rig, SET_PIN, "a", 1);
	ASSERT_EQ(1, rig->ok.count);
	change(rig, SET_PIN, "a", 1);
	ASSERT_EQ(0, rig->ok.count);
	change(rig, SET_REMOVE, "a", 1);
	ASSERT(rig_error_says(rig, ERR_DENIED, "version 1 of asset a is pinned"));
	change(rig, SET_REMOVE, "a", 0);
	ASSERT(rig_error_says(rig, ERR_DENIED, "version 1 of asset a is pinned"));
	rig_restart(rig);
	for (unsigned i = 3; i <= LIMIT_ASSET_VERSIONS + 1; i++)
		put(rig, "a", i);
	ASSERT_EQm("the oldest that isn't pinned went", 0, strncmp("1* 3 4 ", versions(rig, "a"), 7));
	for (uint64_t i = 3; i <= LIMIT_ASSET_VERSIONS + 1; i++)
		change(rig, SET_PIN, "a", i);
	put(rig, "a", 200);
	ASSERT(rig_error_says(rig, ERR_FULL, "all of them are pinned"));
	change(rig, SET_UNPIN, "a", 1);
	put(rig, "a", 200);
	ASSERT_EQ(0, strncmp("3* 4*", versions(rig, "a"), 5));
	rig_free(rig);
	PASS();
}

TEST submitter_changes_own_assets_only(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_SET, .conn = 1000000, .request = 900 };

	put(rig, "a", 1);
	snprintf(hash, sizeof(hash), HASH "%02x", 2);
	input.set = (struct input_set){
		.set = { .kind = OBJECT_ASSET, .verb = SET_PUT, .name = slice_str("a"), .text = slice_str(hash), .weight = ASSET_FILE },
		.principal = 2, .person = slice_str("bert"), .own_only = slice_str("bert"),
	};
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	ASSERT_EQ(ERR_DENIED, rig->error.code);
	input.set.own_only = slice_str(NULL);
	rig->ok = (struct msg_ok){ 0 };
	rig_step(rig, &input);
	ASSERT_EQm("an operator may, and the owner stays", 2, rig->ok.number);
	ASSERT_STR_EQ("1 2! ", versions(rig, "a"));
	rig_free(rig);
	PASS();
}

TEST assets_are_in_the_order_of_their_names(void)
{
	struct rig *rig = rig_new();
	struct rec_asset_row row;
	uint64_t cursor;

	put(rig, "b", 1);
	put(rig, "a.b", 2);
	put(rig, "a", 3);
	put(rig, "ab", 4);
	cursor = view_asset(rig->core, slice_str(NULL), 0, &row);
	ASSERT(slice_eq(row.asset, slice_str("a")));
	cursor = view_asset(rig->core, slice_str(NULL), cursor, &row);
	ASSERT(slice_eq(row.asset, slice_str("a.b")));
	cursor = view_asset(rig->core, slice_str(NULL), cursor, &row);
	ASSERT(slice_eq(row.asset, slice_str("ab")));
	cursor = view_asset(rig->core, slice_str(NULL), cursor, &row);
	ASSERT(slice_eq(row.asset, slice_str("b")));
	ASSERT_EQ(0, view_asset(rig->core, slice_str(NULL), cursor, &row));
	rig_free(rig);
	PASS();
}

TEST bad_requests_are_refused(void)
{
	struct rig *rig = rig_new();

	put(rig, "a/b", 1);
	ASSERT(rig_error_says(rig, ERR_INVALID, "the name of an asset may have"));
	change(rig, SET_REMOVE, "none", 0);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "there is no asset 'none'"));
	rig_set(rig, (struct msg_set){ .kind = OBJECT_ASSET, .verb = SET_PUT, .name = slice_str("a"), .text = slice_str("md5:1"), .weight = ASSET_FILE });
	ASSERT(rig_error_says(rig, ERR_INVALID, "isn't named by sha256:"));
	put(rig, "a", 1);
	change(rig, SET_FIRE, "a", 1);
	ASSERT(rig_error_says(rig, ERR_INVALID, "unknown change of an asset"));
	rig_free(rig);
	PASS();
}

SUITE(core_asset)
{
	RUN_TEST(content_of_the_newest_version_makes_no_other);
	RUN_TEST(number_of_a_removed_version_is_not_given_again);
	RUN_TEST(pinned_version_stays);
	RUN_TEST(submitter_changes_own_assets_only);
	RUN_TEST(assets_are_in_the_order_of_their_names);
	RUN_TEST(bad_requests_are_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_asset);
	GREATEST_MAIN_END();
}
