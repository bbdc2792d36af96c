/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Contents of files on disk, each under its SHA-256. A content is there only when it is whole, has that hash, and is synced;
 * unfinished uploads are kept apart. Small contents that came together are in one file, a pack. For one thread.
 */
#ifndef TITAN_GOODS_BLOBS_H
#define TITAN_GOODS_BLOBS_H

#include "base/buf.h"
#include "base/sha256.h"
#include "proto/message.h"

struct blobs;

/* Open the directory, which is made if it doesn't exist. */
enum err blobs_open(const char *dir, struct blobs **ret_blobs, struct error *error);
void blobs_close(struct blobs *blobs);                   /* blobs may be NULL */

bool blobs_find(const struct blobs *blobs, const uint8_t hash[SHA256_SIZE], uint64_t *ret_size);
/* Add at most limit bytes from offset on. */
enum err blobs_read(const struct blobs *blobs, const uint8_t hash[SHA256_SIZE], uint64_t offset, uint64_t limit, struct buf *out,
		    uint64_t *ret_size, struct error *error);
/* Keep small contents together. All are checked first; after an error none was kept. */
enum err blobs_pack(struct blobs *blobs, const struct rec_goods_small *items, size_t count, struct error *error);
void blobs_remove(struct blobs *blobs, const uint8_t hash[SHA256_SIZE]);
/*
 * Remove each content that wanted_cb doesn't want. Contents and unfinished uploads that were changed since kept_from (UTC
 * seconds) stay. Returns how many contents were removed.
 */
uint64_t blobs_sweep(struct blobs *blobs, int64_t kept_from, bool (*wanted_cb)(void *arg, const uint8_t hash[SHA256_SIZE]), void *arg);

/* ---- uploads (part.c): a content that arrives in pieces ---- */

struct part_key {                        /* each uploader has unfinished uploads of its own */
	uint8_t hash[SHA256_SIZE];
	struct slice owner;
};

uint64_t part_size(const struct blobs *blobs, const struct part_key *key);       /* bytes that are there, 0: none */
/*
 * Add the next piece; offset 0 begins anew. When the content is whole it is checked, synced and put in its place, and *ret_whole
 * is set. ERR_INVALID: it hasn't this hash; ERR_CHANGED: the piece isn't the next one; ERR_FULL: the disk is full. After ERR_INVALID
 * and ERR_FULL nothing of it is left.
 */
enum err part_add(struct blobs *blobs, const struct part_key *key, uint64_t size, uint64_t offset, struct slice data, bool *ret_whole,
		  struct error *error);

#endif
