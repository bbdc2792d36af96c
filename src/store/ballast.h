/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files beside the database that reserve disk space; they are made again when there is plenty of room. The ballast is
 * removed when the disk is full, so that results of jobs and cancels can still be written. The last reserve is removed
 * when that room is used up too, but only for a start of the master or for an act that frees room (cancel, prune).
 */
#ifndef TITAN_STORE_BALLAST_H
#define TITAN_STORE_BALLAST_H

#include <stdbool.h>
#include <stdint.h>

#define BALLAST_SUFFIX "-ballast"
#define BALLAST_LAST_SUFFIX "-last-reserve"

enum ballast_state {
	BALLAST_NONE,            /* the file system of the store can't reserve space */
	BALLAST_HELD,
	BALLAST_GIVEN_UP
};

struct ballast {
	char *path;
	int64_t size;
	enum ballast_state state;
};

/* Set up a ballast file, and create it if there is room. */
void ballast_init(struct ballast *ballast, const char *database_path, const char *suffix, int64_t size);
void ballast_free(struct ballast *ballast);      /* free the memory and keep the file */
bool ballast_give_up(struct ballast *ballast);   /* remove the file; false: there was none */
bool ballast_take_again(struct ballast *ballast);        /* make the file again; false: there isn't enough room yet */

#endif
