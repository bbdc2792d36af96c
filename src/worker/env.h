/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job's environment, built from nothing: what every job has, then what its specification adds or puts
 * in the place of it. Names that begin with TITAN_ are the worker's alone.
 */
#ifndef TITAN_WORKER_ENV_H
#define TITAN_WORKER_ENV_H

#include <limits.h>

#include "base/buf.h"

#define ENV_MARK "TITAN_MARK="

struct env_facts {
	uint64_t run, job, epoch;
	const char *dir;                 /* of the attempt; also where temporary files go */
	const char *mark;                /* of the worker: PREFIX of PREFIX.JOB.EPOCH */
	const char *token;               /* who it is to the socket */
};

struct env {
	struct buf base;                 /* strings that are the same for every job */
	size_t base_count;
	struct buf facts;                /* of the latest */
	char **list;
	size_t cap;
	const char *path;                /* the search path of the latest */
};

/* socket: the path of the link's, for jobs. */
void env_init(struct env *env, const char *worker, const char *cluster, const char *socket);
void env_free(struct env *env);
/* extra: count strings NAME=value, one behind the other. The list lives until the next call. */
char **env_compose(struct env *env, const struct env_facts *facts, const char *extra, size_t count);

/* The latest list and its strings are the caller's from now on. */
void env_leave(struct env *env, struct buf *ret_facts, char ***ret_list);

#endif
