/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Helpers for one job: decode its specification, test a trigger, mark it as touched in this turn. Nothing here makes
 * decisions.
 */
#include "core/graph/graph.h"

#include "base/planted.h"

bool trigger_met(enum trigger trigger, enum job_state parent)
{
	switch (trigger) {
	case TRIGGER_OK:
		return parent == STATE_SUCCEEDED || (PLANTED(wrong_dependency_test) && parent == STATE_FAILED);
	case TRIGGER_FAILED:
		return parent == STATE_FAILED || parent == STATE_TIMED_OUT || parent == STATE_DENIED ||
		       parent == STATE_QUARANTINED;
	case TRIGGER_DONE:
	case TRIGGER_EXPR:
		return true;
	}
	return false;
}

void job_spec_decode(struct core *core, const struct job *job, struct rec_job_spec *ret_spec)
{
	struct slice bytes = job_spec_bytes(job);

	arena_reset(&core->scratch);
	/* This can't fail: the specification was decoded at admission, and blobs don't change. */
	CHECK(record_decode(REC_job_spec, &bytes, &core->scratch, ret_spec, NULL) == ERR_NONE);
}

void job_touch(struct core *core, struct job *job, bool row)
{
	if (row)
		job->flags |= JOB_ROW;
	if (job->flags & JOB_TOUCHED)
		return;
	job->flags |= JOB_TOUCHED;
	GROW(core->touched, core->touched_count, core->touched_cap);
	core->touched[core->touched_count++] = job;
}
