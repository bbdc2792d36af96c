/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values that a job puts out: it writes NAME=VALUE lines, or NAME<<END with the value's lines and then a line END, into the
 * file that TITAN_OUTPUT names. The master keeps them as job_output records, one after the other.
 */
#ifndef TITAN_PROTO_JOB_OUTPUT_H
#define TITAN_PROTO_JOB_OUTPUT_H

#include "proto/message.h"

/* What is wrong with an output. */
#define OUTPUT_FAULTS(X) \
	X(NONE, "nothing") \
	X(SYNTAX, "the line is neither NAME=VALUE nor NAME<<END") \
	X(NAME, "the name of an output may only have letters, digits and _ . -, and must begin with a letter, a digit or _") \
	X(OPEN, "no line ends the value") \
	X(LONG, "the value has more than 64 KiB; put it into a file") \
	X(JOB_FULL, "the outputs of the job have more than 512 KiB; put large ones into a file") \
	X(RUN_FULL, "the outputs of the run have more than 50 MiB; put large ones into a file") \
	X(UNDECLARED, "the job doesn't declare this output; add it to outputs") \
	X(MISSING, "the job declares this output and has not written it")

enum output_fault {
#define X(NAME, text) OUTPUT_##NAME,
	OUTPUT_FAULTS(X)
#undef X
	OUTPUT_FAULT_COUNT
};

/* The sentence for a fault; a number of a later version is no fault that this one can tell. */
const char *output_fault_text(uint64_t fault);

/*
 * Read what a job wrote. cut: the file is longer than text. Adds a job_output record for each name, in the order of the names'
 * first lines, where the last value of a name counts; or, if something is wrong, only the record of the first fault.
 */
void job_outputs_read(struct slice text, bool cut, struct buf *out);

/* Take the next record off *rest. False: there is none, or the bytes aren't one. */
bool job_output_next(struct slice *rest, struct arena *arena, struct rec_job_output *ret);

#endif
