/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The logs of many jobs as one: first all existing output, in order of time; then, with follow, new output until the
 * run has ended.
 */
#include "cli/commands/logs_many.h"

#include <inttypes.h>

#include "base/clock.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/session/output.h"

#define PRINT_BYTES  65536

static bool log_is_read(const struct attempt_log *log)
{
	return log->source.at_end && log->over &&
	       (log_read_all(&log->source.reader, log->out_bytes) ||
		clock_mono_ns() - log->over_ns > LOGS_LATE_MS * NS_PER_MS);
}

enum err many_drain(struct many *many)
{
	struct log_piece piece;
	enum err err;

	while ((err = log_merge_next(&many->side, &many->merge, &piece)) == ERR_NONE) {
		struct attempt_log *log = (struct attempt_log *)piece.source;

		if (piece.output)
			lines_take(&many->sink, &log->lines, piece.output, piece.live_tail);
		else if (piece.damage.len > 0)
			lines_damage(&many->sink, &log->lines, piece.damage);
		else if (log_is_read(log))
			lines_end(&many->sink, &log->lines, log->source.reader.dropped);
		if (many->sink.out.len >= PRINT_BYTES)
			cli_print(many->cli, &many->sink.out);
		if (many->cli->output->lost)
			return many->cli->output->why.code;
	}
	cli_print(many->cli, &many->sink.out);
	if (err == ERR_PENDING)
		return ERR_NONE;
	many->cli->error = many->side.error;
	return err;
}

void many_end_logs(struct many *many, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < many->log_count; i++) {
		struct attempt_log *log = many->logs[i];

		if (!all && !log_is_read(log)) {
			many->logs[kept++] = log;
			continue;
		}
		lines_end(&many->sink, &log->lines, log->over ? log->source.reader.dropped : 0);
		if (log->job) {
			log->job->log = NULL;
			log->job->read = log->over;
		}
		many_log_free(log);
	}
	many->log_count = kept;
	cli_print(many->cli, &many->sink.out);
}

void many_ask_again(struct many *many, size_t most)
{
	size_t step = most < many->log_count ? most : many->log_count;

	for (size_t i = 0; i < many->log_count && most > 0; i++) {
		struct attempt_log *log = many->logs[(many->asked + i) % many->log_count];

		if (!log->source.at_end)
			continue;
		log_merge_add(&many->merge, &log->source);
		most--;
	}
	many->asked = many->log_count ? (many->asked + step) % many->log_count : 0;
}

static bool any_late(const struct many *many)
{
	for (size_t i = 0; i < many->log_count; i++)
		if (many->logs[i]->over)
			return true;
	return false;
}

enum err many_catch_up(struct many *many)
{
	enum err err;

	for (size_t i = 0; i < many->job_count; i++)
		lines_widen(&many->sink, &(struct line_mark){ .run = many->jobs[i]->run, .name = slice_str(many->jobs[i]->name),
							      .path = slice_str(many->jobs[i]->path), .top = many->jobs[i]->top });
	many->sink.marked = many->job_count != 1 || many->has_subs || (many->options->follow && many->targets->at[0].job.len == 0);
	err = many_seek_start(many);
	while (err == ERR_NONE) {
		many_ask_again(many, SIZE_MAX);
		err = many_drain(many);
		if (err != ERR_NONE)
			break;
		many_end_logs(many, false);
		if (many->options->follow || !any_late(many))
			break;
		err = cli_pause(many->cli, LOGS_TICK_MS);
	}
	if (!many->options->follow)
		many_end_logs(many, true);
	sink_flush(&many->sink);
	return err;
}

/* ---- without follow ---- */

static enum err read_jobs(struct many *many, uint64_t run)
{
	struct msg_query query = { .what = QUERY_JOBS, .run = run };
	struct arena arena = { 0 };
	enum err err;

