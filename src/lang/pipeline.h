/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pipeline in YAML becomes the same graph that one line does: titan.yaml(5) has the language. Every key is
 * known or an error, and every error has its place. Pure: no I/O, no environment, no clock; its memory is
 * bounded by the limits.
 */
#ifndef TITAN_LANG_PIPELINE_H
#define TITAN_LANG_PIPELINE_H

#include "lang/dagline.h"

struct pipeline {
	struct dagline dag;
	struct slice name;               /* empty: it has none */
	uint64_t max_jobs;               /* of the run at once; 0: no bound */
	struct slice tenant;             /* empty: it says none */
	struct slice concurrency;        /* the group of its runs, NAME or NAME=LIMIT; empty: none */
	struct rec_schedule_spec schedule;       /* without cron: none; its zone isn't compiled */
};

/*
 * given: NAME=VALUE for its params. Slices of the result point into text, given or the arena. On failure
 * ret_spot is the place; its len is 0 where the error is in what was given, not in the text.
 */
enum err pipeline_parse(struct slice text, struct slice_list given, struct arena *arena, struct pipeline *ret,
			struct dag_spot *ret_spot, struct error *error);
/* The same of what is added to a run: names that it doesn't define are looked for there. old may be NULL. */
enum err pipeline_parse_into(struct slice text, struct slice_list given, const struct dag_old *old, struct arena *arena,
			     struct pipeline *ret, struct dag_spot *ret_spot, struct error *error);

#endif
