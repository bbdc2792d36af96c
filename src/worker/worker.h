/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three processes of a worker. Each function returns an exit status of titan(1). */
#ifndef TITAN_WORKER_WORKER_H
#define TITAN_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/statedir.h"
#include "proto/error.h"
#include "worker/job_user.h"

/* The ways to keep a job's processes together, in the order of the command's option. */
enum containment { CONTAIN_AUTO, CONTAIN_CGROUP, CONTAIN_PIDS, CONTAIN_SUBREAPER };

struct worker_options {
	struct statedir statedir;        /* the cluster's directory; the worker's files are in worker/NAME below it */
	const char *name;
	uint32_t slots;                  /* number of slots; 0: as many as the machine has cores */
	const char *labels;              /* the worker's labels, separated by commas; NULL or empty: none */
	enum containment containment;    /* how a job's processes are kept together */
	/* resources of the worker, NAME=N separated by commas; cpus and memory are found out if they aren't named */
	const char *resources;
	/*
	 * Address of a master on another machine, and path of the file with the worker's key; NULL or empty: the master of
	 * statedir, over its unix socket. BRIDGE_ADDRESS: the master comes to the worker's socket, by way of ssh.
	 */
	const char *address, *key_path;
	const char *pool;                /* the worker's pool; NULL or empty: the default pool */
	struct job_user *user;           /* the user as whom jobs run; NULL: the user of the worker */
	/* in the link: numbers of the user as whom jobs run and of its group, and the place of these jobs; NULL: the worker's own */
	uint32_t job_uid, job_gid;
	const char *job_place;
	/* end what an earlier worker of this name left running, then exit; start no link */
	bool end_jobs;
	/*
	 * descriptor that gets one byte when the worker is connected, or with end_jobs when all jobs have ended; -1:
	 * none
	 */
	int ready_fd;
	int guardian;                    /* in the keeper: process number of its guardian; 0: none */
	int guardian_fd;                 /* in the keeper: descriptor of the guardian's lock, which both hold */
	int64_t stuck_ns;                /* time after which a killed process that still lives is reported; 0: 10 s */
	int64_t start_ns;                /* time after which a hanging start is given up; 0: LIMIT_START_MS */
	/* The link's program, by path, and its arguments; NULL: this program with the word "link". */
	const char *const *link_argv;
};

/*
 * The guardian: starts the keeper, restarts it when it is killed, and records how orphaned jobs end. The function also
 * returns in the keeper's process, with the keeper's error; in the guardian's process it returns only the guardian's
 * own errors.
 */
int guardian_run(const struct worker_options *options, struct error *error);
/*
 * The keeper: owns child processes, spool and lease; starts and restarts the link. Returns KEEPER_UNGUARDED if its
 * guardian was killed: then everything but the children is closed, so that this process can become their guardian.
 */
#define KEEPER_UNGUARDED (-1)
int keeper_run(const struct worker_options *options, struct error *error);
/* Write log messages of guardian, keeper and link to worker-NAME.log, if titan up made that file their stderr. */
void worker_log_to_file(const struct worker_options *options);
/* Run the command "link": read the options from the environment that the keeper set, then call link_run. */
int link_main(void);
/* Run the link; the keeper starts it with its socket as descriptor 3. Returns an exit status. */
int link_run(const struct worker_options *options, struct error *error);

/* ---- a worker of this machine, seen from outside; path: its directory ---- */

bool worker_is_served(const char *path);         /* does a guardian or keeper of this worker live and serve? */
/*
 * Send SIGTERM (leave its jobs running) or SIGINT (end them) to the worker's guardian, or to its keeper if it has no
 * guardian. False: there is no such process.
 */
bool worker_signal(const char *path, int number);
/* Count the living processes with the mark of this worker's jobs. */
size_t worker_left_processes(const char *path);

/*
 * The first argument of this program when it runs the process of a job with artifacts, and then keeps its files: COLLECT_WORD, the patterns,
 * --, the command.
 */
#define COLLECT_WORD "collect"

#endif
