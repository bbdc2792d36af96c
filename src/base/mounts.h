/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mounts whose files are on another machine, such as those of NFS: their source names the same directory on all machines. */
#ifndef TITAN_BASE_MOUNTS_H
#define TITAN_BASE_MOUNTS_H

#include <stdint.h>

#include "base/buf.h"

/*
 * Find the mount of another machine's files that has this path, among those in text (the lines of /proc/self/mountinfo). Of several
 * the one nearest to the path counts. source: only mounts with this source count; empty: all do. Return its device number, and its
 * source, which lies in text; 0: there is none.
 */
uint64_t mount_find(struct slice text, const char *path, struct slice source, struct slice *ret_source);
/* The same among the mounts of this process. The source is appended to ret_source, unless that is NULL. */
uint64_t mount_of(const char *path, struct slice source, struct buf *ret_source);

#endif
