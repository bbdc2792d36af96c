/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who may read a content, and when it goes: a hash alone gives nothing away. */
#include "master/goods_book.h"

#include "goods/manifest.h"
#include "greatest.h"
#include "scratch.h"

static char home[SCRATCH_SIZE];
static struct goods_book book;
static const struct goods_asker ana = { { (const uint8_t *)"ana", 3 }, false };
static const struct goods_asker bert = { { (const uint8_t *)"bert", 4 }, false };
static const struct goods_asker viewer = { { (const uint8_t *)"vera", 4 }, true };

static void setup_cb(void *data)
{
	struct error error;

	(void)data;
	scratch_new("book", home);
	book = (struct goods_book){ 0 };
	if (blobs_open(home, &book.blobs, &error) != ERR_NONE)
		abort();
}

static void teardown_cb(void *data)
{
	(void)data;
	book_free(&book);
	blobs_close(book.blobs);
	io_remove_tree(AT_FDCWD, home);
}

static void upload(const struct goods_asker *asker, struct slice content, uint8_t ret_hash[SHA256_SIZE])
{
	struct rec_goods_small item = { .data = content };
	struct error error;

	sha256_of(content, ret_hash);
	item.hash = slice_make(ret_hash, SHA256_SIZE);
	if (blobs_pack(book.blobs, &item, 1, &error) != ERR_NONE)
		abort();
	if (asker)
		book_uploaded(&book, asker, ret_hash);
}

static bool may(const struct goods_asker *asker, const uint8_t hash[SHA256_SIZE])
{
	uint64_t size;

	return book_has(&book, asker, hash, &size);
}

TEST a_hash_gives_no_access(void)
{
	struct goods_sum sum;
	struct error error;
	uint8_t hash[SHA256_SIZE];

	upload(&ana, slice_str("secret"), hash);
	ASSERT(may(&ana, hash));
	ASSERT(may(&viewer, hash));
	ASSERT_FALSE(may(&bert, hash));
	ASSERT_EQ(ERR_NOT_FOUND, book_check(&book, &bert, hash, false, &sum, &error));
	upload(&bert, slice_str("secret"), hash);
	ASSERTm("who uploads it may read it", may(&bert, hash));
	ASSERT_EQ(ERR_NONE, book_check(&book, &bert, hash, false, &sum, &error));
	ASSERT_EQ(6, sum.bytes);
	PASS();
}

/* The manifest of a directory with one file. */
static void manifest_of(struct slice content, uint64_t size, struct buf *out)
{
	struct manifest_entry entry = { .kind = ENTRY_FILE, .path = slice_str("file"), .size = size };
	struct manifest manifest = { &entry, 1 };
	struct error error;

	sha256_of(content, entry.hash);
	if (manifest_write(&manifest, out, &error) != ERR_NONE)
		abort();
}

TEST nobody_gets_a_content_by_naming_it_in_a_manifest(void)
{
	uint8_t secret[SHA256_SIZE], dir[SHA256_SIZE];
	struct buf bytes = { 0 };
	struct goods_sum sum;
	struct error error;

	upload(&ana, slice_str("secret"), secret);
	manifest_of(slice_str("secret"), 6, &bytes);
	upload(&bert, buf_slice(&bytes), dir);
	ASSERT_EQ(ERR_NOT_FOUND, book_check(&book, &bert, dir, true, &sum, &error));
	ASSERT_FALSE(may(&bert, secret));
	upload(&bert, slice_str("secret"), secret);
	ASSERT_EQ(ERR_NONE, book_check(&book, &bert, dir, true, &sum, &error));
	ASSERT(sum.bytes == 6 && sum.files == 1);
	buf_clear(&bytes);
	manifest_of(slice_str("secret"), 7, &bytes);
	upload(&bert, buf_slice(&bytes), dir);
	ASSERT_EQm("a wrong size", ERR_INVALID, book_check(&book, &bert, dir, true, &sum, &error));
	ASSERT_EQm("no manifest", ERR_INVALID, book_check(&book, &bert, secret, true, &sum, &error));
	buf_free(&bytes);
	PASS();
}

