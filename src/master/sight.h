/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides which rows each person may see, by the rules of proto/sight.def. A query has the sight of its asker, and
 * every row of every answer goes through answer_page.c, which asks here. A query about one run that the asker may not
 * see is answered as if the run didn't exist.
 */
#ifndef TITAN_MASTER_SIGHT_H
#define TITAN_MASTER_SIGHT_H

#include "master/dispatch.h"

struct sight sight_of(const struct peer_session *session);

/* May the asker see this run? owner: the run's owner. */
bool sight_sees(const struct sight *sight, uint64_t run, struct slice owner);
/* Like sight_sees, by the run's number alone: the run is in memory, or history has found it for this query. */
bool sight_run(const struct sight *sight, uint64_t run);
/* Is the run in memory, and hidden from the asker? */
bool sight_hides(const struct sight *sight, uint64_t run);
/* is this the asker's own name, or does the asker see everything? */
bool sight_own(const struct sight *sight, struct slice name);
bool sight_tenant(const struct sight *sight, struct slice name);
bool sight_group(const struct sight *sight, struct slice name);
bool sight_lock(const struct sight *sight, const struct rec_lock_row *row);
/* past: the store's answer with the row, which has the owners of the runs that its rows name */
bool sight_act(const struct sight *sight, const struct store_query *past, const struct rec_act_row *row);
bool sight_event(const struct sight *sight, const struct store_query *past, const struct rec_event_row *row);

/* Remove from a row that the asker may see all that it says about other people's runs. */
void sight_job_words(const struct sight *sight, struct rec_job_row *row);
void sight_run_words(const struct sight *sight, struct rec_run_row *row);
void sight_worker_words(const struct sight *sight, struct rec_worker_row *row);
void sight_lock_words(const struct sight *sight, struct rec_lock_row *row);

/* Count the live jobs by state, of all runs or of the asker's own. Return their number. */
uint64_t sight_counts(const struct sight *sight, struct arena *arena, struct u64_list *ret_counts);

/* Count the runs that have ended, and their jobs, by state. Leaves the lists empty for somebody who doesn't see all runs. */
void sight_ended(const struct sight *sight, struct arena *arena, struct u64_list *ret_runs, struct u64_list *ret_jobs);

/* Is this query only for people who see everything, and the asker isn't one of them? */
bool sight_refuses(const struct peer_session *session, const struct msg_query *msg, struct error *error);
/* When an input's turn has come, refuse it if it is about a run that its sender may not see. */
bool sight_refuses_input(struct master *master, const struct core_input *input);
/*
 * Answer a query about a run that its asker may not see. True also if the query waits until the store has found the
 * run's owner.
 */
bool sight_answers(struct master *master, struct master_turn *turn, struct query *query);
/* Called when history has read the run's row; NULL: there is none. May the asker see the run? */
bool sight_finds(struct master *master, struct query *query, const struct row_run *row);
/* Must the store be asked for the owner of this query's run first? */
bool sight_asks_first(const struct query *query);

#endif
