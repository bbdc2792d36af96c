/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cages: control groups (version 2), that nothing of an attempt can leave. One that was left empty serves the next
 * attempt; one that was killed doesn't, since kernels exist that go on killing what is born into it. Where the machine
 * doesn't let us make any there are none, and the keeper looks after trees as their subreaper.
 */
#ifndef TITAN_WORKER_CAGE_H
#define TITAN_WORKER_CAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cages;
struct cage;

/* Below the group that this process is in, in a directory named by the worker's mark. -errno, or 0. */
int cages_open(const char *mark, struct cages **ret_cages);
void cages_close(struct cages *cages);                   /* removes what is empty; NULL is fine */
const char *cages_path(const struct cages *cages);

struct cage *cage_take(struct cages *cages);             /* empty; NULL: errno says why */
struct cage *cage_claim(struct cages *cages, pid_t pid); /* that an earlier keeper put it into; NULL if none */
int cage_fd(const struct cage *cage);                    /* its directory, for the clone */
/*
 * Nothing of its attempt is left, or it is broken: kept for the next one, or removed, if need be when the last of its
 * processes has ended. NULL is fine.
 */
void cage_release(struct cages *cages, struct cage *cage, bool sound);
void cage_leave(struct cage *cage);                      /* closes it: what is in there outlives this keeper */

/* How many there are in it, and each gets the signal; SIGKILL reaches also what forks meanwhile. */
size_t cage_signal(struct cage *cage, int signal_number);
/* Before the first take. Everything in cages that nobody claimed is killed: how many cages that were. */
size_t cages_sweep(struct cages *cages);

#endif
