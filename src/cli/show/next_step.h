/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command with which a person could move a job on. */
#ifndef TITAN_CLI_NEXT_STEP_H
#define TITAN_CLI_NEXT_STEP_H

#include "base/arena.h"
#include "proto/message.h"

/* Return the command; empty: the job only needs time. jobs: the rows of its run, to find the gate that it waits for. */
struct slice explain_next(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
			  struct arena *arena);

#endif
