/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns a YAML pipeline into the same struct as a one-line graph; titan.yaml(5) describes the language. Every unknown
 * key is an error, and every error has its place. Pure: no environment, no clock, and no I/O but by the callback that reads included
 * files. Limits bound its memory.
 */
#ifndef TITAN_LANG_PIPELINE_H
#define TITAN_LANG_PIPELINE_H

#include "lang/faults.h"

/* A file that a pipeline includes: its text is a part of the whole text. */
struct pipeline_part {
	struct slice path;               /* as the pipeline names it */
	size_t begin, len;
};

struct pipeline_texts {
	struct slice all;                /* the pipeline's own text, then those of the included files */
	size_t own_len;
	struct pipeline_part *parts;
	size_t count;
};

struct pipeline {
	struct dagline dag;
	struct slice name;               /* empty: none */
	uint64_t max_jobs;               /* most jobs of the run at once; 0: no limit */
	struct slice tenant;             /* empty: none given */
	struct slice concurrency;        /* concurrency group of the runs, NAME or NAME=LIMIT; empty: none */
	struct slice_list outputs;       /* NAME=TEXT each, with outputs of its jobs: what a job puts out whose work it is */
	struct rec_schedule_spec schedule;       /* no schedule if cron is empty; the time zone isn't resolved yet */
	struct pipeline_texts texts;
};

/* Does the text begin like a YAML pipeline, and not like a one-line graph? */
bool pipeline_begins(struct slice text);

/* Read a file that a pipeline includes; the text lives as long as the arena of the pipeline. */
typedef enum err pipeline_include_cb(void *arg, struct slice path, struct slice *ret_text, struct error *error);

struct pipeline_source {
	struct slice text;
	struct slice_list given;         /* NAME=VALUE for parameters */
	struct slice_list taken;         /* parameters of a sub-run that are outputs of jobs around it, NAME=../JOB/OUTPUT */
	const struct dag_old *old;       /* the run to which the jobs are added, in which unknown names are looked up; or NULL */
	/* The result won't be run: required parameters may be missing. Their values are taken as right. */
	bool check_only;
	struct slice_list unknown;       /* without check_only: the parameters that may be missing, for the same reason */
	pipeline_include_cb *include_cb; /* NULL: nothing can be included */
	void *include_arg;
};

/*
 * Parse a pipeline. On failure *faults has one error or more, and of *ret only the texts are there. Slices of the result point into
 * source or the arena. All places are those in ret->texts.
 */
enum err pipeline_read(const struct pipeline_source *source, struct arena *arena, struct pipeline *ret,
		       struct dag_faults *faults);
/*
 * Parse a pipeline up to its first error. given: NAME=VALUE for its parameters. Slices of the result point into text, given or the
 * arena. On failure *ret_spot is the place; its len is 0 if the fault is in given, not in text.
 */
enum err pipeline_parse(struct slice text, struct slice_list given, struct arena *arena, struct pipeline *ret,
			struct dag_spot *ret_spot, struct error *error);
/*
 * The same for jobs that are added to the run old, where names that the text doesn't define are looked up; NULL: a new
 * run.
 */
enum err pipeline_parse_into(struct slice text, struct slice_list given, const struct dag_old *old, struct arena *arena,
			     struct pipeline *ret, struct dag_spot *ret_spot, struct error *error);

/* Find the file of this place: its path, empty for the pipeline itself, its text, and where that begins in the whole text. */
void pipeline_place(const struct pipeline_texts *texts, size_t at, struct slice *ret_path, struct slice *ret_text, size_t *ret_begin);

#endif
