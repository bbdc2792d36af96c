/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns a YAML pipeline into the same graph as a one-line one; titan.yaml(5) describes the language. Every
 * unknown key is an error, and every error has its place. Pure: no I/O, no environment, no clock. The limits
 * bound its memory.
 */
#ifndef TITAN_LANG_PIPELINE_H
#define TITAN_LANG_PIPELINE_H

#include "lang/dagline.h"

struct pipeline {
	struct dagline dag;
	struct slice name;               /* empty: none */
	uint64_t max_jobs;               /* most jobs of the run at once; 0: no limit */
	struct slice tenant;             /* empty: none given */
	struct slice concurrency;        /* group of its runs, NAME or NAME=LIMIT; empty: none */
	struct rec_schedule_spec schedule;       /* no schedule if cron is empty; the time zone isn't resolved yet */
};

/* Does this text begin as a pipeline does, and not as a graph on one line? */
bool pipeline_begins(struct slice text);
/*
 * Parse a pipeline. given: NAME=VALUE for its parameters. Slices of the result point into text, given or the
 * arena. On failure *ret_spot is the place; its len is 0 if the fault is in given, not in text.
 */
enum err pipeline_parse(struct slice text, struct slice_list given, struct arena *arena, struct pipeline *ret,
			struct dag_spot *ret_spot, struct error *error);
/*
 * The same for jobs that are added to a run: names that the text doesn't define are looked up in old. old may
 * be NULL.
 */
enum err pipeline_parse_into(struct slice text, struct slice_list given, const struct dag_old *old, struct arena *arena,
			     struct pipeline *ret, struct dag_spot *ret_spot, struct error *error);

#endif
