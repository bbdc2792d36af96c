/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lang/shell_place.h"

enum { IN_COMMANDS, IN_PARENS, IN_DOUBLE, IN_SINGLE, IN_DOLLAR_SINGLE, IN_BACKQUOTES, IN_BRACES, IN_ARITHMETIC, IN_COMMENT, IN_HERE,
       IN_HERE_LITERAL };
enum { EXPECT_NONE, FOR_NAME, FOR_IN, FOR_ITEMS, CASE_WORD, CASE_IN };
enum { BRACE_NAME, BRACE_DEFAULT, BRACE_PATTERN, BRACE_ARITHMETIC };

/* Behind these words another command follows. */
static const char *const before_commands[] = {
	"if", "then", "else", "elif", "while", "until", "do", "fi", "done", "!", "{", "}", "time", "command", "builtin", "exec", NULL,
};
/* The arguments of these commands are code. */
static const char *const evaluators[] = { "eval", "trap", "alias", "let", NULL };

static struct shell_frame *top(struct shell_reader *reader)
{
	return &reader->frames[reader->depth - 1];
}

static void push(struct shell_reader *reader, int kind)
{
	if (reader->depth == SHELL_DEPTH_MAX) {
		reader->lost = true;
		return;
	}
	reader->frames[reader->depth++] = (struct shell_frame){ .kind = (uint8_t)kind, .command = true };
}

static void pop(struct shell_reader *reader)
{
	if (reader->depth > 1)
		reader->depth--;
}

static uint8_t peek(const struct shell_reader *reader, size_t ahead)
{
	return reader->text.len - reader->at > ahead ? reader->text.data[reader->at + ahead] : 0;
}

static bool is_name_byte(uint8_t byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_';
}

static bool is_listed(struct slice word, const char *const *list)
{
	for (; *list != NULL; list++)
		if (slice_eq(word, slice_str(*list)))
			return true;
	return false;
}

/* ---- words ---- */

static void begin_word(struct shell_reader *reader, bool plain)
{
	struct shell_frame *frame = top(reader);

	if (!frame->in_word) {
		frame->word_at = reader->at;
		frame->plain = true;
	}
	frame->in_word = true;
	frame->plain = frame->plain && plain;
}

/* Does the text from here to the reader begin with NAME and this byte? */
static bool names_and(const struct shell_reader *reader, size_t from, uint8_t byte)
{
	size_t at = from;

	while (at < reader->at && is_name_byte(reader->text.data[at]))
		at++;
	return at > from && at < reader->at && reader->text.data[at] == byte;
}

/* A word where a command is expected has ended. */
static void end_command_word(struct shell_reader *reader, struct shell_frame *frame, struct slice word)
{
	if (is_listed(word, before_commands) || names_and(reader, frame->word_at, '='))
		return;
	if (slice_eq(word, slice_str("esac"))) {
		frame->depth -= frame->depth > 0;
		return;
	}
	frame->command = false;
	frame->evaluates = is_listed(word, evaluators);
	if (slice_eq(word, slice_str("case"))) {
		frame->depth++;
		frame->expect = CASE_WORD;
	} else if (slice_eq(word, slice_str("for")) || slice_eq(word, slice_str("select"))) {
		frame->expect = FOR_NAME;
	}
}

static void end_word(struct shell_reader *reader)
{
	struct shell_frame *frame = top(reader);
	struct slice word = slice_make(reader->text.data + frame->word_at, frame->plain ? reader->at - frame->word_at : 0);
	bool is_in = slice_eq(word, slice_str("in"));

	if (!frame->in_word)
		return;
	frame->in_word = false;
	if (frame->redirect) {
		frame->redirect = false;
	} else if (frame->expect == FOR_NAME || frame->expect == CASE_WORD) {
		frame->expect++;
	} else if (frame->expect == FOR_IN) {
		frame->expect = is_in ? FOR_ITEMS : EXPECT_NONE;
		frame->command = !is_in;
	} else if (frame->expect == CASE_IN) {
		frame->expect = EXPECT_NONE;
		frame->pattern = true;
	} else if (frame->pattern && slice_eq(word, slice_str("esac"))) {
		frame->pattern = false;
		frame->command = true;
		frame->depth -= frame->depth > 0;
	} else if (!frame->pattern && frame->expect == EXPECT_NONE && frame->command) {
		end_command_word(reader, frame, word);
	}
}

static void end_command(struct shell_frame *frame)
{
	frame->command = true;
	frame->evaluates = false;
	frame->redirect = false;
	if (frame->expect == FOR_ITEMS)
		frame->expect = EXPECT_NONE;
}

