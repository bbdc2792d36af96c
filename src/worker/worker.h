/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three processes of a worker. Each returns an exit status of titan(1). */
#ifndef TITAN_WORKER_WORKER_H
#define TITAN_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/statedir.h"
#include "proto/error.h"

enum containment { CONTAIN_AUTO, CONTAIN_CGROUP, CONTAIN_PIDS, CONTAIN_SUBREAPER };       /* as the command's option lists them */

struct worker_options {
	struct statedir statedir;            /* the cluster; its files are in worker/NAME below it */
	const char *name;
	uint32_t slots;                  /* 0: one a core */
	const char *labels;              /* with commas between; NULL or empty: none */
	enum containment containment;    /* what keeps a job's processes together */
	const char *resources;           /* NAME=N, with commas between; cpus and memory are found where they aren't named */
	const char *pool;                /* NULL or empty: default */
	bool end_jobs;                   /* end what an earlier worker of the name left running, then exit; no link */
	int ready_fd;                    /* a byte is written when it is connected, or all jobs have ended; -1 none */
	int guardian;                    /* the keeper's: process number of its guardian; 0: it has none */
	int guardian_fd;                 /* with the guardian's lock, which they share */
	int64_t stuck_ns;                /* a killed process that lives on is told of after this; 0: 10 s */
	int64_t start_ns;                /* a start that hangs is given up after this; 0: LIMIT_START_MS */
	const char *const *link_argv;    /* the link's program, by path; NULL: this program with the word "link" */
};

/*
 * The guardian: starts the keeper, again when it is killed, and records how its orphans end. Returns in the keeper's
 * process, too, and there with the keeper's error; in the guardian's with none but its own.
 */
int guardian_run(const struct worker_options *options, struct error *error);
/*
 * The keeper: owns children, spool and leases; starts the link and starts it again when it dies. KEEPER_UNGUARDED: its
 * guardian was killed, and it gave back all but its children, so that this process can be their guardian.
 */
#define KEEPER_UNGUARDED (-1)
int keeper_run(const struct worker_options *options, struct error *error);
/* Its messages, those of keeper and link: worker-NAME.log, where titan up made that their stderr. */
void worker_log_to_file(const struct worker_options *options);
/* What the word "link" does: reads its options from the environment that the keeper gave it, then link_run. */
int link_main(void);
/* The link, started by the keeper with its socket as descriptor 3. */
int link_run(const struct worker_options *options, struct error *error);

/* ---- a worker of this machine, seen from outside; path: of its directory ---- */

bool worker_is_served(const char *path);         /* a guardian or a keeper of it lives and serves */
/* SIGTERM leaves its jobs, SIGINT ends them; to its guardian, or to a keeper without one. False: there is none. */
bool worker_signal(const char *path, int number);
/* How many processes of its jobs live: those that bear its mark. */
size_t worker_left_processes(const char *path);

#endif
