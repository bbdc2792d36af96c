/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sealing: secrets are encrypted before they get to the store, with a key in a separate file beside it. So a copy of
 * the store alone, such as a backup, doesn't reveal the keys of the cluster's peers.
 */
#ifndef TITAN_MASTER_SEAL_H
#define TITAN_MASTER_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/statedir.h"
#include "proto/error.h"

enum { SEAL_KEY_SIZE = 32, SEAL_EXTRA = 28 };    /* SEAL_EXTRA: bytes that sealing adds: nonce and tag */

/*
 * Read the key from the cluster's titan.key; if there is none, make it. ERR_DENIED if others than the owner may read
 * the file, ERR_DAMAGED if it has another size.
 */
enum err seal_key_open(const struct statedir *statedir, uint8_t ret_key[SEAL_KEY_SIZE], struct error *error);
/* Encrypt. name is bound to the result: it can't be opened under another name. ret_sealed: secret.len + SEAL_EXTRA bytes. */
void seal(const uint8_t key[SEAL_KEY_SIZE], struct slice name, struct slice secret, uint8_t *ret_sealed);
/* Decrypt into ret_secret, which has room for sealed.len bytes. False: another key or name, or changed bytes. */
bool seal_open(const uint8_t key[SEAL_KEY_SIZE], struct slice name, struct slice sealed, uint8_t *ret_secret);

#endif
