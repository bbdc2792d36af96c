/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that are in their state for the same reason, for titan explain. */
#ifndef TITAN_CLI_EXPLAIN_GROUPS_H
#define TITAN_CLI_EXPLAIN_GROUPS_H

#include "cli/ask/select.h"
#include "cli/session/cli.h"
#include "cli/show/row_words.h"

struct explain_group {
	const struct rec_job_row *first;
	struct slice why;                /* empty: their sentences differ */
	struct slice_list ids;           /* RUN/JOB of each of them */
	size_t room;
};

struct explain_groups {
	struct explain_group *at;
	size_t count, room;
	size_t jobs, open;               /* jobs that were looked at, and those that haven't succeeded */
};

uint64_t explain_reason(const struct rec_job_row *job);          /* enum reason, also of a job that runs or has ended */
struct slice explain_why(const struct rec_job_row *job, struct arena *arena);
/* Put the job with those of the same state and reason; one that has succeeded is only counted. */
void explain_groups_add(struct explain_groups *groups, const struct rec_job_row *job, struct arena *arena);
/* A group of this job alone. */
struct explain_group explain_alone(const struct rec_job_row *job, struct arena *arena);

#endif
