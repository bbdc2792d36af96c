/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ${params.x} and ${matrix.x}: inserts the values of parameters into a pipeline's texts, and the values of axes into
 * the jobs of a matrix. Values are inserted unchanged and never searched for further references.
 */
#ifndef TITAN_LANG_PIPELINE_MATRIX_H
#define TITAN_LANG_PIPELINE_MATRIX_H

#include "lang/dagline.h"

struct dag_values {
	struct slice name;
	struct slice_list values;        /* the values of an axis; one for a parameter */
	bool unknown;                    /* the parameter isn't given, or is wrong; values has a placeholder */
	/* The parameter is an output of a job around this sub-run, [../]JOB/OUTPUT; values has a placeholder. Empty: it isn't. */
	struct slice taken;
};

struct dag_matrix {
	const struct dag_values *params, *axes;
	size_t param_count, axis_count;
	bool labels_fixed;
	bool zipped;                     /* job i has value i of each axis; else there is a job for each combination */
};

#define MATRIX_LONGEST UINT64_MAX        /* stands for a job that has the longest value of each axis */

enum matrix_kind {
	FAULT_PARAM, FAULT_AXIS,         /* wrong only if there is no such name */
	FAULT_RUN, FAULT_LENGTH, FAULT_ROOT,
	FAULT_OUTPUT,                    /* ${jobs.x.outputs.y}, which has no value before the job has run */
	REF_LITERAL,                     /* $\ before {params. and the like: the text itself is meant */
};

/* A ${..} in a text. */
struct matrix_ref {
	size_t at, len;
	struct slice name;
	enum matrix_kind kind;
};

/* Find the first reference at or behind this offset. */
bool matrix_next(struct slice text, size_t from, struct matrix_ref *ret);
/* The output of a job that this reference stands for, as a parameter of a sub-run; empty: it stands for a value. */
struct slice matrix_taken(const struct dag_matrix *matrix, const struct matrix_ref *ref);
/* Return all values that this reference can stand for; none: it is wrong. */
struct slice_list matrix_values(const struct dag_matrix *matrix, const struct matrix_ref *ref);
/* Are all references right, where outputs may be used? False: *ret_wrong is the first that isn't. */
bool matrix_check(const struct dag_matrix *matrix, struct slice text, struct matrix_ref *ret_wrong);
/* Write the text so that matrix_expand makes this text of it. */
void matrix_escape(struct slice text, struct buf *out);
/*
 * Insert the values for this job of the matrix into the text. False: *ret_wrong has the reason. The first axis varies
 * slowest.
 */
bool matrix_expand(const struct dag_matrix *matrix, struct slice text, uint64_t place, struct arena *arena,
		   struct slice *ret, struct matrix_ref *ret_wrong);
/* Set the node's texts for this job of the matrix. They were checked with MATRIX_LONGEST. */
void matrix_fill(const struct dag_node *node, uint64_t place, struct arena *arena, struct dag_node *ret);

#endif
