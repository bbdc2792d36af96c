/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A writer for one JSON value; it takes care of commas and nesting. Bytes that aren't UTF-8 become U+FFFD. Control,
 * bidirectional and zero-width characters become \u escapes. So the output is always valid, and harmless on a terminal.
 */
#ifndef TITAN_CLI_JSON_H
#define TITAN_CLI_JSON_H

#include "base/buf.h"

#define JSON_DEPTH 16

struct json {
	struct buf *out;
	unsigned depth;
	char closer[JSON_DEPTH];         /* '}' or ']' of each open level */
	bool any[JSON_DEPTH];            /* the level already has a member */
	bool keyed;                      /* an object's key was written, and its value must follow */
};

void json_begin(struct json *json, struct buf *out);
void json_object(struct json *json);
void json_array(struct json *json);
void json_end(struct json *json);                        /* closes the innermost open level */
void json_key(struct json *json, const char *key);       /* write a key; required in an object before each value */
void json_text(struct json *json, struct slice text);
void json_string(struct json *json, const char *text);   /* NULL is written as null */
void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
void json_time(struct json *json, int64_t wall_ms);      /* writes "2026-11-18T14:02:09.120Z"; 0 is written as null */

#endif
