/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan logs of one job. If standard output is no terminal, bytes go out unchanged. On a terminal whole lines go out,
 * escaped, so that a job's output can't control it.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/when.h"
#include "cli/ask/ask.h"
#include "cli/ask/logread.h"
#include "cli/ask/query.h"
#include "cli/commands/logs_internal.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/row_words.h"

#define PAUSE_MS 100
#define LATE_MS 2000
#define RECONNECT_MS 60000
#define LINE_LONGEST 8192                /* a longer line is printed in parts */

struct log_stream {                      /* standard output or standard error of the job */
	struct buf line;                 /* text that isn't printed yet */
	bool inside;                     /* the text printed so far ends within a line */
	bool known;                      /* next is valid; false if reading began in the middle */
	uint64_t next;                   /* offset of the next byte expected; a higher one means a gap */
};

struct log_printer {
	struct cli *cli;
	bool only_stdout, only_stderr, times;
	struct log_stream streams[2];
	struct log_stream *cursor;       /* the stream with the unfinished line at the cursor, or NULL */
	struct buf out;
	uint64_t missing;                /* bytes missing in total; each gap is reported at its place */
	uint64_t skip;                   /* lines to skip before the wanted ones */
	bool damaged;
	struct arena arena;              /* holds the job's latest row */
};

static void put_time(struct log_printer *printer, int64_t wall_ms)
{
	char text[CLOCK_TEXT_SIZE];

	buf_add_str(&printer->out, printer->cli->out.style == STYLE_PLAIN ? clock_format_utc(wall_ms, text)
									 : when_format(wall_ms, clock_wall_ms(), text));
	buf_add_byte(&printer->out, ' ');
}

/* End an unfinished line, so that what follows (even the shell's prompt) begins a new one. */
static void end_line(struct log_printer *printer)
{
	if (printer->cursor == NULL)
		return;
	printer->cursor->inside = false;
	printer->cursor = NULL;
	buf_add_byte(&printer->out, '\n');
}

/* Print a whole line with its end, or a part of a line. */
static void put_text(struct log_printer *printer, int stream, struct slice text, int64_t wall_ms)
{
	const struct look *look = &printer->cli->out;
	bool red = stream == 1 && look->colour && look->terminal;

	if (printer->cursor != &printer->streams[stream])
		end_line(printer);
	if (printer->times && !printer->streams[stream].inside)
		put_time(printer, wall_ms);
	if (red)
		look_colour(look, COLOUR_RED, ATTR_PLAIN, &printer->out);
	if (look->terminal)
		text_escape(&printer->out, text,
			    TEXT_KEEP_NEWLINE | TEXT_KEEP_TAB | (look->colour ? TEXT_KEEP_COLOUR : 0));
	else
		buf_add_slice(&printer->out, text);
	if (red)
		look_plain(look, &printer->out);
	printer->streams[stream].inside = text.data[text.len - 1] != '\n';
	printer->cursor = printer->streams[stream].inside ? &printer->streams[stream] : NULL;
}

static void put_lines(struct log_printer *printer, int stream, int64_t wall_ms, bool all)
{
	struct buf *line = &printer->streams[stream].line;

	for (;;) {
		const uint8_t *end = line->len ? memchr(line->data, '\n', line->len) : NULL;
		size_t len = end ? (size_t)(end - line->data) + 1 : line->len;

		if (len == 0 || (end == NULL && !all && len < LINE_LONGEST))
			return;
		put_text(printer, stream, slice_make(line->data, len), wall_ms);
		buf_drop(line, len);
	}
}

static void put_rest(struct log_printer *printer)
{
	for (int stream = 0; stream < 2; stream++)
		put_lines(printer, stream, clock_wall_ms(), true);
	cli_print(printer->cli, &printer->out);
}

/*
 * Report missing bytes at their place. Bytes that the live tail skipped may still come with the kept end of the log:
 * don't count them.
 */
static void put_gap(struct log_printer *printer, int stream, uint64_t bytes, bool live_tail)
{
	put_rest(printer);
	end_line(printer);
	cli_print(printer->cli, &printer->out);
	cli_note(printer->cli, "[%" PRIu64 " bytes %s%s]", bytes,
		 live_tail ? "skipped: the job writes more than its log keeps, and the next lines are its newest output" : "dropped",
		 stream ? " of its standard error" : "");
	printer->missing += live_tail ? 0 : bytes;
}

