/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of runs and jobs, as the wire has them, in words: how they are, how they ended, why. */
#ifndef TITAN_CLI_ROW_WORDS_H
#define TITAN_CLI_ROW_WORDS_H

#include "base/arena.h"
#include "proto/message.h"
#include "proto/states.h"

struct run_counts {                      /* what people want to know of a run's jobs */
	uint64_t ok, running, waiting, failed, skipped, cancelled, settled, jobs;
};

struct run_counts run_counts(const struct rec_run_row *run);
enum run_state run_state_checked(uint64_t state);        /* from a peer: one that we know */
enum job_state job_state_checked(uint64_t state);
const struct state_info *job_look(const struct rec_job_row *job);        /* DEAD is shown over FAILED */

struct slice run_parent(const struct rec_run_row *run, struct arena *arena);     /* "7/build"; empty: it is no sub-run */
/* Why it doesn't go on, where that is a person's affair; what of it is left to do when it has ended. */
struct slice run_why_text(const struct rec_run_row *run, struct arena *arena);

struct slice job_address(const struct rec_job_row *job, struct arena *arena);    /* "4127/load" */
int64_t job_span_ms(const struct rec_job_row *job, int64_t now_ms);      /* of the latest attempt; -1: none */
struct slice job_stop_text(const struct rec_job_row *job);       /* why it is out of time; or empty */
/* "exit 1", "signal 9", "lost": of the latest attempt; empty while there is nothing to say. */
struct slice job_outcome_text(const struct rec_job_row *job, struct arena *arena);

/*
 * What began it: by its cause, that one's, and so on; to the first whose condition was false, or past those as well.
 * jobs, job_count: all of its run by index; NULL: not known.
 */
const struct rec_job_row *job_root(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
				   bool past_conditions);
/*
 * Why it ended as it did, where that isn't its own outcome: "because load failed"; or why it doesn't go on.
 * Empty: nothing to say.
 */
struct slice job_cause_text(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
			    struct arena *arena);

#endif
