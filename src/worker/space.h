/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where attempts run and write: attempts/N/ (working directory), attempts/N.out, attempts/N.err. Making and removing
 * files costs more than a short job, so the next attempt uses a space again that was left clean. Otherwise the space is
 * emptied first; a thread removes the old directory. A space never belongs to two attempts at once.
 */
#ifndef TITAN_WORKER_SPACE_H
#define TITAN_WORKER_SPACE_H

#include <stdint.h>

#include "base/io.h"
#include "proto/error.h"
#include "worker/job_user.h"

struct space {
	uint64_t id;                     /* number of the space, counted from 1 */
	int dir_fd, out_fd, err_fd;
	/* device, inode and mount of the directory and the two files when they were opened */
	struct io_identity was[3];
	int64_t clean_ns;                /* change time of the directory when it was last known to be empty */
	/* Coarse wall clock when the space was taken; change times use the same clock. */
	int64_t taken_ns;
	/*
	 * What the last call of space_sizes found. plain: mode and number of links of the output files (standard
	 * output and standard error) are unchanged; empty: both output files have size 0.
	 */
	bool plain, empty;
	/* descriptors of the pipes through which a lossless attempt writes (see drain.c), or -1 */
	int pipe_fds[2];
	struct space *next;              /* next in the list of free spaces */
};

struct spaces;

/* user: whose the directories and files are, with their place; NULL: this process's own, below worker_fd. */
enum err spaces_open(int worker_fd, const struct job_user *user, struct spaces **ret_spaces, struct error *error);
void spaces_close(struct spaces *spaces);        /* close all spaces and leave their files; spaces may be NULL */

/*
 * Open the space that an earlier keeper gave to an attempt; NULL: its files are gone. Call it before the first
 * space_take.
 */
struct space *space_claim(struct spaces *spaces, uint64_t id);
/* Remove the spaces that weren't claimed. */
void spaces_sweep(struct spaces *spaces);

struct space *space_take(struct spaces *spaces);         /* a space for an attempt; NULL: errno says why */
/*
 * Open the named pipes attempts/N.out.pipe and attempts/N.err.pipe; with make set, make them first. The keeper opens
 * them for reading and writing, so they outlive every writer. 0 or -errno.
 */
int space_open_pipes(struct spaces *spaces, struct space *space, bool make);
/* Open the job's end of one pipe; a descriptor or -errno. */
int space_open_pipe_end(struct spaces *spaces, const struct space *space, int stream);
/* Close and remove the pipes of a space. */
void space_close_pipes(struct spaces *spaces, struct space *space);
/* Get the sizes of the two files. Call it when no process writes to them any more. */
void space_sizes(struct space *space, uint64_t ret_sizes[2]);
/*
 * Release a space after space_sizes, when no process reads from it any more. It isn't used again before spaces_rested;
 * otherwise, if this keeper died in between, the next one would take another attempt's output for this one's.
 */
void space_release(struct spaces *spaces, struct space *space);
/* Free the released spaces, because the spool now says that their attempts have ended. */
void spaces_rested(struct spaces *spaces);
/* Close the space but leave its files, because an attempt that outlives this keeper uses them. */
void space_forget(struct space *space);

#endif
