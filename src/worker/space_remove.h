/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removing what jobs leave behind in the directory of attempts. Nothing here waits for a job's tree to be removed, and
 * what can't be removed (a mount, an immutable file) stays: a line in the log says so, and nobody else is held up.
 */
#ifndef TITAN_WORKER_SPACE_REMOVE_H
#define TITAN_WORKER_SPACE_REMOVE_H

struct remover;

struct remover *remover_new(int dir_fd);         /* of names in this directory, which stays the caller's */
void remover_free(struct remover *remover);      /* what isn't removed yet is swept by the next keeper */
/* Out of the way now, removed by a thread. 0: the name is free; -errno: it isn't, and nobody can use it. */
int remover_take(struct remover *remover, const char *name);
void remover_sweep(struct remover *remover, const char *name);   /* at once */

#endif
