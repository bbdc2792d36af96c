/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints the output of a followed run in the order of its jobs: what jobs wrote to standard output goes to standard
 * output, the rest to standard error. The output of a run's only job is printed as it comes; with several jobs, each
 * one's is printed when it has ended and all before it are printed. On a terminal, text from jobs is escaped.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/logread.h"
#include "cli/follow/follow_internal.h"
#include "cli/session/output.h"
#include "cli/show/row_words.h"

#define LATE_MS 2000                     /* how long to wait for output of a job that has ended */
#define PAUSE_MS 20
#define RECONNECT_MS 60000
#define LINE_LONGEST 8192                /* on a terminal a longer line is printed in parts */

struct follow_stream {
	struct buf text; /* text not printed yet: on a terminal only whole lines are escaped and printed */
	uint64_t next;                   /* offset of the next byte expected; a higher one means a gap */
};

struct follow_output {
	size_t next;                     /* index of the job whose output comes next */
	struct log_reader reader;
	bool fresh;                      /* the attempt of the present job was chosen, and reader reads its log */
	int64_t late_ns;                 /* when the ended job was first found to lack some output; 0: not yet */
	struct follow_stream streams[2];
};

static const struct look *look_of(const struct follow *follow, int stream)
{
	return stream == 0 ? &follow->cli->out : &follow->cli->err;
}

static void put(struct follow *follow, int stream, struct buf *text)
{
	if (stream == 0)
		cli_print(follow->cli, text);
	else
		cli_tell(follow->cli, buf_slice(text));
	buf_clear(text);
}

/* Print all complete lines; with all, also an unfinished one. */
static void put_stream(struct follow *follow, int stream, bool all)
{
	struct buf *text = &follow->output->streams[stream].text, shown = { 0 };
	const struct look *look = look_of(follow, stream);
	size_t len = text->len;

	if (!look->terminal) {
		put(follow, stream, text);
		return;
	}
	while (!all && len > 0 && text->data[len - 1] != '\n')
		len--;
	if (len == 0 && text->len >= LINE_LONGEST)
		len = text->len;
	if (len == 0)
		return;
	text_escape(&shown, slice_make(text->data, len),
		    TEXT_KEEP_NEWLINE | TEXT_KEEP_TAB | (look->colour ? TEXT_KEEP_COLOUR : 0));
	look_plain(look, &shown);
	put(follow, stream, &shown);
	buf_drop(text, len);
	buf_free(&shown);
}

static void put_streams(struct follow *follow, bool all)
{
	for (int stream = 0; stream < 2; stream++)
		put_stream(follow, stream, all);
}

static void take_piece(struct follow *follow, const struct rec_output *piece)
{
	int stream = piece->stream == 2;
	struct follow_stream *state = &follow->output->streams[stream];
	struct slice text = piece->data;

	if (piece->offset > state->next) {
		put_stream(follow, stream, true);
		cli_note(follow->cli, "[%" PRIu64 " bytes%s dropped]", piece->offset - state->next,
			 stream ? " of standard error" : "");
	} else if (piece->offset + text.len <= state->next) {
		return;
	} else {
		text = slice_make(text.data + (state->next - piece->offset), (size_t)(piece->offset + text.len - state->next));
	}
	state->next = piece->offset + piece->data.len;
	buf_add_slice(&state->text, text);
}

/* Print the new output of the present job. A job that hasn't written anything has no log. */
static enum err read_on(struct follow *follow)
{
	struct follow_output *output = follow->output;
	uint64_t before = output->reader.received;
	struct arena arena = { 0 };
	struct msg_log_data data = { 0 };
	enum err err = cli_connect(&follow->side);

