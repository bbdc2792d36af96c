/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The compressed form of a log, LOGS/RUN/JOB.EPOCH.zst: the records of the plain form in frames of zstd, each of
 * whole records and about 256 KiB of them, with a checksum of its own; then an index, in a frame that zstd skips.
 * Offsets are those of the plain form, so that a reader doesn't notice that a log became compressed under it.
 * `zstd -dc` makes it plain. The index, little-endian, behind the skippable frame's u32 magic and u32 length:
 *   for each frame u32 its size here, u32 its size plain
 *   u64 received of stdout, of stderr, kept, dropped, size of the plain form, number of frames
 *   the first 8 bytes of the SHA-256 of all that from the first entry on; 8 bytes "titanlog"
 * Written once, never changed. For one thread. Functions return 0 or a negative errno; -EBADMSG: damaged.
 */
#ifndef TITAN_MASTER_LOGPACK_H
#define TITAN_MASTER_LOGPACK_H

#include "base/arena.h"
#include "base/buf.h"

#define LOGPACK_FRAME     262144         /* of records; the last one in it may reach beyond */
#define LOGPACK_FRAME_MAX (2 * LOGPACK_FRAME + 64)

struct logpack_facts {                   /* what a log's state is, without reading it */
	uint64_t received[2], kept, dropped, size;
};

struct logpack_frame {
	uint64_t at, offset;             /* in this file; in the plain form */
};

struct logpack {
	struct logpack_facts facts;
	struct logpack_frame *frames;    /* one more than there are: the end */
	size_t count;
};

bool logpack_able(void);                         /* false: built without zstd; then nothing is written or unpacked */
int logpack_open(int fd, struct logpack *ret_pack);
/* Without its index: the frames that follow each other from the front; of the facts the size alone. */
int logpack_rebuild(int fd, struct logpack *ret_pack);
void logpack_free(struct logpack *pack);
/* The frame that has this offset of the plain form; count at its end. */
size_t logpack_find(const struct logpack *pack, uint64_t offset);
int logpack_read(const struct logpack *pack, int fd, size_t frame, struct arena *arena, struct slice *ret_records);

struct packer;

struct packer *packer_new(int fd);               /* an empty file, open for writing; stays the caller's */
int packer_add(struct packer *packer, struct slice records);     /* one frame; LOGPACK_FRAME_MAX bytes at most */
int packer_end(struct packer *packer, const struct logpack_facts *facts);        /* the index; nothing is synced */
uint64_t packer_size(const struct packer *packer);               /* written so far */
void packer_free(struct packer *packer);

#endif
