/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Draws a few lines below the printed ones of a followed run: the running jobs (SCREEN_JOBS at most) and a progress
 * bar.
 */
#include <inttypes.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/follow/follow_internal.h"
#include "cli/session/output.h"
#include "cli/session/session.h"
#include "cli/show/look.h"
#include "cli/show/row_words.h"
#include "tui/fold.h"

#define SCREEN_JOBS 10
#define BAR_CELLS 20

static volatile sig_atomic_t resumed;

static void resume_cb(int number)
{
	(void)number;
	resumed = 1;
}

void show_screen_begin(struct follow *follow)
{
	resumed = 0;
	sigaction(SIGCONT, &(struct sigaction){ .sa_handler = resume_cb, .sa_flags = SA_RESTART }, &follow->before_screen);
	follow->on_screen = true;
}

void show_screen_end(struct follow *follow)
{
	if (follow->on_screen)
		sigaction(SIGCONT, &follow->before_screen, NULL);
	follow->on_screen = false;
}

/* ---- the bar ---- */

void show_counts(const struct follow *follow, struct buf *out)
{
	static const struct { const char *word; enum job_state states[4]; } groups[] = {
		{ "ok", { STATE_SUCCEEDED, STATE_SUCCEEDED, STATE_SUCCEEDED, STATE_SUCCEEDED } },
		{ "run", { STATE_RUNNING, STATE_STOPPING, STATE_RUNNING, STATE_RUNNING } },
		{ "fail", { STATE_FAILED, STATE_TIMED_OUT, STATE_DENIED, STATE_QUARANTINED } },
		{ "cancelled", { STATE_CANCELLED, STATE_CANCELLED, STATE_CANCELLED, STATE_CANCELLED } },
		{ "skip", { STATE_SKIPPED, STATE_SKIPPED, STATE_SKIPPED, STATE_SKIPPED } },
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		uint64_t count = 0, seen = 0;

		for (int k = 0; k < 4; k++) {
			if (seen >> groups[i].states[k] & 1)
				continue;
			seen |= UINT64_C(1) << groups[i].states[k];
			count += follow->counts[groups[i].states[k]];
		}
		if (count > 0 || i == 0)
			buf_addf(out, "%s%s=%" PRIu64, i ? " " : "", groups[i].word, count);
	}
}

int64_t show_age_ms(const struct follow *follow)
{
	int64_t end = follow->ended_ms ? follow->ended_ms : clock_wall_ms();

	return follow->submitted_ms && end > follow->submitted_ms ? end - follow->submitted_ms : 0;
}

/* ---- the screen ---- */

/* Erase the drawn lines. After Ctrl-Z and fg the shell's lines are there instead; those are left alone. */
static void erase(struct follow *follow, struct buf *frame)
{
	if (resumed) {
		resumed = 0;
		follow->screen_lines = 0;
	}
	if (follow->screen_lines > 0)
		buf_addf(frame, "\x1b[%zuA", follow->screen_lines);
	buf_add_str(frame, "\r\x1b[J");
	follow->screen_lines = 0;
}

static size_t terminal_width(const struct sink *out)
{
	unsigned columns = out->columns_cb ? out->columns_cb(out->arg) : 0;

	return columns > 20 ? columns - 1u : 79;
}

/* A line of the screen: a running job, or all running jobs of a fan-out. */
struct running {
	const struct rec_job_row *job;   /* the running job of the line that has run longest */
	uint64_t count;
};

static struct running *same_line(struct running *lines, size_t count, const struct rec_job_row *job)
{
	size_t stem = fold_stem(job->name);

	for (size_t i = 0; i < count && stem < job->name.len; i++)
		if (slice_eq(slice_make(lines[i].job->name.data, fold_stem(lines[i].job->name)), slice_make(job->name.data, stem)))
			return &lines[i];
	return NULL;
}

/*
 * Collect the lines of running jobs. If they are too many, the jobs of a fan-out share a line. Return the number of
 * lines.
 */
