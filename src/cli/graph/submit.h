/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sends a graph to the master. */
#ifndef TITAN_CLI_SUBMIT_H
#define TITAN_CLI_SUBMIT_H

#include "cli/session/cli.h"

#define SUBMIT_KEY_SIZE 16

struct graph_source {
	uint64_t count;
	uint64_t max_jobs;               /* most active jobs of the run at once; 0: no limit */
	struct slice tenant;             /* tenant to which the run is charged; empty: the owner's own */
	struct slice context;            /* run_context record for all jobs; or empty */
	struct slice concurrency; /* concurrency group that counts this run, as NAME or NAME=LIMIT; empty: none */
	const struct rec_schedule_spec *schedule;        /* schedule to add; NULL: start a run now */
	struct slice revision;           /* revision that the schedule must have now; empty: any, or none yet */
	uint64_t into;                   /* number of the run to which the jobs are added; 0: start a new run */
	/* existing jobs of that run that new jobs need: index count + i in needs means parents[i] */
	struct slice_list parents;
	uint64_t again; /* number of an earlier run whose graph is run again, with no jobs in this request; 0: none */
	/* Make the job with this index. Its lists are allocated in scratch, which is reset before the next job. */
	void (*job_cb)(const void *arg, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec);
	const void *arg;
};

/*
 * Submit a graph: a small one in one frame, a large one in chunks. After a lost connection it is sent again with the
 * same key.
 */
enum err submit_graph(struct cli *cli, const struct graph_source *source, struct slice name,
		      const uint8_t key[SUBMIT_KEY_SIZE], struct msg_accepted *ret);

#endif
