/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A part of the output of one attempt, as the master keeps it: a row of neighbouring chunks of the log file, the bytes of
 * both streams, and the lines in them. It grows at both ends and is cut by whole chunks. A line is known by its stream and
 * its offset there, which stay the same whatever is added or cut.
 */
#ifndef TITAN_TUI_LOG_WINDOW_H
#define TITAN_TUI_LOG_WINDOW_H

#include "base/buf.h"
#include "proto/message.h"

#define LOG_LINE_MAX 4096                /* most bytes of a line; a longer one is broken */

struct log_place {
	unsigned stream;                 /* 0: standard output, 1: standard error */
	uint64_t offset;                 /* in that stream */
};

struct log_line {
	struct log_place place;          /* of its first byte */
	uint64_t at;                     /* position of that byte among those that the window has of the stream */
	uint32_t len;
	bool whole;                      /* its newline has come, or it is as long as a line may be */
	int64_t wall_ms;
};

struct log_record {
	struct log_place place;
	uint32_t len;
	int64_t wall_ms;
};

struct log_chunk {
	uint64_t from, to;               /* positions in the log file */
	size_t records, bytes[2];
};

struct log_window {
	struct log_chunk *chunks;
	size_t chunk_count, chunk_cap;
	struct log_record *records;
	size_t record_count, record_cap;
	struct buf bytes[2];             /* of each stream, in order */
	uint64_t base[2];                /* position of the first of them; it falls when older ones are added */
	struct log_line *lines;          /* in the order of their first bytes */
	size_t line_count, line_cap;
	size_t open[2];                  /* index + 1 of the line to which further bytes of the stream belong; 0: none */
	bool known[2];                   /* whether the window has had bytes of the stream */
	uint64_t low[2], next[2];        /* offsets of the first byte of the stream, and of the one after its last */
	uint64_t added;                  /* number of lines that were added at the end */
};

void window_clear(struct log_window *window);
size_t window_bytes(const struct log_window *window);
uint64_t window_from(const struct log_window *window);   /* where the window begins and ends in the log file; 0: it is empty */
uint64_t window_to(const struct log_window *window);
/* Add pieces at the end; those that the window has already are skipped. until: stop at what this window has; or NULL. */
void window_append(struct log_window *window, uint64_t from, uint64_t to, const struct rec_output *pieces, size_t count,
		   const struct log_window *until);
/* Put all of another window before this one, and clear the other one. */
void window_prepend(struct log_window *window, struct log_window *before);
void window_cut_first(struct log_window *window);        /* cut the first chunk, or the last one */
void window_cut_last(struct log_window *window);
/* The index of the line with this place; line_count: it is before all lines of its stream. */
size_t window_find(const struct log_window *window, struct log_place place);
struct slice window_text(const struct log_window *window, const struct log_line *line);  /* raw bytes */
/* What a terminal would show of these bytes: those after the last carriage return, unless nothing follows it. */
struct slice line_last_state(struct slice text);

#endif
