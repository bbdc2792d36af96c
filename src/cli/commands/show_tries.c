/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tries of a job, one row each, the oldest first. The last try is in the job's row. But while the job waits for
 * another try, all tries have rows of their own.
 */
#include "cli/ask/ask.h"
#include "cli/ask/tries.h"
#include "cli/commands/show.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"

static const struct column try_columns[] = {
	{ "round", "ROUND", true },
	{ "pass", "PASS", true },
	{ "try", "TRY", true },
	{ "outcome", "RESULT", false },
	{ "span_ms", "TIME", true },
	{ "worker", "WORKER", false },
	{ "started", "STARTED", false },
	{ "ended", "ENDED", false },
	{ "exit_code", NULL, true },
	{ "signal", NULL, true },
	{ "spawn_error", NULL, false },
	{ "stopped_by", NULL, false },
	{ "epoch", NULL, true },
	{ "cpu_us", NULL, true },
	{ "rss_kib", NULL, true },
	{ "out_bytes", NULL, true },
	{ "child", NULL, true },
};
const struct table attempt_table = TABLE_OF(try_columns);

static void number_if(struct records *records, bool there, uint64_t value)
{
	if (there)
		records_number(records, value);
	else
		records_none(records);
}

/* Tries have the same words for outcomes as job rows. */
static struct slice try_outcome(const struct rec_try_row *tried, struct arena *arena)
{
	const struct rec_job_row row = {
		.state = STATE_DELAYED, .outcome = tried->outcome, .code = tried->code, .child = tried->child,
	};

	return job_outcome_text(&row, arena);
}

static void add_try(struct records *records, const struct rec_try_row *tried, int64_t now_ms)
{
	int64_t end_ms = tried->ended_ms ? tried->ended_ms : now_ms;
	int64_t span = tried->started_ms > 0 && end_ms >= tried->started_ms ? end_ms - tried->started_ms : -1;

	records_number(records, tried->round);
	number_if(records, tried->pass > 0, tried->pass);
	records_number(records, tried->try_no);
	records_text(records, try_outcome(tried, records->arena));
	records_span(records, span);
	records_text(records, tried->worker);
	records_time(records, tried->started_ms);
	records_time(records, tried->ended_ms);
	records_end(records, tried->outcome, tried->code);
	records_text(records, tried->stop_cause > 0 && tried->stop_cause < EVENT_COUNT ? slice_str(event_names[tried->stop_cause])
											: slice_make(NULL, 0));
	records_number(records, tried->epoch);
	records_number(records, tried->cpu_us);
	records_number(records, tried->rss_kib);
	records_number(records, tried->out_bytes);
	number_if(records, tried->child > 0, tried->child);
}

enum err tries_of(struct cli *cli, const struct rec_job_row *job, struct records *records)
{
	struct rec_try_row *rows, last;
	uint64_t seen = 0;
	size_t count;
	enum err err = cli_query_tries(cli, job->run, job->job, &cli->arena, &rows, &count);

	records_begin(records, try_columns, attempt_table.count, &cli->arena);
	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < count; i++) {
		/* With --at the job's row is older than the newest tries that are kept: leave those out. */
		if (rows[i].epoch > job->epoch || (rows[i].epoch == job->epoch && job_attempt_lives(job_state_checked(job->state))))
			break;
		add_try(records, &rows[i], cli_now_ms(cli));
		seen = rows[i].epoch;
	}
	if (try_of_job(job, &last) && seen != last.epoch)
		add_try(records, &last, cli_now_ms(cli));
	return ERR_NONE;
}
