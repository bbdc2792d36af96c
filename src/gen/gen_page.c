/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Manual pages: prose is written by hand; lists are generated from the tables, each between two comments. */
#include <ctype.h>
#include <stdio.h>

#include "gen/gen.h"

#define BEGIN_MARK ".\\\" BEGIN "
#define END_MARK ".\\\" END"
#define LINE_LONGEST 78

void gen_text(const char *text, struct buf *out)
{
	if (*text == '.' || *text == '\'')
		buf_add_str(out, "\\&");
	for (; *text != '\0'; text++) {
		if (*text == '\\')
			buf_add_str(out, "\\e");
		else
			buf_add_byte(out, (uint8_t)*text);
	}
}

void gen_sentence(const char *text, struct buf *out)
{
	size_t start = out->len, line = start, blank = 0, len = strlen(text);

	gen_text(text, out);
	if (out->len > start)
		out->data[start] = (uint8_t)toupper(out->data[start]);
	if (len > 0 && text[len - 1] != '.')
		buf_add_byte(out, '.');
	for (size_t i = start; i < out->len; i++) {
		if (i - line >= LINE_LONGEST && blank > line) {
			out->data[blank] = '\n';
			line = blank + 1;
		}
		if (out->data[i] == ' ')
			blank = i;
	}
	buf_add_byte(out, '\n');
}

struct page_part {
	const char *name;
	void (*plain)(struct buf *out);
	void (*verb)(const char *verb, struct buf *out);
};

static const struct page_part parts[] = {
	{ "synopsis", NULL, gen_synopsis }, { "options", NULL, gen_options },   { "examples", NULL, gen_examples },
	{ "columns", NULL, gen_columns }, { "commands", gen_commands, NULL },
	{ "exits", gen_exits, NULL },       { "states", gen_states, NULL },   { "events", gen_events, NULL },
	{ "moves", gen_moves, NULL },       { "diagram", gen_diagram, NULL }, { "messages", gen_messages, NULL },
	{ "dead", gen_dead, NULL },         { "reasons", gen_reasons, NULL }, { "records", gen_records, NULL },
	{ "flags", gen_flags, NULL },       { "settings", gen_settings, NULL }, { "enums", gen_enums, NULL },
	{ "rights", gen_rights, NULL }, { "sight", gen_sight, NULL },     { "conf", gen_conf, NULL },
	{ "errors", gen_errors, NULL },     { "limits", gen_limits, NULL },
};

/* Write a part as mdoc; argument is a verb, or empty. False: there is no such part. */
static bool gen_part(const char *name, const char *argument, struct buf *out)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i].name, name) != 0)
			continue;
		if (parts[i].verb)
			parts[i].verb(argument, out);
		else
			parts[i].plain(out);
		return true;
	}
	return false;
}

static struct slice take_line(struct slice *text)
{
	const uint8_t *end = text->len ? memchr(text->data, '\n', text->len) : NULL;
	size_t len = end ? (size_t)(end - text->data) + 1 : text->len;
	struct slice line = slice_make(text->data, len);

	*text = slice_make(text->data + len, text->len - len);
	return line;
}

static bool begins(struct slice line, const char *mark)
{
	return line.len >= strlen(mark) && memcmp(line.data, mark, strlen(mark)) == 0;
}

const char *gen_page(struct slice page, struct buf *out)
{
	while (page.len > 0) {
		struct slice line = take_line(&page);
		char text[64], name[32] = "", argument[32] = "";

		buf_add_slice(out, line);
		if (begins(line, END_MARK))
			return "a part ends that hasn't begun";
		if (!begins(line, BEGIN_MARK))
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)(line.len - strlen(BEGIN_MARK)),
			 (const char *)line.data + strlen(BEGIN_MARK));
		if (sscanf(text, "%31s %31s", name, argument) < 1 || !gen_part(name, argument, out))
			return "a part has a name that isn't known";
		do {
			if (page.len == 0)
				return "a part has no end";
			line = take_line(&page);
		} while (!begins(line, END_MARK));
		buf_add_slice(out, line);
	}
	return NULL;
}