/* ---- here-documents ---- */

/* At the beginning of a line: go on behind the here-document if this line ends it. */
static bool ends_here(struct shell_reader *reader)
{
	const struct shell_here *here = &reader->heres[reader->here_next];
	const uint8_t *line = reader->text.data + reader->at;
	size_t left = reader->text.len - reader->at;
	const uint8_t *newline = left > 0 ? memchr(line, '\n', left) : NULL;
	size_t len = newline ? (size_t)(newline - line) : left, skipped = 0;

	while (here->tabs && skipped < len && line[skipped] == '\t')
		skipped++;
	if (len - skipped != here->end_len || memcmp(line + skipped, here->end, here->end_len) != 0)
		return false;
	reader->at += len + (newline != NULL);
	return true;
}

/* Behind a newline: begin with the next here-document, if there is one. */
static void begin_heres(struct shell_reader *reader)
{
	while (!reader->lost && reader->here_next < reader->here_count) {
		if (!ends_here(reader)) {
			push(reader, reader->heres[reader->here_next].literal ? IN_HERE_LITERAL : IN_HERE);
			return;
		}
		reader->here_next++;
	}
	reader->here_next = reader->here_count = 0;
}

static void next_here_line(struct shell_reader *reader)
{
	reader->at++;
	if (!ends_here(reader))
		return;
	pop(reader);
	reader->here_next++;
	begin_heres(reader);
}

/* Read << and the word that will end the here-document. */
static void read_here(struct shell_reader *reader)
{
	struct shell_here here = { 0 };
	uint8_t quote = 0;

	reader->at += 2;
	if (peek(reader, 0) == '-') {
		here.tabs = true;
		reader->at++;
	}
	while (peek(reader, 0) == ' ' || peek(reader, 0) == '\t')
		reader->at++;
	for (; reader->at < reader->text.len; reader->at++) {
		uint8_t byte = peek(reader, 0);

		if (quote == 0 && (strchr(" \t\n;&|<>()", byte) != NULL || byte == 0))
			break;
		if (byte == quote || (quote == 0 && (byte == '\'' || byte == '"' || byte == '\\'))) {
			here.literal = true;
			quote = byte == '\\' || byte == quote ? 0 : byte;
			continue;
		}
		if (here.end_len == sizeof(here.end)) {
			reader->lost = true;
			return;
		}
		here.end[here.end_len++] = (char)byte;
	}
	if (reader->here_count == SHELL_HERE_MAX)
		reader->lost = true;
	else
		reader->heres[reader->here_count++] = here;
}

/* ---- what a dollar begins ---- */

/* Read the name of ${NAME...} and remember what the rest of the braces is. */
static void open_braces(struct shell_reader *reader, bool quoted)
{
	struct shell_frame *frame;
	size_t start;
	uint8_t byte;

	reader->at += 2;
	push(reader, IN_BRACES);
	frame = top(reader);
	frame->quoted = quoted;
	if ((peek(reader, 0) == '#' || peek(reader, 0) == '!') && is_name_byte(peek(reader, 1)))
		reader->at++;
	start = reader->at;
	while (is_name_byte(peek(reader, 0)))
		reader->at++;
	if (reader->at == start && peek(reader, 0) != 0 && strchr("@*#?$!-", peek(reader, 0)) != NULL && peek(reader, 1) != '{')
		reader->at++;
	byte = peek(reader, 0);
	if (byte == ':')
		byte = peek(reader, 1) != 0 && strchr("-=+?", peek(reader, 1)) ? '-' : '[';
	frame->operator = byte == 0 ? BRACE_NAME : strchr("-=+?", byte) ? BRACE_DEFAULT
		: strchr("#%/^,@", byte) ? BRACE_PATTERN : byte == '[' ? BRACE_ARITHMETIC : BRACE_NAME;
}

static void open_arithmetic(struct shell_reader *reader, size_t lead, unsigned depth, uint8_t closes)
{
	reader->at += lead;
	push(reader, IN_ARITHMETIC);
	top(reader)->depth = depth;
	top(reader)->closes = closes;
}

static void read_dollar(struct shell_reader *reader, bool quoted)
{
	uint8_t next = peek(reader, 1);

	if (next == '(' && peek(reader, 2) == '(') {
		open_arithmetic(reader, 3, 2, ')');
	} else if (next == '[') {
		open_arithmetic(reader, 2, 1, ']');
	} else if (next == '(') {
		reader->at += 2;
		push(reader, IN_PARENS);
	} else if (next == '{') {
		open_braces(reader, quoted);
	} else if (next == '\'' && !quoted) {
		reader->at += 2;
		push(reader, IN_DOLLAR_SINGLE);
	} else {
		reader->at++;
	}
}

