/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output of jobs, from LOG_READ. A result may come before the last of its output: readers wait for that. */
#include "cli/logread.h"

#include "base/clock.h"

#define TAIL_BYTES 16384
#define LATE_MS 2000
#define PAUSE_MS 20

enum err log_read_some(struct cli *cli, struct log_reader *reader, struct arena *arena, struct msg_log_data *ret)
{
	struct msg_log_read msg = {
		.run = reader->run,
		.job = reader->job,
		.epoch = reader->epoch,
		.offset = reader->offset,
	};
	struct msg_log_data data;
	enum err err = cli_call(cli, OP_LOG_READ, &msg, OP_LOG_DATA, arena, &data);

	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < data.pieces.n; i++)
		reader->received += data.pieces.at[i].data.len;
	reader->dropped = data.dropped;
	/* An answer that moves nowhere and claims more would keep us asking. */
	if (data.offset <= reader->offset)
		data.end = true;
	else
		reader->offset = data.offset;
	*ret = data;
	return ERR_NONE;
}

bool log_read_all(const struct log_reader *reader, uint64_t out_bytes)
{
	return reader->received + reader->dropped >= out_bytes;
}

/* Only the end is of interest: what is in front of it goes as it grows. */
static void keep_end(struct buf *text)
{
	if (text->len > 2 * TAIL_BYTES)
		buf_drop(text, text->len - TAIL_BYTES);
}

static size_t last_lines(const struct buf *text, size_t lines)
{
	size_t at = text->len;

	if (at > 0 && text->data[at - 1] == '\n')
		at--;
	for (; at > 0; at--)
		if (text->data[at - 1] == '\n' && --lines == 0)
			return at;
	return 0;
}

enum err log_tail(struct cli *cli, const struct rec_job_row *job, size_t lines, struct buf *out)
{
	struct log_reader reader = { .run = job->run, .job = job->job, .epoch = job->epoch };
	int64_t until = clock_mono_ns() + LATE_MS * NS_PER_MS;
	struct arena arena = { 0 };
	struct buf text = { 0 };
	enum err err;

	for (;;) {
		struct msg_log_data data;

		arena_reset(&arena);
		err = log_read_some(cli, &reader, &arena, &data);
		if (err != ERR_NONE)
			break;
		for (size_t i = 0; i < data.pieces.n; i++) {
			buf_add_slice(&text, data.pieces.at[i].data);
			keep_end(&text);
		}
		if (!data.end)
			continue;
		if (log_read_all(&reader, job->out_bytes) || clock_mono_ns() >= until)
			break;
		err = cli_pause(cli, PAUSE_MS);
		if (err != ERR_NONE)
			break;
	}
	if (err == ERR_NONE && text.len > 0) {
		size_t start = last_lines(&text, lines);

		buf_add(out, text.data + start, text.len - start);
		if (text.data[text.len - 1] != '\n')
			buf_add_byte(out, '\n');
	}
	buf_free(&text);
	arena_free(&arena);
	return err;
}
