/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What only the files of this folder call of each other. */
#ifndef TITAN_CORE_PEOPLE_INTERNAL_H
#define TITAN_CORE_PEOPLE_INTERNAL_H

#include "core/state.h"

/* gate.c */
/* A row of what somebody said, to be completed. */
struct row_decision *decision_put(struct core *core, const struct input_act *act, const struct job *job,
				  enum verdict verdict);

/* pushback.c: why a job is done again, for whoever does it */
#define DIGEST_LEAST 8                   /* bytes of what was shown that a decision names */
/* Was it sent back by this person, shown this? */
bool pushback_is(const struct core *core, const struct job *job, uint64_t person, struct slice digest);

#endif
