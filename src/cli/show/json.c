/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes JSON. A misuse (a value without its key, levels left open) stops the program. */
#include "cli/show/json.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/text.h"

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

void json_key(struct json *json, const char *key)
{
	CHECK(json->depth > 0 && json->closer[json->depth - 1] == '}');
	CHECK(!json->keyed);
	if (json->any[json->depth - 1])
		buf_add_byte(json->out, ',');
	json->any[json->depth - 1] = true;
	text_add_json(json->out, slice_str(key));
	buf_add_byte(json->out, ':');
	json->keyed = true;
}

void json_text(struct json *json, struct slice text)
{
	before_value(json);
	text_add_json(json->out, text);
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
