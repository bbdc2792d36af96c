/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that keep contents on disk. */
#ifndef TITAN_GOODS_BLOBS_INTERNAL_H
#define TITAN_GOODS_BLOBS_INTERNAL_H

#include "base/map.h"
#include "goods/blobs.h"

#define HEX_SIZE (2 * SHA256_SIZE + 1)
#define BLOB_PATH_SIZE (HEX_SIZE + 1)    /* ab/cdef... */

struct pack;

struct packed {                          /* a content in a pack */
	uint8_t hash[SHA256_SIZE];
	struct pack *pack;
	uint32_t offset, size;
};

struct pack {
	struct pack *next;
	char name[HEX_SIZE];
	struct packed *at;               /* sorted as in the file */
	uint32_t count;
	uint32_t live;                   /* how many of them are found in this pack */
	int64_t made_s;                  /* UTC seconds */
};

struct part {                            /* an unfinished upload whose file is open */
	char name[HEX_SIZE];
	int fd;
	uint64_t size, synced;           /* bytes that are there, and that the disk was told to write */
	struct sha256 hash;              /* of these bytes */
	uint64_t used;                   /* when it was last used, to close the one unused for longest */
};

#define PARTS_OPEN 16

struct blobs {
	char *dir;
	int blobs_fd, packs_fd, incoming_fd;
	struct name_map packed;          /* from a hash to struct packed */
	struct pack *packs;
	struct part parts[PARTS_OPEN];   /* fd -1: free */
	uint64_t uses;
};

void hex_of(const uint8_t hash[SHA256_SIZE], char ret_text[HEX_SIZE]);
void blob_path(const uint8_t hash[SHA256_SIZE], char ret_path[BLOB_PATH_SIZE]);
enum err blobs_failed(const struct blobs *blobs, int number, const char *what, struct error *error);
/* Is there disk space for so many bytes more? */
enum err blobs_room(const struct blobs *blobs, uint64_t bytes, struct error *error);
/* Move a finished file from incoming to its place and sync the directory. */
enum err blobs_keep(struct blobs *blobs, const char *name, const uint8_t hash[SHA256_SIZE], struct error *error);

/* pack.c */
enum err packs_load(struct blobs *blobs, struct error *error);
void packs_free(struct blobs *blobs);
const struct packed *packed_find(const struct blobs *blobs, const uint8_t hash[SHA256_SIZE]);
enum err packed_read(const struct blobs *blobs, const struct packed *packed, struct buf *out, struct error *error);
bool packed_remove(struct blobs *blobs, const uint8_t hash[SHA256_SIZE]);
uint64_t packs_sweep(struct blobs *blobs, int64_t kept_from, bool (*wanted_cb)(void *arg, const uint8_t hash[SHA256_SIZE]), void *arg);

/* part.c */
void parts_close(struct blobs *blobs);
void parts_sweep(struct blobs *blobs, int64_t kept_from);

#endif
