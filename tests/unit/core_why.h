/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of titan explain's sentences about a job. */
#ifndef TITAN_TESTS_CORE_WHY_H
#define TITAN_TESTS_CORE_WHY_H

#include "tests/unit/core_rig.h"

#include "proto/reasons.h"

/* Return "REASON: SENTENCE" of the answer. */
static inline const char *why(struct rig *rig, uint64_t run, const char *name)
{
	struct rec_job_row row = { 0 };
	struct buf text = { 0 };
	const char *copy;

	CHECK(view_explain(rig->core, rig_named(rig, run, name), &rig->arena, &row));
	buf_addf(&text, "%s: %.*s", reason_name(row.why_code), (int)row.why.len, (const char *)row.why.data);
	copy = arena_strdup(&rig->arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

#endif
