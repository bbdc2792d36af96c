/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of this folder call. */
#ifndef TITAN_CORE_GRAPH_INTERNAL_H
#define TITAN_CORE_GRAPH_INTERNAL_H

#include "core/state.h"

struct standing;

/* admit.c */
/* Count a graph's jobs and check that a run with `before` jobs may have them. */
enum err submit_count(const struct core *core, const struct input_submit *submit, uint32_t before, uint32_t *ret_count,
		      struct error *error);
/* Put rows for the parts of the run's last extent; `from` is the first of these parts. */
void spec_rows(struct core *core, const struct run *run, uint32_t from);

/* cycle.c: ERR_CYCLE with the names of a cycle, or ERR_NONE */
enum err graph_check_cycle(struct core *core, const struct extent *extent, struct error *error);

/* condition.c: jobs with JOB_EXPR */
/* condition_ask.c: questions about values */
/* Is the answer to the question true? All parents that it names have ended. */
bool ask_true(const struct run *run, const struct rec_job_spec *spec, struct slice question);
bool ask_pass(const struct job *pass, struct slice question);
/* Have all parents that the question names ended? */
bool ask_ready(const struct run *run, const struct rec_job_spec *spec, struct slice question);
/* Find the next need that the question names, and how many needs follow each other there. */
bool ask_next(struct slice *question, uint64_t *ret_first, uint64_t *ret_count);

void condition_add(struct run *run, const struct job *job, const struct rec_job_spec *spec);
void conditions_drop(struct run *run, uint32_t from);      /* free the conditions of jobs with index >= from */
/* Let the job's needs include the end of this added parent. */
void condition_wait(const struct job *job, uint32_t parent);
void job_stand(const struct job *job, struct standing *standing);

/* extra.c */
void extra_add(const struct job *job);
void extras_drop(struct run *run, uint32_t from);        /* free the extras of jobs with index >= from */

/* final.c: added jobs come before the run's final jobs */
void final_add(struct run *run, struct job *job);
/*
 * Mark the jobs of a new extent that are behind its final jobs, or behind earlier final jobs (by the edges in outer).
 */
void finals_mark(const struct run *run, const struct extent *extent, const struct edge *outer, size_t outer_count);
enum err finals_check(struct core *core, const struct run *run, const struct extent *extent, struct error *error);
void finals_wait(struct run *run, const struct extent *extent);

/* grow.c: add jobs to run submit->into; *ret_first is the serial number of the first */
enum err run_grow(struct core *core, const struct input_submit *submit, struct run **ret_run, uint64_t *ret_first,
		  struct error *error);

/* name_index.c */
void name_index_init(struct name_index *index, size_t names, uint64_t seed);
void name_index_free(struct name_index *index);
/* Return the index of the job with this name; or UINT32_MAX, and in *ret_slot where it belongs. */
uint32_t name_index_find(const struct name_index *index, const struct run *run, struct slice name,
			 size_t *ret_slot);
void name_index_put(struct name_index *index, size_t slot, struct slice name, uint32_t job);
void names_added(const struct core *core, struct run *run, const struct extent *extent);
/* Like run_job_named, but only among jobs with an index below end: later ones aren't built yet. */
struct job *run_job_named_before(const struct core *core, struct run *run, struct slice name, uint32_t end);

/* nest.c */
enum err subrun_check(struct core *core, const struct job *job, const struct rec_job_spec *spec, struct error *error);

/* runs.c: the lists of runs, and the directory from serial numbers to jobs */
/* Add a child to a parent of an earlier submit; child: index << TRIGGER_BITS | trigger. */
void later_put(struct run *run, uint32_t parent, uint32_t child);

/* spec.c */
#define LATE_SPANS 100                   /* most LIMIT_SPAN_MAX_S between a run's submit and an addition */
enum err spec_check(const struct rec_job_spec *spec, uint32_t index, const struct extent *extent, struct error *error);

#endif
