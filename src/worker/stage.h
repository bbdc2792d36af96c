/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Staging: gets the files of attempts from the cache or from the master, and makes of them a directory for each attempt, in which
 * they stand under their names. For one thread; what it asks the master and when an attempt is staged it says by callbacks.
 */
#ifndef TITAN_WORKER_STAGE_H
#define TITAN_WORKER_STAGE_H

#include <sys/types.h>

#include "base/buf.h"
#include "proto/message.h"

struct stager;

struct stager_options {
	const char *home;                /* the directory with cache/ and staged/ */
	uint64_t limit;                  /* most bytes in the cache */
	uid_t uid;                       /* to whom the files belong; -1: this process */
	gid_t gid;
	void (*ask_cb)(void *arg, const struct msg_stage_read *msg);
	void (*staged_cb)(void *arg, uint64_t job, uint64_t epoch, int fault);   /* fault: 0 or an errno */
	void *arg;
};

/* Returns 0 or -errno. Removes what an earlier process staged. */
int stager_open(const struct stager_options *options, struct stager **ret);
void stager_close(struct stager *stager);                /* stager may be NULL */
/* Stage the files of an attempt, input records. */
void stager_take(struct stager *stager, uint64_t job, uint64_t epoch, struct slice inputs);
/* The attempt has ended: stop, and remove what is staged for it and wasn't used. */
void stager_drop(struct stager *stager, uint64_t job, uint64_t epoch);
/* The master answered a request. */
void stager_data(struct stager *stager, const struct msg_goods_data *data);
void stager_refused(struct stager *stager, uint64_t id, enum err code);
/* There is a connection to the master, or there is none: then what isn't answered will be asked again. */
void stager_online(struct stager *stager, bool online);
void stager_trim(struct stager *stager);                 /* keep the cache within its limit, and some of the disk free */

#endif
