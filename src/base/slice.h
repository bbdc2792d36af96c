/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A slice: a sequence of bytes that belongs to something else, which says how long it is valid. It needn't end with a
 * NUL.
 */
#ifndef TITAN_BASE_SLICE_H
#define TITAN_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
	const uint8_t *data;
	size_t len;
};

static inline struct slice slice_make(const void *data, size_t len)
{
	return (struct slice){ .data = (const uint8_t *)data, .len = len };
}

static inline struct slice slice_str(const char *text)
{
	return slice_make(text, text ? strlen(text) : 0);
}

static inline bool slice_eq(struct slice a, struct slice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

#endif
