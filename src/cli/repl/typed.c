/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A single scanner parses commands, graphs and here-documents; it looks at each byte once. */
#include "cli/repl/typed.h"

#include "base/buf.h"
#include "proto/commands.h"

struct scan {
	const char *at;
	struct arena *arena;
	struct typed_line line;
	size_t room;
	struct buf word;
	const char *until;               /* WORD of an open <<WORD; NULL: none */
	bool open;                       /* the text ended within a quote, a brace or a here-document */
	bool quoted;                     /* the text ended within a quote or a graph */
};

static void add_word(struct scan *scan)
{
	if (scan->line.count + 1 >= scan->room) {
		size_t room = scan->room ? scan->room * 2 : 16;
		const char **words = arena_zalloc(scan->arena, room, sizeof(*words));

		if (scan->line.count > 0)
			memcpy(words, scan->line.words, scan->line.count * sizeof(*words));
		scan->line.words = words;
		scan->room = room;
	}
	scan->line.words[scan->line.count++] = arena_strdup(scan->arena, buf_slice(&scan->word));
	buf_clear(&scan->word);
}

/* Read to the end of a quoted text. keep: leave the quotes in the word. */
static void take_quoted(struct scan *scan, bool keep)
{
	char quote = *scan->at++;

	if (keep)
		buf_add_byte(&scan->word, (uint8_t)quote);
	for (; *scan->at != '\0' && *scan->at != quote; scan->at++) {
		if (quote == '"' && scan->at[0] == '\\' && scan->at[1] != '\0' && (keep || strchr("\"\\$`", scan->at[1]))) {
			if (keep)
				buf_add_byte(&scan->word, '\\');
			scan->at++;
		}
		buf_add_byte(&scan->word, (uint8_t)*scan->at);
	}
	if (*scan->at == '\0') {
		scan->open = scan->quoted = true;
		return;
	}
	if (keep)
		buf_add_byte(&scan->word, (uint8_t)quote);
	scan->at++;
}

/* Does an option such as -f or --wait begin here? An arrow (->) is no option. */
static bool option_begins(const char *at)
{
	at += *at == '-';
	at += *at == '-';
	return at[0] >= 'a' && at[0] <= 'z' && at[-1] == '-';
}

/* Read an unquoted graph up to the end of the line, or up to an option after it. */
static void take_graph(struct scan *scan)
{
	int depth = 0;

	while (*scan->at != '\0' && !scan->open) {
		char c = *scan->at;

		if (c == '\'' || c == '"') {
			take_quoted(scan, true);
			continue;
		}
		depth += (c == '{') - (c == '}');
		if (depth <= 0 && c == '\n')
			break;
		if (depth <= 0 && (c == ' ' || c == '\t') && option_begins(scan->at + strspn(scan->at, " \t")))
			break;
		buf_add_byte(&scan->word, (uint8_t)c);
		scan->at++;
	}
	while (scan->word.len > 0 && strchr(" \t", scan->word.data[scan->word.len - 1]))
		buf_cut(&scan->word, scan->word.len - 1);
	scan->open |= depth > 0 || (scan->word.len > 0 && scan->word.data[scan->word.len - 1] == ',') ||
		      (scan->word.len > 1 && memcmp(scan->word.data + scan->word.len - 2, "->", 2) == 0);
	if (*scan->at == '\0')
		scan->quoted = true;
	add_word(scan);
}

static void take_word(struct scan *scan)
{
	int depth = 0;

	while (*scan->at != '\0' && !scan->open) {
		char c = *scan->at;

		if (depth == 0 && strchr(" \t\n", c))
			break;
		if (c == '\'' || c == '"') {
			take_quoted(scan, depth > 0);
			continue;
		}
		if (c == '\\') {
			scan->at++;
			if (*scan->at == '\0') {
				scan->open = true;
			} else {
				if (*scan->at != '\n')
					buf_add_byte(&scan->word, (uint8_t)*scan->at);
				scan->at++;
			}
			continue;
		}
		depth += (c == '{') - (c == '}' && depth > 0);
		buf_add_byte(&scan->word, (uint8_t)c);
		scan->at++;
	}
	scan->open |= depth > 0;
	add_word(scan);
}

