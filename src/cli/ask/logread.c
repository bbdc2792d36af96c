/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the output of jobs with LOG_READ. A result may arrive before the job's last output, so readers wait for that.
 */
#include "cli/ask/logread.h"

#include "base/clock.h"
#include "cli/ask/ask.h"

#define TAIL_BYTES 16384
#define PAGE_BYTES 65536
#define LATE_MS 2000
#define PAUSE_MS 20

enum err log_read_some(struct cli *cli, struct log_reader *reader, struct arena *arena, struct msg_log_data *ret)
{
	struct msg_log_read msg = {
		.run = reader->run,
		.job = reader->job,
		.epoch = reader->epoch,
		.offset = reader->offset,
		.newest = reader->newest,
	};
	struct msg_log_data data;
	enum err err = cli_call(cli, OP_LOG_READ, &msg, OP_LOG_DATA, arena, &data);

	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < data.pieces.n; i++)
		reader->received += data.pieces.at[i].data.len;
	reader->kept = data.kept;
	reader->dropped = data.dropped;
	reader->newest = data.newest;
	/*
	 * An answer that doesn't move the offset counts as the end; otherwise a faulty master could make the reader ask
	 * for ever.
	 */
	if (data.offset <= reader->offset)
		data.end = true;
	else
		reader->offset = data.offset;
	*ret = data;
	return ERR_NONE;
}

bool log_read_all(const struct log_reader *reader, uint64_t out_bytes)
{
	return reader->kept + reader->dropped >= out_bytes;
}

/* Count the lines that end in the page before *end. Set *end to the start of that page. */
static enum err count_back(struct cli *cli, const struct log_reader *reader, uint64_t *end, unsigned wanted,
			   uint64_t *ret_lines, bool *ret_open)
{
	struct msg_log_read msg = {
		.run = reader->run, .job = reader->job, .epoch = reader->epoch, .offset = *end, .back = PAGE_BYTES,
	};
	uint64_t start = UINT64_MAX, lines = 0;
	struct arena arena = { 0 };
	struct msg_log_data data;
	bool open = false;
	enum err err;

	do {
		arena_reset(&arena);
		err = cli_call(cli, OP_LOG_READ, &msg, OP_LOG_DATA, &arena, &data);
		if (err != ERR_NONE)
			break;
		start = start == UINT64_MAX ? data.start : start;
		for (size_t i = 0; i < data.pieces.n; i++) {
			struct slice text = data.pieces.at[i].data;

			if (!(wanted & data.pieces.at[i].stream) || text.len == 0)
				continue;
			for (size_t at = 0; at < text.len; at++)
				lines += text.data[at] == '\n';
			open = text.data[text.len - 1] != '\n';
		}
		/* An answer that doesn't move the offset would make the reader ask for ever. */
		if (data.offset <= msg.offset && msg.back == 0)
			break;
		msg.offset = data.offset;
		msg.back = 0;
	} while (!data.end && data.offset < *end);
	arena_free(&arena);
	if (err != ERR_NONE)
		return err;
	*end = start;
	*ret_lines = lines;
	*ret_open = open;
	return ERR_NONE;
}

enum err log_seek_lines(struct cli *cli, struct log_reader *reader, uint64_t lines, uint64_t most, unsigned wanted,
			uint64_t *ret_skip)
{
	uint64_t at = UINT64_MAX, found = 0, pages = most / PAGE_BYTES, here, before;
	bool last = true, open;
	enum err err;

	do {
		before = at;
		err = count_back(cli, reader, &at, wanted, &here, &open);
		if (err != ERR_NONE)
			return err;
		/* A last line without a newline counts too. */
		found += here + (last && open);
		last = false;
	} while (found <= lines && at > 0 && at < before && pages-- > 0);
	reader->offset = at;
	*ret_skip = found > lines ? found - lines : 0;
	return ERR_NONE;
}

/* Drop the front of a text that grows too long: only its end is wanted. */
static void keep_end(struct buf *text)
{
	if (text->len > 2 * TAIL_BYTES)
		buf_drop(text, text->len - TAIL_BYTES);
}

/* Drop the first *skip lines, and count *skip down. */
static void skip_lines(struct buf *text, uint64_t *skip)
{
	while (*skip > 0 && text->len > 0) {
		const uint8_t *end = memchr(text->data, '\n', text->len);

		*skip -= end != NULL;
		buf_drop(text, end ? (size_t)(end + 1 - text->data) : text->len);
	}
}

enum err log_tail(struct cli *cli, const struct rec_job_row *job, size_t lines, struct buf *out)
{
	const struct log_reader fresh = { .run = job->run, .job = job->job, .epoch = job->epoch };
	int64_t until = clock_mono_ns() + LATE_MS * NS_PER_MS;
	struct log_reader reader = fresh;
	struct arena arena = { 0 };
	struct buf text = { 0 };
	enum err err;

	for (;;) {
		struct msg_log_data data = { 0 };
		uint64_t skip = 0;

		buf_clear(&text);
		reader = fresh;
		err = log_seek_lines(cli, &reader, lines, 2 * PAGE_BYTES, 3, &skip);
		while (err == ERR_NONE && !data.end) {
			arena_reset(&arena);
			err = log_read_some(cli, &reader, &arena, &data);
			for (size_t i = 0; err == ERR_NONE && i < data.pieces.n; i++) {
				buf_add_slice(&text, data.pieces.at[i].data);
				skip_lines(&text, &skip);
				keep_end(&text);
			}
		}
		if (err != ERR_NONE || log_read_all(&reader, job->out_bytes) || clock_mono_ns() >= until)
			break;
		err = cli_pause(cli, PAUSE_MS);
		if (err != ERR_NONE)
			break;
	}
	if (err == ERR_NONE && text.len > 0) {
		size_t start = text.len > TAIL_BYTES ? text.len - TAIL_BYTES : 0;

		buf_add(out, text.data + start, text.len - start);
		if (text.data[text.len - 1] != '\n')
			buf_add_byte(out, '\n');
	}
	buf_free(&text);
	arena_free(&arena);
	return err;
}
