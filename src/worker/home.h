/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker's directory, which guardian and keeper share, and the locks in it. */
#ifndef TITAN_WORKER_HOME_H
#define TITAN_WORKER_HOME_H

#include "worker/worker.h"

#define HOME_KEEPER   "lock"             /* file locked by the keeper */
#define HOME_GUARDIAN "guardian"         /* file locked while a guardian or its keeper lives */

/* Open the worker's directory, and make it if need be. ret_path has PATH_MAX bytes. */
enum err home_open(const struct worker_options *options, char *ret_path, int *ret_fd, struct error *error);
/* Take one of the two locks. ERR_BUSY: another process kept it for a second. */
enum err home_lock(const struct worker_options *options, const char *path, int dir_fd, const char *lock, int *ret_fd,
		   struct error *error);
/* Write this process's pid into the guardian's lock file, so that signals for the worker are sent to it. */
void home_sign(int lock_fd);
/*
 * Write the worker's mark: the part of TITAN_MARK, in the environment of its jobs, before the job's number. 0 or
 * -errno.
 */
#define HOME_MARK_SIZE 48
int home_mark(int dir_fd, char ret_mark[HOME_MARK_SIZE]);
void home_boot_id(uint8_t ret_id[16]);   /* reads the boot id of the machine; zeros if it can't be read */

#endif
