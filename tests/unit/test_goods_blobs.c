/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contents on disk: uploads in pieces that go on after a restart, lies about hashes, packs, removal. */
#include "goods/blobs.h"

#include "base/clock.h"
#include "base/mem.h"
#include "greatest.h"
#include "proto/limits.h"
#include "scratch.h"

static char home[SCRATCH_SIZE];
static struct blobs *blobs;

static void open_again(void)
{
	struct error error;

	blobs_close(blobs);
	if (blobs_open(home, &blobs, &error) != ERR_NONE)
		abort();
}

static void setup_cb(void *data)
{
	(void)data;
	scratch_new("blobs", home);
	blobs = NULL;
	open_again();
}

static void teardown_cb(void *data)
{
	(void)data;
	blobs_close(blobs);
	io_remove_tree(AT_FDCWD, home);
}

static struct part_key key_of(struct slice content, const char *owner)
{
	struct part_key key = { .owner = slice_str(owner) };

	sha256_of(content, key.hash);
	return key;
}

static bool has(struct slice content)
{
	struct part_key key = key_of(content, "");
	struct buf read = { 0 };
	struct error error;
	uint64_t size;
	bool same;

	if (!blobs_find(blobs, key.hash, &size))
		return false;
	same = size == content.len && blobs_read(blobs, key.hash, 0, content.len + 1, &read, &size, &error) == ERR_NONE &&
	       slice_eq(buf_slice(&read), content);
	buf_free(&read);
	return same;
}

#define PIECES 5

static struct slice large(void)
{
	static uint8_t bytes[PIECES * LIMIT_GOODS_CHUNK];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	return slice_make(bytes, sizeof(bytes));
}

static enum err add_piece(const struct part_key *key, struct slice whole, size_t piece, bool *ret_whole, struct error *error)
{
	return part_add(blobs, key, whole.len, piece * LIMIT_GOODS_CHUNK, slice_make(whole.data + piece * LIMIT_GOODS_CHUNK, LIMIT_GOODS_CHUNK),
			ret_whole, error);
}

TEST upload_goes_on_after_a_restart(void)
{
	struct slice content = large();
	struct part_key key = key_of(content, "ana");
	struct error error;
	bool whole;

	for (size_t i = 0; i < PIECES; i++) {
		ASSERT_EQ(i * LIMIT_GOODS_CHUNK, part_size(blobs, &key));
		ASSERT_FALSE(has(content));
		ASSERT_EQ(ERR_NONE, add_piece(&key, content, i, &whole, &error));
		ASSERT_EQ(i == PIECES - 1, whole);
		open_again();
	}
	ASSERT(has(content));
	ASSERT_EQ(0, part_size(blobs, &key));
	PASS();
}

TEST uploaders_do_not_see_each_others_pieces(void)
{
	struct slice content = large();
	struct part_key ana = key_of(content, "ana"), bert = key_of(content, "bert");
	struct error error;
	bool whole;

	ASSERT_EQ(ERR_NONE, add_piece(&ana, content, 0, &whole, &error));
	ASSERT_EQ(0, part_size(blobs, &bert));
	for (size_t i = 0; i < PIECES; i++)
		ASSERT_EQ(ERR_NONE, add_piece(&bert, content, i, &whole, &error));
	ASSERT(whole);
	for (size_t i = 1; i < PIECES; i++)
		ASSERT_EQ(ERR_NONE, add_piece(&ana, content, i, &whole, &error));
	ASSERTm("the second one is told that it is there, too", whole);
	ASSERT(has(content));
	PASS();
}

TEST piece_that_is_not_the_next_is_refused(void)
{
	struct slice content = large();
	struct part_key key = key_of(content, "ana");
	struct error error;
	bool whole;

	ASSERT_EQ(ERR_CHANGED, add_piece(&key, content, 1, &whole, &error));
	ASSERT_EQ(ERR_NONE, add_piece(&key, content, 0, &whole, &error));
	ASSERT_EQ(ERR_CHANGED, add_piece(&key, content, 3, &whole, &error));
	ASSERT_EQ(ERR_INVALID, part_add(blobs, &key, 10, LIMIT_GOODS_CHUNK, slice_str("beyond"), &whole, &error));
	ASSERT_EQm("it can begin anew", ERR_NONE, add_piece(&key, content, 0, &whole, &error));
	ASSERT_EQ(LIMIT_GOODS_CHUNK, part_size(blobs, &key));
	PASS();
}

TEST lie_about_a_hash_is_refused_and_nothing_is_left(void)
{
	struct slice content = large();
	struct part_key key = key_of(slice_str("something else"), "ana");
	uint8_t wrong[SHA256_SIZE] = { 1 };
	struct rec_goods_small items[] = {
		{ slice_make(key.hash, SHA256_SIZE), slice_str("something else") }, { slice_make(wrong, SHA256_SIZE), slice_str("a lie") },
	};
	struct error error;
	bool whole;

	for (size_t i = 0; i < PIECES - 1; i++)
		ASSERT_EQ(ERR_NONE, add_piece(&key, content, i, &whole, &error));
	ASSERT_EQ(ERR_INVALID, add_piece(&key, content, PIECES - 1, &whole, &error));
	ASSERT(strstr(error.text, "doesn't have the hash sha256:") != NULL);
	ASSERT_EQ(0, part_size(blobs, &key));
	ASSERT_FALSE(has(content));
	ASSERT_EQ(ERR_INVALID, blobs_pack(blobs, items, 2, &error));
	ASSERTm("nothing of the pack is kept", !has(slice_str("something else")));
	items[1].hash = slice_make(wrong, 5);
	ASSERT_EQ(ERR_INVALID, blobs_pack(blobs, items, 2, &error));
	PASS();
}

