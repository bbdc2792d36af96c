/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Backups whose bytes were changed after they were made. */
#include <sys/stat.h>

#include "greatest.h"
#include "store/backup.h"
#include "store/trailer.h"
#include "store_box.h"

#define FLIPS 300
#define TRAILER_LEN 106

static char file[sizeof(box_dir) + 16];
static struct error error;

/* A backup with rows: with a trailer, or without one as an older titan made it. */
static bool make_backup(bool has_trailer)
{
	struct store *store = box_start(0);
	struct store_copy copy = { .part = file };
	struct outbox *turn = box_turn(1);

	snprintf(file, sizeof(file), "%s/backup", box_dir);
	for (int64_t job = 1; job <= 500; job++)
		box_job(turn, 1, job, STATE_READY);
	box_commit(store, turn);
	store_copy(store, &copy);
	while (!store_copied(store))
		box_sleep();
	store_close(store);
	return copy.error.code == ERR_NONE && backup_complete(file, &error) == ERR_NONE &&
	       (!has_trailer || trailer_write(file, &error) == ERR_NONE);
}

static void write_file(const struct buf *bytes)
{
	if (io_write_file(AT_FDCWD, file, bytes->data, bytes->len, 0600) != 0)
		abort();
}

static void read_back(struct buf *bytes)
{
	if (io_read_file(AT_FDCWD, file, 64u << 20, bytes) != 0)
		abort();
}

TEST every_bit_of_a_backup_counts(void)
{
	struct buf bytes = { 0 };
	uint64_t random = 22;
	bool has_trailer;

	ASSERT(make_backup(true));
	ASSERT_EQ_FMT(ERR_NONE, trailer_check(file, &has_trailer, &error), "%d");
	ASSERT(has_trailer);
	read_back(&bytes);
	/* Random bits of the whole file, then each bit of the trailer. */
	for (size_t i = 0; i < FLIPS + TRAILER_LEN * 8; i++) {
		size_t bit;

		random = random * 6364136223846793005u + 1442695040888963407u;
		bit = i < FLIPS ? (size_t)(random >> 20) % (bytes.len * 8) : (bytes.len - TRAILER_LEN) * 8 + i - FLIPS;
		bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		write_file(&bytes);
		ASSERT_EQ_FMT(ERR_STORE_TRUST, trailer_check(file, &has_trailer, &error), "%d");
		bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	write_file(&bytes);
	ASSERT_EQ_FMT(ERR_NONE, trailer_check(file, &has_trailer, &error), "%d");
	buf_free(&bytes);
	PASS();
}

/* A copy of the trailer and the whole file twice are refused too, although each ends with a valid-looking trailer. */
TEST nothing_may_follow_a_trailer(void)
{
	struct buf whole = { 0 };
	bool has_trailer;

	ASSERT(make_backup(true));
	read_back(&whole);
	for (size_t junk = 1; junk <= whole.len; junk = junk < 4 ? junk + 1 : junk * 3) {
		struct buf bytes = { 0 };

		buf_add(&bytes, whole.data, whole.len);
		buf_add(&bytes, whole.data + whole.len - junk, junk);
		write_file(&bytes);
		ASSERT_EQ_FMT(ERR_STORE_TRUST, trailer_check(file, &has_trailer, &error), "%d");
		buf_free(&bytes);
	}
	buf_free(&whole);
	PASS();
}

TEST a_cut_trailer_is_refused(void)
{
	struct buf whole = { 0 };
	bool has_trailer;

	ASSERT(make_backup(true));
	read_back(&whole);
	for (size_t cut = 1; cut < TRAILER_LEN; cut++) {
		buf_cut(&whole, whole.len - 1);
		write_file(&whole);
		ASSERT_EQ_FMT(ERR_STORE_TRUST, trailer_check(file, &has_trailer, &error), "%d");
	}
	buf_free(&whole);
	PASS();
}

TEST a_backup_of_an_older_titan_has_no_trailer(void)
{
	struct buf bytes = { 0 };
	bool has_trailer = true;

	ASSERT(make_backup(false));
	ASSERT_EQ_FMT(ERR_NONE, trailer_check(file, &has_trailer, &error), "%d");
	ASSERT_FALSE(has_trailer);
	read_back(&bytes);
	buf_add_byte(&bytes, 'x');
	write_file(&bytes);
	ASSERT_EQ_FMT(ERR_STORE_TRUST, trailer_check(file, &has_trailer, &error), "%d");
	buf_free(&bytes);
	PASS();
}

/* SQLite ignores bytes behind the last page. */
TEST a_backup_with_a_trailer_is_a_database(void)
{
	struct restored restored;
	char path[sizeof(box_dir) + 16];

	ASSERT(make_backup(true));
	snprintf(path, sizeof(path), "%s/other.db", box_dir);
	ASSERT_EQ_FMTm(error.text, ERR_NONE, store_restore(file, path, &restored, &error), "%d");
	PASS();
}

SUITE(store_trailer)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(every_bit_of_a_backup_counts);
	RUN_TEST(nothing_may_follow_a_trailer);
	RUN_TEST(a_cut_trailer_is_refused);
	RUN_TEST(a_backup_of_an_older_titan_has_no_trailer);
	RUN_TEST(a_backup_with_a_trailer_is_a_database);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	box_in_memory();
	RUN_SUITE(store_trailer);
	GREATEST_MAIN_END();
}
