/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which machine this is: the same text for every process on it, another one elsewhere. */
#ifndef TITAN_BASE_HOST_H
#define TITAN_BASE_HOST_H

#define HOST_ID_SIZE 64

/* Of /etc/machine-id, or else of the present boot. Empty if neither can be read: then no two are the same. */
void host_id(char out[HOST_ID_SIZE]);

#endif
