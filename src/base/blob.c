/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared bytes. The last holder frees them, on whichever thread it runs. */
#include "base/blob.h"

#include "base/check.h"
#include "base/mem.h"

struct blob *blob_make(struct slice bytes)
{
	struct blob *blob;

	if (bytes.len == 0)
		return NULL;
	CHECK(bytes.len <= PTRDIFF_MAX - sizeof(*blob));
	blob = mem_alloc(sizeof(*blob) + bytes.len);
	atomic_init(&blob->holders, 1);
	blob->len = bytes.len;
	memcpy(blob->data, bytes.data, bytes.len);
	return blob;
}

struct blob *blob_hold(struct blob *blob)
{
	if (blob)
		CHECK(atomic_fetch_add_explicit(&blob->holders, 1, memory_order_relaxed) > 0);
	return blob;
}

void blob_release(struct blob *blob)
{
	unsigned before;

	if (!blob)
		return;
	before = atomic_fetch_sub_explicit(&blob->holders, 1, memory_order_acq_rel);
	CHECK(before > 0);
	if (before == 1)
		mem_free(blob);
}
