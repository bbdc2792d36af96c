/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Staging files of attempts, with this test as the master: what is asked, in which names, and what becomes of refusals. */
#include "worker/stage.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "goods/manifest.h"
#include "greatest.h"
#include "proto/limits.h"
#include "scratch.h"

#define ASKED_MAX 64

static char home[SCRATCH_SIZE];
static struct stager *stager;
static int home_fd;
/* what was asked and not answered yet; what was staged last */
static struct msg_stage_read asked[ASKED_MAX];
static uint8_t asked_hashes[ASKED_MAX][LIMIT_STAGE_HASHES_MAX * SHA256_SIZE];
static size_t asked_count;
static uint64_t staged_job;
static int staged_fault, staged_count;
/* the contents that the master has */
static struct slice contents[16];
static size_t content_count;
static struct buf inputs;

static void ask_cb(void *arg, const struct msg_stage_read *msg)
{
	(void)arg;
	if (asked_count == ASKED_MAX)
		abort();
	asked[asked_count] = *msg;
	memcpy(asked_hashes[asked_count], msg->hashes.data, msg->hashes.len);
	asked[asked_count].hashes.data = asked_hashes[asked_count];
	asked_count++;
}

static void staged_cb(void *arg, uint64_t job, uint64_t epoch, int fault)
{
	(void)arg;
	(void)epoch;
	staged_job = job;
	staged_fault = fault;
	staged_count++;
}

static void open_stager(void)
{
	const struct stager_options options = { .home = home, .limit = 1 << 20, .uid = (uid_t)-1, .gid = (gid_t)-1, .ask_cb = ask_cb, .staged_cb = staged_cb };

	if (stager_open(&options, &stager) != 0)
		abort();
	stager_online(stager, true);
}

static void setup_cb(void *data)
{
	(void)data;
	scratch_new_in(scratch_base_in_memory(), "stage", home);
	home_fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	asked_count = content_count = 0;
	staged_job = 0;
	staged_fault = staged_count = 0;
	open_stager();
}

static void teardown_cb(void *data)
{
	(void)data;
	stager_close(stager);
	close(home_fd);
	buf_free(&inputs);
	io_remove_tree(AT_FDCWD, home);
}

/* Add an input to the list; the master has its content. */
static void add_input(const char *path, struct slice content, enum asset_kind kind, bool writable)
{
	uint8_t hash[SHA256_SIZE];
	struct rec_input input = { .path = slice_str(path), .hash = slice_make(hash, SHA256_SIZE), .size = content.len, .kind = kind, .writable = writable };

	sha256_of(content, hash);
	record_encode(&inputs, REC_input, &input);
	contents[content_count++] = content;
}

static struct slice content_of(const uint8_t *hash)
{
	uint8_t digest[SHA256_SIZE];

	for (size_t i = 0; i < content_count; i++) {
		sha256_of(contents[i], digest);
		if (memcmp(digest, hash, SHA256_SIZE) == 0)
			return contents[i];
	}
	abort();
}

/* Answer the oldest request as the master does. */
static void answer_one(void)
{
	uint8_t hashes[LIMIT_STAGE_HASHES_MAX * SHA256_SIZE];
	struct msg_stage_read msg = asked[0];

	memcpy(hashes, msg.hashes.data, msg.hashes.len);
	asked_count--;
	for (size_t i = 0; i < asked_count; i++) {
		asked[i] = asked[i + 1];
		memcpy(asked_hashes[i], asked_hashes[i + 1], sizeof(asked_hashes[i]));
		asked[i].hashes.data = asked_hashes[i];
	}
	for (size_t at = 0; at < msg.hashes.len; at += SHA256_SIZE) {
		struct slice content = content_of(hashes + at);
		struct msg_goods_data data = { .id = msg.id, .size = content.len, .offset = at == 0 ? msg.offset : 0 };
		size_t left = content.len - data.offset;

		data.data = slice_make(content.data + data.offset, left < LIMIT_GOODS_CHUNK ? left : LIMIT_GOODS_CHUNK);
		stager_data(stager, &data);
	}
}

static void answer_all(void)
{
	while (asked_count > 0)
		answer_one();
}

static bool holds(const char *path, struct slice content)
{
	struct buf bytes = { 0 };
	bool same = io_read_file(home_fd, path, 1 << 22, &bytes) == 0 && slice_eq(buf_slice(&bytes), content);

	buf_free(&bytes);
	return same;
}