TEST owner_of_an_asset_may_read_it_after_a_restart(void)
{
	uint8_t file[SHA256_SIZE], dir[SHA256_SIZE];
	struct buf bytes = { 0 };

	upload(NULL, slice_str("data"), file);
	manifest_of(slice_str("data"), 4, &bytes);
	upload(NULL, buf_slice(&bytes), dir);
	ASSERT_FALSE(may(&ana, file));
	book_put(&book, slice_str("a@1"), ana.name, dir, true);
	ASSERT(may(&ana, file) && may(&ana, dir));
	ASSERT_FALSE(may(&bert, file));
	buf_free(&bytes);
	PASS();
}

TEST content_goes_with_the_last_version_that_names_it(void)
{
	uint8_t file[SHA256_SIZE], dir[SHA256_SIZE];
	struct buf bytes = { 0 };

	upload(NULL, slice_str("data"), file);
	manifest_of(slice_str("data"), 4, &bytes);
	upload(NULL, buf_slice(&bytes), dir);
	book_put(&book, slice_str("a@1"), ana.name, dir, true);
	book_put(&book, slice_str("a@1"), ana.name, dir, true);
	book_put(&book, slice_str("b@1"), ana.name, file, false);
	book_remove(&book, slice_str("a@1"));
	ASSERT_FALSE(may(&viewer, dir));
	ASSERT(may(&viewer, file));
	buf_free(&bytes);
	PASS();
}

TEST uploaded_content_stays_for_a_while(void)
{
	uint8_t file[SHA256_SIZE];

	upload(&ana, slice_str("data"), file);
	book_put(&book, slice_str("a@1"), ana.name, file, false);
	book_remove(&book, slice_str("a@1"));
	ASSERT_EQ(0, book_sweep(&book));
	ASSERTm("another command may be about to name it", may(&ana, file));
	PASS();
}

TEST unnamed_version_is_no_trouble(void)
{
	uint8_t missing[SHA256_SIZE] = { 9 };

	book_remove(&book, slice_str("none@1"));
	book_put(&book, slice_str("lost@1"), ana.name, missing, true);
	ASSERT_FALSE(may(&ana, missing));
	book_remove(&book, slice_str("lost@1"));
	PASS();
}

/* Make the manifest of a directory with one file and upload both. */
static void upload_dir(const struct goods_asker *asker, const char *text, uint8_t ret_file[SHA256_SIZE], uint8_t ret_dir[SHA256_SIZE])
{
	struct manifest_entry entry = { .kind = ENTRY_FILE, .path = slice_str("file"), .size = strlen(text) };
	struct manifest manifest = { &entry, 1 };
	struct buf bytes = { 0 };
	struct error error;

	upload(asker, slice_str(text), ret_file);
	memcpy(entry.hash, ret_file, SHA256_SIZE);
	if (manifest_write(&manifest, &bytes, &error) != ERR_NONE)
		abort();
	upload(asker, buf_slice(&bytes), ret_dir);
	buf_free(&bytes);
}

TEST artifacts_belong_to_the_owner_of_the_run(void)
{
	uint8_t file[SHA256_SIZE], dir[SHA256_SIZE], file2[SHA256_SIZE], dir2[SHA256_SIZE];

	upload_dir(NULL, "one", file, dir);
	upload_dir(NULL, "two", file2, dir2);
	ASSERT_FALSE(may(&ana, file));
	book_put_job(&book, 7, ana.name, dir);
	book_put_job(&book, 7, ana.name, dir);
	ASSERT(may(&ana, file) && may(&ana, dir) && !may(&bert, file));
	book_put_job(&book, 8, bert.name, dir);
	ASSERT(may(&bert, file));
	book_put_job(&book, 7, ana.name, dir2);
	ASSERT(may(&ana, file2));
	book_remove_job(&book, 9);
	book_remove_job(&book, 7);
	book_remove_job(&book, 8);
	ASSERT_EQ(0, book.jobs.count);
	PASS();
}

SUITE(master_goods_book)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(a_hash_gives_no_access);
	RUN_TEST(artifacts_belong_to_the_owner_of_the_run);
	RUN_TEST(nobody_gets_a_content_by_naming_it_in_a_manifest);
	RUN_TEST(owner_of_an_asset_may_read_it_after_a_restart);
	RUN_TEST(content_goes_with_the_last_version_that_names_it);
	RUN_TEST(uploaded_content_stays_for_a_while);
	RUN_TEST(unnamed_version_is_no_trouble);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_goods_book);
	GREATEST_MAIN_END();
}