/* ---- one step, by what is open ---- */

static void step_parens(struct shell_reader *reader)
{
	struct shell_frame *frame = top(reader);

	if (peek(reader, 0) == '(' && frame->pattern && !frame->in_word) {
		reader->at++;
	} else if (peek(reader, 0) == '(' && frame->command && !frame->in_word && peek(reader, 1) == '(') {
		open_arithmetic(reader, 2, 2, ')');
	} else if (peek(reader, 0) == '(') {
		end_word(reader);
		reader->at++;
		push(reader, IN_PARENS);
	} else {
		end_word(reader);
		reader->at++;
		if (frame->pattern) {
			frame->pattern = false;
			frame->command = true;
		} else if (frame->kind == IN_PARENS) {
			pop(reader);
			if (!top(reader)->in_word)
				top(reader)->command = true;
		}
	}
}

static void step_redirect(struct shell_reader *reader)
{
	struct shell_frame *frame = top(reader);

	/* The number in 2>FILE is no word. */
	for (size_t i = frame->word_at; frame->in_word && i < reader->at; i++)
		frame->plain = frame->plain && reader->text.data[i] >= '0' && reader->text.data[i] <= '9';
	if (frame->in_word && frame->plain)
		frame->in_word = false;
	end_word(reader);
	if (peek(reader, 0) == '<' && peek(reader, 1) == '<' && peek(reader, 2) != '<') {
		read_here(reader);
		return;
	}
	while (peek(reader, 0) != 0 && strchr("<>&|", peek(reader, 0)) != NULL)
		reader->at++;
	frame->redirect = true;
}

static void step_separator(struct shell_reader *reader)
{
	struct shell_frame *frame = top(reader);
	uint8_t byte = peek(reader, 0);

	end_word(reader);
	reader->at++;
	if (byte == '|' && frame->pattern)
		return;
	if (byte == ';' && (peek(reader, 0) == ';' || peek(reader, 0) == '&')) {
		reader->at += peek(reader, 1) == '&' ? 2 : 1;
		end_command(frame);
		frame->pattern = frame->depth > 0;
		return;
	}
	end_command(frame);
	if (byte == '\n')
		begin_heres(reader);
}

static void step_commands(struct shell_reader *reader)
{
	uint8_t byte = peek(reader, 0);

	switch (byte) {
	case ' ': case '\t':
		end_word(reader);
		reader->at++;
		break;
	case '\n': case ';': case '&': case '|':
		step_separator(reader);
		break;
	case '(': case ')':
		step_parens(reader);
		break;
	case '<': case '>':
		step_redirect(reader);
		break;
	case '\\':
		if (peek(reader, 1) != '\n')
			begin_word(reader, false);
		reader->at += 2;
		break;
	case '\'': case '"': case '`':
		begin_word(reader, false);
		reader->at++;
		push(reader, byte == '"' ? IN_DOUBLE : byte == '`' ? IN_BACKQUOTES : IN_SINGLE);
		break;
	case '$':
		begin_word(reader, false);
		read_dollar(reader, false);
		break;
	default:
		if (byte == '#' && !top(reader)->in_word) {
			push(reader, IN_COMMENT);
		} else {
			begin_word(reader, true);
			reader->at++;
		}
	}
}

/* Inside double quotes, here-documents, braces and arithmetic, where dollars and backquotes keep their meaning. */
static void step_expanded(struct shell_reader *reader)
{
	struct shell_frame *frame = top(reader);
	uint8_t byte = peek(reader, 0);
	bool quoted = frame->kind != IN_BRACES || (frame->quoted && frame->operator != BRACE_PATTERN);

	if (byte == '$') {
		read_dollar(reader, quoted);
	} else if (byte == '\n' && frame->kind == IN_HERE) {
		next_here_line(reader);
	} else if (byte == '\\') {
		reader->at += 2;
	} else {
		reader->at++;
		if (byte == '`')
			push(reader, IN_BACKQUOTES);
		else if (byte == '"' && frame->kind == IN_DOUBLE)
			pop(reader);
		else if (byte == '}' && frame->kind == IN_BRACES)
			pop(reader);
		else if (byte == '"' && frame->kind == IN_BRACES)
			push(reader, IN_DOUBLE);
		else if (byte == '\'' && !quoted)
			push(reader, IN_SINGLE);
		else if (frame->kind == IN_ARITHMETIC && byte == frame->closes && --frame->depth == 0)
			pop(reader);
		else if (frame->kind == IN_ARITHMETIC && byte == (frame->closes == ')' ? '(' : '['))
			frame->depth++;
	}
}

