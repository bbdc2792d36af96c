/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker's directory, which its guardian and its keeper share, and the locks in it. */
#ifndef TITAN_WORKER_HOME_H
#define TITAN_WORKER_HOME_H

#include "worker/worker.h"

#define HOME_KEEPER   "lock"             /* locked by the keeper */
#define HOME_GUARDIAN "guardian"         /* locked while a guardian or its keeper lives */

/* Make the directory if need be, and open it. ret_path has PATH_MAX bytes. */
enum err home_open(const struct worker_options *options, char *ret_path, int *ret_fd, struct error *error);
/* Take one of the locks; another holder has a second to let go of it, then ERR_BUSY. */
enum err home_lock(const struct worker_options *options, const char *path, int dir_fd, const char *lock, int *ret_fd,
		   struct error *error);
/* Write into the guardian's lock which process is to be told what the worker is to do: this one. */
void home_sign(int lock_fd);
/* What the environment of this worker's jobs has in TITAN_MARK, before the job's number; 0 or -errno. */
#define HOME_MARK_SIZE 48
int home_mark(int dir_fd, char ret_mark[HOME_MARK_SIZE]);
void home_boot_id(uint8_t ret_id[16]);   /* of this boot of the machine; zeros when it can't be read */

#endif
