/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directories on disk: read into a manifest, and made from one. Links are never followed. */
#ifndef TITAN_GOODS_FOLDER_H
#define TITAN_GOODS_FOLDER_H

#include <sys/stat.h>

#include "goods/manifest.h"
#include "proto/message.h"

/* What a file was like when it was read; if it is different later, the file has changed. */
struct folder_mark {
	uint64_t device, inode, size;
	int64_t changed_ns;
	int64_t modified_ns;
};

/* Read and hash a regular file. ERR_CHANGED: it changed meanwhile. path is for errors. */
enum err folder_hash_file(int fd, const char *path, uint8_t ret_hash[SHA256_SIZE], struct folder_mark *ret_mark, struct error *error);
/* Has the open file changed since? */
bool folder_changed(int fd, const struct folder_mark *mark);

struct folder {
	struct manifest manifest;
};

/*
 * Read a directory: all that is in it, hidden files too. Sockets, devices and pipes are refused, and links that leave it. name: as the
 * user wrote it, for errors. The texts are in the arena.
 */
enum err folder_read(int dir_fd, const char *name, struct arena *arena, struct folder *ret, struct error *error);
/*
 * Read only what the patterns (base/glob.h) choose. Each is written after a sign: + for files that must be there, ? for files that may lack,
 * - for files that are left out. The last pattern that matches a path decides. ERR_NOT_FOUND: a pattern with + chose nothing; the error
 * names it. Files of titan itself, .titan-*, are never chosen. Directories that aren't needed aren't read.
 */
enum err folder_read_chosen(int dir_fd, const char *name, struct slice_list patterns, struct arena *arena, struct folder *ret,
			    struct error *error);
void folder_free(struct folder *folder);

/* Open a file of a directory without following links. -errno if that fails. */
int folder_open(int dir_fd, struct slice path);

/*
 * Make the directories and links of a manifest in an empty directory, or the new file of one entry, to be written
 * and closed by the caller.
 */
enum err folder_make_dirs(int dir_fd, const struct manifest *manifest, struct error *error);
enum err folder_make_links(int dir_fd, const struct manifest *manifest, struct error *error);
int folder_create(int dir_fd, const struct manifest_entry *entry); /* a descriptor, or -errno */

#endif
