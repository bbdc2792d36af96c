/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of the guardian. guardian.c: the process and its loop; guardian_renew.c: how it becomes a newer version. */
#ifndef TITAN_WORKER_GUARDIAN_H
#define TITAN_WORKER_GUARDIAN_H

#include <limits.h>

#include "worker/tree.h"
#include "worker/worker.h"

struct guardian {
	struct worker_options options;
	char path[PATH_MAX];             /* the worker's directory */
	char program[PATH_MAX];          /* path of this executable; an upgrade puts the new version there */
	int dir_fd, lock_fd;
	uint8_t boot_id[16];
	pid_t keeper;                    /* process number of the keeper; 0: none */
	int64_t started_ns, restart_ns, backoff_ns;
	/* the last SIGTERM or SIGINT, which each new keeper gets as well; 0: none */
	int passed;
	bool again;                      /* the present keeper isn't the first */
	bool ending;                     /* the keeper has exited by itself, so the guardian ends as well */
	int exit_status;                 /* the keeper's exit status, which the guardian returns */
	bool renewing;                   /* SIGHUP has asked the guardian to become a newer version */
	bool failing;                    /* writing the record of an end failed; it is tried again */
	struct pid_list children;
	struct pid_list orphans;         /* jobs of dead keepers whose ends aren't recorded yet */
};

/* Find the path of this program; called once. */
void renew_open(struct guardian *guardian);
/* In a guardian that was just renewed by exec: take over keeper and lock. True: this process is one. */
bool renew_resume(struct guardian *guardian);
/* Exec the program that is now at this path; the children remain. Returns only if the exec fails. */
void renew_exec(struct guardian *guardian);

#endif
