/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all people together, and all jobs together, may take of the master: each figure with its reason. The two classes
 * never wait for each other's share.
 */
#ifndef TITAN_MASTER_BUDGET_H
#define TITAN_MASTER_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "proto/limits.h"

struct budget {
	int64_t turn_ns;                 /* of questions in a turn; one is always answered */
	size_t turn_questions;           /* likewise */
	int64_t rest;                    /* between such turns, as a multiple of what they took */
	size_t unread_bytes;             /* answers that nobody has taken yet */
	size_t frames;                   /* of one connection, before others have their turn */
	size_t under_way[2];             /* questions that the store has, and readings of logs; by enum reader */
};

/*
 * turn_ns: a submit waits for the turn before it and for its own, so some 10 ms beside any number of questions; the
 *   lease is a thousand times longer. A full page of 1,000 jobs takes 0.5 to 2 ms.
 * turn_questions: many small questions also cost what is encoded and sent behind the clock's back.
 * rest: jobs' questions have at most a quarter of the loop's time. People are there to be answered.
 * unread_bytes: some 280 full pages; a client that pages through a run holds one. Small beside what a million live jobs
 *   take (some 500 MB).
 * frames: one costs 1 to 5 us before it is a question, also where it is refused. 512 are as many submits as a commit takes
 *   well; jobs have many connections each.
 * under_way: the store and the logs have one thread each, which one question keeps busy; the others hide the way there and
 *   back. An answer has up to 1 MB.
 */
#define BUDGET_PEOPLE { .turn_ns = 2 * NS_PER_MS, .turn_questions = 256, .rest = 0, \
			.unread_bytes = (size_t)64 << 20, .frames = 512, .under_way = { 4, 8 } }
#define BUDGET_JOBS   { .turn_ns = 1 * NS_PER_MS, .turn_questions = 32, .rest = 3, \
			.unread_bytes = (size_t)16 << 20, .frames = 32, .under_way = { 2, 4 } }

/*
 * While the answers of a class are over their bound, who takes no more than STILL_BYTES in a second and has more than an
 * even share is cut. A peer that reads takes megabytes in that time, also on a busy machine; one second is the
 * longest that others wait for it.
 */
#define STILL_TICK_S  0.25
#define STILL_TICKS   4
#define STILL_BYTES   65536u

/*
 * Graphs on their way in: how many at once, and how large in all. A graph of the largest kind has 1 GiB, and whoever may
 * submit may submit one: so that much by a user, with room for small ones beside it; in all a fifth more, so that
 * one user never has all of it. Jobs submit what a program made: 64 MiB are half a million jobs. A job's own bound is a
 * quarter of that of all jobs, in number and in bytes, so one can't keep the others out.
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
#define UPLOAD_PART_BYTES 64u                    /* what a part takes besides its bytes: struct graph_part, blob, malloc */
#define UPLOAD_STILL_NS   (60 * NS_PER_S)        /* a client sends what it has read already: it never waits for itself */
#define UPLOAD_YIELD_NS   (5 * NS_PER_S)         /* the same, where another one waits for the room */
#define UPLOAD_LONGEST_NS (600 * NS_PER_S)       /* 1 GiB takes seconds over a socket; this is for slow drips */

#endif
