/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Putting rows at the end of a turn, loading rows at a start, and pruning. */
#ifndef TITAN_CORE_ROWS_DURABLE_H
#define TITAN_CORE_ROWS_DURABLE_H

#include <endian.h>

#include "core/state.h"

/* flush.c: the end of a turn */
void turn_flush(struct core *core);

/* load_state.c: a row is accepted only if it is consistent with the others */
#define NUMBER_MAX (INT64_MAX / 2)       /* largest plausible number in a row */

static inline bool number_sane(int64_t value, int64_t low)
{
	return value >= low && value <= NUMBER_MAX;
}

static inline void number_put(uint8_t *out, uint64_t value)      /* writes a number as 8 bytes, little-endian */
{
	value = htole64(value);
	memcpy(out, &value, sizeof(value));
}

/* ended_sums.c: how many runs and jobs have ended in each state */
void ended_sums_run_ended(struct core *core, const struct run *run);
/* Call it before the first move of one of the run's jobs. */
void ended_sums_run_lives_again(struct core *core, const struct run *run);

/* prune.c: removing rows of pruned runs */
/* Not NULL: the run's rows or logs are being removed. */
struct pruning *pruning_find(const struct core *core, uint64_t number);
uint64_t prune_step(struct core *core, const struct core_input *input);
void prune_check(const struct core *core);
uint64_t prune_hash(const struct core *core);
void prune_free(struct core *core);

/* pruned.c: the numbers of pruned runs */
/* The range of pruned runs with this number; NULL: not pruned. */
const struct pruned *pruned_find(const struct core *core, uint64_t number);

/* resume.c: state that follows from the rows of a run */
/* Load a run that had left memory from its rows; it then counts as having ended just now. */
enum err run_load_ended(struct core *core, const struct row *rows, size_t count, struct error *error);

/* say.c */
/* Add what isn't a move of a job to the history of the turn. */
void happened(struct core *core, enum happening_kind kind, uint64_t number, struct slice name, uint64_t detail);
void meta_put(struct core *core, const char *name, uint64_t value);
void error_send(struct core *core, uint64_t conn, uint64_t request, const struct error *error, bool close);

#endif
