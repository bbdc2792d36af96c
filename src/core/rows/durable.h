/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes rows at the end of a turn, and what rows become at a start; what is removed for good. */
#ifndef TITAN_CORE_ROWS_DURABLE_H
#define TITAN_CORE_ROWS_DURABLE_H

#include <endian.h>

#include "core/state.h"

/* flush.c: the end of a turn */
void turn_flush(struct core *core);

/* load.c: what is read is believed only if it fits */
#define NUMBER_MAX (INT64_MAX / 2)       /* of what a row says */

static inline bool number_sane(int64_t value, int64_t low)
{
	return value >= low && value <= NUMBER_MAX;
}

static inline void number_put(uint8_t *out, uint64_t value)      /* eight bytes, little-endian */
{
	value = htole64(value);
	memcpy(out, &value, sizeof(value));
}

/* prune.c: removing them */
struct pruning *pruning_find(const struct core *core, uint64_t number);          /* its logs, or what is left of it, are going */
uint64_t prune_step(struct core *core, const struct core_input *input);
void prune_check(const struct core *core);
uint64_t prune_hash(const struct core *core);
void prune_free(struct core *core);

/* pruned.c: the numbers of runs that were removed for good */
const struct pruned *pruned_find(const struct core *core, uint64_t number);      /* NULL: it wasn't */

/* resume.c: what the dependencies of each job come to, recomputed from the child lists */
/* A run that had left memory, from its rows; it is as if it had ended just now. */
enum err run_load_ended(struct core *core, const struct row *rows, size_t count, struct error *error);

/* say.c */
void meta_put(struct core *core, const char *name, uint64_t value);
void error_send(struct core *core, uint64_t conn, uint64_t request, const struct error *error, bool close);

#endif
