/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits text typed into the console into commands and words. Pure. */
#ifndef TITAN_CLI_REPL_TYPED_H
#define TITAN_CLI_REPL_TYPED_H

#include "base/arena.h"
#include "base/slice.h"

enum typed_kind {
	TYPED_EMPTY,                      /* nothing but spaces and comments */
	TYPED_COMMAND,                    /* a command of titan */
	TYPED_BACKSLASH,                  /* a command of the console; the first word has the backslash */
	TYPED_SHELL                       /* a shell command, which is in input */
};

struct typed_line {
	enum typed_kind kind;
	const char **words;
	size_t count;
	struct slice input;              /* the text of <<WORD, or the shell command */
	bool has_input;
	size_t len;                      /* number of bytes of the text that belong to this command, with its newline */
	size_t skipped;                  /* number of bytes before the first word: empty lines and comments */
};

/*
 * Take the first command from the text. Words are split at spaces; '..', "..", \ and braces keep them together. A graph
 * after -e needs no quotes. <<WORD gives the command the lines up to WORD as its FILE argument or its standard input. A
 * newline ends the command, unless a quote, a brace or <<WORD is still open. False: something is still open, so the
 * next line belongs to the command.
 */
bool typed_take(const char *text, struct arena *arena, struct typed_line *ret);
bool typed_is_open(const char *text);     /* does the text's last command need further lines? */
/* Does the text end within quotes, or in a graph after -e? There ? and Tab are ordinary characters. */
bool typed_is_quoted(const char *text);

#endif
