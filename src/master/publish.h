/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between publish.c, who is subscribed and what changed for them, and publish_delta.c, what they are told. */
#ifndef TITAN_MASTER_PUBLISH_H
#define TITAN_MASTER_PUBLISH_H

#include "master/ids.h"
#include "master/internal.h"

struct sub {
	uint64_t conn, id;
	uint64_t stamp;                  /* unlike any other: an id is free again when somebody unsubscribes */
	uint64_t what, run;
	bool paging;                     /* its snapshot is on the way */
	bool page_out;                   /* ... and a page of it was asked for */
	bool live_only;                  /* RUNS: the first page has the newest; then those in memory */
	bool hurry;                      /* its run has ended: somebody waits for that */
	bool cut;                        /* it doesn't read; what changes isn't kept */
	bool more;                       /* its snapshot lacks what a delta will bring */
	bool resumed;                    /* it waits for a delta, even an empty one */
	uint64_t cursor;
	uint64_t began;                  /* the turn after which its changes were kept */
	uint64_t told;                   /* the mark up to which it was sent all; 0: none */
	int64_t flushed_ns;
	struct ids runs, jobs, workers;  /* that changed since it was told */
	struct sub *next;
};

struct publisher {
	struct sub *subs;
	uint64_t stamps;
	struct recent *recent;
	size_t queue_max;                /* bytes waiting for one before it is cut */
	int64_t swept_ns;
};

/* publish.c */
bool sub_has_changes(const struct sub *sub);
bool sub_has_room(const struct master *master, const struct session *session);   /* for much at once */
void sub_begin_snapshot(struct master *master, struct sub *sub);
/* From that mark on, if all that changed since is known; what is no longer in memory shows when rows are read. */
bool sub_resume(struct master *master, struct sub *sub, uint64_t mark);
/* It doesn't read: what changes from now on isn't kept for it, and what was kept isn't any more. */
void sub_cut(struct master *master, struct sub *sub);

#endif
