/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "net/wordfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/io.h"

#define FILE_MAX ((size_t)32768)

static bool take_line(struct slice line, const struct word_field *fields, size_t count)
{
	const uint8_t *space = memchr(line.data, ' ', line.len);
	struct slice word, value;

	if (space == NULL)
		return false;
	word = slice_make(line.data, (size_t)(space - line.data));
	value = slice_make(space + 1, line.len - word.len - 1);
	for (size_t i = 0; i < count; i++) {
		if (!slice_eq(word, slice_str(fields[i].word)))
			continue;
		if (value.len >= fields[i].size || memchr(value.data, '\0', value.len) != NULL)
			return false;
		memcpy(fields[i].at, value.data, value.len);
		fields[i].at[value.len] = '\0';
		return true;
	}
	return false;
}

enum err words_read(struct slice text, const struct word_field *fields, size_t count, const char *what, struct error *error)
{
	const uint8_t *at = text.data, *end;

	for (size_t i = 0; i < count; i++)
		fields[i].at[0] = '\0';
	if (text.len == 0)
		return ERR_NONE;
	end = at + text.len;
	for (size_t number = 1; at < end && *at != '\n'; number++) {
		const uint8_t *line_end = memchr(at, '\n', (size_t)(end - at));
		struct slice line = slice_make(at, (size_t)((line_end ? line_end : end) - at));

		if (!take_line(line, fields, count))
			return error_set(error, ERR_INVALID, "%s: line %zu can't be understood", what, number);
		at += line.len + (line_end != NULL);
	}
	return ERR_NONE;
}

void words_write(const struct word_field *fields, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++)
		if (fields[i].at[0] != '\0')
			buf_addf(out, "%s %s\n", fields[i].word, fields[i].at);
}

enum err words_read_file(const char *path, const struct word_field *fields, size_t count, struct error *error)
{
	struct buf text = { 0 };
	int result = io_read_file(AT_FDCWD, path, FILE_MAX, &text);
	enum err err;

	if (result < 0)
		err = error_system(error, -result, "can't read %s", path);
	else
		err = words_read(buf_slice(&text), fields, count, path, error);
	buf_free(&text);
	return err;
}

enum err words_write_file(const char *path, const struct word_field *fields, size_t count, struct error *error)
{
	struct buf text = { 0 };
	int result;

	words_write(fields, count, &text);
	result = io_write_file(AT_FDCWD, path, text.data, text.len, 0600);
	buf_free(&text);
	return result < 0 ? error_system(error, -result, "can't write %s", path) : ERR_NONE;
}
