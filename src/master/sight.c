/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides which rows each person may see: applies the rules of proto/sight.def to requests, queries and each kind of
 * row.
 */
#include "master/sight.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "proto/reasons.h"

struct sight sight_of(const struct peer_session *session)
{
	const struct master *master = session->master;
	struct sight sight = { .core = master->core, .run = session->seen_run };

	/* A job has no roles of its own: it asks in the name of its run's owner, whose token may be gone by now. */
	sight.all = master->options.privacy_open || (session->caller.job != 0 ? session->principal.id == master->owner.id :
									      roles_see_all(session->roles));
	sight.decides = session->caller.job == 0 && (session->roles & ROLE_BIT(APPROVER));
	sight.shown_to = session->shown_to;
	if (sight.shown_to)
		sight.all = sight.shown_to->all;
	snprintf(sight.name, sizeof(sight.name), "%s", session->principal.name);
	return sight;
}

/* ---- runs ---- */

bool sight_own(const struct sight *sight, struct slice name)
{
	return sight->all || (name.len > 0 && slice_eq(name, slice_str(sight->name)));
}

/* Is the run one of those that the person may see of an earlier time, because they decide in it at present? */
static bool is_shown(const struct shown_to *shown_to, uint64_t run)
{
	for (size_t i = 0; shown_to && i < shown_to->count; i++)
		if (shown_to->runs[i] == run)
			return true;
	return false;
}

bool sight_sees(const struct sight *sight, uint64_t run, struct slice owner)
{
	return sight_own(sight, owner) || is_shown(sight->shown_to, run) || (sight->decides && view_decides(sight->core, run, slice_str(sight->name)));
}

bool sight_run(const struct sight *sight, uint64_t run)
{
	struct slice owner;

	if (sight->all || (run != 0 && run == sight->run))
		return true;
	return view_owner(sight->core, run, &owner) && sight_sees(sight, run, owner);
}

bool sight_hides(const struct sight *sight, uint64_t run)
{
	struct slice owner;

	return !sight->all && view_owner(sight->core, run, &owner) && !sight_sees(sight, run, owner);
}

/* ---- rows about something else ---- */

bool sight_tenant(const struct sight *sight, struct slice name)
{
	return sight_own(sight, name) || view_uses_tenant(sight->core, slice_str(sight->name), name);
}

bool sight_group(const struct sight *sight, struct slice name)
{
	return sight->all || view_uses_group(sight->core, slice_str(sight->name), name);
}

static bool holds(const struct sight *sight, const struct rec_lock_row *row)
{
	return sight_own(sight, row->person) || (row->run != 0 && sight_run(sight, row->run));
}

bool sight_lock(const struct sight *sight, const struct rec_lock_row *row)
{
	return holds(sight, row) || view_uses_lock(sight->core, slice_str(sight->name), row->name);
}

static int compare_owners_cb(const void *a, const void *b)
{
	const struct store_owner *left = a, *right = b;

	return (left->run > right->run) - (left->run < right->run);
}

/* May the asker see the run that a row of history names? */
static bool sees_past(const struct sight *sight, const struct store_query *past, uint64_t run)
{
	const struct store_owner key = { .run = run }, *found = NULL;

	if (sight->all || sight_run(sight, run))
		return true;
	if (past->owner_count > 0)
		found = bsearch(&key, past->owners, past->owner_count, sizeof(key), compare_owners_cb);
	return found && sight_own(sight, found->owner);
}

bool sight_act(const struct sight *sight, const struct store_query *past, const struct rec_act_row *row)
{
	return sight_own(sight, row->name) || (row->run != 0 && sees_past(sight, past, row->run));
}

bool sight_event(const struct sight *sight, const struct store_query *past, const struct rec_event_row *row)
{
	struct slice owner;

	if (sight->all)
		return true;
	switch ((enum happening_kind)row->kind) {
	case HAPPENED_WORKER_UP:
	case HAPPENED_WORKER_GONE:
	case HAPPENED_WORKER_LOST:
	case HAPPENED_MASTER_BEGAN:
		return true;
	case HAPPENED_SCHEDULE_SKIPPED:
		return view_schedule_owner(sight->core, row->name, &owner) && sight_own(sight, owner);
	case HAPPENED_ACT:
		return row->act.n > 0 && sight_act(sight, past, &row->act.at[0]);
	default:
		return row->run != 0 && sees_past(sight, past, row->run);
	}
}

/* ---- words ---- */

