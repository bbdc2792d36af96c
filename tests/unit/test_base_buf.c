/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compare buffers, arenas and blobs with plain arrays of the bytes that they should hold. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/blob.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/rand.h"
#include "greatest.h"

TEST buf_holds_what_was_added(void)
{
	struct buf buf = { 0 };

	buf_add_str(&buf, "one");
	buf_add_byte(&buf, ' ');
	buf_addf(&buf, "%d-%s", 2, "three");
	buf_add(&buf, NULL, 0);
	ASSERT_STR_EQ("one 2-three", buf_cstr(&buf));
	ASSERT_EQ_FMT((size_t)11, buf.len, "%zu");
	buf_drop(&buf, 4);
	ASSERT_STR_EQ("2-three", buf_cstr(&buf));
	buf_cut(&buf, 1);
	ASSERT_STR_EQ("2", buf_cstr(&buf));
	buf_clear(&buf);
	ASSERT_STR_EQ("", buf_cstr(&buf));
	buf_free(&buf);
	ASSERT_EQ(NULL, buf.data);
	PASS();
}

TEST buf_format_longer_than_its_room(void)
{
	struct buf buf = { 0 };
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	buf_addf(&buf, "<%s>", text);
	ASSERT_EQ_FMT(sizeof(text) + 1, buf.len, "%zu");
	ASSERT_EQ('>', buf.data[buf.len - 1]);
	buf_free(&buf);
	PASS();
}

/* After random adds and drops the buffer holds the same bytes as a flat array. */
TEST buf_as_a_queue(void)
{
	static uint8_t model[200000];
	struct rand_state rand;
	struct buf buf = { 0 };
	size_t begin = 0, end = 0;

	rand_seed(&rand, 7);
	while (end + 400 < sizeof(model)) {
		size_t add = rand_below(&rand, 400), drop;

		for (size_t i = 0; i < add; i++)
			model[end + i] = (uint8_t)rand_next(&rand);
		buf_add(&buf, model + end, add);
		end += add;
		drop = rand_below(&rand, end - begin + 1);
		if (rand_below(&rand, 3) != 0)
			drop /= 8;
		buf_drop(&buf, drop);
		begin += drop;
		ASSERT_EQ_FMT(end - begin, buf.len, "%zu");
		if (buf.len > 0)
			ASSERT_MEM_EQ(model + begin, buf.data, buf.len);
		ASSERT(buf.cap >= buf.len);
	}
	buf_free(&buf);
	PASS();
}

/* A buffer used as a queue of constant length must not allocate more and more memory. */
TEST buf_queue_keeps_its_size(void)
{
	struct buf buf = { 0 };
	uint8_t bytes[100] = { 0 };

	for (int i = 0; i < 100000; i++) {
		buf_add(&buf, bytes, sizeof(bytes));
		buf_add(&buf, bytes, 1);
		buf_drop(&buf, i == 0 ? 1 : sizeof(bytes) + 1);
	}
	ASSERT_EQ_FMT((size_t)100, buf.len, "%zu");
	ASSERT_LT(buf.cap + buf.head, (size_t)4096);
	buf_free(&buf);
	PASS();
}

TEST arena_gives_separate_aligned_memory(void)
{
	struct arena arena = { 0 };
	uint8_t *parts[300];
	struct rand_state rand;
	size_t sizes[300];

	rand_seed(&rand, 3);
	for (int turn = 0; turn < 5; turn++) {
		for (size_t i = 0; i < 300; i++) {
			sizes[i] = rand_below(&rand, i % 50 == 0 ? 100000 : 200);
			parts[i] = arena_alloc(&arena, sizes[i]);
			ASSERT_EQ_FMT((uintptr_t)0, (uintptr_t)parts[i] % 16, "%zu");
			memset(parts[i], (int)(i % 251), sizes[i]);
		}
		for (size_t i = 0; i < 300; i++)
			for (size_t at = 0; at < sizes[i]; at++)
				ASSERT_EQ((uint8_t)(i % 251), parts[i][at]);
		arena_reset(&arena);
	}
	arena_free(&arena);
	ASSERT_EQ(NULL, arena.first);
	PASS();
}

TEST arena_copies(void)
{
	struct arena arena = { 0 };
	char text[] = "hello";
	struct slice copy;
	uint8_t *zero;
	char *dup;

	memset(arena_alloc(&arena, 1000), 0xff, 1000);
	arena_reset(&arena);
	zero = arena_zalloc(&arena, 10, 100);
	for (int i = 0; i < 1000; i++)
		ASSERT_EQ(0, zero[i]);
	arena_reset(&arena);
	copy = arena_copy(&arena, slice_str(text));
	dup = arena_strdup(&arena, slice_make(text, 4));
	text[0] = 'j';
	ASSERT(slice_eq(slice_str("hello"), copy));
	ASSERT_STR_EQ("hell", dup);
	ASSERT_STR_EQ("", arena_strdup(&arena, slice_make(NULL, 0)));
	ASSERT_EQ_FMT((size_t)0, arena_copy(&arena, slice_make(NULL, 0)).len, "%zu");
	arena_free(&arena);
	PASS();
}

TEST blob_lives_until_its_last_holder(void)
{
	struct blob *blob = blob_make(slice_str("graph"));

	ASSERT_EQ(NULL, blob_make(slice_make(NULL, 0)));
	ASSERT_EQ(blob, blob_hold(blob));
	blob_release(blob);
	ASSERT(slice_eq(slice_str("graph"), blob_slice(blob)));
	blob_release(blob);
	blob_release(NULL);
	ASSERT_EQ_FMT((size_t)0, blob_slice(NULL).len, "%zu");
	PASS();
}

static void overflow_cb(void)
{
	mem_array(SIZE_MAX / 2, 3);
}

static void false_cb(void)
{
	CHECK(1 + 1 == 3);
}

/* Run a callback in a child process and return the signal that ended it. */
static int signal_of(void (*cb)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		close(STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		cb();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST broken_invariants_stop_the_program(void)
{
	ASSERT_EQ_FMT(SIGABRT, signal_of(false_cb), "%d");
	ASSERT_EQ_FMT(SIGABRT, signal_of(overflow_cb), "%d");
	PASS();
}

SUITE(base_buf)
{
	RUN_TEST(buf_holds_what_was_added);
	RUN_TEST(buf_format_longer_than_its_room);
	RUN_TEST(buf_as_a_queue);
	RUN_TEST(buf_queue_keeps_its_size);
	RUN_TEST(arena_gives_separate_aligned_memory);
	RUN_TEST(arena_copies);
	RUN_TEST(blob_lives_until_its_last_holder);
	RUN_TEST(broken_invariants_stop_the_program);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(base_buf);
	GREATEST_MAIN_END();
}
