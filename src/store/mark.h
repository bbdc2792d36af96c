/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file beside the database with the number of the last acknowledged turn. SQLite can't tell a damaged or missing log
 * from one that ended earlier; but a store that ends before the mark has lost acknowledged turns. The mark is written
 * after each commit and never synced: a power cut may leave an older mark, never one that is too new.
 */
#ifndef TITAN_STORE_MARK_H
#define TITAN_STORE_MARK_H

#include <stdint.h>

#include "proto/error.h"

struct mark {
	int fd;                                  /* descriptor of the mark file; -1: there is none */
};

enum err mark_open(struct mark *mark, const char *database_path, struct error *error);
void mark_set(struct mark *mark, uint64_t turn);
void mark_close(struct mark *mark);              /* close the mark file, which stays on disk */
/* Check that a store whose last turn is this one has every acknowledged turn. */
enum err mark_agrees(const char *database_path, uint64_t turn, struct error *error);
/* Remove the mark when another store takes the database's place. */
enum err mark_remove(const char *database_path, struct error *error);

#endif
