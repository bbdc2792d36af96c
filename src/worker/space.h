/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where attempts run and write: attempts/N/ (the working directory), attempts/N.out, attempts/N.err. Making
 * and removing files costs more than a short job, so a space that was left clean serves the next attempt;
 * one that wasn't is emptied first, its directory by a thread of its own. Never given to two at once.
 */
#ifndef TITAN_WORKER_SPACE_H
#define TITAN_WORKER_SPACE_H

#include <stdint.h>

#include "base/io.h"
#include "proto/error.h"

struct space {
	uint64_t id;                     /* from 1 */
	int dir_fd, out_fd, err_fd;
	struct io_identity was[3];       /* of its directory and its files, when they were opened */
	int64_t clean_ns;                /* change time of the directory when it was last known to be empty */
	int64_t taken_ns;                /* by the coarse wall clock, as change times are */
	bool plain, empty;               /* its files, when their sizes were asked for */
	int pipe_fds[2];                 /* drain.h: what a lossless attempt writes comes through these; else -1 */
	struct space *next;              /* among the free ones */
};

struct spaces;

enum err spaces_open(int worker_fd, struct spaces **ret_spaces, struct error *error);
void spaces_close(struct spaces *spaces);        /* leaves the files; NULL is fine */

/* The one that an earlier keeper gave to an attempt; NULL if its files are gone. Before the first take. */
struct space *space_claim(struct spaces *spaces, uint64_t id);
/* Removes what nobody claimed. */
void spaces_sweep(struct spaces *spaces);

struct space *space_take(struct spaces *spaces);         /* NULL: errno says why */
/*
 * Named pipes in front of its files, attempts/N.out.pipe and N.err.pipe: made, or found again. Ours are opened for both
 * ways, so that they outlive every writer. 0 or -errno.
 */
int space_open_pipes(struct spaces *spaces, struct space *space, bool make);
int space_open_pipe_end(struct spaces *spaces, const struct space *space, int stream);   /* a job's; or -errno */
void space_close_pipes(struct spaces *spaces, struct space *space);                      /* and removes them */
/* When nobody writes to it any more. */
void space_sizes(struct space *space, uint64_t ret_sizes[2]);
/*
 * Its sizes were asked for, and nobody reads from it any more. It isn't given to the next one before spaces_rested:
 * a keeper that died in between would take what the next one wrote for the output of this one.
 */
void space_release(struct spaces *spaces, struct space *space);
void spaces_rested(struct spaces *spaces);       /* the spool says that those released have ended */
/* Closes it, files left: an attempt that outlives this keeper has it. */
void space_forget(struct space *space);

#endif
