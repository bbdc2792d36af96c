/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A layer below SQLite that writes a commit's part of the write-ahead log in one call: SQLite writes each page of it in two.
 * What it has gathered goes to the file before anything else is done there, a sync above all.
 */
#ifndef TITAN_STORE_GATHER_H
#define TITAN_STORE_GATHER_H

/* The name of it for sqlite3_open_v2; it stands on what is the default now. */
const char *gather_vfs(void);

#endif
