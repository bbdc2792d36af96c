/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The examples of FIPS 180-4; messages with lengths around a block's end, hashed whole and in pieces. */
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

#include "greatest.h"

static char hex[2 * SHA256_SIZE + 1];

static const char *digest_of(struct slice bytes, size_t piece)
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 hash;

	sha256_init(&hash);
	for (size_t at = 0; at < bytes.len; at += piece)
		sha256_add(&hash, slice_make(bytes.data + at, bytes.len - at < piece ? bytes.len - at : piece));
	sha256_end(&hash, digest);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	return hex;
}

TEST known_digests(void)
{
	static uint8_t many[1000000];

	memset(many, 'a', sizeof(many));
	ASSERT_STR_EQ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		      digest_of(slice_str(""), 1));
	ASSERT_STR_EQ("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		      digest_of(slice_str("abc"), 3));
	ASSERT_STR_EQ("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
		      digest_of(slice_str("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), 7));
	ASSERT_STR_EQ("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
		      digest_of(slice_make(many, sizeof(many)), 4096));
	PASS();
}

TEST pieces_make_no_difference(void)
{
	uint8_t bytes[200];
	char whole[sizeof(hex)];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	for (size_t len = 50; len < sizeof(bytes); len++) {
		memcpy(whole, digest_of(slice_make(bytes, len), len), sizeof(whole));
		ASSERT_STR_EQ(whole, digest_of(slice_make(bytes, len), 1));
		ASSERT_STR_EQ(whole, digest_of(slice_make(bytes, len), 63));
	}
	PASS();
}

SUITE(base_sha256)
{
	RUN_TEST(known_digests);
	RUN_TEST(pieces_make_no_difference);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(base_sha256);
	GREATEST_MAIN_END();
}