static size_t gather_running(const struct follow *follow, struct running lines[SCREEN_JOBS], uint64_t *ret_more)
{
	bool folds = follow->counts[STATE_RUNNING] + follow->counts[STATE_STOPPING] > SCREEN_JOBS;
	size_t count = 0;

	*ret_more = 0;
	for (size_t i = 0; i < follow->job_count; i++) {
		const struct rec_job_row *job = &follow->jobs[i].row;
		enum job_state state = job_state_checked(job->state);
		struct running *line;

		if (follow->jobs[i].name == NULL || (state != STATE_RUNNING && state != STATE_STOPPING))
			continue;
		line = folds ? same_line(lines, count, job) : NULL;
		if (line != NULL) {
			line->count++;
			if (job->started_ms < line->job->started_ms)
				line->job = job;
		} else if (count < SCREEN_JOBS) {
			lines[count++] = (struct running){ .job = job, .count = 1 };
		} else {
			*ret_more += 1;
		}
	}
	return count;
}

static void running_text(const struct running *line, struct arena *arena, struct buf *out)
{
	const struct rec_job_row *job = line->job;
	int64_t span = job_span_ms(job, clock_wall_ms());

	if (line->count > 1) {
		text_escape(out, slice_make(job->name.data, fold_stem(job->name)), TEXT_KEEP_NONE);
		buf_addf(out, "[*] %" PRIu64 " jobs, the longest ", line->count);
	} else {
		text_escape(out, job->name, TEXT_KEEP_NONE);
		buf_add_byte(out, ' ');
		text_escape(out, job->worker, TEXT_KEEP_NONE);
		buf_add_byte(out, ' ');
	}
	text_add_span(out, span > 0 ? span : 0);
	if (line->count == 1 && job->progress > 0) {
		buf_add_byte(out, ' ');
		text_escape(out, job_progress_text(job, arena), TEXT_KEEP_NONE);
	}
}

static void add_running(struct follow *follow, struct buf *frame, size_t width)
{
	struct running lines[SCREEN_JOBS];
	uint64_t more;
	size_t count = gather_running(follow, lines, &more), unused;
	struct arena arena = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct buf line = { 0 };

		running_text(&lines[i], &arena, &line);
		buf_add_byte(frame, ' ');
		look_state(&follow->cli->out, &state_table[job_state_checked(lines[i].job->state)], frame);
		buf_add_byte(frame, ' ');
		buf_add(frame, line.data, text_clip(buf_slice(&line), width - 10, &unused));
		buf_add_byte(frame, '\n');
		buf_free(&line);
		follow->screen_lines++;
	}
	arena_free(&arena);
	if (more > 0) {
		buf_addf(frame, "   and %" PRIu64 " more\n", more);
		follow->screen_lines++;
	}
}

void show_redraw(struct follow *follow)
{
	struct buf frame = { 0 };
	struct buf bar = { 0 };
	uint64_t ended = follow_ended_count(follow);
	size_t width, unused;

	if (follow->mode != SHOW_SCREEN || (!follow->dirty && follow->counts[STATE_RUNNING] == 0))
		return;
	width = terminal_width(&follow->cli->session->out);
	erase(follow, &frame);
	buf_add_slice(&frame, buf_slice(&follow->out));
	buf_clear(&follow->out);
	if (follow->begun) {
		add_running(follow, &frame, width);
		look_bar(&follow->cli->out, ended, follow->job_count, BAR_CELLS, &bar);
		buf_addf(&bar, " %3d%% %" PRIu64 "/%zu ",
			 follow->job_count ? (int)(ended * 100 / follow->job_count) : 0, ended, follow->job_count);
		show_counts(follow, &bar);
		buf_add_byte(&bar, ' ');
		text_add_span(&bar, show_age_ms(follow));
		buf_add(&frame, bar.data, text_clip(buf_slice(&bar), width, &unused));
		buf_add_byte(&frame, '\n');
		follow->screen_lines++;
	}
	cli_print(follow->cli, &frame);
	follow->dirty = false;
	buf_free(&frame);
	buf_free(&bar);
}

void show_leave(struct follow *follow)
{
	struct buf frame = { 0 };

	if (follow->mode != SHOW_SCREEN)
		return;
	erase(follow, &frame);
	buf_add_slice(&frame, buf_slice(&follow->out));
	cli_print(follow->cli, &frame);
	buf_free(&frame);
}
