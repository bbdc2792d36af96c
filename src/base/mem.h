/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory from the system. If it runs out, the program stops (check_failed). A restart is always safe, because only
 * durable state was acknowledged. Sizes that come from outside are checked against limits.h before they get here.
 * mem_free accepts NULL.
 */
#ifndef TITAN_BASE_MEM_H
#define TITAN_BASE_MEM_H

#include <stddef.h>

#include "base/slice.h"

void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_array(size_t count, size_t size);               /* returns a zeroed array; the multiplication is checked */
void *mem_resize(void *old, size_t count, size_t size);   /* resizes an array; the new part isn't zeroed */
char *mem_strdup(const char *text);
char *mem_text(struct slice text);                        /* returns a copy of the text with a NUL behind it */
void mem_free(void *ptr);

#endif
