/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of what has changed: added many times over, read once each, rising. */
#ifndef TITAN_MASTER_IDS_H
#define TITAN_MASTER_IDS_H

#include <stddef.h>
#include <stdint.h>

struct ids {                             /* numbers, not sorted until they are read */
	uint64_t *at;
	size_t n, cap;
};

void ids_add(struct ids *ids, uint64_t id);
void ids_sort(struct ids *ids);                          /* then each is there once */
void ids_drop(struct ids *ids, size_t count);            /* the first ones */
void ids_free(struct ids *ids);

#endif
