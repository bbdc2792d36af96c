/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A layer (VFS) below SQLite. SQLite writes each page of the write-ahead log in two calls; this layer joins all pages
 * of a commit into one write. Gathered bytes are written to the file before any other operation on it, such as a sync.
 * A log that grows is given zeros ahead of its end, so that the next commits don't change the size of its file.
 */
#ifndef TITAN_STORE_GATHER_H
#define TITAN_STORE_GATHER_H

/* Register the layer on top of the current default VFS. Return its name for sqlite3_open_v2. */
const char *gather_vfs(void);

#endif