static void step(struct shell_reader *reader)
{
	uint8_t byte = peek(reader, 0);

	switch (top(reader)->kind) {
	case IN_COMMANDS: case IN_PARENS:
		step_commands(reader);
		break;
	case IN_COMMENT:
		if (byte == '\n')
			pop(reader);
		else
			reader->at++;
		break;
	case IN_HERE_LITERAL:
		if (byte == '\n')
			next_here_line(reader);
		else
			reader->at++;
		break;
	case IN_SINGLE:
		reader->at++;
		if (byte == '\'')
			pop(reader);
		break;
	case IN_DOLLAR_SINGLE: case IN_BACKQUOTES:
		reader->at += byte == '\\' ? 2 : 1;
		if (byte == (top(reader)->kind == IN_BACKQUOTES ? '`' : '\''))
			pop(reader);
		break;
	default:
		step_expanded(reader);
	}
}

/* ---- where a part stands ---- */

/* Does a word end at this offset? */
static bool word_ends(const struct shell_reader *reader, size_t at)
{
	return at >= reader->text.len || strchr(" \t\n;&|()<>", reader->text.data[at]) != NULL;
}

static bool command_ends(const struct shell_reader *reader, size_t at)
{
	while (at < reader->text.len && (reader->text.data[at] == ' ' || reader->text.data[at] == '\t'))
		at++;
	return at >= reader->text.len || reader->text.data[at] == ';' || reader->text.data[at] == '\n';
}

static enum shell_place place_in_commands(struct shell_reader *reader, size_t len)
{
	struct shell_frame *frame = top(reader);
	bool whole = !frame->in_word && word_ends(reader, reader->at + len), first = frame->expect == FOR_ITEMS;

	if (frame->in_word && frame->command && names_and(reader, frame->word_at, '['))
		return SHELL_ARITHMETIC;
	/* Is it the first item? Then only blanks are between it and the word "in". */
	for (size_t i = reader->at; first && i > 0 && reader->text.data[i - 1] != 'n'; i--)
		first = reader->text.data[i - 1] == ' ' || reader->text.data[i - 1] == '\t';
	reader->is_command = whole && frame->command && frame->expect == EXPECT_NONE && !frame->pattern && !frame->redirect;
	begin_word(reader, false);
	return first && whole && command_ends(reader, reader->at + len) ? SHELL_LIST : SHELL_WORD;
}

static enum shell_place place_now(struct shell_reader *reader, size_t len)
{
	const struct shell_frame *inner = top(reader);

	for (size_t i = reader->depth; i-- > 0;) {
		const struct shell_frame *frame = &reader->frames[i];

		if (frame->kind == IN_ARITHMETIC || (frame->kind == IN_BRACES && frame->operator == BRACE_ARITHMETIC))
			return SHELL_ARITHMETIC;
		if (frame->kind == IN_HERE || frame->kind == IN_COMMANDS || frame->kind == IN_PARENS) {
			if (frame->evaluates && inner->kind != IN_COMMENT)
				return SHELL_EVAL;
			break;
		}
	}
	switch (inner->kind) {
	case IN_COMMANDS: case IN_PARENS:
		return place_in_commands(reader, len);
	case IN_COMMENT:
		return SHELL_COMMENT;
	case IN_SINGLE: case IN_DOLLAR_SINGLE:
		return SHELL_SINGLE;
	case IN_BACKQUOTES:
		return SHELL_BACKQUOTE;
	case IN_HERE_LITERAL:
		return SHELL_HERE_LITERAL;
	case IN_BRACES:
		if (inner->operator == BRACE_NAME)
			return SHELL_NAME;
		return inner->quoted && inner->operator == BRACE_DEFAULT ? SHELL_QUOTED : SHELL_WORD;
	default:
		return SHELL_QUOTED;
	}
}

void shell_begin(struct shell_reader *reader, struct slice text)
{
	*reader = (struct shell_reader){ .text = text };
	push(reader, IN_COMMANDS);
}

enum shell_place shell_place(struct shell_reader *reader, size_t at, size_t len)
{
	enum shell_place place;

	reader->is_command = false;
	while (reader->at < at && !reader->lost)
		step(reader);
	if (reader->lost)
		return SHELL_LOST;
	if (reader->at > at && reader->at < at + len && reader->text.data[at - 1] == '\\')
		place = SHELL_ESCAPED;
	else if (reader->at > at)
		place = SHELL_HERE_END;
	else
		place = place_now(reader, len);
	if (reader->at < at + len)
		reader->at = at + len;
	return place;
}
