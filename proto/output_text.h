/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A text with outputs of jobs in it: ${[../]JOB/OUTPUT} stands for an output, with ../ for each level of runs around, and $$ for a
 * dollar.
 */
#ifndef TITAN_PROTO_OUTPUT_TEXT_H
#define TITAN_PROTO_OUTPUT_TEXT_H

#include "base/buf.h"

struct output_ref {                      /* an output of a job */
	unsigned up;                     /* the job is in the run that is so many levels around */
	struct slice job, output;
};

struct text_part {
	bool is_output;
	struct output_ref ref;
	struct slice text;               /* the text, if it is no output */
};

/* Read [../]JOB/OUTPUT. */
bool output_ref_read(struct slice text, struct output_ref *ret);
void output_ref_add(struct buf *out, const struct output_ref *ref);
/* Take the next part off the text. False: there is none, or the rest is wrong. */
bool output_text_next(struct slice *rest, struct text_part *ret);
bool output_text_good(struct slice text);
/* Add a text in which $ has no meaning. */
void output_text_plain(struct buf *out, struct slice text);
/* Split NAME=TEXT, an output that is computed. */
bool computed_read(struct slice entry, struct slice *ret_name, struct slice *ret_text);
bool computed_good(struct slice entry);

#endif
