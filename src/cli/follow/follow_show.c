/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints a followed run as lines: one for each important change, one now and then while nothing happens, and at the end
 * the last output of each failed job. On a terminal the lines scroll above what follow_screen.c draws. Text from jobs
 * is escaped.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/follow/failures.h"
#include "cli/follow/follow.h"
#include "cli/follow/follow_internal.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/next_step.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "cli/show/rows.h"

#define SMALL_RUN 200                    /* in a run of at most so many jobs, every job's end is printed */
#define HEARTBEAT_MS 30000
#define IDLE_MS 2000

/* How text looks on the stream on which lines are printed. */
static const struct look *line_look(const struct follow *follow)
{
	return follow->mode == SHOW_OUTPUT ? &follow->cli->err : &follow->cli->out;
}

static void add_head(struct follow *follow)
{
	buf_addf(&follow->out, "#%" PRIu64 " ", follow->run);
}

/* Are lines about the run printed at all? */
static bool has_lines(const struct follow *follow)
{
	return follow->mode == SHOW_LINES || follow->mode == SHOW_SCREEN || follow->mode == SHOW_OUTPUT;
}

/*
 * Without a screen, print the collected lines at once. If standard output has the output of jobs, they go to standard
 * error.
 */
static void said(struct follow *follow)
{
	if (follow->mode == SHOW_OUTPUT) {
		if (!follow->cli->settings.quiet)
			cli_tell(follow->cli, buf_slice(&follow->out));
		buf_clear(&follow->out);
	}
	follow->said_ns = clock_mono_ns();
	follow->dirty = true;
	if (follow->mode != SHOW_SCREEN)
		cli_print(follow->cli, &follow->out);
}

void show_begin(struct follow *follow)
{
	if (follow->mode != SHOW_LINES && follow->mode != SHOW_SCREEN)
		return;
	if (follow->mode == SHOW_SCREEN)
		show_screen_begin(follow);
	add_head(follow);
	buf_add_str(&follow->out, "start ");
	text_escape(&follow->out, slice_str(follow->name ? follow->name : ""), TEXT_KEEP_NONE);
	buf_addf(&follow->out, " %zu job%s\n", follow->job_count, follow->job_count == 1 ? "" : "s");
	said(follow);
}

void follow_say(struct follow *follow, const char *text)
{
	if (!has_lines(follow))
		return;
	add_head(follow);
	look_colour(line_look(follow), COLOUR_CYAN, ATTR_BOLD, &follow->out);
	buf_add_str(&follow->out, text);
	look_plain(line_look(follow), &follow->out);
	buf_add_byte(&follow->out, '\n');
	said(follow);
	show_redraw(follow);
}

static void show_row(struct follow *follow, const struct followed_job *job)
{
	struct arena arena = { 0 };
	struct records records;

	rows_begin_jobs(&records, &arena);
	rows_add_job(&records, &job->row, NULL, 0, clock_wall_ms());
	records_print_line(&records, &follow->cli->out, &follow->out);
	arena_free(&arena);
	said(follow);
}

static void add_outcome(struct follow *follow, const struct rec_job_row *row)
{
	struct buf *out = &follow->out;

	switch (row->outcome) {
	case OUTCOME_NONE:
		break;
	case OUTCOME_EXIT:
		if (row->code != 0)
			buf_addf(out, " exit=%" PRIu64, row->code);
		break;
	case OUTCOME_SIGNAL:
		buf_addf(out, " signal=%" PRIu64, row->code);
		break;
	case OUTCOME_SPAWN:
		buf_addf(out, " not started: %s", strerror((int)row->code));
		break;
	case OUTCOME_NO_DIR:
		buf_add_byte(out, ' ');
		no_dir_add(row, out);
		break;
	case OUTCOME_STAGE_FAILED:
		buf_add_byte(out, ' ');
		unstaged_add(row->code, out);
		break;
	default:
		buf_addf(out, " %s", row->outcome < OUTCOME_COUNT ? outcome_name((enum outcome)row->outcome) : "?");
	}
}

