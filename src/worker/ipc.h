/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages between keeper and link, over a socket pair: small structs in the machine's own layout, since both ends
 * are the same program. The keeper parses nothing from the network: the link decodes, checks and flattens all of it.
 *
 *   link to keeper                              keeper to link
 *   SPAWN       run this attempt                INVENTORY  one for each attempt, sent first; job 0 ends the list
 *   STOP        end it: SIGTERM, then SIGKILL   STARTED    the attempt has a process
 *   RECALL      give it back if it is queued    EXITED     the attempt has ended (sent to each new link until SPOOL_ACK)
 *   SPOOL_ACK   the master has the result       NUMBERS    running and queued attempts, when these numbers change
 *   FILES_DONE  the master has its output on disk
 *   ROOM        parts of its files that nobody will read any more
 *   LEASE       attempts may start until then   STUCK      it was killed, but its process lives; until EXITED
 *   QUIT        kill all jobs, report, and exit when all results are acknowledged or after a while
 *   LEFT        after LEAVING: no SPAWN follows   LEAVING  the keeper quits and takes no more attempts
 *   STAGED      its files are in place, or can't be
 *   PING        is the keeper's loop running?   PONG       yes: one for each PING and each LEASE
 */
#ifndef TITAN_WORKER_IPC_H
#define TITAN_WORKER_IPC_H

#include <stdint.h>

#include "base/buf.h"
#include "proto/limits.h"
#include "proto/message.h"

#define IPC_VERSION 1
#define STAGED_DIR "staged"              /* where the link stages files, beside the directory of attempts */
#define BEFORE_MAX 8                     /* most earlier keepers that a worker names in HELLO */
/* bytes of the file TITAN_OUTPUT that are read; its values may have OUTPUT_JOB_MAX bytes */
#define OUTPUTS_FILE_MAX (2 * LIMIT_OUTPUT_JOB_MAX)

enum ipc_type {
	IPC_SPAWN = 1, IPC_STOP, IPC_RECALL, IPC_SPOOL_ACK, IPC_FILES_DONE, IPC_LEASE, IPC_QUIT, IPC_ROOM,
	IPC_PING, IPC_LEFT, IPC_STAGED,
	IPC_INVENTORY = 64, IPC_STARTED, IPC_EXITED, IPC_NUMBERS, IPC_STUCK, IPC_PONG, IPC_ENDING, IPC_LEAVING,
};

struct ipc_header {
	uint8_t version;
	uint8_t type;
	uint16_t spare;
	uint32_t size;                   /* number of bytes that follow this header */
};

struct ipc_attempt {                     /* an attempt; body of RECALL, SPOOL_ACK, FILES_DONE and STUCK */
	uint64_t job, epoch;
};

struct ipc_staged {
	uint64_t job, epoch;
	int64_t fault;                   /* 0: its files are in place; else an errno */
};

struct ipc_stop {
	uint64_t job, epoch;
	int64_t grace_ms;
};

struct ipc_spawn {
	uint64_t job, epoch, run;
	/*
	 * Numbers of strings, which follow the struct, each with a NUL: argv, env, directory ("": the attempt's own),
	 * resources; with SPAWN_SOURCE the source of a mount. With SPAWN_STDIN the last string of argv is no argument, but what the process
	 * reads from its standard input. With SPAWN_SCRIPT the last argument is a script, whose place the name of its file takes.
	 */
	uint32_t argc, envc;
	uint32_t strings_size;
	uint32_t flags;
	uint32_t ask_count;              /* number of resources that the job asks for, each a string NAME=N */
	uint32_t spare;
	uint64_t log_max;                /* limit on kept output, as in job_spec */
	/* device and inode that the directory must have, or the job goes back; here_inode 0: any. With SPAWN_SOURCE: on a mount of it */
	uint64_t here_device, here_inode;
};

/*
 * SPAWN_DIES: the job is killed when its keeper dies. SPAWN_OUTPUTS: it finds a file for its outputs in TITAN_OUTPUT.
 * SPAWN_SCRIPT: its interpreter gets a script as a file. SPAWN_FILES: it has files, and may start after STAGED. SPAWN_STDIN: its
 * standard input isn't empty.
 */
enum spawn_flag {
	SPAWN_EXCLUSIVE = 1, SPAWN_DIES = 2, SPAWN_OUTPUTS = 4, SPAWN_SCRIPT = 8, SPAWN_SOURCE = 16, SPAWN_FILES = 32, SPAWN_STDIN = 64,
};

struct ipc_room {                        /* body of ROOM; in each array, [0] is stdout and [1] is stderr */
	uint64_t job, epoch;
	uint64_t synced[2];              /* bytes of the output that are on the master's disk */
	/* ranges of bytes that won't be kept, between the kept beginning and the kept end; from == until: none */
	uint64_t from[2], until[2];
};

struct ipc_lease {
	int64_t until_ns;                /* end of the lease, monotonic clock of this machine */
};

struct ipc_quit {
	int64_t grace_ms;
};

struct ipc_inventory {                   /* one INVENTORY message for each attempt; job 0 ends the list */
	uint64_t job, epoch, run;
	uint32_t phase;                  /* enum attempt_phase; for an ENDED attempt, EXITED follows later */
	uint32_t spare;
	int64_t started_ms;
};

/* Body of STARTED. The attempt's output goes to attempts/SPACE.out and attempts/SPACE.err in the worker's directory. */
struct ipc_started {
	uint64_t job, epoch, run;
	int64_t wall_ms;
	uint64_t pid;
	uint64_t space;
	uint64_t log_max;
	/* Bytes of stdout and stderr that the master has on disk and that were given back as holes. */
	uint64_t synced[2];
};

/*
 * Body of EXITED. On the socket follow two numbers, synced, as in STARTED, and then what the job wrote to the file
 * TITAN_OUTPUT, with one more byte than is allowed if it is longer.
 */
struct ipc_exited {
	uint64_t run;
	uint64_t space;                  /* number of the attempt's space; 0: the attempt had none */
	/* Bytes of stdout and stderr in the files; if both are 0, the keeper awaits no FILES_DONE. */
	uint64_t sizes[2];
	uint64_t acked;                  /* the master has the result; only output remains to be sent */
	struct rec_done done;
	/* limit on kept output, as in job_spec; records of earlier versions end before this field */
	uint64_t log_max;
};

struct ipc_numbers {
	uint32_t running, queued;
};

/* One end of the stream. ipc_put only queues messages; ipc_flush sends them. */
struct ipc_end {
	int fd;
	struct buf in, out;
};

/* Close the stream and drop everything not yet sent or read; may be called twice. */
void ipc_close(struct ipc_end *end);
void ipc_put(struct ipc_end *end, enum ipc_type type, const void *body, size_t size);
void ipc_put_tail(struct ipc_end *end, enum ipc_type type, const void *body, size_t size, const void *tail,
		  size_t tail_size);
/* send queued messages: 0: all were sent; 1: some bytes remain; or -errno */
int ipc_flush(struct ipc_end *end);
/* Read messages that have arrived: 0, -EPIPE at the end of the stream, or -errno. */
int ipc_fill(struct ipc_end *end);
/* Take the next whole message; *ret_body is valid until the next call. False: no whole message. */
bool ipc_next(struct ipc_end *end, struct ipc_header *ret_header, struct slice *ret_body);

#endif
