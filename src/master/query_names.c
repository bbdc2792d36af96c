/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers queries for completion: names of live runs and of their jobs that begin with the typed text. */
#include "master/internal.h"

#include <stdio.h>

#define NAMES_LOOKED_AT 25000            /* most jobs that one answer examines, so that the turn stays short */

static bool digits_begin(uint64_t number, struct slice prefix)
{
	char digits[24];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);

	return len >= prefix.len && (prefix.len == 0 || memcmp(digits, prefix.data, prefix.len) == 0);
}

static void run_numbers(struct master *master, struct master_turn *turn, struct query *query)
{
	struct slice prefix = slice_make(query->job, query->job_len);
	uint64_t run = query->cursor ? query->cursor : UINT64_MAX, next;
	struct answer_page page;
	struct rec_run_row row;

	page_begin(&page, &master->scratch, query);
	for (; (next = view_run_before(master->core, run)); run = next)
		if (digits_begin(next, prefix) && view_run(master->core, next, &master->scratch, &row) && row.ended_ms == 0 &&
		    !page_add_run(&page, &row))
			break;
	query_finish(master, turn, query, &page, next ? run : 0);
}

/* Cut the name of a fan-out's member to NAME[. False: the last name was of the same fan-out. */
static bool fold(struct rec_job_row *row, struct slice *last)
{
	const uint8_t *bracket = memchr(row->name.data, '[', row->name.len);

	if (!bracket)
		return true;
	row->name.len = (size_t)(bracket - row->name.data) + 1;
	if (slice_eq(row->name, *last))
		return false;
	*last = row->name;
	return true;
}

void query_names(struct master *master, struct master_turn *turn, struct query *query)
{
	struct slice prefix = slice_make(query->job, query->job_len), last = { 0 };
	uint64_t index = query->cursor, end = index + NAMES_LOOKED_AT, next;
	bool folds = !memchr(query->job, '[', query->job_len);
	struct answer_page page;
	struct rec_job_row row;
	struct rec_run_row run;
	struct error error;

	if (query->run == 0) {
		run_numbers(master, turn, query);
		return;
	}
	if (!view_run(master->core, query->run, &master->scratch, &run)) {
		query_no_run(master, &error, query);
		query_refuse(master, turn, query, &error);
		return;
	}
	page_begin(&page, &master->scratch, query);
	while ((next = view_name_next(master->core, query->run, prefix, index, end, &master->scratch, &row))) {
		if ((!folds || fold(&row, &last)) && !page_add_job(&page, &row)) {
			end = next - 1;
			break;
		}
		index = next;
	}
	query_finish(master, turn, query, &page, end < run.jobs ? end : 0);
}