static const struct followed_job *cause_of(const struct follow *follow, const struct rec_job_row *row)
{
	uint64_t offset = row->cause - 1 + row->index - row->job;

	if (row->cause == 0)
		return NULL;
	/*
	 * Jobs that were submitted together have consecutive serial numbers, so look first at the index that follows
	 * from that.
	 */
	if (offset < follow->job_count && follow->jobs[offset].name != NULL && follow->jobs[offset].row.job == row->cause - 1)
		return &follow->jobs[offset];
	for (size_t i = 0; i < follow->job_count; i++)
		if (follow->jobs[i].name != NULL && follow->jobs[i].row.job == row->cause - 1)
			return &follow->jobs[i];
	return NULL;
}

/* Name the job with which a chain of skipped jobs began, because that is the one to look at. */
static void add_root(const struct follow *follow, const struct followed_job *cause, struct buf *out)
{
	const struct followed_job *root = cause;

	for (size_t i = 0; i < SMALL_RUN; i++) {
		const struct followed_job *next = cause_of(follow, &root->row);

		if (next == NULL || next == root)
			break;
		root = next;
	}
	if (root == cause || root->row.cause != 0 || !state_terminal(job_state_checked(root->row.state)))
		return;
	buf_add_str(out, ", as ");
	text_escape(out, root->row.name, TEXT_KEEP_NONE);
	buf_add_str(out, job_state_checked(root->row.state) == STATE_CANCELLED ||
			 job_state_checked(root->row.state) == STATE_DENIED ? " was " : " ");
	buf_add_str(out, state_table[job_state_checked(root->row.state)].name);
}

/* Add the question of the gate that waits for a person, and the command that answers it. */
static void add_question(struct follow *follow, const struct rec_job_row *row)
{
	struct buf *out = &follow->out;

	if (row->gate_count > 1)
		buf_addf(out, " %" PRIu64 "/%" PRIu64 " approved", row->gate_have, row->gate_count);
	if (row->gate_message.len > 0) {
		buf_add_byte(out, ' ');
		text_escape(out, row->gate_message, TEXT_KEEP_NONE);
	}
	buf_addf(out, "    next: titan approve %" PRIu64 "/", row->run);
	text_escape(out, row->name, TEXT_KEEP_NONE);
}

static void add_change(struct follow *follow, const struct followed_job *job)
{
	const struct rec_job_row *row = &job->row;
	enum job_state state = job_state_checked(row->state);
	const struct look *look = line_look(follow);
	struct buf *out = &follow->out;
	const struct followed_job *cause = cause_of(follow, row);
	int64_t span = job_span_ms(row, clock_wall_ms());

	add_head(follow);
	text_escape(out, row->name, TEXT_KEEP_NONE);
	buf_add_byte(out, ' ');
	look_colour(look, state_table[state].colour, state_table[state].attribute, out);
	buf_add_str(out, state_table[state].word);
	look_plain(look, out);
	if (state == STATE_APPROVAL) {
		add_question(follow, row);
	} else if (state == STATE_SKIPPED || (state == STATE_CANCELLED && row->outcome == OUTCOME_NONE)) {
		if (cause != NULL && cause != job) {
			buf_add_str(out, " because of ");
			text_escape(out, cause->row.name, TEXT_KEEP_NONE);
			add_root(follow, cause, out);
		}
	} else {
		add_outcome(follow, row);
		if (row->retry_max > 0)
			buf_addf(out, " try=%" PRIu64 "/%" PRIu64, row->tries - row->interrupted,
				 row->retry_max + 1);
		else if (row->tries > 1 || state == STATE_DELAYED)
			buf_addf(out, " try=%" PRIu64, row->tries);
		if (row->worker.len > 0) {
			buf_add_str(out, " worker=");
			text_escape(out, row->worker, TEXT_KEEP_NONE);
		}
		if (span >= 0) {
			buf_add_byte(out, ' ');
			text_add_span(out, span);
		}
	}
	if (state == STATE_UNKNOWN) {
		buf_addf(out, "    the job may have run or not; if its worker doesn't come back: titan cancel %" PRIu64 "/", follow->run);
		text_escape(out, row->name, TEXT_KEEP_NONE);
	}
	buf_add_byte(out, '\n');
}

