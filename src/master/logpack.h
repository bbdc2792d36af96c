/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The compressed form of a log, LOGS/RUN/JOB.EPOCH.zst: the records of the plain form in zstd frames, then an index in
 * a frame that zstd skips. Each frame has whole records, about 256 KiB of them, and a checksum of its own. Offsets are
 * those of the plain form, so a reader doesn't notice when a log is compressed. `zstd -dc` restores the plain form.
 * The index, little-endian, follows the skippable frame's u32 magic and u32 length:
 *   for each frame its u32 compressed size and u32 plain size
 *   u64 received of stdout, of stderr, kept, dropped, size of the plain form, number of frames
 *   the first 8 bytes of the SHA-256 of everything from the first entry on; 8 bytes "titanlog"
 * Written once, never changed. For one thread. Functions return 0 or -errno; -EBADMSG: the file is damaged.
 */
#ifndef TITAN_MASTER_LOGPACK_H
#define TITAN_MASTER_LOGPACK_H

#include "base/arena.h"
#include "base/buf.h"

/* bytes of records after which a frame ends; its last record may exceed this */
#define LOGPACK_FRAME     262144
#define LOGPACK_FRAME_MAX (2 * LOGPACK_FRAME + 64)

struct logpack_facts {                   /* the state of a log, known without reading its records */
	uint64_t received[2], kept, dropped, size;
};

struct logpack_frame {
	uint64_t at, offset;             /* offset of the frame in this file, and of its records in the plain form */
};

struct logpack {
	struct logpack_facts facts;
	struct logpack_frame *frames;    /* count + 1 entries: the last one is the end */
	size_t count;
};

/* false: built without zstd, so logs are neither compressed nor unpacked. */
bool logpack_able(void);
int logpack_open(int fd, struct logpack *ret_pack);
/*
 * Rebuild the index from the frames, which follow one another from the beginning. Of the facts only size is known then.
 */
int logpack_rebuild(int fd, struct logpack *ret_pack);
void logpack_free(struct logpack *pack);
/* The frame that contains this offset of the plain form; count: the offset is the end. */
size_t logpack_find(const struct logpack *pack, uint64_t offset);
int logpack_read(const struct logpack *pack, int fd, size_t frame, struct arena *arena, struct slice *ret_records);

struct packer;

struct packer *packer_new(int fd);               /* start packing into an empty file, which the caller closes */
int packer_add(struct packer *packer, struct slice records);     /* add one frame; at most LOGPACK_FRAME_MAX bytes */
/* Write the index of the compressed file; nothing is synced. */
int packer_end(struct packer *packer, const struct logpack_facts *facts);
uint64_t packer_size(const struct packer *packer);               /* returns the bytes written so far */
void packer_free(struct packer *packer);

#endif