/* Does the explanation for this reason name nothing but the job's own run, and workers? */
static bool names_own_run(uint64_t reason)
{
	switch (reason) {
	case REASON_ALL_SLOTS_BUSY:
	case REASON_RESOURCES_BUSY:
	case REASON_RESERVED:
	case REASON_TENANT_LIMIT:
	case REASON_CONCURRENCY_RUNS:
	case REASON_CONCURRENCY_JOBS:
	case REASON_LOCKED:
	case REASON_QUEUED:
	case REASON_AFFINITY_BUSY:
		return false;
	default:
		return reason != 0 && reason < REASON_COUNT;
	}
}

void sight_job_words(const struct sight *sight, struct rec_job_row *row)
{
	if (!sight->all && row->why_code != 0 && !names_own_run(row->why_code))
		row->why = slice_str(reason_text((enum reason)row->why_code));
}

void sight_run_words(const struct sight *sight, struct rec_run_row *row)
{
	if (!sight->all && row->why_code != 0 && !names_own_run(row->why_code))
		row->why = slice_str(reason_text((enum reason)row->why_code));
}

void sight_worker_words(const struct sight *sight, struct rec_worker_row *row)
{
	if (sight->all)
		return;
	row->reserved = 0;
	row->stuck_jobs.n = 0;
}

void sight_lock_words(const struct sight *sight, struct rec_lock_row *row)
{
	const struct rec_lock_row all = *row;

	if (holds(sight, row))
		return;
	*row = (struct rec_lock_row){ .name = all.name, .shared = all.shared, .waiting = all.waiting };
}

uint64_t sight_counts(const struct sight *sight, struct arena *arena, struct u64_list *ret_counts)
{
	struct core_totals totals;

	ret_counts->n = STATE_COUNT;
	ret_counts->at = arena_alloc(arena, sizeof(totals.counts));
	if (!sight->all)
		return view_counts_of(sight->core, slice_str(sight->name), ret_counts->at);
	view_totals(sight->core, &totals);
	memcpy(ret_counts->at, totals.counts, sizeof(totals.counts));
	return totals.live_jobs;
}

void sight_ended(const struct sight *sight, struct arena *arena, struct u64_list *ret_runs, struct u64_list *ret_jobs)
{
	struct core_totals totals;

	if (!sight->all)
		return;
	view_totals(sight->core, &totals);
	*ret_runs = (struct u64_list){ .at = arena_alloc(arena, sizeof(totals.ended_runs)), .n = RUN_STATE_COUNT };
	*ret_jobs = (struct u64_list){ .at = arena_alloc(arena, sizeof(totals.ended_jobs)), .n = STATE_COUNT };
	memcpy(ret_runs->at, totals.ended_runs, sizeof(totals.ended_runs));
	memcpy(ret_jobs->at, totals.ended_jobs, sizeof(totals.ended_jobs));
}

/* ---- requests ---- */

static void no_such_run(struct error *error, uint64_t run)
{
	error_set(error, ERR_NOT_FOUND, "there is no run %llu", (unsigned long long)run);
	error_next(error, "titan ls");
}

bool sight_refuses(const struct peer_session *session, const struct msg_query *msg, struct error *error)
{
	struct buf has = { 0 };

	if (sight_of_query(msg->what) != SIGHT_ALL || sight_of(session).all)
		return false;
	role_words(session->roles, &has);
	error_set(error, ERR_DENIED, "the answer tells of the runs of all people, and with the role %s %s sees only some of them",
		  buf_cstr(&has), session->principal.name);
	error_next(error, "titan token ls shows which token has the role viewer");
	buf_free(&has);
	return true;
}

/* Does the schedule of the input belong to another person, so that the sender may not see it? */
static bool refuses_schedule(const struct sight *sight, const struct core_input *input, struct error *error)
{
	bool put = input->kind == INPUT_SUBMIT;
	struct slice name = put ? input->submit.name : input->set.set.name, owner;

	if (put ? input->submit.schedule.len == 0 : input->kind != INPUT_SET || input->set.set.kind != OBJECT_SCHEDULE)
		return false;
	if (!view_schedule_owner(sight->core, name, &owner) || sight_own(sight, owner))
		return false;
	if (put) {
		error_set(error, ERR_DENIED, "the name '%.*s' is taken by a schedule of somebody else", (int)name.len, (const char *)name.data);
		error_next(error, "choose another name");
	} else {
		error_set(error, ERR_NOT_FOUND, "there is no schedule '%.*s'", (int)name.len, (const char *)name.data);
		error_next(error, "titan schedule ls");
	}
	return true;
}

