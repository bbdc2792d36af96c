/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the command with which a person could move a job on, from rows alone. */
#include "cli/show/next_step.h"

#include <inttypes.h>

#include "cli/show/row_words.h"
#include "proto/reasons.h"

/* Find a parent of the job that waits for a person; then the command is about that parent. */
static const struct rec_job_row *people_before(const struct rec_job_row *job, const struct rec_job_row *jobs,
					       size_t job_count)
{
	for (size_t i = 0; job->why_code == REASON_WAITS_FOR_DEPENDENCY && i < job->needs.n; i++) {
		const struct rec_job_row *need = job->needs.at[i] < job_count ? &jobs[job->needs.at[i]] : NULL;

		if (need && (need->state == STATE_APPROVAL || need->state == STATE_UNKNOWN || need->held))
			return need;
	}
	return NULL;
}

/* Would a retry change anything? A job that its condition skipped without any failure would be skipped again. */
static bool retry_changes(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count)
{
	const struct rec_job_row *root = job_root(job, jobs, job_count, true);

	return job->state != STATE_SKIPPED || root->cause != 0 ||
	       (root->state != STATE_SUCCEEDED && root->state != STATE_SKIPPED);
}

struct slice explain_next(const struct rec_job_row *given, const struct rec_job_row *jobs, size_t job_count,
			  struct arena *arena)
{
	const struct rec_job_row *before = people_before(given, jobs, job_count), *job = before ? before : given;
	enum job_state state = job_state_checked(job->state);
	const char *verb = NULL;
	bool whole = false;
	struct buf text = { 0 };
	struct slice copy;

	if (job->child != 0 && (state == STATE_FAILED || state_table[state].kind == KIND_HOLDS)) {
		buf_addf(&text, "titan show %" PRIu64, job->child);
		copy = arena_copy(arena, buf_slice(&text));
		buf_free(&text);
		return copy;
	}
	if (job->why_code == REASON_APPROVAL || (before && state == STATE_APPROVAL))
		verb = "approve";
	else if (state == STATE_UNKNOWN)
		verb = "settle";
	else if (job->why_code == REASON_HELD || (before && job->held))
		verb = "release";
	else if (job->why_code == REASON_WORKER_CORDONED || job->why_code == REASON_NO_WORKER_RESOURCES ||
		 job->why_code == REASON_NO_WORKER_LABELS || job->why_code == REASON_NO_WORKER_NAMED ||
		 job->why_code == REASON_NO_WORKER_POOL || job->why_code == REASON_NO_WORKER_SHARES || job->why_code == REASON_AFFINITY_BUSY)
		return slice_str("titan worker ls");
	else if (job->why_code == REASON_POOL_DRAINING || job->why_code == REASON_POOL_INACTIVE ||
		 job->why_code == REASON_NO_POOL_PROVIDES)
		return slice_str("titan pool ls");
	else if (job->why_code == REASON_NO_POOL_MAPPING)
		return slice_str("titan topic ls");
	else if (job->why_code == REASON_LOCKED)
		return slice_str("titan lock ls");
	else if (job->why_code == REASON_CONCURRENCY_RUNS || job->why_code == REASON_CONCURRENCY_JOBS)
		return slice_str("titan group ls");
	else if (job->why_code == REASON_TENANT_LIMIT)
		return slice_str("titan tenant ls");
	else if (state_terminal(state) && state != STATE_SUCCEEDED && retry_changes(job, jobs, job_count))
		verb = "retry";
	else if (job->why_code == REASON_WAITS_FOR_DEPENDENCY)
		verb = "show";
	else if (job->why_code == REASON_NO_WORKER_UP)
		return slice_str("titan up");
	else
		return slice_make(NULL, 0);
	/*
	 * Name the whole run if the job was skipped or waits, because another job is the cause; or if the run is held.
	 */
	whole = state == STATE_SKIPPED || job->why_code == REASON_WAITS_FOR_DEPENDENCY ||
		(job->why_code == REASON_HELD && !job->held);
	buf_addf(&text, "titan %s %" PRIu64, verb, job->run);
	if (!whole) {
		buf_add_byte(&text, '/');
		buf_add_slice(&text, job->name);
	}
	if (state == STATE_UNKNOWN)
		buf_add_str(&text, " done|failed|retry -m 'HOW YOU KNOW'");
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}
