/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the logs that are wanted. A few facts are kept for each job, and each attempt with output has a log until it is
 * read.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/ask/ask.h"
#include "cli/commands/logs_many.h"
#include "cli/show/row_words.h"

static bool is_wanted(const struct many *many, const struct rec_job_row *row)
{
	enum job_state state = job_state_checked(row->state);

	if (many->options->failed && state != STATE_FAILED && state != STATE_TIMED_OUT)
		return false;
	for (size_t i = 0; i < many->targets->count && !many->within; i++)
		if (many->targets->at[i].run == row->run && selector_names(&many->targets->at[i], row->name))
			return true;
	return many->within != NULL;
}

/* Return the path of the row's job: its name, behind the path of the job whose sub-run it is in. */
static char *path_of(const struct many *many, const struct rec_job_row *row)
{
	struct buf path = { 0 };
	char *text;

	if (many->within)
		buf_addf(&path, "%s/", many->within->path);
	buf_add_slice(&path, row->name);
	text = mem_text(buf_slice(&path));
	buf_free(&path);
	return text;
}

void many_take_sub(struct many *many, const struct logged_job *job, uint64_t child, uint64_t try_no)
{
	struct sub_logs *sub = mem_zalloc(sizeof(*sub));
	struct buf path = { 0 };

	if (many->sub_count == many->sub_room) {
		many->sub_room = many->sub_room ? 2 * many->sub_room : 8;
		many->subs = mem_resize(many->subs, many->sub_room, sizeof(*many->subs));
	}
	buf_add_str(&path, job->path ? job->path : job->name);
	if (many->options->try_no == TRY_ALL)
		buf_addf(&path, " try %" PRIu64, try_no);
	*sub = (struct sub_logs){ .run = child, .top = job->top, .path = mem_text(buf_slice(&path)) };
	buf_free(&path);
	many->subs[many->sub_count++] = sub;
}

/*
 * Take the sub-run of the job's latest attempt, when it has begun. The number in --try is that of the job whose work the
 * sub-run is; inside, all jobs count.
 */
static void take_child(struct many *many, struct logged_job *job, const struct rec_job_row *row)
{
	const struct logs_options *options = many->options;

	if (row->child == 0 || row->child == job->child)
		return;
	many->subruns += options->no_sub && job->child == 0;
	job->child = row->child;
	if (!options->no_sub && (many->within || options->try_no == 0 || options->try_no == TRY_ALL || options->try_no == row->tries))
		many_take_sub(many, job, row->child, row->tries);
}

static struct logged_job *job_new(struct many *many, const struct rec_job_row *row)
{
	struct logged_job *job = mem_zalloc(sizeof(*job));

	job->run = row->run;
	job->job = row->job;
	job->name = mem_text(row->name);
	job->path = many->within ? path_of(many, row) : NULL;
	job->top = many->within ? many->within->top : row->run;
	if (many->job_count == many->job_room) {
		many->job_room = many->job_room ? 2 * many->job_room : 64;
		many->jobs = mem_resize(many->jobs, many->job_room, sizeof(*many->jobs));
	}
	many->jobs[many->job_count++] = job;
	map_put(&many->job_map, job->job, job);
	many->pruned += row->log_gone_ms > 0;
	many->pruned_ms = row->log_gone_ms > 0 ? row->log_gone_ms : many->pruned_ms;
	return job;
}

struct attempt_log *many_log_begin(struct many *many, struct logged_job *job)
{
	struct attempt_log *log = mem_zalloc(sizeof(*log));

	log->source.reader = (struct log_reader){ .run = job->run, .job = job->job, .epoch = job->epoch };
	log->source.from_ms = job->started_ms;
	log->lines.mark = (struct line_mark){
		.run = job->run, .job = job->job, .try_no = job->tries, .name = slice_str(job->name),
		.path = slice_str(job->path), .top = job->top,
	};
	log->lines.streams[0].known = log->lines.streams[1].known = true;
	log->source.order = job->job;    /* of equal times */
	log->job = job;
	log->source.at_end = true;       /* the log of this attempt wasn't requested yet */
	log->ended_ms = job->ended_ms;
	if (many->log_count == many->log_room) {
		many->log_room = many->log_room ? 2 * many->log_room : 64;
		many->logs = mem_resize(many->logs, many->log_room, sizeof(*many->logs));
	}
	many->logs[many->log_count++] = log;
	return log;
}

void many_take_row(struct many *many, const struct rec_job_row *row)
{
	enum job_state state = job_state_checked(row->state);
	struct logged_job *job;

	if (!is_wanted(many, row))
		return;
	job = map_get(&many->job_map, row->job);
	if (job == NULL)
		job = job_new(many, row);
	if (row->child_jobs > 0)
		take_child(many, job, row);
	many->has_subs |= row->child_jobs > 0 && !many->options->no_sub;
	if (row->epoch != job->epoch) {
		if (job->log) {
			job->log->job = NULL;
			job->log->over = true;
			job->log->out_bytes = UINT64_MAX;
			job->log->over_ns = clock_mono_ns();
		}
		job->log = NULL;
		job->read = false;
	}
	job->epoch = row->epoch;
	job->round = row->round;
	job->pass = row->pass;
	job->tries = row->tries;
	job->started_ms = row->started_ms;
	job->ended_ms = row->ended_ms;
	job->out_bytes = row->out_bytes;
	job->over = !job_attempt_lives(state);
	if (row->child_jobs > 0 || row->log_gone_ms > 0 || job->epoch == 0 || job->read)
		return;
	if (job->log == NULL && (job->over ? job->out_bytes > 0 || row->outcome == OUTCOME_LOST : state != STATE_ASSIGNED))
		job->log = many_log_begin(many, job);
	if (job->log != NULL && job->over && !job->log->over) {
		job->log->over = true;
		job->log->out_bytes = job->out_bytes;
		job->log->ended_ms = job->ended_ms;
		job->log->over_ns = clock_mono_ns();
	}
}

void many_log_free(struct attempt_log *log)
{
	lines_free(&log->lines);
	mem_free(log);
}

void many_free(struct many *many)
{
	for (size_t i = 0; i < many->log_count; i++)
		many_log_free(many->logs[i]);
	for (size_t i = 0; i < many->job_count; i++) {
		mem_free(many->jobs[i]->name);
		mem_free(many->jobs[i]->path);
		mem_free(many->jobs[i]);
	}
	for (size_t i = 0; i < many->sub_count; i++) {
		mem_free(many->subs[i]->path);
		mem_free(many->subs[i]);
	}
	map_free(&many->job_map);
	mem_free(many->subs);
	mem_free(many->logs);
	mem_free(many->jobs);
	log_merge_free(&many->merge);
	sink_free(&many->sink);
	cli_branch_end(&many->side);
}
