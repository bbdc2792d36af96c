/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bridges to workers that can't dial this master: for each machine in the directory "machines" an ssh process, whose
 * stdin and stdout are a connection to the worker there. ssh runs as the owner, but its bytes have no rights: the peer must
 * prove by TLS that it has the key of that very worker.
 */
#ifndef TITAN_MASTER_BRIDGES_H
#define TITAN_MASTER_BRIDGES_H

struct master;

void bridges_start(struct master *master);               /* begin to keep a bridge to each machine that wants one */
void bridges_stop(struct master *master);                /* end all ssh processes and watch nothing; may be repeated */

#endif
