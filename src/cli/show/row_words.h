/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words for rows of runs and jobs: their state, how they ended, why they wait. */
#ifndef TITAN_CLI_ROW_WORDS_H
#define TITAN_CLI_ROW_WORDS_H

#include "base/arena.h"
#include "proto/message.h"
#include "proto/states.h"

struct run_counts {                      /* numbers of a run's jobs in groups of states, as shown to people */
	uint64_t ok, running, waiting, failed, skipped, cancelled, ended, jobs;
};

struct run_counts run_counts(const struct rec_run_row *run);
enum run_state run_state_checked(uint64_t state);        /* turn a number from the protocol into a known state */
enum job_state job_state_checked(uint64_t state);
/* true: the job has an attempt that hasn't ended, as far as the master knows */
bool job_attempt_lives(enum job_state state);
/* How a job or run is shown: as its state, or as a flag that takes the state's place. */
const struct state_info *job_look(const struct rec_job_row *job);
const struct state_info *run_look(const struct rec_run_row *run);

/* The address of the parent job, such as "7/build"; empty: the run is no sub-run. */
struct slice run_parent(const struct rec_run_row *run, struct arena *arena);
/* What the run waits for, as far as its row says; of an ended run its dead letters or forgiven failures. */
struct slice run_why_text(const struct rec_run_row *run, struct arena *arena);

struct slice job_address(const struct rec_job_row *job, struct arena *arena);    /* address such as "4127/load" */
/* Who may approve the gate, with the members of its teams: "@release (anna, bert), cid"; empty: it names no team. */
struct slice gate_from_text(const struct rec_job_row *job, struct arena *arena);
/* duration of the latest attempt; -1: there is none */
int64_t job_span_ms(const struct rec_job_row *job, int64_t now_ms);
struct slice job_stop_text(const struct rec_job_row *job); /* the time limit that ended the job, in words; or empty */
/* How the latest attempt ended: "exit 1", "signal 9", "lost"; empty: it hasn't ended. */
struct slice job_outcome_text(const struct rec_job_row *job, struct arena *arena);
/* Add the text of OUTCOME_NO_DIR. The row has the directory's name only if the job itself names it. */
void no_dir_add(const struct rec_job_row *job, struct buf *out);
void unstaged_add(uint64_t code, struct buf *out);       /* the text of OUTCOME_STAGE_FAILED with this code */

/* How and why a job ended, in words, because its state often says too little (end_words.c). */
struct slice job_end_text(const struct rec_job_row *job, struct arena *arena);

/*
 * Find the job with which the trouble began, by following causes. The search stops at the first job whose own condition
 * was false, unless past_conditions. jobs, job_count: all jobs of the run by index; NULL: not known.
 */
const struct rec_job_row *job_root(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
				   bool past_conditions);
/*
 * Why the job ended this way, such as "because load failed", or why it doesn't go on. Empty: its outcome says enough.
 */
/* The progress that the job reported: "37% encoding", "3/12"; empty: none. */
struct slice job_progress_text(const struct rec_job_row *job, struct arena *arena);
struct slice job_cause_text(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
			    struct arena *arena);

#endif
