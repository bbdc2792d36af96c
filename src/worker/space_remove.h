/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removes what jobs leave in the directory of attempts. Callers never wait for a job's tree to be removed. What can't
 * be removed (a mount, an immutable file) stays and is logged, and no other job is delayed.
 */
#ifndef TITAN_WORKER_SPACE_REMOVE_H
#define TITAN_WORKER_SPACE_REMOVE_H

struct remover;

/* Start the thread that removes names in this directory; the caller still owns the descriptor. */
struct remover *remover_new(int dir_fd);
/* Stop the thread; what isn't removed yet is left to the next keeper's sweep. */
void remover_free(struct remover *remover);
/* Rename something out of the way and let the thread remove it. 0: the name is free; -errno: the name can't be used. */
int remover_take(struct remover *remover, const char *name);
void remover_sweep(struct remover *remover, const char *name);   /* removes a tree at once, without the thread */

#endif
