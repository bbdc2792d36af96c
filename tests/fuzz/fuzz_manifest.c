/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the manifest of a directory: it is refused, or written again it is the same, and no path leads out. */
#include "base/check.h"
#include "goods/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct manifest manifest;
	struct arena arena = { 0 };
	struct buf again = { 0 };
	struct error error;

	if (manifest_read(slice_make(data, size), &arena, &manifest, &error) == ERR_NONE) {
		for (size_t i = 0; i < manifest.count; i++) {
			const struct slice path = manifest.at[i].path;

			CHECK(path.len > 0 && path.data[0] != '/' && !memmem(path.data, path.len, "/../", 4));
			CHECK(manifest.at[i].kind != ENTRY_LINK || manifest.at[i].target.data[0] != '/');
		}
		CHECK(manifest_write(&manifest, &again, &error) == ERR_NONE);
		CHECK(slice_eq(buf_slice(&again), slice_make(data, size)));
	}
	buf_free(&again);
	arena_free(&arena);
	return 0;
}
