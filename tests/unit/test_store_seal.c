/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Backups whose bytes were changed after they were made. */
#include <sys/stat.h>

#include "greatest.h"
#include "store/backup.h"
#include "store/seal.h"
#include "store_box.h"

#define FLIPS 300
#define SEAL_LEN 106

static char file[sizeof(box_dir) + 16];
static struct error error;

/* A backup with rows, as titan backup makes one; sealed or as an older titan made it. */
static bool make_backup(bool sealed)
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
	       (!sealed || seal_write(file, &error) == ERR_NONE);
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
	bool sealed;

	ASSERT(make_backup(true));
	ASSERT_EQ_FMT(ERR_NONE, seal_check(file, &sealed, &error), "%d");
	ASSERT(sealed);
	read_back(&bytes);
	/* By chance over all of it, then each of the seal. */
	for (size_t i = 0; i < FLIPS + SEAL_LEN * 8; i++) {
		size_t bit;

		random = random * 6364136223846793005u + 1442695040888963407u;
		bit = i < FLIPS ? (size_t)(random >> 20) % (bytes.len * 8) : (bytes.len - SEAL_LEN) * 8 + i - FLIPS;
		bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		write_file(&bytes);
		ASSERT_EQ_FMT(ERR_STORE_TRUST, seal_check(file, &sealed, &error), "%d");
		bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	write_file(&bytes);
	ASSERT_EQ_FMT(ERR_NONE, seal_check(file, &sealed, &error), "%d");
	buf_free(&bytes);
	PASS();
}

/* Also a copy of the seal, and the file twice: each ends with words that look right. */
TEST nothing_may_follow_a_seal(void)
{
	struct buf whole = { 0 };
	bool sealed;

	ASSERT(make_backup(true));
	read_back(&whole);
	for (size_t junk = 1; junk <= whole.len; junk = junk < 4 ? junk + 1 : junk * 3) {
		struct buf bytes = { 0 };

		buf_add(&bytes, whole.data, whole.len);
		buf_add(&bytes, whole.data + whole.len - junk, junk);
		write_file(&bytes);
		ASSERT_EQ_FMT(ERR_STORE_TRUST, seal_check(file, &sealed, &error), "%d");
		buf_free(&bytes);
	}
	buf_free(&whole);
	PASS();
}

TEST a_cut_seal_is_refused(void)
{
	struct buf whole = { 0 };
	bool sealed;

	ASSERT(make_backup(true));
	read_back(&whole);
	for (size_t cut = 1; cut < SEAL_LEN; cut++) {
		buf_cut(&whole, whole.len - 1);
		write_file(&whole);
		ASSERT_EQ_FMT(ERR_STORE_TRUST, seal_check(file, &sealed, &error), "%d");
	}
	buf_free(&whole);
	PASS();
}

TEST a_backup_of_an_older_titan_has_no_seal(void)
{
	struct buf bytes = { 0 };
	bool sealed = true;

	ASSERT(make_backup(false));
	ASSERT_EQ_FMT(ERR_NONE, seal_check(file, &sealed, &error), "%d");
	ASSERT_FALSE(sealed);
	read_back(&bytes);
	buf_add_byte(&bytes, 'x');
	write_file(&bytes);
	ASSERT_EQ_FMT(ERR_STORE_TRUST, seal_check(file, &sealed, &error), "%d");
	buf_free(&bytes);
	PASS();
}

/* SQLite doesn't look behind the last page. */
TEST a_sealed_backup_is_a_database(void)
{
	struct restored restored;
	char path[sizeof(box_dir) + 16];

	ASSERT(make_backup(true));
	snprintf(path, sizeof(path), "%s/other.db", box_dir);
	ASSERT_EQ_FMTm(error.text, ERR_NONE, store_restore(file, path, &restored, &error), "%d");
	PASS();
}

SUITE(store_seal)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(every_bit_of_a_backup_counts);
	RUN_TEST(nothing_may_follow_a_seal);
	RUN_TEST(a_cut_seal_is_refused);
	RUN_TEST(a_backup_of_an_older_titan_has_no_seal);
	RUN_TEST(a_sealed_backup_is_a_database);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	box_in_memory();
	RUN_SUITE(store_seal);
	GREATEST_MAIN_END();
}
