/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of a list of jobs of many runs, for people: more than FOLD_MIN jobs of one fan-out that are of the same kind
 * share a line. And what such a line says: how many jobs there are of each kind.
 */
#ifndef TITAN_CLI_LIST_FOLD_H
#define TITAN_CLI_LIST_FOLD_H

#include "base/arena.h"
#include "base/slice.h"

struct list_job {
	uint64_t run;
	struct slice name;
	uint64_t kind;                   /* jobs with different kinds never share a line */
};

struct list_line {
	const size_t *members;           /* indices of the line's jobs, in their order */
	size_t count;
	struct slice job;                /* 7/encode[*], or 7/encode[3] if the line has one job */
};

struct list_lines {
	struct list_line *at;            /* in the order of their first jobs */
	size_t count;
};

/* fold false: each job has a line of its own. */
struct list_lines list_fold(const struct list_job *jobs, size_t count, bool fold, struct arena *arena);

#define TEXT_COUNTS_MAX 3                    /* most texts that are named */

struct text_counts {                           /* counts texts; at the beginning zeroed */
	struct slice texts[TEXT_COUNTS_MAX];
	size_t times[TEXT_COUNTS_MAX], kinds, others;
};

void text_counts_add(struct text_counts *counts, struct slice text);
/* "11 exit 1, 1 exit 2", with the most frequent first */
struct slice text_counts_shown(struct text_counts *counts, struct arena *arena);
/* The text itself if it was always the same, otherwise text_counts_shown. */
struct slice text_counts_common(struct text_counts *counts, struct arena *arena);

#endif
