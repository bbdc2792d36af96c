/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ${params.x} and ${matrix.x}. What a pipeline's text stands for once its parameters are known, and what the
 * jobs of a matrix differ in. Values go in as they are and are never looked through again.
 */
#ifndef TITAN_LANG_PIPELINE_MATRIX_H
#define TITAN_LANG_PIPELINE_MATRIX_H

#include "lang/dagline.h"

struct dag_values {
	struct slice name;
	struct slice_list values;        /* of a parameter: one */
};

struct dag_matrix {
	const struct dag_values *params, *axes;
	size_t param_count, axis_count;
	size_t env_fixed;                /* so many entries of env at the front are final */
	bool labels_fixed;
};

#define MATRIX_LONGEST UINT64_MAX        /* instead of a place: the longest value of each axis */

/* A word in ${..} that is wrong: it and its place in the text. */
struct matrix_fault {
	size_t at, len;
	struct slice name;
	enum { FAULT_PARAM, FAULT_AXIS, FAULT_RUN, FAULT_LENGTH } kind;
};

/* False: fault says why. The first axis turns slowest. */
bool matrix_expand(const struct dag_matrix *matrix, struct slice text, uint64_t place, struct arena *arena,
		   struct slice *ret, struct matrix_fault *ret_fault);
/* The node as this job of it sees it. Its texts have been checked with MATRIX_LONGEST. */
void matrix_fill(const struct dag_node *node, uint64_t place, struct arena *arena, struct dag_node *ret);

#endif
