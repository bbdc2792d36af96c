/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A core among liars: workers that say anything about anything, people who act on whatever they see, clocks
 * that are put right and wrong, and a master that is killed. Nothing is asked of what the core decides, only
 * that its invariants hold after every turn, and that a core loaded from its rows is the same (I17).
 */
#ifndef TITAN_TESTS_LIARS_H
#define TITAN_TESTS_LIARS_H

#include "base/rand.h"
#include "tests/unit/core_rig.h"

#define LIARS_WORKERS 3
#define LIARS_GIVEN 4096                 /* attempts that are remembered */
#define LIARS_JOBS 6                     /* most in a graph */

struct liars {
	struct rig *rig;
	struct rand_state rand;
	struct rig_attempt given[LIARS_GIVEN];
	unsigned given_to[LIARS_GIVEN];  /* workers */
	size_t given_count;              /* all there were; the latest are remembered */
	uint64_t conns[LIARS_WORKERS];   /* 0: not connected */
	unsigned honesty;                /* percent of what workers say that could be true */
	unsigned added;                  /* jobs added to runs, for their names */
	unsigned step;
	bool worn;                       /* jobs near the most epochs, rounds and tries that there can be */
	bool story;
};

/* main.c */
uint64_t below(struct liars *liars, uint64_t limit);
bool chance(struct liars *liars, unsigned percent);
uint64_t any_span_ms(struct liars *liars);
const char *any_name(struct liars *liars);       /* of a job or a fan-out, which may exist; empty: the whole run */
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
