/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patterns for paths below a directory. Each part between slashes is matched as by fnmatch(3), so * and ? never match a slash,
 * and a leading dot is nothing special. A part ** stands for any number of directories. A pattern that matches a directory also
 * matches all that is in it.
 */
#ifndef TITAN_BASE_GLOB_H
#define TITAN_BASE_GLOB_H

#include "base/slice.h"

#define GLOB_MAX 1024                    /* most bytes of a pattern */

/* Is this a pattern: relative, with no empty part and no part . or ..? A slash at its end is allowed. */
bool glob_fits(struct slice pattern);
/* Does the pattern match the path, or a directory in which it lies? */
bool glob_matches(struct slice pattern, struct slice path);
/* Can the pattern match something in this directory? An empty path is the directory below which all patterns are. */
bool glob_reaches(struct slice pattern, struct slice dir);

#endif
