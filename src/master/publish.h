/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by publish.c (which subscriptions exist, and what changed for each) and publish_delta.c (what they are sent).
 */
#ifndef TITAN_MASTER_PUBLISH_H
#define TITAN_MASTER_PUBLISH_H

#include "master/ids.h"
#include "master/internal.h"

struct sub {
	uint64_t conn, id;
	/* Unique number of the subscription; its id can be used again after an unsubscribe. */
	uint64_t stamp;
	uint64_t what, run;
	struct sight sight;              /* which runs the subscriber may see */
	bool paging;                     /* the subscription's snapshot is being sent */
	bool page_out;                   /* a page of the subscription's snapshot was requested */
	/* RUNS: the snapshot's first page has the newest runs, later pages only runs in memory. */
	bool live_only;
	bool hurry;                      /* the subscription's run has ended, and its client waits for that */
	bool cut;                        /* the subscriber doesn't read, so changes aren't kept for it */
	bool more;                       /* the snapshot is incomplete until the next delta */
	bool resumed;                    /* the subscriber waits for a delta, even an empty one */
	uint64_t cursor;
	uint64_t began;                  /* the turn from which on changes are kept for the subscriber */
	uint64_t told;                   /* mark up to which the subscriber has been sent everything; 0: none */
	int64_t flushed_ns;
	/* numbers of the runs, jobs and workers that changed since the subscriber was last sent changes */
	struct ids runs, jobs, workers;
	struct sub *next;
};

struct publisher {
	struct sub *subs;
	uint64_t stamps;
	struct recent *recent;
	size_t queue_max;                /* with more bytes than this waiting for it, a subscriber is cut */
	int64_t swept_ns;
};

/* publish.c */
bool sub_has_changes(const struct sub *sub);
/* May a large frame be sent to this client? */
bool sub_has_room(const struct master *master, const struct peer_session *session);
void sub_begin_snapshot(struct master *master, struct sub *sub);
/*
 * Continue from that mark, if all changes since are known. Runs that have left memory are noticed when their rows are
 * read.
 */
bool sub_resume(struct master *master, struct sub *sub, uint64_t mark);
/* The subscriber doesn't read: drop its changes and keep no further ones. */
void sub_cut(struct master *master, struct sub *sub);

#endif
