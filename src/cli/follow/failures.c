/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the jobs that failed first, with the end of their output. */
#include "cli/follow/failures.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/logread.h"
#include "cli/ask/query.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/row_words.h"

struct failures {
	struct rec_job_row first[FAILURES_KEPT]; /* the jobs that failed first, in the order of their ends */
	size_t kept;
	uint64_t count;
	struct arena *arena;
};

void failure_tail(struct cli *side, const struct rec_job_row *job, const struct look *look, const char *lead, struct buf *out)
{
	struct buf text = { 0 };
	size_t start = 0;

	if (job->out_bytes == 0 || cli_connect(side) != ERR_NONE || log_tail(side, job, FAILURE_LINES, &text) != ERR_NONE)
		buf_clear(&text);
	for (size_t at = 0; at < text.len; at++) {
		if (text.data[at] != '\n')
			continue;
		buf_add_str(out, lead);
		text_escape(out, slice_make(text.data + start, at - start), TEXT_KEEP_TAB | (look->colour ? TEXT_KEEP_COLOUR : 0));
		look_plain(look, out);
		buf_add_byte(out, '\n');
		start = at + 1;
	}
	buf_free(&text);
}

static void take(struct failures *failures, const struct rec_job_row *row)
{
	enum job_state state = job_state_checked(row->state);
	size_t at = failures->kept;
	struct rec_job_row *job;

	if ((state != STATE_FAILED && state != STATE_TIMED_OUT) || row->forgiven)
		return;
	failures->count++;
	while (at > 0 && failures->first[at - 1].ended_ms > row->ended_ms)
		at--;
	if (at == FAILURES_KEPT)
		return;
	if (failures->kept < FAILURES_KEPT)
		failures->kept++;
	memmove(&failures->first[at + 1], &failures->first[at], (failures->kept - at - 1) * sizeof(*row));
	job = &failures->first[at];
	*job = (struct rec_job_row){
		.run = row->run, .job = row->job, .epoch = row->epoch, .state = row->state, .outcome = row->outcome,
		.code = row->code, .started_ms = row->started_ms, .ended_ms = row->ended_ms, .out_bytes = row->out_bytes,
		.name = arena_copy(failures->arena, row->name), .worker = arena_copy(failures->arena, row->worker),
		.dir = arena_copy(failures->arena, row->dir),
	};
}

static void add_failure(struct cli *cli, const struct rec_job_row *job, struct buf *out)
{
	enum job_state state = job_state_checked(job->state);
	struct slice outcome = job_outcome_text(job, &cli->arena);
	int64_t span = job_span_ms(job, clock_wall_ms());

	buf_addf(out, "#%" PRIu64 " ", job->run);
	text_escape(out, job->name, TEXT_KEEP_NONE);
	buf_add_byte(out, ' ');
	look_colour(&cli->err, state_table[state].colour, state_table[state].attribute, out);
	buf_add_str(out, state_table[state].word);
	look_plain(&cli->err, out);
	if (outcome.len > 0) {
		buf_add_byte(out, ' ');
		text_escape(out, outcome, TEXT_KEEP_NONE);
	}
	if (job->worker.len > 0) {
		buf_add_str(out, " on ");
		text_escape(out, job->worker, TEXT_KEEP_NONE);
	}
	if (span >= 0) {
		buf_add_str(out, " after ");
		text_add_span(out, span);
	}
	buf_add_byte(out, '\n');
	failure_tail(cli, job, &cli->err, "    ", out);
}

void tell_failures(struct cli *cli, uint64_t run)
{
	struct msg_query query = { .what = QUERY_JOBS, .run = run };
	struct failures failures = { .arena = &cli->arena };
	struct error before = cli->error;
	struct arena arena = { 0 };
	struct buf out = { 0 };

	if (cli->settings.quiet || cli->out.style == STYLE_JSON)
		return;
	do {
		struct msg_snapshot page = { 0 };

		arena_reset(&arena);
		if (cli_query(cli, query, &arena, &page) != ERR_NONE)
			page.cursor = 0;
		for (size_t i = 0; i < page.jobs.n; i++)
			take(&failures, &page.jobs.at[i]);
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	for (size_t i = 0; i < failures.kept; i++)
		add_failure(cli, &failures.first[i], &out);
	if (failures.count > failures.kept)
		buf_addf(&out, "and %" PRIu64 " more failed jobs: titan show %" PRIu64 "\n", failures.count - failures.kept, run);
	cli_tell(cli, buf_slice(&out));
	cli->error = before;     /* keep the run's error, even if the queries here failed */
	buf_free(&out);
	arena_free(&arena);
}
