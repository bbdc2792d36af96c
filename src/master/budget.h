/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The budgets of queries: what all people together, and all jobs together, may use of the master, each number with its
 * reason. People and jobs have separate budgets and never wait for each other's share.
 */
#ifndef TITAN_MASTER_BUDGET_H
#define TITAN_MASTER_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "proto/limits.h"

struct budget {
	int64_t turn_ns;                 /* most time spent on queries in a turn; one query is always answered */
	size_t turn_questions;           /* most queries answered in a turn; one is always answered */
	/* Pause before the class's next queries are answered, as a multiple of the time spent on the last ones. */
	int64_t rest;
	size_t unread_bytes;             /* most bytes of answers that the clients haven't read yet */
	size_t frames;                   /* most frames read from one connection before other connections are read */
	/* Most queries at the store, and most reads at the logs, at once; indexed by enum reader. */
	size_t under_way[2];
};

/*
 * turn_ns: a submit waits for the turn before it and for its own, so questions delay it by some 10 ms; the
 * lease is a thousand times longer. A full page of 1,000 jobs takes 0.5 to 2 ms.
 *
 * turn_questions: encoding and sending many small answers takes time that turn_ns doesn't measure.
 *
 * rest: jobs' questions get at most a quarter of the loop's time. People have no pause: the master is there
 * to answer them.
 *
 * unread_bytes: some 280 full pages; a client that pages through a run holds one. Small beside the memory of
 * a million live jobs (some 500 MB).
 *
 * frames: reading a frame costs 1 to 5 us, even if it is refused. 512 submits are a good size for one commit;
 * jobs have many connections each.
 *
 * under_way: the store and the logs have one thread each, which one question keeps busy; the others hide the
 * time on the way there and back. An answer has up to 1 MB.
 */
#define BUDGET_PEOPLE { .turn_ns = 2 * NS_PER_MS, .turn_questions = 256, .rest = 0, \
			.unread_bytes = (size_t)64 << 20, .frames = 512, .under_way = { 4, 8 } }
#define BUDGET_JOBS   { .turn_ns = 1 * NS_PER_MS, .turn_questions = 32, .rest = 3, \
			.unread_bytes = (size_t)16 << 20, .frames = 32, .under_way = { 2, 4 } }

/*
 * While a class has more unread answers than its budget allows, cut each connection that takes no more than STILL_BYTES
 * in a second and holds more than an even share. A peer that reads takes megabytes in that time, even on a busy
 * machine; one second is the longest that others wait for such a peer.
 */
#define STILL_TICK_S  0.25
#define STILL_TICKS   4
#define STILL_BYTES   65536u

/*
 * Limits on uploads of graphs: how many at once, and their bytes together. The largest graph has 1 GiB and
 * anyone who may submit may submit it, so each user has that much plus room for small ones. The limit over
 * all users is a fifth higher, so one user can't take all of it. Jobs submit graphs made by programs: 64 MiB
 * are half a million jobs. One job has a quarter of what all jobs have, in number and bytes, so it can't keep
 * the others out.
 */
struct upload_bound {
	size_t count;
	uint64_t bytes;
};

enum upload_scope { UPLOADS_ALL, UPLOADS_PRINCIPAL, UPLOADS_JOBS, UPLOADS_JOB, UPLOADS_CONNECTION, UPLOADS_SCOPES };

#define MIB (UINT64_C(1) << 20)
#define UPLOAD_BOUNDS { \
	[UPLOADS_ALL] = { LIMIT_UPLOADS_MAX, 1280 * MIB }, \
	[UPLOADS_PRINCIPAL] = { LIMIT_UPLOADS_MAX * 3 / 4, 1088 * MIB }, \
	[UPLOADS_JOBS] = { LIMIT_UPLOADS_MAX / 4, 256 * MIB }, \
	[UPLOADS_JOB] = { LIMIT_UPLOADS_MAX / 16, 64 * MIB }, \
	[UPLOADS_CONNECTION] = { LIMIT_UPLOADS_MAX / 4, 1088 * MIB }, \
}
/* Memory that a part of an upload needs besides its bytes: struct graph_part, blob, malloc. */
#define UPLOAD_PART_BYTES 64u
/* Time after which an upload without progress is dropped; clients never pause by themselves. */
#define UPLOAD_STILL_NS   (60 * NS_PER_S)
#define UPLOAD_YIELD_NS   (5 * NS_PER_S)         /* like UPLOAD_STILL_NS, if another upload waits for the room */
/* Longest time for an upload: 1 GiB takes seconds, so this only stops slow drips. */
#define UPLOAD_LONGEST_NS (600 * NS_PER_S)

#endif
