/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Builds a job's environment from nothing: first the variables that every job has, then those that its specification
 * adds or replaces. Names that begin with TITAN_ are set by the worker alone.
 */
#ifndef TITAN_WORKER_ENV_H
#define TITAN_WORKER_ENV_H

#include <limits.h>

#include "base/buf.h"

#define ENV_MARK "TITAN_MARK="
#define OUTPUTS_FILE ".titan-output"     /* name of the file for outputs, in the attempt's directory */

struct env_facts {
	uint64_t run, job, epoch;
	const char *dir;                 /* directory of the attempt, which is also its TMPDIR */
	const char *mark; /* PREFIX in TITAN_MARK=PREFIX.JOB.EPOCH, which marks the processes of the worker's jobs */
	/* Value of TITAN_TOKEN, which proves at the worker's socket which attempt is calling. */
	const char *token;
	bool has_files;                  /* files of the job are in the attempt's directory, whose path goes into TITAN_FILES */
	bool puts_out;                   /* the job has a file for its outputs, whose path goes into TITAN_OUTPUT */
};

struct env {
	struct buf base;                 /* the variables that are the same for every job */
	size_t base_count;
	struct buf facts;                /* the variables that differ from job to job, for the latest job */
	char **list;
	size_t cap;
	const char *path;                /* the value of PATH in the latest list */
};

/* Set the variables that are the same for every job. socket: path of the link's socket for jobs. */
struct job_user;
/* user: the user as whom jobs run; NULL: this process's own. */
void env_init(struct env *env, const char *worker, const char *cluster, const char *socket, const struct job_user *user);
void env_free(struct env *env);
/*
 * Compose the environment of one job. extra: count strings NAME=value, one after another. The result lives until the
 * next call.
 */
char **env_compose(struct env *env, const struct env_facts *facts, const char *extra, size_t count);

/* Hand the latest list and its strings over to the caller. */
void env_leave(struct env *env, struct buf *ret_facts, char ***ret_list);

#endif
