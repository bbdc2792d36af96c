/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Key files: the key with which a client or worker of another machine proves its identity, on one line. It begins with
 * the kind of its holder: t1:ID:SECRET is a token of a person or program, w1:ID:SECRET the key of a worker, j1:ID:SECRET a
 * token with which new workers make their keys. SECRET is
 * 64 hexadecimal digits.
 */
#ifndef TITAN_NET_KEYFILE_H
#define TITAN_NET_KEYFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "net/transport_tls.h"

/* For whom a key is: a person or program, a worker, or workers that are to join. */
enum key_kind { KEY_PERSON = 't', KEY_WORKER = 'w', KEY_JOIN = 'j' };

struct key {
	char identity[IDENTITY_KEY_MAX + 1];     /* t1:ID, w1:ID or j1:ID */
	uint8_t secret[TLS_KEY_SIZE];
};

/* Make a key with a random secret; the id is the name followed by random characters. */
void key_make(struct key *ret, enum key_kind kind, const char *name);
/* Parse the line; what: where the line comes from, for errors. */
enum err key_parse(struct slice text, const char *what, struct key *ret, struct error *error);
void key_write(const struct key *key, struct buf *out);
/* ERR_DENIED: others than the owner may read the file. */
enum err keyfile_read(const char *path, struct key *ret, struct error *error);
/* Make a new file, mode 0600. */
enum err keyfile_write(const char *path, const struct key *key, struct error *error);
static inline bool key_is_worker(const struct key *key)
{
	return key->identity[0] == KEY_WORKER;
}
static inline bool key_joins(const struct key *key)
{
	return key->identity[0] == KEY_JOIN;
}
/* The id of a key without the kind of its holder (t1:, w1: or j1:). */
static inline const char *key_id(const struct key *key)
{
	return key->identity + 3;
}

#endif
