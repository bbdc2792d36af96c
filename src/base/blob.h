/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A blob: immutable bytes with a reference count. For example, a graph's specification is held by the core and, until
 * it is written, by the store's thread. The count is atomic; the bytes never change after blob_make.
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

struct blob *blob_make(struct slice bytes);              /* makes a blob with reference count 1; NULL for no bytes */
struct blob *blob_hold(struct blob *blob);
void blob_release(struct blob *blob);                    /* drops a reference; blob may be NULL */

static inline struct slice blob_slice(const struct blob *blob)
{
	return blob ? slice_make(blob->data, blob->len) : slice_make(NULL, 0);
}

#endif
