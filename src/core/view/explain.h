/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by explain.c, explain_worker.c and why.c. */
#ifndef TITAN_CORE_EXPLAIN_H
#define TITAN_CORE_EXPLAIN_H

#include "core/state.h"
#include "proto/reasons.h"

#define NAMES_MAX 5                      /* most names in a list; the rest is only counted */

struct telling {
	const struct core *core;
	const struct job *job;
	const struct rec_job_spec *spec;
	struct arena *arena;
	struct buf words;
	bool brief;                      /* for one row of many: leave out what takes long to find */
	const struct worker *target;     /* the worker that the job's affinity names, or NULL */
};

void tell_count(struct telling *telling, const char *lead, uint64_t count, const char *one, const char *many);
enum reason tell_workers(struct telling *telling);       /* the reason why a job gets no worker */

/* Set why_code and why of the row. */
void explain_job(const struct core *core, const struct job *job, bool brief, struct arena *arena, struct rec_job_row *row);

#endif
