/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the parts of reading history: history.c asks the store, step by step, and knows what a question
 * comes to; history_page.c makes the answers' rows of what was read.
 */
#ifndef TITAN_MASTER_HISTORY_H
#define TITAN_MASTER_HISTORY_H

#include "master/internal.h"

enum stage { STAGE_RUNS, STAGE_DEAD, STAGE_DECISIONS, STAGE_RUN, STAGE_SPECS, STAGE_JOBS };

struct specs {                           /* a run's graph, shared by those who page through it */
	unsigned holders;
	uint64_t run, jobs;
	struct store_query *answer;
};

struct history {
	enum stage stage;
	struct query *query;
	struct store_query *run;         /* what was answered so far */
	struct specs *specs;
	uint64_t index;                  /* of the first job wanted */
	struct store_query *jobs;        /* for a new round: pages, the latest first */
	struct row *rows;                /* and all of them, in the inbox */
	struct store_query *question;    /* that the store has */
	struct history *next, **at;      /* all that are under way */
};

struct graph_walk {                            /* through a graph, forwards */
	const struct store_query *specs;
	size_t part;
	uint64_t index;                  /* of the record at the front of rest */
	uint64_t part_end;
	struct slice rest;
	bool in_part;
};

/* history.c */
bool history_of_one(const struct query *query);          /* it asks for one job */
/* The owner of the query goes on with it, or it was answered. */
void history_forget(struct history *history);

/* history_page.c */
/* The record with this index, which never falls; false when there is none. */
bool walk_to(struct graph_walk *walk, uint64_t index, struct arena *arena, struct rec_job_spec *ret_spec);
bool walk_find(const struct store_query *specs, const struct query *query, uint64_t *ret_index);
/* The last step: the page leaves, and the question is forgotten. */
void history_jobs(struct master *master, struct history *history, struct store_query *answer);
void history_decisions(struct master *master, struct history *history, struct store_query *answer);

#endif
