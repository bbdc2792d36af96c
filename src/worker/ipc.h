/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between keeper and link, over a socket pair: small structs in the machine's own layout, both ends from
 * one binary. The keeper parses nothing from the network: the link has decoded, checked and flattened it.
 *
 *   link to keeper                          keeper to link
 *   SPAWN   an attempt to run               INVENTORY  every attempt; first, ended by a count of 0
 *   STOP    end it: ask, then insist        STARTED    it has a process
 *   RECALL  give it back if it is queued    EXITED     it has ended (again for each new link until SPOOL_ACK)
 *   SPOOL_ACK  the master has the result    NUMBERS    running and queued, when they changed
 *   FILES_DONE its output is at the master, on disk
 *   ROOM    what of its files nobody will read any more
 *   LEASE   until when new ones may start   STUCK      it was killed, and lives on; until EXITED
 *   QUIT    kill everything, report, exit when all is acknowledged or after a while
 *   PING    does the keeper's loop turn?    PONG       it does: one for each PING and each LEASE
 */
#ifndef TITAN_WORKER_IPC_H
#define TITAN_WORKER_IPC_H

#include <stdint.h>

#include "base/buf.h"
#include "proto/message.h"

#define IPC_VERSION 1

enum ipc_type {
	IPC_SPAWN = 1, IPC_STOP, IPC_RECALL, IPC_SPOOL_ACK, IPC_FILES_DONE, IPC_LEASE, IPC_QUIT, IPC_ROOM,
	IPC_PING,
	IPC_INVENTORY = 64, IPC_STARTED, IPC_EXITED, IPC_NUMBERS, IPC_STUCK, IPC_PONG,
};

struct ipc_header {
	uint8_t version;
	uint8_t type;
	uint16_t spare;
	uint32_t size;                   /* of everything behind this header */
};

struct ipc_attempt {                     /* RECALL, SPOOL_ACK, FILES_DONE, STUCK */
	uint64_t job, epoch;
};

struct ipc_stop {
	uint64_t job, epoch;
	int64_t grace_ms;
};

struct ipc_spawn {
	uint64_t job, epoch, run;
	uint32_t argc, envc;             /* NUL-terminated strings behind: argv, env, then dir ("": its own), then asks */
	uint32_t strings_size;
	uint32_t flags;
	uint32_t ask_count;              /* NAME=N each */
	uint32_t spare;
	uint64_t log_max;                /* as in a job_spec */
};

enum spawn_flag { SPAWN_EXCLUSIVE = 1, SPAWN_DIES = 2 };         /* DIES: with its keeper */

struct ipc_room {                        /* of stdout and stderr */
	uint64_t job, epoch;
	uint64_t synced[2];              /* on the master's disk */
	uint64_t from[2], until[2];      /* lies between the beginning and the end that are kept; none when equal */
};

struct ipc_lease {
	int64_t until_ns;                /* monotonic, of this machine */
};

struct ipc_quit {
	int64_t grace_ms;
};

struct ipc_inventory {                   /* one each; job 0 ends the list */
	uint64_t job, epoch, run;
	uint32_t phase;                  /* enum attempt_phase; an ENDED one is followed later by EXITED */
	uint32_t spare;
	int64_t started_ms;
};

/* What it writes goes to attempts/SPACE.out and attempts/SPACE.err, below the worker's directory. */
struct ipc_started {
	uint64_t job, epoch, run;
	int64_t wall_ms;
	uint64_t pid;
	uint64_t space;
	uint64_t log_max;
	uint64_t synced[2];              /* of stdout and stderr: given back, the master has it */
};

/* On its way it is followed by what STARTED says as synced. */
struct ipc_exited {
	uint64_t run;
	uint64_t space;                  /* 0: it never had one */
	uint64_t sizes[2];               /* of stdout and stderr; when both are 0, no FILES_DONE is awaited */
	uint64_t acked;                  /* the master has the result; only output is left to send */
	struct rec_done done;
	uint64_t log_max;                /* records of before this was known end in front of it */
};

struct ipc_numbers {
	uint32_t running, queued;
};

/* One end. What is put leaves with ipc_flush. */
struct ipc_end {
	int fd;
	struct buf in, out;
};

void ipc_close(struct ipc_end *end);                     /* and forget what is under way; a closed one is fine */
void ipc_put(struct ipc_end *end, enum ipc_type type, const void *body, size_t size);
void ipc_put_tail(struct ipc_end *end, enum ipc_type type, const void *body, size_t size, const void *tail,
		  size_t tail_size);
int ipc_flush(struct ipc_end *end);                      /* 0, 1 when some is left for later, or -errno */
int ipc_fill(struct ipc_end *end);                       /* read what is there: 0, -EPIPE at the end, or -errno */
/* The next whole message; *ret_body lives until the next call. False: no more. */
bool ipc_next(struct ipc_end *end, struct ipc_header *ret_header, struct slice *ret_body);

#endif
