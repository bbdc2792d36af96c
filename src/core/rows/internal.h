/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of this folder call. */
#ifndef TITAN_CORE_ROWS_INTERNAL_H
#define TITAN_CORE_ROWS_INTERNAL_H

#include "core/state.h"

/* load_state.c: a row is accepted only if it is consistent with the others */
#define TRUST(error, ...) error_set(error, ERR_STORE_TRUST, __VA_ARGS__)

/* load_run.c: the graphs of all runs are built before the rows of jobs are loaded */
enum err load_run(struct core *core, const struct row_run *row, struct error *error);
/* Load a run's row, whether the run is live or ended. */
enum err load_run_row(struct core *core, const struct row_run *row, struct error *error);
enum err load_spec(struct core *core, const struct row_spec *row, struct error *error);
enum err load_job(struct core *core, const struct row_job *row, struct error *error);
/* Build a run's jobs from all parts of its specification. */
enum err run_build(struct core *core, struct run *run, struct error *error);

/* ended_sums.c: how many runs and jobs have ended in each state */
void ended_sums_run_pruned(struct core *core, const struct row_run *row);
void ended_sums_flush(struct core *core);
enum err ended_sums_load(struct core *core, const struct row_meta *row, struct error *error);
/* Add up a run of a store that has no sums. */
enum err ended_sums_load_run(struct core *core, const struct row_run *row, struct error *error);
void ended_sums_loaded(struct core *core);

/* prune.c: removing rows of pruned runs */
enum err load_pruning(struct core *core, const struct row_pruning *row, struct error *error);

static inline bool pruning_has_rows(const struct pruning *pruning)
{
	return pruning->parts > 0 || pruning->range_at < pruning->range_count;
}

/* pruned.c: the numbers of pruned runs */
void pruned_add(struct core *core, uint64_t number);
void pruned_flush(struct core *core);
enum err load_pruned(struct core *core, const struct row_pruned *row, struct error *error);
void pruned_check(const struct core *core);

/* resume.c: state that follows from the rows of a run */
enum err run_resume(struct core *core, struct run *run, struct error *error);

#endif