static bool is_failure(enum job_state state)
{
	return state_terminal(state) && state != STATE_SUCCEEDED && state != STATE_SKIPPED && state != STATE_CANCELLED;
}

/* Keep the job in the list of failures; a job that fails again in a later round is counted once. */
static void keep_failure(struct follow *follow, size_t index)
{
	for (size_t i = 0; i < follow->failure_count && i < FAILURES_KEPT; i++)
		if (follow->failures[i] == index)
			return;
	if (follow->failure_count < FAILURES_KEPT)
		follow->failures[follow->failure_count] = index;
	follow->failure_count++;
}

/*
 * Is the end of the job's output printed below its line? Only on a screen, and in a large run only for the first
 * failures.
 */
static bool shows_tail(const struct follow *follow, enum job_state state)
{
	return follow->mode == SHOW_SCREEN && state != STATE_SKIPPED && state != STATE_APPROVAL &&
	       (follow->job_count <= SMALL_RUN || follow->failure_count <= FAILURES_KEPT);
}

void show_change(struct follow *follow, const struct followed_job *job, enum job_state from)
{
	enum job_state state = job_state_checked(job->row.state);

	if (is_failure(state) && !state_terminal(from))
		keep_failure(follow, (size_t)(job - follow->jobs));
	if (follow->mode == SHOW_ROWS)
		show_row(follow, job);
	if (!has_lines(follow) || (follow->mode == SHOW_OUTPUT && state_terminal(state)))
		return;
	if (!is_failure(state) && state != STATE_APPROVAL && follow->job_count > SMALL_RUN)
		return;
	if (!state_terminal(state) && !(state == STATE_DELAYED && job->row.tries > 0) && state != STATE_UNKNOWN &&
	    state != STATE_APPROVAL)
		return;
	add_change(follow, job);
	if (shows_tail(follow, state))
		failure_tail(&follow->side, &job->row, &follow->cli->out, "    ", &follow->out);
	said(follow);
}

void show_failure(struct follow *follow, const struct followed_job *job)
{
	enum job_state state = job_state_checked(job->row.state);

	if (!is_failure(state) && state != STATE_CANCELLED && state != STATE_SKIPPED)
		return;
	add_change(follow, job);
	said(follow);
}

/* Choose the job to explain while nothing happens: a ready job that isn't started, else a delayed one. */
static const struct followed_job *idle_job(const struct follow *follow)
{
	const struct followed_job *delayed = NULL;

	for (size_t i = 0; i < follow->job_count; i++) {
		const struct followed_job *job = &follow->jobs[i];

		if (job->name != NULL && job->row.state == STATE_READY)
			return job;
		if (job->name != NULL && job->row.state == STATE_DELAYED && delayed == NULL)
			delayed = job;
	}
	return delayed;
}

/* Print why nothing happens, in the words of titan explain. */
static void say_idle(struct follow *follow)
{
	const struct followed_job *job = idle_job(follow);
	struct selector selector = { .run = follow->run };
	struct arena arena = { 0 };
	struct buf line = { 0 };
	struct rec_job_row row;
	struct slice next;

	follow->told_idle = true;
	if (job == NULL)
		return;
	selector.job = job->row.name;
	if (cli_connect(&follow->side) == ERR_NONE &&
	    explain_ask(&follow->side, &selector, &arena, &row) == ERR_NONE && row.why.len > 0) {
		text_escape(&line, row.name, TEXT_KEEP_NONE);
		buf_add_str(&line, " waits: ");
		text_escape(&line, row.why, TEXT_KEEP_NONE);
		next = explain_next(&row, NULL, 0, &arena);
		if (next.len > 0) {
			buf_add_str(&line, "    next: ");
			text_escape(&line, next, TEXT_KEEP_NONE);
		}
		follow_say(follow, buf_cstr(&line));
	}
	buf_free(&line);
	arena_free(&arena);
}

