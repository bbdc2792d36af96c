/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits what was typed into the console into commands and words. Pure. */
#ifndef TITAN_CLI_REPL_TYPED_H
#define TITAN_CLI_REPL_TYPED_H

#include "base/arena.h"
#include "base/slice.h"

enum typed_kind {
	TYPED_EMPTY,                      /* only spaces and comments */
	TYPED_COMMAND,                    /* words of a command */
	TYPED_BACKSLASH,                  /* words, the first with its backslash */
	TYPED_SHELL                       /* input is the command for the shell */
};

struct typed_line {
	enum typed_kind kind;
	const char **words;
	size_t count;
	struct slice input;              /* text of <<WORD, or of a shell command */
	bool has_input;
	size_t len;                      /* bytes of the text that this command takes, with its newline */
	size_t skipped;                  /* bytes before its first word: empty lines and comments */
};

/*
 * Take the first command from the text. Words are split at spaces; '..', "..", \ and braces keep them together. A graph
 * after -e needs no quotes. <<WORD gives the command the lines up to WORD as its FILE, or as its standard
 * input. A newline ends the command, unless a
 * quote, a brace or <<WORD is open. False: it is open, so further lines belong to it.
 */
bool typed_take(const char *text, struct arena *arena, struct typed_line *ret);
bool typed_is_open(const char *text);     /* does its last command need further lines? */
/* Is the end of this text inside quotes, or in a graph after -e? There ? and Tab mean nothing special. */
bool typed_is_quoted(const char *text);

#endif
