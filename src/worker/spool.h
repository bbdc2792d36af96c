/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The facts that must outlive a keeper, in one file of checksummed records: which attempts have a process, how they
 * ended, what the master has acknowledged. spool_flush writes the added records before the link is told. A thread syncs
 * them to disk shortly after, if the master hasn't acknowledged them by then.
 */
#ifndef TITAN_WORKER_SPOOL_H
#define TITAN_WORKER_SPOOL_H

#include "proto/error.h"
#include "proto/resource.h"
#include "worker/ipc.h"

enum spool_type {
	SPOOL_LIFE = 1, SPOOL_STARTED, SPOOL_ENDED, SPOOL_ACKED, SPOOL_SHIPPED, SPOOL_ASKS, SPOOL_GONE, SPOOL_CLOSED, SPOOL_OUTPUTS,
};

struct spool_life {                      /* the records that follow were written in this boot of the machine */
	uint8_t boot_id[16];
};

struct spool_started {
	uint64_t job, epoch, run, space;
	int64_t pid;
	int64_t before_ns, after_ns;     /* boot-time clock before and after the start: the process began in between */
	int64_t begun_ns;                /* when the job was started, by the monotonic clock */
	int64_t wall_ms;
	/* the job dies with its keeper; records written by earlier versions end before this field */
	uint64_t dies;
	/* limit on kept output, as in job_spec; records of earlier versions end before this field */
	uint64_t log_max;
};

struct spool_asks {                      /* follows SPOOL_STARTED if the attempt takes more than a slot */
	uint64_t job, epoch;
	struct resource_list asks;
};

/* Record that the main process has ended; the rest of its tree may take long to end. */
struct spool_gone {
	uint64_t job, epoch;
	uint64_t status;                 /* wait status of the main process, as wait4 returns it */
	uint64_t run_ns, cpu_us, rss_kib;
};

/*
 * The last record of a keeper that ended in order, so the spool has each attempt that it started. Each record after it makes it
 * void.
 */
struct spool_closed {
	uint8_t instances[BEFORE_MAX][16];      /* this keeper, and those before it that the master may still know */
	uint64_t count;
};

/*
 * SPOOL_ENDED holds a struct ipc_exited; SPOOL_ACKED and SPOOL_SHIPPED hold a struct ipc_attempt; SPOOL_OUTPUTS holds a struct
 * ipc_attempt and what the attempt wrote to the file TITAN_OUTPUT. It is written before SPOOL_ENDED.
 */

struct spool;

/*
 * Open the spool and pass every record, in order, to record_cb. An incomplete end is cut off; *ret_torn: its number of
 * bytes.
 */
enum err spool_open(int dir_fd, void (*record_cb)(enum spool_type type, struct slice body, void *owner),
		    void *owner, struct spool **ret_spool, size_t *ret_torn, struct error *error);
void spool_close(struct spool *spool); /* close the spool and sync the results that need it; spool may be NULL */

void spool_add(struct spool *spool, enum spool_type type, const void *body, size_t size);
/* Write the added records; 0, or -errno: they stay in memory and are written later. */
int spool_flush(struct spool *spool);
/*
 * Tell the spool which results are outstanding; results are numbered as they end. newest: the last that was flushed;
 * oldest: the first that the master hasn't acknowledged (newest + 1: none). Only results that stay unacknowledged for a
 * few milliseconds are synced.
 */
void spool_note(struct spool *spool, uint64_t newest, uint64_t oldest);

/* Is any result neither on disk nor acknowledged by the master? */
bool spool_owes(struct spool *spool);
/*
 * Should the file be rewritten with the live records? True if a sync failed, if an incomplete record couldn't be cut
 * off, or if the file has grown so much that a rewrite is cheap, beside live attempts and the bytes of their outputs. False for a second after a failed rewrite.
 */
bool spool_wants_rewrite(struct spool *spool, size_t live, size_t outputs);
/*
 * Begin a rewrite: records added from now on replace the whole file. It takes effect, synced, with
 * spool_rewrite_end.
 */
void spool_rewrite_begin(struct spool *spool);
int spool_rewrite_end(struct spool *spool);      /* end a rewrite; 0, or -errno: the old file stays in use */

#endif
