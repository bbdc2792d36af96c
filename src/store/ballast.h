/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files beside the database that hold room for hard times; they are made again when there is plenty. The ballast is
 * given up when the disk is full, so that what was promised, and cancelling, can still be written. The last reserve is
 * given up when that is used, too, for what makes room (a cancel, pruning) and for a start alone.
 */
#ifndef TITAN_STORE_BALLAST_H
#define TITAN_STORE_BALLAST_H

#include <stdbool.h>
#include <stdint.h>

#define BALLAST_SUFFIX "-ballast"
#define BALLAST_LAST_SUFFIX "-last-reserve"

enum ballast_state {
	BALLAST_NONE,            /* this file system gives none */
	BALLAST_HELD,
	BALLAST_GIVEN_UP
};

struct ballast {
	char *path;
	int64_t size;
	enum ballast_state state;
};

/* And takes it, if there is room. */
void ballast_init(struct ballast *ballast, const char *database_path, const char *suffix, int64_t size);
void ballast_free(struct ballast *ballast);      /* the file stays */
bool ballast_give_up(struct ballast *ballast);   /* false when there was none to give up */
bool ballast_take_again(struct ballast *ballast);        /* false: there is no room yet */

#endif
