/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a log in pages from its end backwards, until the lines are older than wanted. */
#include "cli/ask/logtail.h"

#include "base/mem.h"
#include "cli/ask/ask.h"

#define PAGE_BYTES 65536
#define SEEK_BYTES 262144                /* the most that a master puts in an answer */

int64_t log_times_oldest(const struct log_times *times)
{
	return times->count == times->most && times->most > 0 ? times->at[0] : INT64_MIN;
}

void log_times_free(struct log_times *times)
{
	mem_free(times->at);
	*times = (struct log_times){ 0 };
}

static void sift_down(struct log_times *times)
{
	int64_t value = times->at[0];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < times->count && times->at[child + 1] < times->at[child])
			child++;
		if (child >= times->count || times->at[child] >= value)
			break;
		times->at[at] = times->at[child];
		at = child;
	}
	times->at[at] = value;
}

static void times_add(struct log_times *times, int64_t wall_ms)
{
	size_t at;

	if (times->at == NULL)
		times->at = mem_array(times->most, sizeof(*times->at));
	if (times->count == times->most) {
		if (wall_ms > times->at[0]) {
			times->at[0] = wall_ms;
			sift_down(times);
		}
		return;
	}
	for (at = times->count++; at > 0 && times->at[(at - 1) / 2] > wall_ms; at = (at - 1) / 2)
		times->at[at] = times->at[(at - 1) / 2];
	times->at[at] = wall_ms;
}

/* Take the lines that end in these records. */
static void take_records(struct log_times *times, const struct rec_output *at, size_t count, unsigned wanted, bool last)
{
	for (size_t i = 0; i < count; i++) {
		struct slice text = at[i].data;
		size_t lines = 0;

		if (!(wanted & at[i].stream) || text.len == 0)
			continue;
		for (size_t k = 0; k < text.len; k++)
			lines += text.data[k] == '\n';
		/* A last line without a newline counts too. */
		lines += last && i + 1 == count && text.data[text.len - 1] != '\n';
		for (size_t k = 0; k < lines && k < times->most; k++)
			times_add(times, at[i].wall_ms);
	}
}

/* Read the page before *end, and set *end to its start. *ret_first_ms: time of its first record. */
static enum err page_back(struct cli *cli, const struct log_reader *reader, uint64_t back, uint64_t *end,
			  struct log_times *times, unsigned wanted, int64_t *ret_first_ms)
{
	struct msg_log_read msg = {
		.run = reader->run, .job = reader->job, .epoch = reader->epoch, .offset = *end, .back = back,
	};
	uint64_t start = UINT64_MAX, until = *end;
	struct arena arena = { 0 };
	struct msg_log_data data;
	enum err err;

	*ret_first_ms = INT64_MAX;
	do {
		arena_reset(&arena);
		err = cli_call(cli, OP_LOG_READ, &msg, OP_LOG_DATA, &arena, &data);
		if (err != ERR_NONE)
			break;
		if (start == UINT64_MAX) {
			start = data.start;
			*ret_first_ms = data.pieces.n > 0 ? data.pieces.at[0].wall_ms : INT64_MAX;
		}
		if (times)
			take_records(times, data.pieces.at, data.pieces.n, wanted, until == UINT64_MAX && data.end);
		/* An answer that doesn't move the offset would make the reader ask for ever. */
		if (!times || (data.offset <= msg.offset && msg.back == 0))
			break;
		msg.offset = data.offset;
		msg.back = 0;
	} while (!data.end && data.offset < until);
	arena_free(&arena);
	if (err == ERR_NONE)
		*end = start;
	return err;
}

enum err log_times_take(struct cli *cli, const struct log_reader *reader, unsigned wanted, struct log_times *times)
{
	uint64_t end = UINT64_MAX, before;
	int64_t first_ms;
	enum err err;

	do {
		before = end;
		err = page_back(cli, reader, PAGE_BYTES, &end, times, wanted, &first_ms);
		/* An attempt without a log has no lines. */
		if (err != ERR_NONE)
			return err == ERR_NOT_FOUND ? ERR_NONE : err;
	} while (end > 0 && end < before && first_ms >= log_times_oldest(times));
	return ERR_NONE;
}

enum err log_seek_time(struct cli *cli, struct log_reader *reader, int64_t wall_ms)
{
	uint64_t end = UINT64_MAX, before;
	int64_t first_ms;
	enum err err;

	do {
		before = end;
		err = page_back(cli, reader, SEEK_BYTES, &end, NULL, 3, &first_ms);
		if (err != ERR_NONE)
			return err == ERR_NOT_FOUND ? ERR_NONE : err;
	} while (end > 0 && end < before && first_ms >= wall_ms);
	reader->offset = end == UINT64_MAX ? 0 : end;
	return ERR_NONE;
}
