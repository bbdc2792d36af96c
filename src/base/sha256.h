/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 (FIPS 180-4), for what is pure and links no library of ciphers. */
#ifndef TITAN_BASE_SHA256_H
#define TITAN_BASE_SHA256_H

#include "base/slice.h"

#define SHA256_SIZE 32

struct sha256 {
	uint32_t state[8];
	uint64_t len;
	uint8_t block[64];
};

void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, struct slice bytes);
void sha256_add_u64(struct sha256 *hash, uint64_t number);       /* eight bytes, little-endian */
void sha256_end(struct sha256 *hash, uint8_t ret_digest[SHA256_SIZE]);

#endif
