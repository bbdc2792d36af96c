/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 from OpenSSL's libcrypto. */
#ifndef TITAN_BASE_SHA256_H
#define TITAN_BASE_SHA256_H

#include "base/slice.h"

#define SHA256_SIZE 32

struct sha256 {
	void *context;                   /* OpenSSL's context; NULL: not begun, or ended */
};

void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, struct slice bytes);
void sha256_add_u64(struct sha256 *hash, uint64_t number);       /* adds a number as eight bytes, little-endian */
void sha256_end(struct sha256 *hash, uint8_t ret_digest[SHA256_SIZE]);
void sha256_of(struct slice bytes, uint8_t ret_digest[SHA256_SIZE]);     /* the hash of these bytes */
/* A hash as text: sha256: and 64 hexadecimal digits, and a NUL. */
#define SHA256_TEXT_SIZE (7 + 2 * SHA256_SIZE + 1)
void sha256_text(const uint8_t digest[SHA256_SIZE], char ret_text[SHA256_TEXT_SIZE]);
bool sha256_read(struct slice text, uint8_t ret_digest[SHA256_SIZE]);    /* false: the text isn't such a hash */
void sha256_drop(struct sha256 *hash);                           /* free a hash that wasn't necessarily ended */

#endif