TEST files_stand_under_their_names(void)
{
	struct stat found;

	add_input("data", slice_str("some data"), ASSET_FILE, false);
	add_input("bin/tool", slice_str("#!/bin/sh\n"), ASSET_PROGRAM, false);
	add_input("mine", slice_str("to change"), ASSET_FILE, true);
	stager_take(stager, 7, 1, buf_slice(&inputs));
	ASSERT_EQ(3, asked_count);
	ASSERT_EQ(7, asked[0].job);
	ASSERT_EQ(0, staged_count);
	answer_all();
	ASSERT(staged_count == 1 && staged_job == 7 && staged_fault == 0);
	ASSERT(holds("staged/7.1/data", slice_str("some data")) && holds("staged/7.1/bin/tool", slice_str("#!/bin/sh\n")));
	ASSERT(fstatat(home_fd, "staged/7.1/data", &found, 0) == 0 && (found.st_mode & 0777) == 0444);
	ASSERT(fstatat(home_fd, "staged/7.1/bin/tool", &found, 0) == 0 && (found.st_mode & 0777) == 0555);
	ASSERT(fstatat(home_fd, "staged/7.1/mine", &found, 0) == 0 && (found.st_mode & 0777) == 0644);
	stager_take(stager, 8, 1, buf_slice(&inputs));
	ASSERT_EQm("the second time they are in the cache", 0, asked_count);
	ASSERT(staged_count == 2 && staged_job == 8 && staged_fault == 0);
	stager_drop(stager, 7, 1);
	ASSERT_EQ(-1, faccessat(home_fd, "staged/7.1", F_OK, 0));
	ASSERT(holds("staged/8.1/data", slice_str("some data")));
	PASS();
}

TEST directory_is_made_with_its_links(void)
{
	struct manifest_entry entries[] = {
		{ .kind = ENTRY_DIR, .path = slice_str("sub") }, { .kind = ENTRY_FILE, .path = slice_str("sub/file"), .size = 3 },
		{ .kind = ENTRY_LINK, .path = slice_str("link"), .target = slice_str("sub/file") },
	};
	struct manifest manifest = { entries, 3 };
	struct buf bytes = { 0 };
	char target[20] = { 0 };
	struct error error;

	sha256_of(slice_str("one"), entries[1].hash);
	ASSERT_EQ(ERR_NONE, manifest_write(&manifest, &bytes, &error));
	contents[content_count++] = slice_str("one");
	add_input("in/here", buf_slice(&bytes), ASSET_DIR, false);
	stager_take(stager, 1, 1, buf_slice(&inputs));
	answer_all();
	ASSERT(staged_count == 1 && staged_fault == 0);
	ASSERT(holds("staged/1.1/in/here/sub/file", slice_str("one")));
	ASSERT_EQ(8, readlinkat(home_fd, "staged/1.1/in/here/link", target, sizeof(target)));
	ASSERT_STR_EQ("sub/file", target);
	buf_free(&bytes);
	PASS();
}

/* Upload-like: make a directory with one file in sub, and add it under this path. */
static void add_dir(const char *path, const char *file, const char *text)
{
	struct manifest_entry entries[] = {
		{ .kind = ENTRY_DIR, .path = slice_str("sub") }, { .kind = ENTRY_FILE, .path = slice_str(file), .size = strlen(text) },
	};
	struct manifest manifest = { entries, 2 };
	static struct buf bytes[4];
	static size_t count;
	struct error error;

	sha256_of(slice_str(text), entries[1].hash);
	buf_clear(&bytes[count]);
	if (manifest_write(&manifest, &bytes[count], &error) != ERR_NONE)
		abort();
	contents[content_count++] = slice_str(text);
	add_input(path, buf_slice(&bytes[count]), ASSET_DIR, false);
	count = (count + 1) % 4;
}

TEST directories_stand_beside_each_other(void)
{
	add_dir(".", "sub/one", "first");
	add_dir(".", "sub/two", "second");
	stager_take(stager, 1, 1, buf_slice(&inputs));
	answer_all();
	ASSERT(staged_count == 1 && staged_fault == 0);
	ASSERT(holds("staged/1.1/sub/one", slice_str("first")));
	ASSERT(holds("staged/1.1/sub/two", slice_str("second")));
	add_dir(".", "sub/one", "third");
	stager_take(stager, 2, 1, buf_slice(&inputs));
	answer_all();
	ASSERTm("the same name twice is an error", staged_count == 2 && staged_fault == EEXIST);
	PASS();
}

