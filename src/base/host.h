/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The identity of this machine, a text that is the same for all its processes and different on other machines; and of its file systems. */
#ifndef TITAN_BASE_HOST_H
#define TITAN_BASE_HOST_H

#include <stdint.h>

#define HOST_ID_SIZE 64

/*
 * The identity, from /etc/machine-id or otherwise from the present boot. If neither can be read it is empty, and an
 * empty identity never counts as equal to another.
 */
void host_id(char out[HOST_ID_SIZE]);

/*
 * A number for the file systems as this process sees them: it is the same for processes of the machine with the same mounts
 * and root, so a path means the same to them. Only until the next boot; 0: not known.
 */
uint64_t host_view(void);

#endif
