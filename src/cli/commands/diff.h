/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How two runs differ: a list of differences, for titan diff. */
#ifndef TITAN_CLI_DIFF_H
#define TITAN_CLI_DIFF_H

#include "cli/ask/specs.h"
#include "cli/session/cli.h"
#include "proto/message.h"

struct diff_side {
	struct rec_run_row run;
	struct asked_graph asked;
	struct rec_job_row *jobs;        /* by index; as many as in asked.graph */
};

enum diff_kind { DIFF_RUN, DIFF_JOB, DIFF_SETTING, DIFF_VARIABLE, DIFF_RESULT, DIFF_TIME, DIFF_KINDS };

struct diff_entry {
	struct slice name;               /* name of the job; empty: the run as a whole */
	enum diff_kind kind;
	struct slice what;               /* name of the setting, variable or result that differs */
	struct slice before, after;      /* the values in the two runs; empty: that run has none */
	uint64_t count;                  /* members of a fan-out for which the entry stands; 0: no fan-out */
};

struct diff_list {
	struct diff_entry *at;
	size_t count, room;
	struct arena *arena;
};

void diff_add(struct diff_list *list, struct slice name, enum diff_kind kind, const char *what, struct slice before, struct slice after);
/* diff_graph.c: compare the specifications */
void diff_graphs(const struct diff_side *one, const struct diff_side *other, struct diff_list *list);
/* diff_results.c: compare how the runs and their jobs ended, and how long they took */
void diff_results(const struct diff_side *one, const struct diff_side *other, struct diff_list *list);

#endif
