/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Immutable bytes with a count of holders: a graph's specification is held by the core and, until
 * it is written, by the store thread. The count is atomic; the bytes never change after blob_make.
 */
#ifndef TITAN_BASE_BLOB_H
#define TITAN_BASE_BLOB_H

#include <stdatomic.h>

#include "base/slice.h"

struct blob {
	atomic_uint holders;
	size_t len;
	uint8_t data[];
};

struct blob *blob_make(struct slice bytes);              /* one holder; NULL for none */
struct blob *blob_hold(struct blob *blob);
void blob_release(struct blob *blob);                    /* NULL is fine */

static inline struct slice blob_slice(const struct blob *blob)
{
	return blob ? slice_make(blob->data, blob->len) : slice_make(NULL, 0);
}

#endif