static void skip_lines(struct log_printer *printer, struct slice *text)
{
	while (printer->skip > 0 && text->len > 0) {
		const uint8_t *end = memchr(text->data, '\n', text->len);
		size_t len = end ? (size_t)(end + 1 - text->data) : text->len;

		printer->skip -= end != NULL;
		*text = slice_make(text->data + len, text->len - len);
	}
}

static void put_piece(struct log_printer *printer, const struct rec_output *piece, bool live_tail)
{
	int stream = piece->stream == 2;
	struct log_stream *state = &printer->streams[stream];
	struct slice text = piece->data;
	uint64_t end = piece->offset + text.len;

	if ((printer->only_stdout && stream == 1) || (printer->only_stderr && stream == 0) || text.len == 0)
		return;
	/* The kept end of the log may overlap with live tail that was already printed: print only the new part. */
	if (state->known && end <= state->next)
		return;
	if (state->known && piece->offset < state->next)
		text = slice_make(text.data + (state->next - piece->offset), (size_t)(end - state->next));
	else if (state->known && piece->offset > state->next)
		put_gap(printer, stream, piece->offset - state->next, live_tail);
	state->known = true;
	state->next = end;
	skip_lines(printer, &text);
	if (!printer->cli->out.terminal && !printer->times) {
		buf_add_slice(&printer->out, text);
		return;
	}
	buf_add_slice(&state->line, text);
	put_lines(printer, stream, piece->wall_ms, false);
}

/* Report that the log's file is damaged. What can be read is printed. */
static void put_damage(struct log_printer *printer, struct slice what)
{
	struct buf text = { 0 };

	put_rest(printer);
	end_line(printer);
	cli_print(printer->cli, &printer->out);
	text_escape(&text, what, TEXT_KEEP_NONE);
	cli_note(printer->cli, "[%s]", buf_cstr(&text));
	buf_free(&text);
	printer->damaged = true;
	/* Damage: the number of missing bytes in each stream is unknown. */
	printer->streams[0].known = printer->streams[1].known = false;
}

static void finish_line(struct log_printer *printer)
{
	end_line(printer);
	cli_print(printer->cli, &printer->out);
}

/* Print one attempt's output up to its current end. */
static enum err print_some(struct log_printer *printer, struct log_reader *reader)
{
	struct arena arena = { 0 };
	struct msg_log_data data = { 0 };
	enum err err;

	do {
		arena_reset(&arena);
		err = log_read_some(printer->cli, reader, &arena, &data);
		for (size_t i = 0; err == ERR_NONE && i < data.pieces.n; i++)
			put_piece(printer, &data.pieces.at[i], false);
		if (err == ERR_NONE && data.damage.len > 0)
			put_damage(printer, data.damage);
		for (size_t i = 0; err == ERR_NONE && i < data.live_tail.n; i++)
			put_piece(printer, &data.live_tail.at[i], true);
		cli_print(printer->cli, &printer->out);
	} while (err == ERR_NONE && !data.end);
	arena_free(&arena);
	return err;
}

/* With follow, wait until a lost master is back and continue; otherwise return the error. */
static enum err survive(struct cli *cli, enum err err, bool follow)
{
	if (err != ERR_UNREACHABLE || !follow)
		return err;
	cli_note(cli, "[the connection to the master is lost; waiting for the master]");
	return cli_reconnect(cli, RECONNECT_MS);
}

static void start_streams(struct log_printer *printer, bool from_beginning)
{
	for (int i = 0; i < 2; i++) {
		printer->streams[i].known = from_beginning;
		printer->streams[i].next = 0;
	}
}

/* Print until the job has ended and all its output has come. Without follow, wait only a moment for late output. */
static enum err print_attempts(struct log_printer *printer, const struct selector *selector,
			       struct rec_job_row *job, bool follow, uint64_t lines)
{
	struct log_reader reader = { .run = job->run, .job = job->job, .epoch = job->epoch };
	struct arena *arena = &printer->arena;
	int64_t ended_ns = 0;
	unsigned wanted = printer->only_stdout ? 1 : printer->only_stderr ? 2 : 3;
	enum err err = ERR_NONE;

