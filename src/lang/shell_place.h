/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds out in which place of a shell script a part of it stands: outside of quotes, inside quotes, in a comment, and so on.
 * The script is read once, from its start. A script that this reader misunderstands is still safe: a value always stands in
 * a variable, which no shell parses as code.
 */
#ifndef TITAN_LANG_SHELL_PLACE_H
#define TITAN_LANG_SHELL_PLACE_H

#include <stdbool.h>

#include "base/buf.h"

#define SHELL_DEPTH_MAX 48
#define SHELL_HERE_MAX  8
#define SHELL_HERE_END_MAX 64            /* bytes of the word that ends a here-document */

enum shell_place {
	SHELL_WORD,                      /* outside of quotes: "${NAME}" stands for a value */
	SHELL_QUOTED,                    /* inside double quotes or a here-document: ${NAME} */
	SHELL_COMMENT,
	/* Places where no value can stand: */
	SHELL_SINGLE,                    /* between single quotes */
	SHELL_HERE_LITERAL,              /* in a here-document whose end word is quoted */
	SHELL_HERE_END,                  /* in the end word of a here-document */
	SHELL_BACKQUOTE,
	SHELL_ARITHMETIC,
	SHELL_ESCAPED,                   /* behind a backslash */
	SHELL_NAME,                      /* in the name of a variable */
	SHELL_EVAL,                      /* in the arguments of eval and the like */
	SHELL_LIST,                      /* the only item of a for loop */
	SHELL_LOST,                      /* nested too deeply to be followed */
};

struct shell_frame {                     /* something that is open: quotes, braces, a subshell */
	uint8_t kind, expect;
	bool command;                    /* the next word is a command */
	bool in_word, plain;             /* inside a word; it has only ordinary characters so far */
	bool redirect;                   /* the next word belongs to < or > */
	bool evaluates;                  /* the arguments of this command are code */
	bool pattern;                    /* where a pattern of case is expected */
	bool quoted;                     /* of braces: inside double quotes */
	uint8_t operator;                /* of braces */
	uint8_t closes;                  /* of arithmetic: the character that ends it */
	unsigned depth;                  /* of arithmetic: open parentheses; of commands: open cases */
	size_t word_at;
};

struct shell_here {
	char end[SHELL_HERE_END_MAX];
	size_t end_len;
	bool literal, tabs;              /* tabs: <<- */
};

struct shell_reader {
	struct slice text;
	size_t at;
	struct shell_frame frames[SHELL_DEPTH_MAX];
	size_t depth;                    /* number of frames; the last one is the innermost */
	struct shell_here heres[SHELL_HERE_MAX];
	size_t here_count, here_next;
	bool lost;
	bool is_command;                 /* the latest part is a whole word, and the name of a command */
};

void shell_begin(struct shell_reader *reader, struct slice text);
/* Return the place of this part of the script, which a value will replace. Parts must be asked in their order. */
enum shell_place shell_place(struct shell_reader *reader, size_t at, size_t len);

#endif
