/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cages: control groups (cgroup v2) around the processes of an attempt, which none of them can leave. A cage
 * that is left empty serves the next attempt. One that was killed is removed, since some kernels go on
 * killing whatever is started in it. Where the machine lets us make no groups there are no cages, and the
 * keeper finds the processes of a job as their subreaper.
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
/* Return the cage in which an earlier keeper put this process; NULL if none. */
struct cage *cage_claim(struct cages *cages, pid_t pid);
int cage_fd(const struct cage *cage);                    /* descriptor of the cage's directory, for clone3 */
/*
 * Give a cage back. A sound one is kept for the next attempt; any other is removed, if need be only when the
 * last of its processes has ended. NULL is fine.
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
 * Kill everything in cages that nobody claimed and return how many such cages there were. Call it before the
 * first cage_take.
 */
size_t cages_sweep(struct cages *cages);

#endif
