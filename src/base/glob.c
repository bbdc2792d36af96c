/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See glob.h. Parts are matched by fnmatch; ** is matched here, going back to the latest one only, so the time is bounded. */
#include "base/glob.h"

#include <fnmatch.h>

#define PART_MAX 255                     /* bytes in one part of a path, as file systems allow */

/* Take the part before the next slash off the beginning. */
static struct slice part_take(struct slice *rest)
{
	const uint8_t *slash = rest->len > 0 ? memchr(rest->data, '/', rest->len) : NULL;
	struct slice part = slice_make(rest->data, slash ? (size_t)(slash - rest->data) : rest->len);
	size_t taken = part.len + (slash != NULL);

	*rest = slice_make(rest->data + taken, rest->len - taken);
	return part;
}

static struct slice without_slash(struct slice pattern)
{
	return pattern.len > 1 && pattern.data[pattern.len - 1] == '/' ? slice_make(pattern.data, pattern.len - 1) : pattern;
}

static bool is_any_dirs(struct slice part)
{
	return slice_eq(part, slice_str("**"));
}

bool glob_fits(struct slice pattern)
{
	struct slice rest = without_slash(pattern);

	if (rest.len == 0 || pattern.len > GLOB_MAX || memchr(pattern.data, '\0', pattern.len) || rest.data[rest.len - 1] == '/')
		return false;
	while (rest.len > 0) {
		struct slice part = part_take(&rest);

		if (part.len == 0 || slice_eq(part, slice_str(".")) || slice_eq(part, slice_str("..")))
			return false;
	}
	return true;
}

static bool part_matches(struct slice pattern, struct slice part)
{
	char wanted[GLOB_MAX + 1], name[PART_MAX + 1];

	if (pattern.len > GLOB_MAX || part.len > PART_MAX)
		return false;
	memcpy(wanted, pattern.data, pattern.len);
	wanted[pattern.len] = '\0';
	memcpy(name, part.data, part.len);
	name[part.len] = '\0';
	return fnmatch(wanted, name, 0) == 0;
}

bool glob_matches(struct slice pattern, struct slice path)
{
	struct slice star = { 0 }, behind_star = { 0 };  /* the pattern after the latest **, and the path that it is tried on */

	pattern = without_slash(pattern);
	while (pattern.len > 0) {
		struct slice wanted, part, rest = pattern, path_rest = path;

		wanted = part_take(&rest);
		if (is_any_dirs(wanted)) {
			if (rest.len == 0)
				return path.len > 0;
			star = pattern = rest;
			behind_star = path;
			continue;
		}
		part = part_take(&path_rest);
		if (part.len > 0 && part_matches(wanted, part)) {
			pattern = rest;
			path = path_rest;
			continue;
		}
		if (behind_star.len == 0)
			return false;
		part_take(&behind_star);
		path = behind_star;
		pattern = star;
	}
	return true;
}

bool glob_reaches(struct slice pattern, struct slice dir)
{
	pattern = without_slash(pattern);
	while (pattern.len > 0 && dir.len > 0) {
		struct slice wanted = part_take(&pattern);

		if (is_any_dirs(wanted))
			return true;
		if (!part_matches(wanted, part_take(&dir)))
			return false;
	}
	return true;
}
