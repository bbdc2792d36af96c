/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside the guardian. guardian.c: the process and its loop; guardian_renew.c: how it becomes a newer version. */
#ifndef TITAN_WORKER_GUARDIAN_H
#define TITAN_WORKER_GUARDIAN_H

#include <limits.h>

#include "worker/tree.h"
#include "worker/worker.h"

struct guardian {
	struct worker_options options;
	char path[PATH_MAX];             /* of the worker's directory */
	char program[PATH_MAX];          /* this one, by path: a newer version takes its place there */
	int dir_fd, lock_fd;
	uint8_t boot_id[16];
	pid_t keeper;                    /* 0: none */
	int64_t started_ns, restart_ns, backoff_ns;
	int passed;                      /* the signal that the keeper has to know of; 0: none */
	bool again;                      /* a keeper was killed: the present one isn't the first */
	bool ending;                     /* the keeper has ended by itself */
	int exit_status;                 /* with which */
	bool renewing;                   /* asked to become a newer version */
	bool failing;                    /* a record couldn't be written */
	struct pid_list children;
	struct pid_list orphans;         /* jobs of dead keepers, not yet recorded */
};

/* Learn where the program lies, once. */
void renew_open(struct guardian *guardian);
/* In a guardian that is a renewed one: true, with its keeper and its lock. */
bool renew_resume(struct guardian *guardian);
/* Become the program that lies there now, with the children kept. Returns when that can't be. */
void renew_exec(struct guardian *guardian);

#endif
