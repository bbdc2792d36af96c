/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks up words in the table of guesses (proto/guesses.def). */
#include "cli/session/guesses.h"

#include <string.h>

static const struct guess commands[] = {
#define GUESS(word, next, text) { word, next, text },
#define SAME(word, verb)
#define DESTROYS(word)
#include "proto/guesses.def"
#undef GUESS
#undef SAME
#undef DESTROYS
};

static const struct { const char *word, *verb; } verbs[] = {
#define GUESS(word, next, text)
#define SAME(word, verb) { word, verb },
#define DESTROYS(word)
#include "proto/guesses.def"
#undef GUESS
#undef SAME
#undef DESTROYS
};

static const char *const destroys[] = {
#define GUESS(word, next, text)
#define SAME(word, verb)
#define DESTROYS(word) word,
#include "proto/guesses.def"
#undef GUESS
#undef SAME
#undef DESTROYS
};

const struct guess *guess_command(const char *word)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].word, word) == 0)
			return &commands[i];
	return NULL;
}

const char *guess_verb(const char *word, size_t *at)
{
	while (*at < sizeof(verbs) / sizeof(verbs[0])) {
		size_t i = (*at)++;

		if (strcmp(verbs[i].word, word) == 0)
			return verbs[i].verb;
	}
	return NULL;
}

bool guess_destroys(const char *word)
{
	for (size_t i = 0; i < sizeof(destroys) / sizeof(destroys[0]); i++)
		if (strcmp(destroys[i], word) == 0)
			return true;
	return false;
}
