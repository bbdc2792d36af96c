/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file beside the database that holds room for hard times. When the disk is full it is given up, so that what
 * was promised, and cancelling, can still be written; it is made again when there is plenty.
 */
#ifndef TITAN_STORE_BALLAST_H
#define TITAN_STORE_BALLAST_H

#include <stdbool.h>

enum ballast_state {
	BALLAST_NONE,            /* this file system gives none */
	BALLAST_HELD,
	BALLAST_GIVEN_UP
};

struct ballast {
	char *path;
	enum ballast_state state;
};

void ballast_init(struct ballast *ballast, const char *database_path);   /* and takes it, if there is room */
void ballast_free(struct ballast *ballast);      /* the file stays */
bool ballast_give_up(struct ballast *ballast);   /* false when there was none to give up */
bool ballast_take_again(struct ballast *ballast);        /* false: there is no room yet */

#endif
