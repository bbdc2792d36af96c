/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Internals of the link. link.c: the process, its loop and its connection; link_master.c: frames from the master;
 * link_keeper.c: messages from the keeper, and the table of attempts; ship.c: output; ship_watch.c: when output files
 * are read; system.c: load.
 */
#ifndef TITAN_WORKER_LINK_H
#define TITAN_WORKER_LINK_H

#include <ev.h>
#include <limits.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/map.h"
#include "base/rand.h"
#include "net/conn.h"
#include "proto/limits.h"
#include "worker/ipc.h"
#include "worker/callers.h"
#include "worker/system.h"
#include "worker/job_token.h"
#include "worker/link_stage.h"
#include "worker/worker.h"

#define LIVE_TAIL_SIZE ((size_t)65536)     /* most of a stream's newest bytes sent at once for live viewing */

struct stream {                          /* one output file of an attempt: stdout or stderr */
	int fd;                          /* descriptor of the output file; -1: it isn't open */
	int watch;                       /* number of the inotify watch; -1: none */
	uint64_t size;                   /* final size of the file; UINT64_MAX while it may grow */
	/* offsets: sent on this connection, received by the master, on the master's disk */
	uint64_t sent, received, synced;
	uint64_t tail;                   /* offset at which the kept end of the output begins; 0: not known yet */
	uint64_t left_out;               /* bytes before tail that were never sent */
	uint64_t seen;                   /* size of the file at the last check, while the job runs */
	/* offsets: bytes before given were given back as a hole; bytes that won't be kept were given back up to cut */
	uint64_t given, cut;
	/* offset up to which bytes that won't be kept were sent as live tail or skipped */
	uint64_t passed;
};

struct held {                            /* an attempt of the keeper, as the link knows it */
	struct held *prev, *next;        /* links in the list of all attempts */
	struct held *older;              /* next older epoch of the same job */
	uint64_t job, epoch, run, space;
	uint64_t log_max;                /* limit on kept output, as in job_spec */
	/* the attempt runs, and the kept beginning of its output has been sent */
	bool over;
	enum attempt_phase phase;
	struct rec_started started;
	struct rec_done done;            /* the attempt's result, once it has ended */
	struct buf outputs;              /* what it put out, as job_output records */
	bool done_sent;                  /* the result was sent on the present connection */
	bool acked;
	bool has_files;                  /* its files are or were staged */
	bool stuck;                      /* the attempt was killed, and a process of it lives on */
	struct stream streams[2];
	struct held *look_next;          /* next in the list of attempts whose files have changed */
	bool to_look;
	struct held *ship_next;          /* next in the queue of attempts with output to send */
	bool shipping;
	struct held *young_prev, *young_next;
	bool young;                      /* the attempt started a moment ago, so its files aren't watched yet */
	int64_t taken_ns;                /* time of the assignment, if a slot was free for it; else 0 */
	int64_t seen_ns;
};

struct link {
	const struct worker_options *options;
	uint8_t instance[16];
	uint8_t before[16 * BEFORE_MAX];    /* earlier instances that ended in order */
	size_t before_len;
	uint64_t keeper_pid;
	struct ev_loop *loop;
	struct conn_set *conns;
	struct conn *conn;               /* the connection to the master; NULL: not connected */
	bool welcome;
	int64_t hello_ns, echo_ns, lease_ns;
	double retry_s;
	unsigned slow_welcomes;          /* how many attempts in a row ended between the handshake and the WELCOME */
	unsigned dials;                  /* connections begun to a master on another machine */
	struct listener *bridges;        /* listens for bridges, if the master can't be dialled */
	int bridge_fd;                   /* the newest unused bridge; -1: none */
	void (*bridge_come_cb)(struct link *link);
	struct rand_state rand;
	struct ev_timer retry, heartbeat;
	struct ev_prepare prepare;
	struct ev_io keeper_read, keeper_write;
	struct ipc_end keeper;
	bool listed;                     /* the keeper has sent its whole inventory to this link */
	uint64_t asked, answered; /* number of PINGs and LEASEs sent to the keeper, and of PONGs received from it */
	/* HELLO or a heartbeat is sent as soon as the keeper has answered */
	bool hello_owed, beat_owed;
	bool leaving;                    /* the keeper quits, and the master is being told */
	bool older_master;               /* the master speaks the version of the protocol before this one */
	bool ending;                     /* the keeper ends in order, and the master is being told */
	bool keeper_silent;              /* the keeper didn't answer before the last heartbeat, which was logged */
	size_t stuck_count;
	struct ipc_numbers numbers;
	struct system_load load;
	uint64_t start_us;               /* moving average of the time from assignment to process, in microseconds */

	struct map jobs;                 /* from a job's number to the held of its newest epoch */
	struct held *first;
	struct arena arena;              /* memory of the frame being read */
	struct shared_context {
		struct arena arena;
		/* a context as the master sent it; its bytes are in the field arena */
		struct rec_run_context said;
		bool understood;
		/* the jobs run in the submitter's directory if it is the same here, by inode and by device or, if far, by source */
		bool compares, far;
	} contexts[LIMIT_WORKER_CONTEXTS];       /* the contexts of this connection by slot */
	char machine[HOST_ID_SIZE];
	uint64_t boot, view;             /* number of the machine's boot; of the file systems as this process sees them */
	/* Arrays of rec_started and rec_done, sent at the end of this pass of the loop. */
	struct buf started, done;
	struct buf strings;
	struct buf inputs;               /* input records of the attempt that is being passed on */

