/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of this folder call. */
#ifndef TITAN_CORE_PEOPLE_INTERNAL_H
#define TITAN_CORE_PEOPLE_INTERNAL_H

#include "core/state.h"

/* form.c */
/* Write values for the fields of a gate as its outputs, in the memory of this turn. */
struct slice form_given(struct core *core, const struct rec_job_spec *spec, struct slice_list given);
/* Check the values that come with a decision on a gate: an approval gives all, and the same as earlier ones. */
enum err form_given_check(struct core *core, const struct input_act *act, const struct job *job, const struct rec_job_spec *spec,
			  struct error *error);

/* gate.c */
/* Put a row of a person's decision; the caller completes it. */
struct row_decision *decision_put(struct core *core, const struct input_act *act, const struct job *job,
				  enum verdict verdict);

/* pushback.c: jobs sent back, with the person's reason */
#define DIGEST_LEAST 8                   /* least bytes of the digest that a decision names */
/* Check whether this person has sent the job back already, having been shown this digest. */
bool pushback_is(const struct core *core, const struct job *job, uint64_t person, struct slice digest);

#endif
