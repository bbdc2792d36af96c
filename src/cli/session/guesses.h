/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of other tools, and the words of titan that mean the same: proto/guesses.def. */
#ifndef TITAN_CLI_GUESSES_H
#define TITAN_CLI_GUESSES_H

#include <stdbool.h>
#include <stddef.h>

struct guess {
	const char *word;                /* what people type */
	const char *next;                /* the command to try, which never ends or removes anything */
	const char *text;                /* which words of titan mean that */
};

/* The guess for a command that titan doesn't have; NULL: nothing is known about this word. */
const struct guess *guess_command(const char *word);
/* Verbs of objects that mean the same as the word, one after the other; *at begins with 0. NULL: no more. */
const char *guess_verb(const char *word, size_t *at);
/* Does this command or verb end, remove or decide something? Then no likeness of words may propose it. */
bool guess_destroys(const char *word);

#endif
