/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns rows of history into answers. A query reads at most one page of rows, even if it wants few of them: the cursor
 * of the answer says how far it came, so no query keeps the store's thread from its commits.
 */
#include "master/history.h"

static bool is_word(struct slice word, const uint8_t *wanted, size_t len)
{
	return len == 0 || slice_eq(word, slice_make(wanted, len));
}

static bool act_wanted(const struct query *query, const struct row_act *act)
{
	const struct query_filter *filter = query->filter;

	if (query->run != 0 && (uint64_t)act->run != query->run)
		return false;
	if (act->wall_ms < query->since_ms || (query->until_ms != 0 && act->wall_ms >= query->until_ms))
		return false;
	return !filter || ((!filter->mine || (uint64_t)act->principal == filter->principal) &&
			   is_word(act->name, filter->by, filter->by_len) && is_word(act->verb, filter->verb, filter->verb_len));
}

/* Acts before this one are too old as well: acts are numbered in the order of time. */
static bool is_too_old(const struct query *query, const struct row_act *act)
{
	return act->wall_ms < query->since_ms;
}

static void send_page(struct master *master, struct history *history, struct store_query *answer, struct answer_page *page)
{
	struct peer_session *session = session_find(master, history->query->conn);

	page->snapshot.turn = master->commits.durable;
	if (session)
		session_send(session, OP_SNAPSHOT, &page->snapshot);
	query_free(master, history->query);
	history_forget(history);
	history_free_answer(answer);
}

void history_act_row(const struct row_act *row, struct rec_act_row *ret_row)
{
	*ret_row = (struct rec_act_row){
		.act = (uint64_t)row->act, .turn = (uint64_t)row->turn, .wall_ms = row->wall_ms,
		.principal = (uint64_t)row->principal, .name = row->name, .origin = row->origin,
		.by_job = (uint64_t)row->by_job, .run = (uint64_t)row->run, .verb = row->verb, .target = row->target,
		.before = row->before, .after = row->after, .reason = row->reason,
	};
}

void history_acts(struct master *master, struct history *history, struct store_query *answer)
{
	const struct query *query = history->query;
	bool more = answer->row_count > 0;
	struct answer_page page;

	page_begin(&page, &answer->arena, query);
	page.past = answer;
	for (size_t i = 0; i < answer->row_count && more; i++) {
		const struct row_act *row = &answer->rows[i].act;
		struct rec_act_row act;

		history_act_row(row, &act);
		more = !is_too_old(query, row) && row->act > 1;
		if (act_wanted(query, row) && !page_add_act(&page, &act)) {
			more = true;
			break;
		}
		page.snapshot.cursor = act.act;
	}
	if (!more)
		page.snapshot.cursor = 0;
	send_page(master, history, answer, &page);
}

void history_pruned(struct master *master, struct history *history, struct store_query *answer)
{
	struct answer_page page;
	bool more;

	page_begin(&page, &answer->arena, history->query);
	more = answer->row_count == page.limit;
	for (size_t i = 0; i < answer->row_count; i++) {
		const struct row_pruned_run *row = &answer->rows[i].pruned_run;
		const struct rec_pruned_row run = {
			.run = (uint64_t)row->run, .name = row->name, .owner = row->owner, .schedule = row->schedule,
			.state = (uint64_t)row->state, .jobs = (uint64_t)row->jobs, .submitted_ms = row->submitted_ms,
			.ended_ms = row->ended_ms, .pruned_ms = row->wall_ms, .person = row->person,
		};

		if (!page_add_pruned(&page, &run)) {
			more = true;
			break;
		}
		page.snapshot.cursor = run.run;
	}
	if (!more)
		page.snapshot.cursor = 0;
	send_page(master, history, answer, &page);
}
