/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The characters of a one-line graph: blanks, comments, names, quoted values. Errors have their place. */
#include "lang/dagline_internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "proto/limits.h"

enum err dag_fail(struct dag_reader *reader, size_t at, size_t len, enum err code, const char *format, ...)
{
	char text[ERROR_TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	reader->spot = (struct dag_spot){ at, len ? len : 1 };
	reader->noted = false;
	return error_set(reader->error, code, "%s", text);
}

enum err dag_note(struct dag_reader *reader, enum err err)
{
	size_t at = reader->spot.at;

	if (err == ERR_NONE || reader->noted || reader->faults == NULL)
		return err;
	reader->noted = true;
	if (reader->spot.len > 0 && at >= reader->guessed.at && at < reader->guessed.at + reader->guessed.len)
		return ERR_NONE;
	faults_add(reader->faults, reader->spot, reader->error);
	return err;
}

int dag_peek(const struct dag_reader *reader)
{
	return reader->at < reader->text.len ? reader->text.data[reader->at] : -1;
}

void dag_skip(struct dag_reader *reader, bool lines)
{
	for (;;) {
		int byte = dag_peek(reader);

		if (byte == ' ' || byte == '\t' || byte == '\r' || (lines && byte == '\n')) {
			reader->at++;
		} else if (byte == '#') {
			while (dag_peek(reader) != '\n' && dag_peek(reader) != -1)
				reader->at++;
		} else {
			return;
		}
	}
}

bool dag_take(struct dag_reader *reader, const char *symbol)
{
	size_t len = strlen(symbol);

	if (reader->text.len - reader->at < len || memcmp(reader->text.data + reader->at, symbol, len) != 0)
		return false;
	reader->at += len;
	return true;
}

static bool in_name(const struct dag_reader *reader)
{
	int byte = dag_peek(reader);

	/* in "a->b" the name ends before the arrow */
	if (byte == '-')
		return reader->at + 1 >= reader->text.len || reader->text.data[reader->at + 1] != '>';
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
	       byte == '_' || byte == '.';
}

static enum err unexpected(struct dag_reader *reader, const char *what)
{
	uint32_t code;
	int width;
	size_t len;

	if (dag_peek(reader) == -1)
		return dag_fail(reader, reader->at, 1, ERR_SYNTAX, "%s is missing at the end", what);
	if (dag_peek(reader) == '\n')
		return dag_fail(reader, reader->at, 1, ERR_SYNTAX, "%s is missing at the end of the line", what);
	if (dag_peek(reader) == '?')
		return dag_fail(reader, reader->at, 1, ERR_SYNTAX, "'?' must be followed by the name of a gate: a -> "
			"?b -> c");
	if (dag_peek(reader) == '~')
		return dag_fail(reader, reader->at, 1, ERR_INVALID,
				"'~' is reserved for compensations, which this version doesn't have");
	len = text_next(slice_make(reader->text.data + reader->at, reader->text.len - reader->at), &code, &width);
	return dag_fail(reader, reader->at, len, ERR_SYNTAX, "%s is expected here, not '%.*s'", what, (int)len,
			(const char *)reader->text.data + reader->at);
}

enum err dag_take_name(struct dag_reader *reader, const char *what, struct slice *ret_name)
{
	size_t start = reader->at;
	struct slice name;

	while (in_name(reader))
		reader->at++;
	name = slice_make(reader->text.data + start, reader->at - start);
	if (name.len == 0)
		return unexpected(reader, what);
	if (name.len > LIMIT_NAME_MAX_LEN)
		return dag_fail(reader, start, name.len, ERR_TOO_LARGE, "a name may have at most %d bytes; this one "
			"has %zu",
				LIMIT_NAME_MAX_LEN, name.len);
	if (!text_is_name(name))
		return dag_fail(reader, start, name.len, ERR_SYNTAX,
				"a name must begin with a letter, a digit or '_'");
	*ret_name = name;
	return ERR_NONE;
}

/* Read a quoted text, after the opening quote. Double quotes know \n, \t, \" and \\; single quotes have no escapes. */
static enum err take_quoted(struct dag_reader *reader, char quote, struct buf *out)
{
	size_t start = reader->at - 1;

	for (;;) {
		int byte = dag_peek(reader);

		if (byte == -1)
			return dag_fail(reader, start, 1, ERR_SYNTAX, "this quote isn't closed");
		reader->at++;
		if (byte == quote)
			return ERR_NONE;
		if (byte == '\\' && quote == '"') {
			int next = dag_peek(reader);

			if (next == '"' || next == '\\' || next == 'n' || next == 't') {
				reader->at++;
				byte = next == 'n' ? '\n' : next == 't' ? '\t' : next;
			}
		}
		buf_add_byte(out, (uint8_t)byte);
	}
}

enum err dag_take_value(struct dag_reader *reader, const char *ends, struct slice *ret_value)
{
	struct buf out = { 0 };
	size_t start = reader->at;
	enum err err = ERR_NONE;

	for (;;) {
		int byte = dag_peek(reader);

		if (byte == -1 || byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n' || strchr(ends, byte) != NULL)
			break;
		reader->at++;
		if (byte != '\'' && byte != '"') {
			buf_add_byte(&out, (uint8_t)byte);
			continue;
		}
		err = take_quoted(reader, (char)byte, &out);
		if (err != ERR_NONE)
			break;
	}
	if (err == ERR_NONE && reader->at == start)
		err = unexpected(reader, "a value");
	if (err == ERR_NONE && out.len > LIMIT_COMMAND_MAX)
		err = dag_fail(reader, start, 1, ERR_TOO_LARGE, "a value may have at most %d bytes; this one has %zu",
			       LIMIT_COMMAND_MAX, out.len);
	if (err == ERR_NONE)
		*ret_value = arena_copy(reader->arena, buf_slice(&out));
	buf_free(&out);
	return err;
}
