/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes JSON. A misuse (a value without its key, levels left open) stops the program. */
#include "cli/show/json.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/text.h"

#define REPLACEMENT "\xef\xbf\xbd"

void json_begin(struct json *json, struct buf *out)
{
	*json = (struct json){ .out = out };
}

static void before_value(struct json *json)
{
	if (json->depth == 0)
		return;
	if (json->closer[json->depth - 1] == '}') {
		CHECK(json->keyed);
		json->keyed = false;
		return;
	}
	if (json->any[json->depth - 1])
		buf_add_byte(json->out, ',');
	json->any[json->depth - 1] = true;
}

static void open_level(struct json *json, char opener, char closer)
{
	CHECK(json->depth < JSON_DEPTH);
	before_value(json);
	buf_add_byte(json->out, (uint8_t)opener);
	json->closer[json->depth] = closer;
	json->any[json->depth] = false;
	json->depth++;
}

void json_object(struct json *json)
{
	open_level(json, '{', '}');
}

void json_array(struct json *json)
{
	open_level(json, '[', ']');
}

void json_end(struct json *json)
{
	CHECK(json->depth > 0);
	CHECK(!json->keyed);
	json->depth--;
	buf_add_byte(json->out, (uint8_t)json->closer[json->depth]);
}

/* Write a \u escape; a character above U+FFFF becomes a pair of surrogates. */
static void add_escape(struct buf *out, uint32_t code)
{
	if (code < 0x10000)
		buf_addf(out, "\\u%04x", (unsigned)code);
	else
		buf_addf(out, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
			 (unsigned)(0xdc00 + ((code - 0x10000) & 0x3ff)));
}

static bool is_plain(uint8_t byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* Write the first character of text, which isn't printable ASCII. Return its length in bytes. */
static size_t add_special(struct buf *out, struct slice text)
{
	uint32_t code;
	size_t len = text_next(text, &code, NULL);

	if (code == '"' || code == '\\') {
		buf_add_byte(out, '\\');
		buf_add_byte(out, (uint8_t)code);
	} else if (code == '\n') {
		buf_add_str(out, "\\n");
	} else if (code == '\t') {
		buf_add_str(out, "\\t");
	} else if (code == 0xfffd) {
		buf_add_str(out, REPLACEMENT);
	} else if (text_is_hidden(code)) {
		add_escape(out, code);
	} else {
		buf_add(out, text.data, len);
	}
	return len;
}

static void add_quoted(struct buf *out, struct slice text)
{
	size_t at = 0;

	buf_add_byte(out, '"');
	while (at < text.len) {
		size_t end = at;

		while (end < text.len && is_plain(text.data[end]))
			end++;
		buf_add(out, text.data + at, end - at);
		at = end;
		if (at < text.len)
			at += add_special(out, slice_make(text.data + at, text.len - at));
	}
	buf_add_byte(out, '"');
}

void json_key(struct json *json, const char *key)
{
	CHECK(json->depth > 0 && json->closer[json->depth - 1] == '}');
	CHECK(!json->keyed);
	if (json->any[json->depth - 1])
		buf_add_byte(json->out, ',');
	json->any[json->depth - 1] = true;
	add_quoted(json->out, slice_str(key));
	buf_add_byte(json->out, ':');
	json->keyed = true;
}

void json_text(struct json *json, struct slice text)
{
	before_value(json);
	add_quoted(json->out, text);
}

void json_string(struct json *json, const char *text)
{
	if (text == NULL)
		json_null(json);
	else
		json_text(json, slice_str(text));
}

void json_u64(struct json *json, uint64_t value)
{
	before_value(json);
	buf_addf(json->out, "%" PRIu64, value);
}

void json_i64(struct json *json, int64_t value)
{
	before_value(json);
	buf_addf(json->out, "%" PRId64, value);
}

void json_bool(struct json *json, bool value)
{
	before_value(json);
	buf_add_str(json->out, value ? "true" : "false");
}

void json_null(struct json *json)
{
	before_value(json);
	buf_add_str(json->out, "null");
}

void json_time(struct json *json, int64_t wall_ms)
{
	char text[CLOCK_TEXT_SIZE];

	if (wall_ms == 0)
		json_null(json);
	else
		json_string(json, clock_format_utc(wall_ms, text));
}
