/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cages: control groups (cgroup v2) around the processes of an attempt, which no process can leave. A cage that is left
 * empty is used again for the next attempt. One whose processes were killed is removed, because some kernels continue
 * to kill whatever is started in it. On a machine that doesn't let the worker make control groups there are no cages;
 * the keeper then finds the processes of a job as their subreaper.
 */
#ifndef TITAN_WORKER_CAGE_H
#define TITAN_WORKER_CAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cages;
struct cage;

/* Make a directory, named by the worker's mark, below the control group of this process. 0 or -errno. */
int cages_open(const char *mark, struct cages **ret_cages);
void cages_close(struct cages *cages);                   /* removes the empty cages; NULL is fine */
const char *cages_path(const struct cages *cages);

struct cage *cage_take(struct cages *cages);             /* an empty cage; NULL: errno says why */
/* The cage in which an earlier keeper put this process; NULL: none. */
struct cage *cage_claim(struct cages *cages, pid_t pid);
int cage_fd(const struct cage *cage);                    /* descriptor of the cage's directory, for clone3 */
/*
 * Give a cage back. A sound one is kept for the next attempt; any other is removed when its last process has ended.
 * cage may be NULL.
 */
void cage_release(struct cages *cages, struct cage *cage, bool sound);
/* Close the cage but leave its processes running: they outlive this keeper. */
void cage_leave(struct cage *cage);

/*
 * Send the signal to each process in the cage and return how many there were. SIGKILL also reaches processes
 * forked meanwhile.
 */
size_t cage_signal(struct cage *cage, int signal_number);
/*
 * Kill everything in cages that weren't claimed and return the number of such cages. Call it before the first
 * cage_take.
 */
size_t cages_sweep(struct cages *cages);

#endif
