/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts the process of an attempt directly from the keeper. The child shares the keeper's memory until its exec and
 * only makes system calls; that is safe as long as the keeper is small and blocks every signal. If directory or program
 * are on a file system that doesn't answer, the start goes on while the keeper continues.
 */
#ifndef TITAN_WORKER_SPAWN_H
#define TITAN_WORKER_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "worker/job_user.h"

/* Added to the errno of a start that failed at the working directory that the request names. */
#define FAULT_DIR 0x10000
/* Added to the errno of a start that failed because files of the job couldn't be put in place. */
#define FAULT_FILES 0x20000

struct spawn_request {
	/* The arguments, with a free place before argv[0] for the shell of a script without interpreter line. */
	char **argv;
	char **envp;
	const char *path;                /* search path for argv[0], used if that has no slash */
	int in_fd, out_fd, err_fd;
	int dir_fd;                      /* the working directory, unless dir names another */
	const char *dir;
	uint64_t dir_device, dir_inode;  /* what dir must be; otherwise the start fails there with ESTALE. dir_inode 0: anything */
	bool die_with_us;                /* kill the started job when the keeper dies */
	/* Directory of the control group in which the process starts; -1: the keeper's own group. */
	int cage_fd;
	const struct job_user *user;     /* the user as whom the process runs; NULL: this process's own */
	bool own_pids;                   /* the process gets a pid namespace of its own, below an init made here */
};

/*
 * Prepare this process once, early, for its children: umask, core limit, no new privileges, subreaper. The
 * present limit on open files is remembered for jobs. 0 or -errno.
 */
int spawn_prepare(void);
struct spawner;                          /* handle of a start that hangs */

struct spawn_texts {                     /* the memory that a request points to */
	struct buf pointers, facts;
	char **list;
	char *strings, *script;
};

/*
 * Start a process in a session of its own. Return 0 and its pid; or an errno, without a process. With own_pids the pid
 * is the init's; when the init has ended, the wait status of the main process can be read as an int from *ret_status_fd
 * (otherwise -1).
 *
 * If the start hangs, *ret_late isn't NULL: the process exists, nothing more is known, and all that the request points
 * to must stay. SIGCHLD reports if the process ends; only spawner_ended tells that the program runs.
 */
int spawn_run(const struct spawn_request *request, pid_t *ret_pid, int *ret_status_fd, struct spawner **ret_late);

/* The following functions are for a start that hangs. */
/* Keep these texts, which the start uses, until spawner_finish returns. */
void spawner_keep(struct spawner *spawner, struct spawn_texts texts);
bool spawner_ended(struct spawner *spawner);                     /* true: spawner_finish won't wait */
/*
 * End a hanging start. Returns 0 if the program ran or the process was killed; else the errno why it couldn't
 * run. Waits, so call it only after spawner_ended or when the process is gone. *ret_tried is false if the
 * process was killed before its exec.
 */
int spawner_finish(struct spawner *spawner, int *ret_status_fd, bool *ret_tried);

/* Can a process be started in this control group? 0, or the errno of the failure. */
int spawn_try_cage(int cage_fd);
/* Can a process be started in its own pid namespace? 0, or the errno of the failure. */
int spawn_try_own_pids(void);

#endif
