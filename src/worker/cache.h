/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The worker's cache of contents of files, each under its SHA-256. What arrives is verified by its hash; later a content is trusted as
 * long as its file has the inode, size and modification time that it had then. What wasn't used for longest goes when there are too
 * many bytes or too little room on the disk. For one thread.
 */
#ifndef TITAN_WORKER_CACHE_H
#define TITAN_WORKER_CACHE_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/sha256.h"

#define CACHE_BYTES_DEFAULT (UINT64_C(10) << 30)

struct cache;
struct cached;                           /* a content in the cache */

/* Open the cache in this directory, which is made if it doesn't exist. Returns 0 or -errno. */
int cache_open(const char *dir, uint64_t limit, struct cache **ret);
void cache_close(struct cache *cache);                   /* cache may be NULL */
/* Find a content, which counts as used now. NULL: it isn't there, or its file is damaged, which removes it. */
struct cached *cache_find(struct cache *cache, const uint8_t hash[SHA256_SIZE], uint64_t size);
/* A content stays while it is pinned; each pin wants an unpin. */
void cache_pin(struct cached *cached);
void cache_unpin(struct cached *cached);
/* Add the whole content to out. Returns 0 or -errno. */
int cache_read(struct cache *cache, const struct cached *cached, struct buf *out);

struct cache_place {                     /* where to put a content */
	int dir_fd;
	const char *path;                /* of the new file, in this directory */
	bool own;                        /* the file must be a copy, because its mode or its bytes may differ from the content's */
	mode_t mode;                     /* of a copy */
	uid_t uid;                       /* to whom a copy belongs; -1: this process */
	gid_t gid;
};

/* Put a content at a place: as another name of its file, which nobody may write to, or as a copy. Returns 0 or -errno. */
int cache_put_at(struct cache *cache, const struct cached *cached, const struct cache_place *place);

/* How many bytes of a content have arrived so far, if it isn't whole. */
uint64_t cache_arrived(const struct cache *cache, const uint8_t hash[SHA256_SIZE]);
/*
 * Add the next bytes of a content; offset 0 begins anew. Returns 1 when it is whole and verified, else 0, or -errno: EBADMSG, it
 * hasn't this hash; ENOSPC, the disk is full. After an error nothing of it is left.
 */
int cache_add(struct cache *cache, const uint8_t hash[SHA256_SIZE], uint64_t size, uint64_t offset, struct slice data);
/* Remove what wasn't used for longest until there are no more bytes than allowed and the disk has some room. */
void cache_trim(struct cache *cache);
uint64_t cache_bytes(const struct cache *cache);

#endif
