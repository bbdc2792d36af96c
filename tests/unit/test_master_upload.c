/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Uploads of graphs: the digest depends on the content only, not on how it was cut into chunks. */
#include "master/upload.h"

#include "proto/limits.h"
#include "tests/greatest.h"

#define KEY "sixteen bytes..."

static const char content[] = "the records of some jobs, one after the other";

/* The digest of the content, cut into chunks at these places. */
static bool digest_of(const char *name, const size_t *cuts, size_t count, uint8_t ret_digest[32])
{
	struct upload *upload;
	size_t at = 0;
	bool ok = upload_begin(1, slice_str(KEY), slice_str(name), count + 1, &upload, NULL) == ERR_NONE;

	for (size_t i = 0; ok && i <= count; i++) {
		size_t end = i < count ? cuts[i] : sizeof(content) - 1;

		ok = upload_add(upload, slice_make(content + at, end - at), 1, NULL) == ERR_NONE;
		at = end;
	}
	ok = ok && upload_finish(upload, ret_digest, NULL) == ERR_NONE;
	upload_free(upload);
	return ok;
}

TEST cuts_dont_change_the_digest(void)
{
	uint8_t first[32], other[32];
	size_t cuts[2];

	cuts[0] = 10;
	cuts[1] = 20;
	ASSERT(digest_of("run", cuts, 2, first));
	for (cuts[0] = 1; cuts[0] < 40; cuts[0]++) {
		for (cuts[1] = cuts[0] + 1; cuts[1] < 41; cuts[1]++) {
			ASSERT(digest_of("run", cuts, 2, other));
			ASSERT_MEM_EQ(first, other, 32);
		}
	}
	PASS();
}

TEST name_and_count_change_the_digest(void)
{
	uint8_t first[32], other[32];
	size_t cuts[] = { 5, 9 };

	ASSERT(digest_of("run", cuts, 2, first));
	ASSERT(digest_of("ruN", cuts, 2, other));
	ASSERT(memcmp(first, other, 32) != 0);
	ASSERT(digest_of("run", cuts, 1, other));
	ASSERT(memcmp(first, other, 32) != 0);
	/* A byte moved from the content to the name gives another digest. */
	ASSERT(digest_of("runt", cuts, 2, other));
	ASSERT(memcmp(first, other, 32) != 0);
	PASS();
}

/* A graph with the same number or text in another field has another digest. */
TEST what_it_says_beside_its_jobs_changes_the_digest(void)
{
	uint8_t digests[6][32];

	for (size_t i = 0; i < 6; i++) {
		struct upload *upload;

		ASSERT_EQ(ERR_NONE, upload_begin(1, slice_str(KEY), slice_str("r"), 1, &upload, NULL));
		ASSERT_EQ(ERR_NONE, upload_add(upload, slice_str("abc"), 1, NULL));
		if (i == 1)
			upload->max_jobs = 7;
		if (i == 2)
			upload_into(upload, 7, (struct slice_list){ 0 });
		if (i >= 3)
			ASSERT_EQ(ERR_NONE, upload_share(upload, i == 3 ? slice_str("team") : slice_str(""),
							 i == 4 ? slice_str("team") : slice_str(""), NULL));
		if (i == 5)
			upload_into(upload, 7, (struct slice_list){ .at = (struct slice[]){ slice_str("a") }, .n = 1 });
		ASSERT_EQ(ERR_NONE, upload_finish(upload, digests[i], NULL));
		upload_free(upload);
		for (size_t k = 0; k < i; k++)
			ASSERT(memcmp(digests[k], digests[i], 32) != 0);
	}
	PASS();
}

TEST what_is_declared_must_come(void)
{
	struct upload *upload;
	struct error error;
	uint8_t digest[32];

	ASSERT_EQ(ERR_NONE, upload_begin(1, slice_str(KEY), slice_str("r"), 3, &upload, &error));
	ASSERT_EQ(ERR_NONE, upload_add(upload, slice_str("abc"), 2, &error));
	ASSERT_EQ(ERR_INVALID, upload_finish(upload, digest, &error));
	ASSERT_EQ(ERR_INVALID, upload_add(upload, slice_str("abc"), 2, &error));
	ASSERT_EQ(ERR_INVALID, upload_add(upload, slice_str("abc"), UINT64_MAX, &error));
	ASSERT_EQ(ERR_INVALID, upload_add(upload, slice_str("abc"), 0, &error));
	ASSERT_EQ(ERR_NONE, upload_add(upload, slice_str("abc"), 1, &error));
	ASSERT_EQ(ERR_NONE, upload_finish(upload, digest, &error));
	ASSERT_EQ_FMT((size_t)2, upload->part_count, "%zu");
	upload_free(upload);
	PASS();
}

TEST bad_beginnings_are_refused(void)
{
	struct upload *upload = NULL;
	struct error error;
	char name[LIMIT_NAME_MAX_LEN + 1];

	memset(name, 'n', sizeof(name));
	ASSERT_EQ(ERR_INVALID, upload_begin(1, slice_str("short"), slice_str("r"), 1, &upload, &error));
	ASSERT_EQ(ERR_INVALID, upload_begin(1, slice_str(KEY), slice_str("r"), 0, &upload, &error));
	ASSERT_EQ(ERR_TOO_LARGE,
		  upload_begin(1, slice_str(KEY), slice_str("r"), LIMIT_RUN_JOBS_MAX + 1ull, &upload, &error));
	ASSERT_EQ(ERR_TOO_LARGE, upload_begin(1, slice_str(KEY), slice_make(name, sizeof(name)), 1, &upload, &error));
	ASSERT(upload == NULL);
	PASS();
}

SUITE(master_upload)
{
	RUN_TEST(cuts_dont_change_the_digest);
	RUN_TEST(name_and_count_change_the_digest);
	RUN_TEST(what_it_says_beside_its_jobs_changes_the_digest);
	RUN_TEST(what_is_declared_must_come);
	RUN_TEST(bad_beginnings_are_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_upload);
	GREATEST_MAIN_END();
}
