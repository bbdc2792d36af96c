/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The JSON that commands print, as JSON Schema (draft 2020-12), one file for each command; and the columns of --plain
 * for the manual. Rows come from the tables of columns; the schemas of other output are written here.
 */
#include <stdio.h>

#include "cli/commands/outputs.h"
#include "cli/show/json.h"
#include "gen/gen.h"

struct other {                           /* the schema, as text, of output that isn't rows */
	const char *name, *schema;
};

#define INT "{\"type\":\"integer\"}"
#define TEXT "{\"type\":\"string\"}"
#define COUNTS "{\"type\":\"object\",\"additionalProperties\":" INT "}"
#define COUNTS_OR_NULL "{\"type\":[\"object\",\"null\"],\"additionalProperties\":" INT "}"
#define STORE_FILE                                                                                                      \
	"{\"type\":\"object\",\"additionalProperties\":false,"                                                           \
	"\"required\":[\"file\",\"store_version\",\"generation\",\"turn\",\"live_runs\",\"live_jobs\"],\"properties\":{"          \
	"\"file\":" TEXT ",\"store_version\":" INT ",\"generation\":" INT ",\"turn\":" INT ",\"live_runs\":" INT ",\"live_jobs\":" INT \
	",\"checksum\":{\"type\":\"boolean\"},\"kept\":" TEXT "}}"

static const struct other others[] = {
	{ "backup", STORE_FILE },
	{ "restore", STORE_FILE },
	{ "fsck", STORE_FILE },
	{ "version", "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"version\",\"protocol\"],\"properties\":{"
		     "\"version\":" TEXT ",\"protocol\":" INT "}}" },
	{ "metrics", "{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[" INT "," COUNTS "]}}" },
	{ "note", "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"note\"],\"properties\":{"
		  "\"note\":" TEXT "}}" },
	{ "error", "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"error\"],\"properties\":{\"error\":{"
		   "\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"code\",\"status\",\"text\",\"next\"],"
		   "\"properties\":{\"code\":" TEXT ",\"status\":" INT ",\"text\":" TEXT ",\"next\":{\"type\":[\"string\",\"null\"]},"
		   "\"file\":" TEXT ",\"line\":" INT ",\"column\":" INT "}}}}" },
};

static const char *const types[] = {
	[SHOWN_INT] = "\"type\":[\"integer\",\"null\"]",
	[SHOWN_TEXT] = "\"type\":[\"string\",\"null\"]",
	[SHOWN_STATE] = "\"type\":[\"string\",\"null\"]",
	[SHOWN_TIME] = "\"type\":[\"string\",\"null\"],\"format\":\"date-time\"",
	[SHOWN_BOOL] = "\"type\":\"boolean\"",
	[SHOWN_LIST] = "\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"string\"}",
};

static void add_quoted(struct buf *out, const char *text)
{
	struct json json;

	json_begin(&json, out);
	json_string(&json, text);
}

static bool add_property(const char *key, bool first, struct buf *out)
{
	struct shown_field field;

	if (!field_find(key, &field)) {
		fprintf(stderr, "titan-gen: the column %s isn't in src/cli/show/fields.def\n", key);
		return false;
	}
	buf_addf(out, "%s\n\"%s\":{%s,\"description\":", first ? "" : ",", key, types[field.type]);
	add_quoted(out, field.text);
	buf_add_byte(out, '}');
	return true;
}

/* Write an object with all fields of the table. The caller may add properties before the object is closed. */
static bool object_begin(const struct table *table, bool settings, const char *more, struct buf *out)
{
	bool known = true;

	buf_add_str(out, "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[");
	for (size_t i = 0; i < table->count; i++)
		buf_addf(out, "%s\"%s\"", i ? "," : "", table->columns[i].key);
	for (size_t i = 0; settings && i < setting_count; i++)
		if (setting_table[i].shape != SHAPE_OWN)
			buf_addf(out, ",\"%s\"", setting_table[i].field);
	if (more)
		buf_addf(out, ",\"%s\"", more);
	buf_add_str(out, "],\"properties\":{");
	for (size_t i = 0; i < table->count; i++)
		known = add_property(table->columns[i].key, i == 0, out) && known;
	for (size_t i = 0; settings && i < setting_count; i++)
		if (setting_table[i].shape != SHAPE_OWN)
			known = add_property(setting_table[i].field, false, out) && known;
	return known;
}

static bool is_array(enum output_shape shape)
{
	return shape != OUTPUT_ONE && shape != OUTPUT_WHOLE && shape != OUTPUT_LINES && shape != OUTPUT_LAST;
}

static bool add_output(const struct output_info *info, struct buf *out)
{
	const char *list = info->shape == OUTPUT_RUNS ? "jobs" : info->shape == OUTPUT_JOB ? "attempts" : NULL;
	bool known;

	bool array = is_array(info->shape);

	if (array)
		buf_add_str(out, "{\"type\":\"array\",\"items\":");
	known = object_begin(info->table, info->shape == OUTPUT_PLAN, list, out);
	if (list) {
		buf_addf(out, ",\n\"%s\":{\"type\":\"array\",\"items\":", list);
		known = object_begin(info->shape == OUTPUT_RUNS ? &job_table : &attempt_table, false, NULL, out) && known;
		buf_add_str(out, "}}}");
	}
	buf_add_str(out, "}}");
	if (array)
		buf_add_byte(out, '}');
	return known;
}