/* Does the asset of the input belong to another person, so that the sender may not see it? */
static bool refuses_asset(const struct sight *sight, const struct core_input *input, struct error *error)
{
	struct slice name = input->set.set.name, owner;

	if (input->kind != INPUT_SET || input->set.set.kind != OBJECT_ASSET || !view_asset_owner(sight->core, name, &owner) ||
	    sight_own(sight, owner))
		return false;
	if (input->set.set.verb == SET_PUT) {
		error_set(error, ERR_DENIED, "the name '%.*s' is taken by an asset of somebody else", (int)name.len, (const char *)name.data);
		error_next(error, "choose another name");
	} else {
		error_set(error, ERR_NOT_FOUND, "there is no asset '%.*s'", (int)name.len, (const char *)name.data);
		error_next(error, "titan asset ls");
	}
	return true;
}

/* Is the input about a run that its sender may not see? */
static bool refuses_run(const struct sight *sight, const struct core_input *input, struct error *error)
{
	bool into = input->kind == INPUT_SUBMIT;
	uint64_t run = input->kind == INPUT_CANCEL ? input->cancel.run : input->kind == INPUT_ACT ? input->act.run :
		       into ? input->submit.into : 0;

	/*
	 * The owner of a run that has left memory is known only to the store. Adding jobs to such a run is refused in
	 * the same way for everybody.
	 */
	if (run == 0 || (into ? sight_run(sight, run) : !sight_hides(sight, run)))
		return false;
	no_such_run(error, run);
	if (into)
		error_set(error, ERR_NOT_FOUND, "there is no live run %llu", (unsigned long long)run);
	error_next(error, "titan ls");
	return true;
}

bool sight_refuses_input(struct master *master, const struct core_input *input)
{
	struct peer_session *session = input->conn ? session_find(master, input->conn) : NULL;
	struct error error;
	struct sight sight;

	if (!session)
		return false;
	sight = sight_of(session);
	if (sight.all || (!refuses_run(&sight, input, &error) && !refuses_schedule(&sight, input, &error) &&
			  !refuses_asset(&sight, input, &error)))
		return false;
	session_refuse(session, input->request, &error);
	return true;
}

/* ---- questions ---- */

bool sight_asks_first(const struct query *query)
{
	return !query->sight.all && query->run != 0 && query->sight.run != query->run &&
	       (query->what == QUERY_DECISIONS || query->what == QUERY_TRIES || query->what == QUERY_IS_LOG_READ);
}

bool sight_finds(struct master *master, struct query *query, const struct row_run *row)
{
	struct peer_session *session = session_find(master, query->conn);

	if (!row || !sight_sees(&query->sight, (uint64_t)row->run, row->owner)) {
		query->unseen = true;
		return false;
	}
	query->sight.run = query->run;
	/* A run never changes its owner, so the next piece of its log needs no query of the store. */
	if (session && sight_own(&query->sight, row->owner))
		session->seen_run = query->run;
	return true;
}

/* Answer as if the run didn't exist. */
static void answer_nothing(struct master *master, struct master_turn *turn, struct query *query)
{
	struct msg_log_data nothing = { .id = query->log_read.id, .end = true };
	struct peer_session *session = session_find(master, query->conn);
	struct answer_page page;
	struct error error;

	if (query->what == QUERY_IS_LOG_READ) {
		if (session) {
			session->log_reads--;
			session_log_reads(session);
		}
		reveal_add(master, turn, query->conn, OP_LOG_DATA, &nothing);
		query_free(master, query);
	} else if (query->what == QUERY_DECISIONS || query->what == QUERY_TRIES) {
		page_begin(&page, &master->scratch, query);
		query_finish(master, turn, query, &page, 0);
	} else {
		no_such_run(&error, query->run);
		query_refuse(master, turn, query, &error);
	}
}

bool sight_answers(struct master *master, struct master_turn *turn, struct query *query)
{
	struct slice owner;

	if (query->sight.all || query->run == 0 ||
	    (query->what < QUERY_IS_ACT && query->of_sub == 0 && sight_of_query(query->what) != SIGHT_RUN))
		return false;
	if (query->unseen || sight_hides(&query->sight, query->run)) {
		answer_nothing(master, turn, query);
		return true;
	}
	if (view_owner(master->core, query->run, &owner))
		query->sight.run = query->run;
	if (!sight_asks_first(query))
		return false;
	history_ask(master, query);
	return true;
}
