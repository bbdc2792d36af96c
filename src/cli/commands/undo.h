/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds how an act is taken back. The texts of an act (src/core/acts/acts_words.c) say what it changed. They are parsed
 * strictly: a text in another form is refused, never guessed at.
 */
#ifndef TITAN_CLI_UNDO_H
#define TITAN_CLI_UNDO_H

#include "cli/session/cli.h"
#include "proto/limits.h"

struct undo {
	const struct rec_act_row *act;
	bool of_run;                     /* the target is a run or its jobs; false: it is an object */
	uint64_t run;
	struct slice name;               /* name of the job or fan-out, empty for a whole run; or name of the object */
	struct msg_set set;              /* the inverse of an act on an object */
	struct slice provides[LIMIT_CAPABILITIES_MAX];   /* the words of set, for a pool */
	struct msg_act step;             /* the inverse of an act on a run or its jobs */
	uint64_t letters;                /* number of dead letters that a discard took away; 0: another act */
};

struct undo_values {                     /* the hold or priority of each job of the target, in the order of jobs */
	uint64_t *at;
	size_t count;
	bool same;                       /* all jobs of the target have the value at[0] */
};

/* Read the act's target, and the inverse of an act on an object. Otherwise the error says why it can't be taken back. */
enum err undo_read(const struct rec_act_row *act, struct undo *ret, struct error *error);
/* Parse "held", "50" or "50*3 70" as values of this many jobs. */
bool undo_read_values(struct slice text, bool priority, size_t job_count, struct arena *arena, struct undo_values *ret);

/*
 * Write the hold or priority of jobs in the words of an act: "held", "50" or "50*3 70". When the master gets the inverse, it
 * compares these words with the state that the jobs have then.
 */
void undo_write_values(const struct rec_job_row *jobs, size_t count, bool priority, struct buf *out);

/*
 * Compare the target's present state with the state after the act, and make the inverse. The inverse names the state that
 * was found here, so the master refuses it if somebody changes the target in between.
 */
enum err undo_check(struct cli *cli, struct undo *undo);

#endif