static bool add_status(struct buf *out)
{
	bool known;

	buf_add_str(out, "{\"type\":\"object\",\"additionalProperties\":false,"
			 "\"required\":[\"cluster\",\"state_dir\",\"master\",\"store\",\"workers\",\"counts\",\"ended_runs\",\"ended_jobs\"],\"properties\":{"
			 "\"cluster\":" TEXT ",\"state_dir\":" TEXT ",\n\"master\":" COUNTS ",\n\"store\":{\"type\":\"object\","
			 "\"additionalProperties\":{\"type\":\"boolean\"}},\n\"counts\":" COUNTS ",\n"
			 "\"ended_runs\":" COUNTS_OR_NULL ",\"ended_jobs\":" COUNTS_OR_NULL ",\n"
			 "\"workers\":{\"type\":\"array\",\"items\":");
	known = object_begin(&worker_table, false, NULL, out);
	buf_add_str(out, "}}}}}");
	return known;
}

static bool add_outputs(enum command_id command, size_t count, struct buf *out)
{
	bool known = true;
	size_t done = 0;

	if (count > 1)
		buf_add_str(out, "{\"anyOf\":[\n");
	for (size_t i = 0; i < output_count; i++) {
		if (output_table[i].command != command)
			continue;
		buf_add_str(out, done++ ? ",\n" : "");
		known = add_output(&output_table[i], out) && known;
	}
	buf_add_str(out, count > 1 ? "]}" : "");
	return known;
}

static size_t outputs_of(enum command_id command)
{
	size_t count = 0;

	for (size_t i = 0; i < output_count; i++)
		count += output_table[i].command == command;
	return count;
}

static const char *title_of(const char *name, const struct command_info *command)
{
	bool lines = false, others_too = false;

	if (strcmp(name, "error") == 0)
		return "what a command with --json prints on standard error when it fails";
	if (strcmp(name, "note") == 0)
		return "what a command with --json prints on standard error to add something";
	for (size_t i = 0; command && i < output_count; i++) {
		bool is_line = output_table[i].shape == OUTPUT_LINES || output_table[i].shape == OUTPUT_LAST;

		if (output_table[i].command == command->id)
			*(is_line ? &lines : &others_too) = true;
	}
	return !lines ? "what the command prints with --json" : !others_too ? "what the command prints with --json on each line" :
			"what the command prints with --json, with --follow on each line";
}

bool gen_schema(const char *name, struct buf *out)
{
	const struct command_info *command = command_find(name);
	size_t count = command ? outputs_of(command->id) : 0;
	struct buf body = { 0 };
	bool known = count > 0 && add_outputs(command->id, count, &body);

	if (strcmp(name, "status") == 0)
		known = add_status(&body);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(others[i].name, name) == 0) {
			buf_add_str(&body, others[i].schema);
			known = true;
		}
	if (known) {
		/* The first byte of the body opens its object. */
		buf_addf(out, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\n\"$id\":\"urn:titan:schema:%s\",\n"
			      "\"title\":\"%s\",\n", name, title_of(name, command));
		buf_add(out, body.data + 1, body.len - 1);
		buf_add_byte(out, '\n');
	}
	buf_free(&body);
	return known;
}

void gen_schema_names(struct buf *out)
{
	for (int id = 1; id < COMMAND_COUNT; id++)
		if (outputs_of((enum command_id)id) > 0)
			buf_addf(out, "%s\n", command_table[id].verb);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		buf_addf(out, "%s\n", others[i].name);
	buf_add_str(out, "status\n");
}

/* --- the manual --- */

static void columns_of(const struct output_info *info, struct buf *out)
{
	const struct table *table = info->shape == OUTPUT_RUNS ? &job_table : info->table;
	bool whole = info->shape == OUTPUT_WHOLE;
	struct shown_field field;
	size_t shown = 0;

	buf_add_str(out, ".Bl -enum -compact\n");
	for (size_t i = 0; i < table->count; i++)
		if ((whole || table->columns[i].title) && field_find(table->columns[i].key, &field)) {
			buf_addf(out, ".It\n.Sy %s :\n", field.name);
			gen_sentence(field.text, out);
		}
	buf_add_str(out, ".El\n");
	for (size_t i = 0; i < table->count; i++)
		if (!whole && !table->columns[i].title)
			buf_addf(out, "%s%s", shown++ ? ",\n" : "Other fields, for\n.Fl -json\nand\n.Fl -format :\n", table->columns[i].key);
	buf_add_str(out, shown ? "\n" : "");
}

void gen_columns(const char *verb, struct buf *out)
{
	const struct command_info *command = command_find(verb);

	buf_addf(out, "The columns of\n.Fl -plain\nhave this order, and new ones are added at the end.\nThe fields of\n.Fl -json\nare "
		      "described in\n.Pa share/schema/%s.json .\n", verb);
	for (size_t i = 0; command && i < output_count; i++) {
		const struct output_info *info = &output_table[i];

		if (info->command != command->id || info->shape == OUTPUT_LAST)
			continue;
		buf_addf(out, ".Pp\n.Nm titan %s", verb);
		if (info->words[0] != '\0') {
			buf_add_byte(out, ' ');
			gen_text(info->words, out);
		}
		buf_add_str(out, " :\n");
		if (info->shape == OUTPUT_ONE || info->shape == OUTPUT_WHOLE || info->shape == OUTPUT_JOB)
			buf_add_str(out, "With\n.Fl -plain\neach of these fields is a line: its name, a tab, its value.\n");
		columns_of(info, out);
	}
}
