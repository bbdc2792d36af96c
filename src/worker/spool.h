/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a keeper must not forget, in one file of checksummed records: which attempts have a process, how
 * they ended, what the master has of that. What was added is written by spool_flush, before anything is
 * said about it; a thread of its own syncs it to the disk shortly after, if it still matters by then.
 */
#ifndef TITAN_WORKER_SPOOL_H
#define TITAN_WORKER_SPOOL_H

#include "proto/error.h"
#include "proto/resource.h"
#include "worker/ipc.h"

enum spool_type { SPOOL_LIFE = 1, SPOOL_STARTED, SPOOL_ENDED, SPOOL_ACKED, SPOOL_SHIPPED, SPOOL_ASKS, SPOOL_GONE };

struct spool_life {                      /* what follows was written in this boot of the machine */
	uint8_t boot_id[16];
};

struct spool_started {
	uint64_t job, epoch, run, space;
	int64_t pid;
	int64_t before_ns, after_ns;     /* boot time: its process began between them */
	int64_t begun_ns;                /* monotonic */
	int64_t wall_ms;
	uint64_t dies;                   /* with its keeper; records of before this was known end in front of it */
	uint64_t log_max;                /* likewise */
};

struct spool_asks {                      /* behind SPOOL_STARTED, of one that takes more than a slot */
	uint64_t job, epoch;
	struct resource_list asks;
};

struct spool_gone {                      /* its main process; what is left of its tree may take long to end */
	uint64_t job, epoch;
	uint64_t status;                 /* as of wait4 */
	uint64_t run_ns, cpu_us, rss_kib;
};

/* SPOOL_ENDED holds a struct ipc_exited; SPOOL_ACKED and SPOOL_SHIPPED a struct ipc_attempt. */

struct spool;

/* record_cb sees every record in order; a torn end is cut off, and *ret_torn says how many bytes that were. */
enum err spool_open(int dir_fd, void (*record_cb)(enum spool_type type, struct slice body, void *owner),
		    void *owner, struct spool **ret_spool, size_t *ret_torn, struct error *error);
void spool_close(struct spool *spool);           /* syncs what has to be; NULL is fine */

void spool_add(struct spool *spool, enum spool_type type, const void *body, size_t size);
int spool_flush(struct spool *spool);            /* 0, or -errno: it stays in memory and is tried again */
/*
 * Results are numbered as they end. newest: the last that was flushed; oldest: the first that the master hasn't
 * acknowledged (newest + 1: none). What stays unacknowledged for a few milliseconds is synced, and nothing else.
 */
void spool_note(struct spool *spool, uint64_t newest, uint64_t oldest);

/* A result isn't on the disk yet, and the master hasn't acknowledged it. */
bool spool_owes(struct spool *spool);
/*
 * Has it to begin anew with live records, or is that cheap? A sync failed, half a record couldn't be cut off, or so much
 * is in it. After a rewrite that failed: not for a second.
 */
bool spool_wants_rewrite(struct spool *spool, size_t live);
/* What is added from now on replaces everything; takes effect, synced, with spool_rewrite_end. */
void spool_rewrite_begin(struct spool *spool);
int spool_rewrite_end(struct spool *spool);      /* 0, or -errno and the old file stays in use */

#endif