/* Does the last word ask for a graph, as in run -e? */
static bool wants_graph(const struct typed_line *line)
{
	const struct command_info *command;
	const char *last;

	if (line->count < 2)
		return false;
	command = command_find(line->words[0]);
	last = line->words[line->count - 1];
	for (const struct option_info *option = command ? command->options : NULL; option && option->id != OPT_none; option++)
		if (option->argument && strcmp(option->argument, "DAG") == 0 &&
		    ((option->letter && last[0] == '-' && last[1] == option->letter && last[2] == '\0') ||
		     (strncmp(last, "--", 2) == 0 && strcmp(last + 2, option->word) == 0)))
			return true;
	return false;
}

/* Must <<WORD be passed to the command as a FILE argument, instead of as standard input? */
static bool wants_file(const struct typed_line *line)
{
	const struct command_info *command = line->count > 0 ? command_find(line->words[0]) : NULL;

	for (size_t i = 0; i < line->count; i++)
		if (strcmp(line->words[i], "-") == 0 || strcmp(line->words[i], "--lines") == 0)
			return false;
	return command && strstr(command->pattern, "FILE");
}

static void take_words(struct scan *scan)
{
	while (!scan->open) {
		scan->at += strspn(scan->at, " \t");
		if (*scan->at == '\0' || *scan->at == '\n')
			return;
		if (*scan->at == '#') {
			scan->at += strcspn(scan->at, "\n");
		} else if (strncmp(scan->at, "<<", 2) == 0) {
			scan->at += 2 + strspn(scan->at + 2, " \t");
			take_word(scan);
			scan->until = scan->line.words[--scan->line.count];
			if (wants_file(&scan->line)) {
				buf_add_str(&scan->word, "/dev/stdin");
				add_word(scan);
			}
		} else if (wants_graph(&scan->line) && *scan->at != '\'' && *scan->at != '"') {
			take_graph(scan);
		} else {
			take_word(scan);
		}
	}
}

/* Read lines up to the line that equals scan->until. */
static void take_input(struct scan *scan)
{
	const char *start = scan->at;
	size_t len = strlen(scan->until);

	scan->line.has_input = true;
	while (*scan->at != '\0') {
		size_t line = strcspn(scan->at, "\n");

		if (line == len && memcmp(scan->at, scan->until, len) == 0) {
			scan->line.input = slice_make(start, (size_t)(scan->at - start));
			scan->at += line + (scan->at[line] == '\n');
			return;
		}
		scan->at += line + (scan->at[line] == '\n');
	}
	scan->open = true;
}

/* Skip empty lines and comments, which come before a command. */
static void skip_empty(struct scan *scan)
{
	for (;;) {
		scan->at += strspn(scan->at, " \t\n");
		if (*scan->at != '#')
			return;
		scan->at += strcspn(scan->at, "\n");
	}
}

static struct scan scan_of(const char *text, struct arena *arena)
{
	struct scan scan = { .at = text, .arena = arena };

	skip_empty(&scan);
	scan.line.skipped = (size_t)(scan.at - text);
	if (*scan.at == '!') {
		size_t len = strcspn(scan.at, "\n");

		scan.line.kind = TYPED_SHELL;
		scan.line.input = slice_make(scan.at + 1, len - 1);
		scan.at += len;
	} else if (*scan.at == '\\') {
		scan.line.kind = TYPED_BACKSLASH;
		scan.at++;
		buf_add_byte(&scan.word, '\\');
		take_word(&scan);
		take_words(&scan);
	} else if (*scan.at != '\0') {
		scan.line.kind = TYPED_COMMAND;
		take_words(&scan);
	}
	if (*scan.at == '\n')
		scan.at++;
	if (scan.until && !scan.open)
		take_input(&scan);
	scan.line.len = (size_t)(scan.at - text);
	buf_free(&scan.word);
	return scan;
}

bool typed_take(const char *text, struct arena *arena, struct typed_line *ret)
{
	struct scan scan = scan_of(text, arena);

	*ret = scan.line;
	return !scan.open;
}

static bool last_is(const char *text, bool quoted)
{
	struct arena arena = { 0 };
	bool is = false;

	for (;;) {
		struct scan scan = scan_of(text, &arena);

		text += scan.line.len;
		if (scan.open || *text == '\0' || scan.line.len == 0) {
			is = quoted ? scan.quoted : scan.open;
			break;
		}
	}
	arena_free(&arena);
	return is;
}

bool typed_is_open(const char *text)
{
	return last_is(text, false);
}

bool typed_is_quoted(const char *text)
{
	return last_is(text, true);
}
