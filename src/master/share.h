/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The socket by which other users of this machine come. */
#ifndef TITAN_MASTER_SHARE_H
#define TITAN_MASTER_SHARE_H

#include "master/internal.h"

/* Open the socket, if the options name one. On failure error says what to change. */
enum err share_open(struct master *master, struct error *error);
void share_stop(struct master *master);          /* accept no more connections */
/* Could a process of this user use the master: as its owner, or as a user with whom the cluster is shared? */
bool share_has_rights(const struct master *master, uint64_t uid);

#endif
