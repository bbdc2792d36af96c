/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph on its way to the master. */
#ifndef TITAN_CLI_SUBMIT_H
#define TITAN_CLI_SUBMIT_H

#include "cli/session/cli.h"

#define SUBMIT_KEY_SIZE 16

struct graph_source {
	uint64_t count;
	uint64_t max_jobs;               /* of the run at once; 0: no bound */
	struct slice tenant;             /* whose share the run takes; empty: the owner's */
	struct slice context;            /* of all jobs: a run_context record; or empty */
	struct slice concurrency;        /* the group of the run as a whole, NAME or NAME=LIMIT; empty: none */
	const struct rec_schedule_spec *schedule;        /* NULL: a run begins now */
	uint64_t into;                   /* the run that the jobs are added to; 0: one begins */
	struct slice_list parents;       /* jobs of it: needs of count + i */
	uint64_t again;                  /* the run whose graph it is: there are no jobs here; 0: they are */
	/* The job with this index; its lists in scratch, which lives until the next one. */
	void (*job_cb)(const void *arg, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec);
	const void *arg;
};

/* A small graph goes in one frame, a large one in chunks. After a lost connection the same key is sent again. */
enum err submit_graph(struct cli *cli, const struct graph_source *source, struct slice name,
		      const uint8_t key[SUBMIT_KEY_SIZE], struct msg_accepted *ret);

#endif