	if (lines != UINT64_MAX)
		err = log_seek_lines(printer->cli, &reader, lines, UINT64_MAX, wanted, &printer->skip);
	if (err != ERR_NONE)
		return err;
	start_streams(printer, reader.offset == 0);
	for (;;) {
		bool terminal = state_terminal(job_state_checked(job->state));
		uint64_t before = reader.received;

		err = print_some(printer, &reader);
		if (err != ERR_NOT_FOUND && (err = survive(printer->cli, err, follow)) != ERR_NONE)
			return err;
		if (reader.received != before)
			ended_ns = 0;
		if (terminal || !follow) {
			if (!terminal || log_read_all(&reader, job->out_bytes))
				break;
			if (ended_ns == 0)
				ended_ns = clock_mono_ns();
			if (clock_mono_ns() - ended_ns > LATE_MS * NS_PER_MS)
				break;
		}
		if (reader.received == before)
			put_rest(printer);
		arena_reset(arena);
		err = cli_pause(printer->cli, PAUSE_MS);
		if (err == ERR_NONE)
			err = survive(printer->cli, cli_query_job(printer->cli, selector, arena, job), follow);
		if (err != ERR_NONE)
			return err;
		if (job->epoch != reader.epoch) {
			put_rest(printer);
			finish_line(printer);
			if (reader.received > 0)
				cli_note(printer->cli, "[try %" PRIu64 "]", job->tries);
			reader = (struct log_reader){ .run = job->run, .job = job->job, .epoch = job->epoch };
			start_streams(printer, true);
			printer->missing = printer->skip = 0;
		}
	}
	put_rest(printer);
	finish_line(printer);
	if (reader.received == 0 && printer->cli->out.terminal)
		cli_note(printer->cli, "[the job wrote nothing]");
	if (reader.dropped > printer->missing && lines == UINT64_MAX)
		cli_note(printer->cli, "[%" PRIu64 " bytes dropped]", reader.dropped - printer->missing);
	return ERR_NONE;
}

/* The person left before the job ended: print the command to come back. */
static void note_running(struct cli *cli, const struct selector *selector)
{
	struct buf name = { 0 };

	text_escape(&name, selector->job, TEXT_KEEP_NONE);
	cli_note(cli, "still running: titan logs -f %" PRIu64 "/%s, stop: titan cancel %" PRIu64, selector->run,
		 buf_cstr(&name), selector->run);
	buf_free(&name);
}

static void was_pruned(struct cli *cli, const struct selector *selector, int64_t wall_ms)
{
	char when[CLOCK_TEXT_SIZE];

	error_set(&cli->error, ERR_PRUNED, "the output of %" PRIu64 "/%.*s was pruned on %.10s", selector->run,
		  (int)selector->job.len, (const char *)selector->job.data, clock_format_utc(wall_ms, when));
	error_next(&cli->error, "titan show %" PRIu64, selector->run);
}

/* A sub-run job has no output of its own: point to the jobs of its sub-run. */
static int fail_subrun(struct cli *cli, const struct selector *selector, const struct rec_job_row *job)
{
	error_set(&cli->error, ERR_INVALID, "%" PRIu64 "/%.*s has no output, because it runs as a sub-run",
		  selector->run, (int)selector->job.len, (const char *)selector->job.data);
	if (job->child != 0)
		error_next(&cli->error, "titan show %" PRIu64, job->child);
	return cli_fail(cli);
}

int logs_one(struct cli *cli, const struct logs_options *options, const struct selector *selector)
{
	struct log_printer printer = {
		.cli = cli, .only_stdout = options->only_stdout, .only_stderr = options->only_stderr, .times = options->times,
	};
	struct rec_job_row job;
	enum err err;

	if (cli_query_job(cli, selector, &cli->arena, &job) != ERR_NONE)
		return cli_fail(cli);
	if (job.child_jobs > 0)
		return fail_subrun(cli, selector, &job);
	if (job.log_gone_ms > 0) {
		was_pruned(cli, selector, job.log_gone_ms);
		return cli_fail(cli);
	}
	err = print_attempts(&printer, selector, &job, options->follow, options->tail);
	for (int i = 0; i < 2; i++)
		buf_free(&printer.streams[i].line);
	buf_free(&printer.out);
	arena_free(&printer.arena);
	if (err == ERR_INTERRUPTED) {
		note_running(cli, selector);
		return err_exit_status(err);
	}
	if (err == ERR_NONE && printer.damaged)
		return err_exit_status(ERR_DAMAGED);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}
