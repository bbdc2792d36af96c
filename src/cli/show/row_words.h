/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words for rows of runs and jobs from the wire: their state, how they ended, why they wait. */
#ifndef TITAN_CLI_ROW_WORDS_H
#define TITAN_CLI_ROW_WORDS_H

#include "base/arena.h"
#include "proto/message.h"
#include "proto/states.h"

struct run_counts {                      /* numbers of a run's jobs, in the groups that people ask about */
	uint64_t ok, running, waiting, failed, skipped, cancelled, ended, jobs;
};

struct run_counts run_counts(const struct rec_run_row *run);
enum run_state run_state_checked(uint64_t state);        /* turns a number from the wire into a state that we know */
enum job_state job_state_checked(uint64_t state);
bool job_attempt_lives(enum job_state state);     /* the job has an attempt that hasn't ended, as far as is known */
/* How a job or run looks: as its state, or as the flag over it. */
const struct state_info *job_look(const struct rec_job_row *job);
const struct state_info *run_look(const struct rec_run_row *run);

/* "7/build"; empty: the run is no sub-run. */
struct slice run_parent(const struct rec_run_row *run, struct arena *arena);
/* What the run waits for, as far as the row says it; after its end, its dead letters or forgiven failures. */
struct slice run_why_text(const struct rec_run_row *run, struct arena *arena);

struct slice job_address(const struct rec_job_row *job, struct arena *arena);    /* address such as "4127/load" */
int64_t job_span_ms(const struct rec_job_row *job, int64_t now_ms);      /* length of the latest attempt; -1: none */
struct slice job_stop_text(const struct rec_job_row *job);       /* which time limit the job exceeded; or empty */
/* How the latest attempt ended: "exit 1", "signal 9", "lost"; empty while there is none. */
struct slice job_outcome_text(const struct rec_job_row *job, struct arena *arena);

/* How and why an ended job ended, in words: its state alone often says too little (end_words.c). */
struct slice job_end_text(const struct rec_job_row *job, struct arena *arena);

/*
 * Find the job with which the trouble began, by following cause after cause. The search stops at the first job whose
 * own condition was false, unless past_conditions. jobs, job_count: all jobs of the run by index; NULL: not known.
 */
const struct rec_job_row *job_root(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
				   bool past_conditions);
/*
 * Why the job ended as it did, if its own outcome doesn't say: "because load failed"; or why it doesn't go on. Empty:
 * there is nothing to say.
 */
/* How far the job said that it is: "37% encoding", "3/12"; empty: it said nothing. */
struct slice job_progress_text(const struct rec_job_row *job, struct arena *arena);
struct slice job_cause_text(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
			    struct arena *arena);

#endif
