/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explain.c and explain_worker.c tell a job's reason with. */
#ifndef TITAN_CORE_EXPLAIN_H
#define TITAN_CORE_EXPLAIN_H

#include "core/state.h"
#include "proto/reasons.h"

#define NAMES_MAX 5                      /* of what could be named, the rest is counted */

struct telling {
	const struct core *core;
	const struct job *job;
	const struct rec_job_spec *spec;
	struct arena *arena;
	struct buf words;
	const struct worker *target;     /* of its affinity */
};

void tell_count(struct telling *telling, const char *lead, uint64_t count, const char *one, const char *many);
enum reason tell_workers(struct telling *telling);       /* of one that nothing but a worker is missing for */

#endif