TEST part_that_was_damaged_on_disk_is_refused(void)
{
	struct slice content = large();
	struct part_key key = key_of(content, "ana");
	struct error error;
	char command[SCRATCH_SIZE + 200];
	bool whole;

	for (size_t i = 0; i < PIECES - 1; i++)
		ASSERT_EQ(ERR_NONE, add_piece(&key, content, i, &whole, &error));
	blobs_close(blobs);
	blobs = NULL;
	snprintf(command, sizeof(command), "for f in '%s'/incoming/*; do printf xyz | dd of=\"$f\" conv=notrunc 2>/dev/null; done", home);
	ASSERT_EQ(0, system(command));
	open_again();
	ASSERT_EQ(ERR_INVALID, add_piece(&key, content, PIECES - 1, &whole, &error));
	ASSERT_EQ(0, part_size(blobs, &key));
	PASS();
}

static bool wanted_cb(void *arg, const uint8_t hash[SHA256_SIZE])
{
	const struct part_key *wanted = arg;

	return memcmp(wanted->hash, hash, SHA256_SIZE) == 0;
}

TEST packs_are_read_after_a_restart_and_go_when_nothing_is_wanted(void)
{
	struct part_key one = key_of(slice_str("one"), ""), two = key_of(slice_str(""), "");
	struct rec_goods_small items[] = {
		{ slice_make(one.hash, SHA256_SIZE), slice_str("one") }, { slice_make(two.hash, SHA256_SIZE), slice_str("") },
		{ slice_make(one.hash, SHA256_SIZE), slice_str("one") },
	};
	int64_t later = clock_wall_ms() / 1000 + 100;
	struct error error;

	ASSERT_EQ(ERR_NONE, blobs_pack(blobs, items, 3, &error));
	ASSERT(has(slice_str("one")) && has(slice_str("")));
	open_again();
	ASSERT(has(slice_str("one")) && has(slice_str("")));
	ASSERT_EQm("what is young stays", 0, blobs_sweep(blobs, later - 1000, wanted_cb, &one));
	ASSERT_EQ(1, blobs_sweep(blobs, later, wanted_cb, &one));
	ASSERT(has(slice_str("one")) && !has(slice_str("")));
	ASSERT_EQ(ERR_NONE, blobs_pack(blobs, items, 3, &error));
	ASSERT(has(slice_str("")));
	blobs_remove(blobs, one.hash);
	ASSERT(!has(slice_str("one")) && has(slice_str("")));
	blobs_remove(blobs, two.hash);
	open_again();
	ASSERT(!has(slice_str("one")) && !has(slice_str("")));
	PASS();
}

TEST sweep_removes_contents_and_old_parts(void)
{
	struct slice content = large();
	struct part_key key = key_of(content, "ana"), other = key_of(slice_str("x"), "ana");
	int64_t later = clock_wall_ms() / 1000 + 100;
	struct error error;
	bool whole;

	for (size_t i = 0; i < PIECES; i++)
		ASSERT_EQ(ERR_NONE, add_piece(&key, content, i, &whole, &error));
	ASSERT_EQ(ERR_NONE, part_add(blobs, &other, 9, 0, slice_str("x"), &whole, &error));
	ASSERT_EQ(0, blobs_sweep(blobs, later, wanted_cb, &key));
	ASSERTm("a part in use stays", part_size(blobs, &other) == 1);
	open_again();
	ASSERT_EQ(1, blobs_sweep(blobs, later, wanted_cb, &other));
	ASSERT_FALSE(has(content));
	ASSERT_EQ(0, part_size(blobs, &other));
	PASS();
}

TEST reading_is_in_pieces(void)
{
	struct slice content = large();
	struct part_key key = key_of(content, "ana");
	struct buf out = { 0 };
	struct error error;
	uint64_t size;
	bool whole;

	for (size_t i = 0; i < PIECES; i++)
		ASSERT_EQ(ERR_NONE, add_piece(&key, content, i, &whole, &error));
	ASSERT_EQ(ERR_NONE, blobs_read(blobs, key.hash, content.len - 5, 100, &out, &size, &error));
	ASSERT_EQ(5, out.len);
	ASSERT_EQ(content.len, size);
	ASSERT_EQ(ERR_NONE, blobs_read(blobs, key.hash, content.len + 5, 100, &out, &size, &error));
	ASSERT_EQ(5, out.len);
	buf_free(&out);
	PASS();
}

SUITE(goods_blobs)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(upload_goes_on_after_a_restart);
	RUN_TEST(uploaders_do_not_see_each_others_pieces);
	RUN_TEST(piece_that_is_not_the_next_is_refused);
	RUN_TEST(lie_about_a_hash_is_refused_and_nothing_is_left);
	RUN_TEST(part_that_was_damaged_on_disk_is_refused);
	RUN_TEST(packs_are_read_after_a_restart_and_go_when_nothing_is_wanted);
	RUN_TEST(sweep_removes_contents_and_old_parts);
	RUN_TEST(reading_is_in_pieces);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(goods_blobs);
	GREATEST_MAIN_END();
}
