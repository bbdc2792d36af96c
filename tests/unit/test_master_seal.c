/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sealed secrets can only be opened with their key and name; the key's file is refused if others may read it. */
#include <sys/stat.h>
#include <unistd.h>

#include "greatest.h"
#include "master/seal.h"
#include "scratch.h"

static struct statedir statedir;
static uint8_t key[SEAL_KEY_SIZE];

TEST sealed_secret_opens_with_its_key_and_name_only(void)
{
	uint8_t sealed[32 + SEAL_EXTRA], again[32 + SEAL_EXTRA], opened[32 + SEAL_EXTRA], other[SEAL_KEY_SIZE] = { 1 };
	struct slice name = slice_str("anna.1"), secret = slice_str("a secret that has thirty-two byt");

	seal(key, name, secret, sealed);
	seal(key, name, secret, again);
	ASSERT(memcmp(sealed, again, sizeof(sealed)) != 0);      /* two equal secrets don't look equal when sealed */
	ASSERT(seal_open(key, name, slice_make(sealed, sizeof(sealed)), opened));
	ASSERT_MEM_EQ(secret.data, opened, 32);
	ASSERT_FALSE(seal_open(other, name, slice_make(sealed, sizeof(sealed)), opened));
	ASSERT_FALSE(seal_open(key, slice_str("bert.1"), slice_make(sealed, sizeof(sealed)), opened));
	ASSERT_FALSE(seal_open(key, name, slice_make(sealed, SEAL_EXTRA - 1), opened));
	for (size_t i = 0; i < sizeof(sealed); i++) {
		sealed[i] ^= 1;
		ASSERT_FALSE(seal_open(key, name, slice_make(sealed, sizeof(sealed)), opened));
		sealed[i] ^= 1;
	}
	PASS();
}

TEST key_file_is_made_once_and_refused_when_others_may_read_it(void)
{
	uint8_t first[SEAL_KEY_SIZE], second[SEAL_KEY_SIZE];
	struct error error;
	char path[PATH_MAX];

	ASSERT_EQ(ERR_NONE, seal_key_open(&statedir, first, &error));
	ASSERT_EQ(ERR_NONE, seal_key_open(&statedir, second, &error));
	ASSERT_MEM_EQ(first, second, SEAL_KEY_SIZE);
	statedir_path(&statedir, "titan.key", path);
	chmod(path, 0640);
	ASSERT_EQ(ERR_DENIED, seal_key_open(&statedir, second, &error));
	chmod(path, 0600);
	ASSERT_EQ(0, truncate(path, 31));
	ASSERT_EQ(ERR_DAMAGED, seal_key_open(&statedir, second, &error));
	ASSERT_EQ(0, unlink(path));
	ASSERT_EQ(0, symlink("elsewhere", path));
	ASSERT(seal_key_open(&statedir, second, &error) != ERR_NONE);
	PASS();
}

SUITE(master_seal)
{
	RUN_TEST(sealed_secret_opens_with_its_key_and_name_only);
	RUN_TEST(key_file_is_made_once_and_refused_when_others_may_read_it);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	char dir[SCRATCH_SIZE];

	GREATEST_MAIN_BEGIN();
	scratch_new("seal", dir);
	snprintf(statedir.dir, sizeof(statedir.dir), "%s", dir);
	RUN_SUITE(master_seal);
	GREATEST_MAIN_END();
}