	char program[PATH_MAX];          /* path of this program */
	int attempts_fd;                 /* descriptor of the directory of attempts */
	char attempts_path[PATH_MAX];
	struct held *ship_first, *ship_last;
	struct held *look_first;
	struct held *young_first, *young_last;
	uint64_t in_flight;              /* bytes of output sent and not yet received by the master */
	int inotify_fd;
	struct map watches;              /* from the number of an inotify watch to the held with that file */
	struct ev_io watch_read;
	struct ev_timer young_timer, coalesce;
	struct ev_timer live_tail;         /* timer, runs while any attempt's output is over the kept beginning */

	struct link_stage *stage;        /* the thread for the files of attempts; NULL: none was needed yet */
	uint8_t secret[JOB_TOKEN_SECRET];
	struct listener *caller_listener;
	struct caller_entry *callers;    /* connections of jobs, newest first */
	size_t caller_count;
	uint64_t last_channel;
};

/* link.c */
/* Extend the lease: the master has heard what was sent at sent_ns. */
void link_lease(struct link *link, int64_t sent_ns);
void link_welcomed(struct link *link, uint64_t heartbeat_ms);
void link_say_leaving(struct link *link);        /* the keeper quits: let the master give it no more attempts */
void link_say_end(struct link *link);    /* the keeper ends in order: tell the master, then end the link */
void link_end(struct link *link);        /* leave the link's event loop, so that the link ends */
void link_beat(struct link *link); /* send a heartbeat now, because something that it reports has changed */
void link_keeper_answered(struct link *link);            /* called when a PONG arrived from the keeper */

/* link_bridge.c */
bool link_is_bridged(const struct link *link);           /* does the master come to this worker through bridges? */
/* If the link is bridged, listen for bridges; come_cb is called for each new one. */
bool link_bridge_open(struct link *link, void (*come_cb)(struct link *link), struct error *error);
void link_bridge_close(struct link *link);
/* Begin TLS over the newest bridge. NULL without an error: there is none. */
struct transport *link_bridge_take(struct link *link, struct error *error);

/* link_master.c */
void link_frame(struct link *link, const struct frame *frame);
void link_forget_contexts(struct link *link);            /* called for a new connection, and at the end */

/* link_keeper.c */
/* Add an attempt that is being passed on to the keeper. */
void link_take(struct link *link, uint64_t job, uint64_t epoch, uint64_t run);
struct held *held_find(const struct link *link, uint64_t job, uint64_t epoch);
void held_forget_if_done(struct link *link, struct held *held);
bool link_keeper_read(struct link *link);        /* handle messages from the keeper; false: the keeper is gone */
void link_inventory(struct link *link);          /* send HELLO and the inventory that follows it */
void link_send_done(struct link *link, struct held *held); /* send DONE, once all output of the attempt has been sent */
void link_send_items(struct link *link);         /* send the STARTED and DONE records gathered so far */
void link_free_table(struct link *link);

/* ship.c */
void ship_exited(struct link *link, struct held *held, const uint64_t sizes[2]);
void ship_credit(struct link *link, const struct rec_credit *credit);
/* Send output again from this offset, because the master had no room for it. */
void ship_again(struct link *link, const struct rec_credit *credit);
/* After a new connection, send output again from the last synced offset. */
void ship_reset(struct link *link);
void ship_pump(struct link *link);
void ship_forget(struct link *link, struct held *held);
bool ship_sent(const struct held *held); /* true: the attempt has ended and all output that is kept has been sent */
/* true: as ship_sent, and the master has confirmed that all output is on its disk */
bool ship_synced(const struct held *held);
/* Put an attempt into the queue of those that may have output to send. */
void ship_enqueue(struct link *link, struct held *held);

/* ship_room.c: gives back the parts of growing files that won't be read any more */
/* Set how much output the keeper gave back before this link started: the master has those bytes. */
void ship_known(struct link *link, struct held *held, const uint64_t synced[2]);
void ship_look_soon(struct link *link, struct held *held);       /* note that the attempt's files have changed */
void ship_look(struct link *link, struct held *held);
void ship_look_at_all(struct link *link);                        /* look at all attempts whose files have changed */
void ship_look_never(struct link *link, struct held *held);
void ship_give_back(struct link *link, struct held *held);

/* Number of bytes of the attempt's output that are kept: of its beginning, and in all. */
uint64_t ship_head(const struct held *held);
uint64_t ship_max(const struct held *held);

/* ship_watch.c */
bool ship_open(struct link *link, struct error *error);
void ship_close(struct link *link);
/* Treat a started attempt as young until it has lived for a while. */
void ship_started(struct link *link, struct held *held);
void ship_not_young(struct link *link, struct held *held);
bool ship_open_stream(struct link *link, struct held *held, int number);
/* Watch an output file. Call it before reading the file, so that no later write goes unnoticed. */
void ship_watch(struct link *link, struct held *held, int number);
void ship_unwatch(struct link *link, struct stream *stream);
/* Begin to send the newest output as live tail, because the kept beginning has been sent. */
void ship_begin_live_tail(struct link *link, struct held *held);

#endif