	while (err == ERR_NONE && !data.end) {
		arena_reset(&arena);
		err = log_read_some(&follow->side, &output->reader, &arena, &data);
		for (size_t i = 0; err == ERR_NONE && i < data.pieces.n; i++)
			take_piece(follow, &data.pieces.at[i]);
		if (err == ERR_NONE && data.damage.len > 0)
			cli_note(follow->cli, "[%.*s]", (int)data.damage.len, (const char *)data.damage.data);
		put_streams(follow, false);
	}
	if (output->reader.received == before)
		put_streams(follow, true);
	arena_free(&arena);
	return err == ERR_NOT_FOUND ? ERR_NONE : err;
}

static void begin_attempt(struct follow *follow, const struct rec_job_row *row)
{
	struct follow_output *output = follow->output;

	put_streams(follow, true);
	if (output->fresh && output->reader.received > 0)
		cli_note(follow->cli, "[try %" PRIu64 "]", row->tries);
	output->reader = (struct log_reader){ .run = row->run, .job = row->job, .epoch = row->epoch };
	output->fresh = true;
	output->late_ns = 0;
	for (int stream = 0; stream < 2; stream++)
		output->streams[stream].next = 0;
}

/* Is more output of this ended job on its way? */
static bool is_late(struct follow_output *output, const struct rec_job_row *row)
{
	if (log_read_all(&output->reader, row->out_bytes))
		return false;
	if (output->late_ns == 0)
		output->late_ns = clock_mono_ns();
	return clock_mono_ns() - output->late_ns < LATE_MS * NS_PER_MS;
}

/* Print the output of the job that is next, as far as it has come. *ret_done: all of it was printed. */
static enum err output_job(struct follow *follow, const struct followed_job *job, bool *ret_done)
{
	struct follow_output *output = follow->output;
	bool terminal = state_terminal(job_state_checked(job->row.state));
	enum err err;

	*ret_done = false;
	if (!terminal && follow->job_count > 1)
		return ERR_NONE;
	if (job->row.epoch != 0 && (!output->fresh || output->reader.epoch != job->row.epoch))
		begin_attempt(follow, &job->row);
	if (output->fresh && (!terminal || !log_read_all(&output->reader, job->row.out_bytes))) {
		err = read_on(follow);
		if (err != ERR_NONE)
			return err;
	}
	*ret_done = terminal && !(output->fresh && is_late(output, &job->row));
	return ERR_NONE;
}

void output_begin(struct follow *follow)
{
	follow->output = mem_zalloc(sizeof(*follow->output));
}

enum err output_step(struct follow *follow)
{
	struct follow_output *output = follow->output;

	while (output->next < follow->job_count && follow->jobs[output->next].name != NULL) {
		const struct followed_job *job = &follow->jobs[output->next];
		bool done;
		enum err err = output_job(follow, job, &done);

		if (err == ERR_UNREACHABLE) {
			client_close(follow->side.client);
			follow->side.client = NULL;
			return ERR_NONE;
		}
		if (err != ERR_NONE)
			follow->cli->error = follow->side.error;
		if (err != ERR_NONE || !done)
			return err;
		put_streams(follow, true);
		show_failure(follow, job);
		output->fresh = false;
		output->late_ns = 0;
		output->next++;
	}
	return ERR_NONE;
}

enum err output_rest(struct follow *follow)
{
	int64_t until_ns = clock_mono_ns() + RECONNECT_MS * NS_PER_MS;
	enum err err = output_step(follow);

	while (err == ERR_NONE && follow->output->next < follow->job_count && clock_mono_ns() < until_ns) {
		size_t before = follow->output->next;

		err = cli_pause(follow->cli, PAUSE_MS);
		if (err == ERR_NONE)
			err = output_step(follow);
		if (follow->output->next != before)
			until_ns = clock_mono_ns() + RECONNECT_MS * NS_PER_MS;
	}
	return err;
}

void output_end(struct follow *follow)
{
	put_streams(follow, true);
	for (int stream = 0; stream < 2; stream++)
		buf_free(&follow->output->streams[stream].text);
	mem_free(follow->output);
}
