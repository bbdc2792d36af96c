/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words that users of other tools type, and the words of titan with the same meaning: proto/guesses.def. */
#ifndef TITAN_CLI_GUESSES_H
#define TITAN_CLI_GUESSES_H

#include <stdbool.h>
#include <stddef.h>

struct guess {
	const char *word;                /* the typed word */
	const char *next;                /* the command to suggest, which never ends or removes anything */
	const char *text;                /* a sentence that names titan's words for it */
};

/* The guess for an unknown command; NULL: nothing is known about this word. */
const struct guess *guess_command(const char *word);
/* Iterate over the verbs of objects that mean the same as the word; *at begins at 0. NULL: no more. */
const char *guess_verb(const char *word, size_t *at);
/* Does this command or verb end, remove or decide something? Then it is never suggested for a similar word. */
bool guess_destroys(const char *word);

#endif
