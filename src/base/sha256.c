/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256. The library fails only when memory runs out, which stops the program as everywhere. */
#include "base/sha256.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

#include "base/check.h"

static EVP_MD *method;

static void fetch_method(void)
{
	method = EVP_MD_fetch(NULL, "SHA256", NULL);
	CHECK(method != NULL);
}

/* With EVP_sha256() the library would look for its implementation at each start, which costs more than a short hash. */
void sha256_init(struct sha256 *hash)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	CHECK(pthread_once(&once, fetch_method) == 0);
	hash->context = EVP_MD_CTX_new();
	CHECK(hash->context && EVP_DigestInit_ex(hash->context, method, NULL) == 1);
}

void sha256_add(struct sha256 *hash, struct slice bytes)
{
	CHECK(EVP_DigestUpdate(hash->context, bytes.data, bytes.len) == 1);
}

void sha256_add_u64(struct sha256 *hash, uint64_t number)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
	sha256_add(hash, slice_make(bytes, sizeof(bytes)));
}

void sha256_end(struct sha256 *hash, uint8_t ret_digest[SHA256_SIZE])
{
	CHECK(EVP_DigestFinal_ex(hash->context, ret_digest, NULL) == 1);
	sha256_drop(hash);
}

void sha256_drop(struct sha256 *hash)
{
	EVP_MD_CTX_free(hash->context);
	hash->context = NULL;
}

void sha256_of(struct slice bytes, uint8_t ret_digest[SHA256_SIZE])
{
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add(&hash, bytes);
	sha256_end(&hash, ret_digest);
}

static const char prefix[] = "sha256:";

void sha256_text(const uint8_t digest[SHA256_SIZE], char ret_text[SHA256_TEXT_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	char *at = ret_text + sizeof(prefix) - 1;

	memcpy(ret_text, prefix, sizeof(prefix) - 1);
	for (size_t i = 0; i < SHA256_SIZE; i++) {
		*at++ = digits[digest[i] >> 4];
		*at++ = digits[digest[i] & 15];
	}
	*at = '\0';
}

static int digit_of(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

bool sha256_read(struct slice text, uint8_t ret_digest[SHA256_SIZE])
{
	if (text.len != SHA256_TEXT_SIZE - 1 || memcmp(text.data, prefix, sizeof(prefix) - 1) != 0)
		return false;
	for (size_t i = 0; i < SHA256_SIZE; i++) {
		int high = digit_of(text.data[sizeof(prefix) - 1 + 2 * i]), low = digit_of(text.data[sizeof(prefix) + 2 * i]);

		if (high < 0 || low < 0)
			return false;
		ret_digest[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
