/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the halves of pruning: pruner.c has the sweeps and what they wait for, pruner_step.c what a turn removes. */
#ifndef TITAN_MASTER_PRUNER_H
#define TITAN_MASTER_PRUNER_H

#include "master/sweep.h"

struct pruner {
	struct sweep *first, **end;
	size_t count;
	struct ev_timer pause, every;
	struct store_query *runs, *parts, *turns;        /* answers */
	uint64_t *candidates;            /* places in runs of those that go */
	size_t candidate_count, candidate_at;
	uint64_t as_of;                  /* of runs */
	struct store_query *question;    /* that the store has */
	bool measuring;                  /* the logs' thread is at it */
	bool stepping;                   /* a step waits to be durable; its turn, when it was decided */
	uint64_t step_turn;
	int64_t step_ns;
	struct row *step_rows;
	uint64_t *gone;                  /* runs whose logs are no more, for the next step */
	size_t gone_count, gone_cap;
	uint64_t *told;                  /* those of the step under way: more may go meanwhile */
	size_t told_count;
	struct map asked;                /* runs whose logs are being removed */
	struct map failed;               /* or couldn't be */
};

/* pruner.c */
void prune_go(struct master *master);                    /* whatever can be done now */
void prune_drop_answer(struct store_query **answer);

/* pruner_step.c */
/* What the core has begun isn't offered again, nor what it won't begin. */
void step_pass(struct master *master, struct sweep *sweep);
void step_begin(struct master *master);
void step_pause_cb(struct ev_loop *loop, struct ev_timer *timer, int events);
void step_logs(struct master *master);                   /* of what is durably on its way out */

#endif
