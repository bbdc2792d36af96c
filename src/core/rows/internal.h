/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What only the files of this folder call of each other. */
#ifndef TITAN_CORE_ROWS_INTERNAL_H
#define TITAN_CORE_ROWS_INTERNAL_H

#include "core/state.h"

/* load.c: what is read is believed only if it fits */
#define TRUST(error, ...) error_set(error, ERR_STORE_TRUST, __VA_ARGS__)

/* load_run.c: before the rows of jobs come, the graphs of all runs are built */
enum err load_run(struct core *core, const struct row_run *row, struct error *error);
enum err load_run_row(struct core *core, const struct row_run *row, struct error *error); /* live or not */
enum err load_spec(struct core *core, const struct row_spec *row, struct error *error);
enum err load_job(struct core *core, const struct row_job *row, struct error *error);
enum err run_build(struct core *core, struct run *run, struct error *error);             /* of all its parts */

/* prune.c: removing them */
enum err load_pruning(struct core *core, const struct row_pruning *row, struct error *error);

static inline bool pruning_has_rows(const struct pruning *pruning)
{
	return pruning->parts > 0 || pruning->range_at < pruning->range_count;
}

/* pruned.c: the numbers of runs that were removed for good */
void pruned_add(struct core *core, uint64_t number);
void pruned_flush(struct core *core);
enum err load_pruned(struct core *core, const struct row_pruned *row, struct error *error);
void pruned_check(const struct core *core);

/* resume.c: what the dependencies of each job come to, recomputed from the child lists */
enum err run_resume(struct core *core, struct run *run, struct error *error);

#endif
