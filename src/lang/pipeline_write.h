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
	bool templated;                  /* texts that may have ${matrix.NAME} are escaped already */
	uint64_t deadline_ms;            /* deadline of the pipeline, which its jobs don't repeat; 0: none */
};

/* Return the text with $\{ for the ${ of each ${params.x} and the like, so that a reader takes them as text. */
struct slice write_escape(struct slice text, struct arena *arena);

struct write_fan {                       /* the members of a fan-out as one job */
	struct rec_job_spec job;         /* where texts of the members differ, it has ${matrix.vN} */
	uint64_t count;
	struct slice_list items;         /* x and y of name*{x,y}; empty: the members are only numbered */
	const struct slice **axes;       /* axes[N - 1]: the values of ${matrix.vN}, one for each member */
	size_t axis_count;
};

/* pipeline_write_fan.c: make one job of the members of a fan-out, which are neighbours in the graph; write its fan-out keys */
void write_fan_make(const struct rec_job_spec *members, uint64_t count, struct writer *writer, struct write_fan *ret);
void write_fan(struct writer *writer, const struct write_fan *fan);

/* Write the key pipeline with the graph of the job's sub-run. */
void write_sub(struct writer *writer, const struct rec_job_spec *job);

/* pipeline_write_job.c: write the keys of a job */
void write_job(struct writer *writer, const struct rec_job_spec *job);

/* Join the job's argv with spaces. False: a reader would split the text into other words, so argv must be written as a list. */
bool write_join(struct writer *writer, const struct rec_job_spec *job, struct slice *ret);

/* Write the indent, the key and its colon. */
void write_key(struct writer *writer, const char *key);
/* Write a key whose value is a map on the next lines, and add 2 to the indent; the caller takes that back. */
void write_map(struct writer *writer, const char *key);
void write_true(struct writer *writer, const char *key);
void write_text(struct writer *writer, const char *key, struct slice text);
/* Write a key with a text that may have ${matrix.NAME}: it isn't escaped again if writer->templated. */
void write_template(struct writer *writer, const char *key, struct slice text);
void write_words(struct writer *writer, const char *key, struct slice_list words);
void write_number(struct writer *writer, const char *key, uint64_t number);
void write_span(struct writer *writer, const char *key, uint64_t ms);
/* Write a text with outputs of jobs, and the end of its line. */
void write_output_text(struct writer *writer, struct slice text);
/* Write the key outputs with a map, NAME=TEXT each; nothing without entries. */
void write_outputs(struct writer *writer, struct slice_list entries);
/* takes: outputs of other jobs that are values of variables, as in job_spec. */
void write_env(struct writer *writer, struct slice_list env, struct slice_list takes);

#endif
