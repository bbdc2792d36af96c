/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The manifest of a directory: what is in it, as bytes that depend on nothing else, so that equal directories have equal
 * hashes. Paths are relative, sorted by their bytes, and each is below a directory of the manifest. Kept are names, contents,
 * the executable bit and links; owners, times and all other bits of the mode aren't.
 */
#ifndef TITAN_GOODS_MANIFEST_H
#define TITAN_GOODS_MANIFEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "proto/error.h"

enum entry_kind { ENTRY_DIR = 'd', ENTRY_FILE = 'f', ENTRY_PROGRAM = 'x', ENTRY_LINK = 'l' };

struct manifest_entry {
	enum entry_kind kind;
	struct slice path;
	struct slice target;             /* LINK: what it points to */
	uint64_t size;                   /* FILE, PROGRAM */
	uint8_t hash[SHA256_SIZE];       /* FILE, PROGRAM: of the content */
};

struct manifest {
	struct manifest_entry *at;
	size_t count;
};

/* Is this a path that a manifest may have: relative, without . and .. and empty parts? */
bool manifest_path_fits(struct slice path);
/*
 * May a link at this path have this target? It must be relative, may have .. only at its beginning, and may not leave the
 * directory. Then it can't leave it through other links either.
 */
bool manifest_link_fits(struct slice path, struct slice target);
/* Write the entries, which are sorted here. An error names the path that a manifest can't have. */
enum err manifest_write(struct manifest *manifest, struct buf *out, struct error *error);
/* Read and check a manifest. The paths point into the bytes; the entries are in the arena. */
enum err manifest_read(struct slice bytes, struct arena *arena, struct manifest *ret, struct error *error);
void manifest_sum(const struct manifest *manifest, uint64_t *ret_bytes, uint64_t *ret_files);

#endif