void show_idle(struct follow *follow)
{
	int64_t quiet_ms = (clock_mono_ns() - follow->said_ns) / NS_PER_MS;

	if (!has_lines(follow))
		return;
	if (follow->known && !follow->told_idle && quiet_ms >= IDLE_MS &&
	    follow->counts[STATE_READY] + follow->counts[STATE_DELAYED] > 0 &&
	    follow->counts[STATE_RUNNING] + follow->counts[STATE_ASSIGNED] + follow->counts[STATE_STOPPING] == 0)
		say_idle(follow);
	if (follow->mode == SHOW_LINES && quiet_ms >= HEARTBEAT_MS) {
		add_head(follow);
		buf_addf(&follow->out, "%" PRIu64 "/%zu ", follow_ended_count(follow), follow->job_count);
		show_counts(follow, &follow->out);
		buf_add_byte(&follow->out, ' ');
		text_add_span(&follow->out, show_age_ms(follow));
		buf_add_byte(&follow->out, '\n');
		said(follow);
	}
}

/* Add the failed jobs with the end of their output, except on a screen, where it was printed as they failed. */
static void add_failures(struct follow *follow)
{
	size_t kept = follow->failure_count < FAILURES_KEPT ? follow->failure_count : FAILURES_KEPT;

	for (size_t i = 0; i < kept && follow->mode == SHOW_LINES; i++) {
		const struct followed_job *job = &follow->jobs[follow->failures[i]];

		if (job->row.out_bytes == 0 || !is_failure(job_state_checked(job->row.state)))
			continue;
		buf_add_str(&follow->out, "--- ");
		text_escape(&follow->out, job->row.name, TEXT_KEEP_NONE);
		buf_addf(&follow->out, ", last %d lines ---\n", FAILURE_LINES);
		failure_tail(&follow->side, &job->row, &follow->cli->out, "", &follow->out);
	}
	if (follow->failure_count > kept)
		buf_addf(&follow->out, "--- and %zu more failed jobs: titan show %" PRIu64 " ---\n",
			 follow->failure_count - kept, follow->run);
}

void show_end(struct follow *follow)
{
	enum run_state state = follow_state(follow);
	const struct state_info *info = run_state_info(state);

	if (follow->mode == SHOW_ROWS && follow->cli->out.style == STYLE_JSON) {
		buf_addf(&follow->out, "{\"run\":%" PRIu64 ",\"state\":\"%s\"}\n", follow->run, run_state_name(state));
		said(follow);
	}
	if (follow->mode != SHOW_LINES && follow->mode != SHOW_SCREEN)
		return;
	if (follow->mode == SHOW_LINES || follow->job_count > SMALL_RUN)
		add_failures(follow);
	add_head(follow);
	look_colour(&follow->cli->out, info->colour, info->attribute, &follow->out);
	buf_add_str(&follow->out, info->word);
	look_plain(&follow->cli->out, &follow->out);
	buf_add_byte(&follow->out, ' ');
	show_counts(follow, &follow->out);
	buf_add_byte(&follow->out, ' ');
	text_add_span(&follow->out, show_age_ms(follow));
	if (follow->failure_count > 0 && !follow->options->passing) {
		buf_addf(&follow->out, "    next: titan logs %" PRIu64 "/", follow->run);
		text_escape(&follow->out, follow->jobs[follow->failures[0]].row.name, TEXT_KEEP_NONE);
	}
	buf_add_byte(&follow->out, '\n');
	if (follow->mode == SHOW_LINES)
		said(follow);
	else
		show_leave(follow);
}
