/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which command would change where a job is. */
#ifndef TITAN_CLI_NEXT_STEP_H
#define TITAN_CLI_NEXT_STEP_H

#include "base/arena.h"
#include "proto/message.h"

/* The command; empty where it only takes time. The rows of its run say which gate it waits for; 0: not known. */
struct slice explain_next(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
			  struct arena *arena);

#endif