TEST large_file_goes_on_after_a_lost_connection(void)
{
	size_t size = 5 * LIMIT_GOODS_CHUNK / 2;
	uint8_t *bytes = mem_zalloc(size);

	bytes[size - 1] = 1;
	add_input("large", slice_make(bytes, size), ASSET_FILE, false);
	stager_take(stager, 1, 1, buf_slice(&inputs));
	ASSERT_EQ(3, asked_count);
	answer_one();
	stager_online(stager, false);
	asked_count = 0;
	ASSERT_EQ(0, staged_count);
	stager_online(stager, true);
	ASSERT_EQ(2, asked_count);
	ASSERT_EQ(LIMIT_GOODS_CHUNK, asked[0].offset);
	answer_all();
	ASSERT(staged_count == 1 && staged_fault == 0);
	ASSERT(holds("staged/1.1/large", slice_make(bytes, size)));
	mem_free(bytes);
	PASS();
}

TEST attempts_share_a_fetch(void)
{
	add_input("data", slice_str("one"), ASSET_FILE, false);
	stager_take(stager, 1, 1, buf_slice(&inputs));
	stager_take(stager, 2, 1, buf_slice(&inputs));
	stager_take(stager, 3, 1, buf_slice(&inputs));
	ASSERT_EQ(1, asked_count);
	stager_drop(stager, 3, 1);
	answer_all();
	ASSERT_EQ(2, staged_count);
	ASSERT(holds("staged/1.1/data", slice_str("one")) && holds("staged/2.1/data", slice_str("one")));
	PASS();
}

TEST refusal_ends_only_the_attempt_that_asked(void)
{
	uint64_t id;

	add_input("data", slice_str("one"), ASSET_FILE, false);
	stager_take(stager, 1, 1, buf_slice(&inputs));
	stager_take(stager, 2, 1, buf_slice(&inputs));
	id = asked[0].id;
	asked_count = 0;
	stager_drop(stager, 1, 1);
	stager_refused(stager, id, ERR_NOT_FOUND);
	ASSERT_EQm("the other one asks in its own name", 1, asked_count);
	ASSERT_EQ(2, asked[0].job);
	ASSERT_EQ(0, staged_count);
	id = asked[0].id;
	asked_count = 0;
	stager_refused(stager, id, ERR_NOT_FOUND);
	ASSERT(staged_count == 1 && staged_job == 2 && staged_fault == ENOENT);
	ASSERT_EQ(-1, faccessat(home_fd, "staged/2.1", F_OK, 0));
	PASS();
}

TEST wrong_answers_place_nothing(void)
{
	struct msg_goods_data data = { .size = 3, .data = slice_str("two") };

	add_input("data", slice_str("one"), ASSET_FILE, false);
	stager_take(stager, 1, 1, buf_slice(&inputs));
	data.id = asked[0].id + 1;
	stager_data(stager, &data);
	ASSERT_EQm("to no question", 0, staged_count);
	data.id = asked[0].id;
	stager_data(stager, &data);
	ASSERT(staged_count == 1 && staged_fault == EBADMSG);
	ASSERT_EQ(-1, faccessat(home_fd, "staged/1.1", F_OK, 0));
	PASS();
}

TEST what_was_staged_before_is_removed(void)
{
	add_input("data", slice_str("one"), ASSET_FILE, false);
	stager_take(stager, 1, 1, buf_slice(&inputs));
	answer_all();
	stager_close(stager);
	open_stager();
	ASSERT_EQ(-1, faccessat(home_fd, "staged/1.1", F_OK, 0));
	stager_take(stager, 1, 2, buf_slice(&inputs));
	ASSERT_EQm("the cache stays", 0, asked_count);
	ASSERT(staged_count == 2 && staged_fault == 0);
	PASS();
}

SUITE(worker_stage)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(files_stand_under_their_names);
	RUN_TEST(directory_is_made_with_its_links);
	RUN_TEST(directories_stand_beside_each_other);
	RUN_TEST(large_file_goes_on_after_a_lost_connection);
	RUN_TEST(attempts_share_a_fetch);
	RUN_TEST(refusal_ends_only_the_attempt_that_asked);
	RUN_TEST(wrong_answers_place_nothing);
	RUN_TEST(what_was_staged_before_is_removed);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(worker_stage);
	GREATEST_MAIN_END();
}
