/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Manifests: written and read back, and what none may have. */
#include "goods/manifest.h"

#include "base/mem.h"
#include "greatest.h"

static const struct { const char *path; bool fits; } paths[] = {
	{ "a", true }, { "a/b", true }, { ".hidden", true }, { "...", true }, { "a b\n", true }, { "", false }, { "/a", false }, { "a/", false },
	{ "a//b", false }, { ".", false }, { "..", false }, { "../a", false }, { "a/../b", false }, { "a/./b", false }, { "a/..", false },
};

TEST paths_are_relative_and_go_down(void)
{
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ASSERT_EQm(paths[i].path, paths[i].fits, manifest_path_fits(slice_str(paths[i].path)));
	ASSERT_FALSE(manifest_path_fits(slice_make("a\0b", 3)));
	PASS();
}

static const struct { const char *path, *target; bool fits; } links[] = {
	{ "l", "a", true }, { "l", "a/b", true }, { "l", ".", true }, { "l", "./a", true }, { "d/l", "../a", true }, { "d/e/l", "../../a", true },
	{ "d/l", "..", true }, { "l", "..", false }, { "l", "../a", false }, { "d/l", "../../a", false }, { "l", "/etc/passwd", false }, { "l", "", false },
	{ "d/l", "x/../a", false }, { "l", "x/..", false }, { "d/l", "./../a", false }, { "d/l", "..//../a", false }, { "l", "..a", true },
};

TEST links_stay_inside(void)
{
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		ASSERT_EQm(links[i].target, links[i].fits, manifest_link_fits(slice_str(links[i].path), slice_str(links[i].target)));
	PASS();
}

static struct manifest_entry entry(enum entry_kind kind, const char *path, const char *target)
{
	struct manifest_entry made = { .kind = kind, .path = slice_str(path), .target = slice_str(target) };

	if (kind == ENTRY_FILE || kind == ENTRY_PROGRAM) {
		made.size = strlen(path);
		memset(made.hash, 7, sizeof(made.hash));
	}
	return made;
}

TEST order_of_entries_makes_no_difference(void)
{
	struct manifest_entry one[] = { entry(ENTRY_FILE, "d/f", NULL), entry(ENTRY_DIR, "d", NULL), entry(ENTRY_LINK, "a", "d/f"), entry(ENTRY_PROGRAM, "d.x", NULL) };
	struct manifest_entry other[] = { one[3], one[2], one[1], one[0] };
	struct manifest first = { one, 4 }, second = { other, 4 }, back;
	struct buf a = { 0 }, b = { 0 };
	struct arena arena = { 0 };
	uint64_t bytes, files;
	struct error error;

	ASSERT_EQ(ERR_NONE, manifest_write(&first, &a, &error));
	ASSERT_EQ(ERR_NONE, manifest_write(&second, &b, &error));
	ASSERT(slice_eq(buf_slice(&a), buf_slice(&b)));
	ASSERT_EQ(ERR_NONE, manifest_read(buf_slice(&a), &arena, &back, &error));
	ASSERT_EQ(4, back.count);
	ASSERT(slice_eq(back.at[0].path, slice_str("a")) && slice_eq(back.at[0].target, slice_str("d/f")));
	ASSERT(back.at[2].kind == ENTRY_PROGRAM && back.at[3].kind == ENTRY_FILE && back.at[3].hash[31] == 7);
	manifest_sum(&back, &bytes, &files);
	ASSERT_EQ(6, bytes);
	ASSERT_EQ(2, files);
	for (size_t len = 0; len < a.len; len++) {
		struct manifest part;

		if (manifest_read(slice_make(a.data, len), &arena, &part, &error) == ERR_NONE)
			ASSERT(part.count < 4);
	}
	buf_free(&a);
	buf_free(&b);
	arena_free(&arena);
	PASS();
}

/* Write without checks what manifest_write refuses, by changing bytes of a good manifest. */
TEST hostile_manifests_are_refused(void)
{
	struct manifest_entry good[] = { entry(ENTRY_DIR, "dd", NULL), entry(ENTRY_FILE, "dd/f", NULL), entry(ENTRY_LINK, "zz", "dd") };
	static const struct { const char *from, *to; } swaps[] = {
		{ "dd/f", "de/f" },      /* no such directory */
		{ "dd/f", "../f" }, { "dd/f", "/d/f" }, { "dd/f", "dd//" }, { "dd/f", "aa" "/f" },
		{ "zz\2", "aa\2" },      /* out of order */
		{ "zz\2\0dd", "zz\2\0.." }, { "zz\2\0dd", "zz\2\0/d" },
		{ "titan", "Titan" },
	};
	struct manifest manifest = { good, 3 };
	struct arena arena = { 0 };
	struct buf bytes = { 0 };
	struct error error;

	ASSERT_EQ(ERR_NONE, manifest_write(&manifest, &bytes, &error));
	for (size_t i = 0; i < sizeof(swaps) / sizeof(swaps[0]); i++) {
		size_t len = swaps[i].from[0] == 'z' && swaps[i].from[2] == '\2' && swaps[i].from[3] == '\0' && swaps[i].to[0] == 'z' ? 6 : strlen(swaps[i].from);
		struct buf copy = { 0 };
		struct manifest read;
		uint8_t *found;

		buf_add_slice(&copy, buf_slice(&bytes));
		found = memmem(copy.data, copy.len, swaps[i].from, len);
		ASSERTm(swaps[i].to, found != NULL);
		memcpy(found, swaps[i].to, len);
		ASSERT_EQm(swaps[i].to, ERR_INVALID, manifest_read(buf_slice(&copy), &arena, &read, &error));
		buf_free(&copy);
	}
	good[1] = good[0];
	buf_clear(&bytes);
	ASSERT_EQm("the same path twice", ERR_INVALID, manifest_write(&manifest, &bytes, &error));
	buf_free(&bytes);
	arena_free(&arena);
	PASS();
}

TEST empty_directory_has_a_manifest(void)
{
	struct manifest empty = { 0 }, back;
	struct arena arena = { 0 };
	struct buf bytes = { 0 };
	struct error error;

	ASSERT_EQ(ERR_NONE, manifest_write(&empty, &bytes, &error));
	ASSERT_EQ(ERR_NONE, manifest_read(buf_slice(&bytes), &arena, &back, &error));
	ASSERT_EQ(0, back.count);
	ASSERT_EQ(ERR_INVALID, manifest_read(slice_str(""), &arena, &back, &error));
	buf_free(&bytes);
	arena_free(&arena);
	PASS();
}

SUITE(goods_manifest)
{
	RUN_TEST(paths_are_relative_and_go_down);
	RUN_TEST(links_stay_inside);
	RUN_TEST(order_of_entries_makes_no_difference);
	RUN_TEST(hostile_manifests_are_refused);
	RUN_TEST(empty_directory_has_a_manifest);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(goods_manifest);
	GREATEST_MAIN_END();
}
