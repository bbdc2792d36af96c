/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside the link. link.c: the process, its loop and its connection; link_master.c: frames from the master;
 * link_keeper.c: messages from the keeper, and the table of attempts; ship.c: output, ship_watch.c: the files it
 * comes from; system.c: load.
 */
#ifndef TITAN_WORKER_LINK_H
#define TITAN_WORKER_LINK_H

#include <ev.h>
#include <limits.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/rand.h"
#include "net/conn.h"
#include "worker/ipc.h"
#include "worker/callers.h"
#include "worker/system.h"
#include "worker/token.h"
#include "worker/worker.h"

#define LIVE_TAIL_SIZE ((size_t)65536)     /* of a stream's newest bytes, sent to be looked at */

struct stream {                          /* one file that an attempt writes */
	int fd;                          /* -1: not open */
	int watch;                       /* of inotify, or -1 */
	uint64_t size;                   /* final; UINT64_MAX while it may grow */
	uint64_t sent, received, synced; /* offsets: handed over, known to be at the master, on its disk */
	uint64_t tail;                   /* where its kept end begins, once that is known; 0: it isn't */
	uint64_t left_out;               /* bytes before that which were never sent */
	uint64_t seen;                   /* its size when it was last looked at, of one that runs */
	uint64_t given, cut;             /* given back: before this; of what won't be kept, before this */
	uint64_t passed;                 /* offset: of what won't be kept, before it all was sent to be looked at, or is old */
};

struct held {                            /* an attempt that the keeper has */
	struct held *prev, *next;        /* all of them */
	struct held *older;              /* of the same job */
	uint64_t job, epoch, run, space;
	uint64_t log_max;                /* as in a job_spec */
	bool over;                       /* it runs, and the beginning that is kept is through */
	enum attempt_phase phase;
	struct rec_started started;
	struct rec_done done;            /* when ended */
	bool done_sent;                  /* on this connection */
	bool acked;
	bool stuck;                      /* killed, and lives on */
	struct stream streams[2];
	struct held *look_next;          /* among those that have written, and are looked at soon */
	bool to_look;
	struct held *ship_next;          /* in the queue of those with something to send */
	bool shipping;
	struct held *young_prev, *young_next;
	bool young;                      /* not yet watched */
	int64_t taken_ns;                /* when it came, if there was a slot for it; else 0 */
	int64_t seen_ns;
};

struct link {
	const struct worker_options *options;
	uint8_t instance[16];
	uint64_t keeper_pid;
	struct ev_loop *loop;
	struct conn_set *conns;
	struct conn *conn;               /* NULL: not connected */
	bool welcome;
	int64_t hello_ns, echo_ns, lease_ns;
	double retry_s;
	struct rand_state rand;
	struct ev_timer retry, heartbeat;
	struct ev_prepare prepare;
	struct ev_io keeper_read, keeper_write;
	struct ipc_end keeper;
	bool listed;                     /* the keeper has told of everything */
	uint64_t asked, answered;        /* PINGs and LEASEs to the keeper, and its PONGs */
	bool hello_owed, beat_owed;      /* sent as soon as the keeper has answered */
	bool keeper_silent;              /* at a heartbeat, and people were told */
	size_t stuck_count;
	struct ipc_numbers numbers;
	struct system_load load;
	uint64_t start_us;               /* moving average, from its coming to its process */

	struct map jobs;                 /* job to its newest held */
	struct held *first;
	struct arena arena;              /* of the frame being read */
	struct buf started, done;        /* rec_started, rec_done: to be sent in this pass */
	struct buf strings;

	int attempts_fd;                 /* the directory */
	char attempts_path[PATH_MAX];
	struct held *ship_first, *ship_last;
	struct held *look_first;
	struct held *young_first, *young_last;
	uint64_t in_flight;              /* bytes sent and not yet received */
	int inotify_fd;
	struct map watches;              /* inotify's number to held */
	struct ev_io watch_read;
	struct ev_timer young_timer, coalesce;
	struct ev_timer live_tail;         /* while any held is over */

	uint8_t secret[TOKEN_SECRET];
	struct listener *caller_listener;
	struct caller_entry *callers;    /* connections of jobs, the newest first */
	size_t caller_count;
	uint64_t last_channel;
};

/* link.c */
void link_lease(struct link *link, int64_t sent_ns);     /* the master has heard what we sent then */
void link_welcomed(struct link *link, uint64_t heartbeat_ms);
void link_beat(struct link *link);                       /* at once: what a heartbeat says has changed */
void link_keeper_answered(struct link *link);            /* a PONG */

/* link_master.c */
void link_frame(struct link *link, const struct frame *frame);

/* link_keeper.c */
void link_take(struct link *link, uint64_t job, uint64_t epoch, uint64_t run);   /* on its way to the keeper */
struct held *held_find(const struct link *link, uint64_t job, uint64_t epoch);
void held_forget_if_done(struct link *link, struct held *held);
bool link_keeper_read(struct link *link);        /* false: the keeper is gone */
void link_inventory(struct link *link);          /* HELLO and what follows it */
void link_settle(struct link *link, struct held *held);  /* DONE, once nothing of its output is unsent */
void link_send_items(struct link *link);         /* STARTED and DONE that gathered */
void link_free_table(struct link *link);

/* ship.c */
void ship_exited(struct link *link, struct held *held, const uint64_t sizes[2]);
void ship_credit(struct link *link, const struct rec_credit *credit);
void ship_again(struct link *link, const struct rec_credit *credit);     /* the master had no room */
void ship_reset(struct link *link);              /* a new connection: from the last synced offset again */
void ship_pump(struct link *link);
void ship_forget(struct link *link, struct held *held);
bool ship_sent(const struct held *held);         /* ended, and all of its output is on its way */
bool ship_synced(const struct held *held);       /* and on the master's disk */
void ship_enqueue(struct link *link, struct held *held);         /* it may have something to send */

/* ship_room.c: what nobody will read any more of files that grow is given back */
void ship_known(struct link *link, struct held *held, const uint64_t synced[2]);         /* given back before this link */
void ship_look_soon(struct link *link, struct held *held);       /* it has written */
void ship_look(struct link *link, struct held *held);
void ship_look_at_all(struct link *link);                        /* that have written */
void ship_look_never(struct link *link, struct held *held);
void ship_give_back(struct link *link, struct held *held);

/* Bytes of its output that are kept from the beginning, and in all. */
uint64_t ship_head(const struct held *held);
uint64_t ship_max(const struct held *held);

/* ship_watch.c */
bool ship_open(struct link *link, struct error *error);
void ship_close(struct link *link);
void ship_started(struct link *link, struct held *held);         /* young, until it has lived for a while */
void ship_not_young(struct link *link, struct held *held);
bool ship_open_stream(struct link *link, struct held *held, int number);
/* Before it is read: what is written later than that is told of. */
void ship_watch(struct link *link, struct held *held, int number);
void ship_unwatch(struct link *link, struct stream *stream);
void ship_begin_live_tail(struct link *link, struct held *held);   /* what is kept of its beginning is through */

#endif
