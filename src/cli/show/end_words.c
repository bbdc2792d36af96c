/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts that say more exactly how a job ended than its state does. */
#include <inttypes.h>

#include "cli/show/row_words.h"
#include "proto/dead.h"

/*
 * The sentence for an ended job's state. Some jobs never ran or weren't retried, so the state's usual sentence would be
 * wrong.
 */
static const char *end_fact(const struct rec_job_row *job, enum job_state state)
{
	bool ran = job->outcome == OUTCOME_EXIT || job->outcome == OUTCOME_SIGNAL || outcome_is_no_start(job->outcome);

	if (state == STATE_TIMED_OUT && job->tries == 0)
		return "the job ran out of time before it started";
	if (state == STATE_CANCELLED && job->tries == 0)
		return "somebody cancelled the job before it started";
	if (state == STATE_CANCELLED && job->outcome == OUTCOME_LOST)
		return "somebody cancelled the job; its worker was lost, so its process may still be running";
	if (state == STATE_FAILED && job->crash_limit > 0 && job->crashes >= job->crash_limit)
		return dead_text(DEAD_CRASH_LIMIT);
	if (state == STATE_FAILED && job->outcome == OUTCOME_BAD_OUTPUT)
		return "the job exited with 0, but its outputs are wrong";
	if (state == STATE_FAILED && job->outcome == OUTCOME_BAD_ARTIFACTS)
		return "the job exited with 0, but its artifacts couldn't be kept";
	if (state == STATE_FAILED && ran && job->tries > job->crashes + job->interrupted &&
	    job->tries - job->crashes - job->interrupted <= job->retry_max)
		return "the job's retry policy doesn't cover this kind of failure";
	return state_table[state].fact;
}

/* Explain in words how the job ended. */
struct slice job_end_text(const struct rec_job_row *job, struct arena *arena)
{
	enum job_state state = job_state_checked(job->state);
	struct slice outcome = job_outcome_text(job, arena);
	struct buf text = { 0 };
	struct slice copy;

	if (job->ended_by == EVENT_EXPIRED || job->ended_by == EVENT_PERSON_DONE || job->ended_by == EVENT_PERSON_FAILED)
		buf_addf(&text, "%s%s", event_texts[job->ended_by],
			 job->ended_by == EVENT_EXPIRED && state == STATE_SUCCEEDED ? ", which means approved" : "");
	else if (job->ended_by == EVENT_ENOUGH)
		buf_addf(&text, "%s: pass %" PRIu64 " of %" PRIu64 ", until %.*s", event_texts[EVENT_ENOUGH], job->pass,
			 job->loop_max, (int)job->loop_until.len, (const char *)job->loop_until.data);
	else if (job->ended_by == EVENT_OVER)
		buf_addf(&text, "%s", event_texts[EVENT_OVER]);
	else if (state == STATE_CANCELLED && job->cause != 0)
		buf_add_str(&text, "another job of its fan-out failed, so this job was cancelled");
	else
		buf_add_str(&text, end_fact(job, state));
	if (job_stop_text(job).len > 0)
		buf_addf(&text, ": %s", event_texts[job->stop_cause]);
	if (outcome.len > 0 && state != STATE_SUCCEEDED) {
		buf_add_str(&text, " (");
		buf_add_slice(&text, outcome);
		buf_addf(&text, ", %" PRIu64 " tr%s)", job->tries, job->tries == 1 ? "y" : "ies");
	}
	if (job->interrupted > 0)
		buf_addf(&text, "; %" PRIu64 " %s", job->interrupted, job->interrupted == 1 ?
			 "earlier attempt was ended by its worker" : "earlier attempts were ended by their workers");
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}
