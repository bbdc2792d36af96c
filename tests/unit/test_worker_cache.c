/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worker's cache of contents: what is trusted, what is fetched again, what goes first. */
#include "worker/cache.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "greatest.h"
#include "scratch.h"

static char home[SCRATCH_SIZE], dir[SCRATCH_SIZE + 8], out[SCRATCH_SIZE + 8];
static struct cache *cache;
static int out_fd;

static void open_cache(uint64_t limit)
{
	if (cache_open(dir, limit, &cache) != 0)
		abort();
}

static void setup_cb(void *data)
{
	(void)data;
	scratch_new_in(scratch_base_in_memory(), "cache", home);
	snprintf(dir, sizeof(dir), "%s/cache", home);
	snprintf(out, sizeof(out), "%s/out", home);
	if (mkdir(out, 0700) < 0 || (out_fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		abort();
	open_cache(1 << 20);
}

static void teardown_cb(void *data)
{
	(void)data;
	cache_close(cache);
	close(out_fd);
	io_remove_tree(AT_FDCWD, home);
}

static const uint8_t *hash_of(const char *text)
{
	static uint8_t hash[SHA256_SIZE];

	sha256_of(slice_str(text), hash);
	return hash;
}

static int add(const char *text)
{
	return cache_add(cache, hash_of(text), strlen(text), 0, slice_str(text));
}

static struct cached *find(const char *text)
{
	return cache_find(cache, hash_of(text), strlen(text));
}

static int put(const char *text, const char *name, bool own)
{
	const struct cache_place place = { .dir_fd = out_fd, .path = name, .own = own, .mode = own ? 0644 : 0444, .uid = (uid_t)-1, .gid = (gid_t)-1 };

	return cache_put_at(cache, find(text), &place);
}

static bool holds(const char *name, const char *text)
{
	struct buf bytes = { 0 };
	bool same = io_read_file(out_fd, name, 100, &bytes) == 0 && slice_eq(buf_slice(&bytes), slice_str(text));

	buf_free(&bytes);
	return same;
}

static void path_of(const char *text, char ret[2 * SCRATCH_SIZE])
{
	char hex[SHA256_TEXT_SIZE];

	sha256_text(hash_of(text), hex);
	snprintf(ret, 2 * SCRATCH_SIZE, "%s/files/%s", dir, hex + 7);
}

TEST content_is_there_after_a_restart(void)
{
	ASSERT_EQ(NULL, find("one"));
	ASSERT_EQ(1, add("one"));
	ASSERT(find("one") != NULL);
	ASSERT_EQm("of another size", NULL, cache_find(cache, hash_of("one"), 4));
	cache_close(cache);
	open_cache(1 << 20);
	ASSERT(find("one") != NULL);
	ASSERT_EQ(3, cache_bytes(cache));
	PASS();
}

TEST content_arrives_in_pieces(void)
{
	ASSERT_EQ(0, cache_add(cache, hash_of("onetwo"), 6, 0, slice_str("one")));
	ASSERT_EQ(3, cache_arrived(cache, hash_of("onetwo")));
	ASSERT_EQ(NULL, find("onetwo"));
	ASSERT_EQ(1, cache_add(cache, hash_of("onetwo"), 6, 3, slice_str("two")));
	ASSERT(find("onetwo") != NULL);
	ASSERT_EQ(0, cache_arrived(cache, hash_of("onetwo")));
	ASSERT_EQm("an empty one", 1, add(""));
	ASSERT(find("") != NULL);
	PASS();
}

TEST wrong_bytes_are_refused(void)
{
	ASSERT_EQ(-EBADMSG, cache_add(cache, hash_of("one"), 3, 0, slice_str("two")));
	ASSERT_EQ(NULL, find("one"));
	ASSERT_EQm("too long", -EBADMSG, cache_add(cache, hash_of("one"), 3, 0, slice_str("ones")));
	ASSERT_EQm("from the middle", -EBADMSG, cache_add(cache, hash_of("one"), 3, 1, slice_str("ne")));
	ASSERT_EQm("a gap", 0, cache_add(cache, hash_of("one"), 3, 0, slice_str("o")));
	ASSERT_EQ(-EBADMSG, cache_add(cache, hash_of("one"), 3, 2, slice_str("e")));
	ASSERT_EQ(0, cache_arrived(cache, hash_of("one")));
	ASSERT_EQ(1, add("one"));
	PASS();
}

TEST changed_file_is_noticed(void)
{
	char path[2 * SCRATCH_SIZE];
	struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

	add("one");
	add("two");
	path_of("one", path);
	ASSERT_EQ(0, utimensat(AT_FDCWD, path, times, 0));
	ASSERT_EQm("another time", NULL, find("one"));
	ASSERT_EQ(-1, access(path, F_OK));
	path_of("two", path);
	ASSERT_EQ(0, unlink(path));
	ASSERT_EQm("gone", NULL, find("two"));
	ASSERT_EQ(1, add("one"));
	path_of("one", path);
	cache_close(cache);
	ASSERT_EQ(0, truncate(path, 1));
	open_cache(1 << 20);
	ASSERT_EQm("while nobody looked", NULL, find("one"));
	ASSERT_EQ(0, cache_bytes(cache));
	PASS();
}

TEST file_without_a_note_is_removed(void)
{
	char path[2 * SCRATCH_SIZE];
	int fd;

	path_of("one", path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ASSERT(fd >= 0 && write(fd, "one", 3) == 3);
	close(fd);
	cache_close(cache);
	open_cache(1 << 20);
	ASSERT_EQ(NULL, find("one"));
	ASSERT_EQ(-1, access(path, F_OK));
	PASS();
}

TEST oldest_content_goes_first(void)
{
	cache_close(cache);
	open_cache(9);
	add("one");
	add("two");
	add("six");
	ASSERT(find("one") != NULL);
	add("ten");
	ASSERT_EQm("two was used before the others", NULL, find("two"));
	ASSERT(find("one") && find("six") && find("ten"));
	cache_pin(find("one"));
	find("six");
	find("ten");
	add("four");
	ASSERTm("what is needed stays", find("one") != NULL);
	ASSERT_EQ(NULL, find("six"));
	cache_unpin(find("one"));
	cache_close(cache);
	open_cache(4);
	ASSERT(cache_bytes(cache) > 4);
	cache_trim(cache);
	ASSERT(cache_bytes(cache) <= 4);
	PASS();
}

TEST placed_file_is_a_name_or_a_copy(void)
{
	struct stat name, copy;

	add("one");
	ASSERT_EQ(0, put("one", "name", false));
	ASSERT_EQ(0, put("one", "copy", true));
	ASSERT(holds("name", "one") && holds("copy", "one"));
	ASSERT(fstatat(out_fd, "name", &name, 0) == 0 && fstatat(out_fd, "copy", &copy, 0) == 0);
	ASSERT_EQ(2, name.st_nlink);
	ASSERT_EQ(0444, name.st_mode & 07777);
	ASSERT_EQ(1, copy.st_nlink);
	ASSERT_EQ(0644, copy.st_mode & 07777);
	ASSERT_EQm("nothing is replaced", -EEXIST, put("one", "name", false));
	ASSERT_EQ(-EEXIST, put("one", "copy", true));
	PASS();
}

SUITE(worker_cache)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(content_is_there_after_a_restart);
	RUN_TEST(content_arrives_in_pieces);
	RUN_TEST(wrong_bytes_are_refused);
	RUN_TEST(changed_file_is_noticed);
	RUN_TEST(file_without_a_note_is_removed);
	RUN_TEST(oldest_content_goes_first);
	RUN_TEST(placed_file_is_a_name_or_a_copy);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(worker_cache);
	GREATEST_MAIN_END();
}
