/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bridges to workers that can't reach this master: for each machine with a file in the directory "machines" an ssh
 * process, whose stdin and stdout are a connection to the worker there. ssh runs as the master's own user, but a bridge
 * has no rights by itself: the peer must prove by TLS that it has the key of this worker. Of a worker that connects by
 * itself, ssh only starts the process again when it is gone.
 */
#ifndef TITAN_MASTER_BRIDGES_H
#define TITAN_MASTER_BRIDGES_H

struct master;

void bridges_start(struct master *master); /* start to keep a bridge to each machine whose worker needs one */
/* The worker with this token has lost its connection: if ssh has put it on its machine, see whether it still runs there. */
void bridges_lost(struct master *master, const char *token);
void bridges_stop(struct master *master); /* end all ssh processes and watch nothing more; may be called twice */

#endif
