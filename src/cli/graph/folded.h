/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fan-outs in tables: more than FOLD_MIN similar jobs share a row, as they share a node in titan graph and the
 * dashboard. A job that a person should look at has a row of its own as well.
 */
#ifndef TITAN_CLI_FOLDED_H
#define TITAN_CLI_FOLDED_H

#include "cli/graph/picture.h"

#define FOLDED_EYES 8                    /* most jobs of a fan-out that get rows of their own because they failed */

enum folded_row { FOLDED_NONE, FOLDED_JOB, FOLDED_GROUP };

/*
 * What the table has for this job: a row of its own; the row of its fan-out, because the job is the first one of it; or
 * nothing.
 */
enum folded_row folded_row(const struct picture *picture, uint32_t job);
/* Does this job of a fan-out have a row besides the fan-out's? *shown counts such rows of the fan-out so far. */
bool folded_has_eyes(const struct picture *picture, uint32_t job, size_t *shown);
/* The name of a node: of a fan-out such as encode[*], which is also a selector, or row1..row12; or of a single job. */
struct slice folded_name(const struct picture *picture, uint32_t node, struct arena *arena);
/* The names of what this job or its fan-out needs, if any of them is a fan-out; otherwise n is 0. */
struct slice_list folded_needs(const struct picture *picture, uint32_t job, struct arena *arena);

#endif
