/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who is told what, by the rules of proto/sight.def. A question carries the sight of its asker, and every row of every answer
 * passes the page of answer_page.c, which asks here. A question about one run that the asker may not see is answered like
 * one about a run that doesn't exist.
 */
#ifndef TITAN_MASTER_SIGHT_H
#define TITAN_MASTER_SIGHT_H

#include "master/dispatch.h"

struct sight sight_of(const struct peer_session *session);

/* May the asker see this run? owner: of the run. */
bool sight_sees(const struct sight *sight, uint64_t run, struct slice owner);
/* The same by the run's number alone: it is in memory, or it is the one that history found for this question. */
bool sight_run(const struct sight *sight, uint64_t run);
/* Is the run in memory, and may the asker not see it? */
bool sight_hides(const struct sight *sight, uint64_t run);
bool sight_own(const struct sight *sight, struct slice name);    /* is this their name, or do they see everything? */
bool sight_tenant(const struct sight *sight, struct slice name);
bool sight_group(const struct sight *sight, struct slice name);
bool sight_lock(const struct sight *sight, const struct rec_lock_row *row);
/* past: the answer of the store with the row, which knows the owners of the runs that it names */
bool sight_act(const struct sight *sight, const struct store_query *past, const struct rec_act_row *row);
bool sight_event(const struct sight *sight, const struct store_query *past, const struct rec_event_row *row);

/* Remove from a row that the asker may see what it says about other people's runs. */
void sight_job_words(const struct sight *sight, struct rec_job_row *row);
void sight_run_words(const struct sight *sight, struct rec_run_row *row);
void sight_worker_words(const struct sight *sight, struct rec_worker_row *row);
void sight_lock_words(const struct sight *sight, struct rec_lock_row *row);

/* Count the live jobs by state, of all runs or of the asker's own. Return how many there are. */
uint64_t sight_counts(const struct sight *sight, struct arena *arena, struct u64_list *ret_counts);

/* Is this a question for those who see everything, and the asker isn't one of them? */
bool sight_refuses(const struct peer_session *session, const struct msg_query *msg, struct error *error);
/* Refuse an input, whose turn has come, about a run that its sender may not see. */
bool sight_refuses_input(struct master *master, const struct core_input *input);
/*
 * Answer a question about a run that its asker may not see. True also if the question waits for what the store knows of
 * its run.
 */
bool sight_answers(struct master *master, struct master_turn *turn, struct query *query);
/* History has read the run's row; NULL: there is none. May the asker see the run? */
bool sight_finds(struct master *master, struct query *query, const struct row_run *row);
/* Is this a question whose run the store must be asked about first? */
bool sight_asks_first(const struct query *query);

#endif
