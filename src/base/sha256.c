/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256. The library fails only when memory runs out, which stops the program as everywhere. */
#include "base/sha256.h"

#include <openssl/evp.h>
#include <pthread.h>

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
