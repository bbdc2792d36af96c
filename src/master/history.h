/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the parts of reading history: history.c asks the store step by step and decides what a query needs;
 * history_page.c, history_past.c and history_events.c turn the rows into answers.
 */
#ifndef TITAN_MASTER_HISTORY_H
#define TITAN_MASTER_HISTORY_H

#include "master/internal.h"

enum stage { STAGE_RUNS, STAGE_DEAD, STAGE_DECISIONS, STAGE_RUN, STAGE_SPECS, STAGE_JOBS, STAGE_ACTS, STAGE_PRUNED, STAGE_EVENTS, STAGE_TRIES };

struct specs {                           /* a run's graph, shared by all clients that page through the run */
	unsigned holders;
	uint64_t run, jobs;
	struct store_query *answer;
};

struct history {
	enum stage stage;
	struct query *query;
	struct store_query *run;         /* the store's answer with the run's row */
	struct specs *specs;
	uint64_t index;                  /* index in the graph of the first requested job */
	struct store_query *jobs;        /* for a new round: pages of jobs, newest first */
	struct row *rows;                /* for a new round: all rows of the run, passed to the core */
	struct store_query *question;    /* the query that the store is working on */
	struct history *next, **at;      /* neighbours in the list of all reads under way */
};

struct graph_walk {                            /* a forward walk through a graph */
	const struct store_query *specs;
	size_t part;
	uint64_t index;                  /* index of the job whose record is first in rest */
	uint64_t part_end;
	struct slice rest;
	bool in_part;
};

/* history.c */
bool history_of_one(const struct query *query);          /* does the query want a single job? */
/* Free the history. Its query was answered, or has another owner by now. */
void history_forget(struct history *history);

/* history_page.c */
/* Find the record of the job with this index; indices must not fall from call to call. False: there is none. */
bool walk_to(struct graph_walk *walk, uint64_t index, struct arena *arena, struct rec_job_spec *ret_spec);
bool walk_find(const struct store_query *specs, const struct query *query, uint64_t *ret_index);
/* Last step: send the page and free the query. */
void history_jobs(struct master *master, struct history *history, struct store_query *answer);
void history_decisions(struct master *master, struct history *history, struct store_query *answer);
void history_tries(struct master *master, struct history *history, struct store_query *answer);

/* history_past.c */
/* the texts of the result point into the stored row */
void history_act_row(const struct row_act *row, struct rec_act_row *ret_row);
void history_acts(struct master *master, struct history *history, struct store_query *answer);
void history_pruned(struct master *master, struct history *history, struct store_query *answer);

/* query_specs.c: send a page of the run's jobs as they were submitted, and free the history and its query */
void history_specs(struct master *master, struct history *history);

/* history_events.c */
void history_events(struct master *master, struct history *history, struct store_query *answer);

#endif
