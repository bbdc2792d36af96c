/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The logs of earlier tries. A try's number counts within the latest round of a job, and within the latest pass of its
 * loop. "all" means every try whose row is kept, of all rounds.
 */
#include "base/clock.h"
#include "base/map.h"
#include "cli/ask/tries.h"
#include "cli/commands/logs_many.h"

static bool is_of_round(const struct rec_try_row *tried, const struct logged_job *job)
{
	return tried->round == job->round && tried->pass == job->pass;
}

/* Add the log of an earlier try, or the sub-run that it began. */
static void add_log(struct many *many, struct logged_job *job, const struct rec_try_row *tried)
{
	struct attempt_log *log;

	if (tried->child != 0) {
		if (!many->options->no_sub)
			many_take_sub(many, job, tried->child, tried->try_no);
		return;
	}
	if (tried->out_bytes == 0 && tried->outcome != OUTCOME_LOST)
		return;
	log = many_log_begin(many, job);
	log->job = NULL;
	log->source.reader.epoch = tried->epoch;
	log->source.from_ms = tried->started_ms;
	log->lines.mark.try_no = tried->try_no;
	log->over = true;
	log->over_ns = clock_mono_ns();
	log->out_bytes = tried->out_bytes;
	log->ended_ms = tried->ended_ms;
}

/* Remove the logs of last tries that aren't wanted. */
static void drop_others(struct many *many)
{
	size_t kept = 0;

	for (size_t i = 0; i < many->log_count; i++) {
		struct attempt_log *log = many->logs[i];

		if (many->options->try_no == TRY_ALL || log->lines.mark.try_no == many->options->try_no) {
			many->logs[kept++] = log;
			continue;
		}
		if (log->job)
			log->job->log = NULL;
		many_log_free(log);
	}
	many->log_count = kept;
}

enum err many_take_tries(struct many *many, uint64_t run)
{
	struct map jobs = { 0 };
	struct arena arena = { 0 };
	struct rec_try_row *rows;
	size_t count = 0;
	enum err err = cli_query_tries(many->cli, run, 0, &arena, &rows, &count);

	drop_others(many);
	for (size_t i = 0; i < many->job_count; i++)
		if (many->jobs[i]->run == run)
			map_put(&jobs, many->jobs[i]->job, many->jobs[i]);
	for (size_t i = 0; err == ERR_NONE && i < count; i++) {
		struct logged_job *job = map_get(&jobs, rows[i].job);

		/*
		 * The last try is in the job's row already. While the job waits for another try, it has a row of its
		 * own too.
		 */
		if (!job || (rows[i].epoch >= job->epoch && (rows[i].child == 0 || rows[i].child == job->child)))
			continue;
		if (many->options->try_no == TRY_ALL || (rows[i].try_no == many->options->try_no && is_of_round(&rows[i], job)))
			add_log(many, job, &rows[i]);
	}
	map_free(&jobs);
	arena_free(&arena);
	return err;
}
