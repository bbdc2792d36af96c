/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of earlier tries: the facts about an attempt, kept when its job is about to have another. */
#include "core/life/life.h"

#include <errno.h>

#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/rows/durable.h"

bool stage_lacks(uint64_t outcome, uint64_t code)
{
	return outcome == OUTCOME_STAGE_FAILED && (code == ENOSPC || code == EDQUOT);
}

void attempt_keep(struct core *core, const struct job *job, int64_t ended_ms)
{
	struct row *row;

	/* Only an attempt that may have started counts as a try. */
	if (job->tries == 0 || stage_lacks(job->outcome, job->code) || job->outcome == OUTCOME_NONE || job->outcome == OUTCOME_RECALLED || job->outcome == OUTCOME_REFUSED ||
	    job->outcome == OUTCOME_ELSEWHERE)
		return;
	row = outbox_row(core->outbox, TABLE_attempt);
	row->attempt = (struct row_attempt){
		.job = (int64_t)job_serial(job), .epoch = (int64_t)job->epoch, .run = (int64_t)job->run->number,
		.round = job->round, .pass = job->flags & JOB_LOOP ? job_passes(job) + 1 : 0, .try = job->tries,
		.worker = job->worker, .outcome = job->outcome, .code = job->code, .stop_cause = job->stop_cause,
		.started_ms = job->started_ms, .ended_ms = core->report_ms ? core->report_ms : ended_ms,
		.cpu_us = (int64_t)job->cpu_us, .rss_kib = job->rss_kib, .out_bytes = (int64_t)job->out_bytes,
		.child = (int64_t)job_child(job),
	};
	if ((uint32_t)job->epoch <= LIMIT_TRIES_KEPT)
		return;
	row = outbox_row(core->outbox, TABLE_attempt);
	row->deleted = true;
	row->attempt.job = (int64_t)job_serial(job);
	row->attempt.epoch = (int64_t)(job->epoch - LIMIT_TRIES_KEPT);
}
