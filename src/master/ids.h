/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of numbers of changed things: each may be added many times, and is read once, in ascending order. */
#ifndef TITAN_MASTER_IDS_H
#define TITAN_MASTER_IDS_H

#include <stddef.h>
#include <stdint.h>

struct ids {                             /* a set of numbers; unsorted and with duplicates until ids_sort */
	uint64_t *at;
	size_t n, cap;
};

void ids_add(struct ids *ids, uint64_t id);
void ids_sort(struct ids *ids);                          /* sort the numbers and drop duplicates */
void ids_drop(struct ids *ids, size_t count);            /* drop the first count numbers of the set */
void ids_free(struct ids *ids);

#endif
