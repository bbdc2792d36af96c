/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The core among lying workers: workers report anything, true or false, people act on whatever they see, clocks are set
 * right and wrong, and the master is killed. What the core decides isn't checked, only that its invariants hold after
 * every turn, and that a core loaded from its rows has the same state (I17).
 */
#ifndef TITAN_TESTS_LIARS_H
#define TITAN_TESTS_LIARS_H

#include "base/rand.h"
#include "tests/unit/core_rig.h"

#define LIARS_WORKERS 3
#define LIARS_GIVEN 4096                 /* number of attempts that are remembered */
#define LIARS_JOBS 6                     /* most jobs of a graph */

struct liars {
	struct rig *rig;
	struct rand_state rand;
	struct rig_attempt given[LIARS_GIVEN];
	unsigned given_to[LIARS_GIVEN];  /* index of the worker that got each attempt */
	size_t given_count;              /* number of attempts so far; only the latest LIARS_GIVEN are remembered */
	uint64_t conns[LIARS_WORKERS];   /* the connection of each worker; 0: not connected */
	unsigned honesty;                /* percentage of the workers' reports that could be true */
	unsigned added;                  /* number of jobs added to runs so far, used to name the next one */
	unsigned step;
	/* rows are changed at restarts so that jobs come near the limits of epochs, rounds and tries */
	bool worn;
	bool story;
};

/* main.c */
uint64_t below(struct liars *liars, uint64_t limit);
bool chance(struct liars *liars, unsigned percent);
uint64_t any_span_ms(struct liars *liars);
/* returns a name that a job or fan-out may have; empty: the whole run */
const char *any_name(struct liars *liars);
uint64_t any_run(struct liars *liars);
void tell(struct liars *liars, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tell_answer(struct liars *liars);

/* graph.c */
void graph_random(struct liars *liars, struct graph *graph, unsigned depth);

/* worker.c */
void worker_comes(struct liars *liars);
void worker_goes(struct liars *liars);
void worker_starts(struct liars *liars);
void worker_ends(struct liars *liars);
void worker_beats(struct liars *liars);

/* people.c */
void people_submit(struct liars *liars);
void people_add(struct liars *liars);
void people_cancel(struct liars *liars);
void people_act(struct liars *liars);
void people_reopen(struct liars *liars);
void people_schedule(struct liars *liars);
void people_set(struct liars *liars);

/* master.c */
void master_waits(struct liars *liars);
void master_clock(struct liars *liars);
void master_restarts(struct liars *liars);
void master_sweeps(struct liars *liars);

#endif
