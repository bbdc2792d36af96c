/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that are in their state for the same reason, for titan explain. */
#ifndef TITAN_CLI_EXPLAIN_GROUPS_H
#define TITAN_CLI_EXPLAIN_GROUPS_H

#include "cli/ask/select.h"
#include "cli/session/cli.h"
#include "cli/show/row_words.h"

struct explain_group {
	const struct rec_job_row *first;
	struct slice why;                /* empty: the jobs' explanations differ */
	struct slice_list ids;           /* RUN/JOB of each job in the group */
	size_t room;
};

struct explain_groups {
	struct explain_group *at;
	size_t count, room;
	size_t jobs, open;               /* number of jobs examined, and of those that haven't succeeded */
};

uint64_t explain_reason(const struct rec_job_row *job); /* the enum reason of a job, also if it runs or has ended */
struct slice explain_why(const struct rec_job_row *job, struct arena *arena);
/*
 * Add the job to the group with its state and reason; with each set, make a group for each job. A job that succeeded is
 * only counted.
 */
void explain_groups_add(struct explain_groups *groups, const struct rec_job_row *job, bool each, struct arena *arena);
/* Make a group of one job. */
struct explain_group explain_alone(const struct rec_job_row *job, struct arena *arena);

/*
 * Add "; QUESTION is false: NAME is VALUE" to the cause of a job that was skipped because of its condition, for each of its questions
 * about values that is false.
 */
struct slice explain_condition(struct cli *cli, const struct rec_job_row *job, struct slice cause);

#endif
