/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The user as whom a worker of root runs its jobs, and the place where these jobs have their directories and their socket:
 * the state directory of the worker is closed to that user.
 */
#ifndef TITAN_WORKER_JOB_USER_H
#define TITAN_WORKER_JOB_USER_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/error.h"

#define JOB_GROUPS_MAX 256

struct job_user {
	uid_t uid;
	gid_t gid;
	gid_t groups[JOB_GROUPS_MAX];
	int group_count;
	char name[64], home[512], shell[512];
	char place[PATH_MAX - 64];       /* set by job_user_place */
};

/* Find the user of this name or number. Refuses root, and everybody if this process isn't root. */
enum err job_user_find(const char *name, struct job_user *ret, struct error *error);
/*
 * Make the place, with attempts/ in it, and the directory link/ for the socket. mark: unique for the worker on this machine;
 * worker_fd: the worker's directory. user may be NULL: then only check that the worker never ran jobs as another user.
 */
enum err job_user_place(struct job_user *user, const char *mark, int worker_fd, struct error *error);

#endif
