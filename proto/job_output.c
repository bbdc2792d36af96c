/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "proto/job_output.h"

#include "base/arena.h"
#include "base/text.h"
#include "proto/limits.h"

static const char *const fault_texts[] = {
#define X(NAME, text) text,
	OUTPUT_FAULTS(X)
#undef X
};

const char *output_fault_text(uint64_t fault)
{
	return fault < OUTPUT_FAULT_COUNT ? fault_texts[fault] : "it is wrong in a way that this version of titan doesn't know";
}

struct output_reader {
	struct slice text;
	size_t at;
	uint64_t line;                   /* number of the line before at */
	bool cut;
	struct arena arena;
	struct rec_job_output *list;
	size_t count, cap;
	size_t bytes;
};

static bool next_line(struct output_reader *reader, struct slice *ret)
{
	const uint8_t *start = reader->text.data + reader->at, *end;
	size_t left = reader->text.len - reader->at;

	if (left == 0)
		return false;
	end = memchr(start, '\n', left);
	*ret = slice_make(start, end ? (size_t)(end - start) : left);
	reader->at += ret->len + (end != NULL);
	reader->line++;
	return true;
}

/* Read the lines up to the one that ends the value. False: there is none. */
static bool read_lines(struct output_reader *reader, struct slice end, struct slice *ret)
{
	size_t from = reader->at;
	struct slice line;

	for (size_t until = from; next_line(reader, &line); until = reader->at) {
		if (!slice_eq(line, end))
			continue;
		*ret = slice_make(reader->text.data + from, until > from ? until - from - 1 : 0);
		return true;
	}
	return false;
}

/* Split NAME=VALUE or NAME<<END, whichever sign comes first. */
static bool split_line(struct slice line, struct slice *name, struct slice *rest, bool *lines)
{
	const uint8_t *equals = line.len > 0 ? memchr(line.data, '=', line.len) : NULL;
	const uint8_t *arrows = line.len > 0 ? memmem(line.data, line.len, "<<", 2) : NULL;
	const uint8_t *sign;

	*lines = arrows && (!equals || arrows < equals);
	sign = *lines ? arrows : equals;
	if (!sign)
		return false;
	*name = slice_make(line.data, (size_t)(sign - line.data));
	sign += *lines ? 2 : 1;
	*rest = slice_make(sign, (size_t)(line.data + line.len - sign));
	return !*lines || rest->len > 0;
}

static void keep(struct output_reader *reader, const struct rec_job_output *output)
{
	size_t at = 0;

	while (at < reader->count && !slice_eq(reader->list[at].name, output->name))
		at++;
	/* A job declares no more outputs than this, so the core refuses one of these. */
	if (at > LIMIT_OUTPUTS_MAX)
		return;
	if (at == reader->count && reader->count == reader->cap) {
		size_t cap = reader->cap ? 2 * reader->cap : 16;
		struct rec_job_output *grown = arena_zalloc(&reader->arena, cap, sizeof(*grown));

		if (reader->count > 0)
			memcpy(grown, reader->list, reader->count * sizeof(*grown));
		reader->list = grown;
		reader->cap = cap;
	}
	reader->bytes += output->name.len + output->value.len;
	if (at < reader->count)
		reader->bytes -= reader->list[at].name.len + reader->list[at].value.len;
	else
		reader->count++;
	reader->list[at] = *output;
}

/* Read one output that begins with this line. */
static enum output_fault read_output(struct output_reader *reader, struct slice line, struct rec_job_output *output)
{
	struct slice rest;
	bool lines;

	output->line = reader->line;
	if (!split_line(line, &output->name, &rest, &lines))
		return OUTPUT_SYNTAX;
	if (!text_is_name(output->name)) {
		output->name.len = 0;
		return OUTPUT_NAME;
	}
	output->value = rest;
	if (lines && !read_lines(reader, rest, &output->value))
		return reader->cut ? OUTPUT_JOB_FULL : OUTPUT_OPEN;
	if (output->value.len > LIMIT_OUTPUT_VALUE_MAX)
		return OUTPUT_LONG;
	keep(reader, output);
	return reader->bytes > LIMIT_OUTPUT_JOB_MAX ? OUTPUT_JOB_FULL : OUTPUT_NONE;
}

void job_outputs_read(struct slice text, bool cut, struct buf *out)
{
	struct output_reader reader = { .text = text, .cut = cut };
	struct rec_job_output output = { 0 };
	struct slice line;

	while (output.fault == OUTPUT_NONE && next_line(&reader, &line)) {
		if (line.len == 0)
			continue;
		output = (struct rec_job_output){ 0 };
		output.fault = read_output(&reader, line, &output);
	}
	if (output.fault == OUTPUT_NONE && cut)
		output.fault = OUTPUT_JOB_FULL;
	if (output.fault != OUTPUT_NONE) {
		output.value = (struct slice){ 0 };
		record_encode(out, REC_job_output, &output);
	}
	for (size_t i = 0; output.fault == OUTPUT_NONE && i < reader.count; i++)
		record_encode(out, REC_job_output, &reader.list[i]);
	arena_free(&reader.arena);
}

bool job_output_next(struct slice *rest, struct arena *arena, struct rec_job_output *ret)
{
	return rest->len > 0 && record_decode(REC_job_output, rest, arena, ret, NULL) == ERR_NONE;
}
