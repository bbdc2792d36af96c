/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a pattern and a path: a pattern that matches a path reaches each directory above it. */
#include "base/check.h"
#include "base/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Longer ones say nothing new, and fnmatch can take long for many stars. */
#define MOST 60

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
	struct slice pattern, path;
	bool matches;

	if (!end || size > MOST)
		return 0;
	pattern = slice_make(data, (size_t)(end - data));
	path = slice_make(end + 1, size - pattern.len - 1);
	if (!glob_fits(pattern) || !glob_fits(path) || path.data[path.len - 1] == '/')
		return 0;
	matches = glob_matches(pattern, path);
	for (size_t i = 0; i < path.len; i++)
		CHECK(!matches || path.data[i] != '/' || glob_reaches(pattern, slice_make(path.data, i)));
	CHECK(!matches || glob_reaches(pattern, slice_make(path.data, 0)));
	return 0;
}
