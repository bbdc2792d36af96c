/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the halves of pruning: pruner.c has the sweeps and what they wait for; pruner_step.c removes. */
#ifndef TITAN_MASTER_PRUNER_H
#define TITAN_MASTER_PRUNER_H

#include "master/sweep.h"

struct pruner {
	struct sweep *first, **end;
	size_t count;
	struct ev_timer pause, every;
	struct store_query *runs, *parts, *turns;        /* rows that the store answered: runs, parts, turns */
	uint64_t *candidates;            /* indices in runs of the runs that may be removed */
	size_t candidate_count, candidate_at;
	uint64_t as_of;                  /* the turn as of which the runs were read */
	struct store_query *question;    /* the query that the store is working on for pruning */
	bool measuring;                  /* the log thread is measuring the logs */
	/* a step was decided and isn't durable yet; step_turn and step_ns: its turn and time */
	bool stepping;
	uint64_t step_turn;
	int64_t step_ns;
	/* when the rules of history are applied next, by the first turn after this time */
	int64_t history_ns;
	struct row *step_rows;
	uint64_t *gone;                  /* runs whose logs were removed, to be reported in the next step */
	size_t gone_count, gone_cap;
	uint64_t *told; /* copy of gone that the present step reports, because gone may grow meanwhile */
	size_t told_count;
	struct map asked;                /* runs whose logs are being removed */
	struct map failed;               /* runs whose logs couldn't be removed */
};

/* pruner.c */
void prune_go(struct master *master);                    /* start all pruning that can be done now */
/*
 * Apply the rules that limit rows of `change` and of acts, if it is time. Every turn calls this, instead of a timer:
 * without turns nothing new is stored, and an idle master can sleep.
 */
void prune_history(struct master *master);
void prune_drop_answer(struct store_query **answer);

/* pruner_step.c */
/* Skip candidates that the core has begun to remove, or refuses to remove. */
void step_pass(struct master *master, struct sweep *sweep);
void step_begin(struct master *master);
void step_pause_cb(struct ev_loop *loop, struct ev_timer *timer, int events);
void step_logs(struct master *master);                   /* remove the logs of runs whose removal is durable */

#endif
