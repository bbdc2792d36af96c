/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the parts that write pipelines. */
#ifndef TITAN_LANG_PIPELINE_WRITE_H
#define TITAN_LANG_PIPELINE_WRITE_H

#include "lang/spec_graph.h"

struct writer {
	const struct spec_graph *graph;
	struct arena *arena;
	struct buf *out;
	size_t indent;
	bool templated;                  /* texts that a matrix may fill in are templates already */
	bool *dollar;                    /* set if a text needs ${params.dollar} */
	uint64_t deadline_ms;            /* deadline of the pipeline, which its jobs don't repeat; 0: none */
};

/* Write ${params.x} and the like so that they stay as they are. */
struct slice write_escape(struct slice text, struct arena *arena, bool *dollar);

struct write_fan {                       /* the members of a fan-out as one job */
	struct rec_job_spec job;         /* texts in which the members differ have ${matrix.vN} */
	uint64_t count;
	struct slice_list items;         /* of name*{x,y}; empty: none */
	const struct slice **axes;       /* the values of v1, v2...: one for each member */
	size_t axis_count;
};

/* pipeline_write_fan.c: make a fan-out of the members, which are neighbours in the graph */
void write_fan_make(const struct rec_job_spec *members, uint64_t count, struct writer *writer, struct write_fan *ret);
void write_fan(struct writer *writer, const struct write_fan *fan);

/* Write the graph of a sub-run below the key pipeline. */
void write_sub(struct writer *writer, const struct rec_job_spec *job);

/* pipeline_write_job.c: the keys of a job */
void write_job(struct writer *writer, const struct rec_job_spec *job);

/* Join the words to a command that is split into the same words again. False: only a list keeps them apart. */
bool write_join(struct writer *writer, const struct rec_job_spec *job, struct slice *ret);

/* Begin the line of a key. */
void write_key(struct writer *writer, const char *key);
/* Write a key whose values are keys on the next lines, and indent them. */
void write_map(struct writer *writer, const char *key);
void write_true(struct writer *writer, const char *key);
void write_text(struct writer *writer, const char *key, struct slice text);
/* The same for a text that a matrix may fill in. */
void write_template(struct writer *writer, const char *key, struct slice text);
void write_words(struct writer *writer, const char *key, struct slice_list words);
void write_number(struct writer *writer, const char *key, uint64_t number);
void write_span(struct writer *writer, const char *key, uint64_t ms);
void write_env(struct writer *writer, struct slice_list env);

#endif