	do {
		struct msg_snapshot page;

		arena_reset(&arena);
		err = cli_query(many->cli, query, &arena, &page);
		for (size_t i = 0; err == ERR_NONE && i < page.jobs.n; i++)
			many_take_row(many, &page.jobs.at[i]);
		query.cursor = err == ERR_NONE ? page.cursor : 0;
	} while (query.cursor != 0);
	arena_free(&arena);
	if (err != ERR_NONE || many->options->try_no == 0 || (many->within && many->options->try_no != TRY_ALL))
		return err;
	return many_take_tries(many, run);
}

/* Read the jobs of all sub-runs that were found, and of the sub-runs inside those. A sub-run that was pruned is skipped. */
static enum err read_subs(struct many *many)
{
	while (many->subs_read < many->sub_count) {
		enum err err;

		many->within = many->subs[many->subs_read++];
		err = read_jobs(many, many->within->run);
		many->within = NULL;
		if (err != ERR_NONE && err != ERR_PRUNED && err != ERR_NOT_FOUND)
			return err;
	}
	return ERR_NONE;
}

/* Check that each name is that of a job. A job that didn't fail is no error if only failed jobs are wanted. */
static enum err check_names(struct many *many)
{
	for (size_t i = 0; i < many->targets->count && !many->options->failed; i++) {
		const struct selector *target = &many->targets->at[i];
		struct rec_job_row row;
		bool found = target->job.len == 0;
		enum err err;

		for (size_t k = 0; k < many->job_count && !found; k++)
			found = many->jobs[k]->run == target->run && selector_names(target, slice_str(many->jobs[k]->name));
		if (found)
			continue;
		err = cli_query_job(many->cli, target, &many->cli->arena, &row);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

static enum err print_all(struct many *many)
{
	enum err err = ERR_NONE;

	for (size_t i = 0; i < many->targets->count && err == ERR_NONE; i++) {
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen = seen || many->targets->at[k].run == many->targets->at[i].run;
		if (!seen)
			err = read_jobs(many, many->targets->at[i].run);
	}
	if (err == ERR_NONE)
		err = read_subs(many);
	if (err == ERR_NONE)
		err = check_names(many);
	if (err == ERR_NONE && (err = cli_connect(&many->side)) != ERR_NONE)
		many->cli->error = many->side.error;
	return err == ERR_NONE ? many_catch_up(many) : err;
}

/* ---- the command ---- */

static int finish(struct many *many, enum err err)
{
	struct cli *cli = many->cli;
	uint64_t run = many->targets->at[0].run;
	char when[CLOCK_TEXT_SIZE];

	if (err == ERR_INTERRUPTED) {
		cli_note(cli, "still running: titan logs -f %" PRIu64 ", stop: titan cancel %" PRIu64, run, run);
		return err_exit_status(err);
	}
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (many->pruned > 0 && many->pruned == many->job_count) {
		error_set(&cli->error, ERR_PRUNED, "the output of %" PRIu64 " was pruned on %.10s", run,
			  clock_format_utc(many->pruned_ms, when));
		error_next(&cli->error, "titan show %" PRIu64, run);
		return cli_fail(cli);
	}
	if (many->pruned > 0)
		cli_note(cli, "[the output of %" PRIu64 " jobs was pruned]", many->pruned);
	if (many->subruns > 0)
		cli_note(cli, "[%" PRIu64 " job%s a sub-run, whose output isn't shown here: titan show %" PRIu64 "]", many->subruns,
			 many->subruns == 1 ? " is" : "s are each", run);
	return many->sink.damaged ? err_exit_status(ERR_DAMAGED) : 0;
}

int logs_many(struct cli *cli, const struct logs_options *options, const struct targets *targets)
{
	struct many many = {
		.cli = cli, .options = options, .targets = targets, .sink = { .cli = cli, .options = options },
	};
	int status;
	enum err err;

	cli_branch(cli, &many.side);
	for (size_t i = 1; i < targets->count; i++)
		many.sink.with_run = many.sink.with_run || targets->at[i].run != targets->at[0].run;
	err = options->follow ? many_follow(&many) : print_all(&many);
	status = finish(&many, err);
	many_free(&many);
	return status;
}
